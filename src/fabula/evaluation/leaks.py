"""Leaks: what in the data gives the order of collections away, column by column and together.

It looks at what no control can see. A control replaces the features or the orders, so it catches a scorer that peeks or
an estimate that is wrong; a column that follows the order is shuffled with its items, or replaced with the others, and
the control comes out zero all the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.special import gammaln

from fabula.core.arrays import Bools, Floats, Ints
from fabula.core.collection import Collection

_NUMBER = re.compile(r"\d+", re.ASCII)
_DIGITS = {1: "first", 2: "second", 3: "third", 4: "fourth"}  # decimal places behind which something may be hidden
_ROUNDED = 6  # decimal places beyond which a value counts as not rounded

_MOST_COLUMNS = 64  # beyond, pairs are too many to look at
_HOLDS = 0.8  # share of steps at which a relation holds
_BY_CHANCE = 0.3  # share at which it may hold among shuffled items
_EXPLAINED = 0.7  # share of the positions' variance that columns explain together
_MOST_TOGETHER = 4  # columns named

_LOOKED_AT = 1000  # collections, to judge by
_FEWER_TURNS = 0.55  # turns against the order, of those that chance would have, below which a column follows it
_ONE_WAY = 0.3  # turns against it, of all its turns: what comes in blocks turns seldom, but either way
_MONOTONE = 0.5  # share of collections in which it rises or falls throughout, beyond chance
_SOME = 0.05  # the same where only some collections are so
_PARTS = 10  # of a collection
_MOST = 0.8  # share of collections that counts as all of them
_SURE = 4.5  # deviations from chance

Columns = Mapping[str, Floats]


@dataclass(frozen=True)
class Finding:
    """Something that gives the order away."""

    columns: tuple[str, ...]  # what it is about; none for titles
    why: str  # what was found, as a clause: "it follows the order itself"
    throughout: bool = True  # must not be trained on unasked; False where some collections alone are so

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
    """What in the data tells the order of collections, given in true order, too well to be a finding about them.

    Looked at are each column (or those named), which of its values are missing, its digits and how it is rounded; sums
    of columns; columns that are the running sum, the difference or the neighbour's value of another; the numbers in
    titles and their alphabetical order. By ranks, collection by collection, so that gaps, new beginnings and monotone
    changes of scale hide nothing. A column may follow the order for a good reason (somebody sorted by it); that, too,
    is told. Features that are arrays are not looked at; of more than 1,000 collections every so-manieth is.

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
    rows = _ItemRows.of(some)
    found: list[Finding] = []
    if some[0].features.ndim == 2:
        wanted = some[0].feature_names if features is None else features
        names = [name for name in wanted if all(name in c.feature_names for c in some)]
        columns = {name: np.concatenate([c.column(name) for c in some]) for name in names}
        for name, values in columns.items():
            judged = (_judge(signal, rows) for signal in _column_signals(name, values))
            tells = next((each for each in judged if each), None)  # of what hides in a column only the first that tells
            found += [tells] if tells else []
        told = {name for each in found for name in each.columns if each.throughout}
        rest = {name: values for name, values in columns.items() if name not in told}
        found += [Finding(pair, why) for pair, why in _find_relations(rest, rows)]
        together = _find_sum(rest, rows)
        clause = "together they tell the position" if len(together) > 1 else "it tells the position"
        found += [Finding(together, clause)] if together else []
    if titles:
        found += [each for signal in _title_signals(some) if (each := _judge(signal, rows)) is not None]
    return found


@dataclass(frozen=True, eq=False)
class _ItemRows:
    """Items of many collections end to end, in true order: whose each is, where it stands, among how many; (items,)."""

    owner: Ints
    position: Ints
    length: Ints

    @classmethod
    def of(cls, collections: Sequence[Collection]) -> "_ItemRows":
        """The items of collections."""
        lengths = np.array([len(c) for c in collections])
        owner = np.repeat(np.arange(len(lengths)), lengths)
        starts = np.cumsum(lengths) - lengths
        return cls(owner, np.arange(len(owner)) - starts[owner], lengths[owner])


@dataclass(frozen=True, eq=False)
class _Signal:
    """One number per item, (items,), that may tell its position: its column ("" for titles), and what it is of that."""

    source: str
    what: str
    values: Floats


def _judge(signal: _Signal, rows: _ItemRows) -> Finding | None:
    columns = (signal.source,) if signal.source else ()
    subject = signal.what or "it"
    plural = signal.what.startswith(("the numbers", "its digits"))
    having = np.bincount(rows.owner, np.isfinite(signal.values)) > 2  # collections with three values or more
    share = 1.0 if signal.source else float(having.mean())
    where = "" if share > _MOST else f" in the {share:.0%} of the collections that have them"
    if _follows(signal.values, rows) and share > _SOME:
        return Finding(columns, f"{subject} follow{'' if plural else 's'} the order itself{where}", not where)
    if _explain(signal.values, rows) > _EXPLAINED and share > _SOME:
        return Finding(columns, f"{subject} tell{'' if plural else 's'} the position{where}", not where)
    sorted_ones = 0.0 if signal.source and signal.what else _monotone_share(signal.values, rows, of_all=True)
    if sorted_ones > _SOME:
        whose = signal.what or "its values"
        return Finding(
            columns, f"in {sorted_ones:.0%} of the collections the order is that of {whose}", throughout=False
        )
    return None


