from __future__ import annotations

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.medium import changes
from fabula.media.music.tracks import camelot_distance, music_steps, tempo_octaves

C, G, D, A, E, B, FS, CS, GS, DS, AS, F = 0, 7, 2, 9, 4, 11, 6, 1, 8, 3, 10, 5


def collection(**columns):
    n = len(next(iter(columns.values())))
    return Collection("c", [Item(str(i)) for i in range(n)], np.array(list(columns.values())).T, list(columns))


def test_camelot_wheel_as_djs_know_it():
    """8B is C major; its neighbours are 8A (A minor), 7B (F major) and 9B (G major); 2B (F sharp) is opposite."""
    keys = np.array([C, A, F, G, FS, D])
    modes = np.array([1, 0, 1, 1, 1, 1])
    assert camelot_distance(C, 1, keys, modes).tolist() == [0, 1, 1, 1, 6, 2]


def test_half_and_double_time_are_near():
    assert np.allclose(tempo_octaves(70.0, np.array([140.0, 280.0])), 0)
    assert tempo_octaves(100.0, 141.42) == pytest.approx(0.5, abs=1e-3)


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


def test_a_tempo_of_0_and_a_key_of_minus_1_are_not_known(tmp_path):
    rows = "title,energy,tempo,key,mode\nA,.5,120,-1,1\nB,.7,0,3,1\nC,.2,90,4,0\nD,.4,100,5,1\n"
    (tmp_path / "a.csv").write_text(rows)
    session = fabula.open(tmp_path / "a.csv")
    said = {name: np.isnan(session.collection.column(name)).tolist() for name in ("tempo", "key")}
    assert said == {"tempo": [False, True, False, False], "key": [True, False, False, False]}
    assert len(session.order(smoothness=1.0).ordering) == 4


def test_a_mode_may_stand_in_a_column_of_its_own(tmp_path):
    rows = "track_name,artist,bpm,key,mode\nA,x,120,C#,Minor\nB,y,100,F,Major\nC,z,90,Am,Minor\nD,w,90,8A,Minor\n"
    (tmp_path / "a.csv").write_text(rows)
    found = fabula.open(tmp_path / "a.csv").collection
    assert found.column("key").tolist() == [1, 5, 9, 9]
    assert found.column("mode").tolist() == [0, 1, 0, 0]


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


def measured(**columns):
    """Two tracks that were measured: what is not said here is alike."""
    plain = {
        "loudness": -10,
        "start_loudness": -10,
        "end_loudness": -10,
        "start_brightness": 500,
        "end_brightness": 500,
    }
    plain |= {"heard_tempo": 120, "tempo_confidence": 1, "silence_start": 0.5, "silence_end": 2}
    for edge in ("start", "end"):
        plain |= {f"{edge}_tempo": 120, f"{edge}_tempo_confidence": 1}
    for edge in ("heard", "start", "end"):
        plain |= {f"{edge}_key": 0, f"{edge}_mode": 1, f"{edge}_key_confidence": 1}
    plain["key_confidence"] = 1
    return collection(**{name: np.broadcast_to(columns.get(name, value), 2) for name, value in plain.items()})


def part(steps, name):
    return next(one for one in steps.parts if one.name == name)


def test_steps_go_from_the_end_of_one_to_the_start_of_the_next():
    steps = music_steps(
        measured(start_loudness=[-10, -22], end_loudness=[-30, -12], start_brightness=[400, 800],
                 end_brightness=[1600, 400], start_key=[0, 7], end_key=[2, 0]),
        np.zeros(2),
    )  # fmt: skip
    assert part(steps, "loudness").distance.tolist() == [[20, 8], [2, 10]]
    assert part(steps, "brightness").distance.round(6).tolist() == [[2, 1], [0, 1]]
    assert part(steps, "key").distance.tolist() == [[2, 1], [0, 1]]
    assert part(steps, "silence").distance.tolist() == [[2.5, 2.5], [2.5, 2.5]]
    assert "silence" not in [one.name for one in steps.active]


def test_the_tempo_of_an_edge_counts_where_it_is_another_and_sure():
    steps = music_steps(
        measured(start_tempo=[122, 90], end_tempo=[60, 150], start_tempo_confidence=[1, 0.6],
                 end_tempo_confidence=[1, 0.4]),
        np.zeros(2),
    )  # fmt: skip
    # 122 and 60 are the whole's 120 and its half; 150 is not sure enough: only the start of the second is another.
    np.testing.assert_allclose(part(steps, "tempo").distance, [[0, 100 / 3], [0, 100 / 3]], atol=1e-9)
    assert part(steps, "tempo").certainty[0, 1] == pytest.approx(np.sqrt(0.6))


def test_what_a_tag_says_wins_over_what_was_heard():
    heard = measured(heard_tempo=[100, 150], start_tempo=[100, 150], end_tempo=[100, 150])
    said = Collection(
        "c", heard.items, np.column_stack([heard.features, [100.0, np.nan]]), (*heard.feature_names, "tempo")
    )
    assert part(music_steps(heard, np.zeros(2)), "tempo").distance[0, 1] == pytest.approx(100 / 3)
    said = Collection(
        "c", heard.items, np.column_stack([heard.features, [75.0, np.nan]]), (*heard.feature_names, "tempo")
    )
    assert part(music_steps(said, np.zeros(2)), "tempo").distance[0, 1] == pytest.approx(0)


def test_what_is_not_sure_counts_as_an_average_step():
    columns = {"heard_tempo": [100.0, 110, 141, 100], "tempo_confidence": [1.0, 1, 0, 0]}
    tempo = music_steps(collection(**columns), np.zeros(4)).parts[0]
    assert tempo.expectation[2, 3] == pytest.approx(1)
    assert tempo.expectation[0, 1] == pytest.approx(10 / ((tempo.distance.sum()) / 12))


def test_weights_of_steps_can_be_set():
    steps = music_steps(measured(start_loudness=[-10, -22]), np.zeros(2))
    chosen = steps.reweigh({"loudness": 2.0, "silence": 1.0})
    assert [one.name for one in chosen.active] == ["loudness", "silence"]
    np.testing.assert_allclose(
        chosen.table, (2 * part(steps, "loudness").expectation + part(steps, "silence").expectation) / 3
    )
    with pytest.raises(InputError, match="no step between these items is called 'mood'; there are: loudness, tempo"):
        steps.reweigh({"mood": 1.0})
    with pytest.raises(InputError, match="above 0"):
        steps.reweigh({"tempo": -1.0})
