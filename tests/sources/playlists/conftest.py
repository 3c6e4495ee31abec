"""Playlists as other programs write them: what comes before the entries, each entry, and what comes after.

Each has what that program is known for, and entries that no reader of files can use: streams, missing files,
folders, duplicates, and lines between entries.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Foreign:
    """The parts of a file; `{n}` in an entry is its number, `joint` stands between two entries."""

    name: str
    head: str
    entries: tuple[str, ...]
    tail: str = ""
    joint: str = ""
    encoding: str = "utf-8"
    mark: bytes = b""

    def in_order(self, order: list[int], tail: str | None = None) -> bytes:
        """The file with its entries in another order."""
        blocks = [self.entries[i].replace("{n}", str(number)) for number, i in enumerate(order, start=1)]
        text = self.head + self.joint.join(blocks) + (self.tail if tail is None else tail)
        return self.mark + text.encode(self.encoding)

    @property
    def data(self) -> bytes:
        """The file as that program writes it."""
        return self.in_order(list(range(len(self.entries))))


WINAMP = Foreign(
    "winamp.m3u",
    "#EXTM3U\r\n",
    (
        "#EXTINF:215,Kraftwerk - Autobahn (Früh)\r\nC:\\Musik\\Kraftwerk\\Autobahn.mp3\r\n",
        "#EXTINF:-1,SHOUTcast\r\nhttp://example.org:8000/listen.pls\r\n",
        "#EXTINF:189,Neu! - Für immer\r\n\\\\server\\musik\\Für immer.mp3\r\n",
        "..\\Gibt es nicht.mp3\r\n",
        "#EXTINF:215,Kraftwerk - Autobahn (Früh)\r\nC:\\Musik\\Kraftwerk\\Autobahn.mp3\r\n",
    ),
    encoding="cp1252",
)
FOOBAR = Foreign(
    "foobar2000.m3u8",
    "#\r\n",
    (
        "F:\\Music\\Björk\\[1997] Homogenic\\02 - Jóga.flac\r\n",
        "cdda://017F1A4C\r\n",
        "F:\\Music\\音楽\\01.flac\r\n",
        "https://radio.example.org/stream.mp3\r\n",
    ),
    mark=codecs.BOM_UTF8,
)
ITUNES = Foreign(
    "itunes.m3u",
    "#EXTM3U\r",
    (
        "#EXTINF:254,Hyperballad - Björk\r/Users/anna/Music/Media.localized/Björk/Post/02 Hyperballad.m4a\r",
        "#EXTINF:301,Teardrop - Massive Attack\r/Users/anna/Music/Massive Attack/Teardrop.m4a\r",
        "#EXTINF:-1,Radio\rhttp://example.org/live\r",
    ),
    encoding="utf-16-le",
    mark=codecs.BOM_UTF16_LE,
)
MUSICBEE = Foreign(
    "musicbee.m3u8",
    "#EXTM3U\r\n",
    (
        "#EXTINF:201,Can - Vitamin C\r\n..\\Can\\Ege Bamyasi\\04 Vitamin C.mp3\r\n",
        "#EXTINF:180\r\n..\\Can\\%20 odd%zz.mp3\r\n",
        "D:\\Music\\A folder\\\r\n",
    ),
    tail="# made by hand\r\n",
)
VLC_M3U = Foreign(
    "vlc.m3u",
    "#EXTM3U\n",
    (
        "#EXTINF:123,Artist - Title\n#EXTVLCOPT:start-time=10\n#EXTVLCOPT:network-caching=1000\nfile:///home/a/M%C3%BCsik/a%20b.ogg\n",
        "#EXTINF:0,\nmms://example.org/live.asf\n",
        "#EXTINF:0,rtsp\nrtsp://example.org/x\n",
        "# a remark between two entries\n\n#EXTINF:60,x\nx.ogg\n",
    ),
)
KODI = Foreign(
    "kodi.m3u8",
    '#EXTM3U x-tvg-url="http://example.org/epg.xml"\n#PLAYLIST:Abends\n',
    (
        '#EXTINF:-1 tvg-id="a" tvg-logo="http://x/l.png" group-title="News, live",Eins\n#KODIPROP:inputstream=inputstream.adaptive\n#EXTGRP:News\nhttp://example.org/1.m3u8|User-Agent=Kodi\n',
        "#EXTINF:200,Can - Spoon\nplugin://plugin.audio.example/play?id=7\n",
        "#EXTINF:200,Can - Spoon\nmusicdb://songs/77.flac?albumid=3\n",
        "#EXTINF:200,Can - Spoon\nsmb://nas/music/Can/Spoon.flac\n",
        "spotify:track:4uLU6hMCjMI75M1A2tKUQC\n",
    ),
)
POWERAMP = Foreign(
    "poweramp.m3u8",
    "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:POWERAMP\n",
    (
        "#EXTINF:241,Air - La Femme d'Argent\n#EXT-X-RATING:5\nprimary/Music/Air/01.mp3\n",
        "#EXTINF:0,\n#EXT-X-LASTPLAYED:0\n/storage/ABCD-1234/Music/gone.mp3\n",
        "primary/Music/Air/02.mp3\n",
    ),
    tail="#EXT-X-ENDLIST\n",
)
NAVIDROME = Foreign(
    "navidrome.m3u",
    "#EXTM3U\n#PLAYLIST:Späte Stücke\n",
    (
        "#EXTINF:201.36,Can - Vitamin C\n/music/Can/Ege Bamyasi/04.flac\n",
        "#EXTINF:99.00,Neu! - Hallogallo - live\n#EXTALB:Neu!\n#EXTART:Neu!\n#EXTGENRE:Kraut\n"
        "#EXTIMG:cover.jpg\n/music/Neu!/01.flac\n",
        "/music/Neu!/02.flac",
    ),
    joint="",
)
MIXXX = Foreign(
    "mixxx.m3u8",
    "#EXTM3U\n",
    tuple(
        f"#EXTINF:{100 + i},DJ {name} - Träck {i}\n/home/dj/Müsic/{i} {name}.aiff\n" for i, name in enumerate("ABCA", 1)
    ),
)
HLS = Foreign(
    "jellyfin.m3u8",
    "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n",
    (
        "#EXTINF:9.009,\n#EXT-X-BYTERANGE:75232@0\nhls1/main/0.ts?ApiKey=x\n",
        "#EXT-X-DISCONTINUITY\n#EXTINF:9.009,\nhls1/main/1.ts?ApiKey=x\n",
        "#EXTINF:3.003,\nhls1/main/2.ts?ApiKey=x\n",
    ),
    tail="#EXT-X-ENDLIST\n",
)
RHYTHMBOX = Foreign(
    "rhythmbox.pls",
    "[playlist]\nX-GNOME-Title=Été\nNumberOfEntries=3\n",
    (
        "File{n}=file:///home/anna/Musique/%C3%89t%C3%A9.ogg\nTitle{n}=Été\n",
        "File{n}=http://example.org/radio\nTitle{n}=Radio\n",
        "File{n}=../ailleurs.ogg\nTitle{n}=\n",
    ),
)
BANSHEE = Foreign(
    "banshee.pls",
    "[playlist]\n\n",
    (
        "File{n}=Can/Vitamin C.ogg\nTitle{n}=Can - Vitamin C\nLength{n}=201\n",
        "File{n}=Can/Vitamin C.ogg\nTitle{n}=Can - Vitamin C\nLength{n}=201\n",
        "File{n}=mms://example.org/a\nTitle{n}=\nLength{n}=-1\nGenre{n}=Talk\n",
    ),
    tail="NumberOfEntries=3\n\nVersion=2\n",
)
VLC_XSPF = Foreign(
    "vlc.xspf",
    '<?xml version="1.0" encoding="UTF-8"?>\n<playlist xmlns="http://xspf.org/ns/0/" '
    'xmlns:vlc="http://www.videolan.org/vlc/playlist/ns/0/" version="1">\n\t<title>Playlist</title>\n\t<trackList>',
    tuple(
        f"\n\t\t<track>\n\t\t\t<location>{location}</location>{more}\n\t\t\t"
        '<extension application="http://www.videolan.org/vlc/playlist/0">\n\t\t\t\t'
        f"<vlc:id>{i}</vlc:id>\n\t\t\t\t<vlc:option>start-time={i}</vlc:option>\n\t\t\t</extension>\n\t\t</track>"
        for i, (location, more) in enumerate(
            [
                ("file:///home/a/a%20b.ogg", "\n\t\t\t<title>A &amp; B</title>\n\t\t\t<duration>201000</duration>"),
                ("mms://example.org/live.asf", ""),
                ("file:///C:/Music/%C3%BC.mp3", "\n\t\t\t<trackNum>3</trackNum>"),
                ("file:///home/a/a%20b.ogg", "<!-- again -->"),
            ]
        )
    ),
    tail='\n\t</trackList>\n\t<extension application="http://www.videolan.org/vlc/playlist/0">\n\t\t\t'
    '<vlc:item tid="0"/>\n\t\t\t<vlc:item tid="1"/>\n\t\t\t<vlc:item tid="2"/>\n\t\t\t<vlc:item tid="3"/>\n'
    "\t</extension>\n</playlist>\n",
)
STRAWBERRY = Foreign(
    "strawberry.xspf",
    '<?xml version="1.0" encoding="UTF-8"?>\n<playlist version="1" xmlns="http://xspf.org/ns/0/">\n'
    "    <title>Herbst</title>\n    <trackList>",
    (
        "\n        <track>\n            <location>../M%C3%BCsik/a.flac</location>\n            <title>A</title>\n"
        "            <creator>Can</creator>\n            <album>Tago Mago</album>\n"
        "            <duration>201000</duration>\n"
        "            <trackNum>1</trackNum>\n            <image>file:///tmp/cover.jpg</image>\n"
        '            <extension application="https://www.strawberrymusicplayer.org/"><rating>0.8</rating></extension>\n'
        "        </track>",
        "\n        <!-- a remark --><track><location>http://example.org/s?a=1&amp;b=2</location></track>",
        "\n        <track>\n            <title>Only a title</title>\n        </track>",
    ),
    tail="\n    </trackList>\n</playlist>\n",
)
LISTENBRAINZ = Foreign(
    "listenbrainz.jspf",
    '{\n  "playlist": {\n    "creator": "anna",\n    "date": "2024-01-08T17:10:47+00:00",\n    "extension": '
    '{"https://musicbrainz.org/doc/jspf#playlist": {"public": true, "creator": "anna"}},\n'
    '    "identifier": "https://listenbrainz.org/playlist/1",\n    "title": "Été",\n    "track": [\n      ',
    (
        '{"title": "One", "creator": "Can", "identifier": ["https://musicbrainz.org/recording/1"], "extension": '
        '{"https://musicbrainz.org/doc/jspf#track": {"added_by": "anna", "additional_metadata": {"caa_id": 1.50}}}}',
        '{"title": "Tw\\u00f6", "creator": "Neu!", "identifier": "https://musicbrainz.org/recording/2", "x": 1e400}',
        '{"location": ["file:///m/a%20b.flac", "http://example.org/b"], "duration": 201000}',
        '{"title": "Only a title"}',
    ),
    tail='\n    ]\n  },\n  "other": [1, 2.0]\n}\n',
    joint=",\n      ",
)

FOREIGN = (
    WINAMP, FOOBAR, ITUNES, MUSICBEE, VLC_M3U, KODI, POWERAMP, NAVIDROME, MIXXX, HLS, RHYTHMBOX, BANSHEE, VLC_XSPF,
    STRAWBERRY, LISTENBRAINZ,
)  # fmt: skip


@pytest.fixture(params=FOREIGN, ids=[sample.name for sample in FOREIGN])
def foreign(request: pytest.FixtureRequest) -> Foreign:
    """Each of them in turn."""
    sample: Foreign = request.param
    return sample


@pytest.fixture
def vlc() -> Foreign:
    """VLC's XSPF, whose end lists the tracks again."""
    return VLC_XSPF
