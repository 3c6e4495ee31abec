"""Fitting: an essence laid on a template (the paper's Algorithm 2), and items matched to positions exactly."""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from types import NoneType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Bools, Floats, Ints, as_essence, as_item, as_ordering, as_position, distances, quantise
from fabula.core.display import caption_html, curve_svg
from fabula.core.template import Template, check_dimensions
from fabula.errors import ConstraintError, InputError, brief, check_kind

# Exact matching of items to positions: smallest largest deviation first, smallest sum of deviations second.


def match_sorted(values: Floats, targets: Floats) -> Ints:
    """Lay numbers (n,) on targets (n,), exactly optimal in both senses; equal values keep their given order.

    >>> match_sorted(np.array([3.0, 1.0, 2.0]), np.array([0.0, 5.0, 9.0]))
    array([1, 2, 0])
    """
    items = np.argsort(values)
    positions = np.argsort(targets, kind="stable")  # a template has few runs: quick for a merge sort
    ranked = values[items]
    tied = ranked[1:] == ranked[:-1]
    if tied.any():
        run = np.concatenate([[0], np.cumsum(~tied)])  # equal values share a number
        start = run * len(items)
        items, positions = (np.sort(start + each) - start for each in (items, positions))  # within each run
    ordering = np.empty_like(items)
    ordering[positions] = items
    return ordering


def match_assignment(cost: Floats, *, floor: float = 0.0) -> Ints:
    """Lay items on positions by a table of deviations (n, n), ``inf`` where they may not stand: Algorithm 2, exact.

    Of all assignments the largest deviation is as small as can be, ``floor`` (of items fixed elsewhere) at least; of
    those, the sum is. A ConstraintError names items that share too few positions, where there is no assignment.

    >>> match_assignment(np.array([[0.0, 2.0], [1.0, np.inf]]))
    array([1, 0])
    """
    if not len(cost):
        return np.empty(0, dtype=np.intp)
    worst = _bottleneck(cost, floor)
    return np.argsort(assign_least(np.where(cost <= worst, cost, np.inf))[1])


def _bottleneck(cost: Floats, floor: float) -> float:
    """The smallest limit under which every item finds a position: an entry of ``cost``, or ``floor``."""
    low = max(floor, cost.min(axis=0).max(), cost.min(axis=1).max())
    if np.isfinite(low) and _feasible(cost, low):
        return float(low)
    finite = np.isfinite(cost)
    try:
        scaled = cost / (cost[finite].max(initial=0.0) or 1.0)
        position = assign_least(scaled**8)[1]  # close to the smallest maximum at once
    except ValueError:
        raise _shortage(finite) from None
    high = cost[np.arange(len(cost)), position].max()
    limits = np.unique(cost[(cost > low) & (cost <= high)])
    first = bisect_left(limits[:-1], 1, key=lambda limit: _feasible(cost, limit))  # the last is enough
    return float(limits[first])


def _feasible(cost: Floats, limit: float) -> bool:
    """Whether some assignment keeps every deviation within the limit."""
    try:
        assign_least(np.where(cost <= limit, 0.0, np.inf))
    except ValueError:
        return False
    return True


