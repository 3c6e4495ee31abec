"""Playlists of other programs, written back in another order: every entry with every byte of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fabula.errors import InputError
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.playlists.playlist import (
    FORMATS,
    PLAYLIST_ENDINGS,
    collection_of,
    format_of,
    read_playlist,
    write_playlist,
)

FULL = (".m3u", ".m3u8", ".pls", ".xspf", ".jspf")  # which hold any location, and numbers beside it


def test_another_order_keeps_every_byte_of_every_entry(tmp_path, foreign):
    sample, name = foreign, foreign.name
    (tmp_path / name).write_bytes(sample.data)
    playlist = read_playlist(tmp_path / name)
    assert len(playlist) == len(sample.entries)
    order = [*range(1, len(playlist)), 0]
    written = write_playlist(tmp_path / name, playlist, order).read_bytes()
    if name == "navidrome.m3u":  # ends without a newline, which then comes before the entry that follows
        ended = tuple(entry if entry.endswith("\n") else entry + "\n" for entry in sample.entries)
        assert written == replace(sample, entries=ended).in_order(order)[:-1]
    elif name == "vlc.xspf":  # VLC plays in the order of the list at the end
        tail = sample.tail
        for old, new in enumerate(order):
            tail = tail.replace(f'tid="{old}"', f"tid={new}")
        assert written == sample.in_order(order, tail.replace("tid=", 'tid="').replace("/>", '"/>'))
    else:
        assert written == sample.in_order(order)
    again = read_playlist(tmp_path / name)
    assert sorted(map(_text, again.entries)) == sorted(map(_text, playlist.entries))
    back = sorted(range(len(order)), key=order.__getitem__)
    assert write_playlist(tmp_path / name, again, back).read_bytes() == sample.data


def _text(entry: Entry) -> str:
    return "".join(entry.raw or ()).rstrip("\r\n")


def test_every_entry_becomes_an_item(tmp_path, foreign):
    name = foreign.name
    (tmp_path / name).write_bytes(foreign.data)
    playlist = read_playlist(tmp_path / name)
    collection = collection_of(playlist, tmp_path / name)
    assert len(collection) == len(foreign.entries)
    assert all(item.id for item in collection.items)


def test_other_formats_hold_every_entry_or_say_why_not(tmp_path, foreign):
    name = foreign.name
    (tmp_path / name).write_bytes(foreign.data)
    playlist = read_playlist(tmp_path / name)
    for ending in FULL:
        target = tmp_path / f"new{ending}"
        bare = any(not entry.location for entry in playlist.entries)
        if bare and ending in (".m3u", ".m3u8", ".pls") and format_of(name) is not format_of(target):
            with pytest.raises(InputError, match=r"cannot hold an entry without a location; write \.xspf or \.jspf"):
                write_playlist(target, playlist)
        else:
            again = read_playlist(write_playlist(target, playlist))
            assert [e.location.replace("\\", "/") for e in again.entries] == [
                e.location.replace("\\", "/") for e in playlist.entries
            ]


def test_vlc_groups_keep_what_they_hold(tmp_path, vlc):
    sample = vlc
    tail = sample.tail.replace('\t\t\t<vlc:item tid="2"/>', '\t\t<vlc:node title="b">\n\t\t\t<vlc:item tid="2"/>')
    tail = tail.replace('tid="3"/>', 'tid="3"/></vlc:node>')
    (tmp_path / "a.xspf").write_bytes(sample.in_order([0, 1, 2, 3], tail))
    text = write_playlist(tmp_path / "a.xspf", read_playlist(tmp_path / "a.xspf"), [3, 2, 1, 0]).read_text()
    assert [part.partition('"')[0] for part in text.split('tid="')[1:]] == ["1", "0", "3", "2"]


SIDES = {0: "Side A", 2: "Side B, 21:30"}


@pytest.mark.parametrize("ending", [*FULL, ".wpl", ".asx", ".cue"])
def test_side_breaks_are_comments(tmp_path, ending):
    playlist = Playlist((Entry("a.mp3", "A"), Entry("b.mp3", "B"), Entry("c.mp3", "C")), "T")
    path = write_playlist(tmp_path / f"a{ending}", playlist, [2, 0, 1], comments=SIDES)
    text = path.read_text()
    side_is = '"urn:fabula:side": "{}"\n'
    comment = {".pls": "; {}\n", ".jspf": side_is, ".cue": "REM {}\n"}.get(ending, "# {}\n")
    comment = "<!-- {} -->\n" if ending in (".xspf", ".wpl", ".asx") else comment
    for side in SIDES.values():
        assert text.count(comment.format(side)) == 1
    again = read_playlist(path)
    assert [entry.title for entry in again.entries] == ["C", "A", "B"]
    plain = read_playlist(write_playlist(tmp_path / f"b{ending}", playlist, [2, 0, 1]))
    assert again.entries == plain.entries
    moved = write_playlist(path, again, [1, 0, 2], comments={1: "Side B -- the end--"}).read_text()
    assert moved.count("Side") == 1  # the new break takes the place of the old ones
    assert [entry.title for entry in read_playlist(path).entries] == ["A", "C", "B"]
    assert write_playlist(path, read_playlist(path), comments={}).read_text().count("Side") == 0


def test_comments_in_words(tmp_path):
    (tmp_path / "a.m3u").write_text("#EXTM3U\n# Side A\n# mine\na.mp3\n# a side note\n# Sideways\nb.mp3\n")
    playlist = read_playlist(tmp_path / "a.m3u")
    text = write_playlist(tmp_path / "b.m3u", playlist, [1, 0], comments={1: "Side\nB"}).read_text()
    assert text == "#EXTM3U\n# a side note\n# Sideways\nb.mp3\n# Side B\n# mine\na.mp3\n"
    with pytest.raises(InputError, match="a comment must stand at one of positions 0 to 1; got 2"):
        write_playlist(tmp_path / "b.m3u", playlist, comments={2: "x"})


@pytest.mark.parametrize("ending", [*FULL, ".cue"])
def test_a_file_name_that_is_no_text_comes_back(tmp_path, ending):
    names = ["caf\udce9.mp3", "café.mp3", "plain.mp3"]
    path = write_playlist(tmp_path / f"a{ending}", Playlist(tuple(Entry(name, "Ü") for name in names)))
    again = read_playlist(path)
    assert [entry.location for entry in again.entries] == names
    assert [entry.title for entry in again.entries] == ["Ü"] * 3
    data = path.read_bytes()
    assert write_playlist(path, again, [0, 1, 2]).read_bytes() == data
    assert [e.location for e in read_playlist(write_playlist(path, again, [2, 1, 0])).entries] == names[::-1]


def test_names_alone_that_are_no_text(tmp_path):
    (tmp_path / "caf\udce9.mp3").touch()
    for name in ("a.m3u", "a.m3u8", "a.pls"):
        path = write_playlist(tmp_path / name, Playlist((Entry("caf\udce9.mp3"),)))
        (entry,) = read_playlist(path).entries
        assert Path(tmp_path / entry.location).exists(), name


def test_the_mark_stays_with_odd_names(tmp_path):
    data = b"\xef\xbb\xbf#EXTM3U\n#EXTINF:1,caf\xe9\ncaf\xe9.mp3\nb.mp3\n"
    (tmp_path / "a.m3u8").write_bytes(data)
    playlist = read_playlist(tmp_path / "a.m3u8")
    assert (playlist.entries[0].location, playlist.entries[0].title) == ("caf\udce9.mp3", "café")
    assert write_playlist(tmp_path / "a.m3u8", playlist, [1, 0]).read_bytes().startswith(b"\xef\xbb\xbf#EXTM3U\nb.mp3")


def test_other_spellings_of_a_name_on_disk_are_found(tmp_path):
    (tmp_path / "u\u0308.mp3").touch()  # two characters, as macOS writes it
    (tmp_path / "é.mp3").touch()
    (tmp_path / "a.m3u8").write_bytes("ü.mp3\n".encode() + b"\xe9.mp3\n")
    playlist = read_playlist(tmp_path / "a.m3u8")
    assert [entry.location for entry in playlist.entries] == ["u\u0308.mp3", "é.mp3"]
    assert write_playlist(tmp_path / "a.m3u8", playlist, [1, 0]).read_bytes() == b"\xe9.mp3\n" + "ü.mp3\n".encode()


def test_the_encoding_that_a_file_names(tmp_path):
    data = "#EXTM3U\n#EXTENC:cp1251\n#EXTINF:1,Кино\nКино.mp3\nb.mp3\n".encode("cp1251")
    (tmp_path / "a.m3u").write_bytes(data)
    playlist = read_playlist(tmp_path / "a.m3u")
    assert playlist.entries[0].title == "Кино"
    assert write_playlist(tmp_path / "a.m3u", playlist, [1, 0]).read_bytes() == (
        "#EXTM3U\n#EXTENC:cp1251\nb.mp3\n#EXTINF:1,Кино\nКино.mp3\n".encode("cp1251")
    )


def test_a_blank_line_before_the_first_entry_leaves_its_lines_with_it(tmp_path):
    (tmp_path / "a.m3u").write_text("#EXTM3U\n\n#EXTINF:9,A\n\na.mp3\nb.mp3\n")
    text = write_playlist(tmp_path / "a.m3u", read_playlist(tmp_path / "a.m3u"), [1, 0]).read_text()
    assert text == "#EXTM3U\n\nb.mp3\n#EXTINF:9,A\n\na.mp3\n"


def test_characters_that_an_old_xspf_encoding_lacks(tmp_path):
    track = "<track><location>a.mp3</location></track>"
    text = f'<?xml version="1.0" encoding="ISO-8859-1"?><playlist><trackList>{track}</trackList></playlist>'
    (tmp_path / "a.xspf").write_text(text)
    path = write_playlist(tmp_path / "a.xspf", read_playlist(tmp_path / "a.xspf"), comments={0: "Side A 中"})
    assert b"<!-- Side A &#20013; -->" in path.read_bytes()
    assert len(read_playlist(path)) == 1


def test_the_registry():
    assert PLAYLIST_ENDINGS[:5] == FULL
    assert PLAYLIST_ENDINGS[5:] == (".wpl", ".zpl", ".asx", ".wax", ".wvx", ".xml", ".nml", ".crate", ".cue")
    names = ["m3u", "pls", "xspf", "jspf", "smil", "asx", "rekordbox", "itunes", "traktor", "serato", "cue"]
    assert [form.name for form in FORMATS] == names
    assert len(set(PLAYLIST_ENDINGS)) == len(PLAYLIST_ENDINGS)
    assert {format_of(f"x{ending}").name for ending in PLAYLIST_ENDINGS} == {*names} - {"rekordbox"}
