"""Sheets that say when each track begins: cue sheets, and timing sheets as pressing plants want them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from fabula.core.collection import Collection, Item
from fabula.core.files import write_whole
from fabula.errors import InputError
from fabula.media.facts import as_clock

_KINDS = {".wav": "WAVE", ".wave": "WAVE", ".aif": "AIFF", ".aiff": "AIFF", ".mp3": "MP3"}
_FRAMES = 75  # of a second, as a CD counts


@dataclass(frozen=True)
class Cue:
    """One track of a sheet: its side and its number there, both from 0, and when it begins on that side, in seconds."""

    side: int
    number: int
    item: Item
    begins: float


def cues(collection: Collection, sides: Sequence[int], gap: float) -> list[Cue]:
    """When each track begins: each side from 0, with a gap between two tracks and none around a side.

    >>> two = Collection("c", tuple(Item(name, length=60.0) for name in "abc"))
    >>> [(cue.side, cue.begins) for cue in cues(two, (2, 1), 2.0)]
    [(0, 0.0), (0, 62.0), (1, 0.0)]
    """
    unknown = next((item for item in collection.items if item.length is None), None)
    if unknown is not None:
        raise InputError(f"the length of {unknown.label!r} is not known: a sheet cannot say when the next one begins")
    found: list[Cue] = []
    start = 0
    for side, size in enumerate(sides or (len(collection),)):
        items = collection.items[start : start + size]
        begins = accumulate(((item.length or 0.0) + gap for item in items), initial=0.0)
        found += [Cue(side, k, item, when) for k, (item, when) in enumerate(zip(items, begins, strict=False))]
        start += size
    return found


def write_cue(collection: Collection, target: Path, sides: Sequence[int], gap: float) -> Path:
    """Write a cue sheet: a FILE for every track, the gap before it as PREGAP, sides as remarks.

    A CD has 99 tracks at most; numbers go on to 99 and then begin again, with the next side or not.
    """
    lines: list[str] = []
    if collection.title:
        lines.append(f"TITLE {_quote(collection.title)}")
    number = 0
    for cue in cues(collection, sides, gap):
        number = 1 if number == 99 else number + 1
        if sides and cue.number == 0:
            lines.append(f"REM SIDE {_letter(cue.side)}")
        lines += _track(cue, number, gap)
    return write_whole(target, "\r\n".join(lines) + "\r\n")


def _track(cue: Cue, number: int, gap: float) -> Iterator[str]:
    place = cue.item.path or cue.item.id
    yield f"FILE {_quote(place)} {_KINDS.get(Path(place).suffix.lower(), 'WAVE')}"
    yield f"  TRACK {number:02d} AUDIO"
    yield f"    TITLE {_quote(cue.item.label)}"
    if cue.item.artist:
        yield f"    PERFORMER {_quote(cue.item.artist)}"
    if gap > 0 and cue.number:
        yield f"    PREGAP {_msf(gap)}"
    yield "    INDEX 01 00:00:00"


def write_timing(collection: Collection, target: Path, sides: Sequence[int], gap: float) -> Path:
    """Write a timing sheet as text: of every side each track's begin and length, and how long it is with its gaps."""
    found = cues(collection, sides, gap)
    lines = [collection.title or "Timing", f"gap between tracks: {gap:g} s", ""]
    for side in range(len(sides) or 1):
        here = [cue for cue in found if cue.side == side]
        whole = here[-1].begins + (here[-1].item.length or 0.0)
        lines.append(f"Side {_letter(side)}, {as_clock(whole, digits=1)}" if sides else f"in all {as_clock(whole)}")
        lines += [_time_line(cue, sided=bool(sides)) for cue in here] + [""]
    return write_whole(target, "\n".join(lines))


def _time_line(cue: Cue, *, sided: bool) -> str:
    label = f"{_letter(cue.side) if sided else ''}{cue.number + 1}"
    made = f"{cue.item.artist} - " if cue.item.artist else ""
    length = as_clock(cue.item.length or 0.0, digits=1)
    return f"{label:>4}  {as_clock(cue.begins, digits=1):>9}  {length:>8}  {_one_line(made + cue.item.label)}"


def _letter(side: int) -> str:
    return chr(ord("A") + side % 26)


def _msf(seconds: float) -> str:
    """Minutes, seconds and frames, as a cue sheet has them."""
    frames = round(seconds * _FRAMES)
    return f"{frames // (60 * _FRAMES):02d}:{frames // _FRAMES % 60:02d}:{frames % _FRAMES:02d}"


def _quote(text: str) -> str:
    """A text in quotes; the format has no way to write a quote or a line break in it."""
    return '"' + _one_line(text).replace('"', "'") + '"'


def _one_line(text: str) -> str:
    return " ".join(text.split())
