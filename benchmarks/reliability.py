"""Whether claims come true as often as they say: ``python -m benchmarks.reliability DATA --of music novels``.

DATA is a folder with ``albums.parquet``, ``titles.parquet``, ``text/novels.parquet`` and the like, each with a column
``split``. Collections of the validation side, which no model was trained on, are shuffled and ordered as `fabula order`
does; of each order is kept what the model expects of it (``fabula.models.sureness.raw_claims``) and what is so. Three
numbers put each claim right; they are fitted to four fifths of the creators and tried on the last fifth, in turn, and
claimed is held against true in ten bins, with the calibration error (the mean distance of both, each bin by its share).
``--fit`` fits them to all and writes them beside the shipped models; ``--rows FILE`` keeps what was ordered and reads
it again. After a model was trained anew, ``--fit --of`` its kind is all there is to do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import fabula
from benchmarks.recover_texts import books, windows
from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.files import write_whole
from fabula.core.solver import Constraints
from fabula.core.template import Template
from fabula.media.registry import find_medium, measure_if_held
from fabula.models.model import load_model
from fabula.models.sureness import CLAIMS, digest, logit, raw_claims, stored
from fabula.session import propose
from fabula.session.propose import Likelihood, OrderTask, judge

FOLDS, BINS = 5, 10
RIDGE = 0.01  # on slopes and lengths, in units of the mean loss
LEAST = 3.0  # likelihood ratio beyond a coin, below which which comes first is not known, as of pictures and poems
MODELS = {"music": "music", "novels": "prose", "poems": "poems", "pictures": "pictures"}
ALBUMS = {"albums": 500, "albums-more": 250, "titles": 400, "titles-more": 300, "features-more2": 250}
FOLDER = ("loudness", "duration_ms")  # what a folder of sound gives
KEPT = {"kind": "", "alpha_sorted": "false", "one_song": "false"}
SIZES = (8, 10, 12, 16, 20, 26, 32)  # of windows of books
MOST_WINDOWS = 2  # of one size and book
FLAT = Template([0, 1], [0, 1])

Row = dict[str, Any]


def ask(likelihood: Likelihood, places: Ints, creator: str) -> Row:
    """Order a collection whose items truly stand at these places: what is expected, and what is so."""
    n = len(places)
    task = OrderTask(np.zeros(n), Constraints(n), likelihood=likelihood)
    ordering = propose.by_likelihood(task, [FLAT], 1)[0].fit.ordering
    return {
        "creator": creator,
        "n": n,
        "raw": raw_claims(likelihood.posterior, ordering),
        "true": truth(places[ordering]),
    }


def truth(places: Ints) -> dict[str, float]:
    """What is so of an order whose items truly stand at these places."""
    first, second = np.triu_indices(len(places), 1)
    order = float((places[first] < places[second]).mean())
    direction = float(order > 0.5) + 0.5 * (order == 0.5)
    return {"order": order, "direction": direction, "opener": places[0] == 0, "close": places[-1] == len(places) - 1}


def albums(data: Path, rng: np.random.Generator) -> Iterator[Row]:
    """Albums with all features, with what a folder gives, and with titles and lengths alone."""
    model, medium = load_model("music"), find_medium("music")
    for name, most in ALBUMS.items():
        table = data / f"{name}.parquet"
        found = fabula.read_table(
            table, collection="collection_id", position="position", title="track_name", artist="artist",
            where={**KEPT, "split": "validation"},
        )  # fmt: skip
        some = [c for c in found if 3 <= len(c) <= 18]
        some = [some[i] for i in rng.permutation(len(some))[:most]]
        for known in (model.feature_names, FOLDER) if "albums" in name else (FOLDER,):
            for c in some:
                features = np.full((len(c), len(model.feature_names)), np.nan)
                for k, column in enumerate(model.feature_names):
                    if column in known and column in c.feature_names:
                        features[:, k] = c.column(column)
                mixed = rng.permutation(len(c))
                shown = replace(c, features=features, feature_names=model.feature_names).only(mixed)
                yield ask(judge(model, shown, medium), mixed, c.items[0].artist)


def texts(data: Path, table: str, rng: np.random.Generator) -> Iterator[Row]:
    """Books whole, where they have no more than 80 parts, and windows of them."""
    model = load_model(MODELS[table])
    found = books(data / "text" / f"{table}.parquet", "validation")
    for book in found if table == "novels" else found[::2]:
        mixed = rng.permutation(len(book))
        items = [Item(str(k), details={"text": book[i]["text"]}) for k, i in enumerate(mixed)]
        collection, medium = measure_if_held(Collection("book", items))
        seen, where = medium.look(collection), np.argsort(mixed)
        spans = [list(range(len(book)))] if len(book) <= 80 else []
        for size in SIZES if table == "novels" else (12, 20):
            some = list(windows(range(len(book)), size)) if size < len(book) else []
            spans += [list(span) for span in some[:: max(1, len(some) // MOST_WINDOWS)][:MOST_WINDOWS]]
        for span in spans:
            shown = sorted(where[span].tolist())
            likelihood = judge(model, collection.only(shown), medium)
            likelihood.__dict__["evidence"] = seen(shown)
            yield ask(likelihood, np.argsort(np.argsort(mixed[shown])), book[0]["author"])


def pictures(data: Path, rng: np.random.Generator) -> Iterator[Row]:
    """Series of pictures."""
    model, medium = load_model("pictures"), find_medium("images")
    found = fabula.read_table(
        data / "images" / "features.parquet", collection="collection_id", position="position",
        where={"split": "validation"},
    )  # fmt: skip
    for c in found:
        if 5 <= len(c) <= 60:
            mixed = rng.permutation(len(c))
            owner = str(c.items[0].details.get("owner", c.id))
            yield ask(judge(model, c.only(mixed), medium), mixed, owner)


def collect(data: Path, what: str) -> list[Row]:
    """All that is asked of one kind."""
    rng = np.random.default_rng(0)
    rows = {"music": lambda: albums(data, rng), "pictures": lambda: pictures(data, rng)}
    return list(rows[what]() if what in rows else texts(data, what, rng))


def fit(rows: Sequence[Row], claim: str) -> Floats:
    """An offset, a slope and a number for the length by logistic regression, (3,); zeros where a coin does as well."""
    given, true = inputs(rows, claim), np.array([float(row["true"][claim]) for row in rows])

    def loss(numbers: Floats) -> float:
        at = given @ numbers
        held = (numbers[1] - 1) ** 2 + numbers[2] ** 2
        return float((np.logaddexp(0, at) - true * at).mean() + RIDGE * held)

    found = minimize(loss, [0.0, 1.0, 0.0])
    if claim == "order":  # which of two comes first is known where it is known which end does
        return np.asarray(found.x) if fit(rows, "direction").any() else np.zeros(3)
    creators = len({row["creator"] for row in rows})
    better = 2 * creators * (np.log(2) - found.fun)  # than a coin, as a likelihood ratio over creators
    return np.zeros(3) if claim == "direction" and better < LEAST else np.asarray(found.x)


def inputs(rows: Sequence[Row], claim: str) -> Floats:
    """1, what a model expects, as the logarithm of odds, and the length: shape (c, 3)."""
    return np.array([[1.0, logit(row["raw"][claim]), np.log(row["n"] / 12)] for row in rows])


def cross_fit(rows: Sequence[Row], claim: str) -> Floats:
    """What would be claimed of each by numbers fitted to other creators: shape (c,)."""
    creators = sorted({row["creator"] for row in rows})
    fold = dict(zip(creators, np.random.default_rng(0).permutation(len(creators)) % FOLDS, strict=True))
    own = np.array([fold[row["creator"]] for row in rows])
    claimed = np.zeros(len(rows))
    for k in range(FOLDS):
        numbers = fit([row for row, mine in zip(rows, own, strict=True) if mine != k], claim)
        held = [row for row, mine in zip(rows, own, strict=True) if mine == k]
        claimed[own == k] = 1 / (1 + np.exp(-inputs(held, claim) @ numbers)) if held else 0.0
    return claimed


def curve(claimed: Floats, true: Floats) -> list[tuple[float, float, int]]:
    """Claimed, true and how many, of each of ten bins of claims that is not empty.

    Examples
    --------
    >>> curve(np.array([0.1, 0.15, 0.9]), np.array([0.0, 0.0, 1.0]))
    [(0.125, 0.0, 2), (0.9, 1.0, 1)]
    """
    bins = np.minimum((claimed * BINS).astype(int), BINS - 1)
    some = [bins == k for k in range(BINS) if (bins == k).any()]
    return [(float(claimed[b].mean()), float(true[b].mean()), int(b.sum())) for b in some]


def error(found: Sequence[tuple[float, float, int]]) -> float:
    """The calibration error: the mean distance of claimed and true, each bin by its share."""
    return sum(abs(claimed - true) * count for claimed, true, count in found) / sum(count for *_, count in found)


def show(what: str, rows: Sequence[Row]) -> None:
    """Print the curves of one kind."""
    print(f"{what}: {len(rows)} collections by {len({row['creator'] for row in rows})} creators")
    for claim in CLAIMS:
        true = np.array([float(row["true"][claim]) for row in rows])
        raw = np.array([row["raw"][claim] for row in rows])
        found = curve(cross_fit(rows, claim), true)
        points = "  ".join(f"{100 * one:.0f}:{100 * other:.0f} ({count})" for one, other, count in found)
        print(f"  {claim}: error {error(found):.3f} (before {error(curve(raw, true)):.3f}); claimed:true % {points}")


def store(what: str, rows: Sequence[Row]) -> None:
    """Write what is fitted to all rows of one kind beside the shipped models."""
    name = MODELS[what]
    numbers = {claim: [round(float(x), 4) for x in fit(rows, claim)] for claim in CLAIMS}
    known = dict(stored()) | {name: {**stored().get(name, {}), "digest": digest(load_model(name)), **numbers}}
    target = Path(fabula.__file__).parent / "models" / "shipped" / "sureness.json"
    write_whole(target, (json.dumps(known, indent=1, sort_keys=True) + "\n").encode())
    stored.cache_clear()


def main() -> None:
    """Ask, print, and fit where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--of", nargs="*", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--rows", type=Path, help="a JSON file that keeps what was ordered, by kind")
    asked = parser.parse_args()
    kept = json.loads(asked.rows.read_text()) if asked.rows is not None and asked.rows.exists() else {}
    for what in asked.of:
        if what not in kept:
            kept[what] = collect(asked.data, what)
            if asked.rows is not None:
                asked.rows.write_text(json.dumps(kept, default=float))
        show(what, kept[what])
        if asked.fit:
            store(what, kept[what])


if __name__ == "__main__":
    main()
