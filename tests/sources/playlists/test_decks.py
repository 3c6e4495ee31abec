"""Collections of rekordbox and Traktor: read, ordered, and one playlist more."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from fabula.cli import run
from fabula.errors import FileError, InputError
from fabula.sources.playlists.playlist import read_playlist, write_playlist

TITLES = ["Dawn", "Fern & Tide", "Halo", "Ember"]
NML = """<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<NML VERSION="19"><HEAD COMPANY="www.native-instruments.com" PROGRAM="Traktor"></HEAD>
<COLLECTION ENTRIES="4">{tracks}
</COLLECTION>
<SETS ENTRIES="0"></SETS>
<PLAYLISTS><NODE TYPE="FOLDER" NAME="$ROOT"><SUBNODES COUNT="2">
<NODE TYPE="PLAYLIST" NAME="Sat &amp; Sun"><PLAYLIST ENTRIES="4" TYPE="LIST" UUID="1f">{rows}
</PLAYLIST>
</NODE>
<NODE TYPE="PLAYLIST" NAME="empty"><PLAYLIST ENTRIES="0" TYPE="LIST" UUID="2f"></PLAYLIST>
</NODE>
</SUBNODES>
</NODE>
</PLAYLISTS>
<INDEXING></INDEXING></NML>
"""
TRACK = """<ENTRY MODIFIED_DATE="2024/1/2" TITLE={title!r} ARTIST="Ann">
<LOCATION DIR="/:Users/:ann/:Music/:" FILE="{n}.mp3" VOLUME="Macintosh HD" VOLUMEID="x"></LOCATION>
<INFO BITRATE="320000" GENRE="House" PLAYTIME="{seconds}" PLAYTIME_FLOAT="{seconds}.5" KEY="8m"></INFO>
<TEMPO BPM="{tempo}" BPM_QUALITY="100.000000"></TEMPO>
<CUE_V2 NAME="AutoGrid" START="{n}.000"></CUE_V2>
<MUSICAL_KEY VALUE="21"></MUSICAL_KEY>
</ENTRY>"""


@pytest.fixture
def nml(tmp_path):
    tracks = "\n".join(
        TRACK.format(title=title, n=n, seconds=200 + 10 * n, tempo=f"{120 + n}.000000")
        .replace("'", '"')
        .replace("&", "&amp;")
        for n, title in enumerate(TITLES)
    )
    rows = "".join(
        f'\n<ENTRY><PRIMARYKEY TYPE="TRACK" KEY="Macintosh HD/:Users/:ann/:Music/:{n}.mp3"></PRIMARYKEY>\n</ENTRY>'
        for n in (2, 0, 3, 1)
    )
    file = tmp_path / "collection.nml"
    file.write_text(NML.format(tracks=tracks, rows=rows), encoding="utf-8")
    return file


@pytest.fixture
def rekordbox(tmp_path):
    """A collection as the library of rekordbox's files writes it."""
    library = pytest.importorskip("pyrekordbox.rbxml", reason="pyrekordbox is not installed")
    made = library.RekordboxXml(name="rekordbox", version="5.4.3", company="Pioneer DJ")
    folder = made.add_playlist_folder("Sets")
    playlist = folder.add_playlist("Sat & Sun")
    for n, title in enumerate(TITLES):
        told = {"Name": title, "Artist": "Ann", "TotalTime": 200 + 10 * n, "AverageBpm": 120.0 + n, "Tonality": "8A"}
        track = made.add_track(f"C:/Users/ann/Music/{n} ü.mp3", TrackID=100 + n, **told)
        track.add_mark(Name="drop", Type="cue", Start=float(n), Num=0)
    for n in (2, 0, 3, 1):
        playlist.add_track(100 + n)
    file = tmp_path / "rekordbox.xml"
    made.save(file)
    return file


