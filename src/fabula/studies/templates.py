"""Learning templates from a table, comparing sets of them, choosing how many, and following their descent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.seen import Seen
from fabula.core.template_set import TemplateSet
from fabula.core.writing import check_target
from fabula.errors import InputError
from fabula.models.file import load_essence_model
from fabula.sources.tables.reading import read_table
from fabula.studies.splits import Side, sides_of
from fabula.templates.comparison import TemplateComparison, compare_templates
from fabula.templates.count import CountTable, choose_count
from fabula.templates.evolution import PAPER_EVOLUTION
from fabula.templates.genealogy import Genealogy, trace_genealogy
from fabula.templates.learning import learn_templates
from fabula.templates.refinement import Progress


@dataclass(frozen=True, eq=False)
class Corpus:
    """Ordered collections with a scalar essence.

    Attributes
    ----------
    collections
        Those of two items or more.
    essences
        Shape (n,) each, z-scored, in the true order.
    left_out
        How many collections were left out because a value was missing.
    features
        What the essence was made of.
    rule
        Which side of a split they are; "" where there is no split.
    """

    collections: list[Collection]
    essences: list[Floats]
    left_out: int
    features: tuple[str, ...] = ()
    rule: str = ""


def read_corpus(
    path: str | Path,
    *,
    by: str | None,
    model: str | None,
    where: Mapping[str, str] | None = None,
    side: Side | None = None,
) -> Corpus:
    """Read a table of ordered collections and their essence; of a table with a column split, those to train on.

    Parameters
    ----------
    path
        One row an item.
    by, model
        One of them: a column, or a model of one dimension.
    where
        Column -> value: keep only the rows that have it.
    side
        The side of the split to read instead.
    """
    if (by is None) == (model is None):
        raise InputError("say where the essence comes from: a column or a model, one of the two")
    collections = [c for c in read_table(path, where=where) if len(c) > 1]
    if not collections:
        raise InputError(f"{path}: holds no collection of two items or more")
    collections, rule = _on_side(collections, str(path), side, chosen="split" in (where or {}))
    if model is not None:
        loaded = load_essence_model(model)
        if loaded.dimensions != 1:
            raise InputError(f"templates are learned from one number per item; {model} gives {loaded.dimensions}")
        return Corpus(collections, [e[:, 0] for e in loaded.encode_all(collections)], 0, loaded.feature_names, rule)
    values = [c.column(str(by)) for c in collections]
    whole = [i for i, column in enumerate(values) if np.isfinite(column).all()]
    if not whole:
        raise InputError(f"{path}: column {by!r} is missing a value in every collection")
    kept = [collections[i] for i in whole]
    return Corpus(kept, [normalise(values[i]) for i in whole], len(values) - len(whole), (str(by),), rule)


def _on_side(
    collections: list[Collection], where: str, side: Side | None, *, chosen: bool
) -> tuple[list[Collection], str]:
    """The collections of one side of a split, and which that is; all of them where the table has none."""
    sides = {} if chosen else sides_of(collections, where)
    if not sides:
        if side is not None:
            raise InputError(f"{where}: has no column 'split' that says which collections are {side}")
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

    ``paper`` follows the letter of the paper's Algorithm 1, which is for the method ``"evolution"`` alone.
    """
    if paper and method != "evolution":
        raise InputError(
            f"the letter of the paper is that of its evolution, not of the method {method!r}", field="paper"
        )
    target = None if output is None else check_target(output)
    options = asdict(PAPER_EVOLUTION) if paper else {}
    learned = learn_templates(corpus.essences, k, method=method, seed=seed, progress=progress, **options)
    templates = replace(learned, seen=Seen.of(corpus.collections, corpus.features))
    if target is not None:
        templates.save(target)
    return templates


def compare_files(first: str | Path, second: str | Path) -> tuple[TemplateSet, TemplateSet, TemplateComparison]:
    """Pair each template of a file with the one most like it in another, whatever their scale."""
    a, b = TemplateSet.load(first), TemplateSet.load(second)
    return a, b, compare_templates(a, b, normalised=True)


def count_templates(
    corpus: Corpus, counts: Sequence[int], *, seed: int = 0, progress: Progress | None = None
) -> CountTable:
    """What each number of templates explains on held-out collections, and on shuffled ones."""
    return choose_count(corpus.essences, counts, rng=np.random.default_rng(seed), progress=progress)


def descend(
    corpus: Corpus, most: int, *, method: str = "refined", seed: int = 0, progress: Progress | None = None
) -> Genealogy:
    """Learn 1 to ``most`` templates and follow them from set to set."""
    sets = []
    for k in range(1, most + 1):
        sets.append(learn_templates(corpus.essences, k, method=method, seed=seed))
        if progress is not None:
            progress(k, most, 0.0)
    return trace_genealogy(sets, corpus.essences)


def genealogy_json(found: Genealogy, corpus: Corpus) -> dict[str, Any]:
    """The genealogy as JSON can hold it, with the collections' names."""
    return {**found.to_dict(), "collections": [c.title or c.id for c in corpus.collections]}
