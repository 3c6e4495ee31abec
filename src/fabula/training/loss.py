"""The InfoNCE loss (Equation 1 of the paper), the bound on the information it gives (Equation 2), scores by tables."""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional

Number = TypeVar("Number", float, Tensor)


def info_nce(scores: Tensor) -> Tensor:
    """Equation 1 of the paper, in nats, of scores (b, N), the true order's first: -log of its share, (b,)."""
    return torch.logsumexp(scores, dim=1) - scores[:, 0]


def log_share(logits: Tensor) -> Tensor:
    """Minus :func:`info_nce`, along the last of any axes; rounded as the files of set models were trained with."""
    return logits.log_softmax(-1)[..., 0]


def to_bits(loss: Number, sequences: int) -> Number:
    """Equation 2 of the paper: the bound log N - L on the information, in bits; ``sequences`` is N."""
    return (math.log(sequences) - loss) / math.log(2)


def distill(logits: Tensor, opinion: Tensor) -> Tensor:
    """Divergence of a net's probabilities over the orderings from its teachers' (Hinton et al. 2015)."""
    return functional.kl_div(logits.log_softmax(-1), opinion.log_softmax(-1), log_target=True, reduction="batchmean")


def permutations(count: int, n: int, generator: torch.Generator) -> Tensor:
    """Independent uniform orderings of n items, (count, n); any may be the true one, as the bound needs it."""
    return torch.rand((count, n), device=generator.device, generator=generator).argsort(-1)


def contrast(tables: tuple[Tensor, Tensor], orderings: Tensor) -> Tensor:
    """Logits (B, 1 + N): the true ordering, in which the items of the tables stand, then its negatives (N, n)."""
    positions, flow = tables
    places = positions.diagonal(dim1=1, dim2=2).sum(-1, keepdim=True)
    true = places + flow.diagonal(offset=1, dim1=1, dim2=2).sum(-1, keepdim=True)  # (B, 1)
    return torch.cat([true, ordering_scores(positions, flow, orderings)], dim=1)


def ordering_scores(positions: Tensor, flow: Tensor, orderings: Tensor) -> Tensor:
    """Scores (B, N) of the same orderings (N, n) for every collection.

    They are linear in the tables (B, n, n), item by position and item by the next, so thousands are one matrix product.
    """
    count, n = orderings.shape
    stands = torch.zeros((count, n * n), device=positions.device)
    stands.scatter_(1, orderings * n + torch.arange(n, device=orderings.device), 1.0)
    follows = torch.zeros((count, n * n), device=positions.device)
    follows.scatter_(1, orderings[:, :-1] * n + orderings[:, 1:], 1.0)
    return positions.flatten(1) @ stands.T + flow.flatten(1) @ follows.T


def table_bits(positions: Tensor, flow: Tensor, negatives: int, draws: int, generator: torch.Generator) -> Tensor:
    """Bits (B,) of tables (B, n, n): each collection against orderings of its own."""
    count, n, _ = positions.shape
    drawn = permutations(count * draws * negatives, n, generator).view(count, draws * negatives, n)
    steps = torch.arange(n, device=positions.device)
    scores = positions.flatten(1).gather(1, (drawn * n + steps).flatten(1)).view(drawn.shape).sum(-1)
    links = drawn[:, :, :-1] * n + drawn[:, :, 1:]
    scores = scores + flow.flatten(1).gather(1, links.flatten(1)).view(links.shape).sum(-1)
    true = positions.diagonal(dim1=1, dim2=2).sum(-1) + flow.diagonal(offset=1, dim1=1, dim2=2).sum(-1)
    logits = torch.cat([true[:, None, None].expand(-1, draws, 1), scores.view(count, draws, negatives)], dim=-1)
    return to_bits(-log_share(logits.double()).mean(-1), negatives + 1)
