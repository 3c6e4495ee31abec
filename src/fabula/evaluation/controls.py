"""Controls: collections whose order nothing can be known about. An estimate on them must come out zero.

That holds for a model trained on a control: it learns to say nothing. A model trained on real collections and only
asked about a control comes out below zero, the surer its scores the lower, because it bets and loses. In both cases
bits above zero mean a leak.
"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection


def noise_features(
    collections: Sequence[Collection], rng: np.random.Generator, *, logged: Sequence[str] = ()
) -> list[Collection]:
    """The same collections with every feature replaced by noise from N(0, 1), independent for each item.

    Of ``logged`` features a model takes the logarithm: the logarithm is what is drawn, so that they stay above 0.
    """
    out = []
    for c in collections:
        noise = rng.standard_normal(c.features.shape)
        columns = [i for i, name in enumerate(c.feature_names) if name in logged]
        noise[:, columns] = np.exp(noise[:, columns])
        out.append(replace(c, features=noise))
    return out


def shuffle_orders(collections: Sequence[Collection], rng: np.random.Generator) -> list[Collection]:
    """The same collections, each with its items in a uniformly random order that is taken for the true one."""
    return [c.reordered(rng.permutation(len(c)), ordered=True) for c in collections]


def shuffle_titles(collections: Sequence[Collection], rng: np.random.Generator) -> list[Collection]:
    """The same collections without features, titles dealt anew among the items of each.

    Who has which title tells nothing then; how many titles of which kind there are still does not tell the order.

    >>> from fabula.core.collection import Item
    >>> c = Collection("1", [Item("a", "Intro"), Item("b", "Outro")], [[1.0], [2.0]], ["energy"])
    >>> sorted(item.title for item in shuffle_titles([c], np.random.default_rng(0))[0].items)
    ['Intro', 'Outro']
    """
    out = []
    for c in keep_only(collections, (), titles=True):
        dealt = rng.permutation(len(c))
        items = tuple(replace(item, title=c.items[i].title) for item, i in zip(c.items, dealt, strict=True))
        out.append(replace(c, items=items))
    return out


def keep_only(collections: Sequence[Collection], features: Names[str], *, titles: bool) -> list[Collection]:
    """The same collections of which nothing but some features, and titles or not, is known.

    >>> from fabula.core.collection import Item
    >>> c = Collection("1", [Item("a", "Intro")], [[1.0, 2.0]], ["energy", "valence"])
    >>> keep_only([c], ["valence"], titles=False)[0].features, keep_only([c], [], titles=False)[0].items[0].title
    (array([[nan,  2.]]), '')
    """
    out = []
    for c in collections:
        hidden = [i for i, name in enumerate(c.feature_names) if name not in features]
        values = np.array(c.features)
        values[:, hidden] = np.nan
        items = c.items if titles else tuple(replace(item, title="") for item in c.items)
        out.append(replace(c, items=items, features=values, title=c.title if titles else ""))
    return out
