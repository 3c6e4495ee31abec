"""Descent: Lloyd's algorithm for one set of templates, from sums that add up.

A step needs of all collections no more than sums over those nearest to each template, the sum of their errors, and
the few that fit worst. These of parts of the collections add up to those of all, so a step can be shared out:
:func:`step_sums` on each part, :meth:`StepSums.joined`, :meth:`Descent.take`. Apart from rounding, it is the same step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fabula.core.essence import Floats
from fabula.templates.costs import Costs

SEED_RIDGE = 0.05  # on the template of a single collection, whose few items may not determine it
_HOLD = 1e-8  # weight of a template's old values: decides what its collections leave open


@dataclass(frozen=True, eq=False)
class StepSums:
    """What a step needs to know of some collections under k templates with q knots.

    Attributes
    ----------
    quadratic, linear, members
        Shapes (k, q, q), (k, q) and (k,): sums of A, of b and of ones over the collections nearest to each template.
    error
        The sum of their errors.
    worst, fits
        Shapes (w,) and (w, q): the largest errors, at most k of them, largest first, and the template of each of these
        collections alone.
    """

    quadratic: Floats
    linear: Floats
    members: Floats
    error: float
    worst: Floats
    fits: Floats

    @property
    def collections(self) -> int:
        """How many collections there are."""
        return int(self.members.sum())

    @classmethod
    def joined(cls, parts: Sequence[StepSums]) -> StepSums:
        """The sums of all parts, in their order."""
        worst = np.concatenate([part.worst for part in parts])
        fits = np.concatenate([part.fits for part in parts])
        first = np.argsort(-worst, kind="stable")[: len(parts[0].members)]
        return cls(
            np.sum([part.quadratic for part in parts], axis=0),
            np.sum([part.linear for part in parts], axis=0),
            np.sum([part.members for part in parts], axis=0),
            float(np.sum([part.error for part in parts])),
            worst[first],
            fits[first],
        )


def step_sums(costs: Costs, values: Floats) -> StepSums:
    """What a step needs to know of collections under templates (k, q).

    Examples
    --------
    >>> from fabula.templates.costs import quadratic_costs
    >>> costs = quadratic_costs([[0.0, 1.0], [0.0, 1.2], [1.0, 0.0]], knots=[0, 1])
    >>> sums = step_sums(costs, np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> sums.members, round(sums.error, 6)
    (array([2., 1.]), 0.02)
    """
    k = len(values)
    label, error = costs.nearest(values[np.newaxis])
    quadratic, linear, members = costs.sums(label, k)
    worst = np.argsort(-error[0], kind="stable")[:k]
    fits = costs.curve_fits(worst, SEED_RIDGE)
    return StepSums(quadratic[0], linear[0], members[0], float(error[0].sum()), error[0][worst], fits)


def solved(quadratic: Floats, linear: Floats, members: Floats, values: Floats) -> Floats:
    """Templates (..., q) of least squared error for sums (..., q, q), (..., q) and (...,).

    A template's old values count a little, so that what its collections do not decide stays as it was; the cost
    cannot rise by that.
    """
    hold = _HOLD * np.maximum(members, 1.0)
    A = quadratic + hold[..., np.newaxis, np.newaxis] * np.eye(values.shape[-1])
    return np.asarray(np.linalg.solve(A, (linear + hold[..., np.newaxis] * values)[..., np.newaxis])[..., 0])


def moved(values: Floats, sums: StepSums) -> Floats:
    """Templates (k, q) after one step; one without collections is fitted to the collection that fits worst."""
    found = solved(sums.quadratic, sums.linear, sums.members, values)
    empty = np.flatnonzero(sums.members == 0)
    found[empty] = sums.fits[: len(empty)]
    return found


@dataclass
class Descent:
    """One set of templates on its way down.

    Attributes
    ----------
    values
        Shape (k, q): the set whose sums are wanted next.
    steps
        How many steps at most.
    best, followers
        The best set seen, and how many collections are nearest to each of its templates.
    history
        Its costs on the way.
    finished
        Whether it stands.
    """

    values: Floats
    steps: int
    best: Floats | None = None
    followers: Floats | None = None
    history: list[float] = field(default_factory=list)
    finished: bool = False

    def take(self, sums: StepSums) -> None:
        """Go on by the sums of all collections under ``values``."""
        cost = sums.error / sums.collections
        stands = bool(self.history) and cost >= self.history[-1] * (1 - 1e-9)
        if not stands or cost < self.history[-1]:
            self.best, self.followers = self.values, sums.members
            self.history.append(cost)
        self.finished = stands or len(self.history) > self.steps
        if not self.finished:
            self.values = moved(self.values, sums)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, to the last digit."""
        plain = {"values": self.values.tolist(), "steps": self.steps, "history": self.history}
        rest = {"best": self.best, "followers": self.followers}
        return {**plain, **{name: None if array is None else array.tolist() for name, array in rest.items()}}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Descent:
        """What :meth:`to_dict` gave."""
        best, followers = (None if document[key] is None else np.array(document[key]) for key in ("best", "followers"))
        return cls(np.array(document["values"]), document["steps"], best, followers, list(document["history"]))


def descend(costs: Costs, values: Floats, steps: int) -> tuple[Floats, Floats]:
    """Take one set (k, q) down until it stands: the best set seen, and its costs on the way."""
    way = Descent(values, steps)
    while not way.finished:
        way.take(step_sums(costs, way.values))
    return np.asarray(way.best), np.array(way.history)
