"""Mutations of one valid file of every format, each opened: what comes is read, refused in one line, or a bug.

    PYTHONPATH=src python -m benchmarks.fuzz [--each 2000] [--jobs 1] [--seconds 900] [FORMAT...]

Formats are endings, and what programs export (``tests/sources/make_exports.py``) by the names of their files. What lies
in an archive is changed there, and packed again. A playlist that was read is written, and read again.

Each is opened and measured; of texts one in ten is judged by the model too, which takes ten times as long as reading
it, all else always. Seeded: the same number gives the same files. A format ends after so many mutations, or seconds.
Prints per format how many were read, refused, and anything else, which is shown and makes it fail; the longest time of
the processor; and the most memory. Fails too where a format does not come to its number in its seconds.
"""

# ruff: noqa: E501 - files as they are

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import struct
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from fabula.errors import FabulaError
from fabula.media.children import _pool
from fabula.media.extraction import Measuring
from fabula.session.measure import measure
from fabula.session.session import open_session
from fabula.sources.playlists.decks import write_crate
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, read_playlist, write_playlist
from fabula.sources.registry import Opening, open_source
from tests.hostile.open_all import most_megabytes
from tests.media.text import make_manuscripts
from tests.sources.libraries.make_databases import make_engine, make_mixxx
from tests.sources.make_exports import make_exports

NAMED = (
    "a.mp3",
    "b.mp3",
    "a.wav",
    *(f"{n}.mp3" for n in range(4)),
    "Music/01 Can.mp3",
    "Music/03 Neu!.mp3",
)  # by lists
JUDGED = 10  # every so many texts the model judges one too
STORY = "The old king slept. Nobody dared to wake him. Rain fell on the hills, and Ann went home.\n\n" * 6


def sounds() -> dict[str, bytes]:
    """A second of noise in every format that is written here."""
    import soundfile

    noise = 0.1 * np.random.default_rng(0).standard_normal(11025)
    found = {}
    for ending, kind in (("wav", "WAV"), ("flac", "FLAC"), ("ogg", "OGG"), ("mp3", "MP3"), ("aiff", "AIFF")):
        out = io.BytesIO()
        soundfile.write(out, noise, 11025, format=kind)
        found[ending] = out.getvalue()
    out = io.BytesIO()
    soundfile.write(out, noise, 12000, format="OGG", subtype="OPUS")
    found["opus"] = out.getvalue()
    title = b"TIT2" + struct.pack(">I", 6) + b"\0\0\0Title"
    found["tagged.mp3"] = b"ID3\x03\0\0\0\0\0" + bytes([len(title)]) + title + found["mp3"]
    return found


def pictures() -> dict[str, bytes]:
    """A small picture in every format, and a PDF."""
    import pillow_jxl  # noqa: F401 - Pillow learns of it
    from PIL import Image

    picture = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8))
    found = {}
    for ending in ("png", "jpeg", "gif", "bmp", "tiff", "webp", "pdf", "jxl", "avif", "jp2"):
        out = io.BytesIO()
        picture.save(out, format={"jp2": "JPEG2000"}.get(ending, ending))
        found[ending] = out.getvalue()
    planes = np.asarray(picture).transpose(2, 0, 1).tobytes()
    found["psd"] = b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, 40, 60, 8, 3) + bytes(14) + planes
    drawn = '<rect width="30" height="20" fill="#a40"/><path d="M1 1L50 30Z"/><text>Rain</text><use href="#a"/>'
    found["svg"] = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><g id="a">{drawn}</g></svg>'.encode()
    )
    return found


def texts() -> dict[str, bytes]:
    """A story as text, markup and in archives."""
    paragraphs = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in STORY.splitlines())
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:  # not packed, so that mutations reach what is inside
        archive.writestr(
            "word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{paragraphs}</w:body></w:document>'
        )
    markup = f"<html><body><h1>One</h1><p>{STORY}</p><a href='x'>y</a><!-- z --></body></html>"
    return {
        "txt": STORY.encode(),
        "md": f"# One\n\n{STORY}[a](b) `c` ![d](e)\n".encode(),
        "html": markup.encode(),
        "docx": out.getvalue(),
        "srt": "".join(
            f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{line}\n\n" for n, line in enumerate(STORY.split(". ")[:9])
        ).encode(),
        **manuscripts(),
    }


