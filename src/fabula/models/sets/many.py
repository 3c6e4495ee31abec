"""Many collections through a set model: those of one length together, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.essence import Floats
from fabula.core.segments import Alike, by_length
from fabula.core.solver.solve import ArrangedMany, arrange_many, cost_of
from fabula.errors import InputError
from fabula.models.many.batch import Batch
from fabula.models.many.ordered import OrderedMany
from fabula.models.sets.agreement import MOST_EXPECTED, neighbour_agreement, position_agreement
from fabula.models.sets.inputs import Array, SetInputs, set_inputs
from fabula.models.sets.posterior import Posterior
from fabula.models.sets.posteriors import posteriors
from fabula.models.sets.proposing import RULES, Rule
from fabula.models.sets.titles import Title, read_titles

if TYPE_CHECKING:
    from fabula.models.sets.model import SetModel

_TOGETHER = 60_000  # cells of pairs that are computed at a time, so that they stay in the processor's cache


def encode_many(model: SetModel, batch: Batch) -> Floats:
    """The essence (rows, d) of the items of a batch, not z-scored."""
    essence = np.empty((batch.rows, model.dimensions))
    for some, inputs in inputs_many(model, batch):
        essence[some.rows] = model.encode_inputs(inputs)[0]
    return essence


def tables_many(model: SetModel, batch: Batch) -> Iterator[tuple[Alike, Array, Array]]:
    """Position scores and flow scores (B, n, n) of collections of one length, until all have been."""
    for some, inputs in inputs_many(model, batch):
        yield some, *model.tables_of(inputs)


def inputs_many(model: SetModel, batch: Batch) -> Iterator[tuple[Alike, SetInputs]]:
    """What the network reads of collections of one length, until all have been."""
    features = batch.picked(model.feature_names)
    for some in by_length(batch.offsets, _TOGETHER):
        values, known = model.standardised(features[some.rows.ravel()])
        shape = (*some.rows.shape, len(model.feature_names))
        titles = _titles(batch, some) if model.spec.titles and batch.titles is not None else None
        yield some, set_inputs(values.reshape(shape), known.reshape(shape), titles, model.vocabulary)


def _titles(batch: Batch, some: Alike) -> list[list[Title]]:
    """The titles of some collections, taken apart."""
    count, n = some.rows.shape
    rows = some.rows.ravel()
    titles = [text or "" for text in batch.titles[rows].tolist()] if batch.titles is not None else [""] * len(rows)
    artists = [""] * len(rows) if batch.artists is None else batch.artists[rows].tolist()
    names = [""] * count if batch.names is None else batch.names[some.numbers].tolist()
    spans = [slice(at, at + n) for at in range(0, len(rows), n)]
    return [read_titles(titles[span], name, artists[span]) for span, name in zip(spans, names, strict=True)]


def order_many(model: SetModel, batch: Batch, rule: Rule, seconds: float) -> OrderedMany:
    """One ordering of each collection of a batch."""
    if rule not in RULES:
        raise InputError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    orderings, number = np.empty(batch.rows, dtype=np.intp), len(batch)
    scores, gap, exact = np.empty(number), np.zeros(number), np.ones(number, dtype=bool)
    for some, *both in tables_many(model, batch):
        places, flow = (table.astype(np.float64) for table in both)
        found = _arranged(places, flow, rule, seconds)
        orderings[some.rows], gap[some.numbers], exact[some.numbers] = found.orderings, found.gap, found.exact
        scores[some.numbers] = -cost_of(-places, -flow, found.orderings)
    return OrderedMany(orderings, batch.offsets, scores, exact, gap)


def _arranged(places: Floats, flow: Floats, rule: Rule, seconds: float) -> ArrangedMany:
    """One ordering of each of B collections of one length by their tables (B, n, n), as :func:`by_rule` finds one."""
    if rule == "arcs":
        return arrange_many(-places)
    if rule == "agreeing" and places.shape[1] <= MOST_EXPECTED:
        expected = posteriors(places, flow)
        both = zip(*expected, strict=True)
        agreeing = [(position_agreement(one), neighbour_agreement(one)) for one in starmap(Posterior, both)]
        places, flow = (np.stack(tables) for tables in zip(*agreeing, strict=True))
    return arrange_many(-places, -flow, seconds=seconds)
