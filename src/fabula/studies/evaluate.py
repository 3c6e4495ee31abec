"""Evaluating: order recovery of every method on the same collections, in one table with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError
from fabula.evaluation.baselines import random_orderings
from fabula.evaluation.comparison import Comparison, ComparisonSettings, compare_scores
from fabula.evaluation.information import Information
from fabula.evaluation.intervals import Interval, bootstrap
from fabula.evaluation.metrics import METRICS
from fabula.models.file import load_essence_model, load_model
from fabula.models.model import Model
from fabula.models.sets.model import SetModel
from fabula.studies.judged import judged_bits
from fabula.studies.recovery import CHANCE, METHODS, Methods, Orderings, Report, recover
from fabula.studies.splits import Split, read_split

if TYPE_CHECKING:
    from fabula.training.sequencer.sequencer import Sequencer

TESTED = ("spearman", "edit", "last")  # metrics the methods are tested by, as one family
_DRAWS = 16  # random orderings of each collection that make up chance


@dataclass(frozen=True)
class MethodRow:
    """One method: each metric's mean over collections with its 95 % interval, over how many collections."""

    method: str
    n: int
    metrics: Mapping[str, Interval]


@dataclass(frozen=True)
class TestRow:
    """One paired test, by one metric; p adjusted over all tests of the evaluation (Holm-Bonferroni)."""

    __test__ = False  # not a class of tests

    metric: str
    comparison: Comparison


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation found.

    Attributes
    ----------
    rows
        Chance first, then the features from the best, then the methods that learn.
    tests
        Every row against chance, and the methods that learn against each other.
    collections
        How many were held out.
    rule
        How they were held out.
    bits
        What a set model tells about their order, by scorer.
    """

    rows: list[MethodRow]
    tests: list[TestRow]
    collections: int
    rule: str = ""
    bits: Mapping[str, Information] = field(default_factory=dict)

    def best(self, metric: str = "spearman") -> str:
        """The method with the highest mean."""
        return max(self.rows, key=lambda row: row.metrics[metric].mean).method

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        rows = [
            {"method": r.method, "n": r.n, "metrics": {name: asdict(i) for name, i in r.metrics.items()}}
            for r in self.rows
        ]
        tests = [{"metric": t.metric, **asdict(t.comparison)} for t in self.tests]
        bits = {name: {k: v for k, v in asdict(i).items() if k != "per_length"} for name, i in self.bits.items()}
        return {"collections": self.collections, "rule": self.rule, "bits": bits, "rows": rows, "tests": tests}


@dataclass(frozen=True)
class EvaluationRequest:
    """What to evaluate, as a user says it.

    Attributes
    ----------
    table
        Ordered collections, one row an item.
    model, by
        What gives the essence: a model (a shipped name or a file), or a column. One of them.
    templates
        A template file in place of the squared-error templates, which are otherwise learned from the rest.
    sequencer
        A file of the direct sequencer.
    where
        Column -> value: keep the rows that have it.
    features
        Columns to sort by; by default those of the model, or the one column.
    held_out
        The share to hold out where the table has no column split.
    search
        On how many collections to search under the model's most detailed scorer, which is slow.
    k
        How many templates, and arcs where there is no model, are learned.
    seed
        Same seed, same figures.
    """

    table: str | Path
    model: str | Path | None = None
    by: str | None = None
    templates: str | Path | None = None
    sequencer: str | Path | None = None
    where: Mapping[str, str] | None = None
    features: Sequence[str] | None = None
    held_out: float = 0.1
    search: int = 0
    k: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.model is None) == (self.by is None):
            raise InputError("what gives the essence? give a model or a column to order by, one of the two")


def evaluate_table(request: EvaluationRequest, *, progress: Report | None = None) -> Evaluated:
    """Order recovery on the held-out collections of a table.

    Parameters
    ----------
    request
        What to evaluate.
    progress
        Called with the name of each method before its turn.
    """
    model = _load_model(request)
    templates = TemplateSet.load(request.templates) if request.templates is not None else None
    methods = Methods(
        model, request.by, templates, _load_sequencer(request.sequencer), search=request.search, k=request.k
    )
    split = read_split(request.table, where=request.where, held_out=request.held_out)
    names = tuple(request.features or _features(model, split, str(request.by)))
    orderings = recover(split, names, methods, seed=request.seed, progress=progress)
    found = tabulate(orderings, [len(c) for c in split.held_out], rule=split.rule, seed=request.seed)
    if not isinstance(model, SetModel):
        return found
    return replace(found, bits=judged_bits(model, split.held_out, request.seed))


def _features(model: Model | SetModel | None, split: Split, by: str) -> Sequence[str]:
    """The columns to sort by: the column, or what the model takes; of a set model any may be missing."""
    if model is None:
        return (by,)
    if not isinstance(model, SetModel):
        return model.feature_names
    there = split.held_out[0].feature_names
    return [name for name in model.feature_names if name in there and _known(split.held_out, name)]


def _known(collections: Sequence[Collection], name: str) -> bool:
    return all(np.isfinite(c.column(name)).all() for c in collections)


def _load_model(request: EvaluationRequest) -> Model | SetModel | None:
    """The model that was asked for; a set model gives orders, on which no template is laid and no search is made."""
    if request.model is None:
        return None
    model = load_model(request.model)
    if not isinstance(model, SetModel):
        return load_essence_model(request.model)
    for name, given in (("templates", request.templates), ("search", request.search)):
        if given:
            raise InputError(f"goes with a model that gives an essence; {request.model} is a set model", field=name)
    return model


def tabulate(
    orderings: Mapping[str, Orderings],
    lengths: Sequence[int],
    *,
    rule: str = "",
    seed: int = 0,
    resamples: int = 2000,
) -> Evaluated:
    """Metrics of each method with intervals, and paired tests as one family.

    Parameters
    ----------
    orderings
        Method -> one ordering per collection in the true numbering, None where it was not asked.
    lengths
        Items of each collection.
    rule
        How the collections were held out.
    seed, resamples
        Of chance and of the intervals.

    Examples
    --------
    >>> result = tabulate({"rise": [np.arange(5)] * 8}, [5] * 8)
    >>> [row.method for row in result.rows], result.rows[1].metrics["spearman"].mean
    (['chance', 'rise'], 1.0)
    """
    scores = {CHANCE: _chance_scores(lengths, np.random.default_rng((seed, 1)))}
    scores |= {method: _scores(found) for method, found in orderings.items()}
    rows = [_row(method, of, seed, resamples) for method, of in scores.items()]
    learned = [row for row in rows if row.method in METHODS]
    plain = [row for row in rows[1:] if row.method not in METHODS]
    plain.sort(key=lambda row: -row.metrics["spearman"].mean)
    return Evaluated([rows[0], *plain, *learned], _tests(scores, seed, resamples), len(lengths), rule)


def _tests(scores: Mapping[str, Mapping[str, Floats]], seed: int, resamples: int) -> list[TestRow]:
    """All against chance, those that learn against each other, by every tested metric: one family."""
    methods = [name for name in scores if name != CHANCE]
    pairs = [(name, CHANCE) for name in methods]
    pairs += list(combinations([name for name in METHODS if name in scores], 2))
    flat = {f"{metric}\0{name}": of[metric] for name, of in scores.items() for metric in TESTED}
    family = [(f"{metric}\0{a}", f"{metric}\0{b}") for metric in TESTED for a, b in pairs]
    if not family:
        return []
    compared = compare_scores(flat, pairs=family, settings=ComparisonSettings(seed=seed, resamples=resamples))
    return [_named(each) for each in compared]


def _named(comparison: Comparison) -> TestRow:
    metric, _, a = comparison.a.partition("\0")
    b = comparison.b.partition("\0")[2]
    return TestRow(metric, Comparison(a, b, *list(asdict(comparison).values())[2:]))


def _row(method: str, scores: Mapping[str, Floats], seed: int, resamples: int) -> MethodRow:
    rng = np.random.default_rng((seed, 2))
    intervals = {metric: bootstrap(values, rng, resamples=resamples) for metric, values in scores.items()}
    return MethodRow(method, intervals["first"].n, intervals)


def _scores(orderings: Orderings) -> dict[str, Floats]:
    """Metric -> score of each collection, NaN where there is no ordering."""
    return {
        name: np.array([np.nan if order is None else metric(order) for order in orderings])
        for name, metric in METRICS.items()
    }


def _chance_scores(lengths: Sequence[int], rng: np.random.Generator) -> dict[str, Floats]:
    """Mean score over some random orderings of each collection."""
    draws = [_scores(list(random_orderings(lengths, rng))) for _ in range(_DRAWS)]
    return {name: np.mean([draw[name] for draw in draws], axis=0) for name in METRICS}


def _load_sequencer(path: str | Path | None) -> Sequencer | None:
    if path is None:
        return None
    from fabula.errors import import_extra

    import_extra("torch", extra="train", purpose="the direct sequencer")
    from fabula.training.sequencer.file import load_sequencer

    return load_sequencer(path)
