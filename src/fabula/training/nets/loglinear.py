"""A scorer that is linear in sums over an ordering: of what items have at their positions, and of pairs by distance."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class LoglinearNet(nn.Module):
    """One weight per sum, in double precision: sums (..., w) -> scores (...); ``start`` (w,): the first weights."""

    def __init__(self, start: NDArray[np.float64]) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.from_numpy(np.array(start, dtype=np.float64)))

    def forward(self, sums: Tensor) -> Tensor:
        """Scores of orderings by their sums."""
        return sums @ self.weights

    @property
    def array(self) -> NDArray[np.float64]:
        """The weights, (w,)."""
        return self.weights.detach().cpu().numpy().copy()
