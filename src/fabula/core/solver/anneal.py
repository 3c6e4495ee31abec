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
from fabula.core.solver.instance import Instance
from fabula.core.solver.moves import shift

STRETCHES = 5  # batches of stretches per assignment
PATTERNS = 256  # batches that are drawn, and used again
MOST_SHARED = 170  # positions per assignment, which takes the cube of their number
WITHIN = 0.6  # how often positions are shared out within each side, where lengths matter
RUNS = 6  # exchanges of runs per assignment
MOST_ROUNDS = 20_000


def anneal(problem: Instance, ordering: Ints, rng: np.random.Generator, budget: Budget, *, hot: float = 2.5) -> Ints:
    """The best ordering met on a walk that grows colder.

    ``problem``: the costs. ``ordering``: shape (n,), keeps the constraints, as every ordering on the walk does.
    ``rng``: makes the walk. ``budget``: spent to the end: the walk is as long as it permits. ``hot``: noise at its
    start, in deviations of the links.
    """
    walk = _Walk(problem, ordering, rng)
    each = walk.round_cost
    rounds = min(int(budget.left / each), MOST_ROUNDS)
    heat = hot * _scale(problem)
    best, best_value = ordering, walk.value
    for turn in range(rounds):
        warmth = heat * (1 - turn / rounds) ** 2
        walk.share_out(warmth)
        for number in walk.rng.integers(0, len(walk.patterns), size=STRETCHES).tolist():
            walk.try_stretches(walk.patterns[number], warmth / 5)
        for number in rng.permutation(len(walk.runs))[:RUNS] if walk.runs else ():
            walk.try_exchange(walk.runs[number], warmth)
        if walk.value < best_value:
            best, best_value = walk.ordering, walk.value
    budget.spend(max(rounds, 0) * each)
    return best


