from itertools import permutations

import numpy as np
import pytest

from fabula.models.sets.sampling import (
    balanced_ordering,
    expected_positions,
    likely_orderings,
    position_chances,
    scores_of,
)


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


def test_expected_positions_are_those_of_all_orderings(tables):
    orderings = every(5, 3)
    scores = scores_of(*tables, orderings)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    expected = (weights[..., np.newaxis] * orderings.argsort(axis=-1)).sum(axis=1)
    found = expected_positions(*tables, np.random.default_rng(1), chains=64, steps=1500)
    np.testing.assert_allclose(found, expected, atol=0.12)


def test_the_likeliest_ordering_is_found(tables):
    orderings = every(5, 3)
    best = scores_of(*tables, orderings).argmax(axis=1)
    found = likely_orderings(*tables, np.random.default_rng(1), steps=600)
    np.testing.assert_array_equal(found, orderings[0][best])


def test_chances_are_those_of_all_orderings(tables):
    orderings = every(5, 3)
    scores = scores_of(*tables, orderings)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    exact = np.zeros((3, 5, 5))
    for place in range(5):
        for item in range(5):
            exact[:, item, place] = (weights * (orderings[..., place] == item)).sum(axis=1)
    found = position_chances(*tables, np.random.default_rng(0), chains=32, steps=3000)
    np.testing.assert_allclose(found, exact, atol=0.04)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found.sum(axis=2), 1)


def test_the_ends_are_the_likeliest_together_and_the_rest_is_sorted():
    chances = np.array([[0.5, 0.0, 0.0, 0.5], [0.4, 0.2, 0.2, 0.2], [0.1, 0.5, 0.3, 0.1], [0.0, 0.2, 0.6, 0.2]])
    assert balanced_ordering(chances).tolist() == [1, 2, 3, 0]  # 0.4 + 0.5 beats 0.5 + 0.2
    assert balanced_ordering(np.array([[0.2, 0.8], [0.8, 0.2]])).tolist() == [1, 0]
