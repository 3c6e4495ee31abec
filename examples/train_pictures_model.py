"""Train the model `pictures` and measure it: ``python examples/train_pictures_model.py features.parquet OUT``.

The table has one row per picture in its true order: ``collection_id``, ``position``, ``kind``, ``owner``, ``split``
and the measures of pictures. Flow alone is learned: what neighbours have in common. Every figure is of owners that the
weights have not seen: by cross-validation over the owners of the training split, and on the validation split. Writes
``pictures.safetensors`` and ``pictures.json`` into OUT.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.solver import Goal, arrange
from fabula.evaluation.intervals import mean_interval
from fabula.media.images.picture_measures import MEASURES, picture_steps
from fabula.models.encoders.measures import closeness, measures_config, neighbour_tensors
from fabula.models.model import Model, save_model
from fabula.training.step_models import (
    Example,
    bits_of,
    learn_neighbours,
    neighbour_scores,
    noise,
    share_beaten,
    shuffle,
)

SEED, FOLDS, FEWEST = 18, 10, 4
STEPS = ("colour", "tone", "detail", "subject", "format")
PHOTOGRAPHS = ("photo_or_art", "catalogue")


def read_series(path: Path, kinds: Sequence[str], split: str) -> list[Collection]:
    """The ordered collections of a kind and a split, each item's creator the owner."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(path).to_pylist():
        if row["kind"] in kinds and row["split"] == split:
            rows.setdefault(row["collection_id"], []).append(row)
    names = [name for name in MEASURES if not name.startswith(("hash", "palette"))]
    found = []
    for key, own in rows.items():
        own.sort(key=lambda row: row["position"])
        if len(own) >= FEWEST:
            items = [Item(f"{key}/{row['position']}", artist=str(row["owner"])) for row in own]
            found.append(Collection(key, items, [[row[name] for name in names] for row in own], names))
    return found


def example(series: Collection) -> Example:
    """How close each two of a series are, step by step."""
    steps = {part.name: part.distance for part in picture_steps(series, np.zeros(len(series))).parts}
    near = np.stack([closeness(steps[name]) for name in STEPS])
    return Example(np.zeros((len(series), 0)), near, series.items[0].creator)


def trained(examples: Sequence[Example]) -> Floats:
    """The weights of the steps, shape (5,)."""
    return learn_neighbours(examples, negatives=127, rng=np.random.default_rng(SEED))


def folded(examples: Sequence[Example], measure: Callable[[list[Example], Floats], list[Any]]) -> list[Any]:
    """What `measure` says of each example under weights learned from other owners."""
    owners = sorted({one.group for one in examples})
    np.random.default_rng(SEED).shuffle(owners)
    fold = {owner: k % FOLDS for k, owner in enumerate(owners)}
    found: list[Any] = [None] * len(examples)
    for k in range(FOLDS):
        held = [i for i, one in enumerate(examples) if fold[one.group] == k]
        weights = trained([one for one in examples if fold[one.group] != k])
        for i, value in zip(held, measure([examples[i] for i in held], weights), strict=True):
            found[i] = value
    return found


def bits(examples: Sequence[Example], weights: Floats, negatives: int = 31) -> list[float]:
    """Information about the order of each, the mean of eight draws."""
    rng = np.random.default_rng(SEED + 1)
    drawn = [bits_of(examples, neighbour_scores(weights), negatives=negatives, rng=rng) for _ in range(8)]
    return np.mean(drawn, axis=0).tolist()


def beaten(examples: Sequence[Example], weights: Floats, count: int = 400) -> list[float]:
    """The share of shuffles that the human order beats; half of a tie counts."""
    rng = np.random.default_rng(SEED + 2)
    return [share_beaten(one, weights, rng, count) for one in examples]


def kept(orders: Sequence[Ints]) -> list[float]:
    """The share of neighbours, in either direction, that an ordering kept."""
    return [float(np.mean(np.abs(np.diff(order)) == 1)) for order in orders]


def proposed(examples: Sequence[Example], weights: Floats) -> list[float]:
    """The share of neighbours that one proposal keeps."""
    return kept([_path(np.tensordot(weights, one.pairs, axes=1)) for one in examples])


