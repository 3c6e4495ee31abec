"""More kinds of manuscripts: slides, RTF, screenplays, LaTeX, reStructuredText, subtitles and Scrivener projects."""

from __future__ import annotations

import posixpath
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from unicodedata import normalize
from xml.etree.ElementTree import Element

from fabula.core.files import parse_xml
from fabula.errors import FileError, shown
from fabula.media.medium import read_words
from fabula.media.text import documents
from fabula.media.text.documents import PARAGRAPH, SEPARATOR, Document, TextBlock, bare, decode, read_bytes
from fabula.media.text.manuscripts import Body, cut_elements
from fabula.media.text.packed import (
    Archive,
    find_inside,
    heading_level,
    local_name,
    open_packed,
    read_packed,
    set_heads,
)

_TOLD = read_words("fabula.media.text")


def read_other(path: str) -> Document:
    """What a file of one of these kinds says; its blocks know the pieces that :func:`cut_other` gives."""
    ending = Path(path).suffix.lower()
    if ending in _WHOLE:
        return _WHOLE[ending][0](path)
    text, encoding = decode(read_bytes(path), path)
    return replace(_LINES[ending](text, path), encoding=encoding)


def cut_other(path: str) -> Body:
    """The pieces of a file that is no file of lines."""
    return _WHOLE[Path(path).suffix.lower()][1](path)


# Slides: a .pptx file holds a list of them, and a section lists those that are its own.

_SECTION_SLIDE = re.compile(rb'(<p14:sldId\b[^<>]*?\sid=")\d+')
_SLIDE = re.compile(rb'<p:sldId\b[^<>]*?\sid="(\d+)')
_DECK = "ppt/presentation.xml"


def _read_slides(archive: Archive) -> Document:
    deck, links = archive.main_xml(_DECK), archive.main_xml("ppt/_rels/presentation.xml.rels")
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    blocks: list[TextBlock] = []
    lost = {"notes"} if any(name.startswith("ppt/notesSlides/") for name in archive.names) else set[str]()
    for at, entry in enumerate(find_inside(deck, "sldIdLst"), start=1):
        target = targets.get(next((value for name, value in entry.attrib.items() if name.endswith("}id")), None), "")
        slide = archive.xml(posixpath.normpath(posixpath.join("/ppt", target)).lstrip("/"))
        lost.update(documents.name_lost(map(local_name, slide.iter())) if slide is not None else ())
        said: dict[str, list[str]] = {}
        for kinds, lines in () if slide is None else _shapes(find_inside(slide, "cSld", "spTree")):
            texts = filter(None, ("".join(line).strip() for line in lines))
            said.setdefault(kinds[0] if kinds else "", []).extend(texts)
        first = said.pop("ctrTitle", [])
        title = " ".join(first or said.pop("title", []))
        rest = [text for texts in said.values() for text in texts]
        # Of a title slide, and of one that says nothing, there are headings alone.
        bare = first or not (title or rest)
        blocks.append(TextBlock(1, title or (f"Slide {at}" if bare else rest[0]), at=at))
        blocks += [TextBlock(2 if bare else PARAGRAPH, text, at=at) for text in rest or ([] if bare else [title])]
    return Document(tuple(blocks), paged=True, lost=tuple(sorted(lost)))


def _shapes(tree: Element) -> list[tuple[list[str], list[list[str]]]]:
    """What kinds each shape says that it is of, and its lines in pieces; all in one pass."""
    found, todo = [(list[str](), list[list[str]]())], [(tree, 0, list[str]())]  # the first is outside of all shapes
    while todo:
        element, shape, line = todo.pop()
        tag = local_name(element)
        if tag in ("sp", "graphicFrame"):
            shape, line = len(found), []
            found.append(([], []))
        elif tag == "ph":
            found[shape][0].append(element.get("type", ""))
        elif tag == "p":
            line = []
            found[shape][1].append(line)
        elif tag == "t":
            line.append(element.text or "")
        todo += [(child, shape, line) for child in reversed(element)]
    return found[1:]


def _cut_slides(path: str) -> Body:
    def fill(deck: bytes) -> dict[str, bytes]:  # sections hold as many slides as before, in their new order
        ids = iter(_SLIDE.findall(deck))
        return {_DECK: _SECTION_SLIDE.sub(lambda found: found[1] + next(ids, b"0"), deck)}

    with open_packed(path) as archive:
        pieces = cut_elements(archive.read(_DECK), "sldIdLst")
    return Body(pieces, idle=frozenset((len(pieces) - 1,)), member=_DECK, mend=fill)


