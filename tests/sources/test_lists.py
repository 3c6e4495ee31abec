"""Lists as people write them, what is pasted, cue sheets of one long file, spreadsheets, and what refuses to be one."""

# ruff: noqa: E501 - files as they are

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import soundfile

import fabula
from fabula.cli import run
from fabula.core.files import split_stretch
from fabula.errors import FileError, InputError
from fabula.media.extraction import Measuring
from fabula.media.facts import as_seconds
from fabula.media.music.audio import measure as measure_sound
from fabula.session.measure import measure
from fabula.sources.playlists.playlist import read_playlist, write_playlist
from fabula.sources.playlists.tracklists import artists_first, find_tracks
from fabula.sources.registry import Opening, SeveralCollectionsError, list_endings, name_pasted, open_source

STYLES = {
    "1. Rain - The Band 3:45\n2. Sun - The Band 4:05\n3. Sea - Duo 2:10\n": ("Rain", "The Band", 225),
    "1) Rain (3:45)\n2) Sun (4:05)\n": ("Rain", "", 225),
    "[00:00] Can - Vitamin C\n[04:12] Neu! - Hero (Remix)\n[09:30] Can - Spoon [Spoon]\n": ("Vitamin C", "Can", 252),
    "A1 Rain 3:45\nA2 Sun 4:05\nB1 Sea 2:10\n": ("Rain", "", 225),
    "• Rain – Can\n• Sun – Neu!\n• Sea – Can\n": ("Rain", "Can", None),
    "Stand by Me by Ben E. King\nRain by The Beatles\nSea by Duo\n": ("Stand by Me", "Ben E. King", None),
    '1. "Rain" - The Beatles\n2. "Sun" - The Beatles\n': ("Rain", "The Beatles", None),
    "1\tRain\tCan\tTago\t3:45\n2\tSun\tNeu!\tNeu!\t4:05\n3\tSea\tCan\tX\t2:10\n": ("Rain", "Can", 225),
    "99 Luftballons - Nena\n7 Rings - Ariana Grande\nRain - Nena\n": ("99 Luftballons", "Nena", None),
    "My Mix\n======\n\n01. Can - Vitamin C\n02. Can - Spoon\n03. Neu! - Hero\n\nTotal: 45:00\n": (
        "Vitamin C",
        "Can",
        None,
    ),
    "Track 1: Rain\nTrack 2: Sun\nTrack 3: Sea\n": ("Rain", "", None),
    "1. Rain—Can\n2. Sun—Neu!\n3. Sea—Can\n": ("Rain", "Can", None),
    "0.000000\t225.5\tRain\n225.5\t400.0\tSun\n": ("Rain", "", 225.5),
    "0:00  3:45  Can - Rain\n3:50  4:05  Neu! - Sun\n8:00  1:00  Can - Sea\n": ("Rain", "Can", 225),
    "0:00 - 3:40 Rain\n3:45 - 7:00 Sun\n7:10 - 9:00 Sea\n": ("3:40 Rain", "", 225),
}


@pytest.mark.parametrize("text", STYLES, ids=[text.split("\n")[0] for text in STYLES])
def test_lists_as_people_write_them(tmp_path, text):
    (tmp_path / "a.txt").write_text(text)
    source = open_source([tmp_path / "a.txt"]).with_lengths()
    item = source.collection.items[0]
    assert (item.title, item.artist, item.length) == STYLES[text]
    assert source.medium.name == "music"


@pytest.mark.parametrize(
    "text",
    [
        "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\nRough winds do shake,\n",
        "1. First you open the door.\n2. Then you close it again.\n3. You leave.\n",
        "He said - and it was late - that he would go.\nShe said - no.\nThey left - together.\n",
        "one\ntwo\nthree\n",
        "It was 3:45 when he came.\nNobody was there, and the door stood open. He waited until 4:05\n\nThen he left.\n"
        * 3,
    ],
)
def test_texts_stay_texts(text):
    assert find_tracks(text) is None


def test_who_stands_first_may_be_said(tmp_path):
    (tmp_path / "a.txt").write_text("Rain - Can\nSun - Neu\nSea - Duo\n")
    source = open_source([tmp_path / "a.txt"])
    assert artists_first(find_tracks("Rain - Can\nSun - Neu\nSea - Duo\n")) is None
    assert source.collection.items[0].title == "Can"
    assert source.notes == ("the list is read as 'Artist - Title'; the other way round: --columns artist=second",)
    other = open_source([tmp_path / "a.txt"], Opening(columns=(("artist", "second"),)))
    assert (other.collection.items[0].title, other.notes) == ("Rain", ())
    with pytest.raises(InputError, match="artist=first or artist=second; got artist=Name"):
        open_source([tmp_path / "a.txt"], Opening(columns=(("artist", "Name"),)))


