"""Lists of tracks as people write and paste them, and labels of Audacity: one line a track.

A line may begin with a number, a side, a time or a mark; then come one name or two with a dash, a tab, a bar or "by"
between them; a length may stand behind. What a line is made of, and which of two names made the track, is told by the
whole list. Lines that are tracks are moved as they are; their numbers, where they have some, are written anew.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.core.files import FilePath, legible, read_text
from fabula.errors import FabulaError, FileError
from fabula.sources.playlists.entries import Comments, Entry, Playlist, PlaylistFormat, make_playlist
from fabula.sources.playlists.text_lines import each_line, line_end, one_line, read_clock, terminate

MOST = 1 << 20  # bytes of a list
_LONGEST = 200  # characters of a line that is a track
_CLOCK = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?"
_MARK = re.compile(r"\s*(?:[-*•·–—>+♪♫]\s+)?")
_NUMBER = re.compile(r"(?:track\s?|#)?(\d{1,4}|[A-Z]{1,2}\d{1,2})(?:\s?[.):\]-]\s*|\s+)(?=\S)", re.IGNORECASE)
_TIME = re.compile(rf"[\[(]?({_CLOCK})[\])]?\s*[-–—|:.]?\s*(?=\S)")
_BEHIND = re.compile(rf"({_CLOCK})\s+(?=\S)")  # a length behind a begin
_LENGTH = re.compile(rf"(?:\s[-–—|,;/])?\s*[\[(]?({_CLOCK})(?:\s?min\.?)?[\])]?")
_LABEL = re.compile(r"\s\[[^\[\]]{1,80}\]$")
_DASH = re.compile(r"\s+[-~|/]\s+|\s*[–—―]\s*|\s-(?=\S)|(?<=\S)-\s")
_SEPARATORS = (re.compile(r"\t+"), re.compile(r"\s?\|\s?"), _DASH, re.compile(r" {3,}"))
_BY = re.compile(r",?\s+(?:by|von|par|di|por)\s+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“„«‘](.{1,150}?)[\"”“»’]\s*[,–—-]?\s+(\S.*)")
_WORDS = "remix mix edit live version remaster remastered demo acoustic instrumental dub rework bootleg vip reprise"
_TITLES = re.compile(rf"\b(?:{'|'.join(_WORDS.split())})\b\s*[)\]]|^[\"“„«]|\b(?:pt\.?|part) ?\d", re.IGNORECASE)
_ARTISTS = re.compile(
    r"\b(?:feat|ft)\.? |\s(?:&|vs\.?)\s|^(?:the|dj|los) |\b(?:orchestra|quartet|band)\b", re.IGNORECASE
)
_COUNT = r"(?:[A-Za-z]|\d{1,2}|one|two|three|four)"
_SIDE = re.compile(
    rf"[-=#*\[\s]*(?:side|seite|face|cara|lato|disc|disk|cd|lp)\s?({_COUNT})[\]\s:=*#.-]*(?:,\s*{_CLOCK})?",
    re.IGNORECASE,
)
_AUDACITY = re.compile(r"(\d+(?:[.,]\d+)?)\t(\d+(?:[.,]\d+)?)\t(.*)")


@dataclass(frozen=True)
class TrackLine:
    """A line that is a track: which, counted from 0, where its number stands in it, and what is said in it."""

    line: int
    number: tuple[int, int] | None
    names: tuple[str, ...]  # one, or two
    begins: float | None = None  # in seconds
    length: float | None = None
    side: str = ""


@dataclass(frozen=True)
class Tracklist:
    """The lines of a text, those of them that are tracks, what stands before them, and whether artists stand first."""

    lines: tuple[str, ...]
    tracks: tuple[TrackLine, ...]
    title: str = ""
    by: bool = False  # whether "by" stands between title and artist


def find_tracks(text: str) -> Tracklist | None:
    """The tracks of a text that is a list of them; None where it is none.

    >>> found = find_tracks("My tape\\n1. Rain - The Band 3:45\\n2. Sun - The Band 4:05\\n3. Sea - Duo 2:10\\n")
    >>> [track.names for track in found.tracks], found.tracks[0].length, found.title
    ([('Rain', 'The Band'), ('Sun', 'The Band'), ('Sea', 'Duo')], 225.0, 'My tape')
    """
    lines = tuple(each_line(terminate(text)))
    labels = [(k, _AUDACITY.fullmatch(line.rstrip("\r\n"))) for k, line in enumerate(lines) if line.strip()]
    if labels and all(match for _, match in labels):
        return Tracklist(lines, tuple(_label(k, match) for k, match in labels if match))
    rows = [(k, legible(line).rstrip()) for k, line in enumerate(lines) if line.strip()]
    rows = [(k, row) for k, row in rows if not _SIDE.fullmatch(row.strip()) and any(map(str.isalnum, row))]
    short = [(k, row) for k, row in rows if len(row) <= _LONGEST]
    if len(short) < 2 or len(rows) > 2 * len(short):
        return None
    sides = _sides(lines)
    numbers = {k: match for k, row in short if (match := _NUMBER.match(row, _mark_end(row)))}
    counted = _count_on(numbers, short)
    starts = {k: numbers[k].end() if k in counted else _mark_end(row) for k, row in short}
    if counted:
        short = [(k, row) for k, row in short if k in counted]
    times = {k: match for k, row in short if (match := _TIME.match(row, starts[k]))}
    begun = len(times) == len(short)
    bodies = {k: row[times[k].end() if begun else starts[k] :] for k, row in short}
    plain = {k for k, match in times.items() if match[0].rstrip()[-1].isdigit()}  # a dash would make it an end
    lengths = {k: match for k in plain if begun and (match := _BEHIND.match(bodies[k]))}
    if lengths and len(lengths) == len(bodies):  # as a timing sheet has them: begin, length, name
        bodies = {k: body[lengths[k].end() :] for k, body in bodies.items()}
    else:
        lengths = {k: match for k, body in bodies.items() if (match := _find_length(body))}
        bodies = {k: body[: lengths[k].start()].rstrip() if k in lengths else body for k, body in bodies.items()}
    separator = _find_separator(list(bodies.values()))
    tracks = []
    for k, body in bodies.items():
        if (names := _split(body, separator)) and any(map(str.isalnum, names[0])):
            number = numbers[k].span(1) if k in counted else None
            length = read_clock(lengths[k][1]) if k in lengths else None
            tracks.append(TrackLine(k, number, names, read_clock(times[k][1]) if begun else None, length, sides[k]))
    timed = begun or 4 * len(lengths) >= 3 * len(short)
    if not _is_list(tracks, [row for _, row in rows], counted=bool(counted), timed=timed):
        return None
    first = next((row.strip(" :#*=-") for k, row in rows if k < tracks[0].line), "")
    if not counted:  # lines that have not what nearly all others have are no tracks
        tracks = [track for track in tracks if timed is False or begun or track.line in lengths]
    return Tracklist(lines, tuple(tracks), first, separator is _BY)


def _label(line: int, said: re.Match[str]) -> TrackLine:
    """A label as Audacity writes it: from, to, what."""
    start, stop = (float(text.replace(",", ".")) for text in (said[1], said[2]))
    return TrackLine(line, None, (said[3].strip() or f"label {line + 1}",), start, max(0.0, stop - start) or None)


def _mark_end(row: str) -> int:
    """Where the mark at the beginning of a line ends."""
    match = _MARK.match(row)
    return match.end() if match else 0


def _sides(lines: Sequence[str]) -> list[str]:
    """The side on which each line stands, as headings among them say it."""
    found, side = [], ""
    for line in lines:
        match = _SIDE.fullmatch(line.strip())
        side = match[1].upper() if match else side
        found.append(side)
    return found


def _count_on(numbers: dict[int, re.Match[str]], rows: Sequence[tuple[int, str]]) -> set[int]:
    """The lines that are numbered, where nearly all are and each number follows the one before, or begins anew."""
    if len(numbers) < 2 or 2 * len(numbers) < len(rows):
        return set()
    counts = [int(re.sub(r"\D", "", match[1])) for match in numbers.values()]
    follows = sum(b in (a + 1, 1, 0) for a, b in pairwise(counts))
    return set(numbers) if counts[0] <= 1 and 10 * follows >= 9 * (len(counts) - 1) else set()


def _find_length(body: str) -> re.Match[str] | None:
    """The length at the end of a line."""
    at = max(0, len(body) - 24)
    found = None
    for match in _LENGTH.finditer(body, at):
        found = match if match.end() == len(body.rstrip()) and match.start() else found
    return found


def _find_separator(bodies: Sequence[str]) -> re.Pattern[str] | None:
    """What nearly all lines have between their names."""
    for separator in (*_SEPARATORS, _BY):
        if sum(bool(separator.search(body.strip())) for body in bodies) >= 0.8 * len(bodies):
            return separator
    return None


def _split(body: str, separator: re.Pattern[str] | None) -> tuple[str, ...]:
    """One name, or two."""
    bare = body.strip()
    label = _LABEL.search(bare)
    if label and separator is not None and not _TITLES.search(label[0]):
        bare = bare[: label.start()]
    quoted = _QUOTED.fullmatch(bare)
    if quoted:
        return quoted[1].strip(), re.sub(r"^(?:by|von|par|di|por)\s+", "", quoted[2]).strip()
    parts = [bare] if separator is None else separator.split(bare)
    if separator is _SEPARATORS[0]:  # of a table that was pasted: cells that are times are no names
        parts = [part for part in parts if not read_clock(part)][:2]
    elif separator is _BY and len(parts) > 2:  # Stand by Me by Ben E. King
        parts = [bare[: -len(parts[-1])].rstrip()[:-3].rstrip(" ,"), parts[-1]]
    elif separator is not None and len(parts) > 2:
        parts = [parts[0], bare[len(parts[0]) :].lstrip(" -–—―~|/\t")]
    return tuple(part for part in (one.strip().strip('"“”„«»') for one in parts) if part)


def _is_list(tracks: Sequence[TrackLine], rows: Sequence[str], *, counted: bool, timed: bool) -> bool:
    """Whether lines are tracks: nearly all are, and numbers, times or two names each say so; sentences are none."""
    n = len(tracks)
    if n < 2 or len(rows) - n > max(3, n // 3):
        return False
    prose = sum(row.endswith((".", ";", ",")) or len(row) > 120 for row in rows)
    paired = sum(len(track.names) == 2 for track in tracks)
    return 3 * prose <= len(rows) and (counted or timed or (n > 2 and paired == n))


def artists_first(found: Tracklist) -> bool | None:
    """Whether the first of two names made the track; None where a list does not say.

    Who made several tracks has a name that comes again; remixes and parts are of titles, guests of artists.

    >>> artists_first(find_tracks("Can - Spoon\\nCan - Halleluwah\\nNeu! - Hero\\n"))
    True
    >>> artists_first(find_tracks("1. Spoon by Can\\n2. Hero by Neu!\\n"))
    False
    """
    if found.by:
        return False
    pairs = [track.names for track in found.tracks if len(track.names) == 2]
    first, second = (len({names[k].casefold() for names in pairs}) for k in (0, 1))
    signs = [sum(bool(_TITLES.search(p[k])) - bool(_ARTISTS.search(p[k])) for p in pairs) for k in (0, 1)]
    votes = 2 * (second - first) + signs[1] - signs[0]
    return None if not votes else votes > 0


def _tracks_of(text: str, path: FilePath) -> Tracklist:
    found = find_tracks(text)
    if found is None:
        raise FileError(f"{path}: is not a list of tracks, one a line")
    return found


def read_tracklist(path: FilePath, which: str | None = None) -> Playlist:
    """Read a list of tracks; ``which`` of two names is the artist's, ``"first"`` or ``"second"``, where it is known."""
    text, script = read_text(path, "a list of tracks", most=MOST)
    found = _tracks_of(text, path)
    told = artists_first(found)
    begins = [track.begins for track in found.tracks if track.begins is not None]
    lengths = [track.length for track in found.tracks]
    if not any(length is not None for length in lengths) and len(begins) == len(lengths):
        steps = [b - a for a, b in pairwise(begins)]  # where times rise tracks begin at them, else they are lengths
        lengths = [*steps, None] if all(step > 0 for step in steps) else list(begins)
    if told is None:  # lists with lengths are mostly "Title - Artist", all others "Artist - Title"
        told = all(track.length is None for track in found.tracks)
    first = told if which is None else which == "first"
    entries = []
    for track, length in zip(found.tracks, lengths, strict=True):
        title, artist = (*track.names, "")[:2]
        title, artist = (artist, title) if first and artist else (title, artist)
        details = {"side": track.side} if track.side else {}
        entries.append(Entry("", title, artist, length, details, (str(track.line), "", "")))
    return make_playlist(path, "tracklist", entries, title=found.title, text=text, script=script)


