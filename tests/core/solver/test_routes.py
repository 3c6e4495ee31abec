"""Where neighbours count alone: short ways through many items, and bounds that no ordering is below."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from fabula.core.solver import Constraints, Goal, arrange
from fabula.core.solver.tours import cheapest_tree, route, tree_bound


def links(rng, n, dimensions=3):
    points = rng.normal(size=(n, dimensions))
    return np.linalg.norm(points[:, np.newaxis] - points, axis=2)


def length(table, ordering):
    return float(table[ordering[:-1], ordering[1:]].sum())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 40])
def test_a_route_visits_every_item_once(n, rng):
    assert sorted(route(links(rng, n), rng).tolist()) == list(range(n))


def test_a_route_is_as_short_as_the_best_of_few(rng):
    worse = []
    for _ in range(5):
        table = links(rng, 14)
        best = arrange(Goal(14), flow=table)  # exact: 14 items
        worse.append(length(table, route(table, rng)) / best.objective - 1)
    assert max(worse) < 0.1
    assert np.mean(worse) < 0.04


def test_a_route_comes_back_along_a_line(rng):
    values = np.sort(rng.normal(size=120))
    found = route(np.abs(values - values[:, np.newaxis]), rng)
    assert found.tolist() == list(range(120))


def test_the_cheapest_tree_is_that_of_scipy(rng):
    table, price = links(rng, 60), rng.normal(size=60)
    whole = table + price + price[:, np.newaxis] + 10.0
    expected = minimum_spanning_tree(np.triu(whole, 1)).sum() - 10.0 * 59
    assert cheapest_tree(table.astype(np.float32), price.astype(np.float32))[0] == pytest.approx(expected, rel=1e-5)


def test_no_ordering_is_below_the_bound(rng):
    for seed in range(8):
        table = links(np.random.default_rng(seed), 12) - 1.0  # of any sign
        best = arrange(Goal(12), flow=table).objective
        assert tree_bound(table, best) <= best + 1e-6


@pytest.mark.slow
def test_many_items_are_ordered_in_time_within_a_few_per_cent(rng):
    table = links(rng, 700)
    begun = time.process_time()
    found = arrange(Goal(700), flow=table)
    assert time.process_time() - begun < 6
    assert found.objective == pytest.approx(length(table, found.ordering))
    assert found.gap < 0.06


@pytest.mark.slow
def test_wishes_hold_where_neighbours_count_alone(rng):
    labels = rng.integers(0, 60, size=400)
    kept = Constraints(400, fixed={0: 7, -1: 9}, together=[(20, 300)], apart=labels)
    found = arrange(Goal(400), constraints=kept, flow=links(rng, 400))
    assert kept.broken(found.ordering, found.sides) == []
    assert (labels[found.ordering[1:]] != labels[found.ordering[:-1]]).all()
    assert found.gap < 0.4


@pytest.mark.slow
def test_the_order_of_the_list_has_no_say(rng):
    table, shuffled = links(rng, 320), rng.permutation(320)
    one = arrange(Goal(320), flow=table, seconds=1.0)
    other = arrange(Goal(320), flow=table[np.ix_(shuffled, shuffled)], seconds=1.0)
    assert other.objective == pytest.approx(one.objective)


def test_where_nothing_counts_items_stay_as_they_are():
    for n in (1, 3, 25):
        assert arrange(Goal(n)).ordering.tolist() == list(range(n))
        assert arrange(Goal(n), flow=np.zeros((n, n))).ordering.tolist() == list(range(n))