# RTF: paragraphs end with \par; what is set before one holds on until it is set anew.

_TOKEN = re.compile(
    r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+", re.DOTALL
)
_UNSEEN = re.compile("fonttbl|colortbl|stylesheet|info|pict|(?:header|footer)[flr]?|footnote|object|annotation")
_SIGNS: dict[str, str] = _TOLD["rtf"]
_OF_LETTERS = re.compile("b|i|ul|ulnone|strike|fs?|c[fbs]|highlight|s?caps|sub|super|nosupersub|lang|up|dn|expndtw")
_OF_PARAGRAPHS = re.compile(
    "s|q[lrcj]|li|ri|fi|lin|rin|sb|sa|sl|slmult|keep|keepn|tx|intbl|ilvl|ls|outlinelevel|rtlpar|ltrpar|pagebb|"
    "widctlpar|pardirnatural|partightenfactor"
)
# Encodings by the sets of characters of fonts, and by what files say of all; fonts of other sets are as the file is.
_SETS: dict[str, str] = _TOLD["charsets"]
_FONT = re.compile(r"\\f(\d{1,5})\b[^{};]{0,200}?\\fcharset(\d{1,3})")
_MOST_SET = 100  # of these that hold on: programs have 64 tabs at most
_RESET = re.compile(rb"\s*(?:\\pard\s*\\plain|\})")
_STYLE = re.compile(r"\{(?:\\\*)?\\s(\d{1,4})\b[^{}]{0,400}?([^\\{};]{1,80});\}")
_ABOUT = re.compile(r"\{\\(title|author) ([^\\{}]{1,300})\}")


