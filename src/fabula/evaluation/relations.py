"""Columns that give the order away between them: running sums, differences, a neighbour's value, sums of columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np

from fabula.core.essence import Floats
from fabula.evaluation.signals import Laid, Mask, within

_MOST_COLUMNS = 64  # beyond, pairs are too many to look at
_HOLDS = 0.8  # share of steps at which a relation holds
_BY_CHANCE = 0.3  # share at which it may hold among shuffled items
_EXPLAINED = 0.7  # share of the positions' variance that columns explain together
_MOST_TOGETHER = 4  # columns named

Columns = Mapping[str, Floats]


def related_columns(columns: Columns, laid: Laid) -> list[tuple[tuple[str, str], str]]:
    """Pairs of columns of which one steps by the other, or holds the other's next value; and what they do.

    Parameters
    ----------
    columns
        Name -> values (items,).
    laid
        Whose they are.
    """
    if len(columns) > _MOST_COLUMNS:
        return []
    same = laid.owner[1:] == laid.owner[:-1]
    mixed = np.lexsort((np.random.default_rng(0).random(len(laid.owner)), laid.owner))
    found = []
    for a, b in permutations(columns, 2):
        x, y = columns[a], columns[b]
        why = _relation(x, y, same)
        if why and not _relation(x[mixed], y[mixed], same, _BY_CHANCE):
            found.append(((a, b), why))
    return found


def _relation(x: Floats, y: Floats, same: Mask, holds: float = _HOLDS) -> str:
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


def _equal_share(left: Floats, right: Floats, same: Mask) -> float:
    """At how many steps two quantities that vary are equal, to a thousandth of how much they vary."""
    both = same & np.isfinite(left) & np.isfinite(right)
    if both.sum() < 20:
        return 0.0
    a, b = left[both], right[both]
    scale = float(np.std(a))
    if scale <= 1e-12 * (1 + float(np.abs(a).max())):
        return 0.0
    return float((np.abs(a - b) <= 1e-3 * scale).mean())


def telling_sum(columns: Columns, laid: Laid) -> tuple[str, ...]:
    """The columns whose weighted sum, or product, tells the position in collections that did not fit the weights.

    Parameters
    ----------
    columns
        Name -> values (items,), none of which tells the position alone.
    laid
        Whose they are.
    """
    if len(columns) < 2:
        return ()
    names, table = _candidates(columns, laid)
    targets = [within(where, laid.owner) for where in _positions(laid)]
    if len(table) < 10 * table.shape[1] or len(np.unique(laid.owner)) < 4:
        return ()
    best = max(targets, key=lambda y: _held_out_fit(table, y, laid))
    whole = _held_out_fit(table, best, laid)
    if whole < _EXPLAINED:
        return ()
    return _fewest(names, table, best, laid, whole)


def _positions(laid: Laid) -> tuple[Floats, Floats]:
    """The position, and the position by the length."""
    return laid.position.astype(np.float64), laid.position / np.maximum(laid.length - 1, 1)


def _candidates(columns: Columns, laid: Laid) -> tuple[list[str], Floats]:
    """Columns and the logarithms of those above zero, less the mean of their collection, on one scale: (items, k)."""
    names, table = [], []
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        forms = [values]
        if len(known) and known.min() > 0:
            forms.append(np.log(np.where(values > 0, values, np.nan)))
        for form in forms:
            centred = within(form, laid.owner)
            spread = float(centred.std())
            if spread > 1e-12:
                names.append(name)
                table.append(centred / spread)
    return names, np.stack(table, axis=1) if table else np.zeros((len(laid.owner), 0))


def _held_out_fit(table: Floats, target: Floats, laid: Laid) -> float:
    """R squared of a ridge regression on the half of the collections that it was not fitted on, both ways."""
    rest = 0.0
    for side in (0, 1):
        fit, held = laid.owner % 2 == side, laid.owner % 2 != side
        gram = table[fit].T @ table[fit] + 1e-6 * len(table) * np.eye(table.shape[1])
        weights = np.linalg.solve(gram, table[fit].T @ target[fit])
        rest += float(((target[held] - table[held] @ weights) ** 2).sum())
    total = float((target**2).sum())
    return 1.0 - rest / total if total else 0.0


def _fewest(names: list[str], table: Floats, target: Floats, laid: Laid, whole: float) -> tuple[str, ...]:
    """The few columns, added one by one, that explain nearly what all do."""
    chosen: list[int] = []
    while len(chosen) < _MOST_TOGETHER:
        left = [i for i in range(len(names)) if i not in chosen]
        if not left:
            break
        fits = {i: _held_out_fit(table[:, [*chosen, i]], target, laid) for i in left}
        best = max(fits, key=lambda i: fits[i])
        chosen.append(best)
        if fits[best] > 0.9 * whole:
            break
    return tuple(dict.fromkeys(names[i] for i in chosen))
