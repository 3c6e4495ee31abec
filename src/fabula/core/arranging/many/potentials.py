"""A bound of the sum over all sizes of sides at once: what items and targets are worth by themselves.

Under prices that explain the best matching on even sides, every other matching costs at least what its items and its
targets are worth. What the targets of a side are worth is known for each size; the sizes add up to what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.arranging.many.sizes import even_sizes
from fabula.core.essence import Floats
from fabula.core.template import Template

SLOPES = 60  # that are tried


@dataclass(frozen=True, eq=False)
class Pinned:
    """Items that stand at known targets: their values and these targets, shape (p,), both left out elsewhere."""

    values: Floats
    targets: Floats

    def cost(self, power: int) -> float:
        """What they cost."""
        return float((np.abs(self.values - self.targets) ** power).sum())


@dataclass(frozen=True, eq=False)
class Worth:
    """What items are worth by their values, and positions by their targets; never more in all than what it costs."""

    item: Callable[[Floats], Floats]
    target: Callable[[Floats], Floats]
    power: int

    def extra(self, values: Floats, targets: Floats) -> float:
        """What a run of items costs at least beyond its worth, on a side with these targets."""
        last = len(targets) - len(values) + 1
        if last < 1:
            return np.inf
        total = np.zeros(last)
        for o, value in enumerate(values.tolist()):
            there = targets[o : last + o]
            total += np.abs(there - value) ** self.power - self.target(there)
        return float(total.min() - self.item(values).sum())


def worth_bound(
    template: Template,
    values: Floats,
    sizes: range,
    sides: int,
    pinned: Pinned,
    power: int,
    runs: Sequence[Floats] = (),
) -> float:
    """What no ordering of all items gets below, whatever the sizes of its sides.

    Parameters
    ----------
    template
        What each side follows.
    values
        Shape (n - p,), sorted: the items that are not pinned.
    sizes, sides
        The sizes that each of so many sides can have.
    pinned
        The p other items.
    power
        Of deviations, 1 or 2, in the sum.
    runs
        The values of items that stand next to each other, none of them pinned.
    """
    kept = len(values) + len(pinned.values)
    even = np.concatenate([template.samples(size) for size in even_sizes(kept, sides)])
    for target in pinned.targets:
        even = np.delete(even, int(np.abs(even - target).argmin()))
    worth = (_plain if power == 1 else _squared)(values, np.sort(even))
    samples = [template.samples(size) for size in sizes]
    total = float(worth.item(values).sum()) - float(worth.target(pinned.targets).sum()) + pinned.cost(power)
    for run in runs:
        total += max(0.0, min(worth.extra(run, targets) for targets in samples))
    by_size = np.array([float(worth.target(targets).sum()) for targets in samples])
    return total + _least(np.array(sizes, dtype=np.float64), by_size, sides, kept)


def _least(sizes: Floats, worth: Floats, sides: int, kept: int) -> float:
    """The least that sides are worth in all: by the slope along which no size does better than the others."""
    mean = kept / sides
    near = np.abs(sizes - mean).argmin()
    with np.errstate(divide="ignore", invalid="ignore"):
        chords = (worth - worth[near]) / (sizes - sizes[near])
    chords = np.unique(chords[np.isfinite(chords)])
    if not len(chords):
        return sides * float(worth[near])
    slopes = np.quantile(chords, np.linspace(0.0, 1.0, SLOPES))
    return max(float(sides * (worth - slope * sizes).min() + slope * kept) for slope in slopes)


def _plain(values: Floats, targets: Floats) -> Worth:
    """For deviations: a function that never rises or falls by more than the distance."""
    points = np.unique(np.concatenate([values, targets]))
    count = np.searchsorted(targets, points, side="right") - np.searchsorted(values, points, side="right")
    height = np.concatenate([[0.0], np.cumsum(np.sign(count[:-1]) * np.diff(points))])
    return Worth(lambda at: np.interp(at, points, height), lambda at: -np.interp(at, points, height), 1)


def _squared(values: Floats, targets: Floats) -> Worth:
    """For squares: tangents, each the best between two targets."""
    middle = 0.5 * (targets[1:] + targets[:-1])
    height = np.concatenate([[0.0], np.cumsum(2 * np.diff(values) * middle)])

    def item(at: Floats) -> Floats:
        return np.asarray(at**2 - height[np.searchsorted(values, at)])

    def target(at: Floats) -> Floats:
        best = np.searchsorted(middle, at, side="left")
        return np.asarray(at**2 + height[best] - 2 * values[best] * at)

    return Worth(item, target, 2)
