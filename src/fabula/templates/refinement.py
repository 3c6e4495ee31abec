"""Refinement: templates by Lloyd's algorithm, from many starts at once.

Each collection goes to the template nearest to it, each template becomes the one of least squared error for its
collections, and so on until nothing moves. No step can raise the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.errors import InputError
from fabula.templates.costs import TemplateCosts, as_count

SEED_RIDGE = 0.05  # on the template of a single collection, whose few items may not determine it
_HOLD = 1e-8  # weight of a template's old values: decides what its collections leave open


Progress = Callable[[int, int, float], None]  # steps done, steps in all (at most), best cost so far

_RACE_STEPS = 6
_SAMPLE = 8192  # collections that the starts race on; the winner is refined on all


@dataclass(frozen=True, eq=False)
class Refinement:
    """Templates found by refinement, and how it went.

    Attributes
    ----------
    values
        Shape (k, q): knot values of the templates.
    cost
        Mean over collections of the smallest mean squared error.
    history
        Cost of the winner at its start and after each step; it never rises. Where the race was held on a sample,
        from the end of the race on.
    starts
        Shape (starts,): the cost at which each start left the race, best first.
    """

    values: Floats
    cost: float
    history: Floats
    starts: Floats


@dataclass(frozen=True)
class RefinementSettings:
    """How templates are refined: from how many starts, and in how many steps at most."""

    starts: int = 48
    steps: int = 300

    def __post_init__(self) -> None:
        if self.starts < 1 or self.steps < 1:
            raise InputError(f"refinement needs at least 1 start and 1 step; got {self.starts} and {self.steps}")


def refine(
    costs: TemplateCosts,
    k: int,
    *,
    rng: np.random.Generator,
    settings: RefinementSettings | None = None,
    initial: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Refinement:
    """Learn k templates by Lloyd's algorithm from many starts.

    The starts race: all take a few steps, a third of them, those with the smallest cost, go on to the end. With
    very many collections the race is held on a sample, and its winner refined on all.

    Parameters
    ----------
    costs
        Of the collections to learn from.
    k
        How many templates, 1 to the number of collections.
    settings
        How many starts and steps.
    initial
        Shape (s, k, q): sets of templates to start from besides, an evolved population for instance. The result is
        never worse than the best of them.
    progress
        Called as ``progress(done, total, best_cost)``.

    Examples
    --------
    >>> from fabula.templates.costs import quadratic_costs
    >>> costs = quadratic_costs([[0.0, 1.0], [0.0, 1.2], [1.0, 0.0]], knots=[0, 1])
    >>> found = refine(costs, 2, rng=np.random.default_rng(0))
    >>> round(found.cost, 6)
    0.003333
    """
    as_count(k, len(costs))
    how = settings or RefinementSettings()
    rows = sample_rows(len(costs), k, rng)
    sample = costs if rows is None else costs.take(rows)
    given = _as_initial(initial, k, len(costs.knots))
    values, cost, trace = race(sample, k, rng, how, given, progress)
    ranked = np.argsort(cost, kind="stable")
    finalists = np.concatenate([values[ranked[:1]], given])
    winner = int(np.argmin(costs.of(finalists)))
    best, history = descend(costs, finalists[winner], how.steps)
    if sample is costs and winner == 0:
        history = np.concatenate([trace[ranked[0]][:-1], history])
    if progress is not None:
        progress(how.steps, how.steps, float(history[-1]))
    return Refinement(best, float(history[-1]), history, cost[ranked])


def race(
    costs: TemplateCosts,
    k: int,
    rng: np.random.Generator,
    how: RefinementSettings,
    given: Floats,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, list[list[float]]]:
    """Let many starts, and those given (s, k, q), take a few steps and the better ones go on until they stand.

    Returns
    -------
    Sets (starts, k, q), their costs (starts,), and the costs of each on the way.
    """
    values = np.concatenate([given, _scatter(costs, k, how.starts, rng)])
    steps = how.steps
    cost = np.full(len(values), np.inf)
    trace: list[list[float]] = [[] for _ in values]
    running = np.arange(len(values))
    for step in range(steps):
        moved, now = lloyd_step(costs, values[running])
        better = now < cost[running] * (1 - 1e-6)
        cost[running] = now
        for start, height in zip(running.tolist(), now.tolist(), strict=True):
            trace[start].append(height)
        if step == _RACE_STEPS:
            better &= now <= np.sort(now)[len(now) // 3]
        values[running[better]] = moved[better]
        running = running[better]
        if progress is not None:
            progress(step + 1, steps, float(cost.min()))
        if not len(running):
            break
    return values, costs.of(values), trace


def _scatter(costs: TemplateCosts, k: int, starts: int, rng: np.random.Generator) -> Floats:
    """Starting templates (starts, k, q), each fitted to one collection, spread as k-means++ spreads its seeds."""
    rows = rng.integers(len(costs), size=starts)
    found = [costs.curve_fits(rows, SEED_RIDGE)]
    error = costs.errors(found[0]).T  # (starts, m)
    for _ in range(1, k):
        height = np.cumsum(error, axis=1)
        aim = rng.random(starts) * height[:, -1]
        rows = np.minimum((height < aim[:, np.newaxis]).sum(axis=1), len(costs) - 1)
        found.append(costs.curve_fits(rows, SEED_RIDGE))
        error = np.minimum(error, costs.errors(found[-1]).T)
    return np.stack(found, axis=1)


def lloyd_step(costs: TemplateCosts, values: Floats) -> tuple[Floats, Floats]:
    """One step for s sets of templates (s, k, q): the moved sets, and the cost (s,) of the sets as they were.

    A template without collections is fitted to the collection that fits worst.
    """
    k = values.shape[1]
    label, error = costs.nearest(values)
    A, b, members = costs.sums(label, k)
    moved = _solve_knots(A, b, members, values)
    for i in np.flatnonzero((members == 0).any(axis=1)).tolist():
        empty = np.flatnonzero(members[i] == 0)
        worst = np.argsort(-error[i], kind="stable")[: len(empty)]
        moved[i, empty] = costs.curve_fits(worst, SEED_RIDGE)
    return moved, np.asarray(error.mean(axis=1))


def sample_rows(collections: int, k: int, rng: np.random.Generator) -> Ints | None:
    """The collections that the starts race on, rising; None for all, unless they are very many."""
    size = max(_SAMPLE, 64 * k)
    return None if collections <= size else np.sort(rng.choice(collections, size, replace=False))


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
    def join(cls, parts: Sequence[StepSums]) -> StepSums:
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


def step_sums(costs: TemplateCosts, values: Floats) -> StepSums:
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
            self.values = move_templates(self.values, sums)

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


def descend(costs: TemplateCosts, values: Floats, steps: int) -> tuple[Floats, Floats]:
    """Take one set (k, q) down until it stands: the best set seen, and its costs on the way."""
    way = Descent(values, steps)
    while not way.finished:
        way.take(step_sums(costs, way.values))
    return np.asarray(way.best), np.array(way.history)


def move_templates(values: Floats, sums: StepSums) -> Floats:
    """Templates (k, q) after one step; one without collections is fitted to the collection that fits worst."""
    found = _solve_knots(sums.quadratic, sums.linear, sums.members, values)
    empty = np.flatnonzero(sums.members == 0)
    found[empty] = sums.fits[: len(empty)]
    return found


def _solve_knots(quadratic: Floats, linear: Floats, members: Floats, values: Floats) -> Floats:
    """Templates (..., q) of least squared error for sums (..., q, q), (..., q) and (...,)."""
    hold = _HOLD * np.maximum(members, 1.0)
    A = quadratic + hold[..., np.newaxis, np.newaxis] * np.eye(values.shape[-1])
    return np.asarray(np.linalg.solve(A, (linear + hold[..., np.newaxis] * values)[..., np.newaxis])[..., 0])


def _as_initial(initial: ArrayLike | None, k: int, q: int) -> Floats:
    if initial is None:
        return np.empty((0, k, q))
    given = np.asarray(initial, dtype=np.float64)
    if given.ndim != 3 or given.shape[1:] != (k, q) or not np.isfinite(given).all():
        raise InputError(f"initial templates must be finite, of shape (s, {k}, {q}); got {given.shape}")
    return given
