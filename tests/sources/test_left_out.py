"""What is not among the items of a folder is told, where people look and by name; copies of ours are no items."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import fabula
from fabula.core.collection import Item
from fabula.errors import FileError
from fabula.media.extraction import extract
from fabula.media.medium import Medium, Spec
from fabula.session.open import demo_folder

STORIES = {
    "one.md": "# One\n\nIt rained all day, and nobody went out of the house.\n",
    "two.md": "# Two\n\nThen it stopped, and they left for the town by the sea.\n",
    "three.md": "# Three\n\nThe road was long and full of mud, and the night came.\n",
}


def write(folder: Path, **more: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in STORIES.items():
        (folder / name).write_text(text)
    for name, data in more.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return folder


def test_how_many_of_how_many_were_opened_and_why_not_the_others(tmp_path):
    folder = write(tmp_path / "x", empty_txt=b"", noise_txt=bytes(300))
    line = "3 of 5 opened; left out: empty.txt: is empty; noise.txt: is no text"
    session = fabula.open(folder)
    assert session.notes[0].startswith(line)
    ordered = session.order()
    assert ordered.notes[0].startswith(line)
    assert ordered.to_json()["notes"][0].startswith(line)
    assert line in str(ordered)
    assert line in ordered._repr_html_()


def test_of_many_some_are_told_in_one_line_and_each_by_name(tmp_path):
    folder = write(tmp_path / "x", **{f"empty{k}_txt": b"" for k in range(11)})
    notes = fabula.open(folder).notes
    assert notes[0].startswith("3 of 14 opened; left out: ")
    assert notes[0].endswith("; and 3 more")
    for k in range(11):
        assert sum(f"empty{k}.txt" in note for note in notes) == 1


def test_files_and_folders_of_another_medium_are_told_and_covers_are_not(tmp_path):
    folder = write(
        tmp_path / "x", cover_jpg=b"jpg", **{"one.png": b"its own", "harbour 1.png": b"png", "tool.exe": b"MZ"}
    )
    for number, text in enumerate(STORIES.values()):
        (folder / f"more {number}.md").write_text(text)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "sea.jpg").write_bytes(b"jpg")
    notes = fabula.open([folder, pictures]).notes
    assert "no texts, and left alone: harbour 1.png, sea.jpg" in notes
    assert f"{pictures}: has no text files in it, and was left out" in notes
    assert any("tool.exe: does not have the ending of a text file" in note for note in notes)
    assert not any("cover.jpg" in note or "one.png" in note for note in notes)


def test_a_table_of_contents_is_no_chapter_and_is_told(tmp_path):
    book = tmp_path / "book.md"
    chapters = "".join(text.replace("# ", "## ") + "\n" for text in STORIES.values())
    book.write_text(f"# Book\n\n## Contents\n\n- One ... 3\n- Two ... 7\n- Three ... 12\n\n{chapters}\n## Empty\n")
    session = fabula.open(book)
    assert [item.title for item in session.collection.items] == ["One", "Two", "Three"]
    assert any(
        note.startswith("not ordered, and kept where it stands: 'Contents', 'Empty' (") for note in session.notes
    )
    prose = STORIES["one.md"].replace("# One", "## Contents") * 2  # a chapter that is only called so
    book.write_text(f"{prose.replace('It rained', 'It rained ' * 20)}\n{chapters}")
    assert "Contents" in [item.title for item in fabula.open(book).collection.items]


@pytest.mark.parametrize("sides", [1, 2])
def test_numbered_copies_below_are_left_out_and_told(tmp_path, sides):
    folder = write(tmp_path / "x")
    first = fabula.order(folder, sides=sides)
    first.copy(folder / "ordered")
    again = fabula.open(folder)
    assert len(again.collection) == 3
    assert f"left out: {folder / 'ordered'} holds numbered copies of text files above it" in again.notes
    assert len(fabula.open(folder / "ordered").collection) == 3  # named, they are what is meant
    assert len(fabula.open([folder, folder / "ordered"]).collection) == 6
    (folder / "ordered" / "another.md").write_text("# Four\n\nSomething else that somebody put there.\n")
    assert len(fabula.open(folder).collection) == 7


def test_copies_into_which_numbers_were_written_are_known_as_well(tmp_path):
    pytest.importorskip("mutagen")
    folder = tmp_path / "album"
    shutil.copytree(demo_folder(), folder)
    count = len(fabula.open(folder).collection)
    fabula.order(folder).copy(folder / "ordered", tags=True)
    assert len(fabula.open(folder).collection) == count


def test_a_folder_of_another_album_is_not_taken_for_copies(tmp_path):
    folder = write(tmp_path / "x")
    other = tmp_path / "x" / "second"
    other.mkdir()
    for number, text in enumerate(STORIES.values(), start=1):
        (other / f"0{number} Story.md").write_text(text + "And so on.\n")
    assert len(fabula.open(folder).collection) == 6


def test_an_encoding_that_was_guessed_is_told(tmp_path):
    folder = tmp_path / "рассказы"
    folder.mkdir()
    for name, text in (("a", "Все смешалось в доме"), ("b", "Дождь шёл весь день, и никто не выходил")):
        (folder / f"{name}.txt").write_bytes(f"{text}. {text}.\n".encode("koi8-r"))
    session = fabula.open(folder)
    assert "read as KOI8-R text, by its letters: a, b" in session.notes
    book = tmp_path / "book.txt"
    book.write_bytes("Глава 1\n\nВсе смешалось в доме.\n\nГлава 2\n\nДождь шёл весь день.\n".encode("cp1251"))
    opened = fabula.open(book)
    assert "read as CP1251 text, by its letters: book.txt" in opened.notes
    assert "Все смешалось" in str(opened.collection.items[0].details["text"])


# A medium of another package that fails, whatever it raises.


class OddError(Exception):
    """What no other package raises."""


def brick(path: str) -> Item:
    if "bad" in path:
        raise OddError("no\nbrick")
    return Item(path, title=Path(path).stem, path=path)


def weigh(path: str, stop: object) -> np.ndarray:
    if "heavy" in path:
        raise KeyError("weight")
    return np.array([1.0, 2.0]) if "long" in path else np.array([float(Path(path).stat().st_size)])


@pytest.fixture
def bricks(tmp_path, bring) -> Path:
    spec = Spec("bricks", 1, ("weight",), weigh, (1,))
    medium = Medium("bricks", endings=frozenset((".brick",)), read_item=brick, specs={"bricks": lambda: spec})
    bring(medium)
    for size, name in enumerate(("bad", "heavy", "long", "red", "blue"), start=1):
        (tmp_path / f"{name}.brick").write_bytes(b"x" * size)
    return tmp_path


def test_where_a_plug_in_fails_the_others_are_ordered(bricks):
    session = fabula.open(bricks, by="weight")
    assert [item.title for item in session.collection.items] == ["blue", "red"]
    assert session.notes[0] == (
        "2 of 5 opened; left out: bad.brick: medium 'bricks', read_item fails (tests: OddError: no brick); "
        "heavy.brick: medium 'bricks', measure fails (tests: KeyError: 'weight'); "
        "long.brick: cannot be measured (shape (1,) is due; got (2,))"
    )


def test_where_a_plug_in_fails_to_cut_a_file_it_is_one_line(bricks, bring):
    def cut(path: str, cutting: object) -> None:
        raise ZeroDivisionError("by nothing")

    bring(Medium("bricks", endings=frozenset((".brick",)), parts=cut))
    words = r"red\.brick: medium 'bricks', parts fails \(tests: ZeroDivisionError: by nothing\)"
    with pytest.raises(FileError, match=words):
        fabula.open(bricks / "red.brick", by="weight")


def test_more_stretches_of_one_sound_than_anybody_hears_are_refused(tmp_path):
    (tmp_path / "a.m3u8").write_text("".join(f"long.wav#t={i},{i + 1}\n" for i in range(1001)))
    words = r"a\.m3u8: has 1,001 stretches of .*long\.wav, and may have 1,000$"
    with pytest.raises(FileError, match=words):
        fabula.open(tmp_path / "a.m3u8")


def test_files_that_are_not_there_are_told_without_asking_a_reader_for_them():
    def measure(path, stop):
        raise AssertionError("asked")

    names = ["gone.toy", "gone.toy#t=1,2", "gone\0.toy"]
    problems = extract(names, Spec("toy", 1, ("x",), measure, (1,))).problems
    told = [f"{name}: cannot be read (No such file or directory)" for name in ("gone.toy", "gone.toy")]
    assert [message for _, message in problems[:2]] == told
    assert "embedded null" in problems[2][1]
