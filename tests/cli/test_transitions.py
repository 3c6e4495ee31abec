"""Options about what lies between neighbours, what is shown of items, and one level for all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import soundfile

from fabula.session.open import demo_folder


@pytest.fixture
def mixed(tmp_path):
    """Eight tracks at four tempi and in four keys, in an order that leaps."""
    path = tmp_path / "mix.csv"
    rows = zip("abcdefgh", (90, 140, 92, 138, 120, 170, 122, 168), (0, 6, 0, 6, 7, 1, 7, 1), strict=True)
    lines = [f"{title},{tempo},{key},1" for title, tempo, key in rows]
    path.write_text("title,tempo,key,mode\n" + "\n".join(lines) + "\n")
    return path


def test_a_mix_goes_by_tempo_and_key_along_an_arc(fabula, mixed):
    result = fabula("order", mixed, "--sort-into-mix", "--json").json
    assert result["template"] == "icarus"
    changes = {change["name"]: change for change in result["changes"]}
    assert set(changes) == {"tempo", "key"}
    assert all(change["mean"][1] < 0.5 * change["mean"][0] for change in changes.values())
    tempi = [float(item["facts"]["tempo"]) for item in result["items"]]
    assert 2 <= int(np.argmax(tempi)) <= 5  # icarus: up and down again


def write_set(path, tempi, keys, more=()):
    rows = ["title,bpm,key" + "".join(f",{name}" for name, _ in more)]
    cells = zip(tempi, keys, *(values for _, values in more), strict=True)
    path.write_text("\n".join([*rows, *(f"t{k}," + ",".join(map(str, row)) for k, row in enumerate(cells))]) + "\n")
    return path


@pytest.mark.slow
def test_a_mix_is_never_worse_than_given(fabula, tmp_path):
    rng = np.random.default_rng(3)
    for trial in range(6):
        tempi = np.sort(rng.uniform(118, 132, 9)).round(1)  # as a careful DJ has them: hard to better
        keys = [
            f"{hour}{letter}" for hour, letter in zip(rng.integers(1, 13, 9), rng.choice(["A", "B"], 9), strict=True)
        ]
        energy = ("energy", rng.permutation(9) / 9)
        path = write_set(tmp_path / f"{trial}.csv", tempi, keys, [energy])
        for more in ((), ("--tempo", "rise"), ("--tempo", "fall"), ("--tempo", "arc")):
            changes = fabula("order", path, "--sort-into-mix", *more, "--json").json["changes"]
            assert {change["name"] for change in changes} == {"tempo", "key"}
            assert all(change["mean"][1] <= change["mean"][0] + 1e-9 for change in changes), (trial, more, changes)


def test_a_ramp_runs_the_way_it_is_asked_to(fabula, tmp_path):
    path = write_set(tmp_path / "x.csv", (126, 64, 122, 130, 124), ("8A", "9A", "8A", "9A", "8A"))
    for which, sign in (("rise", 1), ("fall", -1)):
        result = fabula("order", path, "--sort-into-mix", "--tempo", which, "--tempo-range", "88-176", "--json").json
        tempi = [float(item["facts"]["tempo"]) for item in result["items"]]
        assert sorted(tempi) == [122, 124, 126, 128, 130]
        assert tempi == sorted(tempi, reverse=sign < 0)


def test_keys_are_moves_on_the_wheel_where_that_is_asked_for(fabula, tmp_path):
    keys = ("8A", "10A", "8B", "9A", "9B", "7A", "12A", "11A")
    path = write_set(tmp_path / "x.csv", (124, 125, 126, 127, 128, 129, 130, 131), keys)
    result = fabula("order", path, "--by", "tempo", "--template", "icarus", "--keys", "strict", "--json").json
    wheel = [item["facts"]["key"].split()[-1] for item in result["items"]]
    assert sorted(wheel) == sorted(keys)
    for one, other in pairwise(wheel):
        hours = abs(int(one[:-1]) - int(other[:-1]))
        assert min(hours, 12 - hours) + (one[-1] != other[-1]) <= 1, wheel
    path = write_set(tmp_path / "y.csv", (124, 125, 126), ("8A", "9A", "3B"))
    outcome = fabula("order", path, "--sort-into-mix", "--keys", "strict")
    assert outcome.code == 2
    assert "--keys: no order was found that keeps every step in key at most 1" in outcome.err
    assert "'t2' fits beside no other" in outcome.err


def test_keys_or_tempi_alone_make_a_mix(fabula, tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text(
        "title,camelot\n" + "".join(f"t{k},{key}\n" for k, key in enumerate(("8A", "2B", "9A", "2A", "8B")))
    )
    (change,) = fabula("order", path, "--sort-into-mix", "--json").json["changes"]
    assert change["name"] == "key"
    assert change["mean"][1] < change["mean"][0]
    path = tmp_path / "tempi.csv"
    path.write_text("title,bpm\na,120\nb,140\nc,121\nd,139\n")
    (change,) = fabula("order", path, "--sort-into-mix", "--json").json["changes"]
    assert change["name"] == "tempo"
    assert change["mean"][1] < change["mean"][0]


def test_the_steps_that_count_can_be_named(fabula, mixed):
    command = ("order", mixed, "--by", "tempo", "--smooth", "4")
    by_key = fabula(*command, "--smooth-by", "key", "--json").json
    assert [change["name"] for change in by_key["changes"]] == ["key"]
    assert by_key["changes"][0]["mean"][1] < 1.5
    told = fabula(*command, "--smooth-by", "tempo:2,key").out
    assert "steps in tempo: " in told
    assert " % on average" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--smooth", "1", "--smooth-by", "mood"), "--smooth-by: no step between these items is called 'mood'"),
        (("--smooth", "1", "--smooth-by", "key:much"), "--smooth-by: takes NAME or NAME:WEIGHT; got 'key:much'"),
        (("--smooth", "1", "--smooth-by", "key:0"), "--smooth-by: a weight must be above 0"),
        (("--smooth-by", "key"), "--smooth-by: goes with --smooth, such as --smooth 0.5"),
        (("--show", "mood"), "--show: nothing called 'mood' is known of these items; there are: tempo, key"),
        (("--tempo", "rise"), "--tempo: goes with --sort-into-mix"),
        (("--tempo-range", "fast"), "--tempo-range: takes LOW-HIGH, such as 88-176; got 'fast'"),
        (("--tempo-range", "176-88"), "--tempo-range: must rise"),
        (("--gain",), "--gain: goes with --copy-to or -o"),
        (("--gain", "-o", "x.m3u8"), "--gain: it is not known what would bring '"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(fabula, mixed, arguments, message):
    outcome = fabula("order", mixed, "--by", "tempo", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_preset_needs_what_it_goes_by(fabula, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("title,valence,energy\na,1,\nb,2,0.5\n")
    outcome = fabula("order", path, "--model", "music", "--sort-into-mix")
    assert outcome.code == 2
    assert "needs one of these of every item: energy, heard_energy, tempo, heard_tempo" in outcome.err


def test_columns_are_shown_where_they_are_asked_for(fabula, mixed):
    plain, shown = (fabula("order", mixed, "--by", "tempo", *more).out for more in ((), ("--show", "tempo,key")))
    assert "8B" not in plain
    assert "C 8B" in shown
    assert "122" in shown


def test_gains_go_into_playlists_and_copies(fabula, tmp_path):
    mutagen = pytest.importorskip("mutagen")
    folder = tmp_path / "in"
    folder.mkdir()
    for k, level in enumerate((0.5, 0.05, 0.2)):
        soundfile.write(folder / f"{k}.flac", level * np.sin(np.arange(30000) / 8), 22050)
    copies, playlist = tmp_path / "out", tmp_path / "x.m3u8"
    outcome = fabula("order", folder, "--gain", "--copy-to", copies, "-o", playlist)
    assert outcome.code == 0, outcome.err
    gains = sorted(mutagen.File(path)["replaygain_track_gain"][0] for path in copies.iterdir())
    told = [line for line in playlist.read_text().splitlines() if line.startswith("# Gain ")]
    assert len(gains) == len(told) == 3
    again = fabula("order", playlist, "--gain", "-o", playlist)
    assert again.code == 0, again.err
    assert playlist.read_text().count("# Gain ") == 3


@pytest.mark.slow
def test_edges_are_drawn_in_the_report(fabula, tmp_path):
    page = tmp_path / "x.html"
    assert fabula("order", demo_folder(), "--report", page, "--smooth", "0.5").code == 0
    text = page.read_text()
    assert "How each begins and ends" in text
    assert text.count("<polyline") >= 9
    assert '<th class="n">key</th>' in text