def test_traktor_is_read_and_gets_one_playlist_more(nml):
    before = nml.read_text(encoding="utf-8")
    playlist = read_playlist(nml)
    assert playlist.title == "Sat & Sun"
    assert [entry.title for entry in playlist.entries] == ["Halo", "Dawn", "Ember", "Fern & Tide"]
    first = playlist.entries[0]
    assert (first.artist, first.duration, first.location) == ("Ann", 220.5, "/Users/ann/Music/2.mp3")
    assert (first.details["tempo"], first.details["key"], first.details["genre"]) == (122.0, "Am", "House")
    write_playlist(nml, playlist, [1, 3, 0, 2])
    after = nml.read_text(encoding="utf-8")
    root = ET.fromstring(after)
    assert root.find("PLAYLISTS/NODE/SUBNODES").get("COUNT") == "3"
    nodes = {node.get("NAME"): node for node in root.iter("NODE") if node.get("TYPE") == "PLAYLIST"}
    assert list(nodes) == ["Sat & Sun", "Sat & Sun (fabula)", "empty"]
    keys = [key.get("KEY")[-5] for key in nodes["Sat & Sun (fabula)"].iter("PRIMARYKEY")]
    assert keys == ["0", "1", "2", "3"]
    assert nodes["Sat & Sun (fabula)"].find("PLAYLIST").get("ENTRIES") == "4"
    added = re.search(r'\n<NODE TYPE="PLAYLIST" NAME="Sat &amp; Sun \(fabula\)".*?</NODE>', after, re.DOTALL)[0]
    assert after.replace(added, "").replace('SUBNODES COUNT="3"', 'SUBNODES COUNT="2"') == before
    again = read_playlist(nml, "Sat & Sun")
    write_playlist(nml, again, [3, 2, 1, 0])
    assert 'NAME="Sat &amp; Sun (fabula 2)"' in nml.read_text(encoding="utf-8")


def test_rekordbox_is_read_and_its_own_library_reads_ours(rekordbox):
    from pyrekordbox.rbxml import RekordboxXml

    playlist = read_playlist(rekordbox)
    assert [entry.title for entry in playlist.entries] == ["Halo", "Dawn", "Ember", "Fern & Tide"]
    first = playlist.entries[0]
    assert first.location == "C:/Users/ann/Music/2 ü.mp3"
    assert (first.duration, first.details["tempo"], first.details["key"]) == (220.0, 122.0, "8A")
    before = RekordboxXml(rekordbox)
    write_playlist(rekordbox, playlist, [1, 3, 0, 2])
    after = RekordboxXml(rekordbox)
    folder = after.get_playlist("Sets")
    assert [one.name for one in folder.get_playlists()] == ["Sat & Sun", "Sat & Sun (fabula)"]
    assert folder.count == 2
    assert folder.get_playlist("Sat & Sun (fabula)").get_tracks() == [100, 101, 102, 103]
    assert folder.get_playlist("Sat & Sun").get_tracks() == before.get_playlist("Sets", "Sat & Sun").get_tracks()
    whole = [ET.tostring(track._element) for track in after.get_tracks()]
    assert whole == [ET.tostring(track._element) for track in before.get_tracks()]


@pytest.mark.parametrize("kind", ["nml", "rekordbox"])
def test_the_command_orders_by_tempo_and_keeps_the_old(kind, request, capsys):
    file = request.getfixturevalue(kind)
    assert run(["order", str(file), "--by", "tempo", "--template", "steady-rise", "-o", str(file)]) == 0
    said = capsys.readouterr().out
    assert [title for title in TITLES if title in said] == TITLES
    ordered = read_playlist(file, "Sat & Sun (fabula)")
    assert [entry.title for entry in ordered.entries] == TITLES


def test_what_is_none_is_refused(tmp_path, nml):
    empty = tmp_path / "empty.nml"
    empty.write_text("<NML><COLLECTION/><PLAYLISTS/></NML>", encoding="utf-8")
    with pytest.raises(FileError, match="has no playlist with tracks"):
        read_playlist(empty)
    empty.write_text("<html></html>", encoding="utf-8")
    with pytest.raises(FileError, match="is not a collection of Traktor"):
        read_playlist(empty)
    other = tmp_path / "a.m3u8"
    other.write_text("a.mp3\n", encoding="utf-8")
    with pytest.raises(InputError, match="written where one was read"):
        write_playlist(tmp_path / "new.nml", read_playlist(other))
