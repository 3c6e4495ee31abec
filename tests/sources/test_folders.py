from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

import fabula
from fabula.errors import FileError
from fabula.sources.folders import natural_key, read_folder

Track = Callable[..., Path]


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
    return [Path(path).name for path in read_folder(folder, **rest).paths]  # type: ignore[arg-type]


def test_tags_become_the_item(track: Track, tmp_path: Path) -> None:
    path = track("a.ogg", number=3, title="Eine  kleine\nNachtmusik", artist="W. A. M.", album="Gran Partita")
    reading = read_folder(tmp_path)
    (item,) = reading.items
    assert (item.title, item.artist, item.path) == ("Eine kleine Nachtmusik", "W. A. M.", str(path))
    assert (item.details["album"], item.details["track"]) == ("Gran Partita", 3)
    assert item.details["duration_ms"] == pytest.approx(500, abs=10)
    assert reading.title == "Gran Partita"


def test_without_tags_the_name_is_the_title(track: Track, tmp_path: Path) -> None:
    track("My Song.ogg")
    reading = read_folder(tmp_path)
    assert reading.items[0].label == "My Song"
    assert reading.title == tmp_path.name


def test_track_numbers_then_names(track: Track, tmp_path: Path) -> None:
    track("b 10.ogg"), track("b 9.ogg"), track("z.ogg", number=1), track("y.ogg", number=2), track("x.ogg", number=10)
    assert names(tmp_path) == ["z.ogg", "y.ogg", "x.ogg", "b 9.ogg", "b 10.ogg"]


def test_folders_in_natural_order_and_not_without_recursion(track: Track, tmp_path: Path) -> None:
    track("CD10/1.ogg"), track("CD2/2.ogg"), track("CD2/1.ogg"), track("top.ogg")
    assert [str(Path(p).relative_to(tmp_path)) for p in read_folder(tmp_path).paths] == [
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
    assert {Path(path).name: reason for path, reason in reading.skipped} == {
        "film.avi": "does not have the ending of an audio file",
        "empty.mp3": "is empty",
        "link.ogg": "is a link to a file that does not exist",
    }


def test_a_companion_that_was_named_is_reported(track: Track, tmp_path: Path) -> None:
    (tmp_path / "cover.jpg").write_text("x")
    reading = read_folder([track("a.ogg"), tmp_path / "cover.jpg"])
    assert reading.skipped == ((str(tmp_path / "cover.jpg"), "does not have the ending of an audio file"),)


def test_the_same_file_is_listed_once(track: Track, tmp_path: Path) -> None:
    path = track("a.ogg")
    (tmp_path / "b.ogg").symlink_to(path)
    reading = read_folder([tmp_path, path])
    assert names([tmp_path, path]) == ["a.ogg"]
    assert [reason for _, reason in reading.skipped] == ["is the same file as one before it"] * 2


def test_links_in_a_circle_end(track: Track, tmp_path: Path) -> None:
    track("in/a.ogg")
    (tmp_path / "in" / "back").symlink_to(tmp_path)
    assert names(tmp_path) == ["a.ogg"]


@pytest.mark.parametrize("name", ["sur\udcff.ogg", "音楽 ♫ é.ogg", "a\nb.ogg", "'; rm -rf.ogg", "-o.ogg"])
def test_any_name(track: Track, tmp_path: Path, name: str) -> None:
    path = track(name)
    (item,) = read_folder(tmp_path).items
    assert item.path == os.fspath(path)
    assert item.title.isprintable()


def test_a_broken_file_has_no_tags_and_stays(tmp_path: Path) -> None:
    (tmp_path / "text.mp3").write_text("not music")
    (item,) = read_folder(tmp_path).items
    assert (item.title, dict(item.details)) == ("text", {})


def test_a_folder_that_ends_like_a_file(track: Track, tmp_path: Path) -> None:
    track("x.mp3/a.ogg")
    assert names(tmp_path) == ["a.ogg"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "missing", r"missing: does not exist$"),
        (lambda folder: folder, r": has no audio files in it$"),
        (lambda folder: [], r"no folder and no file was given"),
        (lambda folder: [Path(__file__)], r"no usable audio files; .*test_folders\.py does not have the ending"),
    ],
)
def test_words_of_refusal(make: Callable[[Path], object], words: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=words):
        read_folder(make(tmp_path))  # type: ignore[arg-type]


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
    assert [item.details["track"] for item in reading.items] == list(range(1, 10))
    assert reading.items[4].title == "First Light"
    assert sum(Path(path).stat().st_size for path in reading.paths) < 1_200_000
