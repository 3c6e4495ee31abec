"""Batches of collections of one length: no padding, so nothing can leak through it.

All items lie in one matrix on the device, collections of one length beside each other; a batch is a few row numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

SHORTEST = 3  # items a subsequence keeps at least


@dataclass(frozen=True, eq=False)
class Pool:
    """Items of many collections on one device.

    Parameters
    ----------
    values
        Shape (items, f[, s]), single precision, standardised.
    groups
        length -> (row of its first item, number of collections of that length).
    """

    values: Tensor
    groups: dict[int, tuple[int, int]]

    def __len__(self) -> int:
        return sum(count for _, count in self.groups.values())

    def starts(self, length: int) -> Tensor:
        """Row of the first item of each collection of a length, on the CPU."""
        first, count = self.groups[length]
        return first + length * torch.arange(count)


@dataclass(frozen=True, eq=False)
class Batch:
    """Collections of one length by the rows of their first items, and how many items of each are kept."""

    starts: Tensor  # (b,)
    length: int
    kept: int
    weight: float = 1.0  # of each of them; below 1 where some are there twice to fill the batch


def plan_epoch(
    pool: Pool,
    batch: int,
    generator: torch.Generator,
    *,
    subsequences: float = 0.0,
    shortest: float = 0.0,
    fill: bool = False,
) -> list[Batch]:
    """Every collection once, in shuffled batches of one length.

    Parameters
    ----------
    pool
        What to draw from.
    batch
        Most collections in one batch; those of one length are dealt evenly.
    generator
        On the CPU; it decides everything.
    subsequences
        Part of the batches in which only some items of each collection are kept.
    shortest
        Part of the items that are kept at least; never fewer than 3 items.
    fill
        Repeat collections until every batch is as large as the largest; their weights make up for it.
    """
    dealt: list[tuple[int, Tensor]] = []
    for length in pool.groups:
        starts = pool.starts(length)
        mixed = starts[torch.randperm(len(starts), generator=generator)]
        dealt += [(length, part) for part in torch.tensor_split(mixed, -(-len(mixed) // batch))]
    largest = max(len(part) for _, part in dealt)
    weights = [len(part) / largest if fill else 1.0 for _, part in dealt]
    if fill:
        dealt = [(length, part.repeat(-(-largest // len(part)))[:largest]) for length, part in dealt]
    order = torch.randperm(len(dealt), generator=generator).tolist()
    cut = torch.rand(len(dealt), 2, generator=generator, dtype=torch.float64).tolist()
    on_device = torch.cat([dealt[i][1] for i in order]).to(pool.values.device)  # one transfer
    parts = torch.split(on_device, [len(dealt[i][1]) for i in order])
    lengths = [dealt[i][0] for i in order]
    return [
        Batch(starts, length, _kept(length, shortest, share) if chance < subsequences else length, weights[i])
        for i, starts, length, (chance, share) in zip(order, parts, lengths, cut, strict=True)
    ]


def filling(pool: Pool, batch: int) -> float:
    """How many times more collections an epoch has when every batch is filled to the size of the largest.

    Examples
    --------
    >>> filling(Pool(torch.zeros(0), {3: (0, 100), 4: (300, 20)}), 60)
    1.25
    """
    counts = [count for _, count in pool.groups.values()]
    parts = [-(-count // batch) for count in counts]
    largest = max(-(-count // part) for count, part in zip(counts, parts, strict=True))
    return sum(parts) * largest / len(pool)


def _kept(length: int, shortest: float, share: float) -> int:
    """A number of items from the fewest to all, each as likely; ``share`` is in [0, 1)."""
    fewest = min(length, max(SHORTEST, math.ceil(shortest * length)))
    return fewest + int(share * (length - fewest + 1))


def take(pool: Pool, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
    """The features of a batch in true order, shape (b, kept, f[, s])."""
    device = pool.values.device
    if batch.kept == batch.length:
        return pool.values[batch.starts[:, None] + torch.arange(batch.length, device=device)]
    keys = torch.rand(len(batch.starts), batch.length, device=device, generator=generator)
    positions = keys.argsort(1)[:, : batch.kept].sort(1).values  # (b, kept), rising: the order is preserved
    return pool.values[batch.starts[:, None] + positions]


def draw_orderings(b: int, sequences: int, n: int, generator: torch.Generator) -> Tensor:
    """The true order first, then uniformly random permutations (one may be the true order): (b, sequences, n)."""
    keys = torch.rand(b, sequences, n, device=generator.device, generator=generator)
    orderings = keys.argsort(2)
    orderings[:, 0] = torch.arange(n, device=generator.device)
    return orderings


def whole_batches(pool: Pool, batch: int) -> Iterator[Batch]:
    """Every collection once, whole, in the order of the pool."""
    for length in pool.groups:
        for part in torch.split(pool.starts(length).to(pool.values.device), batch):
            yield Batch(part, length, length)
