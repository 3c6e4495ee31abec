"""Descent: steps that improve an ordering, until none does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from fabula.core.arranging.local.moves import (
    Here,
    block_changes,
    here,
    moved,
    reversal_changes,
    swap_changes,
    swapped,
    turned,
)
from fabula.core.arranging.local.problem import Problem
from fabula.core.essence import Floats
from fabula.core.ordering import Ints

STEPS_AT_ONCE = 64
LEAST = 1e-10  # what counts as better

Changes = Callable[[Here], Floats]
Step = Callable[[Ints, int, int], Ints]


def descend(problem: Problem, ordering: Ints, *, until: float = np.inf) -> Ints:
    """Improve an ordering by swaps, moved blocks and reversals until none of them improves it.

    Parameters
    ----------
    problem
        The costs.
    ordering
        Shape (n,), keeps the constraints.
    until
        When to stop by ``time.monotonic()`` at the latest.
    """
    n = len(ordering)
    lengths = sorted({1, 2, 3, *problem.parts.lengths.tolist()})
    kinds: list[tuple[Changes, Step]] = [(swap_changes, swapped), (reversal_changes, turned)]
    kinds += [_block_kind(length) for length in lengths if length < n]
    idle, turn = 0, 0
    while idle < len(kinds) and time.monotonic() < until:
        changes, step = kinds[turn % len(kinds)]
        better = _stepped(problem, ordering, changes, step)
        idle, turn = (idle + 1, turn + 1) if better is None else (0, turn)
        ordering = ordering if better is None else better
    return ordering


def _block_kind(length: int) -> tuple[Changes, Step]:
    return lambda at: block_changes(at, length), lambda ordering, i, j: moved(ordering, i, j, length)


def _stepped(problem: Problem, ordering: Ints, changes: Changes, step: Step) -> Ints | None:
    """The ordering after the best steps of a kind that do not touch each other; None when none improves it."""
    change = changes(here(problem, ordering))
    value = problem.value(ordering)
    best = None
    touched = np.zeros(len(ordering) + 2, dtype=bool)
    for i, j in _most_improving(change):
        first, last = min(i, j), max(i, j) + max(problem.parts.lengths.max(), 3)
        if step is not swapped and touched[first : last + 2].any():
            continue
        trial = step(ordering if best is None else best, i, j)
        reached = problem.value(trial)
        if reached < value - LEAST and problem.keeps(trial):
            best, value = trial, reached
            touched[first : last + 2] = True
    return best


def _most_improving(change: Floats) -> Iterator[tuple[int, int]]:
    flat = change.ravel()
    better = np.flatnonzero(flat < -LEAST)
    if len(better) > STEPS_AT_ONCE:
        better = better[np.argpartition(flat[better], STEPS_AT_ONCE)[:STEPS_AT_ONCE]]
    for where in better[np.argsort(flat[better], kind="stable")].tolist():
        yield divmod(where, change.shape[1])