def _scale(problem: Instance) -> float:
    """How much links differ, or, where they hardly do, a small part of what position costs do."""
    every = 1 + len(problem.cost) // 500  # of many items, some
    tables = (table[::every, ::every] for table in (problem.link, problem.cost))
    links, costs = (table[np.isfinite(table)] for table in tables)
    return max(float(links.std()) if len(links) else 0.0, 0.1 * float(costs.std()))


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Stretches that do not touch, each turned round or with an end moved to its other end."""

    source: Ints  # (n,) the position from which each position takes its item
    number: Ints  # (n,) the stretch of each position; ``count`` for none
    near: Ints  # (n + 1,) the stretch that each link touches; ``count`` for none
    count: int


def _pattern(n: int, rng: np.random.Generator) -> _Pattern | None:
    """Stretches drawn, their lengths evenly by their logarithm; None where none fits."""
    k = np.arange(n)
    longest = np.log(max(3.0, min(n / 2, 60.0)))
    lengths = np.exp(rng.random(n // 3 + 1) * (longest - np.log(2)) + np.log(2)).astype(np.intp)
    starts = np.cumsum(lengths + 1) - lengths - 1 + int(rng.integers(0, 4))  # one position between two stretches
    count = int(np.searchsorted(starts + lengths, n, side="right"))
    if not count:
        return None
    number = np.searchsorted(starts[:count], k, side="right") - 1
    first, length = starts[number], lengths[number]
    inside = (number >= 0) & (k < first + length)
    shift = rng.integers(-2, 3, size=count)[number]
    source = np.where(shift == 0, 2 * first + length - 1 - k, first + (k - first + shift) % length)
    number = np.where(inside, number, count)
    near = np.minimum(np.append(number, count), np.append(count, number))
    return _Pattern(np.where(inside, source, k), number, near, count)


class _Walk:
    """An ordering on its way, with what each position and each link of it costs."""

    def __init__(self, problem: Instance, ordering: Ints, rng: np.random.Generator) -> None:
        n = len(ordering)
        self.problem, self.rng, self.n, self.k = problem, rng, n, np.arange(n)
        self.link = np.zeros((n + 1, n + 1))
        self.link[:n, :n] = problem.link
        self.flat_link, self.flat_cost = self.link.ravel(), np.ascontiguousarray(problem.cost).ravel()
        fixed = set(problem.constraints.fixed.values())
        self.loose = np.ones(n, dtype=bool)  # items that are neither fixed nor in a run
        self.loose[[*fixed, *(item for run in problem.constraints.together for item in run)]] = False
        self.runs = [run for run in problem.constraints.together if not fixed & set(run)]
        self.patterns = [one for one in (_pattern(n, rng) for _ in range(PATTERNS)) if one is not None]
        self._framed = np.full(n + 2, n)
        self._stand(ordering)

    @property
    def round_cost(self) -> float:
        """The work of one round."""
        shared = min(self.n / 3, MOST_SHARED)
        assigning = 0.02 * shared**2 + 4.5e-4 * shared**3
        return 100.0 + 0.7 * self.n + assigning + min(len(self.runs), RUNS) * (15.0 + 0.1 * self.n)

    def _stand(self, ordering: Ints) -> None:
        """Take an ordering as it is."""
        self.ordering = ordering
        self.costs, self.links = self._measure(ordering)
        self.value = float(self.costs.sum() + self.links.sum())

    def _measure(self, ordering: Ints) -> tuple[Floats, Floats]:
        """What the n positions and the n + 1 links of an ordering cost, those of the dummy item included."""
        self._framed[1:-1] = ordering
        at = self._framed * (self.n + 1)
        return self.flat_cost.take(ordering * self.n + self.k), self.flat_link.take(at[:-1] + self._framed[1:])

    def share_out(self, warmth: float) -> None:
        """Share out positions, of which no two are neighbours, among their items."""
        from scipy.optimize import linear_sum_assignment

        n, problem, ordering, rng = self.n, self.problem, self.ordering, self.rng
        chance = np.ones(n + 2)
        chance[1:-1] = rng.random(n)
        k = np.flatnonzero(self.loose[ordering] & (chance[1:-1] < chance[:-2]) & (chance[1:-1] < chance[2:]))
        k = np.sort(rng.permutation(k)[:MOST_SHARED]) if len(k) > MOST_SHARED else k
        items = ordering[k]
        framed = np.append(ordering, n)  # positions -1 and n: the dummy item
        column = items[:, np.newaxis]
        cost = problem.cost[column, k] + self.link[framed[k - 1], column] + self.link[column, framed[k + 1]]
        if problem.has_loads and rng.random() < WITHIN:  # what each zone holds stays the same
            zone = problem.zone[k]
            cost[zone[:, np.newaxis] != zone] = np.inf
        rows, columns = linear_sum_assignment(cost + warmth * rng.random(cost.shape))
        out = ordering.copy()
        out[k[columns]] = items[rows]
        out = _mend(problem, ordering, out) if problem.before.size else out
        if not (problem.has_loads and problem.overload(out)):
            self._stand(out)

    def try_stretches(self, pattern: _Pattern, warmth: float) -> None:
        """Take those stretches of a pattern that pass."""
        count, number, problem = pattern.count, pattern.number, self.problem
        trial = self.ordering[pattern.source]
        costs, links = self._measure(trial)
        totals = np.bincount(number, costs - self.costs, count + 1)
        totals += np.bincount(pattern.near, links - self.links, count + 1)
        passed = np.zeros(count + 1, dtype=bool)
        passed[:count] = totals[:count] < warmth * self.rng.standard_exponential(count)
        if not passed.any():
            return
        out = np.where(passed[number], trial, self.ordering)
        if problem.before.size:
            place = np.argsort(out)
            bad = place[problem.before[0]] >= place[problem.before[1]]
            if bad.any():  # both of a broken pair are in one stretch
                passed[number[place[problem.before[0, bad]]]] = False
                out = np.where(passed[number], trial, self.ordering)
        self.ordering = out
        self.costs = np.where(passed[number], costs, self.costs)
        self.links = np.where(passed[pattern.near], links, self.links)
        self.value += float(totals[passed].sum())

    def try_exchange(self, run: tuple[int, ...], warmth: float) -> None:
        """Exchange a run with a stretch of its length, where that passes."""
        start = int(np.flatnonzero(self.ordering == run[0])[0])
        end = int(self.rng.integers(0, self.n - len(run) + 1))
        trial = _exchange_stretches(self.ordering, start, end, len(run))
        reached = self.problem.value(trial)
        if reached - self.value < warmth * self.rng.standard_exponential() and self.problem.keeps(trial):
            self._stand(trial)


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


def _exchange_stretches(ordering: Ints, i: int, j: int, length: int) -> Ints:
    """Two stretches of one length exchanged; moved instead where they overlap."""
    if abs(i - j) < length:
        return shift(ordering, i, j, length)
    out = ordering.copy()
    out[i : i + length], out[j : j + length] = ordering[j : j + length], ordering[i : i + length]
    return out
