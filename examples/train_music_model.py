r"""The recipe of the model `music` that comes with the package.

    python examples/train_music_model.py FOLDER --out models           # the .parquet files of TABLES
    python examples/train_music_model.py FOLDER --convert music.npz    # then, where there is no pyarrow:
    python examples/train_music_model.py music.npz --out models --jobs 8

Several teachers are trained side by side, each with its seed, and one student that learns from the albums and from the
teachers' mean opinion. What would be heard of the sound is simulated from the true features, with errors drawn anew for
every batch (`simulate_heard.py`). What to keep is decided on artists set aside from training; validation is measured at
the end and decides nothing. Three controls are trained by the same recipe: they must know nothing. Spellings of one
artist are one artist; what is by an artist of any validation part is not trained on.

The model of the package:

    python examples/train_music_model.py FOLDER --prepare music.prepared --jobs 2 --set grams=350 \
      --spec width=128 layers=3 inner=384
    W="spec.width=160 spec.inner=512"
    python examples/train_music_model.py music.prepared --out teachers --jobs 13 --teachers 10 --seed 20 --students 0 \
      --set epochs=40 dropout=0.15 title_dropout=0.7 word_dropout=0.5 feature_masking=0.15 few=0.25 untitled=0.3 \
      --spec width=144 inner=448 pair_width=48 --vary "$W" "$W" "$W" "$W" "$W dropout=0.1" "$W few=0.15" \
      "$W untitled=0.2" "$W title_dropout=0.8" "$W feature_masking=0.25" "$W subsequences=0.4"
    python examples/train_music_model.py music.prepared --out models --jobs 3 --teachers 0 --students 3 \
      --student-epochs 44 --no-controls --given teachers/teachers-0.pt teachers/teachers-4.pt teachers/teachers-8.pt \
      --set epochs=40 dropout=0.1 title_dropout=0.7 word_dropout=0.5 feature_masking=0.2 few=0.2 untitled=0.3 \
      --spec width=144 inner=448 pair_width=48 --vary-students "" "taught=0.9" "dropout=0.15"
    python examples/describe_music_model.py models/music.safetensors models/music.json FOLDER \
      --controls teachers/music.json
    python examples/measure_music_model.py FOLDER --only bits --out measured.json [--strict]
    python examples/describe_music_model.py models/music.safetensors --measured measured.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import assess_music as assessing
import numpy as np
import simulate_heard as hearing
import torch
from learn_from_teachers import Errors, StudentLearner

from fabula.core.collection import Collection, Item, fold_creator
from fabula.errors import import_extra
from fabula.models.encoders.set import SetEncoder, SetSpec
from fabula.models.model import save_model
from fabula.models.titles import Vocabulary
from fabula.training.data import ItemPool
from fabula.training.loop import optimise
from fabula.training.nets.set_net import SetNet, as_model, learn_inputs
from fabula.training.recipes import SetRecipe
from fabula.training.sets import BOTH, collection_bits, read_inputs, set_fingerprint, set_pool

TABLES = ("albums", "albums-more", "titles", "features-more2", "features-more", "titles-more")
PREFERRED = ("albums", "albums-more", "features-more2", "features-more", "titles", "titles-more")  # of one album twice
TRUE = (
    "danceability", "energy", "loudness", "speechiness", "acousticness", "instrumentalness", "liveness", "valence",
    "tempo", "key", "mode", "duration_ms",
)  # fmt: skip
FEATURES = (*TRUE, *hearing.HEARD)
EXPECTED = tuple(f"expected_{name}" for name in hearing.NAMES)  # what would be heard but for errors; no input
LOGGED = ("duration_ms", "speechiness", "instrumentalness", *hearing.LOGGED)
SPEC = SetSpec(FEATURES, logged=LOGGED, circle="key", mode="mode")
FOLDER = ("duration_ms", "loudness")
KEPT = (*[(*FOLDER, *hearing.HEARD)] * 4, FOLDER, FOLDER, ("duration_ms",), ())
PURPOSE = (
    "music: any of twelve track features, six of them as heard in the sound, titles, the album's title and the artist; "
    "what is missing is masked"
)
MANY = "Various Artists"  # no artist
TEXTS = ("id", "artist", "album", "title")
CHOSEN_BY = ("all inputs", "a folder of sound, heard")  # what is known where the best epoch is chosen
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
        features = np.stack([column.get(key, missing)[rows].astype(np.float32) for key in TRUE], axis=1)
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


def with_heard(arrays: dict[str, np.ndarray], seed: int = 0) -> np.ndarray:
    """The true features, those heard (simulated, errors drawn once), and those expected, (tracks, 12 + 6 + 6)."""
    true, album = arrays["features"], np.unique(arrays["id"], return_inverse=True)[1]
    expected = hearing.expect(hearing.sources_of(true, TRUE), album)
    heard = hearing.as_shares(hearing.draw(expected, album, seed))
    return np.concatenate([true, heard, hearing.as_shares(expected)], axis=1).astype(np.float32)


def as_albums(arrays: dict[str, np.ndarray]) -> Albums:
    """The albums of each table: to train on, of artists set aside (8 %), and to validate."""
    albums: Albums = {name: {"train": [], "aside": [], "validation": []} for name in TABLES}
    every, names = with_heard(arrays), (*FEATURES, *EXPECTED)
    starts = np.flatnonzero(np.r_[True, arrays["id"][1:] != arrays["id"][:-1]])
    ends = np.r_[starts[1:], len(arrays["id"])]
    validated = starts[arrays["validation"][starts]]
    held = {fold_creator(arrays["artist"][start]) for start in validated} - {fold_creator(MANY)}
    seen = {
        (fold_creator(arrays["artist"][i]), fold_creator(arrays["album"][i])): -1 for i in validated
    }  # album -> table
    rank = [PREFERRED.index(name) for name in TABLES]
    for start, end in sorted(zip(starts, ends, strict=True), key=lambda rows: rank[arrays["table"][rows[0]]]):
        table, artist = int(arrays["table"][start]), fold_creator(arrays["artist"][start])
        named = artist, fold_creator(arrays["album"][start])
        if not arrays["validation"][start] and (artist in held or seen.setdefault(named, table) != table):
            continue
        items = [Item(str(row), arrays["title"][row], artist=arrays["artist"][row]) for row in range(start, end)]
        album = Collection(arrays["id"][start], items, every[start:end], names, title=arrays["album"][start])
        aside = zlib.crc32((album.maker or album.id).encode()) % 100 < 8
        split = "validation" if arrays["validation"][start] else "aside" if aside else "train"
        if split == "train" or not arrays["unusual"][start]:
            albums[TABLES[table]][split].append(album)
    return albums


def without_errors(pool: ItemPool, albums: list[Collection], read: SetEncoder) -> ItemPool:
    """Training data in which what is heard is what can be expected: errors are drawn for every batch."""
    spec, (mean, deviation) = read.spec, scale_of(read)
    first = len(FEATURES)
    expected = np.concatenate([album.features[:, first:] for album in albums])
    places = [spec.features.index(name) for name in hearing.HEARD]
    logged = np.isin(hearing.HEARD, hearing.LOGGED)
    z = np.where(logged, np.log(expected + hearing.OFFSET), expected)
    z = np.nan_to_num((z - mean[places]) / deviation[places]).astype(np.float32)
    values = pool.values.clone()
    values[:, places] = torch.from_numpy(z)
    return replace(pool, items={**pool.items, "values": values})


def scale_of(read: SetEncoder) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the features."""
    return np.asarray(read.tensors["transform.mean"]), np.asarray(read.tensors["transform.deviation"])


