"""Descent: swaps, turned stretches and moved blocks that keep the constraints, as long as one makes it better.

Annealing goes on from there: positions of which no two are neighbours can be shared out among their items by one
assignment, links included, a step to the best of very many orderings. Noise on its costs is the temperature.

``P[i, j]`` is the cost of the item now at position i, at position j; ``L[i, k]`` is the link from the item now at
position i to the item now at position k. A move that is not allowed changes the objective by infinity.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fabula.core.arrays import Bools, Floats, Ints
from fabula.core.fit import assign_least
from fabula.core.solver.instance import Instance, link_scale
from fabula.core.solver.problem import UNLIMITED, Budget

MOST_TURNED = 100  # longer stretches are hardly ever better turned round


@dataclass(frozen=True, eq=False)
class Here:
    """The tables in terms of the positions of an ordering."""

    P: Floats  # (n, n)
    L: Floats  # (n + 2, n + 2) framed by zeros, so that position i is row i + 1
    low: Ints  # (n,) the first position each item can take while the others it is bound to stay
    high: Ints  # (n,) the last


def here(problem: Instance, ordering: Ints) -> Here:
    """The tables of an ordering."""
    n = len(ordering)
    L = np.zeros((n + 2, n + 2))
    L[1:-1, 1:-1] = problem.link[np.ix_(ordering, ordering)]
    return Here(problem.cost[ordering], L, *problem.reach(ordering))


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
    """What it changes to move the block that starts at i so that it starts at j: (n, n); infinite where it cannot."""
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
    """Improve an ordering (n,) that keeps the constraints by swaps, moved blocks and reversals, until none does."""
    n = len(ordering)
    lengths = sorted({1, 2, 3, *problem.parts.lengths.tolist()})
    kinds: list[tuple[Changes, Step]] = [(swap_changes, swap), (reversal_changes, reverse)]
    kinds += [(partial(block_changes, length=m), partial(shift, length=m)) for m in lengths if m < n]
    idle, turn = 0, 0
    while idle < len(kinds) and not budget.over:
        changes, step = kinds[turn % len(kinds)]
        budget.spend(300.0 + 0.06 * n * n)
        better = _step(problem, ordering, changes, step)
        idle, turn = (idle + 1, turn + 1) if better is None else (0, turn)
        ordering = ordering if better is None else better
    return ordering


def _step(problem: Instance, ordering: Ints, changes: Changes, step: Step) -> Ints | None:
    """The ordering after the best steps of a kind that do not touch each other; None when none improves it."""
    change = changes(here(problem, ordering))
    value = problem.value(ordering)
    best = None
    touched = np.zeros(len(ordering) + 2, dtype=bool)
    flat = change.ravel()
    better = np.flatnonzero(flat < -LEAST)
    if len(better) > STEPS_AT_ONCE:
        better = better[np.argpartition(flat[better], STEPS_AT_ONCE)[:STEPS_AT_ONCE]]
    for where in better[np.argsort(flat[better], kind="stable")].tolist():
        i, j = divmod(where, change.shape[1])
        first, last = min(i, j), max(i, j) + max(problem.parts.lengths.max(), 3)
        if step is not swap and touched[first : last + 2].any():
            continue
        trial = step(ordering if best is None else best, i, j)
        reached = problem.value(trial)
        if reached < value - LEAST and problem.keeps(trial):
            best, value = trial, reached
            touched[first : last + 2] = True
    return best


MOST_SHARED = 170  # positions per assignment, which takes the cube of their number
WITHIN = 0.6  # how often positions are shared out within each side, where lengths matter
RUNS = 6  # exchanges of runs per assignment
MOST_ROUNDS = 20_000


def anneal(problem: Instance, ordering: Ints, rng: np.random.Generator, budget: Budget, *, hot: float = 2.5) -> Ints:
    """The best ordering met on a walk from another (n,), with a descent before and behind it.

    All of them keep the constraints. ``hot``: the noise at its start, in deviations of the links.
    """
    here = best = descend(problem, ordering, budget.part(0.5))
    n, kept = len(ordering), problem.constraints
    fixed, shared = set(kept.fixed.values()), min(n / 3, MOST_SHARED)
    runs = [run for run in kept.together if not fixed & set(run)]
    loose = np.ones(n, dtype=bool)  # items that are neither fixed nor in a run
    loose[[*fixed, *(item for run in kept.together for item in run)]] = False
    link = np.pad(problem.link, (0, 1))  # with a dummy item at either end
    each = 100.0 + 0.1 * n + 0.02 * shared**2 + 4.5e-4 * shared**3 + min(len(runs), RUNS) * (15.0 + 0.1 * n)
    rounds = min(int(0.6 * max(budget.left, 0.0) / each), MOST_ROUNDS)
    heat = hot * link_scale(problem.cost, problem.link)
    for turn in range(rounds):
        warmth = heat * (1 - turn / rounds) ** 2
        here = _share_out(problem, here, loose, link, warmth, rng)
        for number in rng.permutation(len(runs))[:RUNS]:
            here = _exchange(problem, here, runs[number], warmth, rng)
        best = here if problem.value(here) < problem.value(best) else best
    budget.spend(rounds * each)
    return descend(problem, best, budget)


def _share_out(
    problem: Instance, ordering: Ints, loose: Bools, link: Floats, warmth: float, rng: np.random.Generator
) -> Ints:
    """Positions, of which no two are neighbours, shared out among their items."""
    chance = np.ones(len(ordering) + 2)
    chance[1:-1] = rng.random(len(ordering))
    k = np.flatnonzero(loose[ordering] & (chance[1:-1] < chance[:-2]) & (chance[1:-1] < chance[2:]))
    k = np.sort(rng.permutation(k)[:MOST_SHARED]) if len(k) > MOST_SHARED else k
    items, framed = ordering[k], np.append(ordering, len(ordering))  # positions -1 and n: the dummy item
    column = items[:, np.newaxis]
    cost = problem.cost[column, k] + link[framed[k - 1], column] + link[column, framed[k + 1]]
    if problem.has_loads and rng.random() < WITHIN:  # what each zone holds stays the same
        zone = problem.zone[k]
        cost[zone[:, np.newaxis] != zone] = np.inf
    rows, columns = assign_least(cost + warmth * rng.random(cost.shape))
    out = ordering.copy()
    out[k[columns]] = items[rows]
    out = _mend(problem, ordering, out) if problem.before.size else out
    return ordering if problem.has_loads and problem.overload(out) else out


def _exchange(problem: Instance, ordering: Ints, run: tuple[int, ...], warmth: float, rng: np.random.Generator) -> Ints:
    """A run exchanged with a stretch of its length, or moved there where they overlap, where that passes."""
    start = int(np.flatnonzero(ordering == run[0])[0])
    end = int(rng.integers(0, len(ordering) - len(run) + 1))
    if abs(start - end) < len(run):
        trial = shift(ordering, start, end, len(run))
    else:
        mine, other = slice(start, start + len(run)), slice(end, end + len(run))
        trial = ordering.copy()
        trial[mine], trial[other] = ordering[other], ordering[mine]
    passes = problem.value(trial) - problem.value(ordering) < warmth * rng.standard_exponential()
    return trial if passes and problem.keeps(trial) else ordering


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
