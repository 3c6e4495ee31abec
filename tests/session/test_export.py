"""Writing a result: playlists, tables, JSON, copies; and the versions that were replaced."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.files import make_part
from fabula.errors import FileError, InputError
from fabula.media.facts import as_clock, as_seconds, round_parts
from fabula.media.registry import find_medium
from fabula.session.export import MOST_KEPT, copy_numbered, number_in_place, number_names, restore, versions
from fabula.session.open import demo_folder
from fabula.session.ordered import Row
from fabula.session.session import Session, open_session, session_of
from fabula.sources.playlists.playlist import read_playlist
from fabula.sources.registry import Source


def test_copies_are_numbered_and_originals_untouched(tmp_path, demo):
    before = {path.name: path.read_bytes() for path in demo_folder().glob("*.ogg")}
    ordered = demo.order()
    files = copy_numbered(ordered, tmp_path / "out")
    assert [path.name for path in files] == [f"{i:02d} {t}.ogg" for i, t in enumerate(ordered.titles, start=1)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [path.name for path in files]
    assert {path.name: path.read_bytes() for path in demo_folder().glob("*.ogg")} == before
    with pytest.raises(InputError, match="already holds '01 "):
        copy_numbered(ordered, tmp_path / "out")
    links = copy_numbered(ordered, tmp_path / "links", link=True)
    assert all(path.is_symlink() and path.read_bytes() for path in links)


def test_what_a_killed_copy_left_is_swept_by_the_next_one(tmp_path, demo):
    """A process is killed while it copies: its unfinished file goes with the next copy; one that is held stays."""
    out = tmp_path / "out"
    out.mkdir()
    code = (
        "import os, pathlib, shutil, signal\n"
        "import fabula.session.export as export\n"
        "export.shutil.copyfileobj = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"export._place(pathlib.Path({str(out / '01 a.ogg')!r}), pathlib.Path({__file__!r}), [], link=False)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == -signal.SIGKILL
    assert [path.name[:9] for path in out.iterdir()] == [".01 a.ogg"]
    handle, held = make_part(".02 b.", out)
    (out / ".mine.part").write_text("not ours")
    ordered = demo.order()
    copy_numbered(ordered, out)
    assert sorted(path.name for path in out.iterdir() if path.name[0] == ".") == sorted([held.name, ".mine.part"])
    os.close(handle)


def test_copies_of_sides_are_called_by_side(tmp_path, demo):
    ordered = demo.order(sides=2)
    files = copy_numbered(ordered, tmp_path / "out")
    labels = [path.name.split()[0] for path in files]
    assert labels == [row.label for row in ordered.rows]
    assert labels[0] == "A1"
    assert labels[ordered.sides[0]] == "B1"
    assert sorted(labels) == labels


def test_numbers_are_written_into_copies_and_nowhere_else(tmp_path, demo):
    mutagen = pytest.importorskip("mutagen")
    before = {path.name: path.read_bytes() for path in demo_folder().glob("*.ogg")}
    ordered = demo.order(sides=2)
    for row, path in zip(ordered.rows, copy_numbered(ordered, tmp_path / "out", tags=True), strict=True):
        tags = mutagen.File(path, easy=True).tags
        assert tags["tracknumber"] == [str(row.number)]
        assert tags["discnumber"] == [str("AB".index(row.side) + 1)]
        assert tags["tracktotal"] == [str(ordered.sides["AB".index(row.side)])]
    assert {path.name: path.read_bytes() for path in demo_folder().glob("*.ogg")} == before
    again = open_session(tmp_path / "out")
    assert [item.title for item in again.collection.items] == ordered.titles


def test_numbers_in_the_files_themselves(tmp_path):
    mutagen = pytest.importorskip("mutagen")
    folder = tmp_path / "album"
    shutil.copytree(demo_folder(), folder)
    ordered = open_session(folder).order(template="steady-rise")
    written = number_in_place(ordered)
    assert [mutagen.File(path, easy=True).tags["tracknumber"] for path in written] == [[str(i)] for i in range(1, 10)]


def test_things_that_have_no_numbers_say_so(tmp_path):
    ordered = session_of([Item("a"), Item("b")], [1.0, 2.0]).order()
    with pytest.raises(InputError, match=r"^tags: numbers cannot be written into files of items$"):
        number_in_place(ordered)


def test_a_failing_copy_leaves_nothing(tmp_path, monkeypatch, demo):
    real, count = shutil.copyfileobj, 0

    def failing(source, target, length):
        nonlocal count
        count += 1
        if count == 4:
            raise OSError(28, "No space left on device")
        return real(source, target, length)

    monkeypatch.setattr(shutil, "copyfileobj", failing)
    with pytest.raises(FileError, match=r"cannot be written \(No space left on device\)"):
        copy_numbered(demo.order(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def row(number: int, title: str, side: str = "") -> Row:
    return Row(number - 1, side, number, Item(title, title=title), 0, "")


def test_names_any_system_takes():
    rows = [row(k, title) for k, title in enumerate(["01 - A", "b/c\0", "...", "é" * 200], start=1)]
    assert number_names(rows, [".x"] * 4)[:3] == ["01 A.x", "02 b_c_.x", "03 item.x"]
    assert len(number_names(rows[3:], [".x"])[0].encode()) < 255
    assert number_names([row(1, "x", "B")], [""]) == ["B1 x"]


def test_every_version_that_was_replaced_is_kept(tmp_path, demo):
    path = tmp_path / "mix.m3u8"
    path.write_text("#EXTM3U\nmade by hand.ogg\n")
    demo.order().save(path)
    path.write_text("#EXTM3U\nhand work done since.ogg\n")
    demo.order(template="wave").save(path)
    demo.order(template="wave").save(path)  # nothing changes: nothing is kept
    kept = [version.path.read_text() for version in versions(path)]
    assert len(kept) == 2 or len(kept) == 3
    assert kept[0] == "#EXTM3U\nmade by hand.ogg\n"
    assert "#EXTM3U\nhand work done since.ogg\n" in kept
    wave = path.read_text()
    restore(path, 1)
    assert path.read_text() == "#EXTM3U\nmade by hand.ogg\n"
    assert versions(path)[-1].path.read_text() == wave  # what was replaced by restoring is not lost either
    restore(path)
    assert path.read_text() == wave


def test_restoring_what_is_not_there(tmp_path):
    with pytest.raises(FileError, match="nothing to restore"):
        restore(tmp_path / "mix.m3u8")
    with pytest.raises(InputError, match=r"^restore: name the file to restore$"):
        restore("")
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "a.csv.~1~").write_text("y")
    with pytest.raises(InputError, match=r"has no version 7; there are: 1"):
        restore(tmp_path / "a.csv", 7)


def test_the_history_stays_small_and_keeps_the_first(tmp_path):
    path = tmp_path / "t.csv"
    session = session_of([Item(str(i)) for i in range(5)], [3.0, 1.0, 2.0, 5.0, 4.0])
    for k in range(MOST_KEPT + 5):
        path.write_text(f"by hand {k}\n")
        session.order().save(path)
    kept = versions(path)
    assert len(kept) <= MOST_KEPT
    assert kept[0].path.read_text() == "by hand 0\n"


def test_the_version_kept_by_0_1_is_known(tmp_path):
    path = tmp_path / "mix.m3u8"
    path.write_text("new")
    path.with_name("mix.m3u8.before").write_text("old")
    assert [version.number for version in versions(path)] == [0]
    restore(path)
    assert path.read_text() == "old"


def test_json_has_what_is_promised(demo, tmp_path):
    ordered = demo.order(sides=2)
    told = ordered.to_json()
    assert {"template", "ordering", "worst", "mean", "score", "items", "alternatives", "given", "notes"} <= set(told)
    assert {"position", "id", "title", "path", "essence", "target", "deviation", "length", "side"} <= set(
        told["items"][0]
    )
    assert Path(told["items"][0]["path"]).is_file()
    assert told["unit"] == "seconds"
    assert sum(told["lengths"]) == pytest.approx(sum(item.length for item in demo.collection.items))
    assert 0.5 < told["sure"] < told["direction"] < 1
    assert json.loads(ordered.save(tmp_path / "x.json").read_text()) == json.loads(json.dumps(told))


def side_length(lengths, gap):
    """How long a side is that is played with gaps, or crossfades, between two."""
    at = 0.0
    for length in lengths[:-1]:
        at += max(0.0, length + gap)
    return at + lengths[-1]


@pytest.mark.parametrize("gap", [0.0, 2.5, 7.0, -1.5])
def test_gaps_count_in_limits_as_brute_force_counts_them(gap):
    rng = np.random.default_rng(int(gap * 2) + 9)
    lengths = rng.uniform(20, 60, 7).round(1).tolist()
    songs = Collection(
        "c", tuple(Item(f"s{k}", length=x) for k, x in enumerate(lengths)), rng.normal(size=(7, 1)), ("e",)
    )
    session = Session(Source(Path("c"), songs, find_medium("music")), songs.features[:, 0], ("e",))
    halves = [mask for mask in range(1, 127) if mask & 1]
    shortest = min(
        max(
            side_length([x for k, x in enumerate(lengths) if mask >> k & 1], gap),
            side_length([x for k, x in enumerate(lengths) if not mask >> k & 1], gap),
        )
        for mask in halves
    )
    found = session.order(sides=2, side_limit=shortest + 0.01, gap_s=gap, template="icarus")
    assert max(found.lengths) <= shortest + 0.01
    with pytest.raises(InputError, match=f"the shortest side limit that works is {as_clock(np.ceil(shortest))}"):
        session.order(sides=2, side_limit=shortest - 0.5, gap_s=gap, template="icarus")
    limited = session.order(limit=150, gap_s=gap, template="icarus")
    assert limited.lengths == [pytest.approx(side_length([lengths[i] for i in limited.ordering], gap))]
    assert limited.lengths[0] <= 150
    assert limited.notes[-1].startswith("left out to keep within 2:30: ")


def test_sides_add_up_to_the_whole_to_the_second():
    rng = np.random.default_rng(3)
    for _ in range(50):
        lengths = rng.uniform(1, 400, rng.integers(2, 9))
        parts = round_parts(lengths)
        assert sum(parts) == int(lengths.sum() + 0.5)
        assert np.abs(np.array(parts) - lengths).max() < 1


def test_playlists_tell_the_sides(demo, tmp_path):
    ordered = demo.order(sides=2)
    text = ordered.save(tmp_path / "x.m3u8").read_text()
    assert "Side A" in text
    assert "Side B" in text
    assert len(read_playlist(tmp_path / "x.m3u8").entries) == 9


def test_times():
    assert [as_seconds(t) for t in ("22:00", "1:02:03", "90s", "1.5 h", "45m")] == [1320, 3723, 90, 5400, 2700]
    for wrong in ("22", "", "1:99", "0s", "x"):
        with pytest.raises(InputError, match="takes a time such as 22:00"):
            as_seconds(wrong)
    assert as_clock(59.6) == "1:00"
