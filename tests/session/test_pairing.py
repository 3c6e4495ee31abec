"""Pairings, against brute force and networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from fabula.errors import InputError
from fabula.session.request import pair_up


def _costs(n: int, rng: np.random.Generator) -> np.ndarray:
    costs = rng.uniform(-1, 3, (n, n))
    return (costs + costs.T) / 2


def _best(costs: np.ndarray) -> float:
    """The smallest sum, by Edmonds' algorithm."""
    graph = nx.Graph()
    n = len(costs)
    graph.add_weighted_edges_from((i, j, 10 - costs[i, j]) for i in range(n) for j in range(i))
    found = nx.max_weight_matching(graph, maxcardinality=True)
    return float(sum(costs[i, j] for i, j in found))


@pytest.mark.parametrize("n", [0, 2, 6, 10, 12])
def test_few_are_paired_at_the_smallest_cost(n: int, rng: np.random.Generator) -> None:
    for _ in range(5):
        costs = _costs(n, rng)
        pairs = pair_up(costs)
        assert sorted(i for pair in pairs for i in pair) == list(range(n))
        assert sum(costs[i, j] for i, j in pairs) == pytest.approx(_best(costs) if n else 0)


def test_many_are_paired_near_the_smallest_cost(rng: np.random.Generator) -> None:
    points = rng.standard_normal((60, 3))
    costs = np.sqrt(((points[:, np.newaxis] - points) ** 2).sum(axis=2))
    pairs = pair_up(costs)
    assert sorted(i for pair in pairs for i in pair) == list(range(60))
    assert sum(costs[i, j] for i, j in pairs) <= 1.1 * _best(costs)


def test_an_odd_number_is_refused() -> None:
    with pytest.raises(InputError, match="n even"):
        pair_up(np.zeros((3, 3)))
