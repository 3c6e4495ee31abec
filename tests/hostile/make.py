"""184 files made to hurt who opens them: bombs, cut-offs, nesting, huge sizes declared, odd encodings, wrong magic.

python tests/hostile/make.py FOLDER    # writes them
"""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import struct
import sys
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

MANY = 100_000
TEMPLATES = {"format": "fabula-templates", "version": 1}
W = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}</w:body></w:document>'


def archive(**entries: bytes) -> bytes:
    """A zip archive; ``__`` in names stands for a slash, ``_dot_`` for a dot."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return out.getvalue()


def riff(rate: int, channels: int, bits: int, declared: int, data: bytes = b"\0" * 64, kind: int = 1) -> bytes:
    """A WAV file with a header that says what it likes."""
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", kind, channels, rate, rate * block & 0xFFFFFFFF, block & 0xFFFF, bits)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", declared) + data
    return b"RIFF" + struct.pack("<I", declared & 0xFFFFFFFF) + body


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, depth: int = 8, colour: int = 2, data: bytes = b"", more: bytes = b"") -> bytes:
    """A PNG with a header that says what it likes."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    )


def id3(frames: bytes, size: int | None = None) -> bytes:
    """An ID3 tag and a little noise behind it."""
    n = len(frames) if size is None else size
    packed = bytes((n >> shift) & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + packed + frames + b"\xff\xfb\x90\0" + b"\0" * 400


def sounds() -> dict[str, bytes]:
    """Audio and tags."""
    flac = b"fLaC\x80\0\0\x22" + b"\x10\0\x10\0" + b"\0" * 6 + b"\x0a\xc4\x42\xf0" + b"\xff" * 4 + b"\0" * 16
    said = struct.pack("<II", 0, 60_000) + b"\7\0\0\0TITLE=a" * 60_000
    ogg = b"OggS\0\2" + b"\0" * 20 + b"\1\x1e\1vorbis" + b"\0" * 23
    return {
        "huge.wav": riff(44100, 2, 16, 0xFFFFFFF0),
        "channels.wav": riff(44100, 65535, 32, 1 << 30),
        "rate0.wav": riff(0, 1, 16, 64),
        "rate.wav": riff(0xFFFFFFFF, 1, 16, 64),
        "bits0.wav": riff(44100, 1, 0, 64),
        "kind.wav": riff(44100, 1, 16, 64, kind=0x1234),
        "nothing.wav": b"",
        "riff.wav": b"RIFF",
        "text.wav": b"hello world\n" * 1000,
        "nan.wav": riff(44100, 1, 32, 400_000, b"\xff\xff\xff\x7f" * MANY, kind=3),
        "inf.wav": riff(44100, 1, 32, 400_000, b"\0\0\x80\x7f" * MANY, kind=3),
        "cut.flac": flac,
        "ones.flac": b"fLaC" + b"\xff" * 5000,
        "blocks.flac": b"fLaC" + b"\x01\xff\xff\xff" * 5000,
        "cut.ogg": ogg,
        "pages.ogg": b"OggS" * 50_000,
        "opus.opus": b"OggS\0\2" + b"\0" * 20 + b"\1\x13OpusHead\1\xff" + b"\xff" * 9,
        "frames.mp3": b"\xff\xfb\x90\0" * 50_000,
        "noise.mp3": bytes((7 * i * i + 3 * i) % 256 for i in range(60_000)),
        "tag.mp3": id3(b"", 0x0FFFFFFF),
        "title.mp3": id3(b"TIT2" + struct.pack(">I", 300_000) + b"\0\0\0" + b"A" * 300_000),
        "utf16.mp3": id3(b"TIT2" + struct.pack(">I", 5) + b"\0\0\1\xff\xfe\x00\xd8"),
        "cover.mp3": id3(b"APIC" + struct.pack(">I", 0x7FFFFFFF) + b"\0\0\0image/png\0\3\0"),
        "atoms.m4a": b"\0\0\0\x08free" * 50_000,
        "deep.m4a": b"".join(struct.pack(">I", 8 * (4000 - i)) + b"moov" for i in range(4000)),
        "size0.m4a": b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42\0\0\0\0moov",
        "huge.m4a": b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42\0\0\0\1mdat" + b"\xff" * 8,
        "rate.aiff": b"FORM\0\0\2\x26AIFFCOMM\0\0\0\x12\0\1\0\0\0\xf6\0\x10\x40\x1c\xbe\xbc\x20\0\0\0\0\0"
        b"SSND\0\0\1\xf4" + b"\0" * 500,
        "comments.flac": flac[:4]
        + b"\0"
        + flac[5:-20]
        + b"\0" * 20
        + b"\x84"
        + struct.pack(">I", len(said))[1:]
        + said,
        "form.aiff": b"FORM\xff\xff\xff\xffAIFFCOMM\0\0\0\x12" + b"\xff" * 18,
        "script.mp3": b"#!/bin/sh\ntouch owned\n",
        "playlist.mp3": b"#EXTM3U\nfile:///etc/passwd\n" * 1000,
    }


def lists() -> dict[str, bytes]:
    """Playlists."""
    laughs = (
        '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY {"ab"[i % 2]}{i} "{"&a;" * 10}">' for i in range(20))
        + "]><playlist><trackList><track><title>&b19;</title></track></trackList></playlist>"
    )
    tracks = "<track><location>a.mp3</location></track>"
    return {
        "self.m3u8": b"#EXTM3U\nself.m3u8\n",
        "nul.m3u8": b"#EXTM3U\n\0\0\0\n/dev/zero\n",
        "devices.m3u8": b"/dev/zero\n/dev/stdin\n/proc/self/mem\n",
        "long.m3u8": b"#EXTM3U\n" + b"a" * 2_000_000 + b".mp3\n",
        "lines.m3u8": b"\n" * 500_000,
        "tags.m3u8": b"#EXTINF:" * MANY,
        "seconds.m3u8": b"#EXTM3U\n#EXTINF:" + b"9" * 5000 + b",a\na.mp3\n",
        "utf16.m3u8": "#EXTM3U\na.mp3\n".encode("utf-16"),
        "count.pls": b"[playlist]\nNumberOfEntries=999999999999\nFile1=a.mp3\n",
        "number.pls": b"[playlist]\nFile99999999999999999999=a.mp3\n",
        "same.pls": b"[playlist]\n" + b"File1=a\n" * MANY,
        "laughs.xspf": laughs.encode(),
        "outside.xspf": b'<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><playlist>&x;</playlist>',
        "deep.xspf": b"<a>" * MANY,
        "wide.xspf": f"<playlist><trackList>{tracks * 200}</trackList>".encode(),
        "attributes.xspf": b"<playlist " + b" ".join(b"a%d=''" % i for i in range(20_000)) + b"/>",
        "deep.jspf": b'{"playlist":' * MANY,
        "number.jspf": b'{"playlist":{"track":[{"duration":1e999,"title":"a","location":["a"]}]}}',
        "cue.cue": b'FILE "a.wav" WAVE\n' + b"TRACK 01 AUDIO\nINDEX 01 99:99:99\n" * 5000,
        "name.cue": b'FILE "%s" WAVE\n' % (b"a" * 300_000) + b"TRACK 01 AUDIO\nINDEX 01 00:00:00\n" * 3,
        "features.m3u8": b"#EXTM3U\n#EXTFABULA:" + b",".join(b"f%d=1" % i for i in range(30_000)) + b"\na.mp3\n",
        "columns.m3u8": b"#EXTM3U\n" + b"".join(b"#EXTFABULA:f%d=1\n%d.mp3\n" % (i, i) for i in range(9000)),
        "gone.m3u8": b"#EXTM3U\n" + b"".join(b"music/%d.mp3\n" % i for i in range(90_000)),
        "stretches.m3u8": b"#EXTM3U\n" + b"".join(b"long.wav#t=%d,%d\n" % (i, i + 1) for i in range(3000)),
        "cycle.cue": b'FILE "cycle.cue" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n',
    }


