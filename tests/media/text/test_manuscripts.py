"""Manuscripts come back with nothing but the order of their parts changed, whatever kind of file they are."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import fabula
from fabula.errors import FileError, InputError
from fabula.media.text.formats import fountain_document
from fabula.media.text.manuscripts import cut_elements
from fabula.media.text.passages import parse
from tests.media.text import make_manuscripts
from tests.media.text.make_manuscripts import MANUSCRIPTS

HELD = ("pictures.docx", "contents.docx", "deep.docx", "pictures.odt", "pictures.epub")  # with a title page
MEMBERS = {
    ".docx": {"word/document.xml"},
    ".odt": {"content.xml"},
    ".epub": {"EPUB/content.opf", "EPUB/toc.ncx", "EPUB/nav.xhtml"},
    ".pptx": {"ppt/presentation.xml"},
    ".scriv": {"book.scrivx"},
}


@pytest.fixture
def written(tmp_path):
    """From a name to the manuscript, its order turned round, and what was written."""

    def write(name: str):
        source = tmp_path / name
        MANUSCRIPTS[name](source)
        ordered = fabula.order(source, by="words", template="steady-rise", matter=False)
        return source, ordered, ordered.save(tmp_path / f"turned{source.suffix}")

    return write


def _content(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return {str(file.relative_to(path)): file.read_bytes() for file in files}
    if not zipfile.is_zipfile(path):
        return {"": path.read_bytes()}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", MANUSCRIPTS)
def test_it_comes_back_with_its_parts_moved_and_nothing_else(name, written, tmp_path):
    source, ordered, new = written(name)
    was, now = _content(source), _content(new)
    assert list(was) == list(now)
    changed = {member for member in was if was[member] != now[member]}
    assert changed <= MEMBERS.get(source.suffix, {""})
    assert changed
    carried = name == "editor.rtf"  # it says only what changes from one paragraph to the next
    assert carried or all(sorted(was[member]) == sorted(now[member]) for member in changed)
    again = fabula.open(new)
    assert [item.title for item in again.collection.items] == ordered.titles
    assert [item.details["text"] for item in again.collection.items] == [
        item.details["text"] for item in ordered.collection.items
    ]
    assert ordered.ordering.tolist() == sorted(range(len(ordered.titles)), reverse=True)
    held = [note for note in ordered.notes if "not ordered" in note]
    assert bool(held) == (name in HELD or source.suffix in (".md", ".pptx", ".fountain", ".rst"))
    back = again.order(ordering=sorted(range(len(ordered.titles)), reverse=True))
    assert carried or _content(back.save(tmp_path / f"back{source.suffix}")) == was


def test_elements_are_found_by_their_bytes_in_every_encoding():
    text = '<?xml version="1.0" encoding="{}"?><w:a xmlns:w="u"><w:b>é<w:b/></w:b>\n<w:c/></w:a>'
    for encoding in ("utf-8", "utf-16", "iso-8859-1"):
        data = text.format(encoding).encode(encoding)
        pieces = cut_elements(data, "a")
        assert b"".join(pieces) == data
        assert [piece.decode(encoding.replace("16", "16-le")) for piece in pieces[1:]] == [
            "<w:b>é<w:b/></w:b>\n", "<w:c/>", "</w:a>",
        ]  # fmt: skip


def test_what_changed_meanwhile_is_not_written(tmp_path):
    source = tmp_path / "sea.md"
    MANUSCRIPTS["plain.md"](source)
    ordered = fabula.order(source, by="words", template="steady-rise")
    source.write_text(source.read_text().replace("number 3", "number three"))
    with pytest.raises(FileError, match=r"sea\.md: has changed since it was opened"):
        ordered.save(tmp_path / "new.md")
    assert not (tmp_path / "new.md").exists()
    with pytest.raises(InputError, match=r"write \.md, \.docx or \.epub"):
        ordered.save(tmp_path / "new.odt")


@pytest.mark.parametrize("ending", [".txt", ".md"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_stays_at_the_start(codec, ending, tmp_path):
    head = "# " * (ending == ".md") + "Chapter {}\n\n"
    parts = [head.format(k) + make_manuscripts.prose(k, 3) + "\n\n" for k in range(1, 4)]
    source = tmp_path / f"a{ending}"
    source.write_bytes(("\ufeff" + "".join(parts)).encode(codec))
    moved = fabula.order(source, first="Chapter 3", last="Chapter 1").save(tmp_path / f"b{ending}").read_bytes()
    assert moved.decode(codec) == ("\ufeff" + parts[2] + parts[1] + parts[0])
    sides = fabula.order(source, first="Chapter 3", sides=2).save(tmp_path / f"c{ending}").read_bytes()
    assert [k for k, sign in enumerate(sides.decode(codec)) if sign == "\ufeff"] == [0]


@pytest.mark.parametrize(
    ("ending", "head"),
    [
        (".md", '<a id="{0}"></a>\n# {0}'),
        (".md", '<!-- chapter {0} -->\n<a name="{0}"></a>\n\n# {0}'),
        (".md", "<!-- chapter {0} -->\n{0}\n======"),
        (".tex", "% ====\n% chapter {0}\n% ====\n\\chapter{{{0}}}"),
        (".rst", ".. _{0}:\n\n{0}\n========"),
    ],
)
def test_anchors_and_comments_above_a_heading_go_with_it(ending, head, tmp_path):
    gap = "\n" * (1 + (ending != ".tex"))
    heads = [head.format(name) for name in ("Rain", "Boat", "Tide")]
    parts = [f"{one}{gap}{make_manuscripts.prose(k, 3)}{gap}" for k, one in enumerate(heads)]
    start, end = ("\\begin{document}\n", "\\end{document}\n") if ending == ".tex" else ("", "")
    source = tmp_path / f"a{ending}"
    source.write_text(start + "".join(parts) + end)
    ordered = fabula.order(source, first="Tide", last="Rain")
    new = ordered.save(tmp_path / f"b{ending}")
    assert new.read_text() == start + parts[2] + parts[1] + parts[0] + end
    assert not [note for note in ordered.notes if "kept where it stands" in note]


def test_comments_to_programs_and_those_that_close_a_chapter_stay(tmp_path):
    source = tmp_path / "a.md"
    one, two = (f"# {head}\n\n{make_manuscripts.prose(k, 2)}\n" for k, head in enumerate(("Rain", "Boat")))
    source.write_text(f"<!-- markdownlint-disable -->\n{one}<!-- all of it -->\n\n{two}")
    new = fabula.order(source, first="Boat").save(tmp_path / "b.md").read_text()
    assert new == f"<!-- markdownlint-disable -->\n{two}\n{one}<!-- all of it -->\n"


def test_sides_and_limits_hold_in_the_document_itself(written, tmp_path):
    source, _, _ = written("plain.docx")
    halved = fabula.order(source, by="words", template="steady-rise", sides=2)
    halves = halved.save(tmp_path / "sides.docx")
    headings = [block.text for block in parse(str(halves)).blocks if block.level == 1]
    assert (headings[0], headings.count("Part 2")) == ("Part 1", 1)
    assert [text for text in headings if "Chapter" in text] == halved.titles
    source, _, _ = written("contents.docx")
    few = fabula.order(source, by="words", template="steady-rise", limit="200").save(tmp_path / "few.docx")
    texts = [block.text for block in parse(str(few)).blocks]
    assert texts[:2] == ["The Sea", "by Ann Lee"]
    assert sum(text.startswith("Chapter") and "\t" not in text for text in texts) < 6


def test_chapters_that_share_a_page_are_told_and_not_torn(tmp_path):
    import ebooklib.epub

    book = ebooklib.epub.EpubBook()
    page = ebooklib.epub.EpubHtml(title="All", file_name="all.xhtml")
    page.content = "".join(f"<h1>Chapter {k}</h1><p>It rained {'again ' * k}.</p>" for k in range(1, 5))
    book.add_item(page)
    book.spine = [page]
    ebooklib.epub.write_epub(str(tmp_path / "a.epub"), book)
    ordered = fabula.order(tmp_path / "a.epub", by="words", template="steady-fall")
    with pytest.raises(FileError, match=r"share lines, paragraphs or pages"):
        ordered.save(tmp_path / "b.epub")
    anew = ordered.save(tmp_path / "b.md").read_text()
    assert [line for line in anew.splitlines() if line.startswith("#")] == [f"# Chapter {k}" for k in (4, 3, 2, 1)]


def test_an_epub_made_anew_is_one_that_others_read(tmp_path):
    from ebooklib import epub

    MANUSCRIPTS["plain.md"](tmp_path / "sea.md")
    ordered = fabula.order(tmp_path / "sea.md", by="words", template="steady-rise")
    made = ordered.save(tmp_path / "new.epub")
    book = epub.read_epub(str(made))
    assert book.get_metadata("DC", "title")[0][0] == "The Sea"
    pages = [book.get_item_with_id(name).get_content().decode() for name, _ in book.spine]
    assert "<h1>The Sea</h1>" in pages[0]
    assert "<i>italic 5</i>" in pages[1]
    assert [item.title for item in fabula.open(made).collection.items] == ordered.titles
    assert zipfile.ZipFile(made).infolist()[0].filename == "mimetype"


SOFFICE = shutil.which("soffice")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(SOFFICE is None, reason="LibreOffice is not installed")
def test_libre_office_opens_what_was_moved_and_finds_all_of_it(written, tmp_path):
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    for name in ("contents.docx", "pictures.docx", "notes.odt", "pictures.odt", "editor.rtf", "word.rtf"):
        source, _, new = written(name)
        moved = new.rename(tmp_path / f"moved-{name}")
        for path in (source, moved):
            command = [SOFFICE, profile, "--headless", "--convert-to", "txt:Text", "--outdir", str(tmp_path), str(path)]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        was, now = ((tmp_path / f"{path.stem}.txt").read_text("utf-8-sig").splitlines() for path in (source, moved))
        assert sorted(re.sub(r"\d+$", "", line) for line in was) == sorted(re.sub(r"\d+$", "", line) for line in now)
        assert was != now


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("pictures.docx", "layout, pictures, tables"),
        ("pictures.odt", "layout, pictures"),
        ("notes.odt", "layout, notes"),
        ("pictures.epub", "layout, pictures"),
        ("word.rtf", "bold and italic, layout"),
        ("plain.md", "code, front matter, quotes"),
        ("plain.docx", "layout"),
        ("pictures.pptx", "bold and italic, layout, notes, pictures"),
        ("plain.rst", "bold and italic, pictures"),
        ("film.fountain", "bold and italic, notes"),
        ("chapters.txt", ""),
    ],
)
def test_bold_and_italic_go_into_what_is_made_anew_and_what_does_not_is_told(name, lost, written, tmp_path):
    source, ordered, _ = written(name)
    target = tmp_path / ("new.epub" if source.suffix == ".md" else "new.md")
    said = ordered.losses(target)
    assert said == (f"{target.name} is made anew, without the {lost} of the sources" if lost else "")
    assert ordered.losses(tmp_path / f"same{source.suffix}") == ""
    if source.suffix in (".docx", ".odt", ".epub"):
        anew = ordered.save(target).read_text(encoding="utf-8")
        assert all(f"*italic {k}*" in anew for k in range(1, 6))
        assert source.suffix != ".docx" or "*italic 2* **bold 2**" in anew


def test_parts_lengths_and_authors_are_called_what_they_are_of_texts(written, tmp_path):
    source, _, _ = written("plain.docx")
    ordered = fabula.order(source, sides=2)
    assert ordered.side_line(1).startswith("Part B, ")
    assert ordered.save(tmp_path / "a.csv").read_text().splitlines()[0].split(",")[:4] == [
        "position",
        "id",
        "title",
        "author",
    ]
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"It rained on {name} all day.")
    listed = fabula.order(folder, by="words").save(tmp_path / "a.m3u8").read_text()
    assert listed.count("#EXTINF:-1,") == 3  # words are no seconds


def test_slides_of_a_moved_deck_are_those_it_had(written):
    pptx = pytest.importorskip("pptx")
    source, ordered, new = written("sections.pptx")
    was, now = (pptx.Presentation(str(path)) for path in (source, new))
    assert [slide.shapes.title.text for slide in now.slides] == ["The Sea", *ordered.titles]
    assert {s.shapes.title.text: s.notes_slide.notes_text_frame.text for s in list(now.slides)[1:]} == {
        s.shapes.title.text: s.notes_slide.notes_text_frame.text for s in list(was.slides)[1:]
    }
    listed = [one.get("id") for one in now.part._element.iter() if one.tag.endswith("2010/main}sldId")]
    assert listed == [one.get("id") for one in now.slides._sldIdLst]


def test_formatting_pictures_and_tables_go_with_their_chapter(written):
    docx = pytest.importorskip("docx")
    _, ordered, new = written("pictures.docx")
    found, chapter = {}, ""
    for block in docx.Document(str(new)).iter_inner_content():
        if isinstance(block, docx.table.Table):
            found[chapter].append(block.cell(0, 1).text)
            continue
        if block.style.name == "Heading 1":
            chapter, found[block.text] = block.text, []
        elif chapter:
            found[chapter] += [run.text.strip() for run in block.runs if run.italic or run.bold]
            found[chapter] += [hash(block.part.related_parts[e].blob) for e in block._p.xpath(".//a:blip/@r:embed")]
    assert list(found) == ordered.titles
    for title, parts in found.items():
        number = title.split()[1]
        picture_of = hash(make_manuscripts.picture(int(number)).read())
        assert parts == [f"italic {number}", f"bold {number}", picture_of, f"cell {number}"]


def test_a_project_is_copied_with_its_binder_moved(written, tmp_path):
    source, ordered, new = written("new.scriv")
    before = _content(source)
    assert len(ordered.titles) == 5  # chapters, not their synopses
    assert "Scene 2" in ordered.collection.items[0].details["text"]
    with pytest.raises(FileError, match="is a folder"):
        fabula.order(source, by="words", template="steady-rise").save(new)
    assert _content(source) == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


LATEX = r"""\documentclass{book}
\begin{document}
\include{c1}
\include{c2}

