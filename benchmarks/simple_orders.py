"""Simple ways to put texts in order, to hold a model against: by length, along their tf-idf, by chance.

None of them knows which end begins: a way along tf-idf is turned round or not by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from ortools.sat.python import cp_model
from sklearn.feature_extraction.text import TfidfVectorizer

from fabula.core.arrays import Floats, Ints

SECONDS = 10.0  # for the shortest way through all
GRAIN = 1e-5  # of distances, which CP-SAT takes as whole numbers


def cosines(texts: Sequence[str]) -> Floats:
    """How alike texts are by tf-idf with the logarithm of counts: shape (n, n)."""
    table = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    return np.asarray((table @ table.T).toarray())


def length_order(texts: Sequence[str]) -> Ints:
    """The shortest text first."""
    return np.argsort([len(text) for text in texts], kind="stable")


def greedy_order(alike: Floats) -> Ints:
    """From a text to the one most like it that is left; of all texts to start from, the one with the best way.

    Examples
    --------
    >>> greedy_order(np.array([[1, 0, 0.5], [0, 1, 0.6], [0.5, 0.6, 1]])).tolist()
    [0, 2, 1]
    """
    ways = [_greedy_from(start, alike) for start in range(len(alike))]
    return max(ways, key=lambda way: alike[way[:-1], way[1:]].sum())


def _greedy_from(start: int, alike: Floats) -> Ints:
    way, left = [start], np.ones(len(alike), dtype=bool)
    left[start] = False
    while left.any():
        way.append(int(np.argmax(np.where(left, alike[way[-1]], -np.inf))))
        left[way[-1]] = False
    return np.array(way)


def salesman_order(alike: Floats) -> Ints:
    """The way through all texts whose neighbours are most alike, by CP-SAT: the best, or what it has in ten seconds.

    Examples
    --------
    >>> salesman_order(np.array([[1, 0, 0.5], [0, 1, 0.6], [0.5, 0.6, 1]]))[1]
    np.int64(2)
    """
    n, model = len(alike), cp_model.CpModel()
    arcs = {(i, j): model.new_bool_var("") for i in range(n + 1) for j in range(n + 1) if i != j}
    model.add_circuit([(i, j, taken) for (i, j), taken in arcs.items()])  # text n stands for both ends
    model.maximize(sum(round(alike[i, j] / GRAIN) * taken for (i, j), taken in arcs.items() if max(i, j) < n))
    hint = [n, *greedy_order(alike).tolist(), n]
    along = set(pairwise(hint))
    for arc, taken in arcs.items():
        model.add_hint(taken, arc in along)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = SECONDS, 1
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return greedy_order(alike)
    after = {i: j for (i, j), taken in arcs.items() if solver.value(taken)}
    way = [after[n]]
    while after[way[-1]] != n:
        way.append(after[way[-1]])
    return np.array(way)


def fiedler_order(alike: Floats) -> Ints:
    """Along the Fiedler vector: the second eigenvector of the Laplacian of how alike texts are, normalised.

    Examples
    --------
    >>> fiedler_order(np.array([[1, 0, 0.5], [0, 1, 0.6], [0.5, 0.6, 1]]))[1]
    np.int64(2)
    """
    links = alike * (1 - np.eye(len(alike)))
    root = np.sqrt(links.sum(axis=1))
    laplacian = np.eye(len(alike)) - links / np.outer(root, root)
    return np.argsort(np.linalg.eigh(laplacian)[1][:, 1] / root, kind="stable")


def simple_orders(texts: Sequence[str], rng: np.random.Generator) -> dict[str, Ints]:
    """What each simple way makes of texts, by its name."""
    alike = cosines(texts)
    along: dict[str, Callable[[Floats], Ints]] = {
        "travelling salesman on tf-idf": salesman_order,
        "nearest neighbour on tf-idf": greedy_order,
        "Fiedler vector on tf-idf": fiedler_order,
    }
    found = {name: _either_way(order(alike), rng) for name, order in along.items()}
    return found | {"by length": length_order(texts), "chance": rng.permutation(len(texts))}


def _either_way(ordering: Ints, rng: np.random.Generator) -> Ints:
    return ordering[::-1] if rng.random() < 0.5 else ordering
