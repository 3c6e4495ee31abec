"""How well texts are put back in order: ``python -m benchmarks.recover_texts novels.parquet``.

The table has one row a part in its true order: ``collection_id``, ``position``, ``text``, ``author``, ``split``. Each
validation book of five parts and more is shuffled and ordered by what `fabula evaluate` asks of a model of texts
(``recovery.step_orderings``), which `fabula order` proposes too; then windows.
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
from fabula.core.collection import Collection
from fabula.core.posterior import posterior
from fabula.evaluation.information import makers
from fabula.evaluation.intervals import mean_interval
from fabula.evaluation.metrics import METRICS
from fabula.media.registry import measure_if_held
from fabula.media.text.heads import without_common_heads
from fabula.models.model import Model, load_model
from fabula.research.recovery import PROPOSED, look_at, shuffle_all, step_orderings
from fabula.research.splits import read_split
from fabula.session.propose import judge

FEWEST = 5
WHOLE = "whole books"
TESTED = ("neighbours either way", "tau", "size of tau", "spearman")


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


def claims(model: Model, collection: Collection, order: Ints) -> float:
    """How sure the model says it is which end of an order begins; NaN where it claims nothing."""
    [mixed], [shown] = shuffle_all([collection], np.random.default_rng(len(order)))
    likelihood = judge(model, shown, measure_if_held(shown)[1])
    sure = likelihood.sureness(np.argsort(mixed)[order]).direction
    return np.nan if sure is None else sure


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


def other_orders(collection: Collection, model: Model, number: int) -> dict[str, Ints]:
    """What simple ways, and other ways to read the orders that the model draws, make of the same shuffled parts."""
    [mixed], [shown] = shuffle_all([collection], np.random.default_rng(number))
    energy = model.energy(shown, evidence=look_at(model, shown))
    found = {}
    if not energy.solvable:
        expected = posterior(energy)
        found["mean position of the orders drawn"] = np.argsort(expected.places, kind="stable")
        found["the likeliest of the orders drawn"] = expected.drawn[np.argmax(energy.score(expected.drawn))]
    texts = without_common_heads([item.details["text"] for item in shown.items])
    found |= simple_orders(texts, np.random.default_rng((number, len(shown))))
    return {name: mixed[order] for name, order in found.items()}


def parts_of(found: Sequence[Collection], size: int, most: int) -> list[Collection]:
    """Whole books, or windows of them, measured; at most so many, evenly spread."""
    cut = [book.only(part) for book in found for part in windows(range(len(book)), size or len(book))]
    if most and len(cut) > most:
        cut = [cut[k] for k in np.linspace(0, len(cut) - 1, most).round().astype(int)]
    return [measure_if_held(part)[0] for part in cut]


def measured(
    parts: Sequence[Collection], name: str, model: Model, *, compare: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is told of some parts: of the model, and of other ways beside it where they are to be compared."""
    authors = makers(parts)
    orders = [np.asarray(order) for order in step_orderings(model, parts)[PROPOSED]]
    sure = [claims(model, part, order) for part, order in zip(parts, orders, strict=True)]
    mean = float(np.nanmean(sure)) if np.isfinite(sure).any() else np.nan
    yield name, {"count": len(parts), "sure": mean, **told(orders, authors)}
    if name == WHOLE:
        some = [k for k, part in enumerate(parts) if 10 <= len(part) <= 30]
        if some:
            yield f"{name} of 10 to 30", told_some(orders, authors, some)
        languages = [str(part.items[0].details.get("lang", "")) for part in parts]
        for language in sorted(set(languages)):
            some = [k for k, one in enumerate(languages) if one == language]
            yield f"{name}, {language}", told_some(orders, authors, some)
        each = zip(parts, orders, sure, strict=True)
        yield "orders", {f"{p.items[0].artist}, {p.items[0].title}": book_told(*one) for p, *one in each}
    if compare:
        others = [other_orders(part, model, number) for number, part in enumerate(parts)]
        for other in others[0]:
            theirs = [one.get(other, order) for one, order in zip(others, orders, strict=True)]
            tested = {"p": against(orders, theirs, authors)}
            yield f"{name}: {other}", {"count": len(parts), **told(theirs, authors), **tested}


def told_some(orders: Sequence[Ints], authors: Sequence[str], some: Sequence[int]) -> dict[str, Any]:
    """What is told of some of the orderings."""
    return {"count": len(some), **told([orders[k] for k in some], [authors[k] for k in some])}


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
    split, model, report = read_split(asked.table, side=asked.split), load_model(asked.model), {}
    found = [book for book in split.held_out if len(book) >= FEWEST]
    for size in asked.windows:
        begun = time.monotonic()
        parts, title = parts_of(found, size, asked.most), f"windows of {size}" if size else WHOLE
        for name, one in measured(parts, title, model, compare=asked.against):
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
