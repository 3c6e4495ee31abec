"""Arranging: the best ordering under constraints, on sides and within limits, or what contradicts what, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Bools, Floats, Ints, quantise
from fabula.core.fit import assign_least, fit
from fabula.core.solver import problem as posing
from fabula.core.solver.constraints import LIGHTEST_FIRST, SLACK, Constraints, Phrase, count_alike
from fabula.core.solver.exact import solve_exactly
from fabula.core.solver.instance import fill, frame
from fabula.core.solver.line import deal, even_sizes
from fabula.core.solver.partition import MOST_UNITS, feasible, shortest_side
from fabula.core.solver.problem import Arrangement, Budget, Goal, Problem, Units
from fabula.core.solver.proof import assign, prove
from fabula.core.solver.search import search
from fabula.errors import ConflictError, InputError

# Contradictions among constraints, told by name.

PATIENCE = 3.0  # seconds' worth of looking for the constraints that take part


def list_all(constraints: Constraints, start: str) -> ConflictError:
    """An error that lists the constraints, the first three of each word where they are many."""
    every = constraints.phrases()
    most = 8 if len(every) <= 8 else 3
    shown = [p for word in dict.fromkeys(p.word for p in every) for p in [q for q in every if q.word == word][:most]]
    more = f"; and {len(every) - len(shown)} more" if len(every) > len(shown) else ""
    return list_phrases(start + (": " if shown else ""), shown, more, (), constraints)


def list_phrases(
    start: str, shown: list[Phrase], end: str, lengths: tuple[float, ...], constraints: Constraints
) -> ConflictError:
    """An error of a beginning, which has its own lengths, phrases and an end."""
    texts, numbers = list[str](), list(lengths)
    for phrase in shown:
        text = phrase.text
        for length in phrase.lengths:
            text = text.replace("{length}", f"{{length{len(numbers)}}}", 1)
            numbers.append(length)
        texts.append(text)
    words = list(dict.fromkeys(p.word for p in shown)) + (["sides"] if constraints.sides > 1 else [])
    return ConflictError(start + "; ".join(texts) + end, [i for p in shown for i in p.items], words, numbers)


def check(constraints: Constraints) -> None:
    """Raise a ConflictError with a smallest set of constraints that cannot all hold, where a simple rule shows it.

    >>> check(Constraints(3, fixed={0: 2}, before=[(0, 1), (1, 2)]))
    Traceback (most recent call last):
    fabula.errors.ConflictError: these cannot all hold: item 2 fixed at position 1; item 1 before item 2
    """
    if contradictory(constraints):
        raise conflict(constraints, contradictory)
    c = constraints
    if not len(posing.possible_counts(c)):
        held, limit = float(c.weights[list(c.must_keep)].sum()), c.limit or 0.0
        if held <= limit * SLACK:
            raise ConflictError("every item alone holds more than the limit of {length0}", [], ["limit"], [limit])
        who = [p for p in c.phrases() if p.word in ("fixed", "together", "before", "ends")]
        raise list_phrases("what must be kept holds {length0}, the limit is {length1}: ", who, "", (held, limit), c)
    count = c.n - sum(len(run) - 1 for run in c.together)
    if count < c.sides:
        raise ConflictError(f"{c.sides} sides need as many items or runs; got {count}", [], ["sides"])


@lru_cache(maxsize=8)  # alternatives are asked for under the same constraints
def contradictory(constraints: Constraints) -> bool:
    """Whether a simple rule shows that no ordering keeps the constraints."""
    complete = list(posing.possible_counts(constraints)) == [constraints.n]
    if not (constraints.together or constraints.before or constraints.forbidden or constraints.apart is not None):
        return complete and len({place % constraints.n for place in constraints.fixed}) < len(constraints.fixed)
    parts = Units.of_items(constraints)
    against = any(parts.of[a] == parts.of[b] and parts.offset[a] >= parts.offset[b] for a, b in constraints.before)
    if against or parts.earlier.diagonal().any():  # ``before`` against the order within a run, or in a circle
        return True
    if not complete:
        return False
    allowed = posing.positions_allowed(constraints, constraints.n)
    if allowed is None:
        return True
    starts = parts.starts(allowed)
    if not starts.any(axis=1).all() or _is_crowded(parts.positions(starts)):
        return True
    hard = constraints.apart is not None and not constraints.apart_soft and constraints.sides == 1
    return hard and constraints.apart is not None and _too_alike(constraints, constraints.apart, parts)


def conflict(constraints: Constraints, infeasible: Callable[[Constraints], bool], *, most: int = 500) -> ConflictError:
    """Name a smallest set of constraints that cannot all hold: one less, and they might."""
    budget, kept = Budget.of_seconds(PATIENCE), constraints
    for name in LIGHTEST_FIRST:
        lighter = kept.without(name)
        kept = lighter if not budget.over and infeasible(lighter) else kept
        budget.spend(_cost(lighter))
    every = kept.singles()
    for name, single in every if len(every) <= most else []:
        lighter = kept.without(name, single)
        kept = lighter if not budget.over and infeasible(lighter) else kept
        budget.spend(_cost(lighter))
    return list_all(kept, "these cannot all hold" + (f" on {kept.sides} sides" if kept.sides > 1 else ""))


def _cost(constraints: Constraints) -> float:
    """About how much work it is to see whether constraints can be kept."""
    count = constraints.n - sum(len(run) - 1 for run in constraints.together)
    subsets = 2.0**count * count / 10 * constraints.sides if count <= MOST_UNITS else 0.0
    return 1000.0 + 0.5 * constraints.n**2 + subsets


def unsolvable(constraints: Constraints) -> ConflictError:
    """What to say when few items were proven to have no ordering."""
    if constraints.side_limit is not None:
        shortest = shortest_side(replace(constraints, side_limit=None))
        if shortest is not None:
            return _too_short(constraints, shortest, "the shortest side limit that works is")
    most = 200 if constraints.n <= 12 else 30
    return conflict(constraints, lambda c: contradictory(c) or not feasible(c), most=most)


def not_found(constraints: Constraints, shortest: float | None = None) -> ConflictError:
    """What to say when no ordering of many items was found; ``shortest`` is a side limit that works."""
    if constraints.side_limit is not None and shortest is not None:
        return _too_short(constraints, shortest, "a side limit that was found to work is")
    return list_all(constraints, "no ordering was found that keeps all of these")


def _too_short(constraints: Constraints, shortest: float, verb: str) -> ConflictError:
    """The side limit cannot be kept; and which constraints stand against it, where one less would do."""
    against: list[Phrase] = []
    if len(Units.of_items(constraints).members) <= MOST_UNITS:
        budget, known = Budget.of_seconds(PATIENCE), constraints.phrases()
        for name, single in constraints.singles():
            lighter = constraints.without(name, single)
            budget.spend(_cost(lighter))
            if not budget.over and feasible(lighter):
                kept = {(p.word, p.text, p.items) for p in lighter.phrases()}
                against += [p for p in known if (p.word, p.text, p.items) not in kept]
    counted = "1 side" if constraints.sides == 1 else f"{constraints.sides} sides"
    start = f"it does not fit on {counted} of {{length0}}, by {{length1}}: {verb} {{length2}}"
    limit = constraints.side_limit or 0.0
    start += "; it would work without any one of: " if against else ""
    error = list_phrases(start, against, "", (limit, shortest - limit, shortest), constraints)
    words = list(dict.fromkeys([*error.options, "side_limit"]))
    return ConflictError(error.pattern, error.items, words, error.lengths)


def _is_crowded(positions: Bools) -> bool:
    """Whether some items share too few positions (Hall's condition)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    single = positions.sum(axis=1) == 1  # those take their position, if no two want the same
    taken = positions[single].sum(axis=0)
    open_ = positions[np.ix_(~single, taken == 0)]
    choosy = open_[~open_.all(axis=1)]  # whoever can stand anywhere finds what is left
    if (choosy.sum(axis=1) >= len(choosy)).all():  # each finds room after all others
        return bool((taken > 1).any())
    lost = maximum_bipartite_matching(csr_array(choosy), perm_type="column") < 0
    return bool((taken > 1).any() or lost.any())


def _too_alike(constraints: Constraints, labels: Ints, parts: Units) -> bool:
    """Whether equal labels must meet: within a run, at fixed neighbours, or because they are too many."""
    pinned = {place % constraints.n: item for place, item in constraints.fixed.items()}
    neighbours = [pair for run in parts.members for pair in pairwise(run)]
    neighbours += [(item, pinned[place + 1]) for place, item in pinned.items() if place + 1 in pinned]
    if any(labels[a] == labels[b] >= 0 for a, b in neighbours):
        return True
    head = labels[[run[0] for run in parts.members]]
    tail = labels[[run[-1] for run in parts.members]]
    at = {place: int(labels[item]) for place, item in pinned.items()}
    edges = [-1, *sorted(pinned), constraints.n]
    for label in np.flatnonzero(np.bincount(labels[labels >= 0]) > 1):
        both, none = (head == label) & (tail == label), (head != label) & (tail != label)
        if both.sum() > none.sum() + 1:
            return True
        closed = [(b - a - 1) - (at.get(a) == label) - (at.get(b) == label) for a, b in pairwise(edges)]
        room = sum((width + 1) // 2 for width in closed if width > 0)  # every other free position between fixed ones
        if (labels == label).sum() - sum(held == label for held in at.values()) > room:
            return True
    return False


def arrange(
    goal: Goal,
    *,
    constraints: Constraints | None = None,
    flow: ArrayLike | None = None,
    seconds: float = 1.5,
) -> Arrangement:
    """Find the best ordering under constraints.

    What is minimised, in this order: the items left out for the limit; the neighbours that are alike, where
    ``apart_soft`` permits any; then, for a template, the largest deviation and the sum of deviations; for a template
    with flow, the sum of squared deviations plus flow; for a table, the sum of its costs plus flow. What still ties
    is decided by the squares of deviations, then by the order of the values; items that nothing tells apart keep their
    order. So the best ordering is one, and a constraint that it keeps already does not change it.

    Up to 18 items, runs counted as one, it is the best, by dynamic programming; with any number of items too where
    they are fixed or forbidden at positions alone, and mostly up to 32 where flow counts and there are no constraints.
    Beyond that it is searched for, with an amount of work that depends on the arguments alone and not on the clock;
    then ``gap`` tells how far it can be from the best. There, if the ordering found without the constraints on single
    items keeps them all, it is that one.

    ``flow`` (n, n), finite, of any sign: the cost of item k right after item i on the same side. ``seconds``: how much
    to search, as much as so many do on one core of a usual machine; the same number gives the same ordering on any
    machine and under any load.

    >>> from fabula.core.template import Template
    >>> goal = Goal.template([-1.0, 0.0, 1.0], Template([0, 1], [-1, 1]))
    >>> found = arrange(goal, constraints=Constraints(3, before=[(2, 0)]))
    >>> found.ordering, found.worst, found.exact
    (array([1, 2, 0]), 2.0, True)
    >>> arrange(goal, constraints=Constraints(3, sides=3)).sides
    (1, 1, 1)
    """
    kept = constraints or Constraints(goal.n)
    if kept.n != goal.n:
        raise InputError(f"the constraints are for {kept.n} items; got {goal.n}")
    table = _as_flow(flow, goal.n)
    check(kept)
    whole = Problem(goal, table, kept)
    if table is None and kept.positions_only and goal.follows is not None:
        plain = not kept.forbidden and goal.rows.shape[1] == 1
        if plain or goal.n > MOST_UNITS:  # items are judged by their positions alone
            fixed = {position % goal.n: item for position, item in kept.fixed.items()}
            laid = fit(goal.rows, goal.follows, fixed=fixed, forbidden=kept.forbidden, ties="given")
            return posing.describe(whole, laid.ordering, (goal.n,))
    order = posing.canonical_order(whole)
    problem = whole.take(order)
    del flow, table, whole  # tables of very many items are large
    if problem is None:
        raise RuntimeError("constraints on all items hold in any order")
    bounds = None
    if goal.n - sum(len(run) - 1 for run in kept.together) <= MOST_UNITS:
        exact = solve_exactly(problem)
        if exact is None:
            raise unsolvable(kept)
        ordering, sizes = exact
    else:
        searched = search(problem, seconds)
        if searched is None:
            raise not_found(kept, _side_limit_that_works(kept))
        ordering, sizes, bounds = searched
    found = posing.describe(problem, ordering, sizes, bounds)
    return replace(found, ordering=order[found.ordering], left_out=np.sort(order[found.left_out]))


# Very many items: a draft by positions that keeps the constraints, then stretches of it, one after the other.

_STRETCH = 400  # positions
_FORBIDDEN = 1e9  # what a forbidden position costs
_FILLING = 8.0  # seconds' worth of looking for an ordering that keeps all constraints


def arrange_stretches(
    scores: Callable[[Sequence[int]], Floats],
    flow: Floats,
    constraints: Constraints,
    *,
    steps: Floats | None = None,
    seconds: float = 1.5,
) -> Arrangement:
    """A good ordering of very many items by scores of positions and of neighbours; higher is better.

    ``scores``: from the sizes of sides, which follow each other, to how much each item likes each position, (n, sum of
    sizes); ``flow`` (n, n), less ``steps`` (n, n). No table is copied: items are shared out over all positions, so
    that the constraints hold, then each stretch of 400 on one side is arranged, and again those that lie across the
    joins. How far it is from the best is not known: ``gap`` is NaN.
    """
    check(constraints)
    must = np.zeros(constraints.n)
    must[list(constraints.must_keep)] = 1.0  # as many are kept as the limit permits, so that the longest go
    kept_count = next(iter(posing.possible_counts(constraints)), constraints.n)
    items = np.sort(np.lexsort((constraints.weights, -must))[:kept_count])
    kept = constraints if len(items) == constraints.n else constraints.renumber(items)
    if kept is None:
        raise not_found(constraints)
    sizes = even_sizes(kept.n, kept.sides)
    order = _assign_in_parts(scores(sizes), items, kept)
    if not kept.positions_only:
        order, sizes = _keep_all(kept, order)
    tables, ends = (scores(sizes), flow, steps), np.cumsum([0, *sizes]).tolist()
    stretches = [
        range(start, min(start + _STRETCH, last))
        for begin in (0, _STRETCH // 2)
        for first, last in pairwise(ends)
        for start in range(first + begin, last, _STRETCH)
    ]
    for places in stretches:
        part = _constrain_stretch(kept, order, places, ends)
        order[places] = _arrange_stretch(order, places, part, tables, items, ends, seconds / len(stretches))
    side = np.repeat(np.arange(len(sizes)), sizes)
    alike = 0 if kept.apart is None else count_alike(kept.apart[order], side)
    order, inner = items[order], np.diff(side) == 0
    pairs = order[:-1][inner], order[1:][inner]
    total = float(tables[0][order, np.arange(len(order))].sum(dtype=np.float64) + flow[pairs].sum(dtype=np.float64))
    total -= 0.0 if steps is None else float(steps[pairs].sum())
    left_out, sides = np.setdiff1d(np.arange(constraints.n), items), tuple(sizes) if len(sizes) > 1 else ()
    return Arrangement(order, left_out, sides, None, -total, -np.inf, np.nan, exact=False, violations=alike)


def _assign_in_parts(scores: Floats, items: Ints, kept: Constraints) -> Ints:
    """Which of some items stands at each position, by scores (n, m) alone, in parts with some of everywhere."""
    m = kept.n
    fixed = {position % m: item for position, item in kept.fixed.items()}
    ordering = np.full(m, -1, dtype=np.intp)
    ordering[list(fixed)] = list(fixed.values())
    places = np.flatnonzero(ordering < 0)
    lean = np.asarray(scores @ np.linspace(-1, 1, m, dtype=scores.dtype))[items]
    free = np.setdiff1d(np.argsort(lean, kind="stable"), list(fixed.values()), assume_unique=True)
    parts = -(-len(free) // _STRETCH)
    for part in range(parts):
        here, who = places[part::parts], free[part::parts]
        cost = -scores[np.ix_(items[who], here)].astype(np.float64)
        for item, position in kept.forbidden:
            cost[np.ix_(who == item, here == position % m)] = _FORBIDDEN
        rows, columns = assign_least(cost)
        ordering[here[columns]] = who[rows]
    return ordering


def _keep_all(kept: Constraints, wish: Ints) -> tuple[Ints, tuple[int, ...]]:
    """An ordering near to another that keeps all constraints, and the sizes of its sides: cut by lengths, or dealt."""
    sides, shortest = kept.sides, np.inf
    loads = np.cumsum(kept.weights[wish])
    cuts = np.searchsorted(loads, loads[-1] * np.arange(1, sides) / sides, side="right") if loads[-1] else []
    dealt = [np.flatnonzero(np.isin(wish, side)) for side in deal(kept.weights, sides)] if sides > 1 else []
    for parts in ([wish[some] for some in np.split(np.arange(kept.n), cuts)], [wish[some] for some in dealt]):
        sizes = tuple(map(len, parts))
        for alike in (np.inf, 0.0) if kept.apart_soft else (np.inf,):
            framed = frame(kept, sizes, alike=alike) if len(sizes) == sides and all(sizes) else None
            if framed is None:
                continue
            near = np.arange(len(framed.zone))
            near[framed.zone < 0] = np.arange(kept.n, len(near))
            near[framed.zone >= 0] = np.concatenate(parts)
            found = fill(framed, near, np.random.default_rng(0), Budget.of_seconds(_FILLING))
            if found is not None:
                inside = framed.zone >= 0
                held = float(np.bincount(framed.zone[inside], kept.weights[found[inside]]).max())
                if held <= (kept.side_limit or np.inf) * SLACK:
                    return found[inside], sizes
                shortest = min(shortest, held)
    raise not_found(kept, shortest if np.isfinite(shortest) else None)


def _constrain_stretch(kept: Constraints, order: Ints, places: range, ends: list[int]) -> Constraints:
    """What some positions must keep for the whole to keep what it keeps; runs that reach out of them stay."""
    here, place = order[places], np.argsort(order)
    number = {int(item): k for k, item in enumerate(here)}
    fixed = {position % kept.n: item for position, item in kept.fixed.items()}
    fixed |= {ends[side + (at < 0)] + at: item for (side, at), item in kept.ends.items()}
    whole = list[tuple[int, ...]]()
    for run in kept.together:
        if run[0] in number and run[-1] in number:
            whole.append(tuple(number[item] for item in run))
        else:
            fixed |= {int(place[item]): item for item in run if item in number}
    barred = [(number[item], at % kept.n - places[0]) for item, at in kept.forbidden if item in number]
    if kept.apart is not None and not kept.apart_soft:
        for at, near in ((0, places[0] - 1), (len(here) - 1, places[-1] + 1)):
            if max(at + places[0], near) not in ends and kept.apart[order[near]] >= 0:
                barred += [(int(k), at) for k in np.flatnonzero(kept.apart[here] == kept.apart[order[near]])]
    return Constraints(
        len(here),
        fixed={at - places[0]: number[item] for at, item in fixed.items() if at in places},
        forbidden=[(item, at) for item, at in barred if 0 <= at < len(here)],
        together=whole,
        before=[(number[a], number[b]) for a, b in kept.before if a in number and b in number],
        apart=None if kept.apart is None else kept.apart[here],
        apart_soft=kept.apart_soft,
    )


def _arrange_stretch(
    order: Ints,
    places: range,
    kept: Constraints,
    tables: tuple[Floats, Floats, Floats | None],
    items: Ints,
    ends: list[int],
    seconds: float,
) -> Ints:
    """What stands at some positions of one side in a better order, their neighbours on both sides counted."""
    (scores, flow, steps), mine = tables, items[order[places]]
    links = -flow[np.ix_(mine, mine)].astype(np.float64)
    cost = -scores[mine, places[0] : places[-1] + 1].astype(np.float64)
    before = items[order[[] if places[0] in ends else [places[0] - 1]]]
    after = items[order[[] if places[-1] + 1 in ends else [places[-1] + 1]]]
    cost[:, 0] -= flow[before][:, mine].sum(axis=0)
    cost[:, -1] -= flow[mine][:, after].sum(axis=1)
    if steps is not None:
        links += steps[np.ix_(mine, mine)]
        cost[:, 0] += steps[before][:, mine].sum(axis=0)
        cost[:, -1] += steps[mine][:, after].sum(axis=1)
    try:
        found = arrange(Goal.table(cost), constraints=kept, flow=links, seconds=seconds)
    except ConflictError:  # none was found but the one there is
        return order[places]
    old, alike = np.arange(len(mine)), 0 if kept.apart is None else count_alike(kept.apart, np.zeros_like(mine))
    now = (alike, cost.trace() + links[old[:-1], old[1:]].sum())
    return order[places][found.ordering] if (found.violations, found.objective) <= now else order[places]


def _side_limit_that_works(kept: Constraints) -> float | None:
    """The longest side of an ordering found without a side limit, on sides as even as they can be."""
    if kept.side_limit is None:
        return None
    found = search(Problem(Goal(kept.n), None, replace(kept, side_limit=None)), seconds=0.5)
    if found is None:
        return None
    ordering, sizes, _ = found
    return float(np.bincount(np.repeat(np.arange(len(sizes)), sizes), kept.weights[ordering]).max())


def _as_flow(flow: ArrayLike | None, n: int) -> Floats | None:
    """Check the costs between neighbours; None where they are all zero."""
    if flow is None:
        return None
    try:
        given = np.asarray(flow)
        single = given.dtype == np.float32
        plain = single and given.shape == (n, n) and not given.diagonal().any()  # of very many items, no copy is made
        table = cast(Floats, given if plain else given.astype(np.float32 if single else np.float64))
    except (TypeError, ValueError) as error:
        raise InputError("flow must be numbers, one row and one column per item") from error
    if table.shape != (n, n):
        raise InputError(f"flow must have shape ({n}, {n}), one row and one column per item; got {table.shape}")
    if not plain:
        np.fill_diagonal(table, 0.0)  # no item follows itself
    if not all(np.isfinite(row).all() for row in table):
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"flow must be finite; got {table[i, k]} from item {i} to item {k}")
    if not table.any():
        return None
    return table if single or n > posing.MOST_QUANTISED else quantise(table)


# The best orderings of many collections of one length by tables of positions and flow, without constraints.

_TOGETHER = 300_000  # cells of flow at a time: what they need stays in the cache


@dataclass(frozen=True, eq=False)
class ArrangedMany:
    """Orderings (B, n) of B collections, whether none costs less (B,), and the gap (B,)."""

    orderings: Ints
    exact: Bools
    gap: Floats


def arrange_many(places: ArrayLike, flow: ArrayLike | None = None, *, seconds: float = 1.5) -> ArrangedMany:
    """The cheapest ordering of each of B collections of n items, as :func:`arrange` finds one.

    ``places``, ``flow``: (B, n, n), finite: each item at each position, and that of a column right after that of a row.
    Without flow it is an assignment each. With flow it is exact where :func:`prove` is, always up to 18 items; others
    are searched for, ``seconds`` each. Of orderings that cost the same any may come out; items that nothing tells apart
    keep their order.

    >>> arrange_many([[[1.0, 0.0], [0.0, 1.0]]], [[[0.0, 0.0], [0.5, 0.0]]]).orderings
    array([[1, 0]])
    """
    table = _as_tables(places)
    count, n, _ = table.shape
    steps = np.zeros_like(table) if flow is None else _as_tables(flow)
    if steps.shape != table.shape:
        raise InputError(f"flow must have the shape of the tables of positions, {table.shape}; got {steps.shape}")
    orderings, gap, exact = np.zeros((count, n), np.intp), np.zeros(count), np.ones(count, bool)
    flowing = n > 1 and steps[:, ~np.eye(n, dtype=bool)].any()
    together = max(1, _TOGETHER // n**2)
    for at in range(0, count, together):
        some = slice(at, at + together)
        if flowing:
            orderings[some], exact[some], _ = prove(table[some], steps[some])
        else:
            orderings[some] = assign(table[some])
    for number in np.flatnonzero(~exact):
        one = arrange(Goal.table(table[number]), flow=steps[number], seconds=seconds)
        orderings[number], gap[number], exact[number] = one.ordering, one.gap, one.exact
    ranked = np.sort(table[:, :, 0], axis=1)
    for number in np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1)):
        place = np.argsort(orderings[number])
        for same in _alike(table[number], steps[number]):  # items that no table tells apart stand as they are listed
            orderings[number, np.sort(place[same])] = same
    return ArrangedMany(orderings, exact, gap)


def _alike(places: Floats, flow: Floats) -> list[list[int]]:
    """Items that may be exchanged without changing any table, in groups, each as listed."""

    def exchangeable(i: int, k: int) -> bool:
        if not np.array_equal(places[i], places[k]):
            return False
        swapped = np.arange(len(places))
        swapped[[i, k]] = k, i
        changed = flow[np.ix_(swapped, swapped)] != flow
        np.fill_diagonal(changed, val=False)  # no item follows itself
        return not changed.any()

    groups: list[list[int]] = []
    for item in range(len(places)):
        own = next((group for group in groups if exchangeable(group[0], item)), None)
        if own is None:
            groups.append([item])
        else:
            own.append(item)
    return groups


def _as_tables(given: ArrayLike) -> Floats:
    tables = np.asarray(given, dtype=np.float64)
    if tables.ndim != 3 or tables.shape[1] != tables.shape[2] or not tables.shape[1]:
        raise InputError(f"tables of many collections must have shape (B, n, n), n at least 1; got {tables.shape}")
    if not np.isfinite(tables).all():
        raise InputError("tables must be finite; they hold NaN or inf")
    return quantise(tables, axis=(1, 2)) if tables.shape[1] <= posing.MOST_QUANTISED else tables