% the second half
\part{Later}

\include{c3}
\subfile{c4}
\backmatter
\printindex
\end{document}
"""


def test_what_stands_between_and_behind_the_includes_of_a_latex_book_stays(tmp_path):
    for number in range(1, 5):
        text = f"\\chapter{{C{number}}}\n" + "It rained on Tom. " * (5 - number)
        own = f"\\documentclass[book]{{subfiles}}\n\\begin{{document}}\n{text}\n\\end{{document}}\n"
        (tmp_path / f"c{number}.tex").write_text(own if number > 2 else text)
    (tmp_path / "book.tex").write_text(LATEX)
    ordered = fabula.order(tmp_path / "book.tex", by="words", template="steady-rise")
    assert ordered.titles == ["C4", "C3", "C2", "C1"]
    new = ordered.save(tmp_path / "new.tex").read_text().splitlines()
    moved = {r"\include{c1}": r"\subfile{c4}", r"\include{c2}": r"\include{c3}"}
    moved |= {now: was for was, now in moved.items()}
    assert new == [moved.get(line, line) for line in LATEX.splitlines()]


@pytest.mark.parametrize("wall", ["\\backmatter", "\\appendix", "\\bibliography{sea}"])
def test_what_stands_behind_the_last_part_of_a_latex_book_stays(wall, tmp_path):
    parts = [f"\\part{{P{k}}}\n\\chapter{{N{k}}}\n{make_manuscripts.prose(k, 3)}\n\n" for k in range(3)]
    start = "\\documentclass{book}\n\\begin{document}\n\\mainmatter\n"
    end = wall + "\n\\chapter{Epilogue}\nSo it ended, she said.\n\\end{document}\n"
    source = tmp_path / "a.tex"
    source.write_text(start + "".join(parts) + end)
    ordered = fabula.order(source, first="P1", last="P0")
    assert ordered.save(tmp_path / "b.tex").read_text() == start + parts[1] + parts[2] + parts[0] + end
    assert any("kept where it stands: 'Epilogue'" in note for note in ordered.notes)
    assert ordered.save(tmp_path / "c.md").read_text().rstrip().endswith("So it ended, she said.")
    source.write_text(start + "".join(part.partition("\n")[2] for part in parts) + end)  # of chapters alone it is one
    assert fabula.order(source).titles[-1] == "Epilogue"


def test_a_latex_book_whose_parts_are_not_there_says_so(tmp_path):
    (tmp_path / "book.tex").write_text("\\begin{document}\n\\include{one}\n\\input{two}\n\\end{document}\n")
    for there in ("", "one.tex"):
        if there:
            (tmp_path / there).write_text("It rained.")
        missing = "two.tex" if there else "one.tex"
        with pytest.raises(FileError, match=f"book.tex: includes {missing}, which is not there"):
            parse(str(tmp_path / "book.tex"))
    (tmp_path / "two.tex").write_text("It rained again.")
    assert [block.text for block in parse(str(tmp_path / "book.tex")).blocks if block.level == 0]


def test_a_latex_book_is_written_beside_what_it_includes(written, tmp_path):
    source, ordered, new = written("included.tex")
    assert new.name == "turned.tex"  # which includes the same
    (tmp_path / "notes.tex").write_text("A note beside it.")
    folder = fabula.open(tmp_path)  # opens as the book that is in it
    assert [item.title for item in folder.collection.items] == ordered.titles[::-1]
    assert f"{source} was cut into 5 texts" in folder.notes
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="is named from its own folder; write it there"):
        ordered.save(tmp_path / "other" / "new.tex")


DC = ' xmlns:dc="http://purl.org/dc/elements/1.1/"'


def _edit(source: Path, target: Path, member: str, *changes: tuple[str, str]) -> Path:
    """A packed file with some of its XML changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            for was, now in changes if info.filename == member else ():
                assert was in data.decode()
                data = data.decode().replace(was, now).encode()
            new.writestr(info, data)
    return target


