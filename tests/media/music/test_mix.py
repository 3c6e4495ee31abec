"""How many bars a track can be mixed over, against tracks that were made with so many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

import fabula
from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.music.tempo_and_key import find_mix
from fabula.media.music.tracks import LONGEST_MIX, fold_tempi, mix_bars, music_facts, music_steps
from fabula.session.request import Request

from .sounds import RATE, Samples, drums, heard, notes

_HOUSE = ("x...x...x...x...", "....x.......x...", "..x...x...x...x.")
_LOOP = [[-24, -12, 0, 3, 7], [-24, -12, 0, 3, 7], [-19, -7, 5, 8, 12], [-17, -5, 7, 10, 14]]


def track(tempo: float, before: int, full: int, after: int, *, beats: bool = True) -> Samples:
    """Bars of drums, or of one chord alone; then of both; then as before."""
    bar = 240 / tempo
    lengths = np.array([before, full, after]) * bar
    played = drums(tempo, *_HOUSE, seconds=float(lengths.sum()))
    chords = np.resize(4 * notes(_LOOP if beats else _LOOP[:1], 57, bar), len(played))
    time = np.arange(len(played)) / RATE
    inside = (time >= lengths[0]) & (time < lengths[:2].sum())
    made = played + chords * inside if beats else chords + played * inside
    return np.asarray(made[: round(lengths.sum() * RATE)])


@pytest.mark.parametrize(("before", "after"), [(16, 8), (0, 16), (0, 0)])
def test_bars_before_and_after_all_of_it_sounds(tmp_path: Path, before: int, after: int) -> None:
    found = heard(tmp_path, track(125, before, 32, after))
    assert found.heard_tempo == pytest.approx(125, rel=0.02)
    assert (found.mix_in, found.mix_out) == (before, after)


def test_a_chord_alone_is_mixed_over_too(tmp_path: Path) -> None:
    found = heard(tmp_path, track(125, 8, 32, 4, beats=False))
    octave = 125 / found.heard_tempo  # bars are those of the tempo heard, which may be its half
    assert (round(octave * found.mix_in), round(octave * found.mix_out)) == (8, 4)


def test_a_break_within_a_track_is_no_way_out_of_it(tmp_path: Path) -> None:
    parts = [track(128, 8, 16, 0), track(128, 8, 24, 4)]  # eight bars of drums alone in its middle
    found = heard(tmp_path, np.concatenate(parts))
    assert (found.mix_in, found.mix_out) == (8, 4)


def test_what_has_no_beat_or_is_short_has_no_bars() -> None:
    rows = np.ones((40, 32))
    assert find_mix(rows, 0.75, 0.0) == find_mix(rows[:10], 0.75, 120.0) == find_mix(0 * rows, 0.75, 120.0) == (0, 0)


_NAMES = ("tempo", "heard_tempo", "mix_in", "mix_out")


def test_bars_go_by_the_tempo_that_counts() -> None:
    rows = [[128.0, 64.0, 4.0, 8.0], [np.nan, 62.0, 2.0, 0.0], [np.nan, 0.0, np.nan, np.nan]]
    tracks = Collection("c", [Item(name) for name in "abc"], rows, _NAMES)
    np.testing.assert_array_equal(mix_bars(tracks), [[8, 2, np.nan], [16, 0, np.nan]])
    np.testing.assert_array_equal(mix_bars(fold_tempi(tracks, 88, 176)), [[8, 4, np.nan], [16, 0, np.nan]])
    assert next(fact.texts for fact in music_facts(tracks) if fact.name == "mix") == ("in 8, out 16", "in 2, out 0", "")


def test_the_step_is_what_two_lack_of_a_long_mix_and_unknown_ones_are_not_judged() -> None:
    rows = [[120.0, 120.0, 4.0, 8.0], [120.0, 120.0, 16.0, 0.0], [120.0, 120.0, np.nan, np.nan]]
    steps = music_steps(Collection("c", [Item(name) for name in "abc"], rows, _NAMES), np.zeros(3))
    part = next(part for part in steps.parts if part.name == "mix")
    assert part not in steps.active
    np.testing.assert_array_equal(part.distance[:2, :2], [[LONGEST_MIX - 12, LONGEST_MIX - 24], [28, LONGEST_MIX - 16]])
    np.testing.assert_array_equal(steps.beyond({"mix": LONGEST_MIX - 16})[:2], [[1, 0, 0], [1, 0, 0]])


def crate(tmp_path: Path) -> Path:
    path = tmp_path / "crate.csv"
    rows = ["a,124,8A,0,16", "b,125,8A,0,0", "c,126,8A,16,0", "d,124,8A,16,16", "e,125,8A,0,16", "f,126,8A,16,0"]
    path.write_text("title,tempo,key,mix_in,mix_out\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_mix_keeps_so_many_bars_between_neighbours_or_says_that_none_does(tmp_path: Path) -> None:
    session = fabula.open(crate(tmp_path))
    opened, request = session.preset("mix", Request(step_limits={"mix": LONGEST_MIX - 16.0}))
    found = opened.order(request)
    before, after = mix_bars(found.collection)
    assert (after[:-1] + before[1:] >= 16).all()
    assert "mix" in [change.name for change in found.changes]
    assert ["mix" in reason for reason in found.reasons] == [False, *[True] * 5]
    with pytest.raises(InputError, match=r"every step in mix at most 8 \(bars short of 32\).*'b'"):
        session.order(step_limits={"mix": LONGEST_MIX - 24.0}, template="icarus", smoothness=1)


def test_files_are_mixed_by_what_is_heard_in_them(tmp_path: Path) -> None:
    for name, (tempo, before, after) in {"a": (124, 0, 8), "b": (124, 8, 0), "c": (126, 4, 4)}.items():
        soundfile.write(tmp_path / f"{name}.flac", 0.5 * track(tempo, before, 16, after), RATE)
    found = fabula.order(tmp_path, by="heard_tempo", template="steady-rise", step_limits={"mix": LONGEST_MIX - 12.0})
    assert found.titles == ["a", "c", "b"]  # from b to c there are four bars
    found.save(tmp_path / "set.csv")
    assert "mix_in" in (tmp_path / "set.csv").read_text(encoding="utf-8").splitlines()[0]