@dataclass
class _Rtf:
    """An RTF file while it is read: its paragraphs, and where it can be cut."""

    text: str  # a character for each byte
    blocks: list[TextBlock] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])  # of pieces
    ends: dict[int, int] = field(default_factory=dict)  # piece -> where its paragraph says that it ends
    before: dict[int, bytes] = field(default_factory=dict)
    hidden: int = 0  # the depth from which on nothing is to be read; 0: all is
    depth: int = 0
    group: int = 0  # where the one began that is being read, of those around paragraphs
    skip: int = 0  # characters that stand for one that was read already
    wide: int = 1  # of these, how many stand for each
    whole: set[int] = field(default_factory=set)  # pieces that hold their own end: rows, and paragraphs in groups
    ended: bool = False
    level: int | None = None
    codec: str = "cp1252"
    fonts: dict[str, str] = field(default_factory=dict)  # number -> its encoding
    font: str = ""  # the number of the one that is set
    default: str = ""  # of that which is set where none is
    outer: list[str] = field(default_factory=list)  # those that were set where groups began
    lead: bytes = b""  # the first of two bytes that are one letter
    levels: dict[str, int] = field(default_factory=dict)  # of styles
    units: list[str] = field(default_factory=list)  # of the paragraph
    state: dict[str, dict[str, str]] = field(default_factory=lambda: {"letters": {}, "paragraphs": {}})

    def read(self) -> None:
        """All of it, in one pass."""
        styles = self.text.find("{\\stylesheet")
        known = _STYLE.findall(self.text[styles : styles + 200_000]) if styles >= 0 else []
        self.fonts = {number: _SETS[said] for number, said in _FONT.findall(self.text[:200_000]) if said in _SETS}
        self.levels = {f"s{number}": heading_level(name.strip()) for number, name in known}
        for token in _TOKEN.finditer(self.text):
            word, number, code, sign, brace, plain = token.groups()
            if brace:
                self.depth += 1 if brace == "{" else -1
                self.outer += [self.font] if brace == "{" else []
                self.font = self.outer.pop() if brace == "}" and self.outer else self.font
                self.group = token.start() if brace == "{" and self.depth == 2 else self.group
                self.hidden = 0 if self.hidden > self.depth else self.hidden
                if self.depth == 0:
                    self._end(None)
                    self._cut(token.start())
            elif self.hidden:
                continue
            elif word is not None:
                self._word(word, number, token)
            elif code is not None:
                self._say(bytes([int(code, 16)]), token.start())
            elif sign == "*":
                self.hidden = self.depth
            elif sign in ("\n", "\r"):
                self._end(token)
            elif sign is not None:
                self._say(sign.encode() if self.lead and sign in "\\{}" else _SIGNS.get(sign, ""), token.start())
            elif plain:
                self._say(plain if plain.isascii() and not self.lead else plain.encode("latin-1"), token.start())
            if self.ended and self.depth == 1:
                self._cut(token.end())
        self._end(None)

    def _word(self, word: str, number: str | None, token: re.Match[str]) -> None:
        if _UNSEEN.fullmatch(word):
            self.hidden = self.depth
        elif word in ("par", "sect", "row"):
            self._end(token)
        elif word == "ansicpg" and number:
            self.codec = _SETS.get(number, f"cp{number}")
        elif word in _SETS:
            self.codec = _SETS[word]
        elif word == "deff":
            self.default = self.font = number or ""
        elif word == "uc":
            self.wide = int(number or 1)
        elif word == "u" and number:
            self._say(chr(int(number) & 0xFFFF), token.start())
            self.skip = self.wide
        elif word in _SIGNS:
            self._say(_SIGNS[word], token.start())
        elif word == "pard":
            self._begin(token.start())
            self.level, self.state["paragraphs"] = None, {}
        elif word == "plain":
            self.state["letters"], self.font = {}, self.default
        elif word == "f":
            self.font = number or ""
        elif word == "outlinelevel":
            self.level = min(int(number or 0) + 1, 6)
        if word == "s" and self.level is None:
            self.level = self.levels.get(f"s{number}")
        kinds = {"letters": _OF_LETTERS, "paragraphs": _OF_PARAGRAPHS}
        kind = next((kind for kind, words in kinds.items() if words.fullmatch(word)), "")
        if kind and self.depth == 1 and len(self.state[kind]) < _MOST_SET:
            self.state[kind][token[0] if word == "tx" else word] = token[0].strip()

    def _say(self, said: str | bytes, at: int) -> None:
        said, self.skip = said[self.skip :], max(0, self.skip - len(said))
        if said:
            self._begin(at)
            if isinstance(said, bytes):  # in the encoding of the font; of some two are a letter
                decoder = getincrementaldecoder(self.fonts.get(self.font, self.codec))("replace")
                said = decoder.decode(self.lead + said)
                self.lead = decoder.getstate()[0]
            self.units.append(said)

    def _begin(self, at: int) -> None:
        """What stands before the first paragraph is a piece."""
        if len(self.starts) == 1:
            self._cut(at if self.depth == 1 else self.group)

    def _cut(self, at: int) -> None:
        state = "".join(part for kind in self.state.values() for part in kind.values())
        self.before[len(self.starts)] = f"\\pard\\plain{state} ".encode("latin-1")
        while self.text[at : at + 1] in ("\r", "\n"):  # which say nothing
            at += 1
        self.starts.append(at)
        self.ended = False

    def _end(self, token: re.Match[str] | None) -> None:
        """A paragraph ends."""
        at = len(self.starts) - 1
        if self.units:
            joined = "".join(self.units).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
            level = self.level or PARAGRAPH
            if joined:
                self.blocks.append(TextBlock(level if re.search(r"\w", joined) else SEPARATOR, joined, at=at))
        if token is not None and self.depth == 1 and token[1] != "row":
            self.ends[at] = token.start()
        elif token is not None:
            self.whole.add(at)
        self.units, self.ended, self.lead = [], True, b""


def _parse_rtf(path: str) -> _Rtf:
    text = read_bytes(path).decode("latin-1")
    if not text.lstrip().startswith("{\\rtf"):
        raise FileError(f"{shown(path)}: is no .rtf file (it does not begin as one)")
    found = _Rtf(text)
    try:
        found.read()
    except LookupError as error:
        raise FileError(f"{shown(path)}: is in an encoding that is not known ({shown(str(error))})") from error
    return found


def _read_rtf(path: str) -> Document:
    found = _parse_rtf(path)
    about = dict(_ABOUT.findall(found.text[:20_000]))
    return Document(
        set_heads(found.blocks), name=about.get("title", "").strip(), author=about.get("author", "").strip()
    )


