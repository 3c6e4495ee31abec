"""``{"kind": "flow", "rank": 16, "pairs": 32}``: how well an item is followed by another.

Both are compared in some dimensions of their essence, and what the encoder makes of the pair has its say:

==========================================  ======================================================
``flow.from``, ``flow.to``                  (d, rank)
``flow.pair.weight``, ``flow.pair.bias``    (1, pairs), (1,)
==========================================  ======================================================
"""

from dataclasses import dataclass

import numpy as np

from fabula.core.arrays import one_thread
from fabula.core.energy import Energy, table_type
from fabula.errors import ModelError
from fabula.models.config import Encoded, ScorerKind, Settings, Shape, Tensors, as_whole, linear

_WHAT = "the flow scorer"


@dataclass(frozen=True, eq=False)
class Flow:
    """The scorer with its weights."""

    tensors: Tensors

    @one_thread()
    def energy(self, x: Encoded) -> Energy:
        """How well each item (row) is followed by each other (column), zero on the diagonal; of many, by some rows."""
        if x.blocks is None:
            raise ModelError("flow needs an encoder that looks at pairs of items")
        count, n, _ = x.essence.shape
        before = (x.essence if x.before is None else x.before) @ self.tensors["flow.from"]  # (B, n, rank)
        after = x.essence @ self.tensors["flow.to"]
        scores = np.empty((count, n, n), dtype=table_type(n))
        for rows, pairs in x.blocks():
            product = before[:, rows] @ after.transpose(0, 2, 1) / before.dtype.type(np.sqrt(before.shape[-1]))
            scores[:, rows] = product + linear(self.tensors, "flow.pair", pairs)[..., 0]
        scores[:, np.arange(n), np.arange(n)] = 0.0
        return Energy(flow=scores)


def _shapes(settings: Settings, d: int) -> dict[str, Shape]:
    rank, pairs = (as_whole(settings, key, _WHAT) for key in ("rank", "pairs"))
    return {"flow.from": (d, rank), "flow.to": (d, rank), "flow.pair.weight": (1, pairs), "flow.pair.bias": (1,)}


FLOW = ScorerKind(_shapes, lambda tensors, settings: Flow(tensors), detail=1, tables=True)
