"""Annealing: positions shared out anew, at best but for noise, and stretches turned or shifted, growing colder.

Positions of which no two are neighbours can be shared out among their items by one assignment, links included: a
step to the best of very many orderings. Noise on its costs plays the part of the temperature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.solver.budget import Budget
from fabula.core.solver.domains import Bools
from fabula.core.solver.instance import Instance
from fabula.core.solver.moves import shift

STRETCHES = 4  # batches of stretches per assignment
MOST_SHARED = 170  # positions per assignment, which takes the cube of their number
WITHIN = 0.6  # how often positions are shared out within each side, where lengths matter
RUNS = 6  # exchanges of runs per assignment
MOST_ROUNDS = 20_000


@dataclass(frozen=True, eq=False)
class _Tables:
    """The costs, padded with a dummy item n, which stands before the first position and behind the last."""

    problem: Instance
    link: Floats  # (n + 1, n + 1)
    loose: Bools  # (n,) items that are neither fixed nor in a run
    runs: list[tuple[int, ...]]


def anneal(problem: Instance, ordering: Ints, rng: np.random.Generator, budget: Budget, *, hot: float = 2.5) -> Ints:
    """The best ordering met on a walk that grows colder.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (n,), keeps the constraints, as every ordering on the walk does.
    rng
        Makes the walk.
    budget
        Spent to the end: the walk is as long as it permits.
    hot
        Noise at its start, in deviations of the links.
    """
    tables = _tables(problem)
    each = _round_cost(tables)
    rounds = min(int(budget.left / each), MOST_ROUNDS)
    heat = hot * _scale(problem)
    best, best_value = ordering, problem.value(ordering)
    for turn in range(rounds):
        warmth = heat * (1 - turn / rounds) ** 2
        ordering = _share_out(tables, ordering, warmth, rng)
        value = problem.value(ordering)
        for _ in range(STRETCHES):
            ordering, value = _stretches(tables, ordering, value, warmth / 5, rng)
        for number in rng.permutation(len(tables.runs))[:RUNS]:
            ordering, value = _exchange(tables, ordering, value, tables.runs[number], warmth, rng)
        if value < best_value:
            best, best_value = ordering, value
    budget.spend(rounds * each)
    return best


def _round_cost(tables: _Tables) -> float:
    """The work of one round."""
    n = len(tables.problem.cost)
    return 290.0 + 1.4 * n + min(len(tables.runs), RUNS) * (15.0 + 0.15 * n)


def _tables(problem: Instance) -> _Tables:
    n = len(problem.cost)
    link = np.zeros((n + 1, n + 1))
    link[:n, :n] = problem.link
    fixed = set(problem.constraints.fixed.values())
    loose = np.ones(n, dtype=bool)
    loose[list(fixed)] = False
    for run in problem.constraints.together:
        loose[list(run)] = False
    return _Tables(problem, link, loose, [run for run in problem.constraints.together if not fixed & set(run)])


def _scale(problem: Instance) -> float:
    """How much links differ, or, where they hardly do, a small part of what position costs do."""
    every = 1 + len(problem.cost) // 500  # of many items, some
    tables = (table[::every, ::every] for table in (problem.link, problem.cost))
    links, costs = (table[np.isfinite(table)] for table in tables)
    return max(float(links.std()) if len(links) else 0.0, 0.1 * float(costs.std()))


def _share_out(tables: _Tables, ordering: Ints, warmth: float, rng: np.random.Generator) -> Ints:
    """Share out positions, of which no two are neighbours, among their items."""
    from scipy.optimize import linear_sum_assignment

    n = len(ordering)
    chance = np.ones(n + 2)
    chance[1:-1] = rng.random(n)
    k = np.flatnonzero(tables.loose[ordering] & (chance[1:-1] < chance[:-2]) & (chance[1:-1] < chance[2:]))
    k = np.sort(rng.permutation(k)[:MOST_SHARED]) if len(k) > MOST_SHARED else k
    items = ordering[k]
    framed = np.concatenate([ordering, [n]])  # positions -1 and n: the dummy item
    cost = tables.problem.cost[np.ix_(items, k)]
    cost = cost + tables.link[np.ix_(framed[k - 1], items)].T + tables.link[np.ix_(items, framed[k + 1])]
    weighed = tables.problem.has_loads
    if weighed and rng.random() < WITHIN:  # what each zone holds stays the same
        zone = tables.problem.zone[k]
        cost[zone[:, np.newaxis] != zone] = np.inf
    rows, columns = linear_sum_assignment(cost + warmth * rng.random(cost.shape))
    out = ordering.copy()
    out[k[columns]] = items[rows]
    out = _mend(tables.problem, ordering, out) if tables.problem.before.size else out
    return ordering if weighed and tables.problem.overload(out) else out


def _mend(problem: Instance, ordering: Ints, out: Ints) -> Ints:
    """The new ordering, with those exchanges taken back that break ``before``: whole circles of them."""
    n = len(ordering)
    moves = np.argsort(ordering)[out]  # the item now at j came from moves[j]
    while True:
        place = np.argsort(out)
        bad = place[problem.before[0]] >= place[problem.before[1]]
        if not bad.any():
            return out
        for at in place[problem.before[:, bad]].ravel().tolist():
            for _ in range(n):
                out[at] = ordering[at]
                at = int(moves[at])
                if out[at] == ordering[at]:
                    break


def _stretches(
    tables: _Tables, ordering: Ints, value: float, warmth: float, rng: np.random.Generator
) -> tuple[Ints, float]:
    """Judge stretches that do not touch, each turned round or with an end moved to its other end."""
    n = len(ordering)
    k = np.arange(n)
    longest = np.log(max(3.0, min(n / 2, 60.0)))
    lengths = np.exp(rng.random(n // 3 + 1) * (longest - np.log(2)) + np.log(2)).astype(np.intp)
    starts = np.cumsum(lengths + 1) - lengths - 1 + int(rng.integers(0, 4))  # one position between two stretches
    count = int(np.searchsorted(starts + lengths, n, side="right"))
    if not count:
        return ordering, value
    starts, lengths = starts[:count], lengths[:count]
    number = np.searchsorted(starts, k, side="right") - 1
    first, length = starts[number], lengths[number]
    inside = (number >= 0) & (k < first + length)
    shift = rng.integers(-2, 3, size=count)[number]
    source = np.where(shift == 0, 2 * first + length - 1 - k, first + (k - first + shift) % length)
    trial = ordering[np.where(inside, source, k)]
    return _settle(tables, ordering, trial, value, np.where(inside, number, count), starts, warmth, rng)


def _settle(
    tables: _Tables,
    ordering: Ints,
    trial: Ints,
    value: float,
    number: Ints,
    starts: Ints,
    warmth: float,
    rng: np.random.Generator,
) -> tuple[Ints, float]:
    """Take the stretches of a trial that pass; ``number`` is the stretch of each position, ``len(starts)`` for none."""
    n, count = len(ordering), len(starts)
    k = np.arange(n)
    near = np.minimum(np.concatenate([number, [count]]), np.concatenate([[count], number]))  # of each link
    change = tables.problem.cost[trial, k] - tables.problem.cost[ordering, k]
    links = _links(tables, trial) - _links(tables, ordering)
    totals = np.bincount(number, change, count + 1) + np.bincount(near, links, count + 1)
    taken = totals[:count] < warmth * rng.standard_exponential(count)
    taken = np.concatenate([taken, [False]])
    out = np.where(taken[number], trial, ordering)
    before = tables.problem.before
    if before.size:
        place = np.argsort(out)
        bad = place[before[0]] >= place[before[1]]
        if bad.any():  # both of a broken pair are in one stretch
            taken[number[place[before[0, bad]]]] = False
            out = np.where(taken[number], trial, ordering)
    return out, value + float(totals[taken].sum())


def _links(tables: _Tables, ordering: Ints) -> Floats:
    """The n + 1 links of an ordering, from and to the dummy item included."""
    framed = np.concatenate([[len(ordering)], ordering, [len(ordering)]])
    return np.asarray(tables.link[framed[:-1], framed[1:]])


def _exchange(
    tables: _Tables, ordering: Ints, value: float, run: tuple[int, ...], warmth: float, rng: np.random.Generator
) -> tuple[Ints, float]:
    """Judge a run exchanged with a stretch of its length."""
    start = int(np.flatnonzero(ordering == run[0])[0])
    trial = _exchange_stretches(ordering, start, int(rng.integers(0, len(ordering) - len(run) + 1)), len(run))
    reached = tables.problem.value(trial)
    if reached - value < warmth * rng.standard_exponential() and tables.problem.keeps(trial):
        return trial, reached
    return ordering, value


def _exchange_stretches(ordering: Ints, i: int, j: int, length: int) -> Ints:
    """Two stretches of one length exchanged; moved instead where they overlap."""
    if abs(i - j) < length:
        return shift(ordering, i, j, length)
    out = ordering.copy()
    out[i : i + length], out[j : j + length] = ordering[j : j + length], ordering[i : i + length]
    return out
