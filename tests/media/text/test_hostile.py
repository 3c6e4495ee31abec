"""Texts made to be slow: the time that is taken grows with their size, and no faster."""

from __future__ import annotations

import contextlib
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest

from fabula.errors import FileError
from fabula.media.medium import Cutting
from fabula.media.text.documents import escape, html_document, markdown_document, plain_document
from fabula.media.text.heads import without_common_heads, without_heads
from fabula.media.text.manuscripts import find_parts, tell_held
from fabula.media.text.packed import read_packed
from fabula.media.text.passages import parse, text_of
from fabula.media.text.text_measures import cut_file
from tests.hostile.growth import check_growth, seconds

BYTES, MOST = 200_000, 6_400_000
SECONDS = 2.5  # of the processor, on a busy machine

MARKDOWN = ["[", "![", "![a](", "[a](", "`", "``` ", "*a ", "**", "_x", "~~", "<!--", "# # ", "<a ", "> ", "- - "]
HTML = ["</", "<!--", "<?", "<a", '<a b="', "<a b='", "<!", "<script>", "<pre> ", "&", "<", "</a", "<p><!--"]
PLAIN = [" ", "\n \n", "(", "CHAPTER ", "\n", ". "]


@pytest.mark.parametrize("piece", MARKDOWN)
def test_markdown_is_read_in_time(piece: str) -> None:
    assert seconds(markdown_document, piece * (BYTES // len(piece))) < SECONDS
    assert seconds(markdown_document, "# " + piece * (BYTES // len(piece)) + "x") < SECONDS
    assert seconds(escape, "a" + piece * (BYTES // len(piece)) + "a") < SECONDS


@pytest.mark.parametrize("end", ["", ">", "\"'-->"])
@pytest.mark.parametrize("piece", HTML)
def test_html_is_read_in_time(piece: str, end: str) -> None:
    assert seconds(html_document, piece * (BYTES // len(piece)) + end) < SECONDS


@pytest.mark.parametrize("piece", PLAIN)
def test_plain_text_is_read_in_time(piece: str) -> None:
    text = piece * (BYTES // len(piece))
    assert seconds(plain_document, text) < SECONDS
    assert seconds(lambda given: without_heads([given, given + "x"]), text) < SECONDS
    assert seconds(lambda given: without_common_heads([given, given + "x"]), text) < SECONDS


OTHER = [
    *(
        (".rtf", piece)
        for piece in ("{", "}", "\\", "\\'e9", "\\u1", "{\\s1 a", "\\par", "{\\*", "\\pard\\b a", "{\\stylesheet")
    ),
    *((".fountain", piece) for piece in ("[[", "INT. ", " #1", "\n\n.a", "A: ", "# ")),
    *((".rst", piece) for piece in ("---\n", "=", "a\n-\n", "*a ", ".. ")),
    *(
        (".tex", piece)
        for piece in (
            "\\a{",
            "%",
            "{",
            "\\section{",
            "\\begin[",
            "\n\\section{a}\n",
            "\\input{b}\n",
            "-",
            "\\'",
            "\\c{ ",
            "\\ss ",
            "\\title{{",
        )
    ),
    *((".srt", piece) for piece in ("1\n", "00:00:00,000 --> ", "<i>")),
]


@pytest.mark.parametrize(("ending", "piece"), OTHER)
def test_other_kinds_are_read_in_time(ending: str, piece: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    path.write_text("{\\rtf1 " * (ending == ".rtf") + piece * (BYTES // len(piece)))

    def read(name: str) -> None:
        with contextlib.suppress(FileError):  # one that includes too many others is refused
            parse(name)

    assert seconds(read, str(path)) < SECONDS


SHAPES = [
    *(("md", piece) for piece in MARKDOWN),
    *(("html", piece) for piece in HTML),
    *(("txt", piece) for piece in PLAIN),
    *(("md", piece) for piece in ("| a ", "1. ", "\\", "a\n===\n", "    x\n")),
    ("html", "<b>"),
]
READERS = {"md": markdown_document, "html": html_document, "txt": plain_document}


def test_there_are_40_shapes() -> None:
    assert len(set(SHAPES)) == 40


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "piece"), SHAPES)
def test_eight_times_as_much_takes_eight_times_as_long(kind: str, piece: str) -> None:
    check_growth(lambda size: partial(READERS[kind], piece * (size // len(piece)) + "x"), MOST // 64, MOST)


def test_parts_that_are_not_ordered_are_told_in_time() -> None:
    parts = find_parts(markdown_document("# One\n\nRain.\n\n# ?\n\n" * 20_000))
    told: list[str] = []
    assert seconds(lambda _: told.extend(tell_held(parts)), "") < SECONDS
    assert (len(parts.items), len(parts.bounds)) == (20_000, 40_000)
    assert "and 19994 more" in told[0]


def test_declarations_without_end_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<!DOCTYPE" * 44_000)
    start = time.process_time()
    with pytest.raises(FileError, match="is broken"):
        cut_file(str(path), Cutting())
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_of_a_file_are_refused_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "laughs.docx"
    xml = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE d [<!ENTITY a "ha">]><d><p>&a;</p></d>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", xml.encode(encoding))
    with pytest.raises(FileError, match="entities"):
        cut_file(str(path), Cutting())


INSIDE = {"docx": "word/document.xml", "odt": "content.xml"}


def pack(path: Path, body: str) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(INSIDE[path.suffix[1:]], f'<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>')
    return str(path)


@pytest.mark.parametrize("ending", INSIDE)
def test_paragraphs_within_paragraphs_are_read_in_time(tmp_path: Path, ending: str) -> None:
    count = 150_000
    path = pack(tmp_path / f"deep.{ending}", "<w:p>" * count + "<w:t>Rain fell.</w:t>" + "</w:p>" * count)
    found: list[str] = []
    assert seconds(lambda path: found.append(read_packed(path).text), path) < SECONDS
    assert found == ["Rain fell."]


@pytest.mark.parametrize("ending", INSIDE)
def test_what_stands_in_a_box_within_a_paragraph_is_read_once(tmp_path: Path, ending: str) -> None:
    body = (
        "<w:p><w:t>One</w:t><w:box><w:p><w:t>boxed</w:t></w:p></w:box><w:t> two</w:t></w:p><w:p><w:t>three</w:t></w:p>"
    )
    assert [block.text for block in read_packed(pack(tmp_path / f"box.{ending}", body)).blocks] == [
        "One two",
        "boxed",
        "three",
    ]


def test_marks_of_an_ordinary_text_still_go(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("A **big** [house](http://x/a_(b)) with `code`, ![a picture](p.png) and *so* on.")
    from fabula.media.text.passages import read_item

    assert text_of(read_item(str(path))) == "A big house with code,  and so on."
