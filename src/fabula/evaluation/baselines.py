"""Baselines: orderings that any method must beat, and the paper's score of a set of proposals.

Conventions: items are numbered in their true order, so essences and collections come in that order and the true
ordering is the identity. Nothing here may lean on that: equal items are put in random order, because a sort that
keeps the given order of equals would give the true order away.

A *set of proposals* is a list of k orderings for one collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_essence, normalise
from fabula.core.collection import Collection
from fabula.core.fit import fit
from fabula.core.template import Template
from fabula.errors import InputError
from fabula.evaluation.metrics import METRICS, validate


def random_orderings(lengths: Iterable[int], rng: np.random.Generator) -> list[Ints]:
    """One uniformly random ordering per collection of so many items, 1 or more."""
    return [proposals[0] for proposals in random_proposals(lengths, 1, rng)]


def random_proposals(lengths: Iterable[int], k: int, rng: np.random.Generator) -> list[list[Ints]]:
    """The paper's first baseline: k independent, uniformly random orderings per collection of so many items."""
    if k < 1:
        raise InputError(f"a set of proposals has at least 1 ordering; got k = {k}")
    sizes = list(lengths)
    for number, n in enumerate(sizes):
        if n < 1:
            raise InputError(f"collection {number} must have at least 1 item; got {n}")
    return [[rng.permutation(n) for _ in range(k)] for n in sizes]


def template_proposals(
    essences: Sequence[ArrayLike], templates: Iterable[Template], rng: np.random.Generator
) -> list[list[Ints]]:
    """Each collection fitted to each of k templates: one list of k orderings per collection.

    Essences have shape (n,) or (n, d), in true order, and are normalised here; ``rng`` puts equal items in random
    order.
    """
    chosen = list(templates)
    if not chosen:
        raise InputError("at least one template is needed; got none")
    proposals = []
    for number, essence in enumerate(essences):
        values = normalise(as_essence(essence, name=f"essence of collection {number}"))
        mixed = rng.permutation(len(values))
        proposals.append([mixed[fit(values[mixed], template).ordering] for template in chosen])
    return proposals


def shuffle_proposals(
    essences: Sequence[ArrayLike], templates: Iterable[Template], rng: np.random.Generator
) -> list[list[Ints]]:
    """The paper's second baseline: the essence shuffled within each collection, then fitted to the templates.

    What is left over random orderings is what fitting gains from noise. Takes what :func:`template_proposals` takes.
    """
    values = [as_essence(essence, name=f"essence of collection {number}") for number, essence in enumerate(essences)]
    return template_proposals([value[rng.permutation(len(value))] for value in values], templates, rng)


def single_features(collections: Sequence[Collection], rng: np.random.Generator) -> dict[str, list[Ints]]:
    """Each feature by itself: ``"<feature> up"`` and ``"<feature> down"`` -> one ordering per collection.

    The collections, in true order, have the same features of one number per item. Items without a value come last,
    equal ones in random order.
    """
    names = collections[0].feature_names if collections else ()
    for c in collections:
        if c.feature_names != names:
            raise InputError(
                f"all collections must have the same features; {c.id!r} differs from {collections[0].id!r}"
            )
        if c.features.ndim != 2:
            raise InputError(
                f"single features must be one number per item; those of {c.id!r} have shape {c.features.shape}"
            )
    orderings: dict[str, list[Ints]] = {}
    for name in names:
        for direction, sign in (("up", 1.0), ("down", -1.0)):
            orderings[f"{name} {direction}"] = [_sort(sign * c.column(name), rng) for c in collections]
    return orderings


def best_scores(proposals: Sequence[Sequence[ArrayLike]], metric: str = "edit") -> Floats:
    """The paper's measure: the largest score (m,) over the proposals of each collection, by a name in ``METRICS``.

    More proposals score higher by chance alone: compare with as many random ones.
    """
    if metric not in METRICS:
        raise InputError(f"the metric must be one of {', '.join(METRICS)}; got {metric!r}")
    best = []
    for number, orderings in enumerate(proposals):
        try:
            checked = validate(orderings)
        except InputError as error:
            raise InputError(f"collection {number}: {error}") from error
        if len({order.size for order in checked}) > 1:
            raise InputError(f"collection {number}: its proposals must all have the same items")
        best.append(METRICS[metric](np.stack(checked)).max())
    return np.array(best)


def _sort(values: Floats, rng: np.random.Generator) -> Ints:
    mixed = rng.permutation(len(values))
    return np.asarray(mixed[np.argsort(values[mixed], kind="stable")], dtype=np.intp)