def test_what_was_struck_out_moved_away_or_noted_beside_is_no_text(tmp_path):
    MANUSCRIPTS["plain.docx"](tmp_path / "a.docx")
    run = "<w:r><w:t>{}</w:t></w:r>"
    moved = f'<w:moveFrom w:id="1" w:author="E">{run.format("Gone.")}</w:moveFrom>'
    box = '<mc:AlternateContent xmlns:mc="{}"><mc:Choice Requires="wps">{}</mc:Choice><mc:Fallback>{}</mc:Fallback>'
    box = box.format("http://schemas.openxmlformats.org/markup-compatibility/2006", *2 * [run.format("Boxed.")])
    text = "<w:r><w:t>Chapter 2</w:t></w:r></w:p>"
    after = f"{text}<w:p>{moved}{box}</mc:AlternateContent></w:p>"
    made = _edit(tmp_path / "a.docx", tmp_path / "b.docx", "word/document.xml", (text, after))
    said = parse(str(made)).text
    assert ("Gone." in said, said.count("Boxed.")) == (False, 1)

    MANUSCRIPTS["notes.odt"](tmp_path / "a.odt")
    struck = "<text:tracked-changes><text:changed-region><text:deletion><text:p>Struck out.</text:p></text:deletion>"
    struck += "</text:changed-region></text:tracked-changes>"
    beside = f"<office:annotation><dc:creator{DC}>Ed</dc:creator><text:p>Is this so?</text:p></office:annotation>"
    changes = (("<office:text>", f"<office:text>{struck}"), ("Here Tom", f"{beside}Here Tom"))
    made = _edit(tmp_path / "a.odt", tmp_path / "b.odt", "content.xml", *changes)
    said = parse(str(made)).text
    assert not {word for word in ("Struck", "so?", "note 1") if word in said}
    ordered = fabula.order(made, by="words", template="steady-rise")
    assert "Chapter 1" in ordered.titles
    told = ordered.losses(tmp_path / "c.md")
    assert told.endswith("without the comments, layout, notes, tracked changes of the sources")
    assert "Struck out." in _content(ordered.save(tmp_path / "c.odt"))["content.xml"].decode()


