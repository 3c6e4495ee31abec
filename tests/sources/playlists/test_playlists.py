"""Playlists: nothing but the order changes, locations keep leading to the same files, and mistakes in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.core.collection import Collection, Item
from fabula.errors import FileError, InputError
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.playlists.playlist import (
    PLAYLIST_ENDINGS,
    collection_of,
    playlist_of,
    read_playlist,
    write_playlist,
)

VLC_M3U = (
    "#EXTM3U\r\n#PLAYLIST:Späte Stücke\r\n\r\n"
    "#EXTINF:201,Can - Vitamin C\r\n#EXTVLCOPT:start-time=3\r\n# my favourite\r\nCan/Vitamin C.flac\r\n"
    '#EXTINF:-1 tvg-id="x" group-title="a, b",Radio\r\nhttp://example.org/stream?a=1#b\r\n'
    "#EXTFABULA:energy=0.5,tempo=120\r\nC:\\Music\\ü.mp3\r\n"
    "..\\other\\d.mp3\r\n"
    "# the end\r\n"
)
WINAMP_PLS = (
    "[playlist]\r\n\r\nFile1=C:\\Music\\one.mp3\r\nTitle1=Neu! - Hallogallo\r\nLength1=607\r\n"
    "; a remark\r\nFile2=two.mp3\r\nLength2=-1\r\nFile3=http://example.org/3\r\nTitle3=Three\r\nLength3=12\r\n\r\n"
    "NumberOfEntries=3\r\nVersion=2\r\n"
)
BY_KEY_PLS = "[Playlist]\nNumberOfEntries=2\nFile1=a.mp3\nFile2=b.mp3\nTitle1=A\nTitle2=B\nLength1=1\nLength2=2\n"
SPEC_XSPF = """<?xml version="1.0" encoding="UTF-8"?>
<!-- prolog -->
<playlist version="1" xmlns="http://xspf.org/ns/0/" xmlns:v="http://www.videolan.org/vlc/playlist/ns/0/">
  <title>Mix &amp; match</title>
  <trackList>
    <!-- first -->
    <track id="1">
      <location>file:///mp3s/song_1%20a.mp3</location><title>One</title><creator>Can</creator>
      <duration>201500</duration>
      <meta rel="http://example.org/ns/energy">0.5</meta><meta rel="http://example.org/mood">calm</meta>
      <extension application="http://www.videolan.org/vlc/playlist/0"><v:id>0</v:id><track>no</track></extension>
    </track>
    <track><album>Tago &lt;Mago&gt;</album><location note="a>b"> sub/t%C3%BCr.mp3 </location></track>
    <track><identifier>https://example.org/recording/9</identifier><title>Nine</title></track>
  </trackList>
  <extension application="x"><v:item tid="0"/></extension>
