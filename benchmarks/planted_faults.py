"""Faults planted into orders that people made: does the review name them, and do its moves bring the truth back?

    python -m benchmarks.planted_faults DATA                  # the table in docs/review.md
    python -m benchmarks.planted_faults DATA --only novels --most 20
    python -m benchmarks.planted_faults DATA --fit            # and keep beside the models how often a fault is named

DATA holds albums, albums-more, features-more2, text/novels and images/features .parquet; validation parts alone are
read. Into each order one fault is planted: an item moved at least a third of the way, two items that far apart swapped,
or an item of another collection put in. The review sees what a user would open. Beside it: three items named by chance;
those farthest from the nearest template; those farthest from all others in what is measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import fabula
from fabula.core.collection import Collection, Item
from fabula.core.files import write_whole
from fabula.core.moves import Move
from fabula.evaluation.intervals import mean_interval
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.music.tracks import FEATURES
from fabula.media.registry import find_medium, measure_if_held
from fabula.models.sureness import stored
from fabula.session.review import Review, outlying
from fabula.session.session import source_session
from fabula.sources.registry import Source

COUNTS = {"albums": 300, "novels": 100, "pictures": 100}
CHOSEN_ON = {
    "albums": 300,
    "novels": 0,
    "pictures": 50,
}  # at the start of each, by which the review's constants were set
FEWEST, LONGEST, STRETCH = 6, 20, 10
NAMED = 3
FAULTS = ("one moved", "two swapped", "one foreign")


@dataclass(frozen=True)
class Whole:
    """An order that people made: who made it, what can be exchanged with it, and its items."""

    group: str
    kind: str
    collection: Collection


def read_albums(folder: Path) -> Iterator[Whole]:
    """Validation albums of 6 to 20 tracks with features and titles."""
    for name in ("albums", "albums-more", "features-more2"):
        for rows in _collections(folder / f"{name}.parquet"):
            first = rows[0]
            if first["alpha_sorted"] or first["one_song"] or first.get("kind") or not FEWEST <= len(rows) <= LONGEST:
                continue
            items = [Item(str(k), row["track_name"] or "", artist=row["artist"]) for k, row in enumerate(rows)]
            values = np.array([[_number(row.get(feature)) for feature in FEATURES] for row in rows])
            tempo = FEATURES.index("tempo")
            values[values[:, tempo] <= 0, tempo] = np.nan  # where none was found
            album = Collection(first["collection_id"], items, values, FEATURES, title=first["album"])
            yield Whole(first["artist"], "", album)


def read_novels(folder: Path) -> Iterator[Whole]:
    """Validation novels by chapter: whole up to 20 chapters, in stretches of 10 beyond, the last of 6 at least."""
    for rows in _collections(folder / "text" / "novels.parquet"):
        size = len(rows) if len(rows) <= LONGEST else STRETCH
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            items = [Item(str(k), f"chapter {k}", details={"text": row["text"]}) for k, row in enumerate(part)]
            if len(items) >= FEWEST:
                yield Whole(part[0]["author"], part[0]["lang"], Collection(part[0]["collection_id"], items))


def read_pictures(folder: Path) -> Iterator[Whole]:
    """Validation series of 6 to 90 pictures: photographs, art, catalogues, picture books."""
    facts = (
        "collection_id",
        "position",
        "n",
        "kind",
        "order_basis",
        "capture_tau",
        "split",
        "licence",
        "owner",
        "chosen",
    )
    for rows in _collections(folder / "images" / "features.parquet"):
        names = tuple(name for name in rows[0] if name not in facts)
        items = [Item(str(k), f"picture {k}") for k in range(len(rows))]
        values = [[_number(row[name]) for name in names] for row in rows]
        if FEWEST <= len(rows) <= 90:
            yield Whole(rows[0]["owner"], rows[0]["kind"], Collection(rows[0]["collection_id"], items, values, names))


READERS = {"albums": read_albums, "novels": read_novels, "pictures": read_pictures}
MEDIA = {"albums": "music", "novels": "text", "pictures": "images"}
MODELS = {"albums": "music", "novels": "prose", "pictures": "pictures"}


def _collections(path: Path) -> Iterator[list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(path, filters=[("split", "==", "validation")]).to_pylist():
        found.setdefault(row["collection_id"], []).append(row)
    yield from (sorted(rows, key=lambda row: row["position"]) for rows in found.values())


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)


def review_of(collection: Collection, medium: Medium) -> Review:
    """The review of a collection as it stands, by the way a user goes."""
    measured, held = measure_if_held(collection)
    medium = held if held.name == medium.name else medium
    return source_session(Source(Path("order"), measured, medium), Measuring()).review()


@dataclass(frozen=True)
class Planted:
    """An order with a fault: where its items stood, and which of them are at fault, by position."""

    collection: Collection
    numbers: np.ndarray  # (n,): the true position of the item at each position; -1 of one from elsewhere
    faults: frozenset[int]


def plant(fault: str, whole: Whole, others: list[Whole], rng: np.random.Generator) -> Planted:
    """One fault in an order."""
    collection, n = whole.collection, len(whole.collection)
    if fault == "none":
        return Planted(collection, np.arange(n), frozenset())
    if fault == "one foreign":
        fits = [one for one in others if one.kind == whole.kind and one.group != whole.group]
        other = fits[int(rng.integers(len(fits)))].collection
        at, one = int(rng.integers(n + 1)), int(rng.integers(len(other)))
        items = list(collection.items)
        items.insert(at, replace(other.items[one], id="foreign"))
        features = np.insert(collection.features, at, other.features[one], axis=0)
        return Planted(
            replace(collection, items=tuple(items), features=features), np.insert(np.arange(n), at, -1), frozenset([at])
        )
    while True:
        a, b = (int(k) for k in rng.integers(n, size=2))
        if abs(a - b) >= max(2, n // 3):
            break
    swap = fault == "two swapped"
    order = Move(a, b, 0.0, swap).apply(np.arange(n))
    return Planted(collection.reordered(order), order, frozenset([a, b] if swap else [b]))


def named_by_chance(n: int, faults: int) -> float:
    """How likely three items at random hold one at fault."""
    return float(1 - np.prod([(n - faults - k) / (n - k) for k in range(NAMED)]))


def farthest_from_template(review: Review) -> list[int]:
    """Positions of the three items farthest from the template that the order is nearest to."""
    from fabula.session.propose import lay_out

    ordered, essence = review.as_it_is, review.session.essence
    template = min(review.session.templates, key=lambda one: float(((essence - one.samples(len(essence))) ** 2).sum()))
    return np.argsort(-lay_out(ordered.task, template, ordered.ordering).deviations, kind="stable")[:NAMED].tolist()


def disorder(numbers: np.ndarray) -> int:
    """Pairs of items that stand the wrong way round (Kendall)."""
    first, second = np.triu_indices(len(numbers), 1)
    return int((numbers[first] > numbers[second]).sum())


def measure(
    fault: str, whole: Whole, others: list[Whole], medium: Medium, rng: np.random.Generator
) -> dict[str, float]:
    """What the review, and simple rules, make of one order with a fault."""
    planted = plant(fault, whole, others, rng)
    review = review_of(planted.collection, medium)
    n = len(planted.collection)
    found: dict[str, float] = {"percentile": np.nan if review.percentile is None else review.percentile}
    if planted.faults:
        far = np.argsort(-outlying(review.session.collection.features), kind="stable")[:NAMED].tolist()
        found |= {
            "review": bool(planted.faults & {one.position - 1 for one in review.odd[:NAMED]}),
            "chance": named_by_chance(n, len(planted.faults)),
            "off the template": bool(planted.faults & set(farthest_from_template(review))),
            "unlike the rest": bool(planted.faults & set(far)),
        }
    clear = [move for move in review.moves if move.sure >= 0.5]
    found["clear moves"] = len(clear)
    if review.moves and fault != "one foreign":
        truth = disorder(planted.numbers[review.apply(1).ordering]) == 0 and bool(planted.faults)
        found |= {"told move: sure": review.moves[0].sure, "told move: truth": truth}
    if fault != "one foreign":
        before = disorder(planted.numbers)
        for name, count in (("one move", 1), ("all moves", len(review.moves))):
            after = disorder(planted.numbers[review.apply(count).ordering])
            found |= {
                f"{name}: truth": after == 0,
                f"{name}: nearer": after < before,
                f"{name}: farther": after > before,
            }
        if clear and clear[0] is review.moves[0]:
            after = disorder(planted.numbers[review.apply(1).ordering])
            found |= {"clear move: truth": after == 0, "clear move: nearer": after < before}
    return found


def summarise(rows: list[dict[str, float]], groups: list[str]) -> dict[str, str]:
    """Means with intervals by who made the orders."""
    told = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        there = [k for k, row in enumerate(rows) if np.isfinite(row.get(name, np.nan))]
        values = np.array([float(rows[k][name]) for k in there])
        if not len(values):
            continue
        one = mean_interval(values, [groups[k] for k in there], within=(0, 1))
        told[name] = f"{one.mean:.3f} ({one.low:.3f} to {one.high:.3f}; {len(values)})"
    return told


def store(name: str, rows: list[dict[str, float]]) -> None:
    """Write beside a shipped model in how many of 100 orders the review names one item that was moved, and chance."""
    finds = [round(100 * float(np.mean([row[by] for row in rows]))) for by in ("review", "chance")]
    known = {**stored(), name: {**stored()[name], "finds": finds}}
    target = Path(fabula.__file__).parent / "models" / "shipped" / "sureness.json"
    write_whole(target, (json.dumps(known, indent=1, sort_keys=True) + "\n").encode())
    stored.cache_clear()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=list(COUNTS), action="append")
    parser.add_argument("--most", type=int, help="orders of each kind; by default 300 albums, 100 novels, 100 series")
    parser.add_argument("--out", type=Path, help="write all of it as JSON")
    parser.add_argument("--fit", action="store_true", help="write how often one moved is named beside the models")
    asked = parser.parse_args()
    report: dict[str, Any] = {}
    for what in asked.only or COUNTS:
        begun = time.monotonic()
        every = list(READERS[what](asked.data))
        every = [every[k] for k in np.random.default_rng(1).permutation(len(every))]
        some = every[CHOSEN_ON[what] :][: asked.most or COUNTS[what]]
        print(f"{what}: {len(some)} of {len(every)}, {len({one.group for one in some})} makers", flush=True)
        for number, fault in enumerate(("none", *FAULTS)):
            rng = np.random.default_rng((number, 7))
            rows = [measure(fault, one, every, find_medium(MEDIA[what]), rng) for one in some]
            report[f"{what}, {fault}"] = told = summarise(rows, [one.group for one in some])
            if asked.fit and fault == FAULTS[0]:
                store(MODELS[what], rows)
            print(f"  {fault}: " + ", ".join(f"{name} {text}" for name, text in told.items()), flush=True)
        print(f"  {time.monotonic() - begun:.0f} s", flush=True)
    if asked.out is not None:
        asked.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
