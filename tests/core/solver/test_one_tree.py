"""Where neighbours count alone: orderings of many items, and a bound that no ordering is below."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from fabula.core.solver import Constraints, Goal, arrange
from fabula.core.solver.one_tree import cheapest_tree, tree_bound


def links(rng, n, dimensions=3):
    points = rng.normal(size=(n, dimensions))
    return np.linalg.norm(points[:, np.newaxis] - points, axis=2)


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