</playlist>
"""
JSPF = {
    "playlist": {
        "title": "JSPF example",
        "creator": "Name",
        "track": [
            {
                "location": ["http://example.com/1.ogg", "http://example.com/2.mp3"],
                "title": "One",
                "creator": "Can",
                "duration": 271066,
                "meta": [{"http://example.org/key": "value"}, {"http://example.org/energy": "0.25"}],
                "extension": {"http://example.com": [{"a": 1.5}]},
            },
            {"location": "t%C3%BCr.mp3", "trackNum": 3, "x-unknown": None},
            {"identifier": ["https://musicbrainz.org/recording/1"], "title": "Three"},
        ],
    },
    "other": [1, 2],
}
SAMPLES = {
    "a.m3u": VLC_M3U.encode(),
    "cp1252.m3u": VLC_M3U.encode("cp1252"),
    "bom.m3u8": b"\xef\xbb\xbf" + VLC_M3U.encode(),
    "bare.m3u": b"b.mp3\na.mp3",
    "winamp.pls": WINAMP_PLS.encode(),
    "by key.pls": BY_KEY_PLS.encode(),
    "gaps.pls": b"[playlist]\nFile5=a\n\nTitle5=x\nFile07=b\nNumberOfEntries=2",
    "spec.xspf": SPEC_XSPF.encode(),
    "latin.xspf": SPEC_XSPF.replace("UTF-8", "ISO-8859-1").replace("One", "Olé").encode("latin-1"),
    "bom.xspf": b"\xff\xfe" + SPEC_XSPF.replace("UTF-8", "UTF-16").encode("utf-16-le"),
    "a.jspf": json.dumps(JSPF).encode(),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_order_gives_the_same_bytes(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(SAMPLES[name])
    playlist = read_playlist(path)
    write_playlist(path, playlist, range(len(playlist)))
    assert path.read_bytes() == SAMPLES[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_there_and_back_changes_nothing(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(SAMPLES[name])
    first = read_playlist(path)
    back = list(range(len(first)))[::-1]
    write_playlist(path, first, back)
    second = read_playlist(path)
    assert second == Playlist(first.entries[::-1], first.title, first.format, first.folder)
    assert path.read_bytes() != SAMPLES[name]
    write_playlist(path, second, back)
    assert read_playlist(path) == first
    if name != "gaps.pls":  # gaps in the numbers are closed
        assert path.read_bytes() == SAMPLES[name]


def test_m3u_blocks_move_whole(tmp_path):
    path = tmp_path / "a.m3u"
    path.write_bytes(VLC_M3U.encode())
    write_playlist(path, read_playlist(path), [3, 2, 0, 1])
    assert path.read_bytes().decode() == (
        "#EXTM3U\r\n#PLAYLIST:Späte Stücke\r\n\r\n..\\other\\d.mp3\r\n"
        "#EXTFABULA:energy=0.5,tempo=120\r\nC:\\Music\\ü.mp3\r\n"
        "#EXTINF:201,Can - Vitamin C\r\n#EXTVLCOPT:start-time=3\r\n# my favourite\r\nCan/Vitamin C.flac\r\n"
        '#EXTINF:-1 tvg-id="x" group-title="a, b",Radio\r\nhttp://example.org/stream?a=1#b\r\n# the end\r\n'
    )


def test_pls_is_renumbered_and_counted(tmp_path):
    path = tmp_path / "a.pls"
    path.write_bytes(WINAMP_PLS.replace("Entries=3", "Entries=7").encode())
    write_playlist(path, read_playlist(path), [1, 2, 0])
    assert path.read_bytes().decode() == (
        "[playlist]\r\n\r\n; a remark\r\nFile1=two.mp3\r\nLength1=-1\r\nFile2=http://example.org/3\r\nTitle2=Three\r\n"
        "Length2=12\r\nFile3=C:\\Music\\one.mp3\r\nTitle3=Neu! - Hallogallo\r\nLength3=607\r\n\r\n"
        "NumberOfEntries=3\r\nVersion=2\r\n"
    )
    path.write_text(BY_KEY_PLS)
    assert write_playlist(path, read_playlist(path), [1, 0]).read_text() == (
        "[Playlist]\nNumberOfEntries=2\nFile1=b.mp3\nFile2=a.mp3\nTitle1=B\nTitle2=A\nLength1=2\nLength2=1\n"
    )


def test_jspf_keeps_what_it_does_not_know(tmp_path):
    path = tmp_path / "a.jspf"
    path.write_text(json.dumps(JSPF))
    document = json.loads(write_playlist(path, read_playlist(path), [2, 0, 1]).read_text())
    tracks = JSPF["playlist"]["track"]
    assert document == {**JSPF, "playlist": {**JSPF["playlist"], "track": [tracks[2], tracks[0], tracks[1]]}}


def test_what_the_samples_say(tmp_path):
    m3u, pls, xspf, jspf = (_read(tmp_path, n, SAMPLES[n]) for n in ("a.m3u", "winamp.pls", "spec.xspf", "a.jspf"))
    assert m3u.title == "Späte Stücke"
    assert m3u.entries[0] == Entry("Can/Vitamin C.flac", "Vitamin C", "Can", 201.0)
    assert m3u.entries[1] == Entry("http://example.org/stream?a=1#b", "Radio")
    assert m3u.entries[2] == Entry("C:\\Music\\ü.mp3", details={"energy": 0.5, "tempo": 120.0})
    assert pls.entries[0] == Entry("C:\\Music\\one.mp3", "Hallogallo", "Neu!", 607.0)
    assert pls.entries[1] == Entry("two.mp3")
    assert xspf.title == "Mix & match"
    assert xspf.entries[0] == Entry("/mp3s/song_1 a.mp3", "One", "Can", 201.5, {"energy": 0.5})
    assert xspf.entries[1] == Entry("sub/tür.mp3", details={"album": "Tago <Mago>"})
    assert xspf.entries[2].location == "https://example.org/recording/9"
    assert jspf.title == "JSPF example"
    assert jspf.entries[0] == Entry("http://example.com/1.ogg", "One", "Can", 271.066, {"energy": 0.25})
    assert jspf.entries[1] == Entry("tür.mp3", details={"trackNum": "3"})


def _read(folder: Path, name: str, data: bytes) -> Playlist:
    (folder / name).write_bytes(data)
    return read_playlist(folder / name)


def test_a_collection_of_a_playlist(tmp_path):
    path = tmp_path / "a.m3u"
    c = collection_of(_read(tmp_path, "a.m3u", SAMPLES["a.m3u"]), path)
    assert (c.id, c.title, c.ordered) == ("a", "Späte Stücke", True)
    assert c.feature_names == ("duration", "energy", "tempo")
    nan = np.nan
    np.testing.assert_array_equal(c.features, [[201, nan, nan], [nan] * 3, [nan, 0.5, 120], [nan] * 3])
    assert [item.path for item in c.items] == [
        str(tmp_path / "Can/Vitamin C.flac"),
        "",
        "C:\\Music\\ü.mp3",
        str(tmp_path / "../other/d.mp3"),
    ]
    assert c.items[0].id == "Can/Vitamin C.flac"


@pytest.mark.parametrize("ending", [*PLAYLIST_ENDINGS[:5], ".wpl", ".asx", ".cue"])
def test_another_folder_leads_to_the_same_files(tmp_path, ending):
    (tmp_path / "new place").mkdir()
    (tmp_path / "old").mkdir()
    locations = ["a b.mp3", "../up/ü#1.mp3", "/abs/x.mp3", "http://example.org/a%20b", "#hash.mp3", "win\\dir\\c.mp3"]
    first = Playlist(tuple(map(Entry, locations)), folder=tmp_path / "old")
    old = write_playlist(tmp_path / "old" / f"x{ending}", first)
    for again in (read_playlist(old), first):
        moved = read_playlist(write_playlist(tmp_path / "new place" / f"y{ending}", again))
        assert [e.location.replace("\\", "/") for e in moved.entries] == [
            "../old/a b.mp3",
            "../up/ü#1.mp3",
            "/abs/x.mp3",
            "http://example.org/a%20b",
            "../old/#hash.mp3",
            "../old/win/dir/c.mp3",
        ]
    assert ("\\" in moved.entries[5].location) == (ending not in (".xspf", ".jspf"))


def test_percent_encoded_paths_of_players_are_found_on_disk(tmp_path):
    (tmp_path / "My Song.mp3").touch()
    (tmp_path / "100%25.mp3").touch()
    data = b"My%20Song.mp3\n100%25.mp3\nfile:///x/a%20b.mp3\n"
    playlist = _read(tmp_path, "a.m3u", data)
    assert [e.location for e in playlist.entries] == ["My Song.mp3", "100%25.mp3", "/x/a b.mp3"]
    assert write_playlist(tmp_path / "a.m3u", playlist, [2, 1, 0]).read_bytes().split() == data.split()[::-1]


def test_cp1252_becomes_utf8_where_it_must(tmp_path):
    playlist = _read(tmp_path, "a.m3u", "é.mp3\nb.mp3\n".encode("cp1252"))
    assert write_playlist(tmp_path / "b.m3u", playlist, [1, 0]).read_bytes() == b"b.mp3\n\xe9.mp3\n"
    assert write_playlist(tmp_path / "b.m3u8", playlist, [1, 0]).read_bytes() == "b.mp3\né.mp3\n".encode()
    (tmp_path / "中").mkdir()
    (tmp_path / "中" / "a.m3u").write_bytes("é.mp3\n".encode("cp1252"))
    moved = write_playlist(tmp_path / "c.m3u", read_playlist(tmp_path / "中" / "a.m3u"))
    assert moved.read_bytes() == "中/é.mp3\n".encode()


def test_a_file_name_that_is_no_text_keeps_its_bytes(tmp_path):
    playlist = Playlist((Entry("caf\udce9.mp3"),))
    assert write_playlist(tmp_path / "a.m3u", playlist).read_bytes() == b"#EXTM3U\ncaf\xe9.mp3\n"
    assert read_playlist(write_playlist(tmp_path / "a.xspf", playlist)).entries == playlist.entries


line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=10).map(str.strip)
segment = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\:"), min_size=1, max_size=8)
paths = st.lists(segment.map(str.strip).filter(lambda s: s not in ("", ".", "..")), min_size=1, max_size=3).map(
    "/".join
)
locations = st.one_of(paths, paths.map("/{}".format), st.integers(0, 99).map("http://example.org/{}".format))
durations = st.one_of(st.none(), st.integers(1, 10**7).map(lambda ms: ms / 1000))
numbers = st.dictionaries(st.sampled_from(["energy", "tempo", "a b/c"]), st.floats(-1e9, 1e9), max_size=2)
entries = st.builds(Entry, locations, line, line, durations, numbers)
playlists = st.builds(Playlist, st.lists(entries, min_size=1, max_size=5).map(tuple), line)


@pytest.mark.slow
@given(playlists, st.sampled_from(PLAYLIST_ENDINGS[:5]), st.randoms())
@settings(max_examples=120, deadline=None)
def test_what_is_written_reads_back(tmp_path_factory, playlist, ending, random):
    order = list(range(len(playlist)))
    random.shuffle(order)
    folder = tmp_path_factory.mktemp("p")
    path = write_playlist(folder / f"a{ending}", playlist, order)
    again = read_playlist(path)
    assert again.title == playlist.title
    for entry, index in zip(again.entries, order, strict=True):
        wanted = playlist.entries[index]
        assert entry.location in (wanted.location, f"./{wanted.location}")
        assert entry.duration == pytest.approx(wanted.duration)
        if ending == ".pls":  # has one line for both, and no place for numbers
            assert entry.label == wanted.label
        else:
            assert (entry.title, entry.artist) == (wanted.title, wanted.artist)
            assert entry.details == wanted.details
    write_playlist(path, again, order)
    assert [e.location for e in read_playlist(path).entries] == [again.entries[i].location for i in order]


@pytest.mark.parametrize("source", PLAYLIST_ENDINGS[:6])
@pytest.mark.parametrize("target", PLAYLIST_ENDINGS[:6])
def test_conversion_keeps_what_both_can_say(tmp_path, source, target):
    wanted = (Entry("ä b.mp3", "Vitamin C", "Can", 201.5), Entry("/x/c.mp3", "Solo"), Entry("http://example.org/1"))
    first = read_playlist(write_playlist(tmp_path / f"a{source}", Playlist(wanted, "Mix & match")))
    second = read_playlist(write_playlist(tmp_path / f"b{target}", first))
    assert (second.entries, second.title) == (wanted, "Mix & match")


def test_text_that_xml_cannot_hold(tmp_path):
    playlist = Playlist((Entry("a\x01\n.mp3", "bell\x07 <&>\rx"),))
    (entry,) = read_playlist(write_playlist(tmp_path / "a.xspf", playlist)).entries
    assert (entry.location, entry.title) == ("a\x01\n.mp3", "bell <&>\rx")
    ET.parse(tmp_path / "a.xspf")


def test_a_playlist_of_a_collection(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    items = [Item("1", "A", "music/a.mp3", "Can", length=1.5), Item("http://example.org/b", "B")]
    made = playlist_of(Collection("c", items, title="T"))
    first = replace(made.entries[0], details={"energy": 0.5})
    playlist = read_playlist(write_playlist("out/x.m3u8", replace(made, entries=(first, *made.entries[1:]))))
    assert (tmp_path / "out/x.m3u8").read_text() == (
        "#EXTM3U\n#PLAYLIST:T\n#EXTINF:1.5,Can - A\n#EXTFABULA:energy=0.5\n../music/a.mp3\n"
        "#EXTINF:-1,B\nhttp://example.org/b\n"
    )
    again = collection_of(playlist, "out/x.m3u8")
    assert (again.title, again.feature_names) == ("T", ("duration", "energy"))
    with pytest.raises(InputError, match=r"^'x' has no path: a playlist cannot lead to it"):
        playlist_of(Collection("c", [Item("17", "x")]))


MISTAKES = {
    "empty m3u": ("a.m3u", "#EXTM3U\n\n", "the playlist is empty"),
    "html": ("a.m3u", "<html>404</html>", "is not an M3U playlist (it starts with '<html>404</h')"),
    "binary": ("a.m3u", b"ID3\0\0", "is not an M3U playlist (it holds binary data)"),
    "feature": ("a.m3u", "#EXTM3U\n#EXTFABULA:energy=high\na.mp3\n", "line 2: #EXTFABULA must be "
        "name=number,name=number,...; got 'energy=high'"),
    "empty pls": ("a.pls", "[playlist]\nNumberOfEntries=0\n", "the playlist is empty"),
    "not pls": ("a.pls", "#EXTM3U\na.mp3\n", "is not a PLS playlist (it must start with [playlist])"),
    "pls without file": ("a.pls", "[playlist]\nTitle2=x\n", "entry 2 has no location (File2=...)"),
    "broken xml": ("a.xspf", "<playlist><trackList>", "is not an XSPF playlist (broken XML: no element found: line 1, "
        "column 21)"),
    "other xml": ("a.xspf", "<rss/>", "is not an XSPF playlist (its root must be <playlist>; got <rss>)"),
    "empty xspf": ("a.xspf", "<playlist><trackList/></playlist>", "the playlist is empty"),
    "xspf without location": ("a.xspf", "<playlist><trackList><track/></trackList></playlist>",
        "entry 1 has neither a location nor a title"),
    "entities": ("a.xspf", '<!DOCTYPE p [<!ENTITY a "b">]><playlist/>', "is refused: a playlist has no business with a "
        "document type (<!DOCTYPE ...>)"),
    "odd encoding": ("a.xspf", '<?xml version="1.0" encoding="klingon"?><playlist/>', "is not an XSPF playlist that "
        "can be read (unknown encoding 'klingon')"),
    "broken json": ("a.jspf", "{", "is not a JSPF playlist (broken JSON: Expecting property name enclosed in double "
        "quotes: line 1 column 2 (char 1))"),
    "other json": ("a.jspf", "[]", 'is not a JSPF playlist (it must be {"playlist": {"track": [...]}})'),
    "empty jspf": ("a.jspf", '{"playlist": {"track": []}}', "the playlist is empty"),
    "jspf without location": ("a.jspf", '{"playlist": {"track": [{"creator": "x"}]}}', "entry 1 has neither a location "
        "nor a title"),
    "jspf with a number": ("a.jspf", '{"playlist": {"track": [5]}}', "entry 1 must be an object; got int"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(tmp_path, case):
    name, content, message = MISTAKES[case]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FileError) as error:
        read_playlist(tmp_path / name)
    assert str(error.value) == f"{tmp_path / name}: {message}"


def test_mistakes_with_names(tmp_path):
    with pytest.raises(FileError, match=r"does not exist$"):
        read_playlist(tmp_path / "absent.m3u")
    with pytest.raises(InputError) as error:
        read_playlist("a.xyz")
    assert str(error.value) == f"a.xyz: a playlist must end in one of {', '.join(PLAYLIST_ENDINGS)}; got .xyz"
    with pytest.raises(InputError, match="M3U cannot hold a location with a line break"):
        write_playlist(tmp_path / "a.m3u", Playlist((Entry("a\nb"),)))
    with pytest.raises(InputError, match="an ordering of 1 items must have 1 entries; got 2"):
        write_playlist(tmp_path / "a.m3u", Playlist((Entry("a"),)), [0, 1])
    assert list(tmp_path.iterdir()) == []