def _column_signals(name: str, values: Floats) -> Iterator[_Signal]:
    """A column (items,), which of its values are missing, and what hides in its digits."""
    yield _Signal(name, "", values)
    known = np.isfinite(values)
    if not known.all():
        yield _Signal(name, "which of its values are missing", (~known).astype(np.float64))
    if not known.any() or (values[known] == np.round(values[known])).all():
        return
    yield _Signal(name, "to how many digits it is rounded", _decimals(values))
    for places, ordinal in _DIGITS.items():
        scaled = values * 10.0**places
        hidden = scaled - np.round(scaled)
        if np.nanmax(np.abs(hidden)) > 1e-6 * np.nanmax(np.abs(scaled)):
            yield _Signal(name, f"its digits behind the {ordinal} decimal place", hidden)


def _title_signals(collections: Sequence[Collection]) -> Iterator[_Signal]:
    """The numbers in titles, their alphabetical order, and which items have none; nothing where there are no titles."""
    titles = [[title.casefold().strip() for title in c.texts("title")] for c in collections]
    if not any(title for own in titles for title in own):
        return
    yield _Signal("", "the numbers in them", np.concatenate([_numbers(own) for own in titles]))
    yield _Signal("", "their alphabetical order", np.concatenate([_ranks(own) for own in titles]))
    bare = np.concatenate([[float(not title) for title in own] for own in titles])
    if bare.any():
        yield _Signal("", "which items have none", bare)


def _within(values: Floats, owner: Ints) -> Floats:
    """Values less the mean of their collection, 0 where missing."""
    known = np.isfinite(values)
    sums = np.bincount(owner, np.where(known, values, 0.0))
    counts = np.maximum(np.bincount(owner, known.astype(np.float64)), 1)
    return np.where(known, values - (sums / counts)[owner], 0.0)


def _decimals(values: Floats) -> Floats:
    """How many decimal places each value has, at most 6."""
    found = np.full(len(values), float(_ROUNDED))
    for places in reversed(range(_ROUNDED)):
        exact = np.abs(values - np.round(values, places)) <= 1e-9 * np.maximum(1.0, np.abs(values))
        found[exact] = places
    return np.where(np.isfinite(values), found, np.nan)


def _numbers(titles: Sequence[str]) -> Floats:
    """The first number in each title; none at all where fewer than half have one."""
    found = [_NUMBER.search(title) for title in titles]
    numbers = np.array([float(each[0][:15]) if each else np.nan for each in found])
    return numbers if np.isfinite(numbers).sum() * 2 >= len(titles) else np.full(len(titles), np.nan)


def _ranks(titles: Sequence[str]) -> Floats:
    """Where each title stands among them in natural order, equal ones alike; NaN for an empty one."""
    keys: list[tuple[tuple[int, int, str], ...]] = [_natural_key(title) for title in titles]
    places = {key: float(rank) for rank, key in enumerate(sorted({key for key in keys if key}))}
    return np.array([places.get(key, np.nan) for key in keys])


def _natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sorting key that takes digits as numbers."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((0, int(part[:15]), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts) if part)


def _find_relations(columns: Columns, rows: _ItemRows) -> list[tuple[tuple[str, str], str]]:
    """Pairs of columns of which one steps by the other, or holds the other's next value; and what they do."""
    if len(columns) > _MOST_COLUMNS:
        return []
    same = rows.owner[1:] == rows.owner[:-1]
    mixed = np.lexsort((np.random.default_rng(0).random(len(rows.owner)), rows.owner))
    found = []
    for a, b in permutations(columns, 2):
        x, y = columns[a], columns[b]
        why = _relation(x, y, same)
        if why and not _relation(x[mixed], y[mixed], same, _BY_CHANCE):
            found.append(((a, b), why))
    return found


def _relation(x: Floats, y: Floats, same: Bools, holds: float = _HOLDS) -> str:
    """What holds between neighbours: x steps by y, or x is the next item's y."""
    step = np.diff(x)
    cases = (
        ("the steps of the first are the second", step, y[:-1]),
        ("the steps of the first are the second", step, y[1:]),
        ("the first holds the second of the next item", x[:-1], y[1:]),
        ("the first holds the second of the item before", x[1:], y[:-1]),
    )
    for why, left, right in cases:
        for sign in (1.0, -1.0) if left is step else (1.0,):
            if _equal_share(left, sign * right, same) > holds:
                return why
    return ""


