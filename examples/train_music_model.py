"""The recipe of the model `music` that comes with the package.

    python examples/train_music_model.py FOLDER --out models           # albums, albums-more and titles .parquet
    python examples/train_music_model.py FOLDER --convert music.npz    # then, where there is no pyarrow:
    python examples/train_music_model.py music.npz --out models --jobs 8

Several teachers are trained side by side, each with its seed, and one student that learns from the albums and from the
teachers' mean opinion. What to keep is decided on artists set aside from training; validation is measured at the end
and decides nothing. Three controls are trained by the same recipe: they must know nothing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import assess_music as assessing
import numpy as np
import torch

from fabula.core.collection import Collection, Item
from fabula.errors import import_extra
from fabula.models.encoders.set import SetSpec
from fabula.models.model import save_model
from fabula.training.data import ItemPool
from fabula.training.loop import optimise
from fabula.training.nets.set_net import Dropout, SetNet, artist_of, as_inputs, as_model, learn_inputs
from fabula.training.recipes import SetRecipe
from fabula.training.sets import (
    BOTH,
    SetLearner,
    collection_bits,
    set_fingerprint,
    set_pool,
)

TABLES = ("albums", "albums-more", "titles")
FEATURES = (
    "danceability", "energy", "loudness", "speechiness", "acousticness", "instrumentalness", "liveness", "valence",
    "tempo", "key", "mode", "duration_ms",
)  # fmt: skip
SPEC = SetSpec(FEATURES, logged=("duration_ms", "speechiness", "instrumentalness"), circle="key", mode="mode")
PURPOSE = "music: any of twelve track features, titles, the album's title and the artist; what is missing is masked"
TEXTS = ("id", "artist", "album", "title")
Albums = dict[str, dict[str, list[Collection]]]  # table -> train, aside, validation


def read_tables(folder: Path) -> dict[str, np.ndarray]:
    """The albums of 3 to 20 tracks of all tables, one row a track, in true order.

    Compilations and live albums (``unusual``) are only trained on.
    """
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading a table")
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*TEXTS, "features", "table", "validation", "unusual")}
    for number, name in enumerate(TABLES):
        table = parquet.read_table(folder / f"{name}.parquet")
        column = {key: table[key].to_numpy(zero_copy_only=False) for key in table.column_names}
        meant = ~column["alpha_sorted"].astype(bool) & ~column["one_song"].astype(bool)
        _, which, count = np.unique(column["collection_id"], return_inverse=True, return_counts=True)
        meant &= (count[which] >= 3) & (count[which] <= 20)
        rows = np.lexsort((column["position"], column["collection_id"]))
        rows = rows[meant[rows]]
        missing = np.full(table.num_rows, np.nan)
        features = np.stack([column.get(key, missing)[rows].astype(np.float32) for key in FEATURES], axis=1)
        texts = {"id": "collection_id", "artist": "artist", "album": "album", "title": "track_name"}
        for key, source in texts.items():
            parts[key].append(np.array([str(value or "") for value in column[source][rows]], dtype=object))
        parts["features"].append(features)
        parts["table"].append(np.full(len(rows), number, dtype=np.int8))
        parts["validation"].append(column["split"][rows] == "validation")
        parts["unusual"].append(column["kind"][rows] != "")
    return {name: np.concatenate(part) for name, part in parts.items()}


def convert(arrays: dict[str, np.ndarray], path: Path) -> None:
    """Write the tracks as one compact file that NumPy reads by itself."""
    texts = {key: np.frombuffer("\0".join(arrays[key]).encode(), dtype=np.uint8) for key in TEXTS}
    np.savez_compressed(path, **{**arrays, **texts})


def read_converted(path: Path) -> dict[str, np.ndarray]:
    """The tracks as :func:`convert` wrote them."""
    arrays = dict(np.load(path, allow_pickle=False))
    return {**arrays, **{k: np.array(arrays[k].tobytes().decode().split("\0"), dtype=object) for k in TEXTS}}


def as_albums(arrays: dict[str, np.ndarray]) -> Albums:
    """The albums of each table: to train on, of artists set aside (8 %), and to validate."""
    albums: Albums = {name: {"train": [], "aside": [], "validation": []} for name in TABLES}
    starts = np.flatnonzero(np.r_[True, arrays["id"][1:] != arrays["id"][:-1]])
    for start, end in zip(starts, np.r_[starts[1:], len(arrays["id"])], strict=True):
        rows = range(start, end)
        items = [Item(str(row), arrays["title"][row], artist=arrays["artist"][row]) for row in rows]
        features, title = arrays["features"][start:end], arrays["album"][start]
        album = Collection(arrays["id"][start], items, features, FEATURES, title=title)
        aside = zlib.crc32(artist_of(album).encode()) % 100 < 8
        split = "validation" if arrays["validation"][start] else "aside" if aside else "train"
        if split == "train" or not arrays["unusual"][start]:
            albums[TABLES[arrays["table"][start]]][split].append(album)
    return albums


def prepared(albums: list[Collection], read: tuple[Any, ...], pool: ProcessPoolExecutor) -> ItemPool:
    """Albums as data, read side by side."""
    size = max(1, len(albums) // 64)
    tasks = [(albums[i : i + size], read) for i in range(0, len(albums), size)]
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(artist_of(album), len(numbers)) for album in albums]
    return set_pool([inputs for part in pool.map(_inputs, tasks) for inputs in part], groups)


def _inputs(task: tuple[list[Collection], tuple[Any, ...]]) -> list[Any]:
    albums, read = task
    return [as_inputs(album, *read) for album in albums]


def work(task: dict[str, Any]) -> dict[str, Any]:
    """One training, in a process of its own; its weights go to a file."""
    torch.set_float32_matmul_precision("high")
    torch.set_num_threads(task["threads"])
    device, recipe = task["device"], SetRecipe.from_dict(task["recipe"])
    stored = torch.load(task["data"], weights_only=True)
    train, aside = (to_device(ItemPool(**stored[name]), device) for name in ("train", "aside"))
    if task.get("control"):
        train, aside = (assessing.spoil(part, task["control"], seed) for seed, part in enumerate((train, aside)))
    spec = SetSpec.from_dict(task["spec"])
    net = SetNet(spec, recipe.seed, Dropout(recipe.dropout, recipe.title_dropout, recipe.word_dropout)).to(device)
    teachers = [load_net(path, device) for path in task.get("teachers", [])]
    began = time.monotonic()
    run = optimise(SetLearner(net, train, aside, recipe, teachers=teachers))
    torch.save({"spec": json.dumps(spec.to_dict()), "weights": run.best_net().state_dict()}, task["to"])
    bits = [round(epoch.bits[BOTH], 4) for epoch in run.history]
    return {"bits": bits, "seconds": round(time.monotonic() - began, 1)}


def to_device(data: ItemPool, device: str) -> ItemPool:
    """The same on a device."""
    items = {name: column.to(device) for name, column in data.items.items()}
    return ItemPool(items, data.lengths, None if data.pairs is None else data.pairs.to(device), data.groups)


def load_net(path: str, device: str) -> SetNet:
    """A net from the file of its training."""
    stored = torch.load(path, map_location=device, weights_only=True)
    net = SetNet(SetSpec.from_dict(json.loads(stored["spec"]))).to(device).eval()
    net.load_state_dict(stored["weights"])
    return net


def train_all(
    task: dict[str, Any], options: argparse.Namespace, folder: Path, pool: ProcessPoolExecutor
) -> dict[str, Any]:
    """Teachers and controls side by side, then the student of the teachers; what became of each."""
    names = [f"teacher {i}" for i in range(options.teachers)]
    tasks = {name: {**task, "recipe": {**task["recipe"], "seed": i}} for i, name in enumerate(names)}
    # A control has but one kind of input: nothing of it may be hidden as if there were another.
    tasks |= {
        c: {**task, "control": c, "recipe": {**task["recipe"], "untitled": 0.0, "few": 0.0}} for c in assessing.CONTROLS
    }
    told = run(tasks, folder, pool)
    paths = [str(folder / f"{name}.pt") for name in names]
    students = {}
    for i in range(options.students if options.teachers > 1 else 0):
        recipe = {**task["recipe"], "seed": 100 + i, "epochs": options.student_epochs}
        students[f"student {i}"] = {**task, "teachers": paths, "recipe": recipe}
    return {**told, **run(students, folder, pool)}


def run(tasks: dict[str, dict[str, Any]], folder: Path, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Trainings side by side."""
    began = time.monotonic()
    waiting = {name: pool.submit(work, {**task, "to": str(folder / f"{name}.pt")}) for name, task in tasks.items()}
    told = {}
    for name, result in waiting.items():
        told[name] = result.result()
        print(f"  {name}: {max(told[name]['bits']):.4f} bits aside, {told[name]['seconds']} s", flush=True)
    print(f"  {len(told)} trainings in {time.monotonic() - began:.0f} s", flush=True)
    return told


