"""A plain reference: every ordering, with every split into sides and every choice of what is left out."""

from __future__ import annotations

from functools import partial
from itertools import combinations, pairwise, permutations

import numpy as np


def splits(m, sides):
    """Sizes of that many sides, none empty."""
    for cuts in combinations(range(1, m), sides - 1):
        yield tuple(np.diff([0, *cuts, m]).tolist())


def kept_sets(kept):
    """Lists of sets of items that may be kept, those with the most items first."""
    everything = set(range(kept.n))
    if kept.limit is None or kept.weights.sum() <= kept.limit * (1 + 1e-12):
        yield [tuple(range(kept.n))]
        return
    for left in range(1, kept.n):
        sets = [tuple(sorted(everything - set(out))) for out in combinations(range(kept.n), left)]
        yield [s for s in sets if kept.must_keep <= set(s) and kept.weights[list(s)].sum() <= kept.limit * (1 + 1e-12)]


def candidates(kept):
    """Every arrangement (ordering, sizes) that keeps the constraints, with the most items; [] when there is none."""
    for sets in kept_sets(kept):
        found = []
        for chosen in sets:
            for order in filter(partial(in_place, kept), permutations(chosen)):
                found += [(order, sizes) for sizes in splits(len(order), kept.sides) if not kept.broken(order, sizes)]
        if found and kept.sides > 1 and kept.side_limit is None:
            loads = [max(side_loads(kept, *one)) for one in found]
            room = max(1.15 * min(kept.weights.sum(), kept.limit or np.inf) / kept.sides, min(loads))
            found = [one for one, load in zip(found, loads, strict=True) if load <= room * (1 + 1e-12)]
        if found:
            return found
    return []


def in_place(kept, order):
    """Whether fixed items stand where they must: a quick look before the thorough one."""
    m = len(order)
    if any(not -m <= place < m or order[place] != item for place, item in kept.fixed.items()):
        return False
    return all(order.index(a) < order.index(b) for a, b in kept.before)


def side_loads(kept, order, sizes):
    return [kept.weights[list(part)].sum() for part in np.split(np.array(order), np.cumsum(sizes)[:-1])]


def value(goal, flow, kept, order, sizes):
    """The criteria of an arrangement, the first first."""
    alike = flowing = 0.0
    costs, whole = [], goal.in_whole(len(order))
    for part in np.split(np.array(order), np.cumsum(sizes)[:-1]):
        table, begun = goal.on_side(len(part)), len(costs)
        costs += [table[item, p] + whole[item, begun + p] for p, item in enumerate(part)]
        for a, b in pairwise(part):
            flowing += 0.0 if flow is None else flow[a, b]
            alike += kept.apart is not None and kept.apart[a] == kept.apart[b] >= 0
    costs = np.array(costs)
    if goal.follows is None:
        return (alike, costs.sum() + flowing)
    if flow is not None:
        return (alike, (costs**2).sum() + flowing)
    return (alike, costs.max(), costs.sum())


def brute_force(goal, flow, kept):
    """The criteria of the best arrangement; None when none keeps the constraints."""
    best = None
    for order, sizes in candidates(kept):
        here = value(goal, flow, kept, order, sizes)
        if best is None or less(here, best):
            best = here
    return best


def less(one, other):
    """Whether criteria come before others, rounding aside."""
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > 1e-9:
            return a < b
    return False