def _equal_share(left: Floats, right: Floats, same: Bools) -> float:
    """At how many steps two quantities that vary are equal, to a thousandth of how much they vary."""
    both = same & np.isfinite(left) & np.isfinite(right)
    if both.sum() < 20:
        return 0.0
    a, b = left[both], right[both]
    scale = float(np.std(a))
    if scale <= 1e-12 * (1 + float(np.abs(a).max())):
        return 0.0
    return float((np.abs(a - b) <= 1e-3 * scale).mean())


def _find_sum(columns: Columns, rows: _ItemRows) -> tuple[str, ...]:
    """The columns whose weighted sum, or product, tells the position in collections that did not fit the weights."""
    if len(columns) < 2:
        return ()
    names, table = _candidates(columns, rows)
    places = rows.position.astype(np.float64), rows.position / np.maximum(rows.length - 1, 1)
    targets = [_within(where, rows.owner) for where in places]
    if len(table) < 10 * table.shape[1] or len(np.unique(rows.owner)) < 4:
        return ()
    best = max(targets, key=lambda y: _cross_fit(table, y, rows))
    whole = _cross_fit(table, best, rows)
    if whole < _EXPLAINED:
        return ()
    return _fewest(names, table, best, rows, whole)


def _candidates(columns: Columns, rows: _ItemRows) -> tuple[list[str], Floats]:
    """Columns and the logarithms of those above zero, less the mean of their collection, on one scale: (items, k)."""
    names, table = [], []
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        forms = [values]
        if len(known) and known.min() > 0:
            forms.append(np.log(np.where(values > 0, values, np.nan)))
        for form in forms:
            centred = _within(form, rows.owner)
            spread = float(centred.std())
            if spread > 1e-12:
                names.append(name)
                table.append(centred / spread)
    return names, np.stack(table, axis=1) if table else np.zeros((len(rows.owner), 0))


def _cross_fit(table: Floats, target: Floats, rows: _ItemRows) -> float:
    """R squared of a ridge regression on the half of the collections that it was not fitted on, both ways."""
    rest = 0.0
    for side in (0, 1):
        fit, held = rows.owner % 2 == side, rows.owner % 2 != side
        gram = table[fit].T @ table[fit] + 1e-6 * len(table) * np.eye(table.shape[1])
        weights = np.linalg.solve(gram, table[fit].T @ target[fit])
        rest += float(((target[held] - table[held] @ weights) ** 2).sum())
    total = float((target**2).sum())
    return 1.0 - rest / total if total else 0.0


def _fewest(names: list[str], table: Floats, target: Floats, rows: _ItemRows, whole: float) -> tuple[str, ...]:
    """The few columns, added one by one, that explain nearly what all do."""
    chosen: list[int] = []
    while len(chosen) < _MOST_TOGETHER:
        left = [i for i in range(len(names)) if i not in chosen]
        if not left:
            break
        fits = {i: _cross_fit(table[:, [*chosen, i]], target, rows) for i in left}
        best = max(fits, key=lambda i: fits[i])
        chosen.append(best)
        if fits[best] > 0.9 * whole:
            break
    return tuple(dict.fromkeys(names[i] for i in chosen))


def _follows(values: Floats, rows: _ItemRows) -> bool:
    """Whether a signal rises (or falls) with hardly a turn, new beginnings allowed, in all collections or in most."""
    known = np.isfinite(values)
    signal, owner = values[known], rows.owner[known]
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
    return _monotone_share(values, rows) > _MONOTONE


def _monotone_share(values: Floats, rows: _ItemRows, *, of_all: bool = False) -> float:
    """The share of collections (of those with four values, or of all) in which a signal never turns, beyond chance."""
    known = np.isfinite(values)
    signal, owner = values[known], rows.owner[known]
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
    out_of = rows.owner[-1] + 1 if of_all else judged.sum()
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


def _explain(values: Floats, rows: _ItemRows) -> float:
    """The share of a signal's variance within collections that positions explain, from either end or in parts."""
    centred = _within(values, rows.owner)
    spread = np.sqrt(np.bincount(rows.owner, centred**2) / np.bincount(rows.owner))[rows.owner]
    known = np.isfinite(values) & (spread > 1e-12 * (1 + np.abs(np.where(np.isfinite(values), values, 0.0))))
    scaled = centred[known] / spread[known]
    if len(scaled) < 40:
        return 0.0
    places = (
        rows.position,
        rows.length - 1 - rows.position,
        rows.length * 4096 + rows.position,
        _PARTS * rows.position // np.maximum(rows.length, 1),
    )
    return max(_r_squared(scaled, where[known]) for where in places)


def _r_squared(values: Floats, groups: Ints) -> float:
    """R squared by groups, adjusted for how many there are."""
    _, number = np.unique(groups, return_inverse=True)
    counts = np.bincount(number)
    if len(values) < 4 * len(counts):
        return 0.0
    means = np.bincount(number, values) / counts
    total = float((values**2).sum())
    rest = float(((values - means[number]) ** 2).sum())
    return 1.0 - rest / total * (len(values) - 1) / (len(values) - len(counts))
