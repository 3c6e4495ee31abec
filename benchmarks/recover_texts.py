"""How well texts are put back in order, by the way a user goes: ``python -m benchmarks.recover_texts novels.parquet``.

The table has one row a part in its true order: ``collection_id``, ``position``, ``text``, ``author``, ``split``. Each
validation book is opened with its parts shuffled, without headings, and ordered as `fabula order` does; then windows.
``--against`` orders the same by simple ways too, with paired tests.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from scipy.stats import wilcoxon

from benchmarks.simple_orders import simple_orders
from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.posterior import posterior
from fabula.evaluation.intervals import mean_interval
from fabula.evaluation.metrics import METRICS
from fabula.media.extraction import Measuring
from fabula.media.registry import measure_if_held
from fabula.media.text.heads import without_common_heads
from fabula.models.model import Model, load_model
from fabula.research.recovery import look_at
from fabula.session.session import Asked, source_session
from fabula.sources.registry import Source

FEWEST = 5
WHOLE = "whole books"
TESTED = ("neighbours either way", "tau", "size of tau", "spearman")

Part = Sequence[dict[str, Any]]


def books(path: Path, split: str) -> list[list[dict[str, Any]]]:
    """The rows of each book of a split, in their true order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(path).to_pylist():
        if row["split"] == split:
            found.setdefault(row["collection_id"], []).append(row)
    return [sorted(rows, key=lambda row: row["position"]) for rows in found.values() if len(rows) >= FEWEST]


def windows(book: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Windows of a book that do not overlap; none of a book that is shorter."""
    for start in range(0, len(book) - size + 1, size):
        yield book[start : start + size]


def shuffled(rows: Part, seed: int) -> tuple[Ints, Collection]:
    """Rows in a random order, and what a user would open: their texts, without a word of where they stood."""
    mixed = np.random.default_rng(seed).permutation(len(rows))
    items = [Item(str(k), title=f"part {k}", details={"text": rows[i]["text"]}) for k, i in enumerate(mixed)]
    return mixed, Collection("book", items)


def put_back(rows: Part, model: str, seed: int) -> tuple[Ints, float]:
    """The ordering proposed for shuffled parts, in the true numbering, and how sure it says it is which end begins."""
    mixed, shown = shuffled(rows, seed)
    collection, medium = measure_if_held(shown)
    session = source_session(Source(Path("book"), collection, medium), Measuring(), Asked(model=model))
    ordered = session.order(alternatives=1)
    sure = ordered.sureness.direction
    return np.asarray(mixed[ordered.ordering]), np.nan if sure is None else sure


def told(orders: Sequence[Ints], authors: Sequence[str]) -> dict[str, Any]:
    """What the orderings have in common with the truth, with intervals by author."""
    rows = scores_of(orders)
    intervals = {name: mean_interval(row, list(authors), within=within(name)) for name, row in rows.items()}
    return {name: {"mean": one.mean, "low": one.low, "high": one.high} for name, one in intervals.items()}


def within(name: str) -> tuple[float, float]:
    """The least and the largest value of a score."""
    return (-1.0, 1.0) if name in ("spearman", "tau") else (0.0, 1.0)


def scores_of(orders: Sequence[Ints]) -> dict[str, Floats]:
    """What each ordering has in common with the truth, by name: shape (c,) each."""
    names = ("spearman", "kendall", "first", "last", "perfect")
    spearman, kendall, first, last, perfect = (np.array([METRICS[name](o) for o in orders]) for name in names)
    either = np.array([np.mean(np.abs(np.diff(order)) == 1) for order in orders])
    right = (kendall > 0) + 0.5 * (kendall == 0)
    rows = {"spearman": spearman, "tau": kendall, "size of tau": np.abs(kendall), "neighbours either way": either}
    return rows | {"right way round": right, "first": first, "last": last, "perfect": perfect}


def against(ours: Sequence[Ints], others: Sequence[Ints], authors: Sequence[str]) -> dict[str, float]:
    """Whether one way is ahead of another: p of Wilcoxon's test of the authors' mean differences, by score."""
    found = {}
    for name in TESTED:
        differences = scores_of(ours)[name] - scores_of(others)[name]
        means = [differences[np.array(authors) == author].mean() for author in sorted(set(authors))]
        found[name] = float(wilcoxon(means).pvalue)
    return found


def other_orders(part: Part, model: Model, number: int) -> dict[str, Ints]:
    """What simple ways, and other ways to read the orders that the model draws, make of the same shuffled parts."""
    mixed, shown = shuffled(part, number)
    collection, _ = measure_if_held(shown)
    energy = model.energy(collection, evidence=look_at(model, collection))
    found = {}
    if not energy.solvable:
        expected = posterior(energy)
        found["mean position of the orders drawn"] = np.argsort(expected.places, kind="stable")
        found["the likeliest of the orders drawn"] = expected.drawn[np.argmax(energy.score(expected.drawn))]
    texts = without_common_heads([part[i]["text"] for i in mixed])
    found |= simple_orders(texts, np.random.default_rng((number, len(part))))
    return {name: mixed[order] for name, order in found.items()}


def parts_of(found: Sequence[Part], size: int, most: int) -> list[Part]:
    """Whole books, or windows of them; at most so many, evenly spread."""
    parts = [part for book in found for part in ([book] if not size else windows(book, size))]
    if most and len(parts) > most:
        return [parts[k] for k in np.linspace(0, len(parts) - 1, most).round().astype(int)]
    return parts


def measured(parts: Sequence[Part], name: str, asked: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is told of some parts: of the model, and of other ways beside it where they are asked for."""
    authors = [part[0]["author"] for part in parts]
    found = [put_back(part, asked.model, number) for number, part in enumerate(parts)]
    orders = [order for order, _ in found]
    yield name, {"count": len(parts), "sure": float(np.nanmean([sure for _, sure in found])), **told(orders, authors)}
    if name == WHOLE:
        some = [k for k, part in enumerate(parts) if 10 <= len(part) <= 30]
        if some:
            yield f"{name} of 10 to 30", told_some(orders, authors, some)
        for language in sorted({part[0].get("lang") or "" for part in parts}):
            some = [k for k, part in enumerate(parts) if (part[0].get("lang") or "") == language]
            yield f"{name}, {language}", told_some(orders, authors, some)
        yield "orders", {title_of(part): book_told(*one) for part, one in zip(parts, found, strict=True)}
    if asked.against:
        model = load_model(asked.model)
        others = [other_orders(part, model, number) for number, part in enumerate(parts)]
        for other in others[0]:
            theirs = [one.get(other, order) for one, order in zip(others, orders, strict=True)]
            tested = {"p": against(orders, theirs, authors)}
            yield f"{name}: {other}", {"count": len(parts), **told(theirs, authors), **tested}


def told_some(orders: Sequence[Ints], authors: Sequence[str], some: Sequence[int]) -> dict[str, Any]:
    """What is told of some of the orderings."""
    return {"count": len(some), **told([orders[k] for k in some], [authors[k] for k in some])}


def title_of(part: Part) -> str:
    """Whose book it is, and its title."""
    return f"{part[0]['author']}, {part[0].get('title') or part[0]['collection_id']}"


def book_told(order: Ints, sure: float) -> dict[str, Any]:
    """What is told of one book, with its chapters by their true numbers."""
    scores = {name: round(float(row[0]), 3) for name, row in scores_of([order]).items() if name in TESTED}
    return {"chapters": len(order), **scores, "sure": round(sure, 3), "order": runs(order + 1)}


def runs(numbers: Ints) -> str:
    """Numbers with those in a row, up or down, as from-to.

    Examples
    --------
    >>> runs(np.array([2, 1, 3, 4, 5, 9, 7]))
    '2-1, 3-5, 9, 7'
    """
    found = [[int(numbers[0])]]
    for number in numbers[1:].tolist():
        step = number - found[-1][-1]
        if abs(step) == 1 and (len(found[-1]) == 1 or step == found[-1][-1] - found[-1][-2]):
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in found)