def test_the_author_of_an_open_document_is_who_began_it(tmp_path):
    MANUSCRIPTS["plain.odt"](tmp_path / "a.odt")
    said = f"<meta:initial-creator>Ann Lee</meta:initial-creator><dc:creator{DC}>An Editor</dc:creator></office:meta>"
    made = _edit(tmp_path / "a.odt", tmp_path / "b.odt", "meta.xml", ("</office:meta>", said))
    assert parse(str(made)).author == "Ann Lee"


def test_tables_at_the_end_of_a_chapter_of_rtf_go_with_it(tmp_path):
    row = "\\trowd\\cellx900\\cellx1800\\pard\\intbl a {0}\\cell b {0}\\cell\\row "
    chapters = [f"\\pard\\b Chapter {k}\\b0\\par\n\\pard {'It rained. ' * 4 * (9 - k)}" for k in range(1, 5)]
    ends = ["\\par\n" + row.format(1), "{\\par}\n", "\\par\n" + row.format(3), ""]
    text = make_manuscripts.RTF + "".join(map("".join, zip(chapters, ends, strict=True))) + "}"
    (tmp_path / "a.rtf").write_text(text)
    ordered = fabula.order(tmp_path / "a.rtf", by="words", template="steady-rise")
    assert ordered.titles == [f"Chapter {k}" for k in (4, 3, 2, 1)]
    again = fabula.open(ordered.save(tmp_path / "b.rtf"))
    said = {item.title: item.details["text"] for item in again.collection.items}
    assert list(said) == ordered.titles
    assert said == {item.title: item.details["text"] for item in ordered.collection.items}
    assert [("a " + title[-1]) in text for title, text in said.items()] == [False, True, False, True]


