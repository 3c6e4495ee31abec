"""Ten thousand collections at once: encoding and ordering against what cannot be done without, and one at a time.

    python -m benchmarks.bench_batches --table albums.parquet

Without a table, collections of as many items as real albums have are drawn. Seconds are those of the processor, on one
core: run it with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import fabula
from benchmarks.timing import report
from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.core.collections import Collections
from fabula.models.model import Model

# How many of 16,227 real albums have 3, 4, ... 18 tracks.
LENGTHS = (851, 1033, 820, 713, 732, 1016, 1108, 2200, 1721, 2291, 1131, 1006, 679, 456, 261, 209)
WORDS = [
    "love",
    "night",
    "the",
    "of",
    "in",
    "rain",
    "intro",
    "you",
    "song",
    "part",
    "1",
    "2",
    "my",
    "blue",
    "heart",
    "outro",
    "light",
]
ONE_BY_ONE = 200  # collections that are ordered one at a time, to compare


def collections(table: str | None, count: int) -> list[Collection]:
    """Collections of up to 18 items, shuffled; of a table, or drawn."""
    rng = np.random.default_rng(0)
    if table is None:
        return [_drawn(rng, number) for number in range(count)]
    known = [each for each in fabula.read_table(table) if len(each) <= 18]
    chosen = rng.permutation(len(known))[:count]
    return [known[i].reordered(rng.permutation(len(known[i]))) for i in chosen]


def _drawn(rng: np.random.Generator, number: int) -> Collection:
    n = int(rng.choice(np.arange(3, 19), p=np.array(LENGTHS) / sum(LENGTHS)))
    names = fabula.load_model("music").feature_names
    features = rng.random((n, len(names))) + 0.01
    features[:, names.index("duration_ms")] *= 4e5
    features[:, names.index("loudness")] *= -14
    features[:, names.index("tempo")] *= 180
    items = [Item(str(i), " ".join(rng.choice(WORDS, rng.integers(1, 5))).title()) for i in range(n)]
    return Collection(str(number), items, features, names)


def seconds(action: Callable[[], Any], repeats: int = 1) -> float:
    """Processor seconds, the best of some."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def item_products(model: Model, rows: int) -> float:
    """Seconds of the matrix products of an encoder of single items, and nothing else."""
    x = np.random.default_rng(1).normal(size=(rows, len(model.feature_names)))
    weights = [model.tensors[f"encoder.{i}.weight"].T.astype(np.float64) for i in range(3)]

    def run() -> None:
        for block in np.array_split(x, max(1, rows // 512)):
            hidden: Floats = block
            for weight in weights:
                hidden = hidden @ weight

    return seconds(run, 3)


def set_products(model: Model, rows: int, pairs: int) -> float:
    """Seconds of the matrix products of a set model with its weights, some rows at a time, and nothing else."""
    t = model.tensors
    by_item = [name for name in t if name.endswith(".weight") and t[name].ndim == 2 and "pair" not in name]
    by_item = [name for name in by_item if not name.endswith(".bias.weight")]
    by_pair = [name for name in t if name.endswith(".weight") and t[name].ndim == 2 and name not in by_item]

    def run() -> None:
        for names, count in ((by_item, rows), (by_pair, pairs)):
            for name in names:
                weight = t[name].T
                x = np.ones((4096, len(weight)), dtype=np.float32)
                for _ in range(count // 4096 + 1):
                    x @ weight

    return seconds(run)


def compare(what: str, many: Callable[[], Any], one: Callable[[Collection], Any], given: list[Collection]) -> None:
    """Print the seconds of all at once, and beside what one at a time would take."""
    together = seconds(many)
    some = given[:ONE_BY_ONE]
    alone = seconds(lambda: [one(each) for each in some]) * len(given) / len(some)
    print(f"{what}: {together:.2f} s for {len(given):,}; one at a time {alone:.0f} s, {alone / together:,.0f} x")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", help="A table of albums; only those of up to 18 items are taken.")
    parser.add_argument("--count", type=int, default=10_000)
    options = parser.parse_args()
    given = collections(options.table, options.count)
    many = Collections.of(given)
    sizes = np.diff(many.offsets)
    print(f"{len(given):,} collections, {len(many.features):,} items, {np.mean(sizes):.1f} each")
    _items(given, many)
    _sets(given, many, int((sizes**2).sum()))
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _items(given: list[Collection], many: Collections) -> None:
    model = fabula.load_model("albums")
    if not set(model.feature_names) <= set(many.feature_names):
        return
    ratio = seconds(lambda: model.encode_many(many), 3) / item_products(model, len(many.features))
    report("albums: encoding beside its matrix products", ratio, 5)
    compare("albums: order", lambda: model.order_many(many), lambda c: model.order(c, 1), given)


def _sets(given: list[Collection], many: Collections, pairs: int) -> None:
    model = fabula.load_model("music")
    untitled = Collections(many.pick(model.feature_names), many.offsets, model.feature_names)
    products = set_products(model, len(many.features), pairs)
    for what, each in (("features", untitled), ("features and titles", many)):
        took = seconds(lambda each=each: model.encode_many(each))
        print(f"music, {what}: encode {took:.2f} s, {took / products:.1f} x its matrix products ({products:.2f} s)")
        for rule, target in (("arcs", 3.0), ("likeliest", 30.0), ("agreeing", 30.0)):
            took = seconds(lambda each=each, rule=rule: model.order_many(each, rule=rule)) * 10_000 / len(given)
            print(f"  order by {rule}: {took:.2f} s for 10,000 (target {target:g} s){'  MISSED' * (took > target)}")
    compare("music: order, likeliest", lambda: model.order_many(many), lambda c: model.order(c, 1), given)


if __name__ == "__main__":
    main()
