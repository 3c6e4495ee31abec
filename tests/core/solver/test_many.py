"""Very many items: results in time, constraints kept, and bounds that are true."""

from __future__ import annotations

import time
from itertools import combinations, permutations

import numpy as np
import pytest

from fabula.core.solver import Constraints, Goal, arrange
from fabula.core.solver.bounds import worth_bound
from fabula.core.solver.instance import rebalance_ranks
from fabula.core.solver.line import Pool, choose, ranks_between, ranks_of, smallest_sum, smallest_worst
from fabula.core.template import Template

HILL = Template([0, 0.4, 1], [-1, 1.5, -1])
IN_TIME = 6.0  # on a busy machine


def many(rng, n, *words):
    """A goal, constraints and flow, by words."""
    lengths = rng.uniform(120, 300, size=n)
    options = {"lengths": lengths}
    if "limit" in words:
        options["limit"] = 0.55 * lengths.sum()
    if "wishes" in words:
        options |= {"fixed": {0: 5, -1: 6}, "together": [(10, 11, 12)], "before": [(20, 21), (30, 31)]}
        options["apart"] = rng.integers(0, n // 5, size=n)
        options["apart"][:40] = -1
    options["sides"] = next((int(word[5:]) for word in words if word.startswith("sides")), 1)
    goal = Goal.template(rng.normal(size=n), HILL)
    sound = rng.normal(size=(n, 2))
    flow = 0.1 * np.linalg.norm(sound[:, np.newaxis] - sound, axis=2) if "flow" in words else None
    return goal, Constraints(n, **options), flow


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "words"),
    [
        *((500, words) for words in ("sides2", "sides4", "limit", "flow", "wishes", "sides4 wishes")),
        *((1000, words) for words in ("sides2 flow", "limit sides2 wishes flow")),
    ],
)
def test_a_result_comes_in_time_and_keeps_the_constraints(n, words, rng):
    goal, kept, flow = many(rng, n, *words.split())
    begun = time.process_time()
    found = arrange(goal, constraints=kept, flow=flow)
    assert time.process_time() - begun < IN_TIME
    assert kept.broken(found.ordering, found.sides) == []
    assert found.gap < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("words", ["sides2", "sides3", "limit", "limit sides2 wishes", "sides2 flow wishes"])
def test_constraints_are_kept_and_gaps_are_known(words, rng):
    goal, kept, flow = many(rng, 150, *words.split())
    found = arrange(goal, constraints=kept, flow=flow, seconds=0.6)
    assert kept.broken(found.ordering, found.sides) == []
    assert found.bound <= found.objective
    assert found.gap < 0.6


def test_two_sides_without_wishes_are_the_best_there_are(rng):
    goal, kept, _ = many(rng, 200, "sides2")
    assert arrange(goal, constraints=kept).gap == pytest.approx(0.0, abs=0.01)


@pytest.mark.slow
def test_tables_and_several_dimensions_keep_constraints_too(rng):
    n = 130
    slopes = rng.normal(size=(n, 2))
    goals = [
        Goal.table(lambda m: slopes @ np.array([np.ones(m), np.linspace(-1, 1, m)]), n),
        Goal.template(rng.normal(size=(n, 2)), Template([0, 1], [[0, 1], [1, 0]])),
    ]
    for goal in goals:
        for words in (("sides2", "wishes"), ("limit", "sides2")):
            _, kept, _ = many(rng, n, *words)
            found = arrange(goal, constraints=kept, seconds=0.5)
            assert kept.broken(found.ordering, found.sides) == []
            assert np.isfinite(found.bound)
            assert found.bound <= found.objective + 1e-9


def test_ranks_and_worths_hold_for_all_sizes(rng):
    for power in (1, 2):
        values = np.sort(rng.normal(size=17))
        ranks, none = ranks_between(HILL, range(2, 12), 3, 17), np.zeros((2, 0))
        floor = worth_bound(HILL, values, range(2, 12), 3, none, power)
        for a, b in combinations(range(1, 17), 2):
            sizes = (a, b - a, 17 - b)
            if all(size in range(2, 12) for size in sizes):
                targets = ranks_of(HILL, sizes).low
                assert (ranks.low <= targets + 1e-12).all()
                assert (targets <= ranks.high + 1e-12).all()
                assert floor <= (np.abs(values - targets) ** power).sum() + 1e-9