def _path(flow: Floats) -> Ints:
    """The likeliest way through all; the items are mixed first, so that no tie falls to the truth."""
    n = len(flow)
    order = np.random.default_rng(n).permutation(n)
    mixed = -flow[np.ix_(order, order)]
    found = arrange(Goal.table(lambda m: np.zeros((n, m)), n), flow=mixed, seconds=0.2).ordering
    return np.asarray(order[found])


def _sorted(series: Collection, name: str) -> Ints:
    rng = np.random.default_rng(len(series))
    order = rng.permutation(len(series))
    return np.asarray(order[np.argsort(series.column(name)[order], kind="stable")])


def told(values: Sequence[float], groups: Sequence[str]) -> dict[str, float]:
    """A mean and its interval over owners."""
    interval = mean_interval(np.array(values), list(groups))
    return {"mean": float(np.mean(values)), "low": float(interval.low), "high": float(interval.high)}


def measured(series: Sequence[Collection], examples: Sequence[Example], by: Callable[..., list[Any]]) -> dict[str, Any]:
    """Everything that is said of a set of collections; `by` gives weights that have not seen them."""
    groups = [one.group for one in examples]
    ways: dict[str, list[float]] = {
        "pictures": by(examples, proposed),
        "a path through the same features, all alike": proposed(examples, np.ones(len(STEPS))),
        "sorted by brightness": kept([_sorted(one, "brightness") for one in series]),
        "sorted by hue": kept([_sorted(one, "hue") for one in series]),
        "chance": [2 / len(one) for one in series],
    }
    ours = np.array(ways["pictures"])
    return {
        "collections": len(series),
        "owners": len(set(groups)),
        "bits, N = 32": told(by(examples, bits), groups),
        "share of shuffles that the human order beats": told(by(examples, beaten), groups),
        "neighbours kept, either direction": {name: told(values, groups) for name, values in ways.items()},
        "more neighbours kept than by": {
            name: told((ours - np.array(values)).tolist(), groups)
            for name, values in ways.items()
            if name != "pictures"
        },
    }


def main() -> None:
    """Train, measure, write."""
    path, out = Path(sys.argv[1]), Path(sys.argv[2])
    series = {split: read_series(path, PHOTOGRAPHS, split) for split in ("train", "validation")}
    examples = {split: [example(one) for one in found] for split, found in series.items()}
    weights = trained(examples["train"])
    report: dict[str, Any] = {
        "cross-validated over owners": measured(series["train"], examples["train"], folded),
        "validation": measured(
            series["validation"], examples["validation"], lambda own, measure: measure(list(own), weights)
        ),
    }
    controls = {}
    for name, spoil in (("shuffled orders", shuffle), ("noise", noise)):
        spoilt = spoil(examples["train"], np.random.default_rng(SEED + 3))
        controls[name] = told(folded(spoilt, bits), [one.group for one in spoilt])
    report["controls, bits, N = 32"] = controls
    books = read_series(path, ("picture_book",), "validation")
    own = [example(one) for one in books]
    report["picture books, not trained on"] = measured(books, own, lambda some, measure: measure(list(some), weights))
    report["weights"] = dict(zip(STEPS, weights.round(4).tolist(), strict=True))
    print(json.dumps(report, indent=1))
    card = {
        "name": "pictures",
        "purpose": "photographs and other pictures: what neighbours have in common, in five steps",
        "trained on": f"{len(series['train'])} series by {len({one.group for one in examples['train']})} owners",
        **report,
        "limits": (
            "an arc over the positions was not found in photographs, so none is learned: which picture opens or "
            "closes, and which way the series runs, is not known"
        ),
    }
    tensors = neighbour_tensors(np.zeros((0, 12)), weights)
    model = Model(measures_config((), (), STEPS), tensors, training={"seed": SEED, "negatives": 127}, card=card)
    save_model(out / "pictures.safetensors", model)
    (out / "pictures.json").write_text(json.dumps(card, indent=1))


if __name__ == "__main__":
    main()
