"""The command line as it is pinned: scenes of commands, each in a folder of its own beside the made collections.

Of each command the exit code, stdout, stderr and every file that it wrote or changed are kept, less what changes from
run to run: the folder, the package's folder, its version, seconds, dates. Pages are kept by the words on them, pictures
by their size, models by what they read.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import zipfile
from collections import Counter
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from golden_cases import own_clock, plain, sketch

import fabula

PACKAGE = Path(fabula.__file__).resolve().parent
INPUTS = (
    "album.csv",
    "albums.csv",
    "titles.csv",
    "long.csv",
    "eighteen.csv",
    "sounds",
    "chapters",
    "verses",
    "pictures",
)
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
_TEXTS = {".m3u", ".m3u8", ".pls", ".xspf", ".md", ".txt", ".cue", ".toml"}
_VOLATILE = {
    "seconds",
    "seconds_left",
    "created",
    "when",
    "date",
    "versions",
    "version",
    "time",
    "worker",
    "workers",
    "rate",
}
_VOLATILE |= {
    "seconds_per_item",
    "fabula",
    "python",
    "numpy",
    "torch",
    "at",
    "begun",
    "ended",
    "pid",
    "host",
    "node",
    "digest",
}


def _run(arguments: list[str]) -> int:
    from fabula.cli import run

    return run(arguments)


def call(*arguments: object) -> tuple[int, str, str]:
    """Run one command in this process: exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    clock = nullcontext() if arguments[0] == "job" else own_clock()  # workers of jobs wait for each other
    with redirect_stdout(out), redirect_stderr(err), clock:
        try:
            code = _run([str(a) for a in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def answer(*arguments: object) -> Any:
    """What a command with --json prints."""
    code, out, err = call(*arguments)
    if code:
        raise RuntimeError(err)
    return json.loads(out)


@contextmanager
def standing_in(folder: Path, more: dict[str, str]) -> Any:
    """Work in a folder, with a terminal of one width."""
    environment = ENVIRONMENT | more
    here, before = Path.cwd(), {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def play(commands: list[list[str]], made: Path, folder: Path) -> list[dict[str, Any]]:
    """Run the commands of a scene in a new folder and tell what each did."""
    folder.mkdir(parents=True)
    for name in INPUTS:
        given = made / name
        shutil.copytree(given, folder / name) if given.is_dir() else shutil.copy(given, folder / name)
    _more_inputs(folder)
    for name in ("out", "again"):
        (folder / name).mkdir()
    done = []
    own_cache = any(command[0] == "cache" for command in commands)
    with standing_in(folder, {"FABULA_CACHE_DIR": str(folder / ".kept")} if own_cache else {}):
        before = _seen(folder)
        for command in commands:
            arguments = [part.replace("DEMO", str(PACKAGE / "demo")) for part in command]
            code, out, err = call(*arguments)
            after = _seen(folder)
            changed = [name for name in sorted(after) if after[name] != before.get(name)]
            gone = sorted(set(before) - set(after))
            before = after
            done.append(
                {
                    "command": " ".join(command),
                    "code": code,
                    "out": _printed(out, folder),
                    "err": [line for line in _lines(err, folder) if " has moved: use " not in line],  # since 0.5
                    "wrote": {name: _content(folder / name, folder) for name in changed if _told(name)},
                    "gone": gone,
                }
            )
    return plain(done)


def _more_inputs(folder: Path) -> None:
    """A playlist of the sounds, an album with paths, one with German headings, vectors, and a longer text."""
    head, *tracks = (folder / "album.csv").read_text(encoding="utf-8").splitlines()
    with_paths = [f"{row},music/{k + 1:02d}.flac" for k, row in enumerate(tracks)]
    (folder / "paths.csv").write_text("\n".join([f"{head},path", *with_paths]) + "\n", encoding="utf-8")
    names = sorted(path.name for path in (folder / "sounds").iterdir())
    lines = [f"#EXTINF:3,Ada - Song {k}\nsounds/{name}" for k, name in enumerate(names)]
    (folder / "mix.m3u8").write_text("#EXTM3U\n#PLAYLIST:Mix\n# by hand\n" + "\n".join(lines) + "\n", encoding="utf-8")
    rows = (folder / "titles.csv").read_text(encoding="utf-8").replace("track_name", "Lied").replace("artist", "Wer")
    (folder / "deutsch.csv").write_text(
        rows.replace("duration_ms", "Spielzeit (ms)").replace(",", ";"), encoding="utf-8"
    )
    vectors = np.random.default_rng(0).normal(size=(8, 3)).round(3).tolist()
    items = [{"title": f"V{k}", "level": k * 3 % 8, "vector": vector} for k, vector in enumerate(vectors)]
    (folder / "vectors.json").write_text(json.dumps(items))
    chapters = [path.read_text(encoding="utf-8") for path in sorted((folder / "chapters").iterdir())]
    (folder / "book.txt").write_text("\n\n".join(chapters), encoding="utf-8")


def _told(name: str) -> bool:
    """Whether a file is told of: what jobs and histories keep for themselves is not."""
    return not re.search(r"(^|/)(job|\.)[^/]*/", name)


def _seen(folder: Path) -> dict[str, tuple[int, str]]:
    files = [path for path in folder.rglob("*") if path.is_file() or path.is_symlink()]
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.is_symlink() and "link") for path in files
    }


# ---------------------------------------------------------------------------------------------------------------------
# What is the same in every run


def steady(text: str, folder: Path) -> str:
    """A text without what changes from run to run."""
    for place, name in ((folder.resolve(), "<here>"), (folder, "<here>"), (PACKAGE, "<package>")):
        text = text.replace(str(place), name)
    text = re.sub(r"[\d.]+ [kM]B of at most", "<size> of at most", text)
    text = text.replace(fabula.__version__, "<version>")
    text = re.sub(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?", "<date>", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|seconds|minutes|min)\b", "<time>", text)
    text = re.sub(r"digest(\W+)[0-9a-f]{64}", r"digest\1<digest>", text)
    return re.sub(r"[\d.,]+( \w+)? a second", r"<rate>\1 a second", text)


def _lines(text: str, folder: Path) -> list[str]:
    return [line.rstrip() for line in steady(text, folder).splitlines()]


def _printed(text: str, folder: Path) -> Any:
    """JSON as it is, anything else by its lines."""
    try:
        return _data(json.loads(text), folder)
    except ValueError:
        return _lines(text, folder)


def _data(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        return {k: "<changes>" if k in _VOLATILE else _data(v, folder) for k, v in value.items()}
    if isinstance(value, list):
        numbers = len(value) > 24 and all(isinstance(v, int | float) for v in value)
        return sketch(value) if numbers else [_data(v, folder) for v in value]
    return steady(value, folder) if isinstance(value, str) else value


def _content(path: Path, folder: Path) -> Any:
    """A written file, as it is kept."""
    ending = path.suffix.lower()
    if path.is_symlink():
        return "link to " + steady(str(path.resolve()), folder)
    if ending in (".json", ".jspf"):
        return _data(json.loads(path.read_text(encoding="utf-8")), folder)
    if ending == ".jsonl":
        return [_data(json.loads(line), folder) for line in path.read_text(encoding="utf-8").splitlines()]
    if ending in _TEXTS:
        lines = _lines(path.read_text(encoding="utf-8"), folder)
        return (
            lines if len(lines) < 60 else {"lines": len(lines), "head": lines[:3], "digest": _digest("\n".join(lines))}
        )
    if ending == ".csv":
        return _table(path, folder)
    if ending in (".html", ".svg"):
        return _page(path.read_text(encoding="utf-8"), folder)
    if ending == ".png":
        from PIL import Image

        with Image.open(path) as picture:
            return list(picture.size)
    if ending == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return {name: _column(table[name].to_pylist(), folder) for name in table.column_names}
    if ending == ".npz":
        return {
            name: sketch(array) if array.dtype.kind in "fi" else array.tolist() for name, array in np.load(path).items()
        }
    if ending in (".docx", ".zip"):
        return sorted(zipfile.ZipFile(path).namelist())
    if ending == ".safetensors":
        return _model(path)
    return "empty" if not path.stat().st_size else "some bytes"


def _table(path: Path, folder: Path) -> dict[str, Any]:
    """A table by its columns; numbers as numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    found = {}
    for name, cells in zip(head, zip(*rows, strict=True), strict=True):
        numbers = [_number(cell) for cell in cells]
        values = list(cells) if None in numbers else numbers
        found[name] = [_data(v, folder) for v in values] if len(values) < 24 else _column(values, folder)
    return found


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _column(values: list[Any], folder: Path) -> Any:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return sketch(values) if numbers else _digest(steady(json.dumps(values, default=str), folder))


def _page(text: str, folder: Path) -> dict[str, Any]:
    """The words on a page, and how many drawings it has."""
    tags = Counter(re.findall(r"<(svg|table|tr|path|circle|img|figure)\b", text))
    shown = re.sub(r"<(script|style|defs|metadata)\b.*?</\1>", " ", text, flags=re.S)
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown)).strip()
    return {"tags": dict(sorted(tags.items())), "words": steady(words, folder)[:6000]}


def _model(path: Path) -> dict[str, Any]:
    """What a model reads, and how much it says of an item."""
    model = fabula.load_model(path)
    return {"features": list(model.feature_names), "dimensions": model.dimensions}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---------------------------------------------------------------------------------------------------------------------
# The scenes

_ALBUM = ["order", "album.csv"]
_TINY = ["--epochs", "2", "--batch", "8", "--negatives", "8", "--device", "cpu"]

SCENES: dict[str, list[list[str]]] = {
    "version": [["--version"]],
    "order a table": [_ALBUM, [*_ALBUM, "--json"]],
    "order the demo": [["order", "DEMO"], ["order", "DEMO", "--json", "--model", "audio"]],
    "order by a model": [
        [*_ALBUM, "--model", "albums", "--json"],
        [*_ALBUM, "--model", "albums-16", "--why"],
        [*_ALBUM, "--model", "audio"],
    ],
    "order along a template": [
        ["order", "paths.csv", "--by", "energy", "--template", "icarus", "-o", "out.m3u8"],
        [*_ALBUM, "--by", "energy", "--template", "0:0.2,0.5:1,1:0", "--flip", "--json"],
        [*_ALBUM, "--model", "albums", "--template", "man-in-a-hole", "--why"],
    ],
    "wishes for ends": [
        [*_ALBUM, "--first", "Golden Forest", "--last", "Epilogue", "--at", "3=Silent Letter", "--json"],
        ["order", "titles.csv", "--last", "Intro"],
    ],
    "wishes for pairs": [
        ["order", "titles.csv", "--together", "Intro", "Harbour Suite, Pt. 1", "--json"],
        ["order", "titles.csv", "--before", "Harbour Suite, Pt. 2", "Intro"],
    ],
    "wishes for artists": [
        [*_ALBUM, "--apart", "artist", "--show", "tempo,key"],
        [*_ALBUM, "--apart", "artist", "--apart", "soft", "--json"],
        [*_ALBUM, "--together-by", "artist"],
    ],
    "sides": [
        [*_ALBUM, "--sides", "2", "--side-limit", "40:00", "--report", "out.html"],
        ["order", "titles.csv", "--sides", "2", "--first", "B=Intro", "--json"],
    ],
    "a limit": [["order", "paths.csv", "--limit", "20:00", "-o", "out.pls"], [*_ALBUM, "--limit", "20:00", "--json"]],
    "smoothness": [
        [*_ALBUM, "--smooth", "0.5", "--smooth-by", "tempo:2,key:1", "--show", "all"],
        [*_ALBUM, "--smooth", "-0.5", "--json"],
        [*_ALBUM, "--sort-into-mix"],
    ],
    "alternatives": [
        ["order", "paths.csv", "--alternatives", "2", "--choose", "2", "-o", "out.xspf"],
        ["order", "paths.csv", "--likeliest", "-o", "out.jspf"],
        [*_ALBUM, "--likeliest", "--alternatives", "1", "--why"],
    ],
    "tables out": [
        [*_ALBUM, "-o", "out.csv"],
        [*_ALBUM, "-o", "out.json"],
        ["order", "paths.csv", "--sides", "2", "-o", "out.m3u"],
    ],
    "timings": [["order", "sounds", "-o", "out.cue", "--gap", "2"], ["order", "sounds", "-o", "out.txt", "--gain"]],
    "sounds": [
        ["order", "sounds"],
        ["order", "sounds", "--json", "--no-cache"],
        ["order", "sounds", "--jobs", "1", "--show", "all"],
    ],
    "copies": [
        ["order", "sounds", "--copy-to", "copies"],
        ["order", "sounds", "--copy-to", "linked", "--link"],
    ],
    "a playlist, and back": [
        ["order", "mix.m3u8", "-o", "mix.m3u8"],
        ["order", "mix.m3u8", "--first", "Song 3", "-o", "mix.m3u8"],
        ["order", "--restore", "mix.m3u8", "--version", "1"],
        ["order", "mix.m3u8", "--json", "-o", "other.m3u8", "--gain"],
    ],
    "plots": [[*_ALBUM, "--plot", "out.svg"], [*_ALBUM, "--by", "energy", "--sides", "2", "--plot", "out.png"]],
    "like": [
        [*_ALBUM, "--by", "energy", "--like", "eighteen.csv"],
        [*_ALBUM, "--model", "albums", "--like", "albums.csv#c3", "--json"],
    ],
    "several collections": [
        ["order", "albums.csv", "--all", "-o", "orders.csv"],
        ["order", "albums.csv", "--all", "-o", "orders.parquet", "--model", "albums"],
        ["order", "albums.csv", "--collection", "c7"],
        ["order", "albums.csv"],
    ],
    "columns": [["order", "deutsch.csv", "--columns", "title=Lied", "--columns", "artist=Wer", "--json"]],
    "an embedding": [["order", "vectors.json", "--by", "level", "--embedding", "vector", "--smooth", "0.5", "--json"]],
    "texts": [
        ["order", "chapters", "-o", "out.md"],
        ["order", "chapters", "--json", "--why"],
        ["order", "chapters", "-o", "out.docx", "--smooth", "0.4", "--report", "out.html"],
        ["order", "verses", "--model", "poems", "--sides", "2"],
    ],
    "pictures": [
        ["order", "pictures", "-o", "out.png"],
        ["order", "pictures", "--walls", "2", "-o", "out.html"],
        ["order", "pictures", "--spreads", "match", "-o", "out.book.pdf"],
        ["order", "pictures", "--by", "brightness", "--json", "-o", "out.txt"],
    ],
    "many items": [
        ["order", "long.csv", "--by", "energy", "--first", "Slow Mirror 4", "--json"],
        ["order", "long.csv", "--by", "energy"],
    ],
    "mistakes in order": [
        ["order", "nothing.csv"],
        ["order"],
        [*_ALBUM, "--frist", "x"],
        [*_ALBUM, "--template", "icarrus"],
        [*_ALBUM, "--first", "No Such Title"],
        [*_ALBUM, "--by", "enrgy"],
        [*_ALBUM, "--model", "nothing"],
        [*_ALBUM, "-o", "out.xyz"],
        [*_ALBUM, "--choose", "9"],
        [*_ALBUM, "--side-limit", "20:00"],
        [*_ALBUM, "--limit", "soon"],
        [*_ALBUM, "--template", "icarus", "--like", "titles.csv"],
        [*_ALBUM, "--restore", "out.m3u8"],
        ["order", "titles.csv", "--first", "Intro", "--before", "Harbour Suite, Pt. 1", "Intro"],
        ["order", "titles.csv", "--sides", "2", "--side-limit", "3:00"],
        [*_ALBUM, "--smooth-by", "tempo"],
    ],
    "mistakes elsewhere": [
        ["ordre", "album.csv"],
        ["info", "nothing"],
        ["templates", "show", "nothing"],
        ["templates", "learn", "albums.csv"],
        ["extract", "sounds", "-o", "x.xyz"],
        ["encode", "albums.csv", "-o", "x.xyz"],
        ["evaluate", "albums.csv"],
        ["evaluate", "album.csv", "--by", "energy"],
        ["train", "albums.csv"],
        ["train", "albums.csv", "--kind", "nothing", "-o", "x.safetensors"],
        ["job", "status", "nowhere"],
        ["job", "plan", "dance", "albums.csv", "-o", "job"],
        ["arcs", "nothing.txt"],
        ["bench-order", "nothing"],
        ["fetch", "fma", "--to", "fma", "--url", "ftp://nowhere"],
    ],
    "demo": [["demo", "--to", "out"], ["demo", "--json", "--to", "again"]],
    "demo of text": [["demo", "text", "--to", "out"]],
    "demo of pictures": [["demo", "images", "--to", "out"]],
    "templates": [
        ["templates", "list"],
        ["templates", "show", "icarus"],
        ["templates", "show", "0:0.2,0.5:1,1:0"],
        ["templates", "learn", "albums.csv", "--by", "energy", "-k", "2", "-o", "two.json"],
        ["templates", "learn", "albums.csv", "--by", "valence", "--method", "contrastive", "-k", "3", "-o", "3.json"],
        ["templates", "compare", "two.json", "3.json"],
        ["templates", "show", "two.json#2"],
        [*_ALBUM, "--by", "energy", "--template", "two.json#1", "--json"],
    ],
    "extract": [
        ["extract", "sounds", "-o", "sounds-measured.csv"],
        ["extract", "chapters", "-o", "texts.json"],
        ["extract", "pictures", "-o", "pictures.parquet", "--jobs", "1"],
        ["order", "sounds-measured.csv", "--by", "loudness"],
    ],
    "encode": [
        ["encode", "albums.csv", "-o", "essence.csv", "--model", "albums"],
        ["encode", "albums.csv", "-o", "essence.npz", "--model", "music", "--raw"],
        ["encode", "albums.csv", "-o", "essence.parquet"],
        ["encode", "sounds", "-o", "sounds-essence.csv", "--model", "audio"],
    ],
    "arcs": [
        ["arcs", "book.txt", "--window", "200"],
        ["arcs", "book.txt", "--by", "dialogue", "--window", "150", "--json"],
        ["arcs", "book.txt", "-o", "arcs.html", "-o", "arcs.csv", "-o", "arcs.svg"],
    ],
    "info": [["info"], ["info", "music"], ["info", "albums", "--json"], ["info", "prose"], ["info", "pictures"]],
    "evaluate one model": [["evaluate", "albums.csv", "--model", "audio", "--split", "train", "--features", "energy"]],
    "a job of essence": [
        ["job", "plan", "encode", "albums.csv", "-o", "job", "--model", "albums", "--shards", "3"],
        ["job", "plan", "encode", "albums.csv", "-o", "job", "--model", "albums", "--shards", "3"],
        ["job", "status", "job"],
        ["job", "work", "job"],
        ["job", "status", "job", "--json"],
        ["job", "gather", "job", "-o", "essence.csv"],
    ],
    "a job of orders": [
        ["job", "plan", "order", "albums.csv", "-o", "job", "--model", "music", "--likeliest", "--shards", "2"],
        ["job", "work", "job"],
        ["job", "gather", "job", "-o", "orders.parquet", "--json"],
        ["job", "plan", "extract", "chapters", "-o", "job2", "--shards", "2"],
        ["job", "gather", "job2", "-o", "measured.csv", "--partial"],
        ["job", "work", "job2"],
        ["job", "gather", "job2", "-o", "measured.csv"],
        ["job", "status", "job2", "--html", "status.html"],
    ],
    "a job of templates": [
        ["job", "plan", "templates-learn", "albums.csv", "-o", "job", "--by", "energy", "-k", "2"],
        ["job", "work", "job"],
        ["job", "gather", "job", "-o", "learned.json"],
    ],
    "recipes": [
        ["train", "--preset", "paper", "--show-recipe"],
        ["train", "albums.csv", "--preset", "arcs", "--show-recipe", "--features", "energy,loudness"],
        ["train", "albums.csv", "--kind", "set", "--titles", "track_name", "--show-recipe"],
    ],
    "the benchmark": [["bench-order"]],
}  # fmt: skip

SLOW: dict[str, list[list[str]]] = {
    "how many templates": [
        ["templates", "learn", "albums.csv", "--by", "energy", "-k", "2", "--method", "evolution", "-o", "one.json"],
        ["templates", "cost", "one.json", "albums.csv", "--by", "energy"],
        ["templates", "count", "albums.csv", "--by", "energy"],
        ["templates", "table", "albums.csv", "--by", "energy", "-k", "3"],
        ["templates", "genealogy", "albums.csv", "--by", "energy", "-o", "genealogy.svg"],
    ],
    "evaluate": [
        ["evaluate", "albums.csv", "--model", "albums", "-o", "recovery.csv"],
        ["evaluate", "albums.csv", "--by", "energy", "-o", "recovery.json"],
        ["evaluate", "albums.csv", "--model", "music", "--json", "--features", "energy,loudness"],
    ],
    "training": [
        [
            "train", "albums.csv", "--features", "energy,loudness,duration_ms", "--preset", "arcs",
            "-o", "mine.safetensors", "--write-recipe", "mine.toml", "--history", "mine.jsonl", *_TINY,
        ],
        ["info", "mine.safetensors"],
        [*_ALBUM, "--model", "mine.safetensors", "--json"],
    ],
    "cache": [["order", "sounds"], ["cache", "info"], ["cache", "clear", "--spec", "audio"], ["cache", "info"]],
    "training a set model": [
        [
            "train", "albums.csv", "--titles", "track_name", "--features", "energy,loudness", "-o", "set.safetensors",
            *_TINY, "--dimensions", "6", "--set", "width=16", "--set", "layers=1", "--set", "heads=2",
            "--set", "inner=24", "--set", "token_size=8", "--set", "dropout=0",
        ],
        ["info", "set.safetensors"],
        [*_ALBUM, "--model", "set.safetensors", "--json"],
        ["evaluate", "albums.csv", "--model", "set.safetensors", "--features", "energy"],
    ],
    "training with a search": [
        [
            "train", "albums.csv", "--features", "energy,loudness", "-o", "long.safetensors", *_TINY,
            *["--set", "scorer_hidden=8", "--scorers", "arcs,bilstm", "--dimensions", "2"],
        ],
        ["order", "titles.csv", "--model", "long.safetensors"],
        [*_ALBUM, "--model", "long.safetensors", "--json"],
    ],
    "an audit": [["audit", "albums.csv", "--features", "energy,loudness", "--preset", "arcs", *_TINY, "--json"]],
    "a comparison": [
        [
            "compare", "albums.csv", "--features", "energy,loudness", "--preset", "arcs", *_TINY, "--seeds", "1",
            "-o", "c.csv",
        ],
    ],
}  # fmt: skip
