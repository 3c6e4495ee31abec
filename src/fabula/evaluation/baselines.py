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
    """One uniformly random ordering per collection.

    Parameters
    ----------
    lengths
        Items of each collection, 1 or more.
    rng
        Draws them.

    Examples
    --------
    >>> [o.size for o in random_orderings([3, 5], np.random.default_rng(0))]
    [3, 5]
    """
    return [proposals[0] for proposals in random_proposals(lengths, 1, rng)]


def random_proposals(lengths: Iterable[int], k: int, rng: np.random.Generator) -> list[list[Ints]]:
    """The paper's first baseline: k independent, uniformly random orderings per collection.

    Parameters
    ----------
    lengths
        Items of each collection, 1 or more.
    k
        Orderings of each, 1 or more.
    rng
        Draws them.

    Examples
    --------
    >>> [len(p) for p in random_proposals([3, 5], 4, np.random.default_rng(0))]
    [4, 4]
    """
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
    """Each collection fitted to each template: k proposals, one per template.

    Parameters
    ----------
    essences
        Shape (n,) or (n, d) per collection, in true order; normalised here.
    templates
        k templates, or a template set.
    rng
        Puts equal items in random order.

    Returns
    -------
    One list of k orderings per collection.

    Examples
    --------
    >>> rise = Template([0, 1], [-1, 1])
    >>> template_proposals([[3.0, 1.0, 2.0]], [rise], np.random.default_rng(0))
    [[array([1, 2, 0])]]
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

    Examples
    --------
    >>> rise = Template([0, 1], [-1, 1])
    >>> [p[0].size for p in shuffle_proposals([[3.0, 1.0, 2.0]], [rise], np.random.default_rng(0))]
    [3]
    """
    values = [as_essence(essence, name=f"essence of collection {number}") for number, essence in enumerate(essences)]
    return template_proposals([value[rng.permutation(len(value))] for value in values], templates, rng)


def single_features(collections: Sequence[Collection], rng: np.random.Generator) -> dict[str, list[Ints]]:
    """Each feature by itself, sorted up and sorted down.

    Parameters
    ----------
    collections
        In true order, with the same features of one number per item. Items without a value come last.
    rng
        Puts equal items in random order.

    Returns
    -------
    ``"<feature> up"`` and ``"<feature> down"`` -> one ordering per collection.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> c = Collection("1", [Item("a"), Item("b")], [[2.0], [1.0]], ["energy"])
    >>> single_features([c], np.random.default_rng(0))
    {'energy up': [array([1, 0])], 'energy down': [array([0, 1])]}
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
    """The paper's measure: the largest score over the proposals of each collection, string edit score by default.

    More proposals score higher by chance alone: compare with as many random ones.

    Parameters
    ----------
    proposals
        One set per collection.
    metric
        A name in :data:`fabula.evaluation.metrics.METRICS`.

    Returns
    -------
    Shape (m,), one per collection, ready for :func:`fabula.evaluation.significance.compare_scores`.

    Examples
    --------
    >>> best_scores([[[2, 1, 0], [0, 2, 1]], [[0, 1]]]).round(3)
    array([0.333, 1.   ])
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
        best.append(max(METRICS[metric](order) for order in checked))
    return np.array(best)


def _sort(values: Floats, rng: np.random.Generator) -> Ints:
    mixed = rng.permutation(len(values))
    return np.asarray(mixed[np.argsort(values[mixed], kind="stable")], dtype=np.intp)
