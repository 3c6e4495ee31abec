"""What nothing may be claimed of: ``python -m benchmarks.unlearned DATA``.

Forty collections unlike what `prose` has learned from (books of poems, speeches by paragraph, chapters of different
novels, chapters in different languages, files of Python's library) are opened as a user opens them: of none may a
figure be claimed. Beside them validation novels and windows of them, of which figures must be.
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
from fabula.models.sureness import measure_kin, stored
from fabula.session.session import Asked, Session, source_session
from fabula.sources.registry import Source

FAR, LEAST = 2.3, -0.9  # beyond the validation novels, but a few; above all mixtures of their chapters
SHRINK, RIDGE = 0.1, 0.003
READ = (-1, -4, 0, -2)  # threads, wording, number, single words: what tells one book from several


def open_texts(texts: Sequence[str]) -> Session:
    """Texts in a random order, as a table with a column of texts is opened."""
    mixed = np.random.default_rng(len(texts)).permutation(len(texts))
    items = [Item(str(k), title=f"text {k}", details={"text": texts[i]}) for k, i in enumerate(mixed)]
    collection, medium = measure_if_held(Collection("texts", items))
    return source_session(Source(Path("texts"), collection, medium), Measuring(), Asked())


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


def fit(data: Path, rng: np.random.Generator) -> None:
    """Measure training novels, windows of them and mixtures, and write what they are like."""
    found = books(data / "text" / "novels.parquet", "train")
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
    one, several = np.array(own), np.array(mixed)
    mean, deviation = one[:, :-1].mean(axis=0), one[:, :-1].std(axis=0)
    alike = np.corrcoef(((one[:, :-1] - mean) / deviation).T)
    precision = np.linalg.inv((1 - SHRINK) * alike + SHRINK * np.eye(len(mean)))
    kin = {"mean": mean, "deviation": deviation, "precision": precision, "book": tell_apart(one, several)}
    rounded = {name: np.round(value, 4).tolist() for name, value in kin.items()} | {"far": FAR, "least": LEAST}
    known = {**stored(), "prose": {**stored()["prose"], "kin": rounded}}
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


def main() -> None:
    """Open all, and print what is claimed of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--novels", type=int, default=37, help="how many to open beside them")
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    if asked.fit:
        fit(asked.data, rng)
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
    print(f"unlearned kinds of which something is claimed: {claimed} of {number}; novels: {heard} of {opened}")


if __name__ == "__main__":
    main()
