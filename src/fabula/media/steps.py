"""Steps: how far it is from one item to the next, part by part, each in a unit people know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints


@dataclass(frozen=True, eq=False)
class Step:
    """One part of a step.

    Attributes
    ----------
    name, unit
        What is compared, and in what.
    distance
        Shape (n, n), not negative: from each item to each as its follower.
    """

    name: str
    unit: str
    distance: Floats


@dataclass(frozen=True, eq=False)
class Steps:
    """What lies between neighbours.

    Attributes
    ----------
    parts
        One or more.
    """

    parts: tuple[Step, ...]

    @property
    def table(self) -> Floats:
        """The mean of the parts, each about 1 on average: shape (n, n)."""
        return np.asarray(np.mean([_scaled(part.distance) for part in self.parts], axis=0))


@dataclass(frozen=True)
class Change:
    """A part of the steps before and after ordering: mean and worst, in its unit."""

    name: str
    unit: str
    mean: tuple[float, float]
    worst: tuple[float, float]


def changes(steps: Steps, before: Ints, after: Ints, breaks: Sequence[int] = ()) -> list[Change]:
    """What an ordering changed, part by part.

    Parameters
    ----------
    steps
        Between n items.
    before, after
        Two orderings of some of the items.
    breaks
        Positions of ``after`` at which a new side begins: the step across is none.
    """
    found = []
    for part in steps.parts:
        was, now = _taken(part.distance, before), np.delete(_taken(part.distance, after), [b - 1 for b in breaks])
        if len(was) and len(now):
            mean, worst = (float(was.mean()), float(now.mean())), (float(was.max()), float(now.max()))
            found.append(Change(part.name, part.unit, mean, worst))
    return found


def essence_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps where nothing else is known: the distance between essences, in deviations.

    Parameters
    ----------
    collection
        n items.
    essence
        Shape (n,) or (n, d).
    """
    rows = essence.reshape(len(collection), -1)
    return Steps((Step("essence", "deviations", np.sqrt(((rows[:, np.newaxis] - rows) ** 2).sum(axis=2))),))


def _taken(distance: Floats, ordering: Ints) -> Floats:
    return np.asarray(distance[ordering[:-1], ordering[1:]])


def _scaled(distance: Floats) -> Floats:
    n = len(distance)
    mean = distance.sum() / (n * (n - 1)) if n > 1 else 0.0
    return distance / mean if mean > 0 else distance
