"""The recipe of the model `concerts` that comes with the package: programmes of several composers, by their titles.

    python examples/train_concert_model.py setlists.parquet --convert concerts.json   # then, where there is no pyarrow:
    python examples/train_concert_model.py concerts.json --out models --jobs 12
    python examples/train_concert_model.py models/concerts.safetensors --describe models/concerts.json
    python examples/train_concert_model.py concerts.json --ends concerts

It is trained on the years whose ``split_by_year`` is "train", the last tenth of each orchestra's set aside to decide
when to stop, and measured on the validation years. What it knows of strangers: trained without some orchestras, or on
setlists without one band, and measured on those. Two controls by the same recipe must know nothing: shuffled orders,
and titles dealt anew with no composers.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.errors import import_extra
from fabula.evaluation.controls import Parts, shuffle_orders, shuffle_titles
from fabula.evaluation.information import mutual_information
from fabula.models.encoders.set import SetSpec
from fabula.models.model import Model, load_model, save_model
from fabula.training.recipes import SetRecipe
from fabula.training.sets import SetTraining

SPEC = SetSpec((), width=64, inner=128, token_size=32, gram_size=24, layers=1)
RECIPE = SetRecipe(
    epochs=30, batch=128, title_dropout=0.6, word_dropout=0.5, untitled=0.0, few=0.0, feature_masking=0.0, tokens=6,
    grams=30,
)  # fmt: skip
LEAST, MOST = 3, 40  # items of a list
FEW = 7  # items of which every order is looked at
MEASURED = 500  # lists of one kind, or some more, that are measured
SMALL = (
    "Musicians from the New York Philharmonic", "NY Philharmonic Ensembles", "NYP Presentation",
    "Members of NY Philharmonic", "New/National Symphony Orchestra",
)  # fmt: skip
BANDS = ("Pearl Jam", "The Cure", "Bruce Springsteen", "Rush", "Widespread Panic")
CONTROLS = {"shuffled": shuffle_orders, "titles": shuffle_titles}
CARD = {
    "name": "concerts",
    "purpose": "the order of a concert's programme, by the titles of its works and by who wrote which",
    "source": "programmes of the New York Philharmonic and its ensembles, and of orchestras before them",
    "chosen": "of a dozen settings one of the smallest among the best on the last years of training",
    "limits": "programmes of one city; it knows nothing of bands: see bits on strangers",
    "negatives": 31,
}


def convert(table: Path, out: Path) -> None:
    """The table as JSON, one list a row."""
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading a table")
    lists: dict[int, dict[str, Any]] = {}
    for row in parquet.read_table(table).to_pylist():
        known = {"artist": "artist", "kind": "set_kind", "year": "release_date", "split": "split_by_year"}
        one = lists.setdefault(row["collection_id"], {**{ours: row[name] for ours, name in known.items()}, "items": []})
        one["items"].append((row["position"], row["track_name"] or "", row["composer"] or ""))
    for one in lists.values():
        one["items"] = [item[1:] for item in sorted(one["items"])]
    out.write_text(json.dumps(lists), encoding="utf-8")


def read_lists(path: Path, kind: str, *, composers: bool = True) -> list[dict[str, Any]]:
    """The lists of one kind, each with its collection."""
    found = []
    for name, one in json.loads(path.read_text(encoding="utf-8")).items():
        if one["kind"] != kind or not LEAST <= len(one["items"]) <= MOST:
            continue
        items = tuple(
            Item(f"{name}-{k}", title=title, artist=who if who and composers else one["artist"])
            for k, (title, who) in enumerate(one["items"])
        )
        found.append({**one, "collection": Collection(name, items, np.zeros((len(items), 0)), (), ordered=True)})
    return found


def divide(lists: list[dict[str, Any]], without: tuple[str, ...]) -> tuple[list[Collection], ...]:
    """What is trained on, what is set aside, what is measured: those left out, or the validation years."""
    known = [one for one in lists if one["split"] == "train" and one["artist"] not in without]
    last = {}
    for artist in {one["artist"] for one in known}:
        years = sorted(one["year"] for one in known if one["artist"] == artist)
        last[artist] = years[int(0.9 * (len(years) - 1))]
    early = [one["year"] <= last[one["artist"]] for one in known]
    train = [one["collection"] for one, yes in zip(known, early, strict=True) if yes]
    aside = [one["collection"] for one, yes in zip(known, early, strict=True) if not yes]
    test = [one for one in lists if (one["artist"] in without if without else one["split"] == "validation")]
    return train, aside, [one["collection"] for one in test[:: max(1, len(test) // MEASURED)]]


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One training, measured."""
    control = job.get("control", "")
    lists = read_lists(Path(job["path"]), job.get("kind", "programme"), composers=control != "titles")
    train, aside, test = divide(lists, job.get("without", ()))
    if control:
        rng = np.random.default_rng(1)
        train, aside = CONTROLS[control](train, rng), CONTROLS[control](aside, rng)
    done = SetTraining(Parts(train, aside), SPEC, replace(RECIPE, epochs=job["epochs"]), scorers=()).train()
    if job.get("save"):
        save_model(Path(job["save"]), done.model)
    info = mutual_information(done.model, test, draws=4)
    bits = {"bits": round(info.bits, 4), "low": round(info.low, 4), "high": round(info.high, 4)}
    return {"name": job["name"], **bits, "collections": len(test)}


