"""InfoNCE over tables: arcs and flow are linear in the ordering, so thousands of negatives are one matrix product."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def permutations(count: int, n: int, generator: torch.Generator) -> Tensor:
    """Independent uniform orderings of n items, (count, n); any may be the true one, as the bound needs it."""
    return torch.rand((count, n), device=generator.device, generator=generator).argsort(-1)


def ordering_scores(positions: Tensor, flow: Tensor, orderings: Tensor) -> Tensor:
    """Scores of the same orderings for every collection.

    Parameters
    ----------
    positions, flow
        Shape (B, n, n): item by position, and item by the item that follows.
    orderings
        Shape (N, n).

    Returns
    -------
    Shape (B, N).
    """
    count, n = orderings.shape
    stands = torch.zeros((count, n * n), device=positions.device)
    stands.scatter_(1, orderings * n + torch.arange(n, device=orderings.device), 1.0)
    follows = torch.zeros((count, n * n), device=positions.device)
    follows.scatter_(1, orderings[:, :-1] * n + orderings[:, 1:], 1.0)
    return positions.flatten(1) @ stands.T + flow.flatten(1) @ follows.T


def true_scores(positions: Tensor, flow: Tensor) -> Tensor:
    """Scores of the true ordering, in which the items of the tables stand: (B, 1)."""
    places = positions.diagonal(dim1=1, dim2=2).sum(-1, keepdim=True)
    return places + flow.diagonal(offset=1, dim1=1, dim2=2).sum(-1, keepdim=True)


def contrast(positions: Tensor, flow: Tensor, orderings: Tensor) -> Tensor:
    """Logits (B, 1 + N): the true ordering first, then its negatives."""
    return torch.cat([true_scores(positions, flow), ordering_scores(positions, flow, orderings)], dim=1)


def info_nce(logits: Tensor) -> Tensor:
    """Mean over the collections of minus the log probability of the true ordering."""
    return -logits.log_softmax(-1)[:, 0].mean()


def taught(logits: Tensor, opinion: Tensor) -> Tensor:
    """Divergence of a net's probabilities over the orderings from its teachers' (Hinton et al. 2015)."""
    return functional.kl_div(logits.log_softmax(-1), opinion.log_softmax(-1), log_target=True, reduction="batchmean")
