from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given, strategies as st

import fabula
from fabula.errors import FileError
from fabula.media.medium import Medium, Words
from fabula.media.music import MEDIUM
from fabula.sources.folders import natural_key, open_files, read_folder as read_files
from fabula.sources.registry import Opening, Source

Track = Callable[..., Path]


def read_folder(paths: Any, *, recursive: bool = True) -> Source:
    """Folders and files of music."""
    return read_files(paths, MEDIUM, Opening(recursive=recursive))


@pytest.fixture
def track(tmp_path: Path) -> Track:
    def write(name: str, *, number: int | None = None, **texts: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        plain = path.with_name("plain.ogg")  # soundfile takes no undecodable names
        with soundfile.SoundFile(plain, "w", 8000, 1, format="OGG", subtype="VORBIS") as file:
            for tag, text in (texts | ({"tracknumber": str(number)} if number else {})).items():
                setattr(file, tag, text)
            file.write(np.zeros(4000))
        return plain.rename(path)

    return write


def names(folder: object, **rest: bool) -> list[str]:
    return [Path(item.path).name for item in read_folder(folder, **rest).collection.items]  # type: ignore[arg-type]


def test_tags_become_the_item(track: Track, tmp_path: Path) -> None:
    path = track("a.ogg", number=3, title="Eine  kleine\nNachtmusik", artist="W. A. M.", album="Gran Partita")
    reading = read_folder(tmp_path)
    (item,) = reading.collection.items
    assert (item.title, item.artist, item.path) == ("Eine kleine Nachtmusik", "W. A. M.", str(path))
    assert (item.details["album"], item.details["track"]) == ("Gran Partita", 3)
    assert item.details["duration_ms"] == pytest.approx(500, abs=10)
    assert reading.title == "Gran Partita"


def test_without_tags_the_name_is_the_title(track: Track, tmp_path: Path) -> None:
    track("My Song.ogg")
    reading = read_folder(tmp_path)
    assert reading.collection.items[0].label == "My Song"
    assert reading.title == tmp_path.name


def test_track_numbers_where_every_file_has_its_own(track: Track, tmp_path: Path) -> None:
    track("z.ogg", number=1), track("y.ogg", number=2), track("x.ogg", number=10)
    assert names(tmp_path) == ["z.ogg", "y.ogg", "x.ogg"]
    assert read_folder(tmp_path).collection.ordered


def test_names_where_a_file_has_no_track_number(track: Track, tmp_path: Path) -> None:
    track("b 10.ogg"), track("b 9.ogg"), track("z.ogg", number=1), track("y.ogg", number=2)
    assert names(tmp_path) == ["b 9.ogg", "b 10.ogg", "y.ogg", "z.ogg"]
    assert not read_folder(tmp_path).collection.ordered


def test_names_where_two_files_have_one_track_number(track: Track, tmp_path: Path) -> None:
    track("b.ogg", number=1), track("a.ogg", number=2), track("c.ogg", number=1)
    assert names(tmp_path) == ["a.ogg", "b.ogg", "c.ogg"]
    assert not read_folder(tmp_path).collection.ordered


def test_each_folder_stands_by_its_own_rule(track: Track, tmp_path: Path) -> None:
    track("1/b.ogg", number=1), track("1/a.ogg", number=2), track("2/d.ogg"), track("2/c.ogg")
    assert names(tmp_path) == ["b.ogg", "a.ogg", "c.ogg", "d.ogg"]
    assert not read_folder(tmp_path).collection.ordered
    assert read_folder(tmp_path / "1").collection.ordered
    assert not read_folder([tmp_path / "1" / "b.ogg"]).collection.ordered  # as it was named


def test_folders_in_natural_order_and_not_without_recursion(track: Track, tmp_path: Path) -> None:
    track("CD10/1.ogg"), track("CD2/2.ogg"), track("CD2/1.ogg"), track("top.ogg")
    assert [str(Path(item.path).relative_to(tmp_path)) for item in read_folder(tmp_path).collection.items] == [
        "top.ogg", "CD2/1.ogg", "CD2/2.ogg", "CD10/1.ogg",
    ]  # fmt: skip
    assert names(tmp_path, recursive=False) == ["top.ogg"]


def test_files_stand_as_they_were_named(track: Track) -> None:
    paths = [track("b.ogg"), track("a.ogg"), track("c.ogg")]
    assert names(paths) == ["b.ogg", "a.ogg", "c.ogg"]
    assert names(paths[1]) == names(str(paths[1])) == ["a.ogg"]


def test_what_lies_beside_is_passed_over_and_the_rest_reported(track: Track, tmp_path: Path) -> None:
    track("a.ogg")
    for quiet in ("cover.jpg", "list.m3u8", "notes.txt", ".hidden.ogg", ".DS_Store"):
        (tmp_path / quiet).write_text("x")
    (tmp_path / "film.avi").write_text("x")
    (tmp_path / "empty.mp3").write_bytes(b"")
    (tmp_path / "link.ogg").symlink_to(tmp_path / "gone.ogg")
    reading = read_folder(tmp_path)
    assert names(tmp_path) == ["a.ogg"]
    assert {Path(path).name: reason for path, reason in reading.left_out} == {
        "film.avi": "does not have the ending of an audio file",
        "empty.mp3": "is empty",
        "link.ogg": "is a link to a file that does not exist",
    }


def test_a_companion_that_was_named_is_reported(track: Track, tmp_path: Path) -> None:
    (tmp_path / "cover.jpg").write_text("x")
    reading = read_folder([track("a.ogg"), tmp_path / "cover.jpg"])
    assert reading.left_out == (("cover.jpg", "does not have the ending of an audio file"),)


def test_the_same_file_is_listed_once(track: Track, tmp_path: Path) -> None:
    path = track("a.ogg")
    (tmp_path / "b.ogg").symlink_to(path)
    reading = read_folder([tmp_path, path])
    assert names([tmp_path, path]) == ["a.ogg"]
    assert (reading.left_out, reading.notes[0].partition(":")[0]) == ((), "skipped, the same as files before")


def test_files_that_are_the_same_are_told_in_one_line(track: Track, tmp_path: Path) -> None:
    path = track("a.ogg")
    (tmp_path / "de").mkdir()
    for k in range(9):
        (tmp_path / "de" / f"{k}.ogg").symlink_to(path)
    told = "skipped, the same as files before: de/0.ogg, de/1.ogg, de/2.ogg, de/3.ogg, de/4.ogg, de/5.ogg, and 3 more"
    assert open_files([str(tmp_path)], Opening()).notes == (told,)


def test_links_in_a_circle_end(track: Track, tmp_path: Path) -> None:
    track("in/a.ogg")
    (tmp_path / "in" / "back").symlink_to(tmp_path)
    assert names(tmp_path) == ["a.ogg"]


def _loop(path: Path) -> Path:
    path.symlink_to(path)
    return path


def test_links_that_lead_to_themselves_are_told(track: Track, tmp_path: Path) -> None:
    track("a.ogg")
    _loop(tmp_path / "loop"), _loop(tmp_path / "loop.ogg")
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    (tmp_path / "parent").symlink_to(tmp_path)
    reading = read_folder(tmp_path)
    assert [Path(item.path).name for item in reading.collection.items] == ["a.ogg"]
    assert {Path(path).name: reason for path, reason in reading.left_out} == dict.fromkeys(
        ["loop", "loop.ogg", "one", "two"], "is a link that leads back to itself"
    )


def test_any_kind_of_files(tmp_path: Path) -> None:
    for name in ("2.txt", "1.txt", "cover.png", "film.avi", "a.ogg"):
        (tmp_path / name).write_text(name)
    words = Words(file="a text", files="texts")
    texts = Medium("texts", words, endings=frozenset({".txt"}), companions=frozenset({".png"}))
    reading = read_files(tmp_path, texts)
    assert [item.title for item in reading.collection.items] == ["1", "2"]
    assert (reading.title, reading.collection.ordered) == (tmp_path.name, False)
    assert {Path(path).name: reason for path, reason in reading.left_out} == dict.fromkeys(
        ["film.avi", "a.ogg"], "does not have the ending of a text"
    )
    backwards = replace(texts, number=lambda item: (-int(item.title),), title=lambda items: f"{len(items)} texts")
    again = read_files(tmp_path, backwards)
    assert ([item.title for item in again.collection.items], again.title, again.collection.ordered) == (
        ["2", "1"],
        "2 texts",
        True,
    )
    (tmp_path / "in").mkdir()
    with pytest.raises(FileError, match="in: has no texts in it"):
        read_files(tmp_path / "in", texts)


@pytest.mark.parametrize("name", ["sur\udcff.ogg", "音楽 ♫ é.ogg", "a\nb.ogg", "'; rm -rf.ogg", "-o.ogg"])
def test_any_name(track: Track, tmp_path: Path, name: str) -> None:
    path = track(name)
    (item,) = read_folder(tmp_path).collection.items
    assert item.path == os.fspath(path)
    assert item.title.isprintable()


def test_a_broken_file_has_no_tags_and_stays(tmp_path: Path) -> None:
    (tmp_path / "text.mp3").write_text("not music")
    (item,) = read_folder(tmp_path).collection.items
    assert (item.title, dict(item.details)) == ("text", {})


def test_a_folder_that_ends_like_a_file(track: Track, tmp_path: Path) -> None:
    track("x.mp3/a.ogg")
    assert names(tmp_path) == ["a.ogg"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "missing", r"missing: does not exist$"),
        (lambda folder: folder, r": has no audio files in it$"),
        (lambda folder: [Path(__file__)], r"no usable audio files; .*test_folders\.py does not have the ending"),
        (lambda folder: _loop(folder / "x"), r"x: has no usable audio files; .*x is a link that leads back to itself$"),
        (lambda folder: folder / ("x" * 300), r"x: does not exist$"),
    ],
)
def test_words_of_refusal(make: Callable[[Path], object], words: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=words):
        read_folder(make(tmp_path))  # type: ignore[arg-type]


