from __future__ import annotations

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.music.transitions import camelot_distance, music_steps, tempo_distance
from fabula.media.steps import changes

C, G, D, A, E, B, FS, CS, GS, DS, AS, F = 0, 7, 2, 9, 4, 11, 6, 1, 8, 3, 10, 5


def collection(**columns):
    n = len(next(iter(columns.values())))
    return Collection("c", [Item(str(i)) for i in range(n)], np.array(list(columns.values())).T, list(columns))


def test_camelot_wheel_as_djs_know_it():
    """8B is C major; its neighbours are 8A (A minor), 7B (F major) and 9B (G major); 2B (F sharp) is opposite."""
    keys = np.array([C, A, F, G, FS, D])
    modes = np.array([1, 0, 1, 1, 1, 1])
    assert camelot_distance(keys, modes)[0].tolist() == [0, 1, 1, 1, 6, 2]


def test_half_and_double_time_are_near():
    assert np.allclose(tempo_distance(np.array([70.0, 140.0, 280.0])), 0)
    assert tempo_distance(np.array([100.0, 141.42]))[0, 1] == pytest.approx(0.5, abs=1e-3)


def test_what_is_known_is_used_and_missing_values_stand_in_the_middle():
    both = music_steps(
        collection(loudness=[-5.0, -20.0, -5.0], tempo=[100.0, np.nan, 100.0], key=[0, 0, np.nan], mode=[1.0, 1, 1]),
        np.zeros(3),
    ).table
    assert both[0, 2] == 0
    assert both[0, 1] > 0
    assert np.allclose(both, both.T)


def test_the_essence_where_nothing_is_known():
    found = music_steps(collection(year=[1.0, 2.0]), np.array([0.0, 3.0])).table
    assert found[0, 1] > 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"tempo": [0.0, 100.0]}, "a tempo must be above 0; got 0"),
        ({"key": [12.0, 1.0], "mode": [0.0, 1.0]}, "a key must be a whole number from 0"),
        ({"key": [1.0, 1.0], "mode": [0.5, 1.0]}, "a key must be a whole number from 0"),
    ],
)
def test_values_outside_their_range(columns, message):
    with pytest.raises(InputError, match=message):
        music_steps(collection(**columns), np.zeros(2))


def test_each_part_is_told_in_a_unit_and_before_and_after():
    steps = music_steps(collection(loudness=[-5.0, -20.0, -6.0], tempo=[100.0, 200.0, 125.0]), np.zeros(3))
    assert [(part.name, part.unit) for part in steps.parts] == [("loudness", "dB"), ("tempo", "%")]
    loudness, tempo = changes(steps, np.array([0, 1, 2]), np.array([0, 2, 1]))
    assert loudness.mean == (14.5, 7.5)
    assert loudness.worst == (15.0, 14.0)
    assert tempo.worst == (pytest.approx(25.0), pytest.approx(25.0))
    assert changes(steps, np.array([0, 1, 2]), np.array([0, 2, 1]), breaks=[1])[0].mean == (14.5, 14.0)
