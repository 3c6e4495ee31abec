from itertools import permutations
from math import factorial

import numpy as np
import pytest

from fabula.core import posterior as module
from fabula.core.posterior import posterior
from fabula.errors import InputError


def summed(positions, flow):
    """Every ordering, one by one: probabilities of positions and neighbours, and the logarithm of the mean."""
    n = len(positions)
    stands, follows, total = np.zeros((n, n)), np.zeros((n, n)), 0.0
    for order in map(np.array, permutations(range(n))):
        weight = np.exp(positions[order, np.arange(n)].sum() + flow[order[:-1], order[1:]].sum())
        stands[order, np.arange(n)] += weight
        follows[order[:-1], order[1:]] += weight
        total += weight
    return stands / total, follows / total, np.log(total / factorial(n))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_sums_are_those_over_all_orderings(n, rng):
    positions, flow = 2 * rng.normal(size=(2, n, n))
    found = posterior(positions, flow)
    stands, follows, mean = summed(positions, flow)
    np.testing.assert_allclose(found.positions, stands, atol=1e-12)
    np.testing.assert_allclose(found.neighbours, follows, atol=1e-12)
    assert found.mean_score == pytest.approx(mean)


def test_items_that_all_want_one_position_leave_something_to_sum(rng):
    positions = np.zeros((5, 5))
    positions[:, 0] = 900.0, 880.0, 0.0, -900.0, 400.0
    found = posterior(positions, np.zeros((5, 5)))
    assert found.positions[0, 0] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(found.positions[1:, 1:], 0.25, atol=1e-6)
    assert np.isfinite(found.mean_score)


def test_what_is_drawn_is_near_what_is_summed(rng, monkeypatch):
    positions, flow = rng.normal(size=(2, 7, 7))
    exact = posterior(positions, flow)
    monkeypatch.setattr(module, "MOST_EXACT", 6)
    monkeypatch.setattr(module, "_STEPS", 300)
    drawn = posterior(positions, flow)
    assert drawn.mean_score is None
    np.testing.assert_allclose(drawn.positions, exact.positions, atol=0.03)
    np.testing.assert_allclose(drawn.neighbours, exact.neighbours, atol=0.03)
    np.testing.assert_array_equal(posterior(positions, flow).positions, drawn.positions)  # the same each time


def test_tables_of_another_shape_are_refused():
    with pytest.raises(InputError, match=r"shape \(n, n\)"):
        posterior(np.zeros((3, 2)), np.zeros((3, 3)))
