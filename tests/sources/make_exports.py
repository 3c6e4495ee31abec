"""Files as twenty programs and more export them, made after their public formats.

``python tests/sources/make_exports.py FOLDER`` writes them all into a folder.
"""

# ruff: noqa: E501 - files as they are

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path

# Title, artist, album, seconds, tempo, key; with what real ones have: quotes, accents, separators, one name twice.
SONGS = [
    ("Intro", "Can", "Tago Mago", 65, 90.0, "8A"),
    ('"Heroes" (Live)', "David Bowie", "Stage", 378, 112.0, "4B"),
    ("Für immer & ewig", "Neu!", "Neu! 75", 341, 128.5, "11A"),
    ("Rain; or, Snow", "Can", "Ege Bamyasi", 224, 101.0, "1B"),
    ("99 Luftballons", "Nena", "Nena", 233, 193.0, "5A"),
    ("Outro", "Neu!", "Neu! 75", 122, 80.0, "8B"),
]
TITLES = tuple(song[0] for song in SONGS)


@dataclass(frozen=True)
class Export:
    """A file of a program; ``exact``: turned round twice it is the same, byte for byte."""

    program: str
    name: str
    data: bytes
    titles: tuple[str, ...] = TITLES
    exact: bool = True
    collection: str | None = None


def clock(seconds: int, *, padded: bool = False) -> str:
    return f"{seconds // 60:{'02' if padded else ''}d}:{seconds % 60:02d}"


def rows(*columns: str) -> list[list[str]]:
    """Cells of each song, by name."""
    made = []
    for number, (title, artist, album, seconds, tempo, key) in enumerate(SONGS, start=1):
        cells = {"title": title, "artist": artist, "album": album, "seconds": str(seconds), "clock": clock(seconds)}
        cells |= {"padded": clock(seconds, padded=True), "ms": str(1000 * seconds), "tempo": f"{tempo:.2f}", "key": key}
        cells |= {"number": str(number), "": "", "date": "2024-05-01", "isrc": f"DEA6{number:08d}", "stars": "*****"}
        cells |= {"path": f"/Users/anna/Music/{number:02d} {artist}.mp3", "id": f"spotify:track:{number:022d}"}
        made.append([cells.get(name, name) for name in columns])
    return made


def csv(headings: str, *columns: str, separator: str = ",", end: str = "\n", always: bool = False) -> str:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if always or any(c in text for c in f'{separator}"\n') else text

    lines = [headings.split("|"), *rows(*columns)]
    return "".join(separator.join(map(cell, line)) + end for line in lines)


def tabs(headings: str, *columns: str, end: str = "\r\n") -> str:
    return "".join("\t".join(line) + end for line in [headings.split("|"), *rows(*columns)])


def utf16(text: str) -> bytes:
    return codecs.BOM_UTF16_LE + text.encode("utf-16-le")


