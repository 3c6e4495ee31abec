"""Evaluating: order recovery of every method on the same collections, in one table with intervals and paired tests."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.fingerprints import Fingerprints, fingerprints_of
from fabula.core.template import TemplateSet
from fabula.errors import InputError, import_extra
from fabula.evaluation.information import Information, makers, suppress_seen_warning
from fabula.evaluation.intervals import Comparison, Interval, compare_scores, mean_interval
from fabula.evaluation.metrics import RANGES, score_all
from fabula.media.registry import medium_of_columns
from fabula.models.config import PAIRS, TITLES
from fabula.models.model import Model, load_model
from fabula.research import recovery
from fabula.research.splits import Side, Split, leak_notes, read_split

TESTED = ("spearman", "edit", "last")  # metrics the methods are tested by, as one family
_DRAWS = 16  # random orderings of each collection that make up chance


@dataclass(frozen=True)
class MethodRow:
    """One method: each metric's mean over collections with its 95 % interval, over how many collections."""

    method: str
    n: int
    metrics: Mapping[str, Interval]


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation found."""

    rows: list[MethodRow]  # chance first, then the features from the best, then the methods that learn
    # Paired, by metric: every row against chance, the methods that learn against each other; p is adjusted over all.
    tests: list[tuple[str, Comparison]]
    collections: int  # held out
    rule: str = ""  # how they were held out
    notes: tuple[str, ...] = ()  # what the user should know: what was trained on them, what gives the order away
    bits: Mapping[str, Information] = field(default_factory=dict)  # of the model, by scorer

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        tests = [{"metric": metric, **asdict(comparison)} for metric, comparison in self.tests]
        bits = {name: info.to_dict() for name, info in self.bits.items()}
        about = {"collections": self.collections, "rule": self.rule, "notes": list(self.notes), "bits": bits}
        return {**about, "rows": [asdict(row) for row in self.rows], "tests": tests}


@dataclass(frozen=True)
class EvaluationRequest:
    """What to evaluate, as a user says it."""

    table: str | Path  # ordered collections, one row an item
    model: str | Path | None = None  # what gives the essence: a shipped name or a file
    by: str | None = None  # or a column; one of them
    templates: str | Path | None = None  # a template file in place of the squared-error templates learned from the rest
    sequencer: str | Path | None = None  # a file of the direct sequencer
    where: Mapping[str, str] | None = None  # column -> value: keep the rows that have it
    features: Sequence[str] | None = None  # columns to sort by; by default those of the model, or the one column
    held_out: float = 0.1  # share, where the table has no column split
    split: Side | None = None  # the side of the column split to measure on; by default validation
    search: int = 0  # on how many collections to search under the model's most detailed scorer, which is slow
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.model is None) == (self.by is None):
            raise InputError("what gives the essence? give a model or a column to order by, one of the two")


def evaluate_table(request: EvaluationRequest, *, progress: recovery.Report | None = None) -> Evaluated:
    """Order recovery on the held-out collections of a table; ``progress`` is told each method before its turn."""
    model = None if request.model is None else load_model(request.model)
    if model is not None and not model.by_item:
        for name, given in (("templates", request.templates), ("search", request.search)):
            if given:
                message = f"goes with a model that gives an essence; {request.model} gives orders"
                raise InputError(message, field=name)
    templates = TemplateSet.load(request.templates) if request.templates is not None else None
    sequencer = None
    if request.sequencer is not None:
        import_extra("torch", extra="train", purpose="the direct sequencer")
        from fabula.training.sequencer import load_sequencer

        sequencer = load_sequencer(request.sequencer)
    methods = recovery.Methods(model, request.by, templates, sequencer, request.search)
    split = read_split(request.table, where=request.where, held_out=request.held_out, side=request.split)
    if model is not None and PAIRS in model.reads:
        split = recovery.measure_split(split, training=False)
    names = tuple(request.features or _features(model, split, str(request.by)))
    orderings = recovery.recover(split, names, methods, seed=request.seed, progress=progress)
    lengths, groups = [len(c) for c in split.held_out], makers(split.held_out)
    found = tabulate(orderings, lengths, rule=split.rule, seed=request.seed, groups=groups)
    apart = split.training if model is None or PAIRS not in model.reads else ()  # few that are held out tell little
    looked = [*(() if split.training is split.held_out else apart), *split.held_out]
    leaks = leak_notes(looked, names, titles=model is not None and TITLES in model.reads)
    notes = (*split.notes, *_notes_on_seen(request, split, model, templates), *leaks)
    if model is None:
        return replace(found, notes=notes)
    if progress is not None:
        progress("bits")
    with suppress_seen_warning():
        bits = recovery.bits_by_scorer(model, split.held_out, request.seed)
        doubts = recovery.doubt_bits(model, split.held_out, bits)
    return replace(found, notes=(*notes, *doubts), bits=bits)


def _notes_on_seen(
    request: EvaluationRequest, split: Split, model: Model | None, templates: TemplateSet | None
) -> Iterator[str]:
    """What a model, templates, or the methods that learn here, have seen of what is measured."""
    held_out = split.held_out
    if split.training is held_out and request.split == "train":
        yield "these are the collections to train on: what is learned from them is not measured on them"
    elif split.training is held_out:
        side = request.split or "validation"
        yield f"there is nothing to train on beside {side}: methods that learn here are left out"
    known: dict[str, Fingerprints | None] = {}
    if model is not None:
        known[f"the model {request.model}"] = fingerprints_of(model.training)
    if templates is not None:
        known[f"the templates {request.templates}"] = templates.seen
    for name, seen in known.items():
        if seen is None:
            yield f"{name}: what it was learned from is not recorded, so that nobody can tell whether it has seen these"
        elif count := sum(seen.among(held_out)):
            yield f"LEAK: {name}: was learned from {count:,} of these {len(held_out):,} collections"


def _features(model: Model | None, split: Split, by: str) -> Sequence[str]:
    """The columns to sort by: the column, or what the model takes; of one that gives orders any may be missing."""
    if model is None:
        return (by,)
    if model.by_item:
        return model.feature_names
    there = split.held_out[0].feature_names
    wanted = model.feature_names or medium_of_columns(there).columns  # a model of neighbours has none of its own
    present = [name for name in wanted if name in there]
    return [name for name in present if all(np.isfinite(c.column(name)).all() for c in split.held_out)]


def tabulate(
    orderings: Mapping[str, recovery.Orderings],
    lengths: Sequence[int],
    *,
    rule: str = "",
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> Evaluated:
    """Metrics of each method with intervals, and paired tests as one family.

    ``orderings``: method -> one per collection in the true numbering, None where it was not asked; ``lengths``: its
    items; ``groups``: whom each is by, and intervals and tests are then over groups.

    >>> result = tabulate({"rise": [np.arange(5)] * 8}, [5] * 8)
    >>> [row.method for row in result.rows], result.rows[1].metrics["spearman"].mean
    (['chance', 'rise'], 1.0)
    """
    scores = {recovery.CHANCE: recovery.chance_scores(lengths, np.random.default_rng((seed, 1)), _DRAWS)}
    scores |= {method: score_all(found) for method, found in orderings.items()}
    rows = [_row(method, of, groups) for method, of in scores.items()]
    learned = [row for row in rows if row.method in recovery.METHODS]
    plain = [row for row in rows[1:] if row.method not in recovery.METHODS]
    plain.sort(key=lambda row: -row.metrics["spearman"].mean)
    # All against chance, those that learn against each other, by every tested metric: one family.
    pairs = [(name, recovery.CHANCE) for name in orderings]
    pairs += list(combinations([name for name in recovery.METHODS if name in scores], 2))
    family = [(metric, a, b) for metric in TESTED for a, b in pairs] if len(lengths) > 1 else []
    return Evaluated([rows[0], *plain, *learned], compare_methods(scores, family, groups), len(lengths), rule)


def compare_methods(
    scores: Mapping[str, Mapping[str, Floats]],
    family: Sequence[tuple[str, str, str]],
    groups: Sequence[Hashable] | None,
) -> list[tuple[str, Comparison]]:
    """Paired tests (metric, method, method) as one family (Holm-Bonferroni), each with its metric.

    ``scores``: method -> metric -> (collections,).
    """
    flat = {f"{metric}\0{name}": values for name, of in scores.items() for metric, values in of.items()}
    found = compare_scores(flat, [(f"{metric}\0{a}", f"{metric}\0{b}") for metric, a, b in family], groups=groups)
    return [(metric, replace(each, a=a, b=b)) for (metric, a, b), each in zip(family, found, strict=True)]


def _row(method: str, scores: Mapping[str, Floats], groups: Sequence[Hashable] | None) -> MethodRow:
    intervals = {}
    for metric, values in scores.items():
        known = np.flatnonzero(~np.isnan(values))
        by = None if groups is None else [groups[number] for number in known.tolist()]
        none = Interval(0, np.nan, np.nan, np.nan)
        intervals[metric] = mean_interval(values[known], by, within=RANGES[metric]) if len(known) else none
    return MethodRow(method, intervals["first"].n, intervals)
