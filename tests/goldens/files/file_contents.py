"""What is in the files of version 0.4, asked for by public means: names of fabula, commands, the page's addresses."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from golden_cases import sketch, told, word
from golden_commands import answer, call, standing_in

import fabula

HERE = Path(__file__).resolve().parent
STORED = HERE / "files.json"
CONTENTS: dict[str, Callable[[Path, Path], Any]] = {}


def content(name: str) -> Callable[[Callable[[Path, Path], Any]], Callable[[Path, Path], Any]]:
    """Register what is asked of a file, given the made collections and an empty folder."""

    def keep(ask: Callable[[Path, Path], Any]) -> Callable[[Path, Path], Any]:
        CONTENTS[name] = ask
        return ask

    return keep


def _essence(name: str) -> None:
    @content(name)
    def ask(made: Path, _: Path) -> Any:
        model = fabula.load_model(HERE / name)
        album, albums = fabula.read_table(made / "album.csv")[0], fabula.read_table(made / "albums.csv")
        features = np.stack([album.column(f) for f in model.feature_names], axis=1)
        essence = model.encode(features)
        found = {
            "features": list(model.feature_names),
            "dimensions": model.dimensions,
            "card": sorted(model.card),
            "essence": sketch(essence),
            "score": float(model.score(essence)),
            "session": told(fabula.order(made / "album.csv", model=str(HERE / name), first=2, alternatives=2)),
            "bits": fabula.mutual_information(model, albums[3::4], negatives=15, draws=1).bits,
        }
        if "alone" not in name:
            found["orders"] = [[word(f.ordering), f.score, f.worst] for f in model.order(features, alternatives=3)]
        return found


for _name in ("essence-arcs.safetensors", "essence-bilstm.safetensors", "essence-bilstm-alone.safetensors"):
    _essence(_name)


def _set(name: str) -> None:
    @content(name)
    def ask(made: Path, _: Path) -> Any:
        model = fabula.load_model(HERE / name)
        album, albums = fabula.read_table(made / "album.csv")[0], fabula.read_table(made / "albums.csv")
        return {
            "features": list(model.feature_names),
            "dimensions": model.dimensions,
            "card": sorted(model.card),
            "essence": sketch(model.encode(album)),
            "scores": model.score(album, [np.arange(13), np.arange(13)[::-1]]),
            "orders": [[word(f.ordering), f.score, f.worst] for f in model.order(album, alternatives=3)],
            "session": told(fabula.order(made / "album.csv", model=str(HERE / name), first=2, alternatives=2)),
            "bits": fabula.mutual_information(model, albums[3::4], negatives=15, draws=1).bits,
        }


for _name in ("set.safetensors", "set-untitled.safetensors"):
    _set(_name)


def _steps(name: str, source: str) -> None:
    @content(name)
    def ask(made: Path, _: Path) -> Any:
        model = fabula.load_model(HERE / name)
        session = fabula.open(made / source, model=str(HERE / name))
        return {
            "features": list(model.feature_names),
            "dimensions": model.dimensions,
            "card": sorted(model.card),
            "order": told(session.order()),
            "wishes": told(session.order(first=2, before=[(3, 1)], likeliest=True)),
        }


_steps("steps.safetensors", "chapters")
_steps("neighbours.safetensors", "pictures")


@content("templates.json")
def _templates(made: Path, _: Path) -> Any:
    found = {"order": told(fabula.order(made / "album.csv", by="energy", template=f"{HERE / 'templates.json'}#2"))}
    code, out, err = call("templates", "cost", HERE / "templates.json", made / "albums.csv", "--by", "energy")
    return found | {"cost": [code, _numbers(out), err]}


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text)]


def _playlist(name: str) -> None:
    @content(name)
    def ask(made: Path, folder: Path) -> Any:
        shutil.copytree(made / "sounds", folder / "sounds")
        shutil.copy(HERE / name, folder / name)
        session = fabula.open(folder / name)
        return {"titles": [item.label for item in session.collection.items], "order": told(session.order())}


_playlist("playlist.m3u8")
_playlist("playlist.xspf")


@content("ordered.json")
def _ordered(_: Path, __: Path) -> Any:
    """An order that was written as JSON is a table that opens again."""
    session = fabula.open(HERE / "ordered.json", by="essence")
    titles = [item.title for item in session.collection.items]
    return {"titles": titles, "order": told(session.order(template="icarus"))}


@content("features.sqlite")
def _cache(made: Path, folder: Path) -> Any:
    """A number that was kept counts: it is changed, and the changed one comes back."""
    kept = folder / "kept"
    kept.mkdir()
    shutil.copy(HERE / "features.sqlite", kept)
    (folder / "one").mkdir()
    shutil.copy(made / "sounds" / "03 Engine.wav", folder / "one")
    with closing(sqlite3.connect(kept / "features.sqlite")) as database:
        spec, version, numbers = database.execute("SELECT spec, version, numbers FROM features").fetchone()
        values = np.frombuffer(numbers, dtype="<f8").copy()
        changed = int(np.flatnonzero(values)[0])
        values[changed] += 0.125
        database.execute("UPDATE features SET numbers = ?", (values.tobytes(),))
        database.commit()
    table = folder / "one.csv"
    with standing_in(folder, {"FABULA_CACHE_DIR": str(kept)}):
        call("extract", folder / "one", "-o", table, "--jobs", "1")
    return {"spec": spec, "version": version, "values": values, "read": fabula.read_table(table)[0].features[0]}


@content("job")
def _job(made: Path, folder: Path) -> Any:
    """What is done of a job is told and gathered by any version; the version that planned it may go on."""
    shutil.copytree(HERE / "job", folder / "job")
    shutil.copy(made / "albums.csv", folder)
    status = answer("job", "status", folder / "job", "--json")
    call("job", "gather", folder / "job", "-o", folder / "part.csv", "--partial")
    part = fabula.read_table(folder / "part.csv", collection="collection", position="", features=["essence"])
    code, _, err = call("job", "work", folder / "job", "--inputs", folder / "albums.csv")
    refused = "was planned by fabula 0.4.0" in err
    return {
        "status": {key: status[key] for key in ("task", "items", "shards", "done", "done_items", "states", "complete")},
        "gathered": [len(part), sketch(np.concatenate([c.features for c in part]))],
        "goes on": (code == 0) != refused,
    }


@content("session.fabula.json")
def _session(made: Path, _: Path) -> Any:
    """The page opens a session and orders it."""
    import json

    saved = json.loads((HERE / "session.fabula.json").read_text(encoding="utf-8"))
    with served(made) as client:
        opened = client.post("/api/sessions", json=saved)
        opened.raise_for_status()
        body = opened.json()
        asked = {"collection": body["collection"]["id"]}
        orders = [
            client.post("/api/order", json=asked | more).json() for more in ({}, {"template": "icarus", "first": 3})
        ]
    titles = [item["title"] for item in body["collection"]["items"]]
    told_of = [{key: order[key] for key in ("ordering", "score", "worst", "mean", "template")} for order in orders]
    return {"titles": titles, "state": body["state"], "orders": told_of}


@contextmanager
def served(root: Path) -> Iterator[Any]:
    """A client of the page, served by a process of its own."""
    import httpx

    command = [sys.executable, "-u", "-m", "fabula", "serve", str(root), "--no-browser", "--no-token", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = next(found[0] for line in server.stdout or () if (found := re.findall(r"http://\S+?/", line)))
            with httpx.Client(base_url=address, timeout=60, transport=httpx.HTTPTransport(retries=5)) as client:
                yield client
        finally:
            server.terminate()