def manuscripts() -> dict[str, bytes]:
    """Those that libraries of their kinds write; a Scrivener project, which is a folder, as an archive."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for ending in ("odt", "epub", "pptx", "rtf", "fountain", "rst", "tex", "scriv"):
            path = Path(place) / f"a.{ending}"
            getattr(make_manuscripts, ending)(path)
            if path.is_dir():
                with zipfile.ZipFile(Path(place) / "packed", "w") as archive:
                    for file in filter(Path.is_file, path.rglob("*")):
                        archive.write(file, file.relative_to(path))
                path = Path(place) / "packed"
            found[ending] = path.read_bytes()
    return found


def lists() -> dict[str, bytes]:
    """Playlists and tables."""
    rows = [{"title": f"Song {i}", "energy": i * 0.7 % 1, "tempo": 90 + i} for i in range(6)]
    csv = "title,energy,tempo\n" + "".join(f"{r['title']},{r['energy']:.2f},{r['tempo']}\n" for r in rows)
    tracks = "".join(f"<track><location>{i}.mp3</location><title>S{i}</title></track>" for i in range(4))
    xspf = f'<?xml version="1.0"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList>{tracks}</trackList></playlist>'
    found = {
        "csv": csv.encode(),
        "tsv": csv.replace(",", "\t").encode(),
        "json": json.dumps(rows).encode(),
        "jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "m3u8": b"#EXTM3U\n#EXTINF:10,One\na.mp3\n#EXTINF:20,Two\nb.mp3\n",
        "pls": b"[playlist]\nFile1=a.mp3\nTitle1=One\nLength1=10\nNumberOfEntries=1\nVersion=2\n",
        "xspf": xspf.encode(),
        "wpl": b'<?wpl version="1.0"?><smil><body><seq><media src="a.mp3"/></seq></body></smil>',
        "asx": b'<asx version="3.0"><title>L</title><entry><title>One</title><ref href="a.mp3"/></entry></asx>',
        "cue": b'TITLE "L"\nFILE "a.wav" WAVE\n TRACK 01 AUDIO\n  TITLE "One"\n  INDEX 01 00:00:00\n',
        "jspf": json.dumps({"playlist": {"track": [{"location": ["a.mp3"], "title": "One"}]}}).encode(),
    }
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return {**found, **decks(), "parquet": out.getvalue()}


def decks() -> dict[str, bytes]:
    """Collections of Traktor and rekordbox, with a playlist in each."""
    entry = '<ENTRY TITLE="T{0}" ARTIST="A"><LOCATION DIR="/:m/:" FILE="{0}.mp3" VOLUME="d"></LOCATION><TEMPO BPM="12{0}.5"></TEMPO></ENTRY>'
    key = '<ENTRY><PRIMARYKEY TYPE="TRACK" KEY="d/:m/:{}.mp3"></PRIMARYKEY></ENTRY>'
    track = '<TRACK TrackID="{0}" Name="T{0}" Artist="A" TotalTime="20{0}" AverageBpm="12{0}.00" Location="file://localhost/m/{0}.mp3"/>'
    node = '<PLAYLISTS><NODE TYPE="FOLDER" NAME="$ROOT"><SUBNODES COUNT="1"><NODE TYPE="PLAYLIST" NAME="P"><PLAYLIST ENTRIES="4" TYPE="LIST">{}</PLAYLIST></NODE></SUBNODES></NODE></PLAYLISTS>'
    listed = '<PLAYLISTS><NODE Type="0" Name="ROOT" Count="1"><NODE Name="P" Type="1" KeyType="0" Entries="4">{}</NODE></NODE></PLAYLISTS>'

    def repeat(text: str) -> str:
        return "".join(text.format(n) for n in range(4))

    traktor = f'<NML VERSION="19"><COLLECTION ENTRIES="4">{repeat(entry)}</COLLECTION>{node.format(repeat(key))}</NML>'
    keys = repeat('<TRACK Key="{}"/>')
    rekordbox = f'<DJ_PLAYLISTS Version="1.0.0"><COLLECTION Entries="4">{repeat(track)}</COLLECTION>{listed.format(keys)}</DJ_PLAYLISTS>'
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    crate = write_crate(Playlist(tuple(Entry(f"/m/{n}.mp3", f"T{n}") for n in range(4)))).encode("latin-1")
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / f"{n}.mp3" for n in range(4)]
        databases = {
            "mixxx.sqlite": make_mixxx(Path(place), files).read_bytes(),
            "engine.db": make_engine(Path(place), files).read_bytes(),
        }
    texts = {"nml": f"{head}{traktor}".encode(), "rekordbox.xml": f"{head}{rekordbox}".encode()}
    return {**texts, "crate": crate, **databases}


def exports() -> dict[str, bytes]:
    """What programs export: tables, sheets, playlists, libraries, lists as people type them."""
    return {export.name: export.data for export in make_exports()}


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """A file with some bytes changed, cut, doubled, moved or set to extremes."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at, size = int(rng.integers(len(out) + 1)), int(rng.integers(1, 1 + min(64, len(out) or 1)))
        kind = int(rng.integers(7))
        if kind == 0:
            out[at : at + 1] = bytes([int(rng.integers(256))])
        elif kind == 1:
            del out[at : at + size]
        elif kind == 2:
            out[at:at] = out[at : at + size] * int(rng.integers(1, 200))
        elif kind == 3:
            out[at : at + 4] = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f")[
                int(rng.integers(4))
            ]
        elif kind == 4:
            del out[at:]
        elif kind == 5:
            out[at:at] = rng.bytes(size)
        else:
            other = int(rng.integers(len(out) + 1))
            out[at : at + size] = out[other : other + size]
    return bytes(out)


