from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabula.core.arrays import normalise
from fabula.core.fit import fit
from fabula.core.template import template

ENERGY = [0.10, 0.95, 0.40, 0.90, 0.20, 0.75, 0.30]


def test_json_is_what_the_library_says(fabula, album):
    result = fabula("order", album, "--by", "energy", "--template", "icarus", "--json").json
    expected = fit(normalise(ENERGY), template("icarus"))
    assert result["template"] == "icarus"
    assert result["ordering"] == expected.ordering.tolist()
    assert (result["worst"], result["mean"]) == pytest.approx((expected.worst, expected.mean))
    assert result["score"] is None
    assert [row["position"] for row in result["items"]] == list(range(1, 8))
    for row, index, deviation in zip(result["items"], expected.ordering, expected.deviations, strict=True):
        assert row["essence"] == pytest.approx(normalise(ENERGY)[index])
        assert row["deviation"] == pytest.approx(deviation)
        assert abs(row["essence"] - row["target"]) == pytest.approx(row["deviation"])
    assert {"id", "title", "path", "essence", "target", "deviation"} <= set(result["items"][0])


def test_the_table_shows_every_item(fabula, album):
    shown = fabula("order", album, "--by", "energy").out
    assert all(title in shown for title in ("Dawn", "Run", "Walk", "Storm", "Rest", "Dance", "Home"))
    assert "template: icarus" in shown


def test_why(fabula, album):
    shown = fabula("order", album, "--by", "energy", "--why").out
    assert "Run: energetic: the high point" in shown


def test_places(fabula, album):
    arguments = ("--by", "energy", "--first", "storm", "--last", "Run", "--at", "2=Dance", "--at", "-2=Home", "--json")
    titles = [row["title"] for row in fabula("order", album, *arguments).json["items"]]
    assert (titles[0], titles[1], titles[-2], titles[-1]) == ("Storm", "Dance", "Home", "Run")


def test_flip_turns_a_rise_into_a_fall(fabula, album):
    rise = fabula("order", album, "--by", "energy", "--template", "steady-rise", "--json").json
    fall = fabula("order", album, "--by", "energy", "--template", "steady-rise", "--flip", "--json").json
    assert rise["ordering"] == np.argsort(ENERGY).tolist()
    assert fall["ordering"] == rise["ordering"][::-1]


def test_drawn_points_and_template_files(fabula, album, tmp_path):
    drawn = fabula("order", album, "--by", "energy", "--template", "0:0.2,0.5:1,1:0", "--json").json
    assert drawn["template"] == "0:0.2,0.5:1,1:0"
    assert drawn["ordering"][3] == int(np.argmax(ENERGY))
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps(
            {"format": "fabula-templates", "version": 1,
             "templates": [{"name": "a", "knots": [0, 1], "values": [0, 1]}, {"knots": [0, 1], "values": [1, 0]}]}
        )
    )  # fmt: skip
    second = fabula("order", album, "--by", "energy", "--template", f"{path}#2", "--json").json
    assert second["ordering"] == np.argsort(ENERGY)[::-1].tolist()


def test_like_itself_keeps_the_order(fabula, album):
    assert fabula("order", album, "--by", "energy", "--like", album, "--json").json["ordering"] == list(range(7))