def assess(net: Any, data: dict[str, ItemPool]) -> dict[str, Any]:
    """Bits on each table by what is known."""
    report = {}
    for name in TABLES:
        report[name] = assessing.bits_by_inputs(net, data[name], FEATURES, draws=16)
        print(f"  {name}: {assessing.figures(report[name])}", flush=True)
    return report


def propose(net: Any, data: dict[str, ItemPool], albums: Albums) -> dict[str, Any]:
    """How one proposal for each album agrees with the truth, by what is known, and whether it keeps the obvious."""
    report: dict[str, Any] = {}
    for name in TABLES:
        for case in ("all inputs", "duration, loudness and titles"):
            found = assessing.proposals(net, data[name], assessing.fingerprints_of(FEATURES)[case])
            told = {kind: assessing.agreement(orders) for kind, orders in found.items()}
            plain = {k: assessing.obvious(o, albums[name]["validation"], data[name]) for k, o in found.items()}
            report.setdefault(name, {})[case] = {"agreement": told, "the obvious": plain}
            print(f"  {name}, {case}: {told}\n    {plain}", flush=True)
    return report


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="the folder of the tables, or what --convert wrote")
    parser.add_argument("--convert", type=Path, help="write the albums as a compact .npz and stop")
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--teachers", type=int, default=5)
    parser.add_argument("--students", type=int, default=2)
    parser.add_argument("--student-epochs", type=int, default=40)
    parser.add_argument("--part", type=int, default=1, help="train on every so-manieth album only, to try it out")
    parser.add_argument("--no-proposals", action="store_true", help="do not order the validation albums")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings, for example epochs=2")
    parser.add_argument("--spec", nargs="*", default=[], metavar="NAME=JSON", help="sizes, for example width=128")
    return parser.parse_args()


