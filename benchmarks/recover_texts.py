"""How well texts are put back in order, by the way a user goes: ``python -m benchmarks.recover_texts novels.parquet``.

The table has one row a part in its true order: ``collection_id``, ``position``, ``text``, ``author``, ``split``. Each
validation book is opened with its parts shuffled, without headings, and ordered as `fabula order` does; then windows.
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

from fabula.core.collection import Collection, Item
from fabula.core.ordering import Ints
from fabula.evaluation.intervals import mean_interval
from fabula.evaluation.metrics import METRICS
from fabula.media.extraction import Measuring
from fabula.media.registry import measured_where_held
from fabula.session.session import Asked, source_session
from fabula.sources.source import Source

FEWEST = 5


def books(path: Path, split: str) -> list[list[dict[str, Any]]]:
    """The rows of each book of a split, in their true order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(path).to_pylist():
        if row["split"] == split:
            found.setdefault(row["collection_id"], []).append(row)
    return [sorted(rows, key=lambda row: row["position"]) for rows in found.values() if len(rows) >= FEWEST]


def windows(book: Sequence[dict[str, Any]], size: int) -> Iterator[Sequence[dict[str, Any]]]:
    """Windows of a book that do not overlap; none of a book that is shorter."""
    for start in range(0, len(book) - size + 1, size):
        yield book[start : start + size]


def put_back(rows: Sequence[dict[str, Any]], model: str, seed: int) -> tuple[Ints, float]:
    """The ordering proposed for shuffled parts, in the true numbering, and how sure it says it is which end begins."""
    mixed = np.random.default_rng(seed).permutation(len(rows))
    items = [Item(str(k), title=f"part {k}", details={"text": rows[i]["text"]}) for k, i in enumerate(mixed)]
    collection, medium = measured_where_held(Collection("book", items))
    session = source_session(Source(Path("book"), collection, medium), Measuring(), Asked(model=model))
    ordered = session.order(alternatives=1)
    sure = ordered.sureness
    return np.asarray(mixed[ordered.ordering]), np.nan if sure is None else sure


def told(orders: Sequence[Ints], authors: Sequence[str]) -> dict[str, Any]:
    """What the orderings have in common with the truth, with intervals by author."""
    spearman, kendall, first, last = (
        np.array([METRICS[name](order) for order in orders]) for name in ("spearman", "kendall", "first", "last")
    )
    either = np.array([np.mean(np.abs(np.diff(order)) == 1) for order in orders])
    right = (kendall > 0) + 0.5 * (kendall == 0)
    rows = {"spearman": spearman, "tau": kendall, "size of tau": np.abs(kendall), "neighbours either way": either}
    rows |= {"right way round": right, "first": first, "last": last}
    intervals = {name: mean_interval(row, np.random.default_rng(0), list(authors)) for name, row in rows.items()}
    return {name: {"mean": one.mean, "low": one.low, "high": one.high} for name, one in intervals.items()}


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
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found, report = books(options.table, options.split), {}
    for size in options.windows:
        parts = [
            part for book in found for part in ([book] if not size else windows(book, size)) if len(part) >= FEWEST
        ]
        if options.most and len(parts) > options.most:
            parts = [parts[k] for k in np.linspace(0, len(parts) - 1, options.most).round().astype(int)]
        begun = time.monotonic()
        found_again = [put_back(part, options.model, number) for number, part in enumerate(parts)]
        orders, sure = [order for order, _ in found_again], [sure for _, sure in found_again]
        name = f"windows of {size}" if size else "whole books"
        authors = [part[0]["author"] for part in parts]
        report[name] = {"count": len(parts), "sure": float(np.nanmean(sure)), **told(orders, authors)}
        some = [k for k, part in enumerate(parts) if not size and 10 <= len(part) <= 30]
        if some:
            kept = [orders[k] for k in some]
            report["whole books of 10 to 30"] = {
                "count": len(some),
                **told(kept, [parts[k][0]["author"] for k in some]),
            }
        print(name, json.dumps(report[name]), f"{time.monotonic() - begun:.0f} s", flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report.get("whole books of 10 to 30")))


if __name__ == "__main__":
    main()