def describe(path: Path, report: Path) -> None:
    """Write what is known of the model into its file."""
    model = load_model(path)
    found = {row["name"]: {k: v for k, v in row.items() if k != "name"} for row in json.loads(report.read_text())}
    figures = {"bits on validation": {"programmes": found.pop("concerts")}, "controls": {}, "bits on strangers": {}}
    for name, row in found.items():
        figures["controls" if name in CONTROLS else "bits on strangers"][name] = row
    card = {**CARD, **figures}
    save_model(path, Model(model.config, model.tensors, model.encoder.vocabulary, training=model.training, card=card))


def count_ends(path: Path, name: str) -> None:
    """Print how often a model's likeliest order has the true opener and the true close, of validation programmes."""
    model, right = load_model(name), []
    for collection in divide(read_lists(path, "programme"), ())[2]:
        if len(collection) <= FEW:
            orders = np.random.default_rng(0).permutation(list(permutations(range(len(collection)))))
            best = orders[np.argmax(model.score(collection, orders))]
            right.append((best[0] == 0, best[-1] == len(collection) - 1, 1 / len(collection)))
    opens, closes, chance = np.mean(right, axis=0)
    print(f"{len(right)} programmes: opener {opens:.1%}, close {closes:.1%}, by chance {chance:.1%}")


def main() -> None:
    """Convert, train, describe or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--convert", type=Path, metavar="FILE.json")
    parser.add_argument("--describe", type=Path, metavar="REPORT.json")
    parser.add_argument("--ends", metavar="MODEL")
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=RECIPE.epochs)
    options = parser.parse_args()
    if options.convert:
        convert(options.path, options.convert)
    elif options.describe:
        describe(options.path, options.describe)
    elif options.ends:
        count_ends(options.path, options.ends)
    else:
        train_all(options)


def train_all(options: argparse.Namespace) -> None:
    """The model, its controls, and what such a model knows of strangers, side by side."""
    options.out.mkdir(parents=True, exist_ok=True)
    base = {"path": str(options.path), "epochs": options.epochs}
    jobs = [
        {**base, "name": "concerts", "save": str(options.out / "concerts.safetensors")},
        *({**base, "name": name, "control": name} for name in CONTROLS),
        {**base, "name": "ensembles", "without": SMALL},
        *({**base, "name": band, "kind": "setlist", "without": (band,)} for band in BANDS),
    ]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        results = []
        for result in pool.map(run, jobs):
            print(json.dumps(result), flush=True)
            results.append(result)
    (options.out / "concerts.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
