"""Order recovery by a set model, which sees each collection whole: what it proposes, and the likeliest order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.core.collection import Collection
from fabula.core.ordering import Ints
from fabula.evaluation.information import Information, mutual_information
from fabula.models.sets.agreement import MOST_EXPECTED, most_agreeing
from fabula.models.sets.model import SetModel
from fabula.models.sets.posterior import posterior
from fabula.models.sets.proposing import likeliest
from fabula.models.sets.tables import Tables

PROPOSED = "proposed order"
LIKELIEST = "likeliest order"
_SECONDS = 0.5  # to search in, where a collection has too many items to be solved


def judged_orderings(
    model: SetModel, collections: Sequence[Collection], rng: np.random.Generator
) -> dict[str, list[Ints | None]]:
    """Both orderings of each collection in the true numbering, its items shuffled before the model sees them."""
    mixed = [rng.permutation(len(c)) for c in collections]
    tables = model.tables_all([c.reordered(order) for c, order in zip(collections, mixed, strict=True)])
    found: dict[str, list[Ints | None]] = {PROPOSED: [], LIKELIEST: []}
    for order, (positions, flow) in zip(mixed, tables, strict=True):
        likely = likeliest(Tables(positions, flow), seconds=_SECONDS).ordering
        expected = likely
        if len(order) <= MOST_EXPECTED:
            expected = most_agreeing(posterior(positions, flow), seconds=_SECONDS).ordering
        found[PROPOSED].append(order[expected])
        found[LIKELIEST].append(order[likely])
    return found


def judged_bits(model: SetModel, collections: Sequence[Collection], seed: int) -> dict[str, Information]:
    """What a set model tells about the order of collections, by both scorers and by each alone."""
    scorers = {" + ".join(model.scorers): None, **{kind: kind for kind in model.scorers}}
    return {name: mutual_information(model, collections, seed=seed, scorer=kind) for name, kind in scorers.items()}
