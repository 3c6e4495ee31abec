"""Controls: collections whose order nothing can be known about. An estimate on them must come out zero.

That holds for a model trained on a control: it learns to say nothing. A model trained on real collections and only
asked about a control comes out below zero, the surer its scores the lower, because it bets and loses. In both cases
bits above zero mean a leak.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection as Names, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import InputError


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


# Ordered collections by what they are for: to train on, to decide by, to measure on.

_MAKERS = 10  # from so many on, collections are set apart by who made them


@dataclass(frozen=True, eq=False)
class Parts:
    """Three sets of ordered collections, none of which shares a collection with another."""

    training: Sequence[Collection]  # what a model learns from
    validation: Sequence[Collection]  # what decides, for instance which epoch is kept
    # What a result is measured on, and decides nothing. None: the validation collections, on which results come out a
    # little too high, since they decide.
    measured: Sequence[Collection] | None = None

    @property
    def test(self) -> Sequence[Collection]:
        """The collections a result is measured on."""
        return self.validation if self.measured is None else self.measured

    def map(self, change: Callable[[Sequence[Collection]], Sequence[Collection]]) -> "Parts":
        """The same parts with each changed, in their order."""
        training, validation = change(self.training), change(self.validation)
        return Parts(training, validation, None if self.measured is None else change(self.measured))

    def nest(self, share: float = 0.1) -> "Parts":
        """The same with something to measure on that decides nothing.

        Where nothing is set apart for it, a share of the training collections decides, and what was to decide is
        measured on; a single training collection is left as it is.
        """
        if self.measured is not None or len(self.training) < 2:
            return self
        learned, aside = divide(self.training, share)
        return Parts(learned, aside, self.validation) if learned else self


def divide(collections: Sequence[Collection], share: float) -> tuple[list[Collection], list[Collection]]:
    """Some collections, and about a share of them apart: at least one, and five where there are ten or more.

    They go by who made them where at least ten did, else each by itself; which ones depends on the names alone.
    """
    if not 0 < share < 1:
        raise InputError(f"the share to hold out must lie between 0 and 1; got {share}")
    spelt = spell_makers(collections)
    names = spelt if len(set(spelt)) >= _MAKERS else [c.id for c in collections]
    wanted = max(round(share * len(names)), min(5, len(names) // 2), 1)
    times = Counter(names)
    mixed = sorted(times, key=share_of)
    apart = set(mixed[: 1 + np.searchsorted(np.cumsum([times[name] for name in mixed]), wanted)])
    sides = [(c, name in apart) for c, name in zip(collections, names, strict=True)]
    return [c for c, out in sides if not out], [c for c, out in sides if out]


def spell_makers(collections: Sequence[Collection]) -> list[str]:
    """Who made each collection, as first spelt among them; empty where one does not say."""
    first: dict[str, str] = {}
    names = [first.setdefault(c.maker, next(filter(None, c.creators))) if c.maker else "" for c in collections]
    return names if all(names) else []


def share_of(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:6], "big") / 2**48