def _cut_rtf(path: str) -> Body:
    found = _parse_rtf(path)
    data = found.text.encode("latin-1")
    bounds = list(zip(found.starts, [*found.starts[1:], len(data)], strict=True))
    ends = [found.ends.get(k, b) for k, (_, b) in enumerate(bounds)]
    pieces = tuple(data[a:end] for (a, _), end in zip(bounds, ends, strict=True))
    closed = tuple(data[end:b] for (_, b), end in zip(bounds, ends, strict=True))
    same = len(set(found.before.values())) == 1  # nothing is carried on from paragraph to paragraph
    before = {k: state for k, state in found.before.items() if not same and not _RESET.match(pieces[k])}
    return Body(pieces, closed, idle=frozenset((len(pieces) - 1,)), whole=frozenset(found.whole), before=before)


# Files of lines.

_SCENE = re.compile(r"(?:\.(?=[^.\s])|(?:(?:INT|EXT|EST|I/E|INT\.?/EXT)[. ]))", re.IGNORECASE)
_SCENE_NUMBER = re.compile(r"\s{0,20}#[\w.-]{1,20}#$")
_KEY = re.compile(r"([A-Za-z][A-Za-z ]{0,30}):[ \t]*(.*)")
_ASIDE = re.compile(r"\[\[[^\[\]]*\]\]")


def _paragraphs_of(lines: list[str], first: int) -> Iterator[tuple[int, list[str]]]:
    """Lines that stand together, and the number of their first."""
    found: list[str] = []
    for at, line in enumerate([*lines, ""], start=first):
        if line.strip():
            found.append(line)
        elif found:
            yield at - len(found), found
            found = []


def fountain_document(text: str, path: str = "") -> Document:
    """A screenplay in Fountain: a heading for each scene; sections and page breaks stay where they stand.

    >>> found = fountain_document("Title: Rain\\n\\n# Act I\\n\\nINT. HOUSE - DAY #1#\\n\\nRain.\\n\\n.HERE\\n\\nSun.")
    >>> found.title, [block.text for block in found.blocks if block.level == 1]
    ('Rain', ['INT. HOUSE - DAY', 'HERE'])
    """
    start, *cuts = text.split("/*")  # what stands up to */ is cut out, and leaves its lines
    parted = (cut.partition("*/") for cut in cuts)
    lines = (start + "".join("\n" * cut.count("\n") + rest if end else f"/*{cut}" for cut, end, rest in parted)).split(
        "\n"
    )
    first = next((k for k, line in enumerate(lines) if not line.strip()), len(lines)) if _KEY.match(lines[0]) else 0
    about = {key.lower(): value.strip(" _*") for key, value in _KEY.findall("\n".join(lines[:first]))}
    blocks = []
    for at, found in _paragraphs_of(lines[first:], first):
        head = found[0].strip()
        if _SCENE.match(head):
            blocks.append(TextBlock(1, _SCENE_NUMBER.sub("", head.lstrip(".")), at=at))
            found, at = found[1:], at + 1
        elif head.startswith(("#", "===")):
            blocks.append(TextBlock(SEPARATOR, head, at=at))
            found, at = found[1:], at + 1
        said = _ASIDE.sub("", "\n".join(line.strip(" >") for line in found if not line.startswith("= "))).strip()
        if said:
            blocks.append(TextBlock(PARAGRAPH, bare(said), "\n".join(found), at))
    return Document(tuple(blocks), title=about.get("title", ""), author=about.get("author", about.get("authors", "")))


_ADORNED = re.compile(r"([!-/:-@\[-`{-~])\1{2,}")


def rst_document(text: str, path: str = "") -> Document:
    """A document from reStructuredText: titles by what they are underlined with, in the order in which that is met.

    >>> [(b.level, b.text) for b in rst_document("====\\nSea\\n====\\n\\nOne\\n---\\n\\nRain.\\n\\n.. note:: x").blocks]
    [(1, 'Sea'), (2, 'One'), (0, 'Rain.')]
    """
    blocks, kinds = [], list[tuple[str, bool]]()
    for at, found in _paragraphs_of(text.split("\n"), 0):
        marks = [bool(_ADORNED.fullmatch(line.rstrip())) for line in found[:3]]
        over = len(found) > 2 and marks[0] and marks[2]
        if over or (len(found) > 1 and marks[1] and not marks[0]):
            kind = (found[2 if over else 1][0], over)
            kinds += [kind] if kind not in kinds else []
            blocks.append(TextBlock(min(kinds.index(kind) + 1, 6), bare(found[1 if over else 0]), at=at))
            used = 3 if over else 2
            found, at = found[used:], at + used
        elif len(found) == 1 and marks[0]:
            blocks.append(TextBlock(SEPARATOR, "", at=at))
            continue
        if found and not found[0].startswith(".. "):
            blocks.append(TextBlock(PARAGRAPH, bare("\n".join(found)), "\n".join(found), at))
    return Document(tuple(blocks))