def test_like_another_collection(fabula, album, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("title,energy\na,3\nb,2\nc,1\n")
    ordering = fabula("order", album, "--by", "energy", "--like", other, "--json").json["ordering"]
    assert ordering == np.argsort(ENERGY)[::-1].tolist()


def test_one_collection_of_several(fabula, tmp_path):
    path = tmp_path / "several.csv"
    path.write_text("album_id,title,energy\n1,a,0.5\n1,b,0.1\n2,c,0.9\n2,d,0.3\n")
    result = fabula("order", path, "--by", "energy", "--collection", "2", "--template", "steady-rise", "--json").json
    assert [row["title"] for row in result["items"]] == ["d", "c"]


def test_a_playlist_keeps_everything_but_the_order(fabula, playlist):
    out = playlist.with_name("new.m3u8")
    assert fabula("order", playlist, "--by", "duration", "--template", "steady-fall", "-o", out).code == 0
    assert out.read_text(encoding="utf-8") == (
        "#EXTM3U\n#PLAYLIST:Mix\n#EXTINF:310,Cy - Storm\n/abs/storm.ogg\n"
        "# a comment on the first\n#EXTINF:200,Ana - Dawn\nmusic/01 dawn.flac\n"
        "#EXTINF:120,Bo - Run\n#EXTVLCOPT:start-time=3\nmusic/02 run.flac\n# end\n"
    )


@pytest.mark.parametrize("ending", ["m3u", "m3u8", "pls", "xspf", "jspf", "csv", "json"])
def test_every_output_reads_back_in_the_new_order(fabula, album, ending, tmp_path):
    folder = tmp_path / "ailleurs ☂"
    folder.mkdir()
    out = folder / f"out.{ending}"
    ordered = fabula("order", album, "--by", "energy", "-o", out)
    assert ordered.code == 0, ordered.err
    assert str(out) in ordered.out.replace("\n", "")
    by = "essence" if ending in ("csv", "json") else "duration"
    if by == "duration":
        from fabula.sources.playlists.playlist import collection_of, read_playlist

        paths = [item.path for item in collection_of(read_playlist(out), out).items]
        expected = fabula("order", album, "--by", "energy", "--json").json
        assert [Path(p).resolve() for p in paths] == [
            (album.parent / row["path"]).resolve() for row in expected["items"]
        ]
    else:
        again = fabula("order", out, "--by", by, "--template", "icarus", "--json").json
        assert again["ordering"] == list(range(7))


def test_csv_keeps_the_columns(fabula, album, tmp_path):
    out = tmp_path / "out.csv"
    fabula("order", album, "--by", "energy", "-o", out)
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert {"position", "title", "artist", "energy", "tempo", "mood", "essence", "target", "deviation"} <= set(rows[0])
    assert {row["title"]: row["tempo"] for row in rows}["Rest"] == ""
    assert {row["title"]: row["energy"] for row in rows}["Run"] == "0.95"


def test_the_result_does_not_depend_on_the_row_order(fabula, album):
    lines = album.read_text(encoding="utf-8").splitlines(keepends=True)
    other = album.with_name("other.csv")
    other.write_text(lines[0] + "".join(lines[:0:-1]), encoding="utf-8")
    titles = [
        [row["title"] for row in fabula("order", path, "--by", "energy", "--json").json["items"]]
        for path in (album, other)
    ]
    assert titles[0] == titles[1]


def test_a_closed_pipe_is_no_error(album):
    script = (
        f"from fabula.cli import main; import sys; sys.argv=['fabula','order',{str(album)!r},'--by','energy']; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=60)


def test_every_output_is_written(fabula, album, tmp_path):
    paths = [tmp_path / name for name in ("order.m3u8", "order.csv", "order.json")]
    outputs = [word for path in paths for word in ("-o", path)]
    done = fabula("order", album, "--by", "energy", *outputs)
    assert done.code == 0, done.err
    assert [line for line in done.out.splitlines() if line.startswith("written")] == [f"written: {p}" for p in paths]
    assert all(path.stat().st_size for path in paths)
    refused = fabula("order", album, "--by", "energy", "-o", tmp_path / "new.csv", "-o", tmp_path / "new.odd")
    assert refused.code == 2
    assert not (tmp_path / "new.csv").exists()


def test_debug_shows_the_traceback(album):
    from fabula.cli import run
    from fabula.errors import FabulaError

    with pytest.raises(FabulaError):
        run(["order", str(album), "--by", "nothing", "--debug"])


def test_templates_commands(fabula):
    listed = fabula("templates", "list").out
    assert all(name in listed for name in ("man-in-a-hole", "freytag-pyramid", "slow-burn"))
    shown = fabula("templates", "show", "man-in-a-hole").out
    assert "Falls into trouble" in shown
    assert "points: 0:" in shown


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(fabula, album, tmp_path, ending, start):
    path = tmp_path / f"arc.{ending}"
    done = fabula("order", album, "--by", "energy", "--first", "Storm", "--plot", path)
    assert done.code == 0, done.err
    assert path.read_bytes().startswith(start)
