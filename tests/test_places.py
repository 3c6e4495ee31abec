"""The pages of docs/places: every transcript is what the program prints.

``python -m tests.test_places`` runs what has no answer yet and writes it there.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabula.cli import run
from fabula.cli.sources import PLACES
from fabula.session.open import demo_folder
from fabula.sources.libraries.library import IN_ENVIRONMENT

from .sources.libraries.doubles import SECRET, Double
from .sources.libraries.make_databases import make_engine, make_mixxx
from .sources.make_exports import SONGS, TITLES, make_exports
from .sources.playlists.test_crates import HEAD, chunk
from .sources.playlists.test_decks import NML, TRACK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
PAGES = sorted((Path(__file__).parents[1] / "docs" / "places").glob("*.md"))
HOST = "music.example"
_BLOCK = re.compile(r"```text\n(.*?)```", re.DOTALL)
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d")
_LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def make_files(folder: Path) -> None:
    """What the pages speak of: exports, collections of decks, a crate, databases, tables."""
    for export in make_exports():
        (folder / export.name).write_bytes(export.data)
    tracks = "\n".join(
        TRACK.replace("{title!r}", f'"{_xml(song[0])}"')
        .replace('"Ann"', f'"{song[1]}"')
        .format(n=n, seconds=song[3], tempo=song[4])
        for n, song in enumerate(SONGS)
    )
    rows = "".join(
        f'\n<ENTRY><PRIMARYKEY TYPE="TRACK" KEY="Macintosh HD/:Users/:ann/:Music/:{n}.mp3"></PRIMARYKEY>\n</ENTRY>'
        for n in range(len(SONGS))
    )
    nml = NML.format(tracks=tracks, rows=rows).replace("Sat &amp; Sun", "Night")
    (folder / "collection.nml").write_text(nml, encoding="utf-8")
    make_rekordbox(folder / "rekordbox.xml")
    files = [Path(f"/music/{title}.ogg") for title in TITLES]
    make_mixxx(folder, files)
    make_engine(folder / "Engine Library", files)
    make_crate(folder / "_Serato_")
    crate = "".join(f"Song {k},{120 + 37 * k % 200},Band {k % 7}\n" for k in range(60))
    (folder / "crate.csv").write_text(f"title,seconds,artist\n{crate}", encoding="utf-8")
    sides = "".join(f"Piece {k},{k // 60}:{k % 60:02d}\n" for k in range(200, 440, 12))
    (folder / "lp.csv").write_text(f"title,length\n{sides}", encoding="utf-8")
    (folder / "list.txt").write_text(
        "1. Rain - The Band 3:45\n2. Sun - The Band 4:05\n3. Sea - Duo 2:10\n4. Outro - Duo 1:00\n"
    )


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


def make_rekordbox(path: Path) -> None:
    library = pytest.importorskip("pyrekordbox.rbxml", reason="pyrekordbox is not installed")
    made = library.RekordboxXml(name="rekordbox", version="7.0.0", company="AlphaTheta")
    playlist = made.add_playlist_folder("Sets").add_playlist("Night")
    for n, (title, artist, _, seconds, tempo, key) in enumerate(SONGS):
        told = {"Name": title, "Artist": artist, "TotalTime": seconds, "AverageBpm": tempo, "Tonality": key}
        made.add_track(f"C:/Music/{n}.mp3", TrackID=100 + n, **told)
        playlist.add_track(100 + n)
    made.save(path)


def make_crate(folder: Path) -> None:
    (folder / "Subcrates").mkdir(parents=True)
    names = [f"Music/{n}.mp3" for n in range(len(SONGS))]
    tracks = [chunk("otrk", chunk("ptrk", name)) for name in names]
    (folder / "Subcrates" / "Night.crate").write_bytes(HEAD + b"".join(tracks))
    known = [
        {
            "pfil": name,
            "tsng": title,
            "tart": artist,
            "tlen": f"{s // 60:02d}:{s % 60:02d}.00",
            "tbpm": str(bpm),
            "tkey": key,
        }
        for name, (title, artist, _, s, bpm, key) in zip(names, SONGS, strict=True)
    ]
    data = b"".join(chunk("otrk", *(chunk(kind, text) for kind, text in one.items())) for one in known)
    (folder / "database V2").write_bytes(chunk("vrsn", "2.0/Serato Scratch LIVE Database") + data)


@contextlib.contextmanager
def serve(page: str, folder: Path) -> Iterator[str]:
    """Whatever a page needs to run: the address that stands for the host in its transcripts."""
    if page in ("subsonic", "jellyfin", "plex"):
        double = Double(page, len(SONGS))
        for song, (title, artist, _, seconds, *_) in zip(double.songs, SONGS, strict=True):
            double.songs[song] = (title, seconds, f"{title}.ogg", artist)
        double.add("Night", list(double.songs), comment="late", public=True)
        double.add("Day", list(double.songs)[:4])
        yield f"127.0.0.1:{double.port}"
        double.stop()
    elif page == "mpd":
        from .sources.libraries.test_mpd import Player, find_mpd

        find_mpd()
        (folder / "mpd").mkdir()
        player = Player(folder / "mpd")
        player.client.rename("späte Lieder", "Night")
        yield f"127.0.0.1:{player.port}"
        player.client.disconnect()
        player.process.kill()
        player.process.wait()
    else:
        yield HOST


def ask_beets(folder: Path, said: list[str]) -> str:
    """What beets prints, with a library of the demo."""
    from .sources.libraries.test_beets import CONF

    home = folder / "beets"
    environment = {**os.environ, "BEETSDIR": str(home)}
    ask = lambda *more: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "beets", *more], capture_output=True, text=True, env=environment, check=True, timeout=120
    )
    if not home.exists():
        home.mkdir()
        (home / "music").symlink_to(demo_folder())
        (home / "config.yaml").write_text(CONF.format(folder=home), encoding="utf-8")
        ask("import", "-q", str(home / "music"))
    return ask(*said).stdout


def answer(command: str, folder: Path, typed: str) -> str:
    """What the program prints to a command of a transcript."""
    said = shlex.split(command)
    if said[0] == "beet":
        return ask_beets(folder, said[1:])
    assert said[0] == "fabula", command
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        run(said[1:])
    return out.getvalue()


def play(page: Path, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Each command of a page, what it says is printed, and what is."""
    make_files(folder)
    with serve(page.stem, folder) as address, contextlib.chdir(folder):
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for command, told in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                if command.startswith("export "):
                    continue
                pasted = told.partition("pasted:")[0] if command.endswith(" -") else ""
                printed = pasted + answer(command.replace(HOST, address), folder, pasted.partition("\n")[2])
                yield command, told, _TIME.sub("2026-11-18 17.20.11", printed.replace(address, HOST))


