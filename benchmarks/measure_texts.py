"""What a step model knows of the order of texts: ``python -m benchmarks.measure_texts novels.parquet --model prose``.

The table has one row a part in its true order: ``collection_id``, ``position``, ``text``, ``author``, ``lang``,
``split``. Bits of whole books and of windows, each as if there were nothing else, by language and length, with
intervals by author, for N = 32, 1,024 and 4,096.
``--temper 1 0.7`` multiplies what it says of an ordering, and names the worst of each.
``--first 200`` leaves each part its first 200 characters, ``--of arcs`` and ``--of pairs`` take one half of the model.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recover_texts import books, windows
from fabula.core.collection import Collection, Item
from fabula.evaluation.information import summarise_bits
from fabula.media.registry import measure_if_held
from fabula.models.encoders.measures import as_measures
from fabula.models.model import Model, load_model
from fabula.training.step_models import LONGEST, Example, Weights, bits_of

FEWEST = 6
DRAWS = 4  # of the negatives
LENGTHS = ((6, 15), (16, 30), (31, LONGEST))


@dataclass(frozen=True, eq=False)
class Measured:
    """Some parts of a book: how many (0: all), in which language, and what the model looks at in them."""

    size: int
    language: str
    example: Example


def look(rows: Sequence[dict[str, Any]], model: Model, sizes: Sequence[int], first: int) -> Iterator[Measured]:
    """A book whole, where it is not too long, and its windows of each size."""
    texts = [row["text"][: first or None] for row in rows]
    items = [Item(str(k), details={"text": text}) for k, text in enumerate(texts)]
    collection, medium = measure_if_held(Collection("book", items))
    if medium is None:
        return
    seen = medium.look(collection)
    spans = [(0, range(len(rows)))] if len(rows) <= LONGEST else []
    spans += [(s, window) for s in sizes if len(rows) > s for window in windows(range(len(rows)), s)]
    for size, span in spans:
        evidence, part = seen(span), collection.only(list(span))
        if not evidence.pairs:
            return
        encoder = as_measures(model.encoder)
        tables = np.stack([evidence.pairs[name] for name in encoder.pair_names])
        yield Measured(
            size,
            rows[0]["lang"],
            Example(encoder.measure(part, evidence), tables, rows[0]["author"]),
        )


def weights_of(model: Model, part: str, factor: float = 1.0) -> Weights:
    """The weights of a model, or of one half of it, times a factor."""
    arcs, reach = model.tensors["arcs.template"].T, model.tensors["reach.weights"]
    return Weights(factor * arcs * (part != "pairs"), factor * reach * (part != "arcs"))


def measured(found: Sequence[Measured], weights: Weights, negatives: int) -> dict[str, float]:
    """The mean of some bits, with its interval over authors."""
    examples = [one.example for one in found]
    drawn = np.stack(
        [bits_of(examples, weights.score, negatives=negatives, rng=np.random.default_rng(k)) for k in range(DRAWS)],
        axis=1,
    )
    groups, lengths = [one.group for one in examples], np.array([len(one) for one in examples])
    info = summarise_bits(drawn, lengths, groups, negatives)
    about = {"noise": info.noise, "worst": float(drawn.mean(axis=1).min()), "collections": len(drawn)}
    return {"bits": info.bits, "low": info.low, "high": info.high, **about}


def groups_of(found: Sequence[Measured], sizes: Sequence[int]) -> dict[str, list[Measured]]:
    """What is measured by name: windows and whole books, these by language, whole books by length."""
    named = {f"windows of {size}" if size else "whole books": size for size in (*sizes, 0)}
    groups = {name: [one for one in found if one.size == size] for name, size in named.items()}
    languages = sorted({one.language for one in found})
    for name in named if len(languages) > 1 else ():
        groups |= {f"{name}, {own}": [one for one in groups[name] if one.language == own] for own in languages}
    for low, high in LENGTHS:
        some = [one for one in found if not one.size and low <= len(one.example) <= high]
        groups[f"whole books of {low} to {high}"] = some
    return groups


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--model", default="prose")
    parser.add_argument("--split", default="validation")
    parser.add_argument("--language", help="of the books that are measured; all by default")
    parser.add_argument("--windows", type=int, nargs="*", default=[20, 10])
    parser.add_argument("--first", type=int, default=0, help="characters that each part keeps; all by default")
    parser.add_argument("--of", nargs="*", choices=["all", "arcs", "pairs"], default=["all", "arcs", "pairs"])
    parser.add_argument("--negatives", type=int, nargs="*", default=[31, 1023, 4095])
    parser.add_argument("--temper", type=float, nargs="*", default=[1.0])
    parser.add_argument("--out", type=Path, help="write what is printed as JSON")
    asked = parser.parse_args()
    model = load_model(asked.model)
    if "pairs" not in model.reads:
        parser.error("the model must be a step model, as prose is")
    rows = [book for book in books(asked.table, asked.split) if len(book) >= FEWEST]
    rows = [book for book in rows if asked.language in (None, book[0]["lang"])]
    found = [one for book in rows for one in look(book, model, asked.windows, asked.first)]
    kept: dict[str, dict[str, float]] = {}
    for part in asked.of:
        groups = {name: some for name, some in groups_of(found, asked.windows).items() if some}
        for name in groups if part == "all" else [name for name in groups if "," not in name]:
            for negatives, factor in product(asked.negatives, asked.temper):
                one = measured(groups[name], weights_of(model, part, factor), negatives)
                label = f"{name}, N = {negatives + 1}" + ("" if part == "all" else f", {part} alone")
                label += "" if factor == 1 else f", times {factor:g}"
                kept[label], more = one, f"; by the draw {one['noise']:.2f}, the worst {one['worst']:.2f}"
                print(f"{label}: {one['bits']:.2f} ({one['low']:.2f} to {one['high']:.2f}{more}), {one['collections']}")
    if asked.out is not None:
        asked.out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
