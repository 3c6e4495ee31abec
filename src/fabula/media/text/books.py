"""Texts made anew as one file: Markdown, .docx, .epub."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape

from fabula.core.files import write_whole
from fabula.media.text.documents import PARAGRAPH, SEPARATOR, Document, TextBlock, bare, title_part

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
    return write_whole(target, docx_bytes(blocks, title=found.title, author=found.author))


# A document as the bytes of a .docx file: headings, paragraphs with bold and italic, breaks. No macros, no links.

_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # what XML cannot hold
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_WRAPPED = 50  # letters a line has on average, from which it is taken to be wrapped
_SIZES = (36, 30, 26, 24, 22, 22)  # of headings, in half points


def docx_bytes(blocks: Iterable[TextBlock], *, title: str = "", author: str = "") -> bytes:
    """The bytes of a .docx file with these blocks, and a title and author that it says of itself."""
    body = "".join(_paragraph(block) for block in blocks)
    page = (
        '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440"'
    )
    page += ' w:header="708" w:footer="708" w:gutter="0"/></w:sectPr>'
    files = {
        "[Content_Types].xml": _types(),
        "_rels/.rels": _relations(
            (f"{_OFFICE}/relationships/officeDocument", "word/document.xml"),
            (f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
        ),
        "word/_rels/document.xml.rels": _relations((f"{_OFFICE}/relationships/styles", "styles.xml")),
        "word/document.xml": f'<w:document xmlns:w="{_WORDS}"><w:body>{body}{page}</w:body></w:document>',
        "word/styles.xml": _styles(),
        "docProps/core.xml": _core(title, author),
    }
    return _pack(files)


def _paragraph(block: TextBlock) -> str:
    if block.level == SEPARATOR:
        return '<w:p><w:pPr><w:jc w:val="center"/></w:pPr><w:r><w:t>* * *</w:t></w:r></w:p>'
    style = f'<w:pStyle w:val="Heading{block.level}"/>' if block.level > PARAGRAPH else ""
    direction = "<w:bidi/>" if _RIGHT_TO_LEFT.search(block.text[:40]) else ""
    runs = "".join(_run(words, look, bool(direction)) for words, look in _runs(block))
    return f"<w:p><w:pPr>{style}{direction}</w:pPr>{runs}</w:p>"


def _runs(block: TextBlock) -> Iterator[tuple[str, str]]:
    """Text with how it looks: the marks of Markdown as bold and italic, where it came as Markdown."""
    if block.level > PARAGRAPH or not block.raw:
        yield _unwrap(block.text), ""
        return
    at, raw = 0, _unwrap(block.raw)
    for mark in _EMPHASIS.finditer(raw):
        yield _plain(raw[at : mark.start()]), ""
        look = {1: "<w:i/>", 2: "<w:b/>"}.get(len(mark[1]), "<w:b/><w:i/>")
        yield _plain(mark[2]), look
        at = mark.end()
    yield _plain(raw[at:]), ""


def _unwrap(text: str) -> str:
    """A paragraph in one line where its lines are long, as they are wrapped in files; verse keeps its lines."""
    lines = text.split("\n")
    wrapped = len(lines) > 1 and sum(map(len, lines[:-1])) >= _WRAPPED * (len(lines) - 1)
    return " ".join(line.strip() for line in lines) if wrapped else text


def _plain(markdown: str) -> str:
    """Markdown without its marks, the spaces at its ends kept."""
    inner = bare(markdown)
    lead = markdown[: len(markdown) - len(markdown.lstrip())]
    return lead + inner + markdown[len(markdown.rstrip()) :] if inner else " " * bool(markdown)


def _run(words: str, look: str, right_to_left: bool) -> str:  # noqa: FBT001
    if not words:
        return ""
    look += "<w:rtl/>" if right_to_left else ""
    lines = escape(_CONTROLS.sub("", words)).replace("\t", "</w:t><w:tab/><w:t>").split("\n")
    text = '</w:t><w:br/><w:t xml:space="preserve">'.join(lines)
    return f'<w:r>{f"<w:rPr>{look}</w:rPr>" if look else ""}<w:t xml:space="preserve">{text}</w:t></w:r>'


def _types() -> str:
    core = "application/vnd.openxmlformats-package.core-properties+xml"
    parts = {"word/document": f"{_MIME}.document.main+xml", "word/styles": f"{_MIME}.styles+xml", "docProps/core": core}
    rows = "".join(f'<Override PartName="/{name}.xml" ContentType="{kind}"/>' for name, kind in parts.items())
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{rows}</Types>'
    )


def _relations(*pairs: tuple[str, str]) -> str:
    row = '<Relationship Id="r{}" Type="{}" Target="{}"/>'
    rows = "".join(row.format(number, *pair) for number, pair in enumerate(pairs, start=1))
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def _styles() -> str:
    headings = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/><w:pPr><w:keepNext/>'
        f'<w:spacing w:before="360" w:after="160"/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
        f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        for level, size in enumerate(_SIZES, start=1)
    )
    return (
        f'<w:styles xmlns:w="{_WORDS}"><w:style w:type="paragraph" w:default="1" w:styleId="Normal">'
        '<w:name w:val="Normal"/><w:qFormat/><w:pPr><w:spacing w:after="160" w:line="276" w:lineRule="auto"/></w:pPr>'
        f'<w:rPr><w:sz w:val="22"/></w:rPr></w:style>{headings}</w:styles>'
    )


def _core(title: str, author: str) -> str:
    named = (("title", title), ("creator", author))
    said = "".join(f"<dc:{name}>{escape(_CONTROLS.sub('', text))}</dc:{name}>" for name, text in named if text)
    spaces = f'xmlns:cp="{_PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return f"<cp:coreProperties {spaces}>{said}</cp:coreProperties>"


_CONTAINER = "urn:oasis:names:tc:opendocument:xmlns:container"
_PAGE = (
    '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{}</title></head>'
    "<body>{}</body></html>"
)


def write_epub(found: Joined, target: Path) -> Path:
    """Write texts as an EPUB 3 book: a page for each, and a table of contents."""
    title, files = escape(_CONTROLS.sub("", found.title or target.stem)), {}
    names = [(f"{number}.xhtml", escape(title_part(part))) for number, part in enumerate(found.parts, start=1)]
    for (name, called), part in zip(names, found.parts, strict=True):
        files[f"OEBPS/{name}"] = _PAGE.format(called, "".join(map(_html_of, part.blocks)))
    links = "".join(f'<li><a href="{name}">{called}</a></li>' for name, called in names)
    files["OEBPS/nav.xhtml"] = _PAGE.format(title, f'<nav epub:type="toc"><ol>{links}</ol></nav>')
    pages = [("nav.xhtml", ' properties="nav"'), *((name, "") for name, _ in names)]
    items = "".join(
        f'<item id="p{k}" href="{name}" media-type="application/xhtml+xml"{more}/>'
        for k, (name, more) in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{k}"/>' for k in range(1, len(pages)))
    author = f"<dc:creator>{escape(found.author)}</dc:creator>" if found.author else ""
    key = zlib.crc32("".join(files.values()).encode())
    about = f'<dc:identifier id="b">fabula-{key:08x}</dc:identifier><dc:title>{title}</dc:title>'
    files["OEBPS/book.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="b"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{about}<dc:language>und</dc:language>{author}'
        '<meta property="dcterms:modified">2000-01-01T00:00:00Z</meta></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    files["META-INF/container.xml"] = (
        f'<container version="1.0" xmlns="{_CONTAINER}"><rootfiles><rootfile full-path="OEBPS/book.opf" '
        'media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    return write_whole(target, _pack(files, {"mimetype": "application/epub+zip"}))


def _html_of(block: TextBlock) -> str:
    """A block as XHTML, with bold and italic where it came as Markdown."""
    if block.level == SEPARATOR:
        return "<hr/>"
    text = "".join(_html_run(words, look) for words, look in _runs(block))
    return f"<h{block.level}>{text}</h{block.level}>" if block.level > PARAGRAPH else f"<p>{text}</p>"


def _html_run(words: str, look: str) -> str:
    text = escape(_CONTROLS.sub("", words)).replace("\n", "<br/>")
    for mark in ("b", "i"):
        text = f"<{mark}>{text}</{mark}>" if f"<w:{mark}/>" in look else text
    return text


ANEW: dict[str, Callable[[Joined, Path], Path]] = {
    ".md": write_markdown, ".markdown": write_markdown, ".docx": write_docx, ".epub": write_epub,
}  # fmt: skip


def _pack(files: Mapping[str, str], first: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """XML files as a zip file, without times: the same again; what comes first is not packed, as EPUB has it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in first.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_STORED)
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), _HEAD + content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
