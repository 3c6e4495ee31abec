"""HTML as a document: paragraphs, headings and rules; what is not to be read is left out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from fabula.media.text.reading.document import PARAGRAPH, SEPARATOR, Block, Document

_SILENT = frozenset(("script", "style", "nav", "template", "svg", "math", "noscript", "iframe", "button", "select"))
_PARTS = """
    p div li ul ol dl dd dt section article main header footer aside blockquote pre table tr td th figure figcaption
    body html head title h1 h2 h3 h4 h5 h6 hr
"""
_BLOCKS = frozenset(_PARTS.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def html_document(text: str) -> Document:
    """A document from HTML or XHTML, however broken.

    Examples
    --------
    >>> found = html_document("<title>x</title><h2>Rain</h2><p>It <b>rained</b>.<hr><p>Still.<script>1</script>")
    >>> found.heading, found.text
    ('Rain', 'It rained.\\n\\nStill.')
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.flush()
    return Document(tuple(reader.blocks), name=reader.title, author=reader.author)


class _Reader(HTMLParser):
    """Gathers blocks; a tag that is never closed ends with the block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.title = self.author = ""
        self._parts: list[str] = []
        self._silent: list[str] = []
        self._level = PARAGRAPH
        self._pre = self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag == "br":
            self._parts.append("\n")
        elif tag == "meta":
            said = dict(attrs)
            if (said.get("name") or "").lower() == "author":
                self.author = said.get("content") or ""
        elif tag in _BLOCKS:
            self.flush()
            self._level, self._in_title = _HEADINGS.get(tag, PARAGRAPH), tag == "title"
            self._pre = tag == "pre"
            if tag == "hr":
                self.blocks.append(Block(SEPARATOR, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SILENT and tag != "title":  # XHTML may close what opens nothing
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._silent and tag == self._silent[-1]:
            self._silent.pop()
        elif tag in _BLOCKS:
            self.flush()
            self._level, self._in_title, self._pre = PARAGRAPH, False, False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(data if self._pre else re.sub(r"[ \t\n\r\f]+", " ", data))

    def flush(self) -> None:
        """End the block that is being read."""
        text = re.sub(r" *\n *", "\n", "".join(self._parts)).strip()
        self._parts = []
        if text and self._in_title:
            self.title = self.title or text
        elif text:
            self.blocks.append(Block(self._level, text))
