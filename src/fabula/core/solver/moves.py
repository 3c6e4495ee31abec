"""Moves from one ordering to another that keep the constraints, with what each would change, and descent by them.

``P[i, j]`` is the cost of the item now at position i, at position j; ``L[i, k]`` is the link from the item now at
position i to the item now at position k. A move that is not allowed changes the objective by infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.solver.budget import UNLIMITED, Budget
from fabula.core.solver.instance import Instance

MOST_TURNED = 100  # longer stretches are hardly ever better turned round


@dataclass(frozen=True, eq=False)
class Here:
    """An ordering, with the tables in terms of its positions.

    ``ordering``: shape (n,). ``P``, ``L``: shape (n, n) and (n + 2, n + 2): the latter framed by zeros, so that
    position i is row i + 1. ``low``, ``high``: shape (n,): the first and last position each item can take while the
    others it is bound to stay.
    """

    ordering: Ints
    P: Floats
    L: Floats
    low: Ints
    high: Ints


def here(problem: Instance, ordering: Ints) -> Here:
    """The tables of an ordering."""
    n = len(ordering)
    L = np.zeros((n + 2, n + 2))
    L[1:-1, 1:-1] = problem.link[np.ix_(ordering, ordering)]
    return Here(ordering, problem.cost[ordering], L, *problem.reach(ordering))


def swap_changes(at: Here) -> Floats:
    """What it changes to swap two positions: shape (n, n), for i < j; infinite elsewhere."""
    P, L = at.P, at.L
    n = len(P)
    k = np.arange(n)
    stay = P[k, k]
    # the item of row i at position j: its cost there and its links to the neighbours of j
    placed = P + L[:-2, 1:-1].T + L[1:-1, 2:]
    links = L[np.arange(n + 1), np.arange(1, n + 2)]  # from each position to the next
    change = placed + placed.T - (stay + links[:-1] + links[1:])[:, np.newaxis] - (stay + links[:-1] + links[1:])
    i = k[:-1]  # neighbours share the link between them, and it turns round
    change[i, i + 1] = (
        P[i, i + 1] + P[i + 1, i] - stay[i] - stay[i + 1]
        + L[i, i + 2] + L[i + 2, i + 1] + L[i + 1, i + 3] - links[i] - links[i + 1] - links[i + 2]
    )  # fmt: skip
    kept = (k[np.newaxis] <= at.high[:, np.newaxis]) & (k[:, np.newaxis] >= at.low[np.newaxis])
    return np.where(kept & (k[:, np.newaxis] < k), change, np.inf)


def reversal_changes(at: Here) -> Floats:
    """What it changes to reverse positions i..j: shape (n, n), for i < j not too far; infinite elsewhere."""
    P, L = at.P, at.L
    n = len(P)
    k = np.arange(n)
    gain = P - P[k, k][:, np.newaxis]
    pair = gain + gain.T  # the two ends of a mirrored pair
    forth = np.concatenate([[0.0], np.cumsum(L[k[:-1] + 1, k[1:] + 1])])
    back, closed = _sums(L[k[1:] + 1, k[:-1] + 1])
    barrier = np.minimum.accumulate((at.high + 1)[::-1])[::-1]  # j must stay below, or a pair within is turned
    change = np.full((n, n), np.inf)
    inner, within = np.zeros(n), np.zeros(n + 1)  # of the last width, and the one before it
    for width in range(1, min(n, MOST_TURNED)):
        i = k[: n - width]
        j = i + width
        inner, within = pair[i, j] + within[1:-1], inner
        turned = back[j] - back[i] - forth[j] + forth[i]
        ends = L[i, j + 1] + L[i + 1, j + 2] - L[i, i + 1] - L[j + 1, j + 2]
        change[i, j] = np.where((j < barrier[i]) & (closed[i] == closed[j]), inner + turned + ends, np.inf)
    return change


def block_changes(at: Here, length: int) -> Floats:
    """What it changes to move the block that starts at i so that it starts at j: shape (n, n).

    Infinite where the block would not fit, for i = j, and where a constraint would break.
    """
    P, L = at.P, at.L
    n = len(P)
    m = n - length + 1
    k = np.arange(n)
    block = sum((P[o : m + o, o : m + o] for o in range(length)), np.zeros((m, m)))
    stay = P[k, k]
    left, left_closed = _sums(P[k[length:], k[:-length]] - stay[length:], lead=length)
    right, right_closed = _sums(P[k[:-length], k[length:]] - stay[:-length], trail=length)
    s, t = k[:m, np.newaxis], k[np.newaxis, :m]
    e = t + length - 1  # last position of the block where it goes
    inside = L[s, s + 1] + L[s + length, s + length + 1] - L[s, s + length + 1]  # what its leaving saves
    later = left[e + 1] - left[s + length] + L[e + 1, s + 1] + L[s + length, e + 2] - L[e + 1, e + 2]
    sooner = right[s] - right[t] + L[t, s + 1] + L[s + length, t + 1] - L[t, t + 1]
    low = np.max([at.low[o : m + o] for o in range(length)], axis=0)[:, np.newaxis]
    high = np.min([at.high[o : m + o] for o in range(length)], axis=0)[:, np.newaxis]
    free_later = (t > s) & (e <= high) & (left_closed[e + 1] == left_closed[s + length])
    free_sooner = (t < s) & (t >= low) & (right_closed[np.minimum(s, n)] == right_closed[t])
    shift = np.where(free_later, later, np.where(free_sooner, sooner, np.inf))
    change = np.full((n, n), np.inf)
    change[:m, :m] = shift + block - block.diagonal()[:, np.newaxis] - inside
    return change


def _sums(values: Floats, *, lead: int = 0, trail: int = 0) -> tuple[Floats, Ints]:
    """Sums up to each entry, and how many entries up to it are infinite (those count as zero in the sums)."""
    closed = np.concatenate([np.zeros(lead), ~np.isfinite(values), np.zeros(trail)])
    finite = np.concatenate([np.zeros(lead), np.where(np.isfinite(values), values, 0.0), np.zeros(trail)])
    counted = np.concatenate([[0], np.cumsum(closed)]).astype(np.intp)
    return np.concatenate([[0.0], np.cumsum(finite)]), counted


def swap(ordering: Ints, i: int, j: int) -> Ints:
    """Positions i and j exchanged."""
    out = ordering.copy()
    out[[i, j]] = ordering[[j, i]]
    return out


def reverse(ordering: Ints, i: int, j: int) -> Ints:
    """Positions i..j reversed."""
    out = ordering.copy()
    out[i : j + 1] = ordering[i : j + 1][::-1]
    return out


def shift(ordering: Ints, i: int, j: int, length: int) -> Ints:
    """The block that starts at i, starting at j."""
    rest = np.delete(ordering, slice(i, i + length))
    return np.insert(rest, j, ordering[i : i + length])


STEPS_AT_ONCE = 64


LEAST = 1e-10  # what counts as better


Changes = Callable[[Here], Floats]


Step = Callable[[Ints, int, int], Ints]


def descend(problem: Instance, ordering: Ints, budget: Budget = UNLIMITED) -> Ints:
    """Improve an ordering by swaps, moved blocks and reversals until none of them improves it.

    ``problem``: the costs. ``ordering``: shape (n,), keeps the constraints. ``budget``: of which each look at all moves
    of a kind takes a part.
    """
    n = len(ordering)
    lengths = sorted({1, 2, 3, *problem.parts.lengths.tolist()})
    kinds: list[tuple[Changes, Step]] = [(swap_changes, swap), (reversal_changes, reverse)]
    kinds += [_block_kind(length) for length in lengths if length < n]
    idle, turn = 0, 0
    while idle < len(kinds) and not budget.over:
        changes, step = kinds[turn % len(kinds)]
        budget.spend(300.0 + 0.1 * n * n)
        better = _step(problem, ordering, changes, step)
        idle, turn = (idle + 1, turn + 1) if better is None else (0, turn)
        ordering = ordering if better is None else better
    return ordering


def _block_kind(length: int) -> tuple[Changes, Step]:
    return lambda at: block_changes(at, length), lambda ordering, i, j: shift(ordering, i, j, length)


def _step(problem: Instance, ordering: Ints, changes: Changes, step: Step) -> Ints | None:
    """The ordering after the best steps of a kind that do not touch each other; None when none improves it."""
    change = changes(here(problem, ordering))
    value = problem.value(ordering)
    best = None
    touched = np.zeros(len(ordering) + 2, dtype=bool)
    for i, j in _most_improving(change):
        first, last = min(i, j), max(i, j) + max(problem.parts.lengths.max(), 3)
        if step is not swap and touched[first : last + 2].any():
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
