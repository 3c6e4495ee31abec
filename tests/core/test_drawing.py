from itertools import permutations

import numpy as np
import pytest

from fabula.core.energy import Scores
from fabula.core.posterior import Consensus
from fabula.core.sampling import Walk, draw_orderings


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def scores(rng):
    return Scores(rng.normal(size=(5, 5)) * 0.7, rng.normal(size=(5, 5, 5)) * 0.5)


def by_hand(scores, order):
    total = sum(scores.at[item, j] for j, item in enumerate(order))
    pairs = ((j, k) for k in range(len(order)) for j in range(k))
    return total + sum(scores.apart[k - j, order[j], order[k]] for j, k in pairs)


def test_scores_are_those_of_a_double_loop(scores, rng):
    orders = np.stack([rng.permutation(5) for _ in range(4)])
    assert scores.of(orders) == pytest.approx([by_hand(scores, order) for order in orders])


def test_an_item_put_back_is_scored_at_every_position(scores):
    order = np.array([3, 0, 4, 1, 2])
    others = np.delete(order, 2)
    found = Walk([scores], 1)._by_position(np.array([4]), others[np.newaxis])[0]
    true = np.array([by_hand(scores, np.insert(others, p, 4)) for p in range(5)])
    assert found - found[0] == pytest.approx(true - true[0], abs=1e-5)


def test_orderings_are_drawn_as_often_as_they_are_likely(scores, rng):
    every = np.array(list(permutations(range(5))))
    likely = np.exp(scores.of(every))
    likely /= likely.sum()
    drawn = draw_orderings(scores, rng, chains=300, cooling=8, kept=30, between=1)
    name = 5 ** np.arange(5)
    count = dict(zip(*np.unique(drawn @ name, return_counts=True), strict=True))
    shares = np.array([count.get(key, 0) for key in every @ name]) / len(drawn)
    assert np.abs(shares - likely).sum() / 2 < 0.05  # chance alone gives about 0.03


def test_consensus_costs_are_the_expected_loss(rng):
    drawn = np.stack([rng.permutation(6) for _ in range(40)])
    consensus, order = Consensus(drawn), rng.permutation(6)
    places = np.argsort(drawn, axis=1)
    rho = [1 - 6 * ((place[order] - np.arange(6)) ** 2).sum() / (6 * 35) for place in places]
    cost = consensus.costs(6)[order, np.arange(6)].sum() / 6
    assert 1 - cost == pytest.approx(np.mean(rho))
    kept = [np.mean(np.abs(np.diff(place[order])) == 1) for place in places]
    flow = consensus.flow()[order[:-1], order[1:]].sum() / 5
    assert -flow / 2 == pytest.approx(np.mean(kept))
    assert consensus.shares().sum(axis=0) == pytest.approx(np.ones(6))


def test_sureness_is_the_share_that_runs_the_same_way():
    drawn = np.array([[0, 1, 2, 3]] * 3 + [[3, 2, 1, 0]])
    assert Consensus(drawn).sureness(np.array([0, 1, 2, 3])) == 0.75
    assert Consensus(drawn).sureness(np.array([3, 1, 0])) == 0.25


def test_collections_of_different_sizes_walk_together_each_by_its_own_scores(scores, rng):
    small = Scores(rng.normal(size=(3, 3)), rng.normal(size=(3, 3, 3)))
    walk = Walk([scores, small], 200)
    orders = walk.start(rng)
    drawn = []
    for _ in range(40):
        orders = walk.round(orders, 1.0, rng)
        drawn.append(orders[200:])
    assert (orders[200:, 3:] == [3, 4]).all()  # what fills up stays where it is
    assert walk.scores(orders)[200:] == pytest.approx(small.of(orders[200:, :3]), abs=1e-5)
    every = np.array(list(permutations(range(3))))
    likely = np.exp(small.of(every)) / np.exp(small.of(every)).sum()
    found = np.concatenate(drawn[5:])[:, :3]
    shares = (found[:, np.newaxis] == every).all(axis=2).mean(axis=0)
    assert np.abs(shares - likely).sum() / 2 < 0.05
