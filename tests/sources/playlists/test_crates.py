"""Crates of Serato: chunks of letters, lengths and UTF-16."""

from __future__ import annotations

import struct

import pytest

from fabula.cli import run
from fabula.errors import FileError
from fabula.sources.playlists.playlist import read_playlist, write_playlist


def chunk(name: str, *held: bytes | str) -> bytes:
    data = b"".join(one.encode("utf-16-be") if isinstance(one, str) else one for one in held)
    return name.encode() + struct.pack(">I", len(data)) + data


NAMES = ["Users/ann/Müsik/a.mp3", "Users/ann/Müsik/\U0001f3b5.mp3", "b.mp3"]
HEAD = chunk("vrsn", "1.0/Serato ScratchLive Crate") + chunk("osrt", chunk("tvcn", "#"), chunk("brev", b"\0"))
TRACKS = [chunk("otrk", chunk("ptrk", name), *([chunk("bxyz", b"\1")] if k else [])) for k, name in enumerate(NAMES)]
BETWEEN, TAIL = chunk("ovct", chunk("tvcn", "key")), chunk("zzzz", b"end")


@pytest.fixture
def crate(tmp_path):
    """A crate of three tracks, of which the database of Serato knows two; the second lies below the drive's root."""
    path = tmp_path / "drive" / "_Serato_" / "Subcrates" / "Sets%%Night.crate"
    path.parent.mkdir(parents=True)
    path.write_bytes(HEAD + TRACKS[0] + BETWEEN + TRACKS[1] + TRACKS[2] + TAIL)
    known = [
        {
            "pfil": NAMES[0],
            "tsng": "Rain",
            "tart": "Can",
            "tlen": "06:22.93",
            "tbpm": "126.00",
            "tkey": "Bb",
            "tgen": "K",
        },
        {"pfil": NAMES[2], "tsng": "Sun", "tlen": "03:00.00", "tbpm": "0"},
    ]
    tracks = [
        chunk("otrk", *(chunk(kind, text) for kind, text in one.items()), chunk("ulbl", b"\0\xff")) for one in known
    ]
    (path.parent.parent / "database V2").write_bytes(
        chunk("vrsn", "2.0/Serato Scratch LIVE Database") + b"".join(tracks)
    )
    return path


def test_a_crate_is_read_with_what_serato_knows(crate):
    found = read_playlist(crate)
    assert found.title == "Night"
    assert [entry.title for entry in found.entries] == ["Rain", "\U0001f3b5", "Sun"]
    assert (found.entries[0].artist, found.entries[0].duration) == ("Can", 382.93)
    assert dict(found.entries[0].details) == {"key": "Bb", "genre": "K", "tempo": 126.0}
    assert found.entries[2].numbers == {}
    assert found.entries[0].location == f"/{NAMES[0]}"
    drive = crate.parent.parent.parent
    (drive / "b.mp3").write_bytes(b"")
    assert read_playlist(crate).entries[2].location == str(drive / "b.mp3")


def test_only_the_order_of_its_tracks_changes(crate, tmp_path):
    found = read_playlist(crate)
    assert write_playlist(crate.with_name("same.crate"), found).read_bytes() == crate.read_bytes()
    moved = write_playlist(crate.with_name("Night 2.crate"), found, [2, 0, 1]).read_bytes()
    assert moved == HEAD + TRACKS[2] + TRACKS[0] + BETWEEN + TRACKS[1] + TAIL
    assert crate.read_bytes() == HEAD + TRACKS[0] + BETWEEN + TRACKS[1] + TRACKS[2] + TAIL
    list_ = write_playlist(tmp_path / "list.m3u8", found)
    back = write_playlist(tmp_path / "new.crate", read_playlist(list_)).read_bytes()
    names = [chunk("otrk", chunk("ptrk", name)) for name in NAMES]
    assert back == chunk("vrsn", "1.0/Serato ScratchLive Crate") + b"".join(names)


def test_by_the_command_it_is_ordered_by_what_is_known(crate, capsys):
    assert run(["order", str(crate), "--by", "duration", "--template", "steady-rise", "--json"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert run(["order", str(crate), "-o", str(crate.with_name("out.crate"))]) == 0
    assert sorted(entry.title for entry in read_playlist(crate.with_name("out.crate")).entries) == [
        "Rain",
        "Sun",
        "\U0001f3b5",
    ]


@pytest.mark.parametrize(
    "data", [b"", b"RIFF", HEAD, HEAD + TRACKS[0][:-3], HEAD + b"otrk\xff\xff\xff\xff", HEAD + b"ot"]
)
def test_what_is_no_crate_is_one_line(tmp_path, data):
    path = tmp_path / "x.crate"
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"x\.crate: (?:is no file of Serato|is cut off|holds no tracks)"):
        read_playlist(path)
