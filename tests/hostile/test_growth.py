"""Lists, decks, slides and rich texts made to be slow: twice as much of them takes twice as long, and no longer."""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.errors import FabulaError
from fabula.media.text.passages import TEXT_ENDINGS, parse
from fabula.sources.playlists.playlist import read_playlist, write_playlist
from fabula.sources.playlists.tracklists import find_tracks
from tests.hostile.make import slides

BYTES, SECONDS = 150_000, 2.5  # of the processor, on a busy machine
GROWS, LEAST, TRIES = 2.6, 0.1, 6  # times as long for twice as much; seconds below which it is noise
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


def seconds(name: str, size: int, folder: Path) -> float:
    """The time of the processor to read so much of a shape."""
    made, path = SHAPES[name](size), folder / f"a{Path(name).suffix}"
    path.write_bytes(made if isinstance(made, bytes) else made.encode("latin-1"))
    gc.disable()  # it comes when it likes
    try:
        start = time.process_time()
        read(path)
        return time.process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("name", SHAPES)
def test_each_is_read_in_time(name: str, tmp_path: Path) -> None:
    assert seconds(name, BYTES, tmp_path) < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_twice_as_much_takes_twice_as_long(name: str, tmp_path: Path) -> None:
    size, times = BYTES, [math.inf, 0.0]
    while times[1] < LEAST and size < 2_000_000:  # until it can be measured
        size *= 2
        times = [math.inf, math.inf]
        for _ in range(TRIES):  # beside other work one may be slow; what grows too fast is so in all
            times = [min(best, seconds(name, n, tmp_path)) for best, n in zip(times, (size, 2 * size), strict=True)]
            if times[1] < max(GROWS * times[0], LEAST):
                break
    assert times[1] < max(GROWS * times[0], LEAST), times
