"""Order recovery by a set model, which sees each collection whole: what it proposes, and the likeliest order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.core.collection import Collection
from fabula.core.ordering import Ints
from fabula.evaluation.information import Information, mutual_information
from fabula.models.model import Model
from fabula.models.order import Rule

PROPOSED = "proposed order"
LIKELIEST = "likeliest order"
_RULES: dict[str, Rule] = {PROPOSED: "agreeing", LIKELIEST: "likeliest"}
_SECONDS = 0.5  # to search in, where a collection has too many items to be solved


def judged_orderings(
    model: Model, collections: Sequence[Collection], rng: np.random.Generator
) -> dict[str, list[Ints | None]]:
    """Both orderings of each collection in the true numbering, its items shuffled before the model sees them."""
    mixed = [rng.permutation(len(c)) for c in collections]
    shown = [c.reordered(order) for c, order in zip(collections, mixed, strict=True)]
    found: dict[str, list[Ints | None]] = {}
    for name, rule in _RULES.items():
        ordered = model.order_many(shown, rule=rule, seconds=_SECONDS)
        found[name] = [order[ordering] for order, ordering in zip(mixed, ordered, strict=True)]
    return found


def judged_bits(model: Model, collections: Sequence[Collection], seed: int) -> dict[str, Information]:
    """What a set model tells about the order of collections, by both scorers and by each alone."""
    scorers = {" + ".join(model.scorers): None, **{kind: kind for kind in model.scorers}}
    return {name: mutual_information(model, collections, seed=seed, scorer=kind) for name, kind in scorers.items()}
