"""The paper's Algorithm 2 written out plainly with networkx: the reference for speed and for the answer."""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray


def fit_plain(values: NDArray[np.float64], targets: NDArray[np.float64]) -> list[int]:
    """Binary search of the largest deviation over perfect matchings, then a matching of least cost."""
    n = len(values)
    distance = np.abs(values[:, np.newaxis] - targets)
    limits = np.unique(distance)
    low, high = 0, len(limits) - 1
    while low < high:
        middle = (low + high) // 2
        if _perfect(distance, limits[middle]):
            high = middle
        else:
            low = middle + 1
    graph = nx.Graph()
    for i in range(n):
        for j in range(n):
            if distance[i, j] <= limits[low]:
                graph.add_edge(("item", i), ("place", j), weight=-distance[i, j])
    ordering = [0] * n
    for a, b in nx.max_weight_matching(graph, maxcardinality=True):
        (_, item), (_, place) = (a, b) if a[0] == "item" else (b, a)
        ordering[place] = item
    return ordering


def _perfect(distance: NDArray[np.float64], limit: float) -> bool:
    n = len(distance)
    graph = nx.Graph()
    items = [("item", i) for i in range(n)]
    graph.add_nodes_from(items)
    graph.add_nodes_from(("place", j) for j in range(n))
    graph.add_edges_from((("item", i), ("place", j)) for i, j in np.argwhere(distance <= limit).tolist())
    return len(nx.bipartite.hopcroft_karp_matching(graph, top_nodes=items)) == 2 * n