def test_a_pasted_list(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1. Rain - Can 3:45\n2. Sun - Can 4:05\n3. Sea - Neu 2:10\n"))
    )
    assert run(["order", "-", "--json", "-o", "out.txt"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(item["title"] for item in found["items"]) == ["Rain", "Sea", "Sun"]
    assert [line[:3] for line in (tmp_path / "out.txt").read_text().splitlines()] == ["1. ", "2. ", "3. "]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run(["order", "-"]) == 2
    assert capsys.readouterr().err.startswith("fabula: nothing was pasted")


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (b"[playlist]\nFile1=a.mp3\n", ".pls"), (b"<?xml version='1.0'?><playlist/>", ".xspf"), (b"<asx></asx>", ".asx"),
        (b'{"playlist": {}}', ".jspf"), (b"[{}]", ".json"), (b'REM x\nFILE "a" WAVE\n', ".cue"), (b"<smil/>", ".wpl"),
        (b"<?xml?><!DOCTYPE plist><plist/>", ".xml"), (b"Title\tArtist\nRain\tCan\n", ".txt"),
    ],
)  # fmt: skip
def test_what_is_pasted_is_known_by_its_beginning(data, ending):
    assert name_pasted(data)[0] == ending


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A long file of three tones of 4, 5 and 6 seconds, its sheet, and each tone as a file of its own."""
    folder = tmp_path_factory.mktemp("image")
    rate, parts = 8000, []
    for k, seconds in enumerate((4, 5, 6), start=1):
        t = np.arange(seconds * rate) / rate
        parts.append(0.1 * k * np.sin(2 * np.pi * 220 * k * t))
        soundfile.write(folder / f"{k}.wav", parts[-1], rate)
    soundfile.write(folder / "image.wav", np.concatenate(parts), rate)
    head = 'CATALOG 4010101010101\r\nPERFORMER "Tones"\r\nTITLE "Three"\r\nFILE "image.wav" WAVE\r\n'
    tracks = [
        f'  TRACK {k:02d} AUDIO\r\n    TITLE "Tone {k}"\r\n    ISRC DEA6{k:08d}\r\n    COMPOSER "Nobody"\r\n    INDEX 01 {at}\r\n'
        for k, at in enumerate(("00:00:00", "00:04:00", "00:09:00"), start=1)
    ]
    (folder / "image.cue").write_bytes((head + "".join(tracks)).encode())
    return folder


def test_a_stretch_is_measured_as_the_file_it_would_be(image):
    for k, stretch in enumerate(("0,4", "4,9", "9,"), start=1):
        alone, part = measure_sound(image / f"{k}.wav"), measure_sound(f"{image / 'image.wav'}#t={stretch}")
        assert part == alone


def test_a_cue_sheet_of_one_long_file(image, tmp_path):
    source = measure(open_source([image / "image.cue"]), Measuring(cache=False))
    assert [round(item.length) for item in source.collection.items] == [4, 5, 6]
    assert source.collection.items[0].details["isrc"] == "DEA600000001"
    target = image / "new.cue"
    fabula.open(image / "image.cue").order(ordering=[2, 0, 1]).save(target)
    text = target.read_text()
    assert "CATALOG 4010101010101" in text
    blocks = text.split("  TRACK ")[1:]
    assert [block.partition('TITLE "')[2][:6] for block in blocks] == ["Tone 3", "Tone 1", "Tone 2"]
    assert [block.partition("INDEX 01 ")[2][:8] for block in blocks] == ["00:00:00", "00:06:00", "00:10:00"]
    assert all("ISRC" in block and 'COMPOSER "Nobody"' in block for block in blocks)
    again = open_source([target])  # opens by the stretches of the old file
    assert [split_stretch(item.path)[1:] for item in again.collection.items] == [(9.0, None), (0.0, 4.0), (4.0, 9.0)]
    assert [item.title for item in again.collection.items] == ["Tone 3", "Tone 1", "Tone 2"]


def test_isrc_and_cd_text_come_from_tables_and_tags(tmp_path):
    mutagen = pytest.importorskip("mutagen.flac")
    told = ["Title,ISRC,Composer,Length"]
    for k in range(3):
        soundfile.write(tmp_path / f"{k}.flac", np.zeros(8000 * (k + 2)), 8000)
        tags = mutagen.FLAC(tmp_path / f"{k}.flac")
        tags.update({"title": f"T{k}", "isrc": f"DEA6{k:08d}", "composer": f"C{k}"})
        tags.save()
        told.append(f"T{k},DEA6{k:08d},C{k},0:0{k + 2}")
    (tmp_path / "table.csv").write_text("\n".join(told))
    for source in (tmp_path / "table.csv", [tmp_path / f"{k}.flac" for k in range(3)]):
        ordered = fabula.open(source).order(ordering=[2, 0, 1])
        sheet, cue = (ordered.save(tmp_path / f"x{ending}").read_text() for ending in (".ddp.txt", ".cue"))
        assert [line.split("\t")[4] for line in sheet.splitlines()[1:]] == [f"DEA6{k:08d}" for k in (2, 0, 1)]
        assert re.findall(r"ISRC (\S+)", cue) == [f"DEA6{k:08d}" for k in (2, 0, 1)]
        assert re.findall(r'COMPOSER "(\S+)"', cue) == ["C2", "C0", "C1"]


@pytest.mark.parametrize("gap", [2.0, -1.0])
def test_gaps_and_crossfades_count_everywhere_alike(image, tmp_path, gap):
    """When 6, 4 and 5 seconds begin, and how long they are together, as every file says it."""
    ordered = fabula.open(image / "image.cue").order(ordering=[2, 0, 1], gap_s=gap)
    begins = [0.0, 6 + gap, 10 + 2 * gap]
    whole = begins[-1] + 5
    told = {end: ordered.save(tmp_path / f"x{end}").read_text() for end in (".cue", ".ddp.txt", ".labels.txt", ".txt")}
    assert [as_seconds(clock[:5]) for clock in re.findall(r"INDEX 01 (\S+)", told[".cue"])] == begins
    rows = [line.split("\t") for line in told[".ddp.txt"].splitlines() if line.startswith("A\t")]
    assert [as_seconds(row[2][:5]) for row in rows] == begins
    assert [row[4] for row in rows] == ["DEA600000003", "DEA600000001", "DEA600000002"]
    labels = [line.split("\t") for line in told[".labels.txt"].splitlines()]
    assert [float(row[0]) for row in labels] == begins
    assert float(labels[-1][1]) == whole
    assert [as_seconds(clock) for clock in re.findall(r"(?m)^ +\d+ +(\S+)", told[".txt"])] == begins
    assert ordered.begins == begins
    assert ordered.to_json()["total_seconds"] == whole
    assert f"3 tracks, 0:{whole:02.0f}" in str(ordered)
    with pytest.raises(InputError, match=rf"by 0:01: the shortest side limit that works is 0:{9 + gap:02.0f}"):
        fabula.open(image / "image.cue").order(sides=2, side_limit=9 + gap - 1, gap_s=gap)
    fewest = fabula.open(image / "image.cue").order(side_limit=9 + gap, gap_s=gap)
    assert f"2 sides: as many as 0:{9 + gap:02.0f} a side at most take" in fewest.notes


@pytest.mark.skipif(not shutil.which("cuebreakpoints"), reason="needs cuetools")
def test_cuetools_reads_our_sheets(image):
    target = image / "gaps.cue"
    fabula.open(image / "image.cue").order(ordering=[2, 0, 1], gap_s=2.0).save(target)
    found = subprocess.run(["cuebreakpoints", target], capture_output=True, text=True, check=True, timeout=30).stdout
    assert found.split() == ["0:08.00", "0:14.00"]
    files = image / "files.cue"
    fabula.open([image / f"{k}.wav" for k in (1, 2, 3)]).order(ordering=[1, 0, 2]).save(files)
    told = subprocess.run(
        ["cueprint", "-d", "%N", files], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    assert told.strip().endswith("3")


def test_labels_and_times(image):
    ordered = fabula.open(image / "image.cue").order(ordering=[2, 0, 1])
    assert ordered.save(image / "a.labels.txt").read_text().splitlines()[1] == "6.000000\t10.000000\tTone 1"
    assert ordered.save(image / "a.ddp.txt").read_text().splitlines()[2].split("\t") == [
        "A", "02", "00:06:00", "00:04:00", "DEA600000001", "Tone 1", "Tones",
    ]  # fmt: skip


def test_libraries_hold_several_playlists(tmp_path):
    from .make_exports import make_exports

    (export,) = (one for one in make_exports() if one.name == "iTunes Library.xml")
    (tmp_path / export.name).write_bytes(export.data)
    with pytest.raises(SeveralCollectionsError) as error:
        open_source([tmp_path / export.name])
    assert [choice.id for choice in error.value.choices] == ["Short", "Night"]
    moved = write_playlist(tmp_path / "b.xml", read_playlist(tmp_path / export.name, "Short"), [1, 0]).read_bytes()
    assert len(moved) == len(export.data)
    assert moved.partition(b"<key>Playlists</key>")[0] == export.data.partition(b"<key>Playlists</key>")[0]
    assert [e.title for e in read_playlist(tmp_path / "b.xml", "Night").entries] == list(export.titles)


def test_a_new_library_names_files_by_their_whole_path(tmp_path):
    (tmp_path / "a.m3u").write_text("#EXTINF:60,Can - Rain\nsub/a b.mp3\n")
    text = write_playlist(tmp_path / "a.xml", read_playlist(tmp_path / "a.m3u")).read_text()
    assert f"file://{tmp_path}/sub/a%20b.mp3" in text
    assert read_playlist(tmp_path / "a.xml").entries[0].location == f"{tmp_path}/sub/a b.mp3"


BAD = {
    "a.wpl": "<smil><!DOCTYPE x [<!ENTITY a 'b'>]><media src='&a;'/></smil>",
    "b.wpl": "<html></html>",
    "a.asx": "<asx></asx>",
    "a.xml": "<?xml version='1.0'?><!DOCTYPE plist [<!ENTITY a 'b'>]><plist><dict><key>Tracks</key>&a;</dict></plist>",
    "b.xml": "<?xml version='1.0'?><DJ_PLAYLISTS/>",
    "c.xml": "<plist><dict><key>Tracks</key><dict/><key>Playlists</key><array/></dict></plist>",
    "a.cue": 'FILE "a.wav" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 99:99:99\n',
    "b.cue": "TITLE x\n",
    "c.cue": 'FILE "a.wav" WAVE\n  TRACK 01 AUDIO\n    TITLE "x"\n',
    "a.xlsx": "no archive",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_none_is_refused_in_one_line(tmp_path, name):
    (tmp_path / name).write_text(BAD[name])
    with pytest.raises(FileError) as error:
        open_source([tmp_path / name])
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_a_spreadsheet_keeps_its_formats_and_formulas(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    from .make_exports import workbook

    (tmp_path / "a.xlsx").write_bytes(workbook(typed=True))
    ordered = fabula.order(tmp_path / "a.xlsx", ordering=[5, 4, 3, 2, 1, 0])
    book = openpyxl.load_workbook(ordered.save(tmp_path / "b.xlsx"))
    sheet = book.worksheets[0]
    assert [sheet.cell(line, 1).value for line in (1, 3, 4, 9)] == ["My set", "Title", "Outro", "Intro"]
    assert [sheet.cell(line, 4).value for line in (4, 9)] == ["=C4*2", "=C9*2"]
    assert sheet["A9"].font.bold
    assert not sheet["A4"].font.bold
    assert book.sheetnames == ["Sheet", "Notes"]
    assert [item.length for item in ordered.collection.items][:2] == [122, 233]


def test_every_source_is_listed_with_an_example(capsys):
    assert run(["sources"]) == 0
    told = capsys.readouterr().out
    assert all(ending in told for ending in list_endings())
    assert run(["sources", "--json"]) == 0
    kinds = json.loads(capsys.readouterr().out)
    assert all(kind["example"].startswith(("fabula order ", "beet fabula ")) for kind in kinds)


@pytest.mark.parametrize(("ending", "digits"), [(".txt", 0.05), (".ddp.txt", 0.5 / 75)])
@pytest.mark.parametrize("gap", [-0.5, 0.0, 2.0])
def test_sheets_are_read_back_as_they_were_written(tmp_path, ending, digits, gap):
    ordered = fabula.open(fabula.session.open.demo_folder()).order(sides=2, gap_s=gap)
    again = fabula.open(ordered.save(tmp_path / f"x{ending}")).collection
    assert [item.label for item in again.items] == ordered.titles
    assert [item.length for item in again.items] == pytest.approx(
        [item.length for item in ordered.collection.items], abs=digits + 1e-6
    )
    if ending == ".txt":
        assert open_source([tmp_path / "x.txt"]).sides == ordered.sides
        anew = fabula.open(tmp_path / "x.txt").order(ordering=range(8, -1, -1), gap_s=gap)
        assert re.search(r"(?m)^   1     0:00.0 .*\n   2  ", anew.save(tmp_path / "y.txt").read_text())


def test_a_list_whose_sides_say_how_long_they_are_keeps_its_headings_apart():
    found = find_tracks("Tape\nSide A, 7:50\nA1 Rain 3:45\nA2 Sun 4:05\nSide B, 2:10.5\nB1 Sea 2:10\n")
    assert [(track.side, track.names) for track in found.tracks] == [("A", ("Rain",)), ("A", ("Sun",)), ("B", ("Sea",))]
