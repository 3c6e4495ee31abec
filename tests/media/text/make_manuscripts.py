"""Manuscripts as writers keep them, made by the libraries of their kinds: ``make(folder)`` writes thirty of them.

Each has parts of different length, so that ``--by words`` along a rising template turns them round, and what may be
lost when parts are moved: bold and italic, pictures, footnotes, tables, styles, title pages, contents, page breaks.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

WORDS = "It was a long way to the town and he went on through the rain until the lights came up".split()  # noqa: SIM905


def prose(part: int, parts: int, *, names: str = "Ann Tom Mary") -> str:
    """A text that gets shorter from part to part and says which one it is."""
    who = names.split()[part % len(names.split())]
    return (
        f"Here {who} begins number {part}. "
        + " ".join(WORDS[k % len(WORDS)] for k in range(12 * (parts - part + 2)))
        + "."
    )


def picture(part: int) -> io.BytesIO:
    """A small picture, another one for each part."""
    from PIL import Image

    data = io.BytesIO()
    Image.new("RGB", (8, 8), (20 * part, 90, 200 - 10 * part)).save(data, "PNG")
    data.seek(0)
    return data


def docx(
    path: Path, parts: int = 5, *, level: int = 1, pictures: bool = False, title: bool = False, **more: bool
) -> None:
    """By python-docx."""
    import docx as library

    made = library.Document()
    made.core_properties.title, made.core_properties.author = "The Sea", "Ann Lee"
    if title:
        made.add_paragraph("The Sea", style="Title")
        made.add_paragraph("by Ann Lee").add_run().add_picture(picture(0))
    if more.get("contents"):
        made.add_heading("Contents", level)
        for part in range(1, parts + 1):
            made.add_paragraph(f"Chapter {part}\t{part}")
    for part in range(1, parts + 1):
        if more.get("scenes"):
            made.add_paragraph("* * *" if part > 1 else "")
        else:
            made.add_heading(f"Chapter {part}", level)
        paragraph = made.add_paragraph(prose(part, parts))
        paragraph.add_run(f" italic {part}").italic = True
        paragraph.add_run(f" bold {part}").bold = True
        made.add_paragraph(f"Quoted {part}", style="Intense Quote")
        if pictures:
            made.add_picture(picture(part))
        if more.get("tables"):
            made.add_table(1, 2).cell(0, 1).text = f"cell {part}"
        if more.get("breaks") and part < parts:
            made.add_page_break()
        if more.get("sections") and part < parts:
            made.add_section()
    if more.get("back"):
        made.add_heading("Acknowledgements", level)
        made.add_paragraph("Thanks to all who were there, and to the rain.")
    made.save(str(path))


def odt(path: Path, parts: int = 5, *, pictures: bool = False, notes: bool = False, title: bool = False) -> None:
    """By odfpy."""
    from odf import draw, opendocument, style, text

    made = opendocument.OpenDocumentText()
    italic = style.Style(name="Slanted", family="text")
    italic.addElement(style.TextProperties(fontstyle="italic"))
    made.automaticstyles.addElement(italic)
    if title:
        made.text.addElement(text.P(text="The Sea, a novel by Ann Lee"))
    for part in range(1, parts + 1):
        made.text.addElement(text.H(outlinelevel=1, text=f"Chapter {part}"))
        paragraph = text.P(text=prose(part, parts))
        paragraph.addElement(text.Span(stylename=italic, text=f" italic {part}"))
        if notes:
            note = text.Note(id=f"n{part}", noteclass="footnote")
            note.addElement(text.NoteCitation(text=str(part)))
            body = text.NoteBody()
            body.addElement(text.P(text=f"note {part}"))
            note.addElement(body)
            paragraph.addElement(note)
        made.text.addElement(paragraph)
        if pictures:
            frame = draw.Frame(width="1cm", height="1cm")
            name = made.addPicture(f"p{part}.png", "image/png", picture(part).read())
            frame.addElement(draw.Image(href=name))
            holder = text.P()
            holder.addElement(frame)
            made.text.addElement(holder)
    made.save(str(path))


def epub(path: Path, parts: int = 5, *, pictures: bool = False, cover: bool = False) -> None:
    """By ebooklib: a page for each chapter, a navigation document and an NCX."""
    from ebooklib import epub as library

    book = library.EpubBook()
    book.set_identifier("sea")
    book.set_title("The Sea")
    book.add_author("Ann Lee")
    pages = []
    if cover:
        page = library.EpubHtml(title="Title", file_name="title.xhtml")
        page.content = "<html><body><p>The Sea</p><p>Ann Lee</p></body></html>"
        pages.append(page)
    for part in range(1, parts + 1):
        page = library.EpubHtml(title=f"Chapter {part}", file_name=f"c{part}.xhtml")
        image = f'<p><img src="p{part}.png" alt=""/></p>' if pictures else ""
        page.content = (
            f"<html><body><h1>Chapter {part}</h1><p>{prose(part, parts)} <i>italic {part}</i></p>{image}</body></html>"
        )
        pages.append(page)
        if pictures:
            book.add_item(
                library.EpubImage(file_name=f"p{part}.png", media_type="image/png", content=picture(part).read())
            )
    for page in pages:
        book.add_item(page)
    book.toc = [library.Link(page.file_name, page.title, page.file_name) for page in pages]
    book.add_item(library.EpubNcx())
    book.add_item(library.EpubNav())
    book.spine = ["nav", *pages]
    library.write_epub(str(path), book)


def markdown(path: Path, parts: int = 5, *, end: str = "\n", encoding: str = "utf-8", front: bool = True) -> None:
    """As an editor writes it: front matter, a title, links, comments, emphasis."""
    text = "---\ntitle: The Sea\ntags: [a, b]\n---\n" * front + "# The Sea\n\nBy Ann <!-- not\n\nyet --> Lee\n\n"
    for part in range(1, parts + 1):
        text += f"## Chapter {part}\n\n{prose(part, parts)} *italic {part}* **bold {part}** [[Note {part}|n]]\n\n"
        text += f"> Quoted {part} — é\n\n* * *\n\n```\n# code {part}\n```\n\n" if part % 2 else "Last line.\n\n"
    path.write_bytes(text.rstrip().replace("\n", end).encode(encoding))


def plain(path: Path, parts: int = 5, *, end: str = "\n", encoding: str = "utf-8", scenes: bool = False) -> None:
    """Chapters, or scenes with empty lines between them."""
    texts = [
        ("" if scenes else f"Chapter {part}\n\n") + prose(part, parts) + f"\n\nEnd é {part}."
        for part in range(1, parts + 1)
    ]
    path.write_bytes(("\n\n\n\n" if scenes else "\n\n").join(texts).replace("\n", end).encode(encoding))


def pptx(path: Path, parts: int = 5, *, pictures: bool = False, sections: bool = False) -> None:
    """By python-pptx: a title slide, slides with notes, one that is a picture alone."""
    import pptx as library
    from lxml import etree

    deck = library.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    slide.shapes.title.text, slide.placeholders[1].text = "The Sea", "Ann Lee"
    for part in range(1, parts + 1):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = f"Slide about {part}", prose(part, parts)
        slide.notes_slide.notes_text_frame.text = f"note {part}"
        if pictures:
            slide.shapes.add_picture(picture(part), 0, 0)
    if pictures:
        deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_picture(picture(0), 0, 0)
    if sections:
        ids = [one.get("id") for one in deck.slides._sldIdLst]
        space = "http://schemas.microsoft.com/office/powerpoint/2010/main"
        lists = [
            f'<p14:section name="{name}" id="{{{k}}}"><p14:sldIdLst>'
            + "".join(f'<p14:sldId id="{one}"/>' for one in some)
            + "</p14:sldIdLst></p14:section>"
            for k, (name, some) in enumerate((("A", ids[:3]), ("B", ids[3:])))
        ]
        listed = f'<p14:sectionLst xmlns:p14="{space}">{"".join(lists)}</p14:sectionLst>'
        own = deck.part._element.nsmap["p"]
        kind = "{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"
        extra = f'<p:extLst xmlns:p="{own}"><p:ext uri="{kind}">{listed}</p:ext></p:extLst>'
        deck.part._element.append(etree.fromstring(extra))
    deck.save(str(path))


RTF = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}{\f1 Arial;}}{\stylesheet{\s0 Normal;}{\s1\sbasedon0 heading 1;}}"


def rtf(path: Path, parts: int = 5, *, kind: str = "word") -> None:
    """As Word, as an editor without styles that says only what changes, and as pandoc write it."""
    text = RTF + "{\\info{\\title The Sea}{\\author Ann Lee}}\n"
    for part in range(1, parts + 1):
        said = prose(part, parts) + f" Caf\\'e9 \\u8212? {{\\i italic {part}}}"
        if kind == "word":
            text += f"\\pard\\plain \\s1\\b\\fs32 Chapter {part}\\par\n\\pard\\plain \\s0\\qj {said}\\par\n"
        elif kind == "editor":
            text += ("\\pard\\sa200\\f0\\fs24 " if part == 1 else "") + f"\\b Chapter {part}\\b0\\par\n{said}\\par\n"
            text += "\\f1 In another letter.\\par\n" if part == 2 else ""
        else:
            text += f"{{\\pard \\ql \\s1 \\outlinelevel0 Chapter {part}\\par}}\n{{\\pard \\ql {said}\\par}}\n"
    path.write_bytes((text.removesuffix("\\par\n") + "}").encode("latin-1"))


def fountain(path: Path, parts: int = 5) -> None:
    """Scenes in two acts."""
    text = "Title: The Sea\nAuthor: Ann Lee\n\nFADE IN:\n\n"
    for part in range(1, parts + 1):
        text += f"# Act {part // 3 + 1}\n\n" if part % 3 == 0 else ""
        text += f"{'INT' if part % 2 else 'EXT'}. HOUSE {part} - DAY #{part}#\n\n{prose(part, parts)}\n\n"
        text += f"TOM\n(low)\n*Number* {part}. [[note {part}]]\n\n> CUT TO:\n\n"
    path.write_text(text.rstrip(), encoding="utf-8")


def rst(path: Path, parts: int = 5) -> None:
    """Sections below a title."""
    text = "=======\nThe Sea\n=======\n\n:Author: Ann Lee\n\n"
    for part in range(1, parts + 1):
        text += f"Chapter {part}\n---------\n\n{prose(part, parts)} *italic {part}*\n\n.. image:: p{part}.png\n\n"
    path.write_text(text, encoding="utf-8")


def tex(path: Path, parts: int = 5, *, included: bool = False) -> None:
    """A book in one file, or in one for each chapter."""
    text = "\\documentclass{book}\n\\title{The Sea}\n\\author{Ann Lee}\n\\input{macros}\n\\begin{document}\n"
    text += "\\maketitle\n\n"
    for part in range(1, parts + 1):
        chapter = (
            f"\\chapter{{Chapter {part}}}\\label{{c{part}}}\n{prose(part, parts)} \\emph{{italic {part}}}. % aside\n"
        )
        if included:
            (path.parent / "chapters").mkdir(exist_ok=True)
            (path.parent / "chapters" / f"c{part}.tex").write_text(chapter)
        text += f"\\include{{chapters/c{part}}}\n" if included else chapter + "\n"
    path.write_text(text + "\n\\backmatter\n\\printindex\n\\end{document}\n")


def scriv(path: Path, parts: int = 5, *, old: bool = False) -> None:
    """A project as Scrivener 3 or 2 keeps it: a binder, a text for each scene, synopses, research, trash."""
    (path / "Files").mkdir(parents=True)
    items, key = "", "ID" if old else "UUID"
    for part in range(1, parts + 1):
        inner = ""
        for scene in (1, 2):
            name = f"{part}{scene}" if old else f"AAAA-{part}-{scene}"
            inner += f'<BinderItem {key}="{name}" Type="Text"><Title>Scene {scene}</Title></BinderItem>\n'
            folder = path / "Files" / ("Docs" if old else f"Data/{name}")
            folder.mkdir(parents=True, exist_ok=True)
            body = f"\\pard {prose(part, parts)} Scene {scene}.\\par"
            (folder / (f"{name}.rtf" if old else "content.rtf")).write_bytes((RTF + body + "}").encode())
            (folder / (f"{name}_synopsis.txt" if old else "synopsis.txt")).write_text("What happens.")
        items += f'<BinderItem {key}="{part}" Type="Folder"><Title>Chapter {part}</Title>'
        items += f"<Children>{inner}</Children></BinderItem>\n"
    draft = f'<BinderItem UUID="D" Type="DraftFolder"><Title>Draft</Title><Children>\n{items}</Children></BinderItem>\n'
    other = '<BinderItem UUID="R" Type="ResearchFolder"><Title>Research</Title><Children/></BinderItem>'
    project = f'<ScrivenerProject Version="2.0"><Binder>\n{draft}{other}</Binder></ScrivenerProject>\n'
    (path / "book.scrivx").write_text('<?xml version="1.0" encoding="UTF-8"?>\n' + project)


MANUSCRIPTS: dict[str, Callable[[Path], None]] = {
    "plain.docx": docx,
    "pictures.docx": lambda path: docx(path, pictures=True, title=True, tables=True),
    "contents.docx": lambda path: docx(path, 6, title=True, contents=True, back=True, breaks=True),
    "deep.docx": lambda path: docx(path, 4, level=2, title=True),
    "scenes.docx": lambda path: docx(path, scenes=True, pictures=True),
    "sections.docx": lambda path: docx(path, sections=True),
    "many.docx": lambda path: docx(path, 40, tables=True),
    "plain.odt": odt,
    "pictures.odt": lambda path: odt(path, pictures=True, title=True),
    "notes.odt": lambda path: odt(path, 6, notes=True),
    "plain.epub": epub,
    "pictures.epub": lambda path: epub(path, 6, pictures=True, cover=True),
    "plain.md": markdown,
    "windows.md": lambda path: markdown(path, end="\r\n", encoding="utf-8-sig"),
    "bare.md": lambda path: markdown(path, 3, front=False),
    "latin.md": lambda path: markdown(path, encoding="cp1252"),
    "wide.md": lambda path: markdown(path, encoding="utf-16"),
    "chapters.txt": plain,
    "scenes.txt": lambda path: plain(path, scenes=True),
    "windows.txt": lambda path: plain(path, end="\r\n"),
    "old.txt": lambda path: plain(path, end="\r", encoding="cp1252"),
    "plain.pptx": pptx,
    "pictures.pptx": lambda path: pptx(path, pictures=True),
    "sections.pptx": lambda path: pptx(path, 6, sections=True),
    "word.rtf": rtf,
    "editor.rtf": lambda path: rtf(path, kind="editor"),
    "pandoc.rtf": lambda path: rtf(path, kind="pandoc"),
    "film.fountain": fountain,
    "plain.rst": rst,
    "plain.tex": tex,
    "included.tex": lambda path: tex(path, included=True),
    "new.scriv": scriv,
    "old.scriv": lambda path: scriv(path, old=True),
}


def make(folder: Path) -> list[Path]:
    """Write all of them into a folder."""
    for name, write in MANUSCRIPTS.items():
        write(folder / name)
    return [folder / name for name in MANUSCRIPTS]
