import pytest

from fabula.errors import FileError
from fabula.media.extraction import Measuring, extract
from fabula.media.registry import find_medium
from fabula.media.text.decoding import MOST
from fabula.media.text.files import read_document, read_item

SPEC = find_medium("text").spec()


def problem(path) -> str:
    """The one line that is told of a file."""
    found = extract([path], SPEC, Measuring(cache=False, jobs=1))
    assert not found.kept
    assert "\n" not in found.problems[0][1]
    assert read_item(str(path)).title == path.stem  # still an item, until it is measured
    return found.problems[0][1]


def test_a_file_without_words(tmp_path):
    (tmp_path / "a.txt").write_text("  \n\n 12 \n *** \n")
    assert problem(tmp_path / "a.txt").endswith("a.txt: has no words in it")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(bytes(range(256)) * 100)
    assert "is no text" in problem(tmp_path / "a.txt")


def test_a_file_that_is_too_long(tmp_path):
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(MOST + 1)
    assert problem(tmp_path / "a.txt").endswith("is longer than 20 MB, too long for one text; cut it into parts")


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.epub"])
def test_what_is_no_zip_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04 not really")
    assert "is broken, locked or no" in problem(tmp_path / name)


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.epub"])
def test_a_zip_file_of_something_else(packed, name):
    assert "its text is missing" in problem(packed(name, {"x": "y"}))


@pytest.mark.parametrize(("name", "inner"), [("a.docx", "word/document.xml"), ("a.odt", "content.xml")])
def test_a_bomb_is_not_unpacked(packed, name, inner):
    assert "unpacks to more than 20 MB" in problem(packed(name, {inner: b" " * (MOST + 10)}))


def test_entities_that_grow_are_not_read(packed):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    assert "entities of its own" in problem(packed("a.docx", {"word/document.xml": bomb}))


def test_broken_xml(packed):
    assert "is broken (word/document.xml" in problem(packed("a.docx", {"word/document.xml": "<a><b></a>"}))


def test_one_long_line(tmp_path):
    (tmp_path / "a.txt").write_text("word " * 200_000)
    assert extract([tmp_path / "a.txt"], SPEC, Measuring(cache=False)).features[0, 0] == 200_000


def test_a_file_that_is_not_there():
    with pytest.raises(FileError, match="cannot be read"):
        read_document("nowhere.txt")
