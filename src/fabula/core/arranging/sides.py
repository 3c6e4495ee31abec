"""Sides: a collection split into a few sides within a time limit, each with an arc of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arranging import conflicts
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.durations import as_clocks, as_durations, as_limit
from fabula.core.arranging.search import Arrangement, arrange
from fabula.core.arranging.split import Task, splits
from fabula.core.arranging.units import units
from fabula.core.essence import Floats, as_essence
from fabula.core.ordering import Ints
from fabula.core.template import Template
from fabula.errors import ConflictError, ConstraintError, InputError


@dataclass(frozen=True, eq=False)
class Sides:
    """A collection on several sides.

    Attributes
    ----------
    sides
        The items of each side, in order.
    arrangements
        Of each side by itself: indices within it count its items by rising index.
    durations
        Seconds each side takes.
    exact
        Whether no other split does better and each side is exact.
    """

    sides: tuple[Ints, ...]
    arrangements: tuple[Arrangement, ...]
    durations: tuple[float, ...]
    exact: bool

    @property
    def ordering(self) -> Ints:
        """Shape (n,): the sides one after the other."""
        return np.concatenate(self.sides)


def arrange_sides(
    essence: ArrayLike,
    template: Template,
    durations: ArrayLike,
    *,
    sides: int = 2,
    limit: float | None = None,
    constraints: Constraints | None = None,
    transitions: ArrayLike | None = None,
    smoothness: float = 0.0,
    seed: int = 0,
    seconds: float = 1.5,
) -> Sides:
    """Split a collection into sides and lay each along the template.

    The split makes the mean deviation from the template, which each side follows from its beginning to its end,
    plus the difference between the longest and the shortest side as a part of their mean, small. Up to about 12
    units on two sides every split is looked at, beyond it is searched. Then each side is arranged by itself.
    Positions of the constraints are those in the whole; runs stay on one side; ``before`` holds across sides; the
    last item of a side and the first of the next are no neighbours.

    Parameters
    ----------
    essence
        Shape (n,) or (n, d), finite, on the template's scale.
    template
        With values of shape (knots,) or (knots, d).
    durations
        Shape (n,), in seconds.
    sides
        How many, 1 or more; none stays empty.
    limit
        The seconds one side may take at most.
    constraints, transitions, smoothness, seed, seconds
        As for :func:`fabula.core.arranging.search.arrange`.

    Raises
    ------
    ConflictError
        When no split keeps the limit and the constraints.

    Examples
    --------
    >>> found = arrange_sides([-1, 1, -1, 1], Template([0, 1], [-1, 1]), [3, 4, 4, 3], limit=7)
    >>> [side.tolist() for side in found.sides], found.durations
    ([[0, 1], [2, 3]], (7.0, 7.0))
    """
    values = as_essence(essence)
    n = len(values)
    times = as_durations(durations, n)
    kept = constraints or Constraints(n)
    if kept.n != n:
        raise InputError(f"the constraints are for {kept.n} items; got {n}")
    if sides < 1:
        raise InputError(f"sides must be at least 1; got {sides}")
    conflicts.check(kept)
    task = Task(values.reshape(n, -1), template, times, sides, as_limit(limit), kept, units(kept))
    _check_room(task)
    found, exact = splits(task, np.random.default_rng(seed))
    if not found:
        raise conflicts.told(kept, _no_split(task, proven=exact))
    table = None if transitions is None else np.asarray(transitions, dtype=np.float64)
    return _first_that_holds(task, found, values, table, smoothness, seed, seconds, exact=exact)


def _first_that_holds(
    task: Task,
    found: list[Ints],
    values: Floats,
    table: Floats | None,
    smoothness: float,
    seed: int,
    seconds: float,
    *,
    exact: bool,
) -> Sides:
    """Arrange the sides of the best split; of the next where that cannot keep its constraints."""
    error: InputError | None = None
    for rank, split in enumerate(found):
        groups = [np.flatnonzero(split[task.parts.of] == side) for side in range(task.sides)]
        starts = np.cumsum([0, *(len(group) for group in groups)])
        try:
            done = tuple(
                arrange(
                    values[group],
                    task.template,
                    constraints=_restricted(task.kept, group, int(start)),
                    transitions=None if table is None else table[np.ix_(group, group)],
                    smoothness=smoothness,
                    seed=seed,
                    seconds=seconds / task.sides,
                )
                for group, start in zip(groups, starts, strict=False)
            )
        except (ConflictError, ConstraintError) as problem:
            error = problem
            continue
        laid = tuple(group[part.ordering] for group, part in zip(groups, done, strict=True))
        lengths = tuple(float(task.durations[group].sum()) for group in groups)
        alone = smoothness == 0 and task.kept.places_only and not task.kept.forbidden
        best = exact and rank == 0 and alone and not task.kept.fixed and all(part.fit.exact for part in done)
        return Sides(laid, done, lengths, exact=best)
    raise conflicts.told(task.kept, _no_split(task, proven=False)) from error


def _restricted(kept: Constraints, group: Ints, start: int) -> Constraints:
    """The constraints of the items of a group, which takes the positions from ``start`` on."""
    number = {int(item): k for k, item in enumerate(group)}
    stop = start + len(group)
    return Constraints(
        len(group),
        fixed={place - start: number[item] for place, item in kept.fixed.items() if start <= place < stop},
        forbidden=[(number[i], p - start) for i, p in kept.forbidden if i in number and start <= p < stop],
        together=[[number[item] for item in run] for run in kept.together if run[0] in number],
        before=[(number[a], number[b]) for a, b in kept.before if a in number and b in number],
        apart=None if kept.apart is None else kept.apart[group],
    )


def _check_room(task: Task) -> None:
    """Say what can never fit on the sides."""
    if len(task.parts.members) < task.sides:
        raise ConflictError(
            f"{task.sides} sides need as many items or runs; got {len(task.parts.members)}", [], ["sides"]
        )
    if not np.isfinite(task.limit):
        return
    for run in task.parts.members:
        time = float(task.durations[list(run)].sum())
        if time > task.limit * (1 + 1e-12):
            named = " and ".join(["{}"] * len(run)) + (" alone take" if len(run) > 1 else " alone takes")
            most, taken = as_clocks(task.limit, time)
            raise ConflictError(f"a side may take {most}; {named} {taken}", run, ["sides", "limit"])
    total = float(task.durations.sum())
    if total > task.sides * task.limit * (1 + 1e-12):
        most, room, taken = as_clocks(task.limit, task.sides * task.limit, total)
        raise ConflictError(
            f"{task.sides} side(s) of {most} hold {room}; the items take {taken}", [], ["sides", "limit"]
        )


def _no_split(task: Task, *, proven: bool) -> str:
    within = f" of at most {as_clocks(task.limit)[0]}" if np.isfinite(task.limit) else ""
    verb = "there is no" if proven else "found no"
    return f"{verb} split into {task.sides} sides{within} that keeps the constraints"
