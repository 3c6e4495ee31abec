"""Write the files that must open for ever: ``PYTHONPATH=<0.4>/src python tests/goldens/files/make_files.py``.

They were written by version 0.4.0 and are not written again by later ones; a file of a new format gets a new name
beside them. ``files.json`` says what is in them; with the argument ``contents`` it alone is written.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from file_contents import CONTENTS, STORED, served  # noqa: E402
from golden_cases import plain  # noqa: E402
from golden_commands import call  # noqa: E402
from golden_made import make_all, make_chapters, make_pictures  # noqa: E402

_SMALL = ["--epochs", "12", "--batch", "8", "--negatives", "8", "--device", "cpu", "--set", "learning_rate=0.02"]
_SET = ["--dimensions", "4"]
for _setting in ("width=8", "layers=1", "heads=2", "inner=8", "token_size=4", "dropout=0"):
    _SET += ["--set", _setting]


def command(*arguments: object) -> None:
    code, out, err = call(*arguments)
    if code:
        raise SystemExit(f"{arguments}: {err or out}")


def make_models(made: Path, scratch: Path) -> None:
    albums = made / "albums.csv"
    features = ("--features", "energy,loudness,duration_ms")
    arcs = ["--preset", "arcs", "--set", "widths=[8,8]"]
    command("train", albums, *features, *arcs, *_SMALL, "-o", HERE / "essence-arcs.safetensors")
    both = ["--scorers", "arcs,bilstm", "--dimensions", "2", "--set", "widths=[8,8]", "--set", "scorer_hidden=4"]
    command("train", albums, *features, *both, *_SMALL, "-o", HERE / "essence-bilstm.safetensors")
    alone = ["--scorers", "bilstm", "--dimensions", "1", "--set", "widths=[8,8]", "--set", "scorer_hidden=4"]
    command("train", albums, *features, *alone, *_SMALL, "-o", HERE / "essence-bilstm-alone.safetensors")
    command("train", albums, *features, "--titles", "track_name", *_SET, *_SMALL, "-o", HERE / "set.safetensors")
    command("train", albums, *features, "--kind", "set", *_SET, *_SMALL, "-o", HERE / "set-untitled.safetensors")
    books = scratch / "books.csv"
    with books.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["collection_id", "position", "author", "split", "text"])
        for book in range(10):
            make_chapters(scratch / f"book{book}", 7, seed=100 + book)
            split = "validation" if book >= 8 else "train"
            for number, path in enumerate(sorted((scratch / f"book{book}").iterdir())):
                rows.writerow([f"b{book}", number, f"author {book}", split, path.read_text(encoding="utf-8")])
    steps = ("--set", "steps=8", "--set", "batch=8")
    command("train", books, "--kind", "steps", *steps, "-o", HERE / "steps.safetensors")
    for show in range(8):
        make_pictures(scratch / "shows" / f"show {show}", 6, seed=200 + show)
        for number, path in enumerate(sorted((scratch / "shows" / f"show {show}").iterdir())):
            path.rename(path.with_name(f"{number + 1:02d} {path.name}"))
    command("train", scratch / "shows", "--kind", "neighbours", "-o", HERE / "neighbours.safetensors")


def make_others(made: Path, scratch: Path) -> None:
    os.chdir(scratch)
    shutil.copy(made / "albums.csv", "albums.csv")
    shutil.copy(made / "album.csv", "album.csv")
    command("templates", "learn", "albums.csv", "--by", "energy", "-k", "2", "-o", HERE / "templates.json")
    shutil.copytree(made / "sounds", "sounds")
    command("order", "sounds", "--sides", "2", "--gain", "-o", "playlist.m3u8")
    shutil.copy("playlist.m3u8", HERE / "playlist.m3u8")
    command("order", "sounds", "-o", "playlist.xspf")
    shutil.copy("playlist.xspf", HERE / "playlist.xspf")
    command("order", "album.csv", "--sides", "2", "-o", "ordered.json")
    shutil.copy("ordered.json", HERE / "ordered.json")
    _make_cache(scratch)
    shutil.copy(HERE / "essence-arcs.safetensors", "mine.safetensors")
    command("job", "plan", "encode", "albums.csv", "-o", "job", "--model", "mine.safetensors", "--shards", "3")
    command("job", "work", "job")
    for path in [path for path in Path("job").rglob("*") if path.is_file() and "00002" in path.name]:
        path.unlink()  # as if nobody had come to the last shard
    shutil.rmtree(HERE / "job", ignore_errors=True)
    shutil.copytree("job", HERE / "job")


def _make_cache(scratch: Path) -> None:
    """What was measured of one sound, by a process of its own so that the database is closed."""
    kept, one = scratch / "kept", scratch / "one"
    one.mkdir()
    shutil.copy(scratch / "sounds" / "03 Engine.wav", one / "03 Engine.wav")
    extract = [sys.executable, "-m", "fabula", "extract", str(one), "-o", str(scratch / "one.csv"), "--jobs", "1"]
    subprocess.run(extract, check=True, env=os.environ | {"FABULA_CACHE_DIR": str(kept)}, stdout=subprocess.DEVNULL)
    shutil.copy(kept / "features.sqlite", HERE / "features.sqlite")


def make_session(made: Path) -> None:
    """What the page saves of the small album, with a state."""
    with served(made) as client:
        job = client.post("/api/collections", json={"path": str(made / "titles.csv")}).json()
        while job["state"] == "running":
            job = client.get(f"/api/jobs/{job['id']}").json()
        saved = client.post(f"/api/collections/{job['collection']}/session", json={"state": {"pins": {"0": 3}}})
        saved.raise_for_status()
        (HERE / "session.fabula.json").write_bytes(saved.content)


def main(wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["FABULA_CACHE_DIR"], os.environ["FABULA_DATA_DIR"] = f"{scratch}/cache", f"{scratch}/data"
        made = make_all(Path(scratch) / "made")
        work = Path(scratch) / "work"
        work.mkdir()
        if not wanted:
            make_models(made, work)
        if not wanted or "others" in wanted:
            make_others(made, work)
        if not wanted or "session" in wanted:
            make_session(made)
        os.chdir(HERE)
        found = {}
        for k, (name, content) in enumerate(CONTENTS.items()):
            folder = Path(scratch) / f"content {k}"
            folder.mkdir()
            found[name] = plain(content(made, folder))
        lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in found.items()]
        STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
