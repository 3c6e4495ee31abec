"""Bits that a set net has about the order of collections, one number per collection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fabula.training.sets.data import Batch, SetData
from fabula.training.sets.masking import only

Tables = Callable[[Batch], tuple[Tensor, Tensor]]


def collection_bits(
    tables: Tables,
    data: SetData,
    *,
    features: Sequence[int] | None = None,
    titles: bool = True,
    flow: bool = True,
    negatives: int = 31,
    draws: int = 8,
    seed: int = 0,
) -> NDArray[np.float64]:
    """The InfoNCE bound of each collection: its true ordering against independent uniform ones.

    Parameters
    ----------
    tables
        From a batch to position scores and flow scores, (B, n, n) each.
    data
        The collections, in true order.
    features
        Columns that may be seen; all by default.
    titles, flow
        Whether titles may be seen, and whether flow counts.
    negatives, draws
        Orderings against each true one, and how often they are drawn.

    Returns
    -------
    Shape (collections,), in bits.
    """
    bits = np.zeros(len(data))
    generator = torch.Generator(data.values.device).manual_seed(seed)
    seen = list(range(data.values.shape[1])) if features is None else list(features)
    with torch.no_grad():
        for chosen in data.by_length().values():
            for part in torch.split(chosen, 256):
                positions, follow = tables(only(data.whole(part), seen, titles=titles))
                follow = follow if flow else torch.zeros_like(follow)
                bits[part.cpu().numpy()] = _bits(positions, follow, negatives, draws, generator).cpu().numpy()
    return bits


def _bits(positions: Tensor, flow: Tensor, negatives: int, draws: int, generator: torch.Generator) -> Tensor:
    """Shape (B,): each collection against orderings of its own."""
    count, n, _ = positions.shape
    drawn = torch.rand((count, draws * negatives, n), device=generator.device, generator=generator).argsort(-1)
    steps = torch.arange(n, device=positions.device)
    scores = positions.flatten(1).gather(1, (drawn * n + steps).flatten(1)).view(drawn.shape).sum(-1)
    links = drawn[:, :, :-1] * n + drawn[:, :, 1:]
    scores = scores + flow.flatten(1).gather(1, links.flatten(1)).view(links.shape).sum(-1)
    true = positions.diagonal(dim1=1, dim2=2).sum(-1) + flow.diagonal(offset=1, dim1=1, dim2=2).sum(-1)
    logits = torch.cat([true[:, None, None].expand(-1, draws, 1), scores.view(count, draws, negatives)], dim=-1)
    return (math.log(negatives + 1) + logits.double().log_softmax(-1)[..., 0].mean(-1)) / math.log(2)
