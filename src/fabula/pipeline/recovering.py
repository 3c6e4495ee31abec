"""Order recovery: every way of ordering asked for one ordering of each collection, without seeing the true one.

Equal items keep the order in which they come, and here they come in the true order: each collection is shuffled
before it is shown to any method, and what comes back is mapped to the true numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arcs import Arcs
from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.fit import fit
from fabula.core.ordering import Ints
from fabula.core.template import Template
from fabula.evaluation.baselines import single_features
from fabula.models.model import Model
from fabula.models.search import search_orderings

CHANCE = "chance"
PAPER = "squared-error templates"
ARCS = "mixture of arcs"
SEARCH = "bilstm search"
DIRECT = "direct transformer"
METHODS = (PAPER, ARCS, SEARCH, DIRECT)  # those that learn, as results name them

Orderings = list[Ints | None]  # None where a method was not asked


def hidden(values: Sequence[Floats], rng: np.random.Generator, propose: Callable[[Floats], Ints]) -> Orderings:
    """Ask for an ordering of each essence without giving the true order away.

    Parameters
    ----------
    values
        Shape (n,) or (n, d) each, in true order.
    rng
        Shuffles each before it is shown.
    propose
        From a shuffled essence to an ordering of it.

    Returns
    -------
    Orderings of the items in their true numbering.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hidden([np.array([2.0, 1.0, 3.0])], rng, lambda essence: np.argsort(essence))
    [array([1, 0, 2])]
    """
    found: Orderings = []
    for each in values:
        mixed = rng.permutation(len(each))
        found.append(np.asarray(mixed[propose(each[mixed])], dtype=np.intp))
    return found


def closest_fit(templates: Iterable[Template]) -> Callable[[Floats], Ints]:
    """The paper's pipeline with one proposal: of the fits to all templates the one with the least squared error."""
    curves = list(templates)

    def propose(essence: Floats) -> Ints:
        fits = [fit(essence, curve) for curve in curves]
        return min(fits, key=lambda each: float((each.deviations**2).mean())).ordering

    return propose


def likeliest(arcs: Arcs) -> Callable[[Floats], Ints]:
    """The likeliest ordering under a mixture of arcs."""
    return lambda essence: arcs.order(essence, alternatives=1)[0].ordering


def searched(model: Model) -> Callable[[Floats], Ints]:
    """The best ordering that a search under the model's bilstm finds."""

    def score(sequences: Floats) -> Floats:
        return np.asarray(model.score(sequences, "bilstm"))

    return lambda essence: search_orderings(score, essence.reshape(len(essence), -1), alternatives=1)[0].ordering


def some(orderings: Callable[[Sequence[Floats]], Orderings], values: Sequence[Floats], most: int) -> Orderings:
    """A slow method asked about ``most`` collections, evenly spread; None for the others."""
    chosen = np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).astype(int)).tolist()
    found: Orderings = [None] * len(values)
    for i, ordering in zip(chosen, orderings([values[i] for i in chosen]), strict=True):
        found[i] = ordering
    return found


def sorted_features(
    collections: Sequence[Collection], names: Sequence[str], rng: np.random.Generator
) -> dict[str, Orderings]:
    """Each feature alone, sorted up and down."""
    narrow = [Collection(c.id, c.items, c.columns(list(names)), list(names), ordered=c.ordered) for c in collections]
    return {name: list(found) for name, found in single_features(narrow, rng).items()}


def column_essences(collections: Sequence[Collection], column: str) -> list[Floats]:
    """A column as the essence, z-scored within each collection; a missing value stands at the mean."""
    return [normalise(_filled(c.column(column))) for c in collections]


def scalar_essences(model: Model, collections: Sequence[Collection]) -> list[Floats]:
    """The essence of each collection, (n,) where the model has one dimension, else (n, d)."""
    return [e[:, 0] if e.shape[1] == 1 else e for e in model.encode_all(collections)]


def _filled(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    known = np.isfinite(array)
    return np.where(known, array, array[known].mean() if known.any() else 0.0)
