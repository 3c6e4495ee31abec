"""Many items: what every arrangement keeps, bounds that are true, and steps that change what they say."""

from __future__ import annotations

import time
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.core.fit import fit
from fabula.core.solver import Constraints, Goal, arrange, solve as conflicts
from fabula.core.solver.bounds import PathSearch, first_prices
from fabula.core.solver.descent import (
    block_changes,
    descend,
    here,
    reversal_changes,
    reverse,
    shift,
    swap,
    swap_changes,
)
from fabula.core.solver.instance import construct, layouts, pose, position_bound
from fabula.core.solver.one_tree import link_bound
from fabula.core.solver.problem import UNLIMITED, Problem, side_room
from fabula.core.solver.proof import coupling_bound
from fabula.core.solver.search import search
from fabula.core.template import Template
from fabula.errors import ConflictError, ConstraintError, InputError

KINDS = ("fixed", "forbidden", "together", "before", "apart")
HILL = Template([0, 0.4, 1], [-1, 1.5, -1])


def random_options(rng, n, kinds, hidden):
    """Some constraints of each kind, such that a hidden ordering keeps them."""
    place = np.argsort(hidden)
    options = {}
    if "fixed" in kinds:
        options["fixed"] = {int(p): int(hidden[p]) for p in rng.choice(n, size=max(1, n // 6), replace=False)}
    if "forbidden" in kinds:
        pairs = rng.integers(0, n, size=(2 * n, 2)).tolist()
        options["forbidden"] = [(i, p) for i, p in pairs if place[i] != p]
    if "together" in kinds:
        at = int(rng.integers(0, n - 1))
        options["together"] = [hidden[at : at + int(rng.integers(2, 4))].tolist()]
    if "before" in kinds:
        pairs = [sorted(rng.choice(n, size=2, replace=False).tolist()) for _ in range(max(2, n // 3))]
        options["before"] = [(int(hidden[a]), int(hidden[b])) for a, b in pairs]
    if "apart" in kinds:
        labels = rng.integers(-1, max(2, n // 3), size=n)
        for a, b in pairwise(hidden):
            if labels[a] == labels[b]:
                labels[b] = -1
        options["apart"] = labels
    return options


def posed(rng, n, kinds, hidden, flow=None):
    return pose_table(rng.random((n, n)), flow, Constraints(n, **random_options(rng, n, kinds, hidden)))


def pose_table(table, flow, kept):
    return pose(Problem(Goal.table(table), flow, kept), (len(table),), np.inf)


@pytest.mark.parametrize("weight", [0.0, 0.5, -0.5])
def test_bounds_stay_below_the_best_ordering(weight, rng):
    for _ in range(25):
        n = int(rng.integers(3, 9))
        table, flow = rng.random((n, n)), weight * rng.random((n, n))
        kept = Constraints(n, **random_options(rng, n, KINDS, rng.permutation(n)))
        best = arrange(Goal.table(table), constraints=kept, flow=flow)
        problem = pose_table(table, flow, kept)
        floor, _ = position_bound(problem.cost)
        walk = flow[best.ordering[:-1], best.ordering[1:]].sum()
        assert floor + coupling_bound(problem) + link_bound(problem.link, walk) <= best.objective + 1e-9
        paths = PathSearch(problem, first_prices(problem), best.objective)
        paths.advance(40, UNLIMITED)
        assert paths.best <= best.objective + 1e-9


def test_paths_over_all_layouts_of_sides_stay_below_the_best(rng):
    risen = 0
    for _ in range(12):
        n, lengths = 9, rng.uniform(1, 4, size=9)
        goal, flow = Goal.template(rng.normal(size=n), HILL), 0.3 * rng.random((n, n))
        kept = Constraints(n, sides=2, lengths=lengths, side_limit=0.52 * lengths.sum())
        best = arrange(goal, constraints=kept, flow=flow)
        candidates, complete = layouts(Problem(goal, flow, kept), n, side_room(kept), UNLIMITED, alike=np.inf)
        assert complete
        searches = [PathSearch(one.instance, first_prices(one.instance), best.objective) for one in candidates]
        for paths in searches:
            paths.advance(40, UNLIMITED)
        assert min(paths.best for paths in searches) <= best.objective + 1e-9
        risen += any(search.chosen[-3:].any() for search in searches)
    assert risen  # some sides paid for holding too much


@pytest.mark.parametrize("sides", [1, 2])
def test_beams_lead_to_the_best_ordering_and_prove_it(sides, rng):
    proven = 0
    for _ in range(12):
        n, lengths = 8, rng.uniform(1, 4, size=8)
        goal, flow = Goal.template(rng.normal(size=n), HILL), 0.3 * rng.random((n, n))
        kept = Constraints(n, sides=sides, lengths=lengths, before=[(0, 1), (2, 3)], together=[(4, 5)])
        best = arrange(goal, constraints=kept, flow=flow)
        values = []
        for one in layouts(Problem(goal, flow, kept), n, side_room(kept), UNLIMITED, alike=np.inf)[0]:
            problem = one.instance
            paths, found = PathSearch(problem, first_prices(problem), 1e3), np.inf
            while not paths.done:
                paths.advance(40, UNLIMITED)
                ordering = paths.follow(UNLIMITED)
                if ordering is not None and problem.keeps(ordering):
                    found = min(found, problem.value(ordering))
                    paths.value = min(paths.value, found)
            assert paths.best <= found + 1e-9
            proven += paths.best >= found - 1e-9
            values.append(found)
        assert min(values) == pytest.approx(best.objective)
    assert proven >= 12


def test_steps_change_the_objective_by_what_they_say(rng):
    for trial in range(60):
        n = int(rng.integers(4, 9))
        ordering = rng.permutation(n)
        problem = posed(rng, n, KINDS if trial % 2 else KINDS[2:], ordering, rng.normal(size=(n, n)))
        at = here(problem, ordering)
        kinds = [(swap_changes(at), swap), (reversal_changes(at), reverse)]
        kinds += [(block_changes(at, b), lambda o, i, j, b=b: shift(o, i, j, b)) for b in (1, 2, 3)]
        for change, step in kinds:
            for i, j in np.argwhere(np.isfinite(change)):
                reached = step(ordering, i, j)
                assert problem.in_order(np.argsort(reached))
                assert problem.value(reached) - problem.value(ordering) == pytest.approx(change[i, j], abs=1e-9)
        for i in range(n):  # and what is called impossible is
            for j in range(i + 1, n):
                if np.isinf(swap_changes(at)[i, j]):
                    reached = swap(ordering, i, j)
                    assert not problem.in_order(np.argsort(reached)) or np.isinf(problem.value(reached))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(19, 60), seed=st.integers(0, 10**6), kinds=st.sets(st.sampled_from(KINDS), min_size=1))
def test_an_ordering_is_found_where_there_is_one(n, seed, kinds):
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(n)
    options = random_options(rng, n, kinds, hidden)
    constraints = Constraints(n, **options)
    conflicts.check(constraints)
    table = rng.random((n, n))
    problem = pose_table(table, rng.random((n, n)), constraints)
    found = construct(problem, position_bound(problem.cost)[1], rng)
    assert found is not None
    assert constraints.broken(found) == []


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(n=st.integers(19, 40), seed=st.integers(0, 10**6), weight=st.sampled_from([0.0, 0.4, -0.4]))
def test_a_search_keeps_every_constraint(n, seed, weight):
    rng = np.random.default_rng(seed)
    constraints = Constraints(n, **random_options(rng, n, KINDS, rng.permutation(n)))
    essence, flow = rng.normal(size=n), weight * rng.random((n, n))
    found = arrange(Goal.template(essence, HILL), constraints=constraints, flow=flow, seconds=0.4)
    assert sorted(found.ordering) == list(range(n))
    assert constraints.broken(found.ordering) == []
    deviations = np.abs(essence[found.ordering] - HILL.samples(n))
    walk = flow[found.ordering[:-1], found.ordering[1:]].sum()
    assert found.objective == pytest.approx((deviations**2).sum() + walk if weight else deviations.sum())
    assert found.bound <= found.objective
    assert 0.0 <= found.gap <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("sides", [1, 2, 3])
@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_the_search_is_near_the_exact_solution_and_its_bounds_are_true(sides, weight, rng):
    for _ in range(2):
        n = 11
        lengths = rng.uniform(1, 2, size=n)
        goal, flow = Goal.template(rng.normal(size=n), HILL), weight * rng.random((n, n)) if weight else None
        kept = Constraints(n, sides=sides, lengths=lengths, before=[(0, 1)], together=[(2, 3)])
        best = arrange(goal, constraints=kept, flow=flow)
        ordering, sizes, bounds = search(Problem(goal, flow, kept), 3.0)
        assert kept.broken(ordering, sizes) == []
        assert bounds.total <= best.objective * (1 + 1e-9) or (bounds.worst or 0.0) < best.worst - 1e-9
        if weight == 0.0:
            assert bounds.worst <= best.worst + 1e-9


@pytest.mark.slow
def test_sides_and_limits_hold_for_many_items(rng):
    n = 30
    lengths = rng.uniform(120, 400, size=n)
    kept = Constraints(n, sides=2, lengths=lengths, limit=0.8 * lengths.sum(), ends={(0, 0): 3, (1, -1): 4})
    for flow in (None, 0.1 * rng.random((n, n))):
        found = arrange(Goal.template(rng.normal(size=n), HILL), constraints=kept, flow=flow, seconds=0.8)
        assert kept.broken(found.ordering, found.sides) == []
        longest = sorted(lengths)[::-1]
        fewest = next(k for k in range(n) if lengths.sum() - sum(longest[:k]) <= kept.limit)
        assert fewest <= len(found.left_out) <= fewest + 2
        side = np.split(found.ordering, np.cumsum(found.sides)[:-1])
        assert max(lengths[part].sum() for part in side) <= 1.15 * kept.limit / 2 * (1 + 1e-9)


@pytest.mark.slow
def test_a_wish_that_the_free_ordering_keeps_changes_nothing_with_many_items(rng):
    goal, flow = Goal.template(rng.normal(size=25), HILL), 0.1 * rng.random((25, 25))
    for table in (None, flow):
        free = arrange(goal, flow=table)
        a, b = (int(item) for item in free.ordering[[3, 20]])
        held = arrange(goal, flow=table, constraints=Constraints(25, before=[(a, b)]))
        assert held.ordering.tolist() == free.ordering.tolist()


def test_soft_apart_with_many_items(rng):
    labels = [0] * 15 + list(range(1, 11))
    kept = Constraints(25, apart=labels, apart_soft=True)
    found = arrange(Goal.template(rng.normal(size=25), HILL), constraints=kept, seconds=0.6)
    assert found.violations >= 4  # 15 alike, and 10 others between them
    assert found.violations <= 6


def test_a_run_of_two_that_are_alike_is_no_ordering_or_counted(rng):
    options = {"sides": 3, "together": [(9, 2)], "apart": [0 if item in (2, 9) else -1 for item in range(28)]}
    goal, flow = Goal.template(rng.normal(size=28), HILL), 0.1 * rng.random((28, 28))
    with pytest.raises(
        ConflictError, match=r"no ordering was found .*item 9 and item 2 together; item 2, item 9 apart"
    ):
        arrange(goal, flow=flow, constraints=Constraints(28, **options), seconds=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is weighed by what must not be
        found = arrange(goal, flow=flow, constraints=Constraints(28, **options, apart_soft=True), seconds=0.2)
    assert found.violations == 1


def test_descent_never_ends_worse_and_ends_where_no_swap_helps(rng):
    table = rng.random((30, 30))
    problem = pose_table(table, rng.random((30, 30)), Constraints(30))
    start = rng.permutation(30)
    end = descend(problem, start)
    assert problem.value(end) < problem.value(start)
    assert swap_changes(here(problem, end)).min() >= -1e-9


@pytest.mark.slow
def test_the_same_arguments_give_the_same_ordering(rng):
    goal, flow = Goal.template(rng.normal(size=30), HILL), 0.5 * rng.random((30, 30))
    first, second = (arrange(goal, flow=flow) for _ in range(2))
    np.testing.assert_array_equal(first.ordering, second.ordering)


@pytest.mark.slow
def test_the_clock_has_no_say(rng, monkeypatch):
    goal, flow = Goal.template(rng.normal(size=40), HILL), 0.5 * rng.random((40, 40))
    kept = Constraints(40, sides=2, lengths=rng.uniform(1, 2, size=40), fixed={0: 3}, before=[(5, 6)])
    one = arrange(goal, flow=flow, constraints=kept, seconds=0.3)
    ticks = iter(range(10**9))
    for name in ("monotonic", "perf_counter", "time", "process_time"):
        monkeypatch.setattr(time, name, lambda: 60.0 * next(ticks))  # a machine so slow that every look takes a minute
    other = arrange(goal, flow=flow, constraints=kept, seconds=0.3)
    assert one.ordering.tolist() == other.ordering.tolist()
    assert (one.sides, one.gap) == (other.sides, other.gap)


@pytest.mark.slow
def test_more_seconds_buy_more_work_and_no_worse_bound(rng):
    goal, flow = Goal.template(rng.normal(size=40), HILL), 0.5 * rng.random((40, 40))
    short, long = (arrange(goal, flow=flow, seconds=seconds) for seconds in (0.05, 0.8))
    assert long.gap < short.gap


def test_one_table_is_asked_for_where_nothing_is_left_out(rng):
    for n in (9, 25):
        asked, table = [], rng.random((n, n))
        goal = Goal.table(n=n, whole=lambda m, asked=asked, table=table: asked.append(m) or table[:, :m])
        found = arrange(goal, flow=0.1 * rng.random((n, n)), constraints=Constraints(n, fixed={0: 2}), seconds=0.1)
        assert asked == [n]
        assert found.ordering[0] == 2
    with pytest.raises(InputError, match="the table is for 9 positions, and 5 are asked for: give a function"):
        arrange(Goal.table(rng.random((9, 9))), constraints=Constraints(9, limit=5))


@pytest.mark.slow
def test_flow_smooths_and_contrasts(rng):
    colour = rng.random(40)
    goal, steps = Goal.template(rng.normal(size=40), HILL), np.abs(colour - colour[:, np.newaxis])

    def walk(weight):
        order = arrange(goal, flow=weight * steps, seconds=0.6).ordering
        return steps[order[:-1], order[1:]].mean()

    assert walk(2.0) < 0.5 * walk(0.0) < walk(0.0) < walk(-2.0)


def test_positions_alone_are_left_to_the_fit(rng):
    essence = rng.normal(size=(30, 2))
    template = Template([0, 1], [[0, 1], [1, 0]])
    kept = Constraints(30, fixed={0: 4}, forbidden=[(3, 8)])
    found = arrange(Goal.template(essence, template), constraints=kept)
    np.testing.assert_array_equal(found.ordering, fit(essence, template, fixed={0: 4}, forbidden=[(3, 8)]).ordering)
    assert found.exact


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"flow": np.ones((2, 3))}, r"shape \(3, 3\)"),
        ({"flow": np.array([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]])}, "finite; got nan from item 0 to item 1"),
        ({"flow": np.full((3, 3), "x")}, "must be numbers"),
        ({"constraints": Constraints(4)}, "for 4 items; got 3"),
    ],
)
def test_malformed_arguments_are_told(options, match):
    with pytest.raises(InputError, match=match):
        arrange(Goal.template([0.0, 1.0, 2.0], HILL), **options)


def test_malformed_goals_are_told():
    with pytest.raises(InputError, match="2 dimension"):
        Goal.template(np.ones((3, 2)), HILL)
    with pytest.raises(InputError, match="must be finite, of shape"):
        arrange(Goal.table(lambda m: np.ones((3, 2)), 3))


def test_positions_that_run_short_are_told():
    kept = Constraints(20, forbidden=[(item, place) for item in (3, 4) for place in range(1, 20)])
    with pytest.raises((ConstraintError, ConflictError), match="item 3"):
        arrange(Goal.template(np.arange(20.0), HILL), constraints=kept)


def test_an_ordering_that_was_not_found_is_told():
    places = [p for p in range(30) if p not in (5, 6)]
    kept = Constraints(30, forbidden=[(item, p) for item in (0, 1) for p in places], apart=[0, 0, *range(1, 29)])
    with pytest.raises(ConflictError, match=r"no ordering was found .*item 0, item 1 apart") as caught:
        arrange(Goal.template(np.arange(30.0), HILL), constraints=kept, seconds=0.3)
    assert caught.value.options == ("forbidden", "apart")


def test_a_side_limit_that_many_items_cannot_keep_comes_with_one_that_works():
    kept = Constraints(24, sides=2, side_limit=11.0)
    with pytest.raises(ConflictError, match=r"on 2 sides of 11, by [12]: a side limit that was found to work is 1[23]"):
        arrange(Goal.template(np.arange(24.0), HILL), constraints=kept, seconds=0.3)