def assign_least(cost: Floats) -> tuple[Ints, Ints]:
    """Rows and columns of the smallest sum; a ValueError when the finite entries allow none. Loads SciPy when asked."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(cost)
    return rows, columns


def dual_prices(costs: Floats) -> tuple[Ints, Floats, Floats]:
    """The cheapest assignment of each of B tables (B, n, n), rows to columns, and prices of both that explain it.

    Shapes (B, n): the column of each row, and the prices of rows and of columns. No cell costs less than both of its
    prices together, and those that are assigned as much.
    """
    count, n, _ = costs.shape
    columns = np.array([assign_least(table)[1] for table in costs], dtype=np.intp).reshape(count, n)
    own = np.take_along_axis(costs, columns[:, :, np.newaxis], axis=2)[:, :, 0]
    price = np.zeros((count, n))
    for _ in range(n):  # Bellman and Ford: the cheapest way round by other cells
        row = own - np.take_along_axis(price, columns, axis=1)
        lower = np.minimum(price, (costs - row[:, :, np.newaxis]).min(axis=1))
        if np.array_equal(lower, price):
            break
        price = lower
    return columns, own - np.take_along_axis(price, columns, axis=1), price


def flow_prices(costs: Floats, flow: Floats) -> tuple[Ints, Floats]:
    """Orderings (B, n), and prices of items (B, n), by positions and by what neighbours cost on average.

    ``costs``, ``flow``: shape (B, n, n), items by positions, and items (columns) right after others (rows).
    """
    leaving = flow.mean(axis=2)
    standing = costs.copy()
    standing[:, :, :-1] += leaving[:, :, np.newaxis]
    standing[:, :, 1:] += (flow - leaving[:, :, np.newaxis]).mean(axis=1)[:, :, np.newaxis]
    places, prices, _ = dual_prices(standing)
    return np.argsort(places, axis=1), prices


def _shortage(allowed: Bools) -> ConstraintError:
    """Items that share too few positions (a violator of Hall's condition)."""
    # A largest matching leaves an item out; the items reached from it by alternating paths have one position too few.
    position = assign_least((~allowed).astype(np.float64))[1]
    owner = np.argsort(position)
    items = np.zeros(len(allowed), dtype=bool)
    items[np.argmin(allowed[np.arange(len(allowed)), position])] = True
    positions = allowed[items].any(axis=0)
    while not items[owner[positions]].all():
        items[owner[positions]] = True
        positions = allowed[items].any(axis=0)
    return ConstraintError(np.flatnonzero(items).tolist(), np.flatnonzero(positions).tolist())


# Equal items: which of them comes first is not for the order in which they were given to say.

Ties = Literal["random", "given"]

_TRIED = 8  # permutations, of which the one is taken that goes least with the order given
_SMALL = 256  # items up to which more than one is tried


def mixing(rows: Floats) -> Ints | None:
    """A permutation (n,) to show items in before they are ordered; None where no two rows (n, ...) are equal.

    Drawn from the values: the same items always give the same, which neither follows nor reverses the order given.
    """
    n = len(rows)
    if rows.ndim > 1 and rows.shape[1:] != (1,):
        tied = len(np.unique(rows.reshape(n, -1), axis=0)) < n
    else:
        ranked = np.sort(rows.reshape(-1))
        tied = bool((ranked[1:] == ranked[:-1]).any())
    if not tied:
        return None
    digest = hashlib.blake2b(np.ascontiguousarray(rows + 0.0).tobytes(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    drawn = [rng.permutation(n) for _ in range(_TRIED if n <= _SMALL else 1)]
    centred = np.arange(n) - (n - 1) / 2
    return min(drawn, key=lambda order: abs(float(centred @ order)))


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """An essence laid on a template."""

    ordering: Ints  # (n,): ``ordering[position] = item index``
    template: Template  # what it was laid on
    targets: Floats = field(repr=False)  # (n,) or (n, d): the template at each position
    deviations: Floats = field(repr=False)  # (n,): distance of each position's item from its target
    # whether no other ordering does better under the same constraints; of a mixture of arcs, by the one it follows
    exact: bool = True
    score: float | None = None  # how likely a model finds the ordering; None where no model was asked

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score:.3f}"
        return (
            f"<Fit of {len(self.ordering)} items to {self.template.name or 'a template'!r}: worst {self.worst:.3f}, "
            f"mean {self.mean:.3f}{score}, {'exact' if self.exact else 'not surely the best'}; "
            f"ordering {np.array2string(self.ordering, separator=', ', threshold=20)}>"
        )

    def _repr_html_(self) -> str:
        name = self.template.name or "template"
        ordering = np.array2string(self.ordering, separator=", ", threshold=60)
        dots = self.targets if self.targets.ndim == 1 else None
        curve = curve_svg(self.template.samples(81), label=f"the template {name}", dots=dots)
        told = f"largest deviation {self.worst:.3f}, mean {self.mean:.3f}; ordering {ordering}"
        return f"{caption_html(f'{len(self.ordering)} items along {name}')}{curve}<p>{escape(told)}</p>"

    @property
    def worst(self) -> float:
        """The largest deviation."""
        return float(self.deviations.max())

    @property
    def mean(self) -> float:
        """The mean deviation."""
        return float(self.deviations.mean())


def fit(
    essence: ArrayLike,
    template: Template,
    *,
    fixed: Mapping[int, int] | None = None,
    forbidden: Iterable[tuple[int, int]] = (),
    ties: Ties = "random",
) -> Fit:
    """Find the ordering that follows a template most closely (Algorithm 2 of the paper).

    Of all orderings that keep the constraints it has the smallest largest deviation, and of those the smallest
    mean deviation. The essence is taken on the template's own scale: pass ``normalise(x)`` for raw measurements.
    The result does not depend on the order in which the items come, except among equal items, which are mixed.

    Parameters
    ----------
    essence
        Shape (n,) or (n, d), finite.
    template
        With values of shape (knots,) or (knots, d).
    fixed
        position -> item; negative positions count from the end.
    forbidden
        Pairs (item, position) that must not occur; negative positions count from the end.
    ties
        What becomes of equal items. ``"random"``: mixed, always in the same way for the same essence, so that an
        essence in true order does not give that order away. ``"given"``: they keep the order they came in.

    Raises
    ------
    InputError
        On a malformed argument, or when the constraints cannot all hold.

    Examples
    --------
    >>> rise = Template(knots=[0, 1], values=[-1, 1])
    >>> fit([0.3, -1.0, 0.9], rise).ordering
    array([1, 0, 2])
    >>> fit([0.3, -1.0, 0.9], rise, fixed={0: 2}).ordering
    array([2, 1, 0])
    """
    values = as_essence(essence)
    n = len(values)
    check_kind(template, Template, "a Template, such as fabula.template('icarus')", "template")
    check_kind(fixed, (Mapping, NoneType), "items by position, such as {0: 7}", "fixed")
    check_dimensions(values, template)
    pinned = as_fixed(fixed or {}, n)
    try:
        banned = {(as_item(item, n), as_position(position, n) % n) for item, position in forbidden}
    except (TypeError, ValueError) as error:
        raise InputError(f"forbidden must be pairs (item, position); got {brief(forbidden)}") from error
    for item, position in banned:
        if pinned.get(position) == item:
            raise InputError(f"item {item} is fixed at position {position} and forbidden there")
    targets = template.samples(n)
    rows, goals = quantise(values).reshape(n, -1), quantise(targets).reshape(n, -1)  # (n, d)
    mixed = mixing(rows) if ties == "random" else None
    if mixed is None:
        ordering = _place(rows, goals, pinned, banned)
    else:
        shown = np.argsort(mixed)  # item -> where it is shown
        fixed_there = {position: int(shown[item]) for position, item in pinned.items()}
        try:
            ordering = mixed[_place(rows[mixed], goals, fixed_there, {(int(shown[i]), p) for i, p in banned})]
        except ConstraintError as error:
            raise ConstraintError(sorted(mixed[error.items].tolist()), error.places) from None
    return Fit(ordering, template, targets, distances(values[ordering].reshape(n, -1), targets.reshape(n, -1)))


def lay(essence: ArrayLike, ordering: ArrayLike, template: Template) -> Fit:
    """A given ordering beside a template, as a :class:`Fit` that claims nothing.

    >>> lay([0.0, 1.0], [1, 0], Template([0, 1], [0, 1])).worst
    1.0
    """
    values = as_essence(essence)
    order = as_ordering(ordering, len(values))
    targets = template.samples(len(values))
    deviations = distances(values[order].reshape(len(values), -1), targets.reshape(len(values), -1))
    return Fit(order, template, targets, deviations, exact=False)


def _place(rows: Floats, goals: Floats, pinned: dict[int, int], banned: set[tuple[int, int]]) -> Ints:
    """Place the pinned items, then match the free items (n, d) with the free positions (n, d)."""
    n = len(rows)
    if not pinned and not banned and rows.shape[1] == 1:
        return match_sorted(rows[:, 0], goals[:, 0])
    ordering = np.full(n, -1, dtype=np.intp)
    ordering[list(pinned)] = list(pinned.values())
    held, free = np.flatnonzero(ordering >= 0), np.flatnonzero(ordering < 0)
    items = np.setdiff1d(np.arange(n), ordering[held])
    if rows.shape[1] == 1 and not banned:
        ordering[free] = items[match_sorted(rows[items, 0], goals[free, 0])]
        return ordering
    allowed = np.ones((n, n), dtype=bool)
    for item, position in banned:
        allowed[item, position] = False
    floor = float(distances(rows[ordering[held]], goals[held]).max(initial=0.0))
    try:
        ordering[free] = items[_match_general(rows[items], goals[free], allowed[np.ix_(items, free)], floor)]
    except ConstraintError as error:
        raise ConstraintError(items[error.items].tolist(), free[error.places].tolist()) from None
    return ordering


def _match_general(rows: Floats, goals: Floats, allowed: Bools, floor: float) -> Ints:
    """Items (m, d) on positions (m, d) by the general solver; the order in which they came has no say."""
    rank = np.lexsort(rows.T[::-1])
    cost = distances(rows[rank, np.newaxis], goals[np.newaxis])  # (m, m)
    try:
        ordering = rank[match_assignment(np.where(allowed[rank], cost, np.inf), floor=floor)]
    except ConstraintError as error:
        raise ConstraintError(sorted(rank[error.items].tolist()), error.places) from None
    alike: dict[bytes, list[int]] = {}  # positions of items that nothing tells apart
    for position, item in enumerate(ordering):
        alike.setdefault((rows[item] + 0.0).tobytes() + allowed[item].tobytes(), []).append(position)
    for group in alike.values():
        ordering[group] = np.sort(ordering[group])
    return ordering


def as_fixed(fixed: Mapping[int, int], n: int) -> dict[int, int]:
    """Check ``fixed`` and count its positions from the start."""
    check_kind(fixed, Mapping, "items by position, such as {0: 7}", "fixed")
    pinned: dict[int, int] = {}
    for given, item in fixed.items():
        position, what = as_position(given, n) % n, as_item(item, n)
        if position in pinned:
            raise InputError(f"position {position} is fixed twice: for item {pinned[position]} and item {what}")
        for other, taken in pinned.items():
            if taken == what:
                raise InputError(f"item {what} is fixed twice: at position {other} and position {position}")
        pinned[position] = what
    return pinned