def test_a_latex_book_has_chapters_of_its_own_and_says_what_is_not_there(tmp_path):
    (tmp_path / "c.tex").write_text("\\chapter{Included}\nIt rained\\footnote{As it \\emph{did}.} on Tom.\n")
    book = "\\begin{{document}}\n\\chapter{{One}}\nA long text of its own,\nwith two lines.\n{}\\end{{document}}\n"
    (tmp_path / "a.tex").write_text(book.format("\\include{c}\n\\include{not-there}\n\\chapter{Two}\nIt ends here.\n"))
    ordered = fabula.order(tmp_path / "a.tex", by="words", template="steady-rise")
    assert ordered.titles == ["Two", "Included", "One"]
    assert [item.details["text"].split("\n")[-1] for item in ordered.collection.items][1] == "It rained on Tom."
    assert any("kept where it stands: 'not-there'" in note for note in ordered.notes)
    new = ordered.save(tmp_path / "b.tex").read_text()
    inner = "\\include{c}\n\\include{not-there}\n\\chapter{One}\nA long text of its own,\nwith two lines.\n"
    assert (
        new == book.format("x").split("\\chapter")[0] + "\\chapter{Two}\nIt ends here.\n" + inner + "\\end{document}\n"
    )
    assert ordered.losses(tmp_path / "b.docx").endswith("without the bold and italic, layout, notes of the sources")


