import pytest

import fabula
from fabula.errors import FileError
from fabula.media.extraction import Measuring, extract
from fabula.media.registry import find_medium
from fabula.media.text.documents import MOST
from fabula.media.text.passages import read_document, read_item

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


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.pptx", b"PK\x03\x04 not really", "is broken, locked or no .pptx file"),
        ("a.rtf", b"Rain.", "a.rtf: is no .rtf file (it does not begin as one)"),
        ("a.rtf", b"{\\rtf1\\ansicpg99999 caf\\'e9}", "is in an encoding that is not known"),
        ("a.tex", b"\\documentclass{book} % nothing", "has no words in it"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\n", "has no words in it"),
        ("a.fountain", bytes(range(256)) * 100, "is no text"),
    ],
)
def test_other_kinds_that_are_broken(tmp_path, name, data, told):
    (tmp_path / name).write_bytes(data)
    assert told in problem(tmp_path / name)


def test_projects_that_are_none(tmp_path):
    project = tmp_path / "a.scriv"
    project.mkdir()
    for binder, told in ((None, "no .scrivx file is in it"), ("<a>", "is broken"), ("<a/>", "its draft is empty")):
        if binder is not None:
            (project / "a.scrivx").write_text(binder)
        with pytest.raises(FileError, match=told):
            fabula.open(project)


def test_what_a_text_includes_lies_below_it(tmp_path):
    (tmp_path / "secret.tex").write_text("\\chapter{S}\nNobody may read it.")
    (tmp_path / "book").mkdir()
    book = tmp_path / "book" / "main.tex"
    book.write_text(f"\\begin{{document}}\n\\input{{../secret}}\n\\input{{{tmp_path}/secret}}\nIt rained.\n")
    assert read_document(str(book)).text == "It rained."


def test_a_file_that_is_too_long(tmp_path):
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(MOST + 1)
    assert problem(tmp_path / "a.txt").endswith("bytes, and may have 20,000,000")


@pytest.mark.parametrize(("name", "piece", "words"), [
    ("a.txt", b"a\n" * 1_000_001, "has more than 1,000,000 lines, too many for one text; cut it into parts"),
    ("a.html", b"<p>" * 500_001, "has more than 500,000 tags, too many for one text; cut it into parts"),
    ("a.tex", b"\\section{a}\n\nb\n\n" * 20_001, "falls into 20,001 parts, and may into 20,000"),
])  # fmt: skip
def test_a_file_of_too_many_pieces(tmp_path, name, piece, words):
    (tmp_path / name).write_bytes(piece)
    with pytest.raises(FileError) as caught:
        fabula.open(str(tmp_path / name))
    assert str(caught.value).endswith(words)


@pytest.mark.slow
def test_a_packed_file_of_too_many_paragraphs(packed):
    paragraphs = "<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 100_001
    body = f'<w:document xmlns:w="w"><w:body>{paragraphs}</w:body></w:document>'
    assert "has more than 100,000 paragraphs" in problem(packed("a.docx", {"word/document.xml": body}))


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
    with pytest.raises(FileError, match="does not exist"):
        read_document("nowhere.txt")


GOOD = "Then old Tom met young Ann by the sea, and they said nothing of the war. It rained. "


def chapters(folder, *texts, encoding="utf-8"):
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_bytes(text.encode(encoding))


def test_one_bad_file_among_good_ones_is_left_out_with_a_note(tmp_path, packed):
    chapters(tmp_path, GOOD * 3, GOOD * 5, GOOD * 7)
    (tmp_path / "noise.txt").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "empty.md").write_bytes(b"")
    packed("bomb.docx", {"word/document.xml": b" " * (MOST + 10)})
    ordered = fabula.order(tmp_path)
    assert len(ordered.ordering) == 3
    told = " ".join(ordered.notes)
    for words in ("noise.txt: is no text", "empty.md: is empty", "bomb.docx: unpacks to more than 20 MB"):
        assert words in told


@pytest.mark.parametrize(
    "sentence",
    [
        'פעם אחת היה איש אחד שגר ב{} והוא אמר: "שלום לכולם!" ואז הלך לו. ',
        "从前有一个人住在{}。他说：「你好！」然后就走了。",
        "昔々{}に人が住んでいた。「こんにちは」と言った。そして行ってしまった。",
    ],
)
def test_scripts_from_right_to_left_and_without_spaces(tmp_path, sentence):
    chapters(tmp_path, *(sentence.format(name) * (k + 3) for k, name in enumerate(["北京", "חיפה", "京都", "עכו"])))
    ordered = fabula.order(tmp_path)
    assert sorted(ordered.ordering.tolist()) == [0, 1, 2, 3]
    assert min(ordered.session.collection.column("words")) > 30
    ordered.save(tmp_path / "new.docx")
    assert read_document(str(tmp_path / "new.docx")).text.count(sentence.format("京都")[:8]) >= 5


def test_encodings_side_by_side(tmp_path):
    for name, encoding in (("a", "cp1252"), ("b", "utf-16"), ("c", "utf-8"), ("d", "utf-16-le"), ("e", "utf-32")):
        (tmp_path / f"{name}.txt").write_bytes(("Müller sah die Straße und es war gut. " * 9).encode(encoding))
    ordered = fabula.order(tmp_path, by="words", template="steady-rise")
    assert set(ordered.session.collection.column("words")) == {72.0}
    assert "MÃ" not in ordered.save(tmp_path / "new.md").read_text(encoding="utf-8")


def test_a_page_that_leads_out_of_the_book_leads_nowhere(packed):
    book = (
        '<package><manifest><item id="a" href="../../secret.html"/><item id="b" href="x.html"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    where = '<container><rootfiles><rootfile full-path="O/c.opf"/></rootfiles></container>'
    files = {
        "META-INF/container.xml": where,
        "O/c.opf": book,
        "O/x.html": "<p>Here.",
        "../../secret.html": "<p>Secret.",
    }
    assert read_document(str(packed("a.epub", files))).text == "Here."


def test_macros_are_not_read(packed):
    words = '<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>It rained.</w:t></w:r></w:p></w:body></w:document>'
    path = packed("a.docx", {"word/document.xml": words, "word/vbaProject.bin": b"\x00Shell"})
    assert read_document(str(path)).text == "It rained."


@pytest.mark.slow
def test_three_thousand_files(tmp_path):
    chapters(tmp_path, *(f"{GOOD}{'And so it was. ' * (k % 9)}" for k in range(3000)))
    session = fabula.open(tmp_path, by="words")
    assert len(session.order(template="icarus").ordering) == 3000
