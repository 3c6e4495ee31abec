from itertools import permutations

import numpy as np
import pytest

from fabula.models.sets.sampling import likely_orderings, scores_of


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return rng.normal(size=(2, 3, 5, 5))


def every(n, count):
    orderings = np.array(list(permutations(range(n))))
    return np.broadcast_to(orderings, (count, *orderings.shape))


def test_scores_are_sums(tables):
    positions, flow = tables
    order = np.array([2, 0, 1, 4, 3])
    expected = positions[1][order, range(5)].sum() + flow[1][order[:-1], order[1:]].sum()
    assert scores_of(positions, flow, np.tile(order, (3, 2, 1)))[1, 0] == pytest.approx(expected)


def test_the_likeliest_ordering_is_found(tables):
    orderings = every(5, 3)
    best = scores_of(*tables, orderings).argmax(axis=1)
    found = likely_orderings(*tables, np.random.default_rng(1), steps=600)
    np.testing.assert_array_equal(found, orderings[0][best])
