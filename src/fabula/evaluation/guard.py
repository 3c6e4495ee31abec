"""The guard: finds what in the data gives the order of collections away, column by column and together.

It looks at what no control can see. A control replaces the features or the orders, so it catches a scorer that peeks or
an estimate that is wrong; a column that follows the order is shuffled with its items, or replaced with the others, and
the control comes out zero all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.evaluation.relations import related_columns, telling_sum
from fabula.evaluation.signals import Laid, Signal, column_signals, title_signals, within

_LOOKED_AT = 1000  # collections, to judge by
_FEWER_TURNS = 0.55  # turns against the order, of those that chance would have, below which a column follows it
_ONE_WAY = 0.3  # turns against it, of all its turns: what comes in blocks turns seldom, but either way
_MONOTONE = 0.5  # share of collections in which it rises or falls throughout, beyond chance
_SOME = 0.05  # the same where only some collections are so
_PARTS = 10  # of a collection
_EXPLAINED = 0.7  # share of its variance that the position explains
_MOST = 0.8  # share of collections that counts as all of them
_SURE = 4.5  # deviations from chance


@dataclass(frozen=True)
class Finding:
    """Something that gives the order away.

    Attributes
    ----------
    columns
        The columns it is about; none for titles.
    why
        What was found, as a clause: "it follows the order itself".
    throughout
        Whether it does so in general, and must not be trained on unasked; False where some collections alone are so.
    """

    columns: tuple[str, ...]
    why: str
    throughout: bool = True

    @property
    def what(self) -> str:
        """What it is about, in words."""
        names = ", ".join(map(repr, self.columns))
        return "the titles" if not self.columns else f"column{'s' if len(self.columns) > 1 else ''} {names}"

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def find_leaks(
    collections: Sequence[Collection], features: Sequence[str] | None = None, *, titles: bool = True
) -> list[Finding]:
    """What in the data tells the order of collections too well to be a finding about them.

    Looked at are each column, which of its values are missing, its digits and how it is rounded; sums of columns;
    columns that are the running sum, the difference or the neighbour's value of another; the numbers in titles and
    their alphabetical order. By ranks, collection by collection, so that gaps, new beginnings and monotone changes of
    scale hide nothing. A column may follow the order for a good reason (somebody sorted by it); that, too, is told.

    Parameters
    ----------
    collections
        In their true order; of more than 1,000 every so-manieth is looked at.
    features
        The columns to look at; by default all. Features that are arrays are not looked at.
    titles
        Whether to look at titles.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> rows = [[[float(j), 0.5] for j in range(6)] for _ in range(5)]
    >>> items = [Item(str(j)) for j in range(6)]
    >>> five = [Collection(str(i), items, row, ["number", "x"]) for i, row in enumerate(rows)]
    >>> [str(found) for found in find_leaks(five)]
    ["column 'number': it follows the order itself"]
    """
    some = [c for c in collections if len(c) > 2] or list(collections)
    some = some[:: max(1, -(-len(some) // _LOOKED_AT))]
    if not some:
        return []
    laid = Laid.of(some)
    found: list[Finding] = []
    if some[0].features.ndim == 2:
        names = [
            n
            for n in (some[0].feature_names if features is None else features)
            if all(n in c.feature_names for c in some)
        ]
        columns = {name: np.concatenate([c.column(name) for c in some]) for name in names}
        found += [each for name, values in columns.items() for each in _of_column(name, values, laid)]
        told = {name for each in found for name in each.columns if each.throughout}
        rest = {name: values for name, values in columns.items() if name not in told}
        found += [Finding(pair, why) for pair, why in related_columns(rest, laid)]
        together = telling_sum(rest, laid)
        clause = "together they tell the position" if len(together) > 1 else "it tells the position"
        found += [Finding(together, clause)] if together else []
    if titles:
        found += [each for signal in title_signals(some) if (each := _judged(signal, laid)) is not None]
    return found


def _of_column(name: str, values: Floats, laid: Laid) -> list[Finding]:
    """What a column tells; of what hides in it only the first that tells, where it does not tell by itself."""
    for signal in column_signals(name, values):
        found = _judged(signal, laid)
        if found is not None:
            return [found]
    return []


def _judged(signal: Signal, laid: Laid) -> Finding | None:
    columns = (signal.source,) if signal.source else ()
    subject = signal.what or "it"
    plural = signal.what.startswith(("the numbers", "its digits"))
    share = 1.0 if signal.source else _having(signal.values, laid)
    where = "" if share > _MOST else f" in the {share:.0%} of the collections that have them"
    if _follows(signal.values, laid) and share > _SOME:
        return Finding(columns, f"{subject} follow{'' if plural else 's'} the order itself{where}", not where)
    if _explained(signal.values, laid) > _EXPLAINED and share > _SOME:
        return Finding(columns, f"{subject} tell{'' if plural else 's'} the position{where}", not where)
    sorted_ones = 0.0 if signal.source and signal.what else _sorted_share(signal.values, laid, of_all=True)
    if sorted_ones > _SOME:
        return Finding(
            columns, f"in {sorted_ones:.0%} of the collections the order is {_order_of(signal)}", throughout=False
        )
    return None


def _order_of(signal: Signal) -> str:
    return f"that of {signal.what}" if signal.what else "that of its values"


def _having(values: Floats, laid: Laid) -> float:
    """The share of collections in which a signal has three values or more."""
    return float((np.bincount(laid.owner, np.isfinite(values)) > 2).mean())


def _follows(values: Floats, laid: Laid) -> bool:
    """Whether a signal rises (or falls) with hardly a turn, new beginnings allowed, in all collections or in most."""
    known = np.isfinite(values)
    signal, owner = values[known], laid.owner[known]
    counts, tied, _, _ = _ties(signal, owner)
    expected = (counts - 1) * (1 - tied) / 2  # steps down that chance would have, by collection
    spread = np.sqrt(((counts + 1) / 12 * (1 - tied))[counts > 1].sum())
    total = expected[counts > 1].sum()
    if total < 4:
        return False
    step = np.diff(signal)[owner[1:] == owner[:-1]]
    fewest, most = sorted(((step < 0).sum(), (step > 0).sum()))
    one_way = fewest < _FEWER_TURNS * total and fewest < _ONE_WAY * (fewest + most)
    if one_way and (total - fewest) > _SURE * spread:
        return True
    return _sorted_share(values, laid) > _MONOTONE


def _sorted_share(values: Floats, laid: Laid, *, of_all: bool = False) -> float:
    """The share of collections in which a signal never turns, beyond chance; 0 where chance may have done it.

    Of those that have four values or more; with ``of_all``, of all.
    """
    known = np.isfinite(values)
    signal, owner = values[known], laid.owner[known]
    counts, _, chance, distinct = _ties(signal, owner)
    judged = (distinct > 3) & (chance < 0.1)
    if judged.sum() < 3:
        return 0.0
    same = owner[1:] == owner[:-1]
    step, of = np.diff(signal)[same], owner[1:][same]
    down, up = (np.bincount(of, turned, minlength=len(counts)) for turned in (step < 0, step > 0))
    monotone = ((down == 0) | (up == 0)) & judged
    expected = chance[judged].sum()
    sure = monotone.sum() - expected > _SURE * np.sqrt(expected + 1)
    out_of = laid.owner[-1] + 1 if of_all else judged.sum()
    return float((monotone.sum() - expected) / out_of) if sure else 0.0


def _ties(signal: Floats, owner: Ints) -> tuple[Floats, Floats, Floats, Ints]:
    """Values known, chance that two are equal, that a shuffle never turns, distinct values: (c,), by collection."""
    if not len(signal):
        return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp)
    order = np.lexsort((signal, owner))
    value, of = signal[order], owner[order]
    begins = np.flatnonzero(np.r_[True, (value[1:] != value[:-1]) | (of[1:] != of[:-1])])
    sizes = np.diff(np.r_[begins, len(value)]).astype(np.float64)  # of groups of equal values
    counts = np.bincount(owner).astype(np.float64)
    pairs = np.bincount(of[begins], sizes * (sizes - 1), minlength=len(counts))
    alike = np.bincount(of[begins], gammaln(sizes + 1), minlength=len(counts))
    groups = np.bincount(of[begins], minlength=len(counts))
    chance = np.where(groups > 1, np.minimum(1.0, 2 * np.exp(alike - gammaln(counts + 1))), 1.0)
    return counts, pairs / np.maximum(counts * (counts - 1), 1), chance, groups


def _explained(values: Floats, laid: Laid) -> float:
    """The share of a signal's variance within collections that positions explain, from either end or in parts."""
    centred = within(values, laid.owner)
    spread = np.sqrt(np.bincount(laid.owner, centred**2) / np.bincount(laid.owner))[laid.owner]
    known = np.isfinite(values) & (spread > 1e-12 * (1 + np.abs(np.where(np.isfinite(values), values, 0.0))))
    scaled = centred[known] / spread[known]
    if len(scaled) < 40:
        return 0.0
    places = (
        laid.position,
        laid.length - 1 - laid.position,
        laid.length * 4096 + laid.position,
        _PARTS * laid.position // np.maximum(laid.length, 1),
    )
    return max(_variance_explained(scaled, where[known]) for where in places)


def _variance_explained(values: Floats, groups: Ints) -> float:
    """R squared by groups, adjusted for how many there are."""
    _, number = np.unique(groups, return_inverse=True)
    counts = np.bincount(number)
    if len(values) < 4 * len(counts):
        return 0.0
    means = np.bincount(number, values) / counts
    total = float((values**2).sum())
    rest = float(((values - means[number]) ** 2).sum())
    return 1.0 - rest / total * (len(values) - 1) / (len(values) - len(counts))