_TIMES = re.compile(r"\d{1,3}:\d\d:\d\d[,.]\d{3}\s*-->")


def srt_document(text: str, path: str = "") -> Document:
    """What subtitles say, without their numbers and times.

    >>> srt_document("1\\n00:00:01,000 --> 00:00:02,000\\n<i>Rain.</i>\\n").text
    'Rain.'
    """
    blocks = []
    for at, found in _paragraphs_of(text.split("\n"), 0):
        said = found[next((k + 1 for k, line in enumerate(found[:3]) if _TIMES.match(line.strip())), 0) :]
        blocks += [TextBlock(PARAGRAPH, bare("\n".join(said)), at=at)] if said else []
    return Document(tuple(blocks))


_TEX_HEADS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX_HEAD = re.compile(
    rf"\s*\\({'|'.join(_TEX_HEADS)})\*?(?:\[[^\]]{{0,300}}\])?\{{(.{{0,400}}?)\}}\s*(?:\\label\{{[^{{}}]*\}}\s*)?$"
)
_TEX_WALL = re.compile(
    r"\s*\\(?:(?:front|main|back)matter|appendix|(?:print)?bibliography|printindex|tableofcontents|maketitle|"
    r"listof\w+|begin\{document\}|end\{document\})"
)
_TEX_PART = re.compile(r"\s*\\(?:include|input|subfile)\{([^{}]{1,300})\}")
_TEX_NOTE = re.compile(r"\\(?:footnote|footnotetext|endnote|thanks)\{(?:[^{}]|\{[^{}]{0,300}\}){0,2000}\}")
_TEX_SILENT = re.compile(
    r"\\(?:documentclass|usepackage|begin|end|label|ref|pageref|cite\w*|includegraphics|input|include|subfile|bibliographystyle|vspace|hspace|index)\*?"
    r"(?:\[[^\]]{0,300}\])?(?:\{[^{}]{0,300}\})?"
)
_MOST_PARTS = 1000  # files that one includes
_TEX_SIGNS = (("``", "“"), ("''", "”"), ("---", "—"), ("--", "–"), ("~", " "))
_ACCENTS, _COMMANDS = _TOLD["accents"], _TOLD["tex"]
_TEX_LETTER = re.compile(
    r"\\(?:(?P<accent>['`^\"~=.]|[uvHcdbrk](?=[ \t{\\]))[ \t]*"
    r"(?:\{[ \t]*\\?(?P<inner>[^\W\d_]?)[ \t]*\}|(?:\\(?=[ij](?![a-zA-Z])))?(?P<alone>[^\W\d_]))|(?P<sign>[-,;:!/@> ])|"
    rf"(?P<word>{'|'.join(filter(str.isalpha, _COMMANDS))})(?![a-zA-Z@])(?P<space>[ \t]*)(?:{{}})?)"
)


def _letter(found: re.Match[str]) -> str:
    """What a command says; the space that ends it goes with letters and opening quotes alone."""
    if found["accent"]:
        letter = found["inner"] or found["alone"] or ""
        return normalize("NFC", letter + _ACCENTS[found["accent"]]) if letter else ""
    said = str(_COMMANDS[found["word"] or found["sign"]])
    return said + (found["space"] or "") * (not said.isalpha() and said not in "“‘„‚")


