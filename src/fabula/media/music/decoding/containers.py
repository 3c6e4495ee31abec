"""What an audio file is, by its first bytes: never by its name, and never by asking a decoder to guess.

A decoder that guesses takes a text for a playlist and opens what it names, wherever that lies. So the demuxer is
named to it, and there is none here that opens other files.
"""

from __future__ import annotations

from typing import BinaryIO

_HEAD = 64  # bytes that tell
_TAG = 10  # bytes of the header of an ID3 tag, which may stand before anything

# First bytes, and the demuxer of ffmpeg that reads what follows.
_MAGIC = (
    (b"RIFF", "wav"),
    (b"RF64", "wav"),
    (b"riff\x2e\x91\xcf\x11", "w64"),
    (b"FORM", "aiff"),
    (b"fLaC", "flac"),
    (b"OggS", "ogg"),
    (b"caff", "caf"),
    (b".snd", "au"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (b"MAC ", "ape"),
    (b"wvpk", "wv"),
    (b"MPCK", "mpc8"),
    (b"MP+", "mpc"),
    (b"TTA1", "tta"),
    (b"TTA2", "tta"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
)
DEMUXERS = frozenset({*(name for _, name in _MAGIC), "mov", "aac", "mp3", "ac3", "eac3"})


def demuxer_of(file: BinaryIO) -> str | None:
    """The demuxer of ffmpeg for an open file, by its first bytes; None where they are not those of audio.

    The file is left at its beginning.

    Examples
    --------
    >>> import io
    >>> demuxer_of(io.BytesIO(b"fLaC....")), demuxer_of(io.BytesIO(b"#EXTM3U\\nfile:///etc/passwd\\n"))
    ('flac', None)
    """
    start = _behind_tags(file)
    file.seek(start)
    head = file.read(_HEAD)
    file.seek(0)
    found = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    return found or _by_structure(head)


def _behind_tags(file: BinaryIO) -> int:
    """Where the ID3 tags at the beginning end."""
    start = 0
    for _ in range(8):  # some writers leave several
        file.seek(start)
        head = file.read(_TAG)
        if len(head) < _TAG or head[:3] != b"ID3" or max(head[6:10]) > 0x7F:
            break
        size = sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
        start += _TAG + size + (_TAG if head[5] & 0x10 else 0)  # a footer, where there is one
    return start


def _by_structure(head: bytes) -> str | None:
    """Formats that are known by more than a fixed beginning."""
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"skip", b"free") and int.from_bytes(head[:4], "big") != 0:
        return "mov"
    if len(head) < 7:
        return None
    sync = int.from_bytes(head[:2], "big")
    if sync == 0x0B77:
        return "eac3" if head[5] >> 3 > 10 else "ac3"
    layer = head[1] >> 1 & 3
    if sync & 0xFFF0 == 0xFFF0 and layer == 0 and head[2] >> 2 & 15 < 13:
        return "aac"
    if sync & 0xFFE0 == 0xFFE0 and layer != 0 and head[1] >> 3 & 3 != 1 and head[2] >> 4 not in (0, 15):
        return "mp3"
    return None
