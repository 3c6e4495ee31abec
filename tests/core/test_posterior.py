from itertools import permutations
from math import factorial

import numpy as np
import pytest

from fabula.core import posterior as module
from fabula.core.energy import Energy
from fabula.core.posterior import posterior
from fabula.errors import InputError


def by_hand(positions, flow):
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
    found = posterior(Energy(positions, flow))
    stands, follows, mean = by_hand(positions, flow)
    np.testing.assert_allclose(found.positions, stands, atol=1e-12)
    np.testing.assert_allclose(found.neighbours, follows, atol=1e-12)
    assert found.mean_score == pytest.approx(mean)


def test_items_that_all_want_one_position_leave_something_to_sum(rng):
    positions = np.zeros((5, 5))
    positions[:, 0] = 900.0, 880.0, 0.0, -900.0, 400.0
    found = posterior(Energy(positions, np.zeros((5, 5))))
    assert found.positions[0, 0] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(found.positions[1:, 1:], 0.25, atol=1e-6)
    assert np.isfinite(found.mean_score)


@pytest.mark.slow
def test_what_is_drawn_is_near_what_is_summed(rng, monkeypatch):
    positions, flow = rng.normal(size=(2, 7, 7))
    exact = posterior(Energy(positions, flow))
    monkeypatch.setattr(module, "MOST_EXACT", 6)
    monkeypatch.setattr(module, "_COOLING", 30)
    monkeypatch.setattr(module, "_KEPT", 400)
    drawn = posterior(Energy(positions, flow))
    assert drawn.mean_score is None
    np.testing.assert_allclose(drawn.positions, exact.positions, atol=0.03)
    np.testing.assert_allclose(drawn.neighbours, exact.neighbours, atol=0.03)
    np.testing.assert_array_equal(posterior(Energy(positions, flow)).positions, drawn.positions)  # the same each time


def test_tables_of_another_shape_are_refused():
    with pytest.raises(InputError, match=r"shape \(n, n\)"):
        posterior(Energy(np.zeros((3, 2)), np.zeros((3, 3))))


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("scale", [0.1, 2.0, 25.0])
def test_the_same_as_one_by_one(rng, n, scale):
    positions, flow = scale * rng.normal(size=(7, n, n)), scale * rng.normal(size=(7, n, n))
    found = posterior(Energy(positions, flow))
    for number in range(7):
        one = posterior(Energy(positions[number], flow[number]))
        np.testing.assert_allclose(found.positions[number], one.positions, atol=2e-6)
        np.testing.assert_allclose(found.neighbours[number], one.neighbours, atol=2e-6)


def test_a_sum_too_small_for_single_precision_is_done_in_double(rng, monkeypatch):
    asked = []
    add_up = module._sum_subsets
    monkeypatch.setattr(module, "_sum_subsets", lambda *given: asked.append(given[0].dtype) or add_up(*given))
    positions, flow = rng.normal(size=(3, 6, 6)), rng.normal(size=(3, 6, 6))
    positions[1] = 300 * np.eye(6)  # one order alone by positions, and its neighbours all but impossible
    flow[1] = -300 * (np.eye(6, k=1) + np.eye(6, k=-1))
    found = posterior(Energy(positions, flow))
    assert asked.count(np.float64) == 1
    alone = posterior(Energy(positions[1], flow[1]))
    np.testing.assert_allclose(found.positions[1], alone.positions, atol=1e-9)


def test_how_many_at_a_time_changes_nothing(rng, monkeypatch):
    tables = rng.normal(size=(2, 9, 7, 7))
    whole = posterior(Energy(*tables))
    monkeypatch.setattr(module, "_CELLS", 1)
    again = posterior(Energy(*tables))
    np.testing.assert_allclose(whole.positions, again.positions, atol=1e-6)
    np.testing.assert_allclose(whole.neighbours, again.neighbours, atol=1e-6)


@pytest.mark.slow
def test_beyond_few_items_they_are_drawn_as_of_one(rng):
    positions, flow = rng.normal(size=(2, 1, 19, 19))
    many, one = posterior(Energy(positions, flow)), posterior(Energy(positions[0], flow[0]))
    np.testing.assert_array_equal(many.positions[0], one.positions)