def _plain_tex(lines: list[str]) -> str:
    """Lines of LaTeX without comments and commands."""
    text = "\n".join(re.sub(r"(?<!\\)%.*", "", line) for line in lines)
    text = _TEX_SILENT.sub("", _TEX_NOTE.sub("", re.sub(r"\\\\\*?(?:\[[^\[\]\n]{0,20}\])?", "\n", text)))
    text = _TEX_LETTER.sub(_letter, text)
    text = re.sub(r"\\[a-zA-Z@]+\*?(?:\[[^\]]{0,300}\])?", "", text)
    for mark, sign in _TEX_SIGNS:
        text = text.replace(mark, sign)
    return re.sub(r"\\([%&$#_{}])", r"\1", text).translate({123: None, 125: None}).strip()


def tex_document(text: str, path: str = "") -> Document:
    """A document from LaTeX: the files that it includes, where it includes several, else its chapters or sections.

    >>> found = tex_document("\\\\begin{document}\\n\\\\section{One}\\nIt \\\\emph{rained}. % so\\n\\\\end{document}")
    >>> [(block.level, block.text) for block in found.blocks if block.level >= 0]
    [(3, 'One'), (0, 'It rained.')]
    """
    lines = text.split("\n")
    start = next((k for k, line in enumerate(lines) if "\\begin{document}" in line), 0)
    named = re.findall(r"\\(title|author)\{((?:[^{}]|\{[^{}]{0,80}\}){1,300})\}", text)
    said = {name: _plain_tex([told]) for name, told in named}
    own = [block for at, found in _paragraphs_of(lines[start:], start) for block in _tex_blocks(found, at)]
    own = own[: next((k for k, block in enumerate(own, start=1) if "\\end{document}" in block.raw), len(own))]
    chapters = [a.level for a, b in pairwise(own) if a.level > 0 and b.level == PARAGRAPH]  # that stand in it
    blocks, paged = _included_blocks(lines, start, path, min(chapters, default=1)), False
    included = {block.at for block in blocks if block.level == PARAGRAPH}
    if included and chapters:
        own = sorted([*own, *blocks], key=lambda block: block.at)
    elif len(included) > 1:
        own, paged = blocks, True
    absent = [file.name for _, file in _find_included(lines, start, path) if not file.is_file()]
    if absent and all(block.level != PARAGRAPH for block in own):
        raise FileError(f"{shown(path)}: includes {shown(absent[0])}, which is not there, and has no words of its own")
    return Document(tuple(own), said.get("title", ""), author=said.get("author", ""), paged=paged)


def _tex_blocks(lines: list[str], at: int) -> Iterator[TextBlock]:
    """What lines that stand together say: headings and walls have lines of their own."""
    said: list[str] = []
    for number, line in enumerate([*lines, "\\maketitle"], start=at):
        head, wall = _TEX_HEAD.match(line), _TEX_WALL.match(line)
        if head or wall:
            plain = _plain_tex(said)
            if plain:
                yield TextBlock(PARAGRAPH, plain, at=number - len(said))
            said = []
        if head:
            yield TextBlock(_TEX_HEADS.index(head[1]) + 1, _plain_tex([head[2]]), at=number)
        elif wall and number < at + len(lines):
            yield TextBlock(SEPARATOR, "", line, number, wall=True)
        elif not wall:
            said.append(line)


def included_files(text: str, path: str) -> list[str]:
    """The files that a LaTeX file includes, of those that are there."""
    return [str(file) for _, file in _find_included(text.split("\n"), 0, path) if file.is_file()]


def find_main(folder: str) -> str:
    """The file of a LaTeX project that includes the others, the first that does; "" where two include other ones."""
    found: dict[frozenset[str], str] = {}
    for file in map(str, sorted(Path(folder).glob("*.tex"))):
        with suppress(FileError):
            found.setdefault(frozenset(included_files(decode(read_bytes(file), file)[0], file)), file)
    mains = [file for included, file in found.items() if len(included) > 1]
    return mains[0] if len(mains) == 1 else ""


def _find_included(lines: list[str], start: int, path: str) -> Iterator[tuple[int, Path]]:
    """The line in which a LaTeX file includes another, below its own folder, and that."""
    for at, line in enumerate(lines[start:] if path else (), start=start):
        found = _TEX_PART.match(line)
        name = posixpath.normpath(found[1].strip()) if found else "/"
        if not name.startswith(("/", "..")):
            yield at, Path(path).parent / (name if name.endswith(".tex") else f"{name}.tex")