def tables() -> dict[str, bytes]:
    """Tables, templates, sessions and models."""
    rows = [{"title": f"t{i}", "energy": i} for i in range(5)]
    knots = {"knots": [i / 4999 for i in range(5000)], "values": [i % 7 for i in range(5000)]}
    header = json.dumps(
        {"__metadata__": {"format": "fabula"}, "x": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 8]}}
    )
    return {
        "wide.csv": b",".join(b"c%d" % i for i in range(20_000)) + b"\n" + b",".join([b"1"] * 20_000) + b"\n",
        "quotes.csv": b'title,energy\n"' + b'""' * 300_000,
        "cell.csv": b"title,energy\n" + b"a" * 3_000_000 + b",1\nb,2\n",
        "ragged.csv": b"title,energy\n" + b"a\n" * MANY,
        "nul.csv": b"title,energy\n\0,1\n\0,2\n",
        "numbers.csv": b"title,energy\na," + b"9" * 100_000 + b"\nb,1e999999\nc,nan\n",
        "commas.csv": b"," * 500_000,
        "utf16.csv": "title,energy\na,1\nb,2\n".encode("utf-16"),
        "utf7.csv": b"title,energy\n+ACI-,1\n\xff\xfe,2\n",
        "formula.csv": b"title,energy\n=cmd|'/c calc'!A1,1\n@SUM(1),2\n",
        "columns.tsv": b"a\ta\ta\n1\t2\t3\n",
        "deep.json": b"[" * MANY,
        "deeper.json": b'{"a":' * MANY + b"1" + b"}" * MANY,
        "twice.json": b'[{%s,"k0":1}]' % b",".join(b'"k%d":1' % i for i in range(120_000, -1, -1)),
        "lists.json": b'[{"a":[' + b"[]," * 4_200_000 + b"[]]}]",
        "columns.jsonl": b"".join(b'{"c%d":1}\n' % i for i in range(20_000)),
        "keys.json": json.dumps([{f"k{i}": i for i in range(10_000)}] * 3).encode(),
        "number.json": b'[{"title":"a","energy":' + b"9" * 50_000 + b"}]",
        "surrogate.json": b'[{"title":"\\ud800","energy":1},{"title":"b","energy":2}]',
        "latin.json": '[{"title":"\xe9","energy":1}]'.encode("latin-1"),
        "lines.jsonl": b'{"energy":1}\n' * 30_000 + b"{",
        "nested.jsonl": b'{"title":"a","energy":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
        "footer.parquet": b"PAR1" + b"\xff" * 4000 + struct.pack("<I", 0xFFFFFFF0) + b"PAR1",
        "empty.parquet": b"PAR1\0\0\0\0PAR1",
        "thrift.parquet": b"PAR1" + b"\x15\x04" * 2000 + struct.pack("<I", 4000) + b"PAR1",
        "short.feather": b"ARROW1\0\0" + b"\xff" * 200 + b"ARROW1",
        "sqlite.csv": b"SQLite format 3\0" + b"\xff" * 5000,
        "bomb.csv.gz": gzip.compress(b"title,energy\n" + b"\0" * 30_000_000),
        "knots.json": json.dumps({**TEMPLATES, "templates": [knots]}).encode(),
        "template.json": json.dumps(
            {**TEMPLATES, "templates": [{"knots": [0, 1], "values": [1e308, -1e308]}]}
        ).encode(),
        "session.fabula.json": json.dumps({"format": "fabula-session", "version": 1, "items": rows * 60}).encode(),
        "paths.fabula.json": b'{"format":"fabula-session","version":1,"items":[{"path":"/etc/passwd"}]}',
        "header.fabula": struct.pack("<Q", 1 << 62) + b"{}",
        "shape.fabula": struct.pack("<Q", len(header)) + header.encode() + b"\0" * 8,
    }