def test_what_a_screenwriter_cut_out_is_no_text():
    text = "INT. HOUSE\n\nRain. /* No, snow.\n\nINT. CUT */\n\nEXT. SEA\n\nSun. /* open\n"
    found = fountain_document(text)
    assert [(block.text, block.at) for block in found.blocks] == [
        ("INT. HOUSE", 0), ("Rain.", 2), ("EXT. SEA", 6), ("Sun. /* open", 8),
    ]  # fmt: skip


def test_a_manuscript_without_styles_is_cut_where_it_names_chapters_else_where_pages_begin(tmp_path):
    docx = pytest.importorskip("docx")

    def make(name: str, heads: list[str], *, inside: bool = False) -> Path:
        made = docx.Document()
        made.add_paragraph("The Sea")
        made.add_paragraph("by Ann Lee")
        made.add_page_break()
        for k, head in enumerate(heads):
            made.add_paragraph(head).runs[0].bold = True
            text = made.add_paragraph(make_manuscripts.prose(k, len(heads)))
            if inside and k < len(heads) - 1:
                text.add_run().add_break(docx.enum.text.WD_BREAK.PAGE)
            elif k < len(heads) - 1:
                made.add_page_break()
        made.save(str(tmp_path / name))
        return tmp_path / name

    numbered, named = ["Chapter 1", "CHAPTER TWO", "Chapter Three: Home"], ["Rain", "The Boat", "Tide", "Ash"]
    for heads, inside in ((numbered, False), (named, False), (named, True)):
        source = make("a.docx", heads, inside=inside)
        ordered = fabula.order(source, by="words", template="steady-rise")
        assert ordered.titles == heads[::-1]
        assert any("kept where it stands: 'The Sea'" in note for note in ordered.notes)
        moved = docx.Document(str(ordered.save(tmp_path / "b.docx")))
        assert [block.text for block in moved.paragraphs[:2]] == ["The Sea", "by Ann Lee"]
        assert [block.text for block in moved.paragraphs if block.text in heads] == heads[::-1]
    styled = docx.Document()
    for k in range(3):
        styled.add_heading(f"One {k}", 1)
        styled.add_paragraph("It rained.")
        styled.add_page_break()
        styled.add_paragraph("It rained on.")
    styled.save(str(tmp_path / "c.docx"))
    assert [block.level for block in parse(str(tmp_path / "c.docx")).blocks] == [1, 0, 0] * 3  # pages part nothing


