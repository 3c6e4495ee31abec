"""Order recovery by a set model, which sees each collection whole: what it proposes, and the likeliest order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection
from fabula.core.evidence import Evidence
from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.evaluation.information import Information, makers, mutual_information, summarise_bits
from fabula.media.evidence import find_evidence
from fabula.media.registry import measure_if_held
from fabula.models.encoders.measures import as_measures
from fabula.models.model import Model
from fabula.models.order import Rule, likeliest, solvable
from fabula.models.scorers.reach import MOST_DRAWN
from fabula.research.splits import Split

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


# Order recovery by a step model, which looks into the items themselves: what it proposes, and its bits.

_NEGATIVES = 31


def measured_split(split: Split) -> Split:
    """A split whose collections hold their texts or the like, measured."""
    same = split.training is split.held_out
    held_out = [measure_if_held(c)[0] for c in split.held_out]
    training = held_out if same else [measure_if_held(c)[0] for c in split.training]
    return replace(split, training=training, held_out=held_out)


def looked_at(model: Model, collection: Collection) -> Evidence:
    """What a collection's medium finds in its items, or else in the steps between what was measured of them."""
    found = find_evidence(collection, measure_if_held(collection)[1])
    if not any(name in found.pairs for name in as_measures(model.encoder).pair_names):
        raise InputError(f"{collection.id}: the model needs items that can be looked at, such as texts")
    return found


def step_orderings(
    model: Model, collections: Sequence[Collection], rng: np.random.Generator
) -> dict[str, list[Ints | None]]:
    """The ordering proposed for each collection in the true numbering, its items shuffled before they are looked at."""
    found: list[Ints | None] = []
    for collection in collections:
        mixed = rng.permutation(len(collection))
        shown = collection.reordered(mixed)
        energy = model.energy(shown, evidence=looked_at(model, shown))
        found.append(mixed[likeliest(solvable(energy), seconds=_SECONDS).ordering])
    return {PROPOSED: found}


def step_bits(model: Model, collections: Sequence[Collection], seed: int) -> dict[str, Information]:
    """What a step model tells about the order of collections of up to 90 items."""
    some = [c for c in collections if len(c) <= MOST_DRAWN]
    if not some:
        return {}
    rng, leads = np.random.default_rng(seed), []
    for collection in some:
        n, energy = len(collection), model.energy(collection, evidence=looked_at(model, collection))
        others = np.asarray(energy.score(np.argsort(rng.random((_NEGATIVES, n)), axis=1)))
        leads.append(others - energy.score(np.arange(n)))
    total = np.logaddexp(0.0, np.logaddexp.reduce(np.stack(leads), axis=1))
    bits = np.log2(_NEGATIVES + 1) - total / np.log(2)
    lengths = np.array([len(c) for c in some])
    name = " + ".join(model.scorers) if model.reaches else "flow"
    return {name: summarise_bits(bits, lengths, makers(some), rng, _NEGATIVES, 1)}
