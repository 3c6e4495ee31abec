"""What nothing may be claimed of: ``python -m benchmarks.unlearned DATA``.

Forty collections unlike what `prose` has learned from (books of poems, speeches by paragraph, chapters of different
novels, chapters in different languages, files of Python's library) are opened as a user opens them: of none may a
figure be claimed. Beside them validation novels, of which figures must be; and ``--published`` novels of at most 30
chapters in their true order, which the review should find good, and leave alone.
``--fit`` measures what novels of the training side are like, and mixtures of their chapters, and writes that beside the
shipped models: mean, deviation and precision of ``fabula.models.sureness.measure_kin``, and the weights by which parts
of one book are told from parts of several.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import fabula
from benchmarks.recover_texts import books
from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.core.files import write_whole
from fabula.media.extraction import Measuring
from fabula.media.registry import measure_if_held
from fabula.models.encoders.measures import as_measures
from fabula.models.model import load_model
from fabula.models.sureness import coherence_of, distance_of, measure_kin, stored
from fabula.session.session import Session, source_session
from fabula.sources.registry import Source

FAR, LEAST = 0.99, 0.98  # shares of training novels that are near enough, of mixtures that are told from one book
SHRINK, RIDGE = 0.1, 0.003
READ = (-1, -4, 0, -2)  # threads, wording, number, single words: what tells one book from several


def open_texts(texts: Sequence[str], *, shuffle: bool = True) -> Session:
    """Texts, in a random order by default, as a table with a column of texts is opened."""
    mixed = np.random.default_rng(len(texts)).permutation(len(texts)) if shuffle else np.arange(len(texts))
    items = [Item(str(k), title=f"text {k}", details={"text": texts[i]}) for k, i in enumerate(mixed)]
    collection, medium = measure_if_held(Collection("texts", items))
    return source_session(Source(Path("texts"), collection, medium), Measuring())


def unlearned(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, list[str]]]:
    """Forty collections, eight of each kind."""
    for kind, table in (("verse", "poems"), ("speech", "speeches")):
        found = books(data / "text" / f"{table}.parquet", "train" if table == "speeches" else "validation")
        for i in rng.permutation(len(found))[:8]:
            yield kind, [row["text"] for row in found[i]][:24]
    found = books(data / "text" / "novels.parquet", "validation")
    novels = [[row["text"] for row in book] for book in found]
    spoken = [book[0]["lang"] for book in found]
    for k in range(8):
        own = [book for book, lang in zip(novels, spoken, strict=True) if lang == ("en", "es", "de", "en")[k % 4]]
        yield "unrelated", mix(own, rng, 14)
        yield "languages", mix(novels, rng, 14)
    library = sorted(Path(os.__file__).parent.glob("*.py"))
    files = [path for path in library if 2000 < path.stat().st_size < 80_000]
    for _ in range(8):
        yield "code", [files[i].read_text(errors="replace") for i in rng.permutation(len(files))[:15]]


def mix(novels: Sequence[list[str]], rng: np.random.Generator, most: int) -> list[str]:
    """One chapter each of several novels."""
    return [novels[i][int(rng.integers(len(novels[i])))] for i in rng.permutation(len(novels))[:most]]


def kin_of(texts: Sequence[str]) -> Floats:
    """What texts are like together, as `prose` reads them."""
    items = [Item(str(k), details={"text": text}) for k, text in enumerate(texts)]
    collection, medium = measure_if_held(Collection("texts", items))
    terms, threads = medium.look(collection)(range(len(texts))).terms, medium.threads(collection)
    read = as_measures(load_model("prose").encoder).read(collection)
    return measure_kin(read, terms, None if threads is None else threads.counts)


def measure_training(data: Path) -> tuple[Floats, Floats]:
    """What training novels and windows of them are like, and mixtures of their chapters: (c, f + 5) each."""
    rng, found = np.random.default_rng(1), books(data / "text" / "novels.parquet", "train")
    novels = [[row["text"] for row in book] for book in found]
    spoken = np.array([book[0]["lang"] for book in found])
    own, mixed = [], []
    for book in novels[::2]:
        n = int(rng.integers(6, 31))
        start = int(rng.integers(0, max(1, len(book) - n)))
        own += [kin_of(book[:60]), kin_of(book[start : start + n])]
    for lang in sorted(set(spoken)):
        pool = [book for book, one in zip(novels, spoken, strict=True) if one == lang]
        mixed += [kin_of(mix(pool, rng, int(rng.integers(5, 16)))) for _ in range(25)]
    return np.array(own), np.array(mixed)


def fit(one: Floats, several: Floats) -> dict[str, Any]:
    """What tells novels from other texts, and one book from several, with the bounds that most of them keep."""
    mean, deviation = one[:, :-1].mean(axis=0), one[:, :-1].std(axis=0)
    alike = np.corrcoef(((one[:, :-1] - mean) / deviation).T)
    precision = np.linalg.inv((1 - SHRINK) * alike + SHRINK * np.eye(len(mean)))
    book = tell_apart(one, several)
    kin: dict[str, Any] = {"mean": mean, "deviation": deviation, "precision": precision, "book": book}
    kin = {name: np.round(value, 4).tolist() for name, value in kin.items()}
    far = np.quantile([distance_of(kin, row) for row in one], FAR)
    least = np.quantile([coherence_of(kin, row) for row in several], LEAST)
    return kin | {"far": round(float(far), 3), "least": round(float(least), 3)}


def store(kin: dict[str, Any]) -> None:
    """Write it beside the shipped models."""
    known = {**stored(), "prose": {**stored()["prose"], "kin": kin}}
    target = Path(fabula.__file__).parent / "models" / "shipped" / "sureness.json"
    write_whole(target, (json.dumps(known, indent=1, sort_keys=True) + "\n").encode())
    stored.cache_clear()


def tell_apart(one: Floats, several: Floats) -> Floats:
    """An offset and weights by logistic regression, above 0 for one book: shape (5,)."""
    rows = np.concatenate([one, several])[:, READ]
    true = np.repeat([1.0, 0.0], [len(one), len(several)])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)

    def loss(numbers: Floats) -> float:
        at = numbers[0] + (rows - mean) / deviation @ numbers[1:]
        return float((np.logaddexp(0, at) - true * at).mean() + RIDGE * (numbers[1:] ** 2).sum())

    offset, *weights = minimize(loss, np.zeros(len(READ) + 1)).x
    scaled = np.array(weights) / deviation
    return np.array([offset - scaled @ mean, *scaled])


def review_published(data: Path, most: int) -> tuple[list[float], int]:
    """Percentiles of novels in their true order, as the review has them, and how many it tells a move."""
    ranks, moved = [], 0
    found = [book for book in books(data / "text" / "novels.parquet", "validation") if 8 <= len(book) <= 30]
    for book in found[:most]:
        review = open_texts([row["text"] for row in book], shuffle=False).review()
        ranks += [] if review.percentile is None else [review.percentile]
        moved += bool(review.moves)
        print(
            f"{review.percentile} novel in its true order, {len(book)}: {book[0]['author']}; {len(review.moves)} moves"
        )
    return ranks, moved


def main() -> None:
    """Open all, and print what is claimed of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--novels", type=int, default=37, help="how many to open beside them")
    parser.add_argument("--published", type=int, default=15, help="how many to review in their true order")
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    if asked.fit:
        store(fit(*measure_training(asked.data)))
    claimed, number = 0, 0
    for kind, texts in unlearned(asked.data, rng):
        session = open_texts(texts)
        told = "" if session.likelihood is None else session.likelihood.unfamiliar
        claimed, number = claimed + (not told), number + 1
        print(f"{'CLAIMED' if not told else 'silent':8} {kind}, {len(texts)}: {told}")
    heard, opened = 0, 0
    for book in books(asked.data / "text" / "novels.parquet", "validation")[: asked.novels]:
        session = open_texts([row["text"] for row in book][:80])
        told = "" if session.likelihood is None else session.likelihood.unfamiliar
        heard, opened = heard + (not told), opened + 1
        print(f"{'claimed' if not told else 'SILENT':8} novel, {len(book)}: {book[0]['author']} {told}")
    ranks, moved = review_published(asked.data, asked.published)
    print(f"unlearned kinds of which something is claimed: {claimed} of {number}; novels: {heard} of {opened}")
    if ranks:
        low, middle = min(ranks), float(np.median(ranks))
        told = (
            f"better than {low:.0f} of 100 random orders at least, {middle:.0f} in the middle; {moved} are told a move"
        )
        print(f"{len(ranks)} published novels in their true order: {told}")


if __name__ == "__main__":
    main()
