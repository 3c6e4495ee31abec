"""Annealing: many swaps at once that do not touch each other, now and then a moved or turned stretch.

Swaps at positions of which no two are neighbours change the objective independently of each other, so that a
hundred of them are judged in one go.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.moves import moved
from fabula.core.ordering import Ints
from fabula.core.problem import Problem

HOT, COLD = 0.3, 0.003  # temperatures, as parts of the typical cost


@dataclass(frozen=True, eq=False)
class _Tables:
    """The costs, framed: item n is nobody, who stands before the first place and behind the last."""

    problem: Problem
    cost: Floats  # (n, n)
    link: Floats  # (n + 1, n + 1)
    goals: Floats  # (n, d)
    loose: Ints  # items that are neither fixed nor in a run
    runs: list[tuple[int, ...]]


def anneal(
    problem: Problem,
    ordering: Ints,
    goals: Floats,
    rng: np.random.Generator,
    *,
    rounds: int,
    until: float = np.inf,
) -> Ints:
    """The best ordering met on a walk that grows colder.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (n,), keeps the constraints, as every ordering on the walk does.
    goals
        Shape (n, d): the template at each position. Positions with like goals are swapped more often.
    rng
        Makes the walk.
    rounds
        Length of the walk.
    until
        When to stop by ``time.monotonic()`` at the latest.
    """
    tables = _tables(problem, goals)
    value = best_value = problem.value(ordering)
    best = ordering
    heat = _scale(problem, ordering)
    for turn in range(rounds):
        if turn % 64 == 0 and time.monotonic() > until:
            break
        warmth = heat * HOT * (COLD / HOT) ** (turn / rounds)
        ordering, value = _swaps(tables, ordering, value, warmth, rng)
        ordering, value = _stretches(tables, ordering, value, warmth, rng)
        if tables.runs and turn % 4 == 0:
            ordering, value = _run(tables, ordering, value, warmth, rng)
        if value < best_value - 1e-12:
            best, best_value = ordering, value
    return best


def _tables(problem: Problem, goals: Floats) -> _Tables:
    n = len(problem.cost)
    link = np.zeros((n + 1, n + 1))
    link[:n, :n] = problem.link
    held = [*problem.constraints.fixed.values(), *(item for run in problem.constraints.together for item in run)]
    runs = [run for run in problem.constraints.together if not set(run) & set(problem.constraints.fixed.values())]
    return _Tables(problem, problem.cost, link, goals, np.setdiff1d(np.arange(n), held), runs)


def _scale(problem: Problem, ordering: Ints) -> float:
    """How much a step typically changes."""
    places = problem.cost[ordering]
    spread = np.abs(places - places.diagonal()[:, np.newaxis])
    links = problem.link[np.isfinite(problem.link)]
    return float(spread[np.isfinite(spread)].mean() / 2 + (links.std() if len(links) else 0.0)) or 1.0


def _swaps(
    tables: _Tables, ordering: Ints, value: float, warmth: float, rng: np.random.Generator
) -> tuple[Ints, float]:
    """Judge swaps of pairs of positions, none next to another, and make those that are taken."""
    p, q = _pairs(tables, ordering, rng)
    if not len(p):
        return ordering, value
    framed = np.concatenate([ordering, [len(ordering)]])  # index -1 and n are both nobody
    a, b = ordering[p], ordering[q]
    before_p, behind_p, before_q, behind_q = framed[p - 1], framed[p + 1], framed[q - 1], framed[q + 1]
    cost, link = tables.cost, tables.link
    change = cost[b, p] + cost[a, q] + link[before_p, b] + link[b, behind_p] + link[before_q, a] + link[a, behind_q]
    change -= cost[a, p] + cost[b, q] + link[before_p, a] + link[a, behind_p] + link[before_q, b] + link[b, behind_q]
    taken = change < warmth * rng.standard_exponential(len(p))
    out = ordering.copy()
    out[p[taken]], out[q[taken]] = b[taken], a[taken]
    if tables.problem.before.size:
        taken = _undone(tables.problem.before, out, ordering, p, q, taken)
    return out, value + float(change[taken].sum())


def _pairs(tables: _Tables, ordering: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Positions to swap: half of the time anywhere, half of the time where the template is alike."""
    n = len(ordering)
    noise = np.ones(n + 2)
    noise[1:-1] = rng.random(n)
    free = np.zeros(n, dtype=bool)
    free[np.argsort(ordering)[tables.loose]] = True
    chosen = np.flatnonzero(free & (noise[1:-1] < noise[:-2]) & (noise[1:-1] < noise[2:]))
    half = len(chosen) // 2
    if rng.random() < 0.25:
        key = rng.random(len(chosen))
    else:
        key = tables.goals[chosen] @ rng.normal(size=tables.goals.shape[1])
        key = key + rng.normal(size=len(chosen)) * 0.1 * (np.ptp(key) if len(key) else 0.0) * rng.random()
    chosen = chosen[np.argsort(key)]
    return chosen[: 2 * half : 2], chosen[1 : 2 * half : 2]


def _undone(before: Ints, out: Ints, ordering: Ints, p: Ints, q: Ints, taken: Ints) -> Ints:
    """Take back, in place, the swaps that break ``before``; what is left is returned."""
    while True:
        place = np.argsort(out)
        bad = place[before[0]] >= place[before[1]]
        if not bad.any():
            return taken
        wrong = np.isin(p, place[before[:, bad]]) | np.isin(q, place[before[:, bad]])
        for ends in (p[wrong], q[wrong]):
            out[ends] = ordering[ends]
        taken = taken & ~wrong


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
    return _settled(tables, ordering, trial, value, np.where(inside, number, count), starts, warmth, rng)


def _settled(
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
    change = tables.cost[trial, k] - tables.cost[ordering, k]
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
    """The n + 1 links of an ordering, from and to nobody included."""
    framed = np.concatenate([[len(ordering)], ordering, [len(ordering)]])
    return tables.link[framed[:-1], framed[1:]]


def _run(tables: _Tables, ordering: Ints, value: float, warmth: float, rng: np.random.Generator) -> tuple[Ints, float]:
    """Judge one run exchanged with a stretch of its length."""
    run = tables.runs[rng.integers(len(tables.runs))]
    start = int(np.flatnonzero(ordering == run[0])[0])
    trial = _exchanged(ordering, start, int(rng.integers(0, len(ordering) - len(run) + 1)), len(run))
    reached = tables.problem.value(trial)
    if reached - value < warmth * rng.standard_exponential() and tables.problem.in_order(np.argsort(trial)):
        return trial, reached
    return ordering, value


def _exchanged(ordering: Ints, i: int, j: int, length: int) -> Ints:
    """Two stretches of one length exchanged; moved instead where they overlap."""
    if abs(i - j) < length:
        return moved(ordering, i, j, length)
    out = ordering.copy()
    out[i : i + length], out[j : j + length] = ordering[j : j + length], ordering[i : i + length]
    return out
