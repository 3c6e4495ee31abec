"""Options about what lies between neighbours, what is shown of items, and one level for all."""

from __future__ import annotations

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
        (("--smooth-by", "key"), "--smooth-by: goes with smoothness"),
        (("--show", "mood"), "--show: nothing called 'mood' is known of these items; there are: tempo, key"),
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
    assert "needs one of these of every item: tempo, heard_tempo, energy, loudness" in outcome.err


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
