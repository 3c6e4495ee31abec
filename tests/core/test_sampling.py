from itertools import permutations

import numpy as np
import pytest

from fabula.core.energy import NEAR, Energy
from fabula.core.posterior import neighbour_agreement, position_agreement, posterior_of
from fabula.core.sampling import Walk, draw_orderings


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def scores(rng):
    return Energy(rng.normal(size=(5, 5)) * 0.7, reach=rng.normal(size=(7, 5, 5)) * 0.3)


def by_hand(scores, order):
    total = sum(scores.positions[item, j] for j, item in enumerate(order))
    pairs = ((j, k) for k in range(len(order)) for j in range(k))
    return total + sum(scores.apart[k - j, order[j], order[k]] for j, k in pairs)


def test_scores_are_those_of_a_double_loop(scores, rng):
    orders = np.stack([rng.permutation(5) for _ in range(4)])
    assert scores.score(orders) == pytest.approx([by_hand(scores, order) for order in orders])


def test_an_item_put_back_is_scored_at_every_position(scores):
    order = np.array([3, 0, 4, 1, 2])
    others = np.delete(order, 2)
    found = Walk([scores], 1)._by_position(np.array([4]), others[np.newaxis])[0]
    true = np.array([by_hand(scores, np.insert(others, p, 4)) for p in range(5)])
    assert found - found[0] == pytest.approx(true - true[0], abs=1e-5)


def test_orderings_are_drawn_as_often_as_they_are_likely(scores, rng):
    every = np.array(list(permutations(range(5))))
    likely = np.exp(scores.score(every))
    likely /= likely.sum()
    drawn = draw_orderings(scores, rng, chains=300, cooling=8, kept=30, between=1)
    name = 5 ** np.arange(5)
    count = dict(zip(*np.unique(drawn @ name, return_counts=True), strict=True))
    shares = np.array([count.get(key, 0) for key in every @ name]) / len(drawn)
    assert np.abs(shares - likely).sum() / 2 < 0.05  # chance alone gives about 0.03


def test_agreement_is_what_orderings_drawn_have_in_common_on_average(rng):
    drawn = np.stack([rng.permutation(6) for _ in range(40)])
    found, order = posterior_of(drawn), rng.permutation(6)
    places = np.argsort(drawn, axis=1)

    def rho(order):
        return np.mean([1 - 6 * ((place[order] - np.arange(6)) ** 2).sum() / (6 * 35) for place in places])

    gain = position_agreement(found)
    assert 1 + gain[order, np.arange(6)].sum() / 6 == pytest.approx(rho(order))
    kept = [np.mean(np.abs(np.diff(place[order])) == 1) for place in places]
    flow = neighbour_agreement(found)[order[:-1], order[1:]].sum() / 5
    assert flow / 2 == pytest.approx(np.mean(kept))
    assert found.positions.sum(axis=0) == pytest.approx(np.ones(6))


def test_collections_of_different_sizes_walk_together_each_by_its_own_scores(scores, rng):
    small = Energy(rng.normal(size=(3, 3)), reach=rng.normal(size=(7, 3, 3)))
    walk = Walk([scores, small], 200)
    orders = np.tile(np.arange(5), (400, 1))
    drawn = []
    for _ in range(40):
        orders = walk.round(orders, 1.0, rng)
        drawn.append(orders[200:])
    assert (orders[200:, 3:] == [3, 4]).all()  # what fills up stays where it is
    assert walk.score(orders)[200:] == pytest.approx(small.score(orders[200:, :3]), abs=1e-5)
    every = np.array(list(permutations(range(3))))
    likely = np.exp(small.score(every)) / np.exp(small.score(every)).sum()
    found = np.concatenate(drawn[5:])[:, :3]
    shares = (found[:, np.newaxis] == every).all(axis=2).mean(axis=0)
    assert np.abs(shares - likely).sum() / 2 < 0.05


@pytest.mark.parametrize("n", [2, 5, 8])
def test_neighbours_alone_are_walked_by_as_all_pairs_are(n, rng):
    near = Energy(rng.normal(size=(n, n)), rng.normal(size=(n, n)))
    reach = np.zeros((7, n, n))
    reach[NEAR] = near.flow
    orders = np.stack([rng.permutation(n) for _ in range(6)])
    walks = [Walk([one], 6) for one in (near, Energy(near.positions, reach=reach))]
    first, second = (walk._by_position(orders[:, 0], orders[:, 1:]) for walk in walks)
    np.testing.assert_allclose(first - first[:, :1], second - second[:, :1], atol=1e-5)
    np.testing.assert_allclose(walks[0].score(orders), near.score(orders), atol=1e-9)
    np.testing.assert_allclose(walks[1].score(orders), near.score(orders), atol=1e-5)