def settings(given: list[str]) -> dict[str, Any]:
    """Settings given as NAME=JSON."""
    return {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in given)}


def main() -> None:
    """Read the albums, train, choose, measure, write the model and its figures."""
    options = parsed()
    arrays = read_tables(options.source) if options.source.is_dir() else read_converted(options.source)
    if options.convert:
        convert(arrays, options.convert)
        return
    changes, sizes = settings(options.set), settings(options.spec)
    recipe = SetRecipe.from_dict(changes)
    albums = as_albums(arrays)
    train = [album for name in TABLES for album in albums[name]["train"]][:: options.part]
    print(f"{len(train)} albums to train on", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    spec = SetSpec.from_dict({**SPEC.to_dict(), **sizes})
    read = learn_inputs(train, spec, tokens=recipe.tokens, grams=recipe.grams)
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        folder = Path(name)
        aside = [album for name in TABLES for album in albums[name]["aside"]]
        parts = {"train": prepared(train, read, pool), "aside": prepared(aside, read, pool)}
        held_out = {k: prepared(albums[k]["validation"], read, pool) for k in TABLES}
        validation = {k: to_device(data, options.device) for k, data in held_out.items()}
        stored = {k: {"items": dict(d.items), "lengths": d.lengths, "pairs": d.pairs} for k, d in parts.items()}
        torch.save(stored, folder / "data.pt")
        task = {"data": str(folder / "data.pt"), "device": options.device, "recipe": recipe.to_dict(),
                "spec": read[0].to_dict(), "threads": 1 if options.jobs > 1 else torch.get_num_threads()}  # fmt: skip
        told = train_all(task, options, folder, pool)
        finish(told, read, validation, albums, options, recipe, folder, train)


def finish(told: dict[str, Any], read: tuple[Any, ...], validation: dict[str, ItemPool], albums: Albums,
           options: argparse.Namespace, recipe: SetRecipe, folder: Path, train: list[Collection]) -> None:  # fmt: skip
    """Choose by what was set aside, measure on validation, write."""

    def nets_of(kind: str) -> list[str]:
        return [name for name in told if name.startswith(kind)]

    chosen = max(nets_of("student") or nets_of("teacher"), key=lambda name: max(told[name]["bits"]))
    loaded = {name: load_net(str(folder / f"{name}.pt"), options.device) for name in told}
    report: dict[str, Any] = {"chosen": chosen, "trainings": told, "controls": {}}
    for control in assessing.CONTROLS:
        for seed, name in enumerate(TABLES):
            data = assessing.spoil(validation[name], control, 10 + seed)
            bits = collection_bits(loaded[control], data, draws=16)
            report["controls"].setdefault(control, {})[name] = assessing.interval(bits, np.asarray(data.groups))
        print(f"  {control}: {report['controls'][control]}", flush=True)
    print(f"chosen: {chosen}", flush=True)
    report["validation"] = assess(loaded[chosen], validation)
    bits = {n: {k: v for k, v in report["validation"][n].items() if "mean" in v} for n in TABLES}
    card = {"name": "music", "purpose": PURPOSE, "bits on validation": bits, "controls": report["controls"]}
    record = {"collections": len(train), "fingerprint": set_fingerprint(train), "settings": recipe.to_dict(),
              "chosen": chosen, "seeds": {"teachers": options.teachers, "students": options.students}}  # fmt: skip
    model = as_model(loaded[chosen], *read[1:], training=record, card=card)
    path = save_model(options.out / "music.safetensors", model)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB", flush=True)
    write_report(report, options.out)
    if len(nets_of("teacher")) > 1:
        mean = assessing.mean_tables([loaded[name] for name in nets_of("teacher")])
        report["mean of the teachers"] = assess(mean, validation)
        report["first teacher"] = assess(loaded["teacher 0"], validation)
    write_report(report, options.out)
    if not options.no_proposals:
        report["proposals"] = propose(loaded[chosen], validation, albums)
        write_report(report, options.out)


def write_report(report: dict[str, Any], folder: Path) -> None:
    """Write the figures so far."""
    (folder / "music.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
