"""``{"kind": "reach", "pairs": ["wording", ...]}``: what every two items add, by how far apart they stand.

Each table over all pairs that was seen in the items counts by a kernel of the distance, which stands on the seven
functions of :func:`fabula.core.energy.distance_basis`: ``reach.weights`` is (tables, 7). What two neighbours add is
flow; a model whose other weights are zero has no reach.
"""

from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import Floats
from fabula.core.collection import Evidence
from fabula.core.energy import KERNELS, MOST_WHOLE, Energy, distance_basis, table_type
from fabula.errors import ModelError
from fabula.models.config import Array, Encoded, ScorerKind, Settings, Shape

MOST_DRAWN = 90  # items beyond which all pairs are too many: then neighbours count, and who comes first


@dataclass(frozen=True, eq=False)
class Reach:
    """The scorer with its weights (tables, 7), and the names of the tables."""

    names: tuple[str, ...]
    weights: Array

    @property
    def far(self) -> bool:
        """Whether more than neighbours have a say."""
        return bool(self.weights[:, 1:].any())

    def energy(self, x: Encoded) -> Energy:
        """What each two items add."""
        n, evidence = x.essence.shape[1], x.evidence or Evidence()
        if self.far and n <= MOST_DRAWN:
            return Energy(reach=self.tables(evidence, n)[np.newaxis])
        flow, lead = self.weigh(evidence, n)
        if not self.far:
            return Energy(flow=flow[np.newaxis])

        kind = table_type(n)

        def of_count(m: int, items: slice) -> Floats:
            return np.outer(lead[items].astype(kind), ((m - 1) / 2 - np.arange(m)).astype(kind))[np.newaxis]

        return Energy(of_count(n, slice(n)) if n <= MOST_WHOLE else None, flow[np.newaxis], of_count=of_count)

    def tables(self, evidence: Evidence, n: int) -> Floats:
        """What each function of the distance is multiplied with, for each two of n items: shape (7, n, n)."""
        total = np.zeros((KERNELS, n, n))
        for name, weights in zip(self.names, self.weights, strict=True):
            if name in evidence.pairs:
                total += weights[:, np.newaxis, np.newaxis] * evidence.pairs[name]
        return total

    def weigh(self, evidence: Evidence, n: int) -> tuple[Floats, Floats]:
        """What each two neighbours add, (n, n), and what speaks for each before all others, (n,); each table once."""
        near, far = distance_basis(2)[:, 1], distance_basis(max(n, 2))[:, 1:].mean(axis=1)  # of all distances
        total, lead = None, np.zeros(n)
        for name, weight, mean in zip(self.names, self.weights @ near, self.weights @ far, strict=True):
            if name in evidence.pairs and (weight or mean):
                part = evidence.pairs[name]
                total = np.zeros((n, n), dtype=part.dtype) if total is None else total
                for row in range(n):  # row by row: tables of very many items are large
                    total[row] += float(weight) * part[row]
                lead += mean * (part.sum(axis=1, dtype=np.float64) - part.sum(axis=0, dtype=np.float64)) / n
                del part  # with all that looks into it, before the next one is made
        return np.zeros((n, n)) if total is None else np.asarray(total), lead


def _shapes(settings: Settings, d: int) -> dict[str, Shape]:
    names = settings.get("pairs")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ModelError(f'the reach scorer\'s "pairs" must be a list of distinct names; got {names!r}')
    return {"reach.weights": (len(names), KERNELS)}


REACH = ScorerKind(
    _shapes,
    lambda tensors, own: Reach(tuple(own["pairs"]), tensors["reach.weights"]),
    detail=2,
    also=("flow",),
    tables=True,
)
