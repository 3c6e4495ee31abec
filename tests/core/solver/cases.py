"""Random cases: every mix of wishes, sides, limits, flow and goals, many of them with ties."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fabula.core.solver import Constraints, Goal
from fabula.core.template import Template


def random_case(seed, most=6):
    """A goal, flow or None, and constraints; now and then they contradict each other."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    flow = rng.normal(size=(n, n)) if rng.random() < 0.4 and n > 1 else None
    return random_goal(rng, n), flow, random_constraints(rng, n)


def random_goal(rng, n):
    if rng.random() < 0.25:
        by_side, whole = ({m: rng.normal(size=(n, m)) for m in range(1, n + 1)} for _ in range(2))
        kind = rng.integers(3)  # by the position on a side, in the whole, or both
        return Goal.table(by_side.__getitem__ if kind != 1 else None, n, whole=whole.__getitem__ if kind != 0 else None)
    d = 2 if rng.random() < 0.2 else 1
    template = Template([0, 0.4, 1], rng.normal(size=(3, d)).round(1))
    return Goal.template(rng.normal(size=(n, d)).round(int(rng.integers(0, 3))), template)


def random_constraints(rng, n):
    """Wishes of a few kinds, most of them such that a hidden ordering keeps them."""
    hidden = rng.permutation(n)

    def chance(p):
        return rng.random() < p

    options = {}
    if chance(0.4):
        places = rng.choice(n, size=min(n, int(rng.integers(1, 3))), replace=False) - (n if chance(0.5) else 0)
        options["fixed"] = {int(p): int(hidden[p]) for p in places}
    if chance(0.3):
        options["forbidden"] = rng.integers(0, n, size=(2, 2)).tolist()
    if chance(0.4) and n > 1:
        at = int(rng.integers(0, n - 1))
        options["together"] = [hidden[at : at + int(rng.integers(2, 4))].tolist()]
    if chance(0.4) and n > 1:
        pairs = [np.sort(rng.choice(n, size=2, replace=False)) for _ in range(int(rng.integers(1, 3)))]
        options["before"] = [tuple(hidden[pair].tolist()) for pair in pairs]
    if chance(0.4):
        options["apart"], options["apart_soft"] = rng.integers(-1, 3, size=n), chance(0.5)
    sides = int(rng.integers(2, min(n, 3) + 1)) if chance(0.5) and n > 1 else 1
    if chance(0.3):
        options["ends"] = {(int(rng.integers(sides)), int(rng.choice([0, -1]))): int(rng.integers(n))}
    if chance(0.6):
        options["lengths"] = rng.integers(1, 6, size=n) * (1.0 if chance(0.5) else 0.37)
    total = float(np.sum(options.get("lengths", np.ones(n))))
    if chance(0.3):
        options["side_limit"] = total / sides * rng.uniform(0.9, 1.6)
    if chance(0.35):
        options["limit"] = total * rng.uniform(0.5, 1.05)
    return Constraints(n, sides=sides, **options)


def options_of(kept):
    """The constraints as keyword arguments."""
    names = ("fixed", "forbidden", "together", "before", "apart", "apart_soft")
    names += ("sides", "ends", "lengths", "side_limit", "limit")
    return {name: getattr(kept, name) for name in names}


def kept_wishes(kept, found, rng):
    """Constraints with one more wish, of every kind, that an arrangement keeps already."""
    order, base = found.ordering, options_of(kept)
    m, sizes = len(order), found.sides or (len(order),)
    side, starts = np.repeat(np.arange(len(sizes)), sizes), np.cumsum([0, *sizes])
    p, q = (int(x) for x in rng.integers(0, m, size=2))
    if p not in [place % m for place in kept.fixed]:
        yield "fixed", {**base, "fixed": {**kept.fixed, (p - m if rng.random() < 0.5 else p): int(order[p])}}
    other = int(rng.integers(kept.n))
    if order[q] != other:
        yield "forbidden", {**base, "forbidden": [*kept.forbidden, (other, q)]}
    if p < q:
        yield "before", {**base, "before": [*kept.before, (int(order[p]), int(order[q]))]}
    if p + 1 < m and side[p] == side[p + 1]:
        yield "together", {**base, "together": [*kept.together, order[p : p + 2].tolist()]}
    s = int(rng.integers(len(sizes)))
    yield "ends", {**base, "ends": {**kept.ends, (s, 0): int(order[starts[s]]), (s, -1): int(order[starts[s + 1] - 1])}}
    labels = rng.integers(-1, 4, size=kept.n)
    meet = [labels[a] == labels[b] >= 0 for k, (a, b) in enumerate(pairwise(order)) if side[k] == side[k + 1]]
    if kept.apart is None and not any(meet):
        yield "apart", {**base, "apart": labels}
    loads = np.bincount(side, kept.weights[order])
    if kept.side_limit is not None:
        yield "side_limit", {**base, "side_limit": float(loads.max())}
    if kept.limit is None:
        yield "limit", {**base, "limit": 1.5 * float(kept.weights.sum())}