def _included_blocks(lines: list[str], start: int, path: str, level: int) -> list[TextBlock]:
    """What the files say that a LaTeX file includes, each in its line: below its name where it has no heading."""
    blocks: list[TextBlock] = []
    named = list(_find_included(lines, start, path))
    if len(named) > _MOST_PARTS:
        raise FileError(f"{shown(path)}: includes {len(named):,} files, too many for one text")
    left = documents.MOST
    for at, file in named:
        data = b""
        with suppress(FileError):
            data = read_bytes(str(file))
        left -= len(data)
        if left < 0:
            raise FileError(f"{shown(path)}: includes more than {documents.MOST // 10**6} MB, too long for one text")
        part = tex_document(decode(data, str(file))[0])
        own = [replace(block, at=at) for block in part.blocks if block.level != SEPARATOR]
        if not own or own[0].level == PARAGRAPH:
            own.insert(0, TextBlock(level, file.stem, at=at))
        blocks += [TextBlock(SEPARATOR, "", at=at), *own, TextBlock(SEPARATOR, "", at=at + 1)]  # this line alone
    return blocks


# Scrivener: a folder whose binder, in one XML file, says which texts there are, and in which order.


def _read_binder(path: str) -> tuple[Path, bytes, Element, Element]:
    """The file of the binder, its content, and the element whose children are the parts of the draft."""
    found = sorted(Path(path).glob("*.scrivx"))
    if not found:
        raise FileError(f"{shown(path)}: is no Scrivener project (no .scrivx file is in it)")
    data = read_bytes(str(found[0]))
    root = parse_xml(data, str(found[0]))
    draft = next((one for one in root.iter("BinderItem") if one.get("Type") == "DraftFolder"), None)
    inner = None if draft is None else draft.find("Children")
    while inner is not None and len(inner) == 1 and len(inner[0].findall("Children/BinderItem")) > 0:
        inner = inner[0].find("Children")
    if inner is None:
        raise FileError(f"{shown(path)}: its draft is empty")
    return found[0], data, root, inner


def _read_scrivener(path: str) -> Document:
    _, _, _, inner = _read_binder(path)
    blocks: list[TextBlock] = []
    left, seen = documents.MOST, set[tuple[str | None, str | None]]()
    for at, item in enumerate(inner, start=1):
        blocks.append(TextBlock(1, item.findtext("Title") or f"Part {at}", at=at))
        for one in item.iter("BinderItem") if item.findtext("MetaData/IncludeInCompile") != "No" else ():
            called = (one.get("UUID"), one.get("ID"))
            said: Sequence[TextBlock] = ()
            if called not in seen:  # a text has one place, in either of those where versions keep it
                places = (f"Data/{one.get('UUID')}/content", f"Docs/{one.get('ID')}")
                names = [name for name in places if re.fullmatch(r"[\w/-]+", name)]
                files = (Path(path, "Files", f"{name}{ending}") for name in names for ending in (".rtf", ".txt"))
                file = next(filter(Path.is_file, files), None)
                said = read_other(str(file)).blocks if file else ()
            seen.add(called)
            left -= sum(len(block.text) for block in said)
            if left < 0:
                raise FileError(f"{shown(path)}: holds more than {documents.MOST // 10**6} MB, too long for one text")
            blocks += [replace(block, level=min(block.level, PARAGRAPH), at=at) for block in said]
    return Document(tuple(blocks), name=Path(path).stem, paged=True)


def _cut_scrivener(path: str) -> Body:
    _, data, root, inner = _read_binder(path)
    pieces = cut_elements(data, "Children", list(root.iter("Children")).index(inner))
    return Body(pieces, idle=frozenset((len(pieces) - 1,)))


def find_binder(path: str) -> str:
    """The name of the file that holds the binder of a Scrivener project."""
    return _read_binder(path)[0].name


_LINES: Mapping[str, Callable[[str, str], Document]] = {
    ".fountain": fountain_document,
    ".rst": rst_document,
    ".srt": srt_document,
    ".tex": tex_document,
    ".txt": lambda text, path: Document((TextBlock(PARAGRAPH, text.strip()),)),
}
_WHOLE: Mapping[str, tuple[Callable[[str], Document], Callable[[str], Body]]] = {
    ".pptx": (lambda path: read_packed(path, _read_slides), _cut_slides),
    ".rtf": (_read_rtf, _cut_rtf),
    ".scriv": (_read_scrivener, _cut_scrivener),
}