def mutate_packed(data: bytes, rng: np.random.Generator) -> bytes:
    """An archive of which one file is mutated, and whose sums are right again; of one in five the bytes themselves."""
    if not data.startswith(b"PK") or rng.random() < 0.2:
        return mutate(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        changed = names[int(rng.integers(len(names)))]
        for name in names:
            new.writestr(name, mutate(old.read(name), rng) if name == changed else old.read(name))
    return out.getvalue()


def write_again(path: Path) -> None:
    """Write a playlist that can be read in another order, over a copy of it, and read that."""
    copy = path.with_name(f"b{path.suffix}")
    copy.write_bytes(path.read_bytes())  # a collection of decks gets a playlist more
    with contextlib.suppress(FabulaError):
        playlist = read_playlist(path)
        read_playlist(write_playlist(copy, playlist, range(len(playlist.entries))[::-1]))


def place(path: Path, data: bytes) -> None:
    """Write a file; a project that is a folder, packed, as that."""
    if path.suffix == ".scriv" and zipfile.is_zipfile(io.BytesIO(data)):
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(Exception):  # what cannot be unpacked is half a project
            zipfile.ZipFile(io.BytesIO(data)).extractall(path)
    elif not path.is_dir():
        path.write_bytes(data)


def read(path: Path, *, judge: bool) -> None:
    """Open a file by all that comes before its order is sought; a text by what reads it alone, unless it is judged."""
    opening = Opening("Night") if path.suffix in (".sqlite", ".db") else Opening()
    if path.suffix in PLAYLIST_ENDINGS:
        write_again(path)
    source = open_source([str(path)], opening)
    if judge or source.medium.name != "text":
        open_session(str(path), opening=opening)
    elif source.files:
        measure(source, Measuring(cache=False))


def fuzz(ending: str, valid: bytes, each: int, seconds: float) -> tuple[dict[str, int], float]:
    """How many mutations were read, refused, and anything else; and the longest time of one."""
    sound = sounds()["wav"]
    rng, counts, longest = np.random.default_rng(list(ending.encode())), {"read": 0, "refused": 0, "else": 0}, 0.0
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        for name in NAMED:
            (path.parent / name).parent.mkdir(exist_ok=True)
            (path.parent / name).write_bytes(sound)
        for number in range(each):
            if time.monotonic() > until:
                break
            place(path, valid if not number else mutate_packed(valid, rng))
            start = time.process_time()
            try:
                read(path, judge=number % JUDGED == 0)
                counts["read"] += 1
            except FabulaError as error:
                counts["refused" if "\n" not in str(error) else "else"] += 1
            except Exception as error:
                counts["else"] += 1
                print(f"{ending} {number}: {type(error).__name__}: {str(error)[:200]}")
            longest = max(longest, time.process_time() - start)
    return counts, longest


def fuzz_apart(ending: str, valid: bytes, each: int, seconds: float) -> tuple[str, dict[str, int], float, int]:
    """The same in a process of its own, and the most MB that it had."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FABULA_CACHE_DIR"] = cache
        counts, longest = fuzz(ending, valid, each, seconds)
        _pool.close()  # children that have ended are counted
    return ending, counts, longest, most_megabytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    parser.add_argument("--each", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--jobs", type=int, default=1, help="formats at a time")
    options = parser.parse_args()
    valid = sounds() | pictures() | texts() | lists() | exports()
    wrong, most = [], 0
    os.environ["OMP_NUM_THREADS"] = (
        "1"  # threads that wait for each other make a second of sound take ten times as long
    )
    print("| format | read | refused | anything else | longest, s |\n|---|---|---|---|---|")
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        left = [
            pool.submit(fuzz_apart, ending, valid[ending], options.each, options.seconds)
            for ending in options.formats or valid
        ]
        for done in as_completed(left):
            ending, counts, longest, megabytes = done.result()
            most = max(most, megabytes)
            if counts["else"] or sum(counts.values()) < options.each:
                wrong.append(ending)
            print(
                f"| {ending} | {counts['read']} | {counts['refused']} | {counts['else']} | {longest:.2f} |", flush=True
            )
    print(f"most memory: {most} MB")
    sys.exit(f"not right, or not done: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
