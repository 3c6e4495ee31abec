"""Steps: how far it is from one item to the next, part by part, each in a unit people know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.errors import InputError


@dataclass(frozen=True, eq=False)
class Step:
    """One part of a step."""

    # name, unit: What is compared, and in what
    name: str
    unit: str
    # Shape (n, n), not negative: from each item to each as its follower; or a function that measures it, each time it
    # is asked for, where many items make many large tables
    measured: Floats | Callable[[], Floats]
    weight: float = 1.0  # How much it counts beside the others; 0: only where it is asked for by name
    certainty: Floats | None = None  # How sure each distance is, 0 to 1, shape (n, n); None: all of them are

    @property
    def distance(self) -> Floats:
        """From each item to each as its follower: shape (n, n)."""
        return self.measured() if callable(self.measured) else self.measured

    @property
    def expectation(self) -> Floats:
        """The distances as they count, about 1 on average: one that is not sure counts as an average one in part."""
        distance = self.distance
        mean = _mean(distance)
        sure = 1.0 if self.certainty is None else self.certainty
        expected = sure * distance + (1.0 - sure) * mean
        return np.asarray(expected / mean if mean > 0 else expected)


@dataclass(frozen=True, eq=False)
class Steps:
    """What lies between neighbours: one part or more."""

    parts: tuple[Step, ...]  # one or more

    @property
    def active(self) -> tuple[Step, ...]:
        """The parts that count; all of them where none has a weight."""
        return tuple(part for part in self.parts if part.weight) or self.parts

    @property
    def table(self) -> Floats:
        """The weighted mean of the parts, each about 1 on average: shape (n, n)."""
        weights = [part.weight or 1.0 for part in self.active]
        total = sum(weight * part.expectation for weight, part in zip(weights, self.active, strict=True))
        return np.asarray(total / sum(weights))

    def reweigh(self, by: Mapping[str, float]) -> Steps:
        """The same steps, of which these count, with these weights above 0; an InputError for an unknown name.

        >>> both = Steps((Step("size", "cm", np.eye(2)), Step("age", "years", np.eye(2))))
        >>> [part.name for part in both.reweigh({"age": 2.0}).active]
        ['age']
        """
        known = [part.name for part in self.parts]
        for name, weight in by.items():
            if name not in known:
                there = ", ".join(known)
                raise InputError(
                    f"no step between these items is called {name!r}; there are: {there}", field="smooth_by"
                )
            if not 0 < weight < np.inf:
                raise InputError(f"a weight must be above 0; got {weight:g} for {name}", field="smooth_by")
        return Steps(tuple(replace(part, weight=by.get(part.name, 0.0)) for part in self.parts))


@dataclass(frozen=True)
class Change:
    """A part of the steps before and after ordering: mean and worst, in its unit."""

    name: str
    unit: str
    mean: tuple[float, float]
    worst: tuple[float, float]


def changes(steps: Steps, before: Ints, after: Ints, breaks: Sequence[int] = ()) -> list[Change]:
    """What an ordering changed, part by part, from ``before`` to ``after``: two orderings of some of the items.

    The step across one of the ``breaks``, positions of ``after`` at which a new side begins, is none.
    """
    found = []
    for part in steps.active:
        distance = part.distance
        was, now = _along(distance, before), np.delete(_along(distance, after), [b - 1 for b in breaks])
        if len(was) and len(now):
            mean, worst = (float(was.mean()), float(now.mean())), (float(was.max()), float(now.max()))
            found.append(Change(part.name, part.unit, mean, worst))
    return found


def essence_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps where nothing else is known: the distance between essences (n,) or (n, d), in deviations."""
    rows = essence.reshape(len(collection), -1)
    return Steps((Step("essence", "deviations", np.sqrt(((rows[:, np.newaxis] - rows) ** 2).sum(axis=2))),))


def _along(distance: Floats, ordering: Ints) -> Floats:
    return np.asarray(distance[ordering[:-1], ordering[1:]])


def _mean(distance: Floats) -> float:
    """Of the distances between different items."""
    n = len(distance)
    return float((distance.sum() - np.trace(distance)) / (n * (n - 1))) if n > 1 else 0.0