def errors_of(spec: SetSpec, mean: np.ndarray, deviation: np.ndarray, device: str) -> Errors:
    """The errors of what is heard, in the units the net sees."""
    places = [spec.features.index(name) for name in hearing.HEARD]
    scale = deviation[places]
    low, high = ((bound - mean[places]) / scale for bound in hearing.bounds())
    factors = (_factor(noise / np.outer(scale, scale)) for noise in (hearing.WITHIN, hearing.BETWEEN))
    columns = torch.tensor(places, device=device)
    return Errors(columns, *(torch.tensor(each, dtype=torch.float32, device=device) for each in (*factors, low, high)))


def _factor(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def prepared(albums: list[Collection], read: SetEncoder, pool: ProcessPoolExecutor) -> assessing.OwnedPool:
    """Albums as data, read side by side."""
    size = max(1, len(albums) // 64)
    tasks = [(albums[i : i + size], read) for i in range(0, len(albums), size)]
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(album.maker or album.id, len(numbers)) for album in albums]
    found = set_pool([inputs for part in pool.map(_inputs, tasks) for inputs in part])
    return assessing.OwnedPool(found.items, found.lengths, found.pairs, np.asarray(groups))


def _inputs(task: tuple[list[Collection], SetEncoder]) -> list[Any]:
    return read_inputs(*task)


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
    net = SetNet(spec, recipe).to(device)
    teachers = [load_net(path, device) for path in task.get("teachers", [])]
    began = time.monotonic()
    errors = errors_of(spec, *(np.array(task[name]) for name in ("mean", "deviation")), device)
    views = [seen.features for name, seen in assessing.fingerprints_of(FEATURES).items() if name in CHOSEN_BY]
    run = optimise(StudentLearner(net, train, aside, recipe, teachers=teachers, errors=errors, views=views))
    torch.save({"spec": json.dumps(spec.to_dict()), "weights": run.best_net().state_dict()}, task["to"])
    bits = [round(epoch.bits[BOTH], 4) for epoch in run.history]
    best, known = run.best_net().eval(), dict(zip(CHOSEN_BY, views, strict=True))
    seen = {name: float(collection_bits(assessing.only(best, view), aside).mean()) for name, view in known.items()}
    return {"bits": bits, "aside": seen, "seconds": round(time.monotonic() - began, 1)}


def to_device(data: ItemPool, device: str) -> ItemPool:
    """The same on a device."""
    items = {name: column.to(device) for name, column in data.items.items()}
    return replace(data, items=items, pairs=None if data.pairs is None else data.pairs.to(device))


def load_net(path: str, device: str) -> SetNet:
    """A net from the file of its training."""
    stored = torch.load(path, map_location=device, weights_only=True)
    net = SetNet(SetSpec.from_dict(json.loads(stored["spec"]))).to(device).eval()
    net.load_state_dict(stored["weights"])
    return net


def train_all(
    task: dict[str, Any], options: argparse.Namespace, folder: Path, pool: ProcessPoolExecutor
) -> dict[str, Any]:
    """Teachers and controls side by side, then the students of the teachers; what became of each."""
    names = [f"teacher {i}" for i in range(options.teachers)]
    tasks = {name: vary(task, options.seed + i, options.vary[i : i + 1]) for i, name in enumerate(names)}
    # A control has but one kind of input: nothing of it may be hidden as if there were another.
    bare = {"untitled": 0.0, "few": 0.0, "unguessed": 0.0}
    controls = assessing.CONTROLS if options.controls else ()
    tasks |= {c: {**task, "control": c, "recipe": {**task["recipe"], **bare}} for c in controls}
    told = run(tasks, folder, pool)
    keep_teachers([folder / f"{name}.pt" for name in names], options.out)
    paths = [str(folder / f"{name}.pt") for name in names] + unpack_teachers(options.given, folder)
    students = {}
    for i in range(options.students if len(paths) > 1 else 0):
        varied = vary(task, 100 + i, options.vary_students[i : i + 1])
        recipe = {**varied["recipe"], "epochs": options.student_epochs}
        students[f"student {i}"] = {**varied, "teachers": paths, "recipe": recipe}
    return {**told, **run(students, folder, pool)}


def vary(task: dict[str, Any], seed: int, changes: list[str]) -> dict[str, Any]:
    """A teacher's training with settings of its own: "few=0.3 spec.width=160"."""
    given = settings(changes[0].split() if changes else [])
    sizes = {name.removeprefix("spec."): value for name, value in given.items() if name.startswith("spec.")}
    recipe = {name: value for name, value in given.items() if not name.startswith("spec.")}
    return {**task, "recipe": {**task["recipe"], "seed": seed, **recipe}, "spec": {**task["spec"], **sizes}}


def keep_teachers(paths: list[Path], out: Path) -> None:
    """Write the teachers down in half precision, some to a file, for students trained later."""
    for first in range(0, len(paths), 4):
        held = [torch.load(path, map_location="cpu", weights_only=True) for path in paths[first : first + 4]]
        small = [{**net, "weights": {k: v.half() for k, v in net["weights"].items()}} for net in held]
        torch.save(small, out / f"teachers-{first}.pt")


def unpack_teachers(given: list[Path], folder: Path) -> list[str]:
    """Files of single teachers, from what an earlier run kept."""
    paths = []
    for net in (net for path in given for net in torch.load(path, weights_only=True)):
        paths.append(str(folder / f"given {len(paths)}.pt"))
        torch.save({**net, "weights": {k: v.float() for k, v in net["weights"].items()}}, paths[-1])
    return paths


def run(tasks: dict[str, dict[str, Any]], folder: Path, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Trainings side by side."""
    began = time.monotonic()
    waiting = {name: pool.submit(work, {**task, "to": str(folder / f"{name}.pt")}) for name, task in tasks.items()}
    told = {}
    for name, result in waiting.items():
        told[name] = result.result()
        seen = {case: round(bits, 4) for case, bits in told[name]["aside"].items()}
        print(f"  {name}: {max(told[name]['bits']):.4f} bits aside, {seen}, {told[name]['seconds']} s", flush=True)
    print(f"  {len(told)} trainings in {time.monotonic() - began:.0f} s", flush=True)
    return told


def assess(net: Any, data: dict[str, ItemPool]) -> dict[str, Any]:
    """Bits on each table by what is known."""
    report = {}
    for name in TABLES:
        report[name] = assessing.bits_by_inputs(net, data[name], FEATURES, draws=16)
        print(f"  {name}: {assessing.figures(report[name])}", flush=True)
    return report


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="the folder of the tables, or what --convert wrote")
    parser.add_argument("--convert", type=Path, help="write the albums as a compact .npz and stop")
    parser.add_argument("--prepare", type=Path, help="write all that training needs as a .prepared file and stop")
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--teachers", type=int, default=5)
    parser.add_argument("--students", type=int, default=2)
    parser.add_argument("--student-epochs", type=int, default=40)
    parser.add_argument("--part", type=int, default=1, help="train on every so-manieth album only, to try it out")
    parser.add_argument("--no-controls", dest="controls", action="store_false", help="train no controls")
    parser.add_argument("--vary", nargs="*", default=[], metavar="CHANGES", help='of each teacher: "few=0.3 epochs=20"')
    parser.add_argument("--vary-students", nargs="*", default=[], metavar="CHANGES", help="the same of each student")
    parser.add_argument("--given", nargs="*", default=[], type=Path, help="teachers that an earlier run kept")
    parser.add_argument("--seed", type=int, default=0, help="of the first teacher")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings, for example epochs=2")
    parser.add_argument("--spec", nargs="*", default=[], metavar="NAME=JSON", help="sizes, for example width=128")
    return parser.parse_args()


def settings(given: list[str]) -> dict[str, Any]:
    """Settings given as NAME=JSON."""
    return {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in given)}


def main() -> None:
    """Read the albums, train, choose, measure, write the model and its figures."""
    options = parsed()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        if options.source.suffix == ".prepared":
            data = read_prepared(options.source)
        else:
            arrays = read_tables(options.source) if options.source.is_dir() else read_converted(options.source)
            if options.convert:
                convert(arrays, options.convert)
                return
            data = prepare_all(as_albums(arrays), options, pool)
            if options.prepare:
                write_prepared(options.prepare, data)
                return
        train_and_write(data, options, pool)


def prepare_all(albums: Albums, options: argparse.Namespace, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """All that training needs of the albums: data by part, what a model must know to read items, what was read."""
    changes = settings(options.set)
    recipe = SetRecipe.from_dict({"kept": KEPT, "guessed": hearing.HEARD, **changes})
    train = [album for name in TABLES for album in albums[name]["train"]][:: options.part]
    aside = [album for name in TABLES for album in albums[name]["aside"]]
    spec = SetSpec.from_dict({**SPEC.to_dict(), **settings(options.spec)})
    read = learn_inputs(train, spec, tokens=recipe.tokens, grams=recipe.grams)
    parts = {"train": without_errors(prepared(train, read, pool), train, read), "aside": prepared(aside, read, pool)}
    parts |= {name: prepared(albums[name]["validation"], read, pool) for name in TABLES}
    record = {"collections": len(train), "fingerprint": set_fingerprint(train)}
    return {"parts": parts, "read": read, "record": record}


def write_prepared(path: Path, data: dict[str, Any]) -> None:
    """Write what :func:`prepare_all` gave as one compact file."""
    read = data["read"]
    spec, vocabulary, (mean, deviation) = read.spec, read.vocabulary, scale_of(read)
    said = {"spec": spec.to_dict(), "tokens": vocabulary.tokens, "grams": vocabulary.grams, "record": data["record"]}
    arrays = {"mean": mean, "deviation": deviation, "said": np.frombuffer(json.dumps(said).encode(), np.uint8)}
    for part, pool in data["parts"].items():
        items = {f"items {name}": column.numpy() for name, column in pool.items.items()}
        for name, column in {**items, "lengths": pool.lengths.numpy(), "pairs": pool.pairs.numpy(),
                             "groups": pool.groups}.items():  # fmt: skip
            small = column.astype(np.int16) if column.dtype.kind == "i" and column.max(initial=0) < 2**15 else column
            arrays[f"{part} {name}"] = small
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_prepared(path: Path) -> dict[str, Any]:
    """What :func:`write_prepared` wrote."""
    stored = np.load(path)
    said = json.loads(bytes(stored["said"]))
    parts = {}
    for part in ("train", "aside", *TABLES):
        names = [name for name in stored.files if name.startswith(f"{part} items ")]
        items = {name.removeprefix(f"{part} items "): _as_tensor(stored[name]) for name in names}
        lengths, groups = (stored[f"{part} {name}"].astype(np.int64) for name in ("lengths", "groups"))
        pairs = torch.from_numpy(stored[f"{part} pairs"])
        parts[part] = assessing.OwnedPool(items, torch.from_numpy(lengths), pairs, groups)
    vocabulary = Vocabulary(*(tuple(said[name]) for name in ("tokens", "grams")))
    scale = {"transform.mean": stored["mean"], "transform.deviation": stored["deviation"]}
    read = SetEncoder(SetSpec.from_dict(said["spec"]), scale, vocabulary)
    return {"parts": parts, "read": read, "record": said["record"]}


def _as_tensor(column: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(column.astype(np.int32) if column.dtype == np.int16 else column)


def train_and_write(data: dict[str, Any], options: argparse.Namespace, pool: ProcessPoolExecutor) -> None:
    """Train, choose, measure, write."""
    read, parts = data["read"], data["parts"]
    recipe = SetRecipe.from_dict({"kept": KEPT, "guessed": hearing.HEARD, **settings(options.set)})
    spec = SetSpec.from_dict({**read.spec.to_dict(), **settings(options.spec)})
    mean, deviation = scale_of(read)
    print(f"{data['record']['collections']} albums to train on", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        used = {k: parts[k] for k in ("train", "aside")}
        stored = {k: {"items": dict(d.items), "lengths": d.lengths, "pairs": d.pairs} for k, d in used.items()}
        torch.save(stored, folder / "data.pt")
        task = {"data": str(folder / "data.pt"), "device": options.device, "recipe": recipe.to_dict(),
                "spec": spec.to_dict(), "mean": mean.tolist(), "deviation": deviation.tolist(),
                "threads": 1 if options.jobs > 1 else torch.get_num_threads()}  # fmt: skip
        told = train_all(task, options, folder, pool)
        validation = {k: to_device(parts[k], options.device) for k in TABLES}
        finish(told, read, validation, options, recipe, folder, data["record"])


def finish(told: dict[str, Any], read: SetEncoder, validation: dict[str, assessing.OwnedPool],
           options: argparse.Namespace, recipe: SetRecipe, folder: Path, record: dict[str, Any]) -> None:  # fmt: skip
    """Choose by what was set aside, measure on validation, write."""

    def nets_of(kind: str) -> list[str]:
        return [name for name in told if name.startswith(kind)]

    chosen = max(nets_of("student") or nets_of("teacher"), key=lambda name: max(told[name]["bits"]))
    loaded = {name: load_net(str(folder / f"{name}.pt"), options.device) for name in told}
    report: dict[str, Any] = {"chosen": chosen, "trainings": told, "controls": {}}
    for control in assessing.CONTROLS if options.controls else ():
        for seed, name in enumerate(TABLES):
            data = assessing.spoil(validation[name], control, 10 + seed)
            bits = collection_bits(loaded[control], data, draws=16)
            report["controls"].setdefault(control, {})[name] = assessing.interval(bits, data.groups)
        print(f"  {control}: {report['controls'][control]}", flush=True)
    print(f"chosen: {chosen}", flush=True)
    report["validation"] = assess(loaded[chosen], validation)
    bits = {n: {k: v for k, v in report["validation"][n].items() if "mean" in v} for n in TABLES}
    card = {"name": "music", "purpose": PURPOSE, "bits on validation": bits, "controls": report["controls"]}
    seeds = {"teachers": options.teachers + len(list(folder.glob("given *.pt"))), "students": options.students}
    record = {**record, "settings": recipe.to_dict(), "chosen": chosen, "seeds": seeds}
    model = as_model(loaded[chosen], read, training=record, card=card)
    path = save_model(options.out / "music.safetensors", model)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB", flush=True)
    write_report(report, options.out)
    if len(nets_of("teacher")) > 1:
        mean = assessing.mean_tables([loaded[name] for name in nets_of("teacher")])
        report["mean of the teachers"] = assess(mean, validation)
    write_report(report, options.out)


def write_report(report: dict[str, Any], folder: Path) -> None:
    """Write the figures so far."""
    (folder / "music.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
