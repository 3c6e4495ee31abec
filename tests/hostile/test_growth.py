"""Lists, decks, slides and rich texts made to be slow: eight times as much of them takes eight times as long."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fabula.errors import FabulaError
from fabula.media.text.passages import TEXT_ENDINGS, parse
from fabula.sources.playlists.playlist import read_playlist, write_playlist
from fabula.sources.playlists.tracklists import find_tracks
from tests.hostile.growth import check_growth, seconds
from tests.hostile.make import slides

BYTES, MOST, SECONDS = 150_000, 4_800_000, 2.5  # of the processor, on a busy machine
PLIST = "<plist><dict><key>Tracks</key><dict/><key>Playlists</key><array>{}</array></dict></plist>"
LISTED = "<dict><key>Name</key><string>x</string><key>Playlist Items</key><array>{}</dict>"
ITEM = "<dict><key>Track ID</key><integer>1</integer></dict>"
CRATE = "vrsn\0\0\0\0"


def repeat(piece: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    return lambda size: head + piece * (size // len(piece)) + tail


def number(piece: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    return lambda size: head + "".join(map(piece.format, range(size // (len(piece) + 3)))) + tail


def nest(start: str, end: str, head: str = "", inner: str = "") -> Callable[[int], str]:
    return lambda size: head + start * (size // len(start + end)) + inner + end * (size // len(start + end))


SHAPES: dict[str, Callable[[int], str | bytes]] = {
    "tabs.rtf": number("\\tx{} a\\par\n", "{{\\rtf1 "[1:]),
    "lines.rtf": repeat("\n", "{\\rtf1 a\\par"),
    "groups.rtf": repeat("{a\\par}", "{\\rtf1 "),
    "styles.rtf": repeat("{\\s1 ", "{\\rtf1 {\\stylesheet"),
    "shapes.pptx": lambda size: slides("<s:sp>" * (size // 13) + "</s:sp>" * (size // 13)),
    "lines.pptx": lambda size: slides("<s:sp>" + "<s:p>" * (size // 11) + "</s:p>" * (size // 11) + "</s:sp>"),
    "again.pptx": lambda size: slides("<s:sp><s:p><s:t>a</s:t></s:p></s:sp>", size // 38),
    "keys.fountain": repeat("A: b\n"),
    "spaces.fountain": repeat(" ", "INT. ", "#"),
    "marks.rst": repeat("a\n---\n\n"),
    "spaces.tex": repeat(" ", "\\section{a}", "x"),
    "closed.tex": repeat("}", "\\section{"),
    "labels.tex": repeat("\\section{a}\\label{"),
    "texts.srt": repeat("1\n00:00:01,000 --> 00:00:02,000\nx\n\n"),
    "letters.wpl": repeat("a", "<smil><media src='a'>", "</media></smil>"),
    "spaces.wpl": repeat(" ", "<smil><media src='a'/>", "<media src='b'/></smil>"),
    "open.wpl": repeat("<media ", "<smil>"),
    "named.wpl": number("a{}='' ", "<smil><media src='a' ", "/></smil>"),
    "tags.asx": number("<t{}>", "<asx><entry>", "</entry></asx>"),
    "comments.asx": repeat("<!--", "<asx>--><entry><ref href='a'/></entry>", "<entry><ref href='b'/></entry></asx>"),
    "arrays.xml": repeat(LISTED.format("</array >"), PLIST.partition("{}")[0], PLIST.partition("{}")[2]),
    "items.xml": lambda size: PLIST.format(LISTED.format(ITEM * (size // len(ITEM)) + "</array>")),
    "nodes.nml": nest("<NODE>", "</NODE>", "<NML><PLAYLISTS>"),
    "lists.nml": nest('<NODE TYPE="PLAYLIST">', "</NODE>", "<NML><PLAYLISTS>", '<ENTRY><PRIMARYKEY KEY="a"/></ENTRY>'),
    "open.nml": repeat('<a b="', "<NML "),
    "remarks.cue": repeat("REM a\n", 'FILE "a.wav" WAVE\nTRACK 01 AUDIO\n', "INDEX 01 00:00:00\n"),
    "spaces.cue": repeat(" ", "FILE"),
    "tracks.crate": repeat("otrk\0\0\0\x0aptrk\0\0\0\x02\0a", CRATE),
    "keys.jspf": repeat('"track":[],', '{"playlist":{', '"a":1}}'),
    "titles.pls": number("File{}=a\n", "[playlist]\n"),
    "times.txt": repeat("1:00 a - b\n"),
    "quotes.txt": repeat('"a' * 60 + "\n"),
}  # fmt: skip


def read(path: Path) -> None:
    """Read a file, and write it in another order where it is a list."""
    with contextlib.suppress(FabulaError):
        if path.suffix == ".txt":
            find_tracks(path.read_text())
        elif path.suffix in TEXT_ENDINGS:
            parse(str(path))
        else:
            playlist = read_playlist(path)
            turned = range(len(playlist.entries))[::-1]
            write_playlist(path.with_stem("b"), playlist, turned, comments={0: "Side A"})


def reading(name: str, folder: Path, size: int) -> Callable[[], None]:
    """To read so much of a shape."""
    made, path = SHAPES[name](size), folder / f"{size}{Path(name).suffix}"
    path.write_bytes(made if isinstance(made, bytes) else made.encode("latin-1"))
    return partial(read, path)


@pytest.mark.parametrize("name", SHAPES)
def test_each_is_read_in_time(name: str, tmp_path: Path) -> None:
    assert seconds(reading(name, tmp_path, BYTES)) < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_eight_times_as_much_takes_eight_times_as_long(name: str, tmp_path: Path) -> None:
    check_growth(partial(reading, name, tmp_path), BYTES // 4, MOST)