def describe_reading(playlist: Playlist) -> str:
    """How two names were read, where a list does not say which of them made the track; "" where it does."""
    found = _tracks_of(playlist.text, playlist.title)
    if artists_first(found) is not None or not any(entry.artist for entry in playlist.entries):
        return ""
    artist = next(entry.artist for entry in playlist.entries if entry.artist)
    first = any(track.names[0] == artist for track in found.tracks)
    read, other = ("Artist - Title", "second") if first else ("Title - Artist", "first")
    return f"the list is read as {read!r}; the other way round: --columns artist={other}"


def write_tracklist(playlist: Playlist, comments: Comments | None = None) -> str:
    """The list that was read with its tracks in another order, numbered anew; all other lines stay where they are."""
    said = {position: one_line(text) for position, text in (comments or {}).items()}
    found = _tracks_of(playlist.text, playlist.title)
    rows = {id(entry): row for row, entry in enumerate(playlist.read)}
    lines = [line if comments is None or not _SIDE.fullmatch(line.strip()) else "" for line in found.lines]
    end = line_end(playlist.text)
    for position, (old, entry) in enumerate(zip(found.tracks, playlist.entries, strict=True)):
        new = found.tracks[rows[id(entry)]]
        text = found.lines[new.line].rstrip("\r\n")
        if old.number and new.number:
            spelled = found.lines[old.line][slice(*old.number)]
            text = text[: new.number[0]] + spelled + text[new.number[1] :]
        lines[old.line] = (said[position] + end if position in said else "") + text + end
    return "".join(lines)


def is_tracklist(path: str) -> bool:
    """Whether a text is a list of tracks."""
    try:
        return find_tracks(read_text(path, "a list of tracks", most=MOST)[0]) is not None
    except FabulaError:
        return False


FORMAT = PlaylistFormat("tracklist", (".txt",), read_tracklist, write_tracklist, one_line)