@pytest.mark.slow
@given(st.lists(st.text(), max_size=6))
def test_natural_order_takes_any_text(texts: list[str]) -> None:
    assert sorted(map(natural_key, texts)) == sorted(map(natural_key, reversed(texts)))


@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_natural_order_counts(numbers: list[int]) -> None:
    assert sorted(map(str, numbers), key=natural_key) == list(map(str, sorted(numbers)))


def test_the_demo_album_is_whole() -> None:
    folder = Path(fabula.__file__).with_name("demo")
    reading = read_folder(folder)
    assert reading.title == "Nine Short Pieces"
    assert [item.details["track"] for item in reading.collection.items] == list(range(1, 10))
    assert reading.collection.items[4].title == "First Light"
    assert sum(Path(item.path).stat().st_size for item in reading.collection.items) < 1_200_000


def test_a_library_of_numbered_albums_is_looked_through_once(tmp_path):
    for album in range(900):
        folder = tmp_path / f"artist {album // 20}" / f"album {album}"
        folder.mkdir(parents=True)
        for number in (1, 2):
            (folder / f"{number:02d} x.mp3").write_bytes(b"no sound")
    start = time.process_time()
    reading = read_folder(tmp_path)
    assert time.process_time() - start < 3  # where each folder was compared with all others it took more than 6
    assert len(reading.collection.items) == 1800
