"""The InfoNCE loss (Equation 1 of the paper) and the bound on the information it gives (Equation 2)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def info_nce(scores: Tensor) -> Tensor:
    """Equation 1 of the paper for each collection, in nats, with the exponential of the score as its g.

    Parameters
    ----------
    scores
        Shape (b, N): one row per collection, the score of the true order first.

    Returns
    -------
    Shape (b,): the negative logarithm of the true order's share.

    Examples
    --------
    >>> info_nce(torch.zeros(1, 8)) / math.log(8)
    tensor([1.])
    """
    return torch.logsumexp(scores, dim=1) - scores[:, 0]


def to_bits(loss: float, sequences: int) -> float:
    """Equation 2 of the paper: the bound log N - L on the information, in bits.

    Parameters
    ----------
    loss
        Mean of :func:`info_nce` over collections.
    sequences
        The paper's N.

    Examples
    --------
    >>> to_bits(0.0, 32)
    5.0
    """
    return (math.log(sequences) - loss) / math.log(2)