@pytest.fixture
def quiet(monkeypatch, tmp_path):
    for name, value in {
        IN_ENVIRONMENT: SECRET,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "FABULA_CACHE_DIR": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_transcripts_are_what_is_printed(page, tmp_path, monkeypatch, quiet):
    if page.stem == "mpd":
        monkeypatch.setenv(IN_ENVIRONMENT, "s3cret")
    commands = 0
    for command, told, printed in play(page, tmp_path):
        commands += 1
        assert doctest.OutputChecker().check_output(told, printed, _LIKE), f"$ {command}\n{printed}"
    assert commands, "a page has a transcript"


@pytest.mark.parametrize("place", PLACES, ids=[place.name for place in PLACES])
def test_every_example_works(place, tmp_path, monkeypatch, quiet):
    """Of `fabula sources`, with files of the names that it says."""
    monkeypatch.setenv("HOME", str(tmp_path))
    if not place.installed:
        pytest.skip(f"{place.package} is not installed")
    make_files(tmp_path)
    alias = {
        "jams.jspf": "listenbrainz.jspf",
        "evening.wpl": "wmp.wpl",
        "radio.asx": "stream.asx",
        "Library.xml": "iTunes Library.xml",
        "disc.cue": "eac-files.cue",
        "playlist.csv": "tunemymusic.csv",
        "set.xlsx": "excel.xlsx",
        "Night.crate": "_Serato_/Subcrates/Night.crate",
    }
    for name, made in alias.items():
        (tmp_path / name).write_bytes((tmp_path / made).read_bytes())
    shutil.copytree(demo_folder(), tmp_path / "Music" / "new", ignore=shutil.ignore_patterns("*.txt"))
    (tmp_path / "mix.m3u8").write_text("".join(f"{file}\n" for file in (tmp_path / "Music" / "new").glob("*.ogg")))
    (tmp_path / ".mixxx").mkdir()
    (tmp_path / "mixxxdb.sqlite").rename(tmp_path / ".mixxx" / "mixxxdb.sqlite")
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "collection": list("ab" * 6),
        "title": [f"Song {k}" for k in range(12)],
        "duration": list(range(99, 111)),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "all.parquet")
    kind = place.known_by[0].removesuffix("://") if place.known_by else ""
    if kind == "s3":
        import fsspec

        fsspec.filesystem("memory").pipe("/bucket/songs.csv", (tmp_path / "crate.csv").read_bytes())
    if kind == "mpd":
        monkeypatch.setenv(IN_ENVIRONMENT, "s3cret")
    with serve(kind, tmp_path) as address, contextlib.chdir(tmp_path):
        command = place.example.replace("s3://", "memory://").replace("~", str(tmp_path)).replace("album:Night", "")
        command = command.replace(HOST, address).replace("mpd://localhost", f"mpd://{address}")
        printed = answer(command, tmp_path, (tmp_path / "list.txt").read_text())
    assert "fabula: " not in printed
    assert "tracks" in printed or "collections" in printed, printed


def fill(page: Path, folder: Path) -> None:
    """Write what is printed where a page says nothing."""
    os.environ |= {IN_ENVIRONMENT: "s3cret" if page.stem == "mpd" else SECRET, "COLUMNS": "100", "NO_COLOR": "1"}
    os.environ["FABULA_CACHE_DIR"] = str(folder / "cache")
    text = page.read_text(encoding="utf-8")
    for command, told, printed in play(page, folder):
        text = text.replace(f"$ {command}\n", f"$ {command}\n{printed}", 1) if not told else text
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    for one in PAGES:
        if not sys.argv[1:] or one.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as made:
                fill(one, Path(made))