def line(name: str, told_of: dict[str, Any]) -> str:
    """The means in one line."""
    means = [
        f"{key} {one['mean']:.3f} ({one['low']:.2f} to {one['high']:.2f})"
        for key, one in told_of.items()
        if isinstance(one, dict) and "mean" in one
    ]
    return f"{name} ({told_of['count']}): " + ", ".join(means)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--model", default="prose")
    parser.add_argument("--split", default="validation")
    parser.add_argument("--windows", type=int, nargs="*", default=[0, 20, 10], help="0: whole books")
    parser.add_argument(
        "--most", type=int, default=0, help="books and windows of each size, evenly spread; all by default"
    )
    parser.add_argument("--against", action="store_true", help="measure simple ways too, with paired tests")
    parser.add_argument("--books", action="store_true", help="print the order of every whole book")
    parser.add_argument("--out", type=Path, help="write all of it as JSON, with the orders of whole books")
    asked = parser.parse_args()
    found, report = books(asked.table, asked.split), {}
    for size in asked.windows:
        begun = time.monotonic()
        for name, one in measured(parts_of(found, size, asked.most), f"windows of {size}" if size else WHOLE, asked):
            report[name] = one
            if name != "orders":
                print(line(name, one), one.get("p", ""), flush=True)
            elif asked.books:
                print("\n".join(f"{title}: {book}" for title, book in one.items()), flush=True)
        print(f"{time.monotonic() - begun:.0f} s", flush=True)
    if asked.out is not None:
        asked.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
