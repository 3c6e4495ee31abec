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
}


def make(folder: Path) -> list[Path]:
    """Write all of them into a folder."""
    for name, write in MANUSCRIPTS.items():
        write(folder / name)
    return [folder / name for name in MANUSCRIPTS]