def test_new_pages_part_an_open_document_without_headings(tmp_path):
    from odf import opendocument, style, text

    made = opendocument.OpenDocumentText()
    paged = style.Style(name="Paged", family="paragraph")
    paged.addElement(style.ParagraphProperties(breakbefore="page"))
    made.automaticstyles.addElement(paged)
    made.text.addElement(text.P(text="Songs, by Ann Lee"))
    for k, head in enumerate(["Rain", "The Boat", "Tide"]):
        made.text.addElement(text.P(text=head, stylename=paged))
        made.text.addElement(text.P(text=make_manuscripts.prose(k, 3)))
    made.save(str(tmp_path / "a.odt"))
    ordered = fabula.order(tmp_path / "a.odt", by="words", template="steady-rise")
    assert ordered.titles == ["Tide", "The Boat", "Rain"]
    again = fabula.open(ordered.save(tmp_path / "b.odt"))
    assert [item.title for item in again.collection.items] == ["Tide", "The Boat", "Rain"]


def test_a_section_of_word_that_ends_within_a_text_stays_where_it_ends(tmp_path):
    docx = pytest.importorskip("docx")
    made = docx.Document()
    for k in range(1, 5):
        made.add_heading(f"Chapter {k}", 1)
        made.add_paragraph(make_manuscripts.prose(k, 4))
        if k == 4:
            made.add_table(1, 1).cell(0, 0).text = "a table"
        elif k == 3:  # which ends with a table, and no section
            made.add_table(1, 1)
        else:
            mark = docx.oxml.parse_xml(made.sections[0]._sectPr.xml)
            made.paragraphs[-1]._p.get_or_add_pPr().append(mark)
    made.save(str(tmp_path / "a.docx"))
    ordered = fabula.order(tmp_path / "a.docx", by="words", template="steady-rise")
    assert ordered.titles == [f"Chapter {k}" for k in (4, 3, 2, 1)]
    now = docx.Document(str(ordered.save(tmp_path / "b.docx")))
    found = [
        (b.text[:9], bool(b._p.xpath("./w:pPr/w:sectPr"))) for b in now.paragraphs if b.text or b._p.pPr is not None
    ]
    were = [made.paragraphs[k].text[:9] for k in (7, 5, 3, 1)]
    assert [text for text, _ in found if "Here" in text] == were
    assert sum(section for _, section in found) == 2
    assert len(now.sections) == 3
    heads = [text for text, section in found if "Chapter" in text or section]
    assert heads.index("Chapter 4") < heads.index("", 0) < heads.index("Chapter 3")  # behind the table of the first
    back = fabula.open(tmp_path / "b.docx").order(ordering=[3, 2, 1, 0]).save(tmp_path / "c.docx")
    assert [b.text for b in docx.Document(str(back)).paragraphs if b.text] == [
        b.text for b in made.paragraphs if b.text
    ]
