"""Fitting: an essence laid on a template (the paper's Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Floats, Ints, as_essence, as_item, as_ordering, as_position, inverse
from fabula.core.display import caption_html, curve_svg
from fabula.core.matching import Ties, match_assignment, match_sorted, mixing
from fabula.core.template import Template
from fabula.errors import ConstraintError, InputError


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """An essence laid on a template.

    Attributes
    ----------
    ordering
        Shape (n,), ``ordering[position] = item index``.
    template
        What it was laid on.
    targets
        Shape (n,) or (n, d): the template at each position.
    deviations
        Shape (n,): distance of each position's item from its target.
    exact
        Whether no other ordering does better under the same constraints.
    score
        How likely a model finds the ordering; None where no model was asked.
    """

    ordering: Ints
    template: Template
    targets: Floats = field(repr=False)
    deviations: Floats = field(repr=False)
    exact: bool = True
    score: float | None = None

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
    if values.shape[1:] != template.values.shape[1:]:
        dimensions = 1 if values.ndim == 1 else values.shape[1]
        raise InputError(f"essence has {dimensions} dimension(s), template has {template.dimensions}: they must agree")
    pinned = as_fixed(fixed or {}, n)
    banned = as_forbidden(forbidden, n)
    for item, position in banned:
        if pinned.get(position) == item:
            raise InputError(f"item {item} is fixed at position {position} and forbidden there")
    targets = template.samples(n)
    rows, goals = values.reshape(n, -1), targets.reshape(n, -1)  # (n, d)
    mixed = mixing(values) if ties == "random" else None
    if mixed is None:
        ordering = _place(rows, goals, pinned, banned)
    else:
        shown = inverse(mixed)  # item -> where it is shown
        fixed_there = {position: int(shown[item]) for position, item in pinned.items()}
        ordering = mixed[_place(rows[mixed], goals, fixed_there, {(int(shown[i]), p) for i, p in banned})]
    return Fit(ordering, template, targets, distances(rows[ordering], goals))


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


def _match_general(rows: Floats, goals: Floats, allowed: NDArray[np.bool_], floor: float) -> Ints:
    """Items (m, d) on positions (m, d) by the general solver; the order in which they came has no say."""
    rank = np.lexsort(rows.T[::-1])
    cost = distances(rows[rank, np.newaxis], goals[np.newaxis])  # (m, m)
    ordering = rank[match_assignment(np.where(allowed[rank], cost, np.inf), floor=floor)]
    alike: dict[bytes, list[int]] = {}  # positions of items that nothing tells apart
    for position, item in enumerate(ordering):
        alike.setdefault((rows[item] + 0.0).tobytes() + allowed[item].tobytes(), []).append(position)
    for group in alike.values():
        ordering[group] = np.sort(ordering[group])
    return ordering


def distances(rows: Floats, goals: Floats) -> Floats:
    """Euclidean distance over the last axis."""
    difference = rows - goals
    if difference.shape[-1] == 1:
        return np.abs(difference[..., 0])
    return np.asarray(np.sqrt((difference**2).sum(axis=-1)))


def as_fixed(fixed: Mapping[int, int], n: int) -> dict[int, int]:
    """Check ``fixed`` and count its positions from the start."""
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


def as_forbidden(forbidden: Iterable[tuple[int, int]], n: int) -> set[tuple[int, int]]:
    """Check pairs (item, position) and count their positions from the start."""
    try:
        return {(as_item(item, n), as_position(position, n) % n) for item, position in forbidden}
    except TypeError as error:
        raise InputError(f"forbidden must be pairs (item, position); got {forbidden!r}") from error
