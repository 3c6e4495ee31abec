"""Tags: what files say of themselves, covers and sheets beside them, and what is written into copies."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fabula.core.collection import Collection, Item
from fabula.core.files import open_file, write_whole
from fabula.errors import FileError, InputError, import_extra, shown
from fabula.media.children import shield
from fabula.media.facts import as_clock, begin_times, side_name
from fabula.media.medium import column
from fabula.media.music.tracks import track_gains

# What the tags of an audio file say of it: title, artist, album, number, tempo, key, gain. Nothing is decoded.

_ENDINGS = """
    .wav .wave .flac .ogg .oga .opus .mp3 .mp2 .aif .aiff .aifc .au .caf .w64
    .m4a .m4b .aac .mp4 .wma .ape .wv .mpc .tta .ac3 .mka .webm
"""
_COMPANIONS = """
    .jpg .jpeg .png .gif .webp .bmp .cue .log .txt .nfo .md .pdf .sfv .md5
    .json .xml .html .url .ini .db .lrc .accurip .csv
"""
AUDIO_ENDINGS = frozenset(_ENDINGS.split())
COMPANION_ENDINGS = frozenset(_COMPANIONS.split())  # of what stands beside the music and is not worth a word

_WHEEL = re.compile(r"0?(1[0-2]|[1-9])\s*([ABDM])", re.IGNORECASE)
_NOTE = re.compile(r"([A-G])\s*([#♯b♭]|sharp|flat)?[\s-]*(m|min|minor|maj|major|moll|dur)?", re.IGNORECASE)
_STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
_ACCIDENTALS = {"": 0, "#": 1, "♯": 1, "s": 1, "b": -1, "♭": -1, "f": -1}
_GAIN = ("replaygain_track_gain", "replaygain track gain")
_RECORDING = ("musicbrainz_trackid", "musicbrainz track id", "musicbrainz recording id")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_GAIN = 60.0  # dB; a tag beyond is a mistake
_SLOWEST, _FASTEST = 20.0, 400.0  # beats per minute; a tag outside is a mistake


def read_item(path: str | os.PathLike[str]) -> Item:
    """The item of an audio file, from its tags where it has any.

    ``details`` has album, track, disc, isrc, composer, duration_ms, tempo in beats per minute, key (0 for C to 11 for
    B), mode (1 for major, 0 for minor), replaygain in dB and musicbrainz (the recording's id), as far as they are said.
    """
    item: Item = shield(_item_of, os.fspath(path))
    return item


def _item_of(file: str) -> Item:
    tags = _tags(file)
    artist, title = tags.pop("artist", ""), tags.pop("title", "") or shown(Path(file).stem)
    return Item(id=file, title=title, path=file, artist=artist, details=MappingProxyType(tags))


def track_number(item: Item) -> tuple[float, float] | None:
    """Disc and track number of an item; None where its tags give no track number."""
    track = item.details.get("track")
    return (float(item.details.get("disc") or 1), float(track)) if track else None


def key_and_mode(text: str) -> tuple[int, int] | None:
    """Key (0 for C to 11 for B) and mode (1 major, 0 minor) of a key tag; None when it names no key.

    Notes (``Am``, ``F# minor``, ``Ebmaj``), Camelot (``8A`` is A minor) and Open Key (``1m`` is A minor) are known.

    >>> [key_and_mode(text) for text in ("C", "F#m", "B♭ minor", "8A", "8B", "1m", "12d", "o")]
    [(0, 1), (6, 0), (10, 0), (9, 0), (0, 1), (9, 0), (5, 1), None]
    """
    for part in re.split(r"[/|,;()]|\s-\s", text):
        wheel, note = _WHEEL.fullmatch(part.strip()), _NOTE.fullmatch(part.strip())
        if wheel:  # Camelot's A and B, Open Key's m and d: each hour is a fifth above the one before
            side = wheel[2].upper()
            hour = int(wheel[1]) - (8 if side in "AB" else 1)  # from where C major and A minor stand
            return ((0 if side in "BD" else 9) + 7 * hour) % 12, int(side in "BD")
        if note:
            minor = note[3] == "m" or (note[3] or "").lower() in ("min", "minor", "moll")
            accidental = _ACCIDENTALS[(note[2] or "")[:1].lower()]
            return (_STEPS[note[1].upper()] + accidental) % 12, 0 if minor else 1
    return None


def _tags(file: str) -> dict[str, Any]:
    import tinytag

    try:
        with open_file(file) as opened:
            tag = tinytag.TinyTag.get(file, file_obj=opened)
    except Exception:  # whatever a broken file does to the reader of tags, it only means that there are none
        return {}
    said = {
        "title": tag.title, "artist": tag.artist or tag.albumartist, "album": tag.album, "track": tag.track,
        "disc": tag.disc, "duration_ms": 1000 * (tag.duration or 0), "isrc": _other(tag, "isrc"),
        "composer": tag.composer,
    }  # fmt: skip
    found: dict[str, Any] = {  # some writers leave zeros and line ends in texts
        name: shown(_one_line(value.replace("\0", " "))) if isinstance(value, str) else value
        for name, value in said.items()
        if value
    }
    with suppress(ValueError):
        beats = float(_other(tag, "bpm").replace(",", "."))
        found |= {"tempo": beats} if _SLOWEST <= beats <= _FASTEST else {}
    key = key_and_mode(_other(tag, "initial_key"))
    found |= {"key": key[0], "mode": key[1]} if key else {}
    opus = _other(tag, "r128_track_gain")  # 1/256 dB to -23 LUFS
    for text in (f"{int(opus) / 256 + 5:.2f}" if re.fullmatch(r"[-+]?\d+", opus) else "", _other(tag, *_GAIN)):
        gain = re.fullmatch(r"([-+]?\d+(?:[.,]\d+)?)\s*(?:dB)?", text, re.IGNORECASE)
        decibels = float(gain[1].replace(",", ".")) if gain else math.nan
        found |= {"replaygain": decibels} if abs(decibels) <= _MOST_GAIN else {}
    recording = _other(tag, *_RECORDING)
    return found | ({"musicbrainz": recording.lower()} if _UUID.fullmatch(recording) else {})


def _other(tag: Any, *names: str) -> str:
    """The first value of the first field there that tinytag keeps under a name of its own, or ""."""
    fields = getattr(tag, "other", None) or {}
    values = next((fields[name] for name in names if fields.get(name)), [""])
    return str(values[0]).replace("\0", " ").strip()


# Writing track and disc numbers and ReplayGain into files, with mutagen (extra ``tags``).

_ID3_KEYS = {"tracknumber": "TRCK", "discnumber": "TPOS"}
_APE_KEYS = {"tracknumber": "Track", "discnumber": "Disc"}
_ASF_KEYS = {"tracknumber": "WM/TrackNumber", "discnumber": "WM/PartOfSet"}


def write_numbers(path: Path, track: tuple[int, int], disc: tuple[int, int] | None) -> None:
    """Write the number of a track, and of its disc or side where there are several: which, and of how many.

    Nothing else changes. A FileError where the file has no tags that can be written.
    """
    numbers = {"tracknumber": track} | ({} if disc is None else {"discnumber": disc})
    with _open_tags(path, easy=True) as file:
        for name, (number, of) in numbers.items():
            _set(file, name, number, of)


def write_gain(path: Path, index: int, collection: Collection) -> None:
    """Write the ReplayGain 2.0 of a track into a file: gain to -18 LUFS and peak; nothing else changes."""
    peak = 10 ** (float(column(collection, "true_peak")[index]) / 20)
    with _open_tags(path, easy=False) as file:
        _set_own(file, "REPLAYGAIN_TRACK_GAIN", f"{track_gains(collection)[0][index]:.2f} dB")
        _set_own(file, "REPLAYGAIN_TRACK_PEAK", f"{peak:.6f}")


@contextmanager
def _open_tags(path: Path, *, easy: bool) -> Iterator[Any]:
    """The tags of a file, which are saved in the end."""
    mutagen = import_extra("mutagen", extra="tags", purpose="writing tags into files")
    try:
        file = mutagen.File(path, easy=easy)
        if file is None:
            raise FileError(f"{shown(path)}: has no tags that can be written")
        if file.tags is None:
            file.add_tags()
        yield file
        file.save()
    except (mutagen.MutagenError, OSError) as error:
        raise FileError(f"{shown(path)}: its tags cannot be written ({shown(str(error))})") from error


def _set_own(file: Any, name: str, text: str) -> None:
    """A field of our own naming, as each format keeps such."""
    kind = type(file.tags).__name__
    if "ID3" in kind:
        frames = import_extra("mutagen.id3", extra="tags", purpose="writing tags into files")
        file.tags.setall(f"TXXX:{name}", [frames.TXXX(encoding=3, desc=name, text=[text])])
    elif "MP4" in kind:
        file.tags[f"----:com.apple.iTunes:{name}"] = [text.encode()]
    else:
        if type(file).__name__ == "OggOpus" and name.endswith("_GAIN"):
            # Opus players take R128_TRACK_GAIN: 1/256 dB to -23 LUFS.
            file.tags["R128_TRACK_GAIN"] = [str(round((float(text.split()[0]) - 5.0) * 256))]
        file.tags[name] = [text]


def _set(file: Any, name: str, number: int, of: int) -> None:
    """One number: as its own field where the format has one for the total, else as 3/12."""
    kind = type(file.tags).__name__
    if kind in ("ID3", "_WaveID3", "_IFFID3"):  # WAV and AIFF have ID3 tags without simple names
        frames = import_extra("mutagen.id3", extra="tags", purpose="writing track numbers into files")
        frame = getattr(frames, _ID3_KEYS[name])
        file.tags.setall(_ID3_KEYS[name], [frame(encoding=3, text=[f"{number}/{of}"])])
    elif "VC" in kind:  # comments of Vorbis, in Ogg and FLAC
        file.tags[name] = [str(number)]
        file.tags[name.replace("number", "total")] = [str(of)]
    elif kind == "ASFTags":  # WMA, whose tracks have no total
        file.tags[_ASF_KEYS[name]] = [str(number) if name == "tracknumber" else f"{number}/{of}"]
    elif kind == "APEv2":
        file.tags[_APE_KEYS[name]] = [f"{number}/{of}"]
    else:
        file.tags[name] = [f"{number}/{of}"]


# Sheets that say when each track begins: cue sheets, and timing sheets as pressing plants want them.

_KINDS = {".wav": "WAVE", ".wave": "WAVE", ".aif": "AIFF", ".aiff": "AIFF", ".mp3": "MP3"}
CD_TEXTS = ("isrc", "songwriter", "composer", "arranger", "message")  # of a track, and who is paid
FRAMES = 75  # of a second, as a CD counts
_ISRC = re.compile(r"[A-Z]{2}-?[A-Z0-9]{3}-?\d\d-?\d{5}")


@dataclass(frozen=True)
class Cue:
    """One track of a sheet: its side and number there, both from 0, when it begins on that side, and its seconds."""

    side: int
    number: int
    item: Item
    begins: float
    length: float


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
        lengths = [item.length or 0.0 for item in items]
        rows = zip(items, begin_times(lengths, gap), lengths, strict=True)
        found += [Cue(side, number, *row) for number, row in enumerate(rows)]
        start += size
    return found


def write_cue(collection: Collection, target: Path, sides: Sequence[int], gap: float) -> Path:
    """Write a cue sheet: a FILE for every track, the gap before it as PREGAP, sides as remarks.

    A CD has 99 tracks at most; numbers go on to 99 and then begin again, with the next side or not.
    """
    lines = [f"TITLE {quote_text(collection.title)}"] if collection.title else []
    for index, cue in enumerate(cues(collection, sides, gap)):
        if sides and cue.number == 0:
            lines.append(f"REM SIDE {side_name(cue.side)}")
        lines += track_lines(cue.item, index % 99 + 1, pause=gap if cue.number else 0.0)
    return write_whole(target, "\r\n".join(lines) + "\r\n")


def track_lines(item: Item, number: int, *, begins: float = 0.0, pause: float = 0.0) -> Iterator[str]:
    """The lines of a track of a cue sheet, with its ISRC and CD-Text, and the pause before it, in seconds."""
    place = item.path or (item.id if Path(item.id).suffix else f"{item.label}.wav")
    yield f"FILE {quote_text(place)} {_KINDS.get(Path(place).suffix.lower(), 'WAVE')}"
    yield f"  TRACK {number:02d} AUDIO"
    yield f"    TITLE {quote_text(item.label)}"
    if item.artist:
        yield f"    PERFORMER {quote_text(item.artist)}"
    for name, text in _cd_texts(item).items():
        yield f"    {name.upper()} {text if name == 'isrc' else quote_text(text)}"
    if pause > 0:
        yield f"    PREGAP {clock_frames(pause)}"
    yield f"    INDEX 01 {clock_frames(begins)}"


def _cd_texts(item: Item) -> dict[str, str]:
    """The ISRC and CD-Text of a track, under any heading's case; the ISRC may be what it is known by."""
    said = {name.lower(): str(value).strip() for name, value in item.details.items()}
    said |= {"isrc": item.id} if not said.get("isrc") and _ISRC.fullmatch(item.id) else {}
    return {name: said[name] for name in CD_TEXTS if said.get(name)}


def write_labels(collection: Collection, target: Path, sides: Sequence[int], gap: float) -> Path:
    """Write labels of Audacity: of every track when it begins and ends, one side behind the other, and its name."""
    lines, start, ends = [], 0.0, 0.0
    for cue in cues(collection, sides, gap):
        start = start if cue.number else ends
        begins = start + cue.begins
        ends = begins + cue.length
        lines.append(f"{begins:.6f}\t{ends:.6f}\t{_one_line(cue.item.label)}\n")
    return write_whole(target, "".join(lines))


def write_times(collection: Collection, target: Path, sides: Sequence[int], gap: float) -> Path:
    """Write when each track begins as a plant has it, like the table of contents of a DDP: tabs, frames of a CD, ISRC.

    Columns: side, track, begin and length in minutes, seconds and frames (75 a second), ISRC, title, artist.
    """
    lines = ["SIDE\tTRK\tINDEX 1\tLENGTH\tISRC\tTITLE\tPERFORMER\n"]
    for cue in cues(collection, sides, gap):
        times = map(clock_frames, (cue.begins, cue.length))
        said = (_cd_texts(cue.item).get("isrc", ""), cue.item.label, cue.item.artist)
        row = (side_name(cue.side), f"{cue.number + 1:02d}", *times, *map(_one_line, said))
        lines.append("\t".join(row) + "\n")
    return write_whole(target, "".join(lines))


def write_timing(collection: Collection, target: Path, sides: Sequence[int], gap: float) -> Path:
    """Write a timing sheet as text: of every side each track's begin and length, and how long it is with its gaps."""
    found = cues(collection, sides, gap)
    between = f"overlap of tracks: {-gap:g} s" if gap < 0 else f"gap between tracks: {gap:g} s"
    lines = [collection.title or "Timing", between, ""]
    for side in range(len(sides) or 1):
        here = [cue for cue in found if cue.side == side]
        whole = max(cue.begins + cue.length for cue in here)
        lines.append(f"Side {side_name(side)}, {as_clock(whole, digits=1)}" if sides else f"in all {as_clock(whole)}")
        for cue in here:
            label = f"{side_name(side) if sides else ''}{cue.number + 1}"
            begins, length = as_clock(cue.begins, digits=1), as_clock(cue.length, digits=1)
            made = f"{cue.item.artist} - " if cue.item.artist else ""
            lines.append(f"{label:>4}  {begins:>9}  {length:>8}  {_one_line(made + cue.item.label)}")
        lines.append("")
    return write_whole(target, "\n".join(lines))


def clock_frames(seconds: float) -> str:
    """Minutes, seconds and frames, as a cue sheet has them.

    >>> clock_frames(61.04)
    '01:01:03'
    """
    frames = round(seconds * FRAMES)
    return f"{frames // (60 * FRAMES):02d}:{frames // FRAMES % 60:02d}:{frames % FRAMES:02d}"


def quote_text(text: str) -> str:
    """A text in quotes; the format has no way to write a quote or a line break in it."""
    return '"' + _one_line(text).replace('"', "'") + '"'


def _one_line(text: str) -> str:
    return " ".join(text.split())