def xml(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def tables() -> Iterator[Export]:
    """What is one row a track."""
    yield Export(
        "Soundiiz",
        "soundiiz.csv",
        csv("title|artist|album|isrc", "title", "artist", "album", "isrc", separator=";").encode(),
    )
    yield Export(
        "Soundiiz",
        "soundiiz-quoted.csv",
        csv("Title|Artist|Album|ISRC", "title", "artist", "album", "isrc", always=True).encode(),
    )
    head = "Track name|Artist name|Album|Playlist name|Type|ISRC|Spotify - id"
    columns = ("title", "artist", "album", "Night", "Playlist", "isrc", "id")
    yield Export("TuneMyMusic", "tunemymusic.csv", csv(head, *columns).encode())
    yield Export("TuneMyMusic", "tunemymusic-bom.csv", codecs.BOM_UTF8 + csv(head, *columns, end="\r\n").encode())
    head = "Track URI|Track Name|Album Name|Artist Name(s)|Track Duration (ms)|Added At"
    yield Export(
        "Exportify", "exportify.csv", csv(head, "id", "title", "album", "artist", "ms", "date", always=True).encode()
    )
    head = "#|Artwork|Track Title|Artist|Album|Genre|BPM|Rating|Time|Key|Date Added"
    columns = ("number", "", "title", "artist", "album", "Kraut", "tempo", "stars", "padded", "key", "date")
    yield Export("rekordbox", "rekordbox.txt", utf16(tabs(head, *columns)))
    yield Export(
        "rekordbox", "rekordbox-history.txt", utf16(tabs(head.replace("|Artwork", ""), *columns[:1], *columns[2:]))
    )
    head = "Name|Artist|Composer|Album|Grouping|Genre|Size|Time|Track Number|Year|Date Added|Bit Rate|Location"
    columns = ("title", "artist", "", "album", "", "Rock", "9000000", "seconds", "3", "1975", "date", "256", "path")
    yield Export("iTunes", "itunes.txt", utf16(tabs(head, *columns, end="\r")))
    yield Export("Apple Music", "apple-music.txt", tabs(head, *columns, end="\n").encode())
    yield Export("Apple Music", "apple-music-windows.txt", utf16(tabs(head, *columns)))
    whole = '"5/1/2024","","7:00:00 PM","7:30:00 PM","0:30:00",""\n'
    played = csv(
        "name|artist|start time|end time|playtime|deck",
        "title",
        "artist",
        "7:00:00 PM",
        "7:05:00 PM",
        "clock",
        "1",
        always=True,
    )
    lines = played.splitlines(keepends=True)
    yield Export("Serato", "serato.csv", "".join([lines[0], whole, *lines[1:]]).encode())
    head = "name|artist|bpm|key|length"
    yield Export(
        "Serato", "serato-crate.csv", csv(head, "title", "artist", "tempo", "key", "padded", always=True).encode()
    )
    text = tabs(head, "title", "artist", "tempo", "key", "padded", end="\n")
    yield Export("Serato", "serato.txt", text.encode())
    head = "Artist|Title|Album|Length|BPM|Rating|Path"
    yield Export(
        "MediaMonkey",
        "mediamonkey.csv",
        csv(head, "artist", "title", "album", "clock", "tempo", "5", "path", always=True).encode(),
    )
    yield Export(
        "MusicBee",
        "musicbee.tsv",
        csv(head, "artist", "title", "album", "clock", "tempo", "5", "path", separator="\t").encode(),
    )
    head = "Titel|Interpret|Album|Dauer"
    yield Export(
        "Deezer",
        "deezer-german.csv",
        csv(head, "title", "artist", "album", "clock", separator=";", end="\r\n").encode("cp1252"),
    )
    yield Export(
        "Google Sheets", "sheet.csv", csv("Title|Artist|Length", "title", "artist", "clock", end="\r\n").encode()
    )
    yield Export(
        "Google Sheets", "sheet.tsv", csv("Title|Artist|Length", "title", "artist", "seconds", separator="\t").encode()
    )
    yield Export(
        "Numbers", "numbers.csv", csv("Song|Artist|Minutes", "title", "artist", "clock", separator=";").encode()
    )
    yield Export("LibreOffice", "titles.csv", csv("Title", "title").encode())
    yield Export(
        "Mixxx",
        "mixxx.csv",
        csv(
            "Artist|Title|Album|Duration|BPM|Key|Location", "artist", "title", "album", "clock", "tempo", "key", "path"
        ).encode(),
    )
    yield Export(
        "Lexicon",
        "lexicon.csv",
        csv("Title|Artist|Album|BPM|Key|Duration", "title", "artist", "album", "tempo", "key", "seconds").encode(),
    )
    listed = [{"title": t, "artist": a, "duration": s} for t, a, _, s, *_ in SONGS]
    yield Export("Subtracks", "list.json", json.dumps(listed, indent=2).encode(), exact=False)
    for name, typed in (("excel.xlsx", True), ("excel-seconds.xlsx", False)):
        yield Export("Excel", name, workbook(typed=typed), exact=False)


def workbook(*, typed: bool) -> bytes:
    """A sheet with a title above, lengths as typed (3:45) or as seconds, a font, a formula, and another sheet."""
    import openpyxl
    from openpyxl.styles import Font

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["My set"], [], ["Title", "Artist", "Length", "Twice"]):
        sheet.append(row)
    for line, (title, artist, _, seconds, *_) in enumerate(SONGS, start=4):
        sheet.append([title, artist, time(seconds // 60, seconds % 60) if typed else seconds, f"=C{line}*2"])
        sheet.cell(line, 3).number_format = "h:mm" if typed else "0"
    sheet["A4"].font = Font(bold=True)
    book.create_sheet("Notes").append(["untouched", datetime(2024, 5, 1)])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def playlists() -> Iterator[Export]:
    """What names files."""
    paths = [f"Music/{number:02d} {artist}.mp3" for number, (_, artist, *_) in enumerate(SONGS, start=1)]
    pairs = list(zip(paths, SONGS, strict=True))
    inf = [f"#EXTINF:{s},{a} - {t}\n{p}\n" for p, (t, a, _, s, *_) in pairs]
    yield Export("Jellyfin", "jellyfin.m3u8", ("#EXTM3U\n#PLAYLIST:Night\n" + "".join(inf)).encode())
    yield Export("Plex", "plex.m3u", ("#EXTM3U\n" + "".join(inf)).encode())
    yield Export("Winamp", "winamp.m3u", ("#EXTM3U\n" + "".join(inf)).replace("\n", "\r\n").encode("cp1252"))
    yield Export("foobar2000", "foobar.m3u8", codecs.BOM_UTF8 + ("#EXTM3U\n" + "".join(inf)).encode())
    yield Export("iTunes", "itunes.m3u", utf16(("#EXTM3U\n" + "".join(inf)).replace("\n", "\r")))
    vdj = [
        f"#EXTVDJ:<time>21:0{k}</time><lastplaytime>1714590000</lastplaytime><artist>{xml(a)}</artist>"
        f"<title>{xml(t)}</title><songlength>{s}.0</songlength>\n#EXTINF:{s},{a} - {t}\n{p}\n"
        for k, (p, (t, a, _, s, *_)) in enumerate(pairs)
    ]
    yield Export("VirtualDJ", "virtualdj.m3u", "".join(vdj).encode())
    kodi = [
        f'#EXTINF:{s} tvg-id="{k}" group-title="Rock",{a} - {t}\n{p}\n' for k, (p, (t, a, _, s, *_)) in enumerate(pairs)
    ]
    yield Export("Kodi", "kodi.m3u8", ("#EXTM3U\n#PLAYLIST:Abends\n" + "".join(kodi)).encode())
    navi = [f"#EXTINF:{s}.36,{a} - {t}\n/music/{p}\n" for p, (t, a, _, s, *_) in pairs]
    yield Export("Navidrome", "navidrome.m3u", ("#EXTM3U\n#PLAYLIST:Späte\n" + "".join(navi)).encode())
    pls = [
        f"File{k}={p}\nTitle{k}={a} - {t}\nLength{k}={s}\n" for k, (p, (t, a, _, s, *_)) in enumerate(pairs, start=1)
    ]
    yield Export("Winamp", "winamp.pls", ("[playlist]\n" + "".join(pls) + "NumberOfEntries=6\nVersion=2\n").encode())
    yield Export(
        "Rhythmbox", "rhythmbox.pls", ("[playlist]\nX-GNOME-Title=Été\nNumberOfEntries=6\n" + "".join(pls)).encode()
    )
    track = [
        f"\n    <track>\n      <location>{xml(p.replace(' ', '%20'))}</location>\n      <title>{xml(t)}</title>\n"
        f"      <creator>{a}</creator>\n      <album>{xml(al)}</album>\n      <duration>{1000 * s}</duration>\n"
        f'      <extension application="https://www.strawberrymusicplayer.org/"><rating>0.{k}</rating></extension>\n    </track>'
        for k, (p, (t, a, al, s, *_)) in enumerate(pairs, start=1)
    ]
    frame = '<?xml version="1.0" encoding="UTF-8"?>\n<playlist version="1" xmlns="http://xspf.org/ns/0/">\n  <title>x</title>\n  <trackList>'
    yield Export("Strawberry", "strawberry.xspf", (frame + "".join(track) + "\n  </trackList>\n</playlist>\n").encode())
    audacious = [block.replace("    ", "\t") for block in track]
    yield Export("Audacious", "audacious.xspf", (frame + "".join(audacious) + "\n  </trackList>\n</playlist>").encode())
    listen = [
        {"title": t, "creator": a, "album": al, "duration": 1000 * s, "identifier": [f"https://musicbrainz.org/recording/{k:08d}-0000-4000-8000-000000000000"],
         "extension": {"https://musicbrainz.org/doc/jspf#track": {"added_by": "anna", "added_at": "2024-05-01T00:00:00+00:00"}}}
        for k, (t, a, al, s, *_) in enumerate(SONGS)
    ]  # fmt: skip
    whole = {
        "playlist": {
            "creator": "anna",
            "title": "Weekly Jams",
            "identifier": "https://listenbrainz.org/playlist/1",
            "track": listen,
        }
    }
    yield Export("ListenBrainz", "listenbrainz.jspf", json.dumps(whole).encode())
    yield Export(
        "ListenBrainz", "listenbrainz-pretty.jspf", (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()
    )
    yield from windows(pairs)
    yield from apple(pairs)


def windows(pairs: list) -> Iterator[Export]:
    """Lists of Windows."""
    media = [
        f'\r\n            <media src="..\\{xml(p)}" albumTitle="{xml(al)}" albumArtist="{a}" trackTitle="{xml(t)}" '
        f'trackArtist="{a}" duration="{1000 * s}" tid="{{00000000-0000-0000-0000-00000000000{k}}}"/>'
        for k, (p, (t, a, al, s, *_)) in enumerate(pairs)
    ]
    head = '<?wpl version="1.0"?>\r\n<smil>\r\n    <head>\r\n        <meta name="Generator" content="Microsoft Windows Media Player -- 12.0"/>\r\n        <title>Abend</title>\r\n    </head>\r\n    <body>\r\n        <seq>'
    tail = "\r\n        </seq>\r\n    </body>\r\n</smil>\r\n"
    yield Export("Windows Media Player", "wmp.wpl", (head + "".join(media) + tail).encode())
    yield Export("Zune", "zune.zpl", (head.replace("wpl", "zpl") + "".join(media) + tail).encode())
    groove = [one.replace("/>", "></media>") for one in media]
    yield Export("Groove", "groove.wpl", codecs.BOM_UTF8 + (head + "".join(groove) + tail).encode())
    entry = [
        f'\n  <ENTRY>\n    <Title>{xml(t)}</Title>\n    <AUTHOR>{a}</AUTHOR>\n    <Duration value="00:{clock(s, padded=True)}"/>\n'
        f'    <Param Name="Rating" Value="{k}" />\n    <Ref href = "http://example.org/{k}.wma?a=1&b=2" />\n  </ENTRY>'
        for k, (_, (t, a, _, s, *_)) in enumerate(pairs)
    ]
    yield Export(
        "Windows Media Player",
        "stream.asx",
        ('<ASX version = "3.0">\n  <TITLE>Radio</TITLE>' + "".join(entry) + "\n</ASX>\n").encode(),
    )
    small = [one.replace("ENTRY", "entry").replace("Ref ", "ref ") for one in entry]
    yield Export("Windows Media Player", "radio.wax", ("<asx version='3'>" + "".join(small) + "\n</asx>").encode())


def apple(pairs: list) -> Iterator[Export]:
    """Libraries of iTunes and Apple Music."""
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN" '
        '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n<dict>\n'
        "\t<key>Major Version</key><integer>1</integer>\n\t<key>Date</key><date>2024-05-01T10:00:00Z</date>\n\t<key>Tracks</key>\n\t<dict>\n"
    )
    tracks = "".join(
        f"\t\t<key>{100 + k}</key>\n\t\t<dict>\n\t\t\t<key>Track ID</key><integer>{100 + k}</integer>\n\t\t\t<key>Name</key><string>{xml(t).replace('&quot;', chr(34))}</string>\n"
        f"\t\t\t<key>Artist</key><string>{a}</string>\n\t\t\t<key>Album</key><string>{al}</string>\n\t\t\t<key>Total Time</key><integer>{1000 * s}</integer>\n"
        f"\t\t\t<key>BPM</key><integer>{round(bpm)}</integer>\n\t\t\t<key>Rating</key><integer>80</integer>\n\t\t\t<key>Play Count</key><integer>{k}</integer>\n"
        f"\t\t\t<key>Location</key><string>file://localhost/Users/anna/{p.replace(' ', '%20')}</string>\n\t\t</dict>\n"
        for k, (p, (t, a, al, s, bpm, _)) in enumerate(pairs)
    )

    def listed(name: str, numbers: range, more: str = "") -> str:
        items = "".join(
            f"\t\t\t\t<dict>\n\t\t\t\t\t<key>Track ID</key><integer>{100 + k}</integer>\n\t\t\t\t</dict>\n"
            for k in numbers
        )
        return f"\t\t<dict>\n\t\t\t<key>Name</key><string>{name}</string>\n{more}\t\t\t<key>Playlist ID</key><integer>9</integer>\n\t\t\t<key>Playlist Items</key>\n\t\t\t<array>\n{items}\t\t\t</array>\n\t\t</dict>\n"

    middle, tail = "\t</dict>\n\t<key>Playlists</key>\n\t<array>\n", "\t</array>\n</dict>\n</plist>\n"
    one = head + tracks + middle + listed("Night", range(6)) + tail
    master = listed("Library", range(6), "\t\t\t<key>Master</key><true/>\n")
    several = head + tracks + middle + master + listed("Short", range(2)) + listed("Night", range(6)) + tail
    yield Export("iTunes", "itunes.xml", one.encode())
    yield Export("iTunes", "iTunes Library.xml", several.encode(), collection="Night")
    alike = several.replace(">Short<", ">Night<").encode()
    yield Export("iTunes", "Library of two alike.xml", alike, collection="Night (2)")
    yield Export("Apple Music", "music.xml", one.replace("Apple Computer", "Apple").encode())


def sheets() -> Iterator[Export]:
    """Cue sheets and labels."""
    at, points = 0, []
    for _, _, _, seconds, *_ in SONGS:
        points.append(at)
        at += seconds
    head = 'REM GENRE Kraut\r\nREM DATE 1975\r\nREM DISCID 8B0B0A0C\r\nCATALOG 4010101010101\r\nPERFORMER "Various"\r\nTITLE "Tape"\r\n'
    titles = tuple(title.replace('"', "'") for title in TITLES)
    track = [
        f'  TRACK {k:02d} AUDIO\r\n    TITLE "{title}"\r\n    PERFORMER "{a}"\r\n    FLAGS DCP\r\n    ISRC DEA6{k:08d}\r\n    SONGWRITER "{a}"\r\n'
        for k, (title, (_, a, *_)) in enumerate(zip(titles, SONGS, strict=True), start=1)
    ]
    files = [f'FILE "{k:02d}.wav" WAVE\r\n{block}    INDEX 01 00:00:00\r\n' for k, block in enumerate(track, start=1)]
    yield Export("Exact Audio Copy", "eac-files.cue", (head + "".join(files)).encode(), titles)
    yield Export(
        "EZ CD", "index-00-alone.cue", (head + "".join(files)).replace("INDEX 01", "INDEX 00").encode(), titles
    )
    image = [
        f"{block}    INDEX 01 {clock(begin, padded=True)}:00\r\n" for block, begin in zip(track, points, strict=True)
    ]
    yield Export(
        "Exact Audio Copy",
        "eac-image.cue",
        (head + 'FILE "image.wav" WAVE\r\n' + "".join(image)).encode(),
        titles,
        exact=False,
    )
    gaps = [
        f"{block}{'' if not begin else f'    INDEX 00 {clock(begin - 2, padded=True)}:00' + chr(13) + chr(10)}    INDEX 01 {clock(begin, padded=True)}:00\r\n"
        for block, begin in zip(track, points, strict=True)
    ]
    yield Export(
        "CUERipper",
        "cueripper.cue",
        codecs.BOM_UTF8 + (head + 'FILE "tape.flac" WAVE\r\n' + "".join(gaps)).encode(),
        titles,
        exact=False,
    )
    plain = "".join(files).replace("\r\n", "\n").replace("    FLAGS DCP\n", "")
    yield Export("Traktor", "recording.cue", ('TITLE "Mix"\n' + plain).encode(), titles)
    labels = [f"{begin:.6f}\t{begin + song[3]:.6f}\t{song[0]}\n" for begin, song in zip(points, SONGS, strict=True)]
    yield Export("Audacity", "labels.txt", "".join(labels).encode())


def typed() -> Iterator[Export]:
    """Lists as people write them; quotes around a whole title are none of it."""
    titles = tuple(title.replace('"Heroes" (Live)', "Heroes (Live)") for title in TITLES)
    songs = [(title, *song[1:]) for title, song in zip(titles, SONGS, strict=True)]
    at, begins = 0, []
    for song in songs:
        begins.append(at)
        at += song[3]
    styles = {
        "forum.txt": "".join(f"{k}. {t} - {a} {clock(s)}\n" for k, (t, a, _, s, *_) in enumerate(songs, 1)),
        "1001tracklists.txt": "Anna @ Night\n\n" + "".join(f"{k:02d}. {a} - {t} [SPOON]\n" for k, (t, a, *_) in enumerate(songs, 1)),
        "youtube.txt": "".join(f"{clock(b, padded=True)} {a} - {t}\n" for b, (t, a, *_) in zip(begins, songs, strict=True)),
        "discogs.txt": "".join(f"{'AB'[k // 3]}{k % 3 + 1}\t{t}\t{clock(s)}\n" for k, (t, _, _, s, *_) in enumerate(songs)),
        "bandcamp.txt": "".join(f"{k}. {t} {clock(s, padded=True)}\n" for k, (t, _, _, s, *_) in enumerate(songs, 1)),
        "booklet.txt": "".join(f"{k} {t} ({clock(s)})\r\n" for k, (t, _, _, s, *_) in enumerate(songs, 1)),
        "message.txt": "".join(f"• {t} – {a}\n" for t, a, *_ in songs),
        "quoted.txt": "".join(f"{k}) “{t}” by {a}\n" for k, (t, a, *_) in enumerate(songs, 1)),
        "pasted.txt": "".join(f"{k}\t{t}\t{a}\t{al}\t{clock(s)}\n" for k, (t, a, al, s, *_) in enumerate(songs, 1)),
        "setlist.txt": "Side A\n" + "".join(f"{k}. {t}\n" for k, t in enumerate(titles[:3], 1)) + "\nSide B\n" + "".join(f"{k}. {t}\n" for k, t in enumerate(titles[3:], 1)),
    }  # fmt: skip
    for name, text in styles.items():  # without sides their headings go
        yield Export("people", name, text.encode(), titles, exact=name != "setlist.txt")


def make_exports() -> list[Export]:
    """All of them."""
    return [*tables(), *playlists(), *sheets(), *typed()]


if __name__ == "__main__":
    for export in make_exports():
        Path(sys.argv[1], export.name).write_bytes(export.data)