def texts() -> dict[str, bytes]:
    """Texts, and archives that hold them."""
    laughs = b'<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><d>&b;</d>'
    inner = archive(word__document_dot_xml=b"<" * 1_000_000)
    lying = bytearray(archive(word__document_dot_xml=b"a" * 100_000))
    lying[lying.find(b"PK\1\2") + 24 : lying.find(b"PK\1\2") + 28] = b"\xff\xff\xff\x7f"
    return {
        "brackets.md": b"[" * 400_000,
        "pictures.md": b"![a](" * 80_000,
        "ticks.md": b"`" * 400_000,
        "quotes.md": b"> " * 100_000,
        "rules.md": b"# " * 100_000,
        "lists.md": b"\n".join(b" " * i + b"- a" for i in range(1500)),
        "ends.html": b"</" * 200_000,
        "comments.html": b"<!--" * 100_000,
        "marks.html": b"<?" * 200_000,
        "links.html": b"<a" * 200_000,
        "deep.html": b"<div>" * MANY,
        "entities.html": b"&#x41;&amp" * 40_000,
        "line.txt": b"a" * 3_000_000,
        "lines.txt": b"THE A\n" * 3_000_000,
        "nul.txt": b"\0" * 1_000_000,
        "random.txt": bytes((i * i * 31 + 7) % 256 for i in range(300_000)),
        "combining.txt": ("e" + "\u0301" * 200_000).encode(),
        "bidi.txt": ("\u202e" * MANY + "abc").encode(),
        "utf32.txt": "a story".encode("utf-32"),
        "half.txt": b"\xff\xfea",
        "doctype.docx": archive(word__document_dot_xml=b"<!DOCTYPE" * 44_000),
        "laughs.docx": archive(word__document_dot_xml=laughs),
        "bomb.docx": archive(word__document_dot_xml=W.format("<w:p/>" * 4_000_000).encode()),
        "deep.docx": archive(word__document_dot_xml=b"<w:p>" * MANY),
        "lying.docx": bytes(lying),
        "cut.docx": inner[: len(inner) // 2],
        "nested.docx": archive(word__document_dot_xml=inner),
        "many.epub": archive(**{f"c{i}_dot_xhtml": b"<p>a</p>" for i in range(3000)}, x=b"<a/>"),
        "outside.epub": archive(_dot__dot___dot__dot___x_dot_xhtml=b"<p>a</p>"),
        "bomb.odt": archive(content_dot_xml=b"<office:text>" + b" " * 40_000_000),
    }  # fmt: skip


def pdf(pages: int, content: bytes, said: bytes = b"", page: bytes = b"", more: bytes = b"") -> bytes:
    """A PDF whose pages all show one stream, of which and of each page it says something more."""
    listed = b" ".join(b"%d 0 R" % number for number in range(9, 9 + pages))
    made = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    made += b"2 0 obj<</Type/Pages/Kids[%s]/Count %d>>endobj\n" % (listed, pages)
    made += b"3 0 obj<<%s/Length %d>>stream\n%s\nendstream endobj\n" % (said, len(content), content)
    for number in range(9, 9 + pages):
        made += b"%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R%s>>endobj\n" % (number, page)
    return made + more + b"trailer<</Root 1 0 R>>"


def deflate(data: bytes, times: int) -> bytes:
    """A piece of data many times over, packed."""
    packer = zlib.compressobj()
    return b"".join(packer.compress(data) for _ in range(times)) + packer.flush()


def pictures() -> dict[str, bytes]:
    """Pictures and PDF."""
    twice = b"/Filter[/FlateDecode/FlateDecode]"
    pages = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    pages += b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 999999999>>endobj\n"
    return {
        "pixels.png": png(100_000, 100_000),
        "sixteen.png": png(10_000, 10_000, 16, 6),
        "zero.png": png(0, 0),
        "text.png": png(2, 2, data=b"\0" * 14, more=chunk(b"zTXt", b"a\0\0" + zlib.compress(b"a" * 30_000_000))),
        "cut.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\0\x11\x08\xff\xff\xff\xff\3",
        "postscript.jpg": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n",
        "huge.bmp": b"BM" + struct.pack("<IHHIIiiHHI", 1 << 30, 0, 0, 54, 40, 1 << 20, 1 << 20, 1, 24, 0) + b"\0" * 40,
        "cycle.tiff": b"II*\0\x08\0\0\0\1\0\0\1\4\0\1\0\0\0\xff\xff\xff\x7f\x08\0\0\0",
        "loop.pdf": pages + b"trailer<</Root 1 0 R>>",
        "cut.pdf": b"%PDF-1.7\n" + b"<<" * MANY,
        "spaces.pdf": pdf(30, zlib.compress(deflate(b" " * 10**6, 400)), twice),
    }


def sheet(rows: bytes, **more: bytes) -> bytes:
    """A workbook of one sheet."""
    space = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    linked = b'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    kinds = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
    kinds += b'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
    kinds += b'sheet.main+xml"/></Types>'
    links = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" '
    links += b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="s.xml"/>'
    book = b"<workbook %s %s><sheets><sheet name='a' sheetId='1' r:id='a'/></sheets></workbook>" % (space, linked)
    return archive(
        **{"[Content_Types]_dot_xml": kinds, "xl__workbook_dot_xml": book, **more},
        xl___rels__workbook_dot_xml_dot_rels=links + b"</Relationships>",
        xl__s_dot_xml=b"<worksheet %s><sheetData>%s</sheetData></worksheet>" % (space, rows),
    )


def slides(shapes: str, count: int = 1) -> bytes:
    """A deck that shows one slide some times."""
    listed = '<s:sldId xmlns:r="r" id="9" r:id="a"/>' * count
    return archive(
        ppt__presentation_dot_xml=f'<s:p xmlns:s="s"><s:sldIdLst>{listed}</s:sldIdLst></s:p>'.encode(),
        ppt___rels__presentation_dot_xml_dot_rels=b'<r><a Id="a" Target="s.xml"/></r>',
        ppt__s_dot_xml=f'<s:s xmlns:s="s"><s:cSld><s:spTree>{shapes}</s:spTree></s:cSld></s:s>'.encode(),
    )


def database(*statements: str) -> bytes:
    """What SQLite writes when it is asked so."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(";".join(statements))
        return bytes(made.serialize())


def exports() -> dict[str, bytes]:
    """Lists and databases of players and decks, and spreadsheets."""
    endless = "WITH RECURSIVE a (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a)"
    mixxx = [f"CREATE TABLE {name} (playlist_id)" for name in ("library", "track_locations", "PlaylistTracks")]
    counted = [f"CREATE TABLE {name} ({columns})" for name, columns in (
        ("library", "id, artist, title, album, genre, duration, bpm, key_id, key, rating, year, location, samplerate"),
        ("track_locations", "id, location"), ("PlaylistTracks", "playlist_id, track_id, position"),
        ("crates", "id, name"), ("crate_tracks", "crate_id, track_id"), ("cues", "track_id, type, position, label"),
        ("Playlists", "id, name, hidden, position"))]  # fmt: skip
    odd = ", ".join(["x'ff'"] * 6 + ["1"] + ["x'ff'"] * 5)
    plist = b'<?xml version="1.0"?><plist version="1.0"><dict><key>Tracks</key><dict/><key>Playlists</key><array>%s'
    items = b"<dict><key>Playlist Items</key><array></array ></dict>"
    end = b"</array></dict></plist>"
    number = b"<dict><key>Name</key><string>a</string><key>BPM</key><integer>%s</integer></dict>" % (b"9" * 4000)
    listed = b"<dict><key>Playlist Items</key><array>%s</array></dict>" % (
        b"<dict><key>Track ID</key><integer>1</integer></dict>" * 3
    )
    cells = b"<row r='%d'><c t='inlineStr' r='A%d'><is><t>a</t></is></c></row>"
    return {
        "letters.wpl": b"<smil><media src='a'>" + b"a" * 900_000 + b"</media></smil>",
        "tags.asx": b"<asx><entry>" + b"".join(b"<t%d>" % n for n in range(110_000)) + b"</entry></asx>",
        "comments.asx": b"<asx>" + b"<!--" * 200_000 + b"<entry><ref href='a.mp3'/></entry></asx>",
        "nodes.nml": b"<NML><PLAYLISTS>" + b"<NODE>" * MANY + b"</NODE>" * MANY,
        "doctype.nml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><NML>&b;</NML>",
        "arrays.xml": plist % (items * 20_000) + b"</array></dict></plist>",
        "deep.xml": plist % (b"<array>" * MANY),
        "laughs.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><plist><dict><key>&b;</key></dict></plist>",
        "digits.xml": plist.replace(b"<dict/>", b"<dict><key>1</key>%s</dict>" % number) % listed + end,
        "attributes.nml": b"<NML><COLLECTION><ENTRY " + b" ".join(b"a%d=''" % n for n in range(1_200_000)) + b"/>",
        "name.crate": b"vrsn\0\0\0\0" + b"otrk\0\0\x27\x18ptrk\0\0\x27\x10" + b"\0a" * 5000,
        "size.crate": b"vrsn\0\0\0\0otrk\xff\xff\xff\xff",
        "names.crate": b"vrsn\0\0\0\0" + b"otrk\0\0\0\x0cptrk\0\0\0\4\xd8\0\0/" * 50_000,
        "header.sqlite": b"SQLite format 3\0" + b"\xff" * 5000,
        "endless.sqlite": database(*mixxx, f"CREATE VIEW Playlists AS {endless} SELECT n AS id, n AS name, 0 AS hidden,"
                                   " 0 AS position FROM a WHERE n < 0"),
        "wide.sqlite": database(*mixxx, f"CREATE VIEW Playlists AS {endless} SELECT n AS id, zeroblob(100000000) AS "
                                "name, 0 AS hidden, 0 AS position FROM a"),
        "types.sqlite": database(*counted, f"INSERT INTO library VALUES (1, {odd})",
                                 "INSERT INTO Playlists VALUES (1, 'a', 0, 1)",
                                 *["INSERT INTO PlaylistTracks VALUES (1, 1, 1)"] * 3),
        "ids.sqlite": database(*counted, "INSERT INTO Playlists VALUES ('a', 'a', 0, 1)",
                               *["INSERT INTO PlaylistTracks VALUES ('a', 1, 1)"] * 3),
        "none.db": database("CREATE TABLE a (b)"),
        "bomb.xlsx": sheet(b" " * 270_000_000),
        "last.xlsx": sheet(b"<row r='1'><c r='XFD1'><v>1</v></c></row><row r='1048576'><c r='A1048576'/></row>"),
        "gap.xlsx": sheet(cells % (1, 1) + cells % (1_048_576, 1_048_576)),
        "deep.xlsx": sheet(b"<row>" * MANY),
        "laughs.xlsx": sheet(b"", xl__sharedStrings_dot_xml=b"<!DOCTYPE a [<!ENTITY b 'c'>]><sst>&b;</sst>"),
        "cut.xlsx": sheet(cells % (1, 1))[:300],
    }  # fmt: skip


def manuscripts() -> dict[str, bytes | dict[str, bytes]]:
    """Kinds of manuscripts beside plain ones; a project is a folder."""
    binder = "<p><BinderItem Type='DraftFolder'><Children>{}</Children></BinderItem></p>"
    same = binder.format("<BinderItem UUID='a'><Title>b</Title></BinderItem>" * 3000).encode()
    return {
        "tabs.rtf": b"{\\rtf1 " + b"".join(b"\\tx%d a\\par\n" % n for n in range(40_000)),
        "deep.rtf": b"{\\rtf1 " + b"{" * 400_000,
        "words.rtf": b"{\\rtf1\\ansicpg99999 \\'e9\\u99999 \\uc-9 \\u-1 ?",
        "shapes.pptx": slides("<s:sp>" * 40_000 + "</s:sp>" * 40_000),
        "lines.pptx": slides("<s:sp>" + "<s:p>" * 40_000 + "</s:p>" * 40_000 + "</s:sp>"),
        "again.pptx": slides(f"<s:sp><s:p><s:t>{'a' * 200}</s:t></s:p></s:sp>" * 150, 40_000),
        "bomb.pptx": archive(ppt__presentation_dot_xml=b" " * 40_000_000),
        "outside.pptx": slides("").replace(b"s.xml", b"/../x"),
        "parts.tex": b"\\begin{document}\n" + b"\\input{b}\n" * MANY,
        "self.tex": b"\\begin{document}\n\\input{self}\n\\input{../../../etc/passwd}\n\\input{/etc/passwd}\n",
        "sections.tex": b"\\section{a}\n\nb\n\n" * 60_000,
        "heads.tex": b"\\section{" * 100_000,
        "scenes.fountain": b"INT. A\n\na\n\n" * 20_000,
        "notes.fountain": b"[[" * 300_000,
        "lines.rst": b"a\n---\n\n" * 60_000,
        "times.srt": b"00:00:00,000 --> " * 50_000,
        "same.scriv": {"a.scrivx": same, "Files/Data/a/content.rtf": b"{\\rtf1 " + b"a word\\par\n" * 40_000},
        "deep.scriv": {"a.scrivx": binder.format("<BinderItem><Children>" * 50_000).encode()},
        "names.scriv": {"a.scrivx": binder.format("<BinderItem UUID='../../..'/>" * 2).encode()},
    }


def drawings() -> dict[str, bytes]:
    """Pictures of designers."""
    start = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    uses = "".join(f'<g id="a{n}">{f"""<use href="#a{n - 1}"/>""" * 10}</g>' for n in range(1, 9))
    return {
        "outside.svg": f"{start}<image href='/etc/a\"/passwd' width='9' height='9'/></svg>".encode(),
        "entity.svg": f"<!DOCTYPE svg [<!ENTITY a '/etc/passwd'>]>{start}<image href='&a;'/></svg>".encode(),
        "uses.svg": f'{start}<g id="a0"><rect width="1" height="1"/></g>{uses}</svg>'.encode(),
        "deep.svg": f"{start}{'<g>' * MANY}".encode(),
        "tall.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1000000000"/>',
        "huge.psd": b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 56, 300_000, 300_000, 32, 3) + bytes(40),
        "layers.psd": b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, 9, 9, 8, 3) + b"\0" * 8 + b"\xff" * 4000,
        "ones.jxl": b"\xff\x0a" + b"\xff" * 4000,
    }


def files() -> dict[str, bytes | dict[str, bytes]]:
    """All of them, by name; a folder by the names of its files."""
    made = sounds() | lists() | tables() | texts() | pictures() | exports() | drawings()
    return {**made, **manuscripts()}


def write(folder: Path) -> list[Path]:
    """Write each into a folder of its own, and give where they are."""
    found = []
    for number, (name, data) in enumerate(files().items()):
        path = folder / f"{number:03}" / name
        for inner, content in (data if isinstance(data, dict) else {"": data}).items():
            (path / inner).parent.mkdir(parents=True, exist_ok=True)
            (path / inner).write_bytes(content)
        found.append(path)
    return found


if __name__ == "__main__":
    write(Path(sys.argv[1]))
