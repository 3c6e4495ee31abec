"""Texts joined into one file: what was read is in it, in the new order, and nothing that was read is changed."""

from __future__ import annotations

import hashlib
import zipfile
from xml.etree import ElementTree as ET

import pytest

import fabula
from fabula.media.text.books import Joined, write_docx, write_epub
from fabula.media.text.documents import Document, TextBlock
from fabula.media.text.passages import read_document
from fabula.session.export import copy_numbered
from fabula.sources.registry import open_source

BOOK = """---
title: The Sea & <Me>
author: Ann Lee
---
# The Sea

## Rain

It *rained* all **day** on old Tom & "Bob".

* * *

It rained again.

## Night

Night fell.

## ليل

كان المطر يهطل على البحر
"""


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "sea.md"
    path.write_text(BOOK, encoding="utf-8")
    return path


def test_a_docx_reads_as_the_markdown_does(book, tmp_path):
    ordered = fabula.order(book, by="words", template="steady-rise")
    docx, markdown = ordered.save(tmp_path / "new.docx"), ordered.save(tmp_path / "new.md")
    found, same = read_document(str(docx)), read_document(str(markdown))
    assert found.text == same.text
    assert [(b.level, b.text) for b in found.blocks if b.level > 0] == [
        (b.level, b.text) for b in same.blocks if b.level > 0
    ]
    assert (found.name, found.author) == ("The Sea & <Me>", "Ann Lee")
    assert [item.title for item in open_source([docx]).collection.items] == ordered.titles
    assert sum(block.level == -1 for block in found.blocks) == 1  # the break within Rain is kept
    assert book.read_text(encoding="utf-8") == BOOK


def test_the_xml_of_a_docx_is_whole_and_holds_no_macro(book, tmp_path):
    docx = fabula.order(book, by="words", template="steady-rise").save(tmp_path / "new.docx")
    with zipfile.ZipFile(docx) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            "[Content_Types].xml", "_rels/.rels", "docProps/core.xml", "word/_rels/document.xml.rels",
            "word/document.xml", "word/styles.xml",
        ]  # fmt: skip
        root = ET.fromstring(archive.read("word/document.xml"))
        for name in archive.namelist():
            ET.fromstring(archive.read(name))
    bold = [run for run in root.iter() if run.tag.endswith("}r") and any(e.tag.endswith("}b") for e in run.iter())]
    assert ["".join(run.itertext()) for run in bold] == ["day"]


def join(*blocks):
    return Joined((Document(blocks),), breaks=False)


def test_what_xml_cannot_hold_is_left_out(tmp_path):
    write_docx(join(TextBlock(0, "a\x07b\ud800c <i> & \t\nd")), tmp_path / "x.docx")
    assert read_document(str(tmp_path / "x.docx")).text == "abc <i> & \t\nd"


def test_wrapped_lines_are_joined_and_verse_is_not(tmp_path):
    wrapped = "It rained on the sea and on the land and on the old town by the sea,\nand then it stopped."
    write_docx(join(TextBlock(0, wrapped), TextBlock(0, "Rain,\nrain.")), tmp_path / "x.docx")
    assert read_document(str(tmp_path / "x.docx")).text == wrapped.replace("\n", " ") + "\n\nRain,\nrain."


def test_the_same_texts_give_the_same_bytes(tmp_path):
    found = join(TextBlock(1, "Rain"), TextBlock(0, "It rained."))
    a, b = (write_docx(found, tmp_path / f"{name}.docx").read_bytes() for name in "ab")
    assert a == b


def test_nothing_that_was_read_is_changed(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for number, name in enumerate(["03 - The storm", "01 - Rain", "02 - Night"]):
        (folder / f"{name}.txt").write_text(
            f"It rained on {name} {'again ' * number}and it stopped.\n", encoding="utf-8"
        )

    def state():
        return {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in folder.iterdir()}

    before = state()
    ordered = fabula.order(folder, by="words", template="steady-fall")
    assert ordered.titles == ["Night", "Rain", "The storm"]  # without the numbers of their files
    for name in ("a.md", "a.docx", "a.csv", "a.json"):
        ordered.save(tmp_path / name)
    copies = copy_numbered(ordered, tmp_path / "out")
    assert [copy.name for copy in copies] == ["01 Night.txt", "02 Rain.txt", "03 The storm.txt"]
    assert state() == before
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# Night\n\n")


def test_what_xml_cannot_hold_is_left_out_of_a_book(tmp_path):
    part = Document((TextBlock(1, "Rain\x01"), TextBlock(0, "It\x0brained.")))
    book = write_epub(Joined((part,), breaks=False, title="Sea\x02", author="Ann\x0b Lee"), tmp_path / "a.epub")
    with zipfile.ZipFile(book) as archive:
        said = {name: "".join(ET.fromstring(archive.read(name)).itertext()) for name in archive.namelist()[1:]}
    assert "Ann Lee" in said["OEBPS/book.opf"]
    assert "Rain" in said["OEBPS/nav.xhtml"]
    assert "Itrained." in said["OEBPS/1.xhtml"]


@pytest.mark.parametrize("ending", [".docx", ".epub", ".md"])
def test_plain_text_comes_whole_into_other_kinds(tmp_path, ending):
    odd = "<sigh> He wrote to <anna@sea.org>: [see](p. 4), if a <b and c> d. She said *no* &amp; yes."
    said = [f"Chapter {k}\n\n{odd}\n\n# {k} bottles stood there.\n\n{'It rained. ' * 20 * k}" for k in range(1, 5)]
    (tmp_path / "a.txt").write_text("\n\n".join(said))
    ordered = fabula.order(tmp_path / "a.txt", by="words", template="steady-rise")
    blocks = read_document(str(ordered.save(tmp_path / f"b{ending}"))).blocks
    found = [block.text for block in blocks if block.level == 0]
    assert found.count(odd) == 4
    assert {f"# {k} bottles stood there." for k in range(1, 5)} < set(found)