def test_the_nearest_value_of_each_rank(rng):
    values, ranks = np.sort(rng.normal(size=9)), ranks_between(HILL, range(2, 9), 2, 12)
    every = np.array([ranks.away(value) for value in values])
    np.testing.assert_allclose(ranks.nearest(values), every.min(axis=0))


def test_pinned_items_are_counted_where_they_stand(rng):
    values, first = np.sort(rng.normal(size=11)), 2.5
    pinned = np.array([[first], HILL.samples(2)[:1]])
    targets = np.sort(np.delete(HILL.samples(12), 0))
    best = abs(first - HILL.samples(2)[0]) + np.abs(values - targets).sum()
    assert worth_bound(HILL, values, range(12, 13), 1, pinned, 1) == pytest.approx(best)


def test_what_is_chosen_is_the_best_choice(rng):
    for _ in range(20):
        n, m = 9, 5
        values, lengths = np.sort(rng.normal(size=n)), rng.uniform(1, 3, size=n)
        must = rng.random(n) < 0.2
        must[3:] &= np.cumsum(must)[3:] <= 2
        pool, ranks = Pool(values, lengths, must, 8.5, 1), ranks_of(HILL, (m,))
        sets = [s for s in combinations(range(n), m) if set(np.flatnonzero(must)) <= set(s)]
        apart = {s: np.abs(values[list(s)] - ranks.low) for s in sets}
        assert choose(pool, ranks)[0] == pytest.approx(min(d.sum() for d in apart.values()))
        within = [s for s in sets if lengths[list(s)].sum() <= pool.limit]
        if within:
            least = smallest_worst(pool, ranks)
            assert least == pytest.approx([min(apart[s].max() for s in within)] * 2)
            floor, items = smallest_sum(pool, ranks, np.inf)
            assert items is not None
            assert floor <= min(apart[s].sum() for s in within) + 1e-9 <= apart[tuple(items.tolist())].sum() + 2e-9


def test_sides_that_hold_too_much_are_shared_out_anew(rng):
    m = 60
    values, lengths = np.sort(rng.normal(size=m)), rng.uniform(1, 3, size=m)
    side = np.arange(m) % 2
    room = 0.502 * lengths.sum()
    order = rebalance_ranks(values, lengths, np.sort(rng.normal(size=m)), side, room, worst=1.0)
    assert sorted(order) == list(range(m))
    assert (np.bincount(side, lengths[order]) <= room).all()


def test_lengths_that_differ_much_are_shared_out(rng):
    n = 150
    lengths = np.concatenate([[4000.0, 2500.0], rng.uniform(10, 100, size=n - 2)])
    for options in ({}, {"side_limit": 0.51 * lengths.sum()}, {"before": [(3, 4)]}):
        kept = Constraints(n, sides=2, lengths=lengths, **options)
        found = arrange(Goal.template(rng.normal(size=n), HILL), constraints=kept, seconds=0.5)
        assert kept.broken(found.ordering, found.sides) == []


@pytest.mark.slow
def test_soft_apart_with_very_many_items(rng):
    labels = [0] * 200 + list(range(1, 151))
    kept = Constraints(350, apart=labels, apart_soft=True)
    found = arrange(Goal.template(rng.normal(size=350), HILL), constraints=kept, seconds=1.0)
    assert 49 <= found.violations <= 60


def test_runs_pay_for_standing_together(rng):
    for power in (1, 2):
        values = rng.normal(size=7)
        run, none = [5, 2], np.zeros((2, 0))
        floor = worth_bound(HILL, np.sort(values), range(7, 8), 1, none, power, [values[run]])
        free = worth_bound(HILL, np.sort(values), range(7, 8), 1, none, power)
        orders = [order for order in permutations(range(7)) if order.index(2) == order.index(5) + 1]
        best = min((np.abs(values[list(order)] - HILL.samples(7)) ** power).sum() for order in orders)
        assert free - 1e-9 <= floor <= best + 1e-9
