"""Learning templates from a table, comparing sets of them, choosing how many, and following their descent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Collection
from fabula.core.files import check_target
from fabula.core.fingerprints import Fingerprints
from fabula.core.template import TemplateSet
from fabula.errors import InputError
from fabula.models.model import load_essence_model
from fabula.research.splits import Side, sides_of
from fabula.sources.tables.read_table import read_sequences, read_table
from fabula.sources.tables.storage import read_columns
from fabula.templates.genealogy import Genealogy, TemplateComparison, compare_templates, trace_genealogy
from fabula.templates.learn import CountTable, choose_count, learn_templates
from fabula.templates.refinement import PAPER_EVOLUTION, Progress


@dataclass(frozen=True, eq=False)
class Corpus:
    """Ordered collections of two items or more with a scalar essence."""

    collections: list[Collection]
    essences: list[Floats]  # (n,) each, z-scored, in the true order
    left_out: int  # collections in which a value was missing
    features: tuple[str, ...] = ()  # what the essence was made of
    rule: str = ""  # which side of a split they are; "" where there is no split
    positions: list[Floats] | None = None  # (n,) each, from 0 to 1; None for even ones


def read_corpus(
    path: str | Path,
    *,
    by: str | None,
    model: str | None,
    where: Mapping[str, str] | None = None,
    side: Side | None = None,
    positions: str | None = None,
) -> Corpus:
    """Read a table of ordered collections and their essence, by a column or by a model of one dimension.

    The table has one row an item; or, with ``by``, one row a collection, where the cells of that column are lists. Of a
    table with a column split it is the side to train on, or the one named. The column ``positions`` says where items
    stand, rising, in any unit: the first becomes 0, the last 1; by default at even distances.
    """
    if (by is None) == (model is None):
        raise InputError("say where the essence comes from: a column or a model, one of the two")
    listed = [name for name in (by, positions) if name is not None]
    table = read_columns(path)
    rows = read_sequences(table, listed, where=where) if by is not None else None
    collections = [c for c in (read_table(table, where=where) if rows is None else rows) if len(c) > 1]
    if not collections:
        raise InputError(f"{path}: holds no collection of two items or more")
    collections, rule = _on_side(collections, str(path), side, chosen="split" in (where or {}))
    if model is not None:
        loaded = load_essence_model(model)
        if loaded.dimensions != 1:
            raise InputError(f"templates are learned from one number per item; {model} gives {loaded.dimensions}")
        essences = [e[:, 0] for e in loaded.encode_all(collections)]
        return Corpus(collections, essences, 0, loaded.feature_names, rule, _positions(collections, positions))
    values = [c.column(str(by)) for c in collections]
    whole = [i for i, column in enumerate(values) if np.isfinite(column).all()]
    if not whole:
        raise InputError(f"{path}: column {by!r} is missing a value in every collection")
    kept = [collections[i] for i in whole]
    essences = [normalise(values[i]) for i in whole]
    return Corpus(kept, essences, len(values) - len(whole), (str(by),), rule, _positions(kept, positions))


def _positions(collections: Sequence[Collection], column: str | None) -> list[Floats] | None:
    """Where the items stand, from 0 to 1 within each collection."""
    if column is None:
        return None
    found = []
    for collection in collections:
        given = collection.column(column)
        if not (np.isfinite(given).all() and (np.diff(given) >= 0).all() and given[-1] > given[0]):
            raise InputError(
                f"collection {collection.id!r}: its positions, column {column!r}, must be numbers that rise from the "
                "first item to the last"
            )
        found.append((given - given[0]) / (given[-1] - given[0]))
    return found


def _on_side(
    collections: list[Collection], where: str, side: Side | None, *, chosen: bool
) -> tuple[list[Collection], str]:
    """The collections of one side of a split, and which that is; all of them where the table has none."""
    sides = {} if chosen and side is None else sides_of(collections, where, side)
    if not sides:
        return collections, ""
    wanted = side or "train"
    if wanted not in sides:
        raise InputError(f"{where}: column 'split' names no collection {wanted}; it names {', '.join(sorted(sides))}")
    return sides[wanted], f"column 'split', {wanted}"


def learn_and_save(
    corpus: Corpus,
    output: str | Path | None,
    *,
    k: int,
    method: str,
    paper: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> TemplateSet:
    """Learn k templates and write them where wanted, with the digests of what they were learned from.

    ``paper``: by the letter of its Algorithm 1, for the method ``"evolution"`` alone.
    """
    if paper and method != "evolution":
        message = f"the letter of the paper is that of its evolution, not of the method {method!r}"
        raise InputError(message, field="paper")
    target = None if output is None else check_target(output)
    options = asdict(PAPER_EVOLUTION) if paper else {}
    learned = learn_templates(
        corpus.essences, k, corpus.positions, method=method, seed=seed, progress=progress, **options
    )
    templates = replace(learned, seen=Fingerprints.of(corpus.collections, corpus.features))
    if target is not None:
        templates.save(target)
    return templates


@dataclass(frozen=True)
class CostRow:
    """What k templates cost: the mean squared error on the collections they were learned from, and on others."""

    k: int
    cost: float
    other: float | None


def cost_table(
    corpus: Corpus,
    other: Corpus | None,
    most: int,
    *,
    method: str = "refined",
    seed: int = 0,
    progress: Progress | None = None,
) -> list[CostRow]:
    """What 1 to ``most`` templates cost on the collections they are learned from, and on others."""
    return [
        CostRow(k, cost, None if other is None else learned.cost(other.essences, other.positions))
        for k, (learned, cost) in enumerate(_learn_each(corpus, most, method, seed, progress), start=1)
    ]


def _learn_each(
    corpus: Corpus, most: int, method: str, seed: int, progress: Progress | None
) -> Iterator[tuple[TemplateSet, float]]:
    """Sets of 1 to ``most`` templates, and what each costs on the collections it was learned from."""
    for k in range(1, most + 1):
        learned = learn_templates(corpus.essences, k, corpus.positions, method=method, seed=seed)
        cost = learned.cost(corpus.essences, corpus.positions)
        if progress is not None:
            progress(k, most, cost)
        yield learned, cost


@dataclass(frozen=True)
class Followed:
    """Templates of a file on the collections of a table."""

    templates: TemplateSet
    cost: float  # mean over the collections of the smallest mean squared error
    followers: list[int]  # how many collections are nearest to each template
    errors: list[float]  # the mean squared error of those
    seen: int | None = None  # collections the templates were learned from; None where the file does not say


def follow(templates: str | Path, corpus: Corpus) -> Followed:
    """What the templates of a file cost on the collections of a table, and who follows which."""
    found = TemplateSet.load(templates)
    table = found.errors(corpus.essences, corpus.positions)  # (collections, k)
    nearest, least = table.argmin(axis=1), table.min(axis=1)
    counts = np.bincount(nearest, minlength=len(found))
    sums = np.bincount(nearest, weights=least, minlength=len(found))
    errors = [float(total / count) if count else float("nan") for total, count in zip(sums, counts, strict=True)]
    seen = None if found.seen is None else sum(found.seen.among(corpus.collections))
    return Followed(found, float(least.mean()), counts.tolist(), errors, seen)


def compare_files(first: str | Path, second: str | Path) -> tuple[TemplateSet, TemplateSet, TemplateComparison]:
    """Pair each template of a file with the one most like it in another, whatever their scale."""
    a, b = TemplateSet.load(first), TemplateSet.load(second)
    return a, b, compare_templates(a, b, normalised=True)


def count_templates(
    corpus: Corpus, counts: Sequence[int], *, seed: int = 0, progress: Progress | None = None
) -> CountTable:
    """What each number of templates explains on held-out collections, and on shuffled ones."""
    rng = np.random.default_rng(seed)
    return choose_count(corpus.essences, counts, positions=corpus.positions, rng=rng, progress=progress)


def descend(
    corpus: Corpus, most: int, *, method: str = "refined", seed: int = 0, progress: Progress | None = None
) -> Genealogy:
    """Learn 1 to ``most`` templates and follow them from set to set."""
    sets = [learned for learned, _ in _learn_each(corpus, most, method, seed, progress)]
    return trace_genealogy(sets, corpus.essences, corpus.positions)
