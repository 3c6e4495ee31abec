"""Texts made anew as one file: Markdown, .docx, .epub."""

from __future__ import annotations

import html
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from fabula.core.files import write_whole
from fabula.media.text.documents import PARAGRAPH, SEPARATOR, Document, TextBlock, hide, show, title_part

BREAK = "\n\n* * *\n\n"  # between parts that have no headings


@dataclass(frozen=True)
class Joined:
    """Texts to be written one after the other."""

    parts: tuple[Document, ...]  # each with its heading, where it has one
    breaks: bool  # whether a mark stands between them: none of them has a heading
    # Of the whole, where one is known.
    title: str = ""
    author: str = ""


def write_markdown(found: Joined, target: Path) -> Path:
    """Write texts as one Markdown file."""
    return write_whole(target, (BREAK if found.breaks else "\n\n").join(part.markup for part in found.parts) + "\n")


def write_docx(found: Joined, target: Path) -> Path:
    """Write texts as one .docx file."""
    blocks: list[TextBlock] = []
    for part in found.parts:
        blocks += [TextBlock(SEPARATOR, ""), *part.blocks] if found.breaks and blocks else part.blocks
    named = (("title", found.title), ("creator", found.author))
    said = "".join(f"<dc:{name}>{_escape(text)}</dc:{name}>" for name, text in named if text)
    made = _read_template("docx")
    for name, inner in (("word/document.xml", "".join(map(_paragraph, blocks))), ("docProps/core.xml", said)):
        made[name] = made[name].replace("{}", inner)
    return write_whole(target, _pack(made))


# A document as the bytes of a .docx file: headings, paragraphs with bold and italic, breaks. No macros, no links.

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # what XML cannot hold
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_WRAPPED = 50  # letters a line has on average, from which it is taken to be wrapped


def _paragraph(block: TextBlock) -> str:
    if block.level == SEPARATOR:
        return '<w:p><w:pPr><w:jc w:val="center"/></w:pPr><w:r><w:t>* * *</w:t></w:r></w:p>'
    style = f'<w:pStyle w:val="Heading{block.level}"/>' if block.level > PARAGRAPH else ""
    direction, flow = ("<w:bidi/>", "<w:rtl/>") if _RIGHT_TO_LEFT.search(block.text[:40]) else ("", "")
    runs = []
    for words, look in _runs(block):
        lines = _escape(words).replace("\t", "</w:t><w:tab/><w:t>").split("\n")
        text = '</w:t><w:br/><w:t xml:space="preserve">'.join(lines)
        marks = f"<w:rPr>{look}{flow}</w:rPr>" if look or flow else ""
        runs += [f'<w:r>{marks}<w:t xml:space="preserve">{text}</w:t></w:r>'] if words else []
    return f"<w:p><w:pPr>{style}{direction}</w:pPr>{''.join(runs)}</w:p>"


def _runs(block: TextBlock) -> Iterator[tuple[str, str]]:
    """Text with how it looks: the marks of Markdown as bold and italic, where it came as Markdown."""
    if block.level > PARAGRAPH or not block.raw:
        yield _unwrap(block.text), ""
        return
    at, raw = 0, _unwrap(hide(block.raw))
    for mark in _EMPHASIS.finditer(raw):
        yield show(raw[at : mark.start()]), ""
        look = {1: "<w:i/>", 2: "<w:b/>"}.get(len(mark[1]), "<w:b/><w:i/>")
        yield show(mark[2]), look
        at = mark.end()
    yield show(raw[at:]), ""


def _unwrap(text: str) -> str:
    """A paragraph in one line where its lines are long, as they are wrapped in files; verse keeps its lines."""
    lines = text.split("\n")
    wrapped = len(lines) > 1 and sum(map(len, lines[:-1])) >= _WRAPPED * (len(lines) - 1)
    return " ".join(line.strip() for line in lines) if wrapped else text


def write_epub(found: Joined, target: Path) -> Path:
    """Write texts as an EPUB 3 book: a page for each, and a table of contents."""
    title, template = _escape(found.title or target.stem), _read_template("epub")
    page, made = template["page"], dict[str, str]()
    names = [(f"{number}.xhtml", _escape(title_part(part))) for number, part in enumerate(found.parts, start=1)]
    for (name, called), part in zip(names, found.parts, strict=True):
        made[f"OEBPS/{name}"] = page.format(called, "".join(map(_html_of, part.blocks)))
    links = "".join(f'<li><a href="{name}">{called}</a></li>' for name, called in names)
    made["OEBPS/nav.xhtml"] = page.format(title, f'<nav epub:type="toc"><ol>{links}</ol></nav>')
    pages = [("nav.xhtml", ' properties="nav"'), *((name, "") for name, _ in names)]
    items = "".join(
        f'<item id="p{k}" href="{name}" media-type="application/xhtml+xml"{more}/>'
        for k, (name, more) in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{k}"/>' for k in range(1, len(pages)))
    author = f"<dc:creator>{_escape(found.author)}</dc:creator>" if found.author else ""
    about = {"key": zlib.crc32("".join(made.values()).encode()), "title": title, "author": author}
    made |= {name: template[name].format(**about, items=items, spine=spine) for name in list(template)[1:]}
    return write_whole(target, _pack(made, {"mimetype": "application/epub+zip"}))


def _html_of(block: TextBlock) -> str:
    """A block as XHTML, with bold and italic where it came as Markdown."""
    if block.level == SEPARATOR:
        return "<hr/>"
    said = []
    for words, look in _runs(block):
        text = _escape(words).replace("\n", "<br/>")
        for mark in ("b", "i"):
            text = f"<{mark}>{text}</{mark}>" if f"<w:{mark}/>" in look else text
        said.append(text)
    tag = f"h{block.level}" if block.level > PARAGRAPH else "p"
    return f"<{tag}>{''.join(said)}</{tag}>"


ANEW: dict[str, Callable[[Joined, Path], Path]] = {
    ".md": write_markdown, ".markdown": write_markdown, ".docx": write_docx, ".epub": write_epub,
}  # fmt: skip


def _read_template(kind: str) -> dict[str, str]:
    """The XML files of a format by their names, with braces for what differs: told apart by empty lines."""
    text = files("fabula.media.text").joinpath(f"{kind}.txt").read_text(encoding="utf-8")
    return {name: "".join(map(str.strip, lines)) for name, *lines in map(str.splitlines, text.split("\n\n"))}


def _escape(text: str) -> str:
    """Text as XML holds it."""
    return html.escape(_CONTROLS.sub("", text), quote=False)


def _pack(files: Mapping[str, str], first: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """XML files as a zip file, without times: the same again; what comes first is not packed, as EPUB has it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in first.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_STORED)
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), _HEAD + content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
