from functools import cache
from itertools import permutations

import numpy as np
import pytest

from fabula.core.energy import Energy
from fabula.core.posterior import NEIGHBOURS, agreement, neighbour_agreement, position_agreement, posterior
from fabula.core.solver import Constraints
from fabula.evaluation.metrics import METRICS
from fabula.models.order import likeliest

COUNTED = {"spearman": 1.0, "first": 1.0, "last": 1.0, "neighbours": NEIGHBOURS}


@cache
def metrics_of(ordering):
    """What the four metrics say of an ordering."""
    return sum(times * METRICS[name](np.array(ordering)) for name, times in COUNTED.items())


def expected_agreement(tables, ordering):
    """The sum of the four metrics against every ordering, weighed by how likely each is to be the true one."""
    n = len(ordering)
    total = agreed = 0.0
    for true in map(np.array, permutations(range(n))):
        weight = np.exp(tables.score(true))
        shown = np.argsort(true)[ordering]  # items numbered in the order that is taken for the true one
        agreed += weight * metrics_of(tuple(shown.tolist()))
        total += weight
    return agreed / total


def expected(tables):
    return posterior(tables)


@pytest.fixture
def tables(rng):
    return Energy(1.5 * rng.normal(size=(5, 5)), rng.normal(size=(5, 5)) * (1 - np.eye(5)))


def test_the_tables_sum_up_to_the_expected_agreement(tables):
    chances = expected(tables)
    positions, neighbours = position_agreement(chances), neighbour_agreement(chances)

    def told(order):
        return (positions[order, np.arange(5)].sum() + neighbours[order[:-1], order[1:]].sum()) / 5

    one, other = np.array([3, 1, 0, 2, 4]), np.array([0, 4, 2, 1, 3])
    difference = expected_agreement(tables, one) - expected_agreement(tables, other)
    assert told(one) - told(other) == pytest.approx(difference)


def test_no_other_ordering_can_be_expected_to_agree_better(tables):
    found = likeliest(agreement(expected(tables)))
    assert found.exact
    best = max(expected_agreement(tables, np.array(order)) for order in permutations(range(5)))
    assert expected_agreement(tables, found.ordering) == pytest.approx(best)
    held = likeliest(agreement(expected(tables)), Constraints(5, fixed={0: int(found.ordering[0])}))
    assert held.ordering.tolist() == found.ordering.tolist()  # a wish that holds changes nothing


def test_a_model_that_is_sure_leaves_no_choice(tables):
    sure = Energy(60 * tables.positions, 60 * tables.flow)
    assert likeliest(agreement(expected(sure))).ordering.tolist() == likeliest(sure).ordering.tolist()
