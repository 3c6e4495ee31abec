"""Collections as training works on them: checked, transformed, in flat arrays on a device, batches of one length.

No padding, so nothing can leak through it: all items lie in one matrix, and a batch is a few row numbers.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.evaluation.controls import Parts
from fabula.models.transform import Transform, log_parts
from fabula.training.recipes import TrainingConfig

SHORTEST = 3  # items a subsequence keeps at least
_ROWS = 256  # items looked at together: few, so that they stay near the processor


@dataclass(frozen=True, eq=False)
class ItemPool:
    """Items of many collections in true order on one device."""

    # What is known of items by name, one row an item, collection after collection: values (items, f[, s]), single
    # precision, standardised; for a set model what fabula.models.encoders.set.SetInputs has beside.
    items: Mapping[str, Tensor]
    lengths: Tensor  # (collections,), on the CPU: items of each
    pairs: Tensor | None = None  # (sum of n^2, k): the table over pairs of each collection, row by row

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def values(self) -> Tensor:
        """The features of all items."""
        return self.items["values"]

    @property
    def device(self) -> torch.device:
        """Where the items are."""
        return self.values.device

    @cached_property
    def by_length(self) -> dict[int, Tensor]:
        """Numbers of the collections of each length, on the CPU."""
        return {int(n): (self.lengths == n).nonzero()[:, 0] for n in torch.unique(self.lengths).tolist()}

    @cached_property
    def _starts(self) -> tuple[Tensor, Tensor]:
        """Where the items of each collection begin, and where its table does."""
        squares = self.lengths**2
        first, cells = (torch.cumsum(each, 0) - each for each in (self.lengths, squares))
        return first.to(self.device), cells.to(self.device)

    def gather(self, chosen: Tensor, steps: Tensor, length: int) -> dict[str, Tensor]:
        """Items ``steps`` (b, m) or (m,) of the collections ``chosen`` (b,), which have one length.

        Gives (b, m, ...) by name, and ``pairs`` (b, m, m, k) where there are any.
        """
        first, cells = self._starts
        rows = first[chosen][:, None] + steps  # (b, m)
        found = {name: column[rows] for name, column in self.items.items()}
        if self.pairs is not None:
            table = cells[chosen][:, None, None] + steps[..., :, None] * length + steps[..., None, :]
            found["pairs"] = self.pairs[table].float()
        return found

    def whole(self, chosen: Tensor, length: int) -> dict[str, Tensor]:
        """All items of collections of one length."""
        return self.gather(chosen, torch.arange(length, device=self.device), length)

    def parts(self, size: int) -> Iterator[tuple[int, Tensor]]:
        """Every collection once, those of one length together, at most so many at a time: length, and which (b,)."""
        for length, chosen in self.by_length.items():
            for part in torch.split(chosen.to(self.device), size):
                yield length, part


@dataclass(frozen=True, eq=False)
class Rows:
    """Collections of one length, and how many items of each are kept."""

    chosen: Tensor  # (b,)
    length: int
    kept: int
    weight: float = 1.0  # of each of them; below 1 where some are there twice to fill the batch


def plan_epoch(
    pool: ItemPool,
    batch: int,
    generator: torch.Generator,
    *,
    subsequences: float = 0.0,
    shortest: float = 0.0,
    fill: bool = False,
) -> list[Rows]:
    """Every collection once, in shuffled batches of one length, at most ``batch`` in each, dealt evenly.

    ``subsequences``: part of the batches in which only some items of each collection are kept, ``shortest`` of them or
    more, never fewer than 3. ``fill``: repeat collections until every batch is as large as the largest; their weights
    make up for it. The generator, on the CPU, decides everything.
    """
    dealt: list[tuple[int, Tensor]] = []
    for length, chosen in pool.by_length.items():
        mixed = chosen[torch.randperm(len(chosen), generator=generator)]
        dealt += [(length, part) for part in torch.tensor_split(mixed, -(-len(mixed) // batch))]
    largest = max(len(part) for _, part in dealt)
    weights = [len(part) / largest if fill else 1.0 for _, part in dealt]
    if fill:
        dealt = [(length, part.repeat(-(-largest // len(part)))[:largest]) for length, part in dealt]
    order = torch.randperm(len(dealt), generator=generator).tolist()
    cut = torch.rand(len(dealt), 2, generator=generator, dtype=torch.float64).tolist()
    on_device = torch.cat([dealt[i][1] for i in order]).to(pool.device)  # one transfer
    parts = torch.split(on_device, [len(dealt[i][1]) for i in order])
    lengths = [dealt[i][0] for i in order]
    planned = []
    for i, chosen, length, (chance, share) in zip(order, parts, lengths, cut, strict=True):
        fewest = min(length, max(SHORTEST, math.ceil(shortest * length)))  # from there to all, each as likely
        kept = fewest + int(share * (length - fewest + 1)) if chance < subsequences else length
        planned.append(Rows(chosen, length, kept, weights[i]))
    return planned


def filling(pool: ItemPool, batch: int) -> float:
    """How many times more collections an epoch has when every batch is filled to the size of the largest.

    >>> filling(ItemPool({}, torch.tensor([3] * 100 + [4] * 20)), 60)
    1.25
    """
    counts = [len(chosen) for chosen in pool.by_length.values()]
    parts = [-(-count // batch) for count in counts]
    largest = max(-(-count // part) for count, part in zip(counts, parts, strict=True))
    return sum(parts) * largest / len(pool)


def take(pool: ItemPool, batch: Rows, generator: torch.Generator | None = None) -> Tensor:
    """The features of a batch in true order, shape (b, kept, f[, s])."""
    if batch.kept == batch.length:
        return pool.whole(batch.chosen, batch.length)["values"]
    keys = torch.rand(len(batch.chosen), batch.length, device=pool.device, generator=generator)
    positions = keys.argsort(1)[:, : batch.kept].sort(1).values  # (b, kept), rising: the order is preserved
    return pool.gather(batch.chosen, positions, batch.length)["values"]


def draw_orderings(b: int, sequences: int, n: int, generator: torch.Generator) -> Tensor:
    """The true order first, then uniformly random permutations (one may be the true order): (b, sequences, n)."""
    keys = torch.rand(b, sequences, n, device=generator.device, generator=generator)
    orderings = keys.argsort(2)
    orderings[:, 0] = torch.arange(n, device=generator.device)
    return orderings


def check_collections(collections: Sequence[Collection], *, role: str) -> None:
    """Training and validation (the ``role``) need collections whose order is true and can be wrong."""
    if not len(collections):
        raise InputError(f"{role} needs at least one ordered collection; got none")
    for collection in collections:
        if len(collection) < 2:
            raise InputError(f"{role} collection {collection.id!r} has 1 item: an order needs at least 2")
        if not collection.ordered:
            raise InputError(f"{role} collection {collection.id!r} is not ordered: its true order is not known")


def check_parts(parts: Parts) -> None:
    """Check every part, each under its own name."""
    for role, part in (("training", parts.training), ("validation", parts.validation), ("measuring", parts.test)):
        check_collections(part, role=role)


def choose_features(config: TrainingConfig, collections: Sequence[Collection]) -> tuple[str, ...]:
    """The features to train on: those the config names, or all that the first collection has."""
    names = config.features or collections[0].feature_names
    if not names:
        raise InputError(f"collection {collections[0].id!r} has no features to train on")
    return tuple(names)


def fit_transform(
    collections: Sequence[Collection], names: tuple[str, ...], logged: Iterable[str], bound: float = 0.0
) -> Transform:
    """The transform that gives the items of the training collections mean 0 and deviation 1.

    Names ``logged`` that are no features are passed over; ``bound``: the most deviations the encoder sees, 0: any.
    """
    kept = tuple(text for text in logged if log_parts(text, names)[0] in names)
    shape = collections[0].columns(names).shape[1:]
    plain = Transform(names, kept, np.zeros(shape), np.ones(shape))
    count, mean, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for rows in _blocks(collections, names):  # mean and squares of a block join those before it
        known = ~np.isnan(rows)
        values = plain.apply(rows)  # 0 where unknown
        here = known.sum(axis=0)
        both = np.maximum(count + here, 1)
        centre = values.sum(axis=0) / np.maximum(here, 1)
        apart = centre - mean
        squares += (np.where(known, values - centre, 0.0) ** 2).sum(axis=0) + apart**2 * count * here / both
        mean += apart * here / both
        count += here
    if not count.all():
        raise InputError(f"feature {names[int(np.argwhere(count == 0)[0, 0])]!r} has no value in any training item")
    deviation = np.sqrt(squares / count)
    alike = (deviation <= 1e-9 * np.maximum(np.abs(mean), 1e-30)).reshape(len(names), -1)
    constant = ", ".join(repr(name) for name, row in zip(names, alike, strict=True) if row.all())
    if constant:
        raise InputError(
            f"feature {constant} has the same value in every training item and tells nothing: leave it out"
        )
    return Transform(names, kept, mean, deviation, bound)


def make_pool(collections: Sequence[Collection], transform: Transform, device: torch.device) -> ItemPool:
    """Transformed features of all items in one matrix, collections by rising length."""
    by_length = sorted(collections, key=len)
    values = np.empty((sum(map(len, by_length)), *transform.item_shape), dtype=np.float32)
    row = 0
    for rows in _blocks(by_length, transform.feature_names):
        values[row : row + len(rows)] = transform.apply(rows)
        row += len(rows)
    return ItemPool({"values": torch.from_numpy(values).to(device)}, torch.tensor([len(c) for c in by_length]))


def fingerprint(collections: Sequence[Collection], names: tuple[str, ...]) -> str:
    """SHA-256 over ids and feature values: what a model was trained on, in 64 digits."""
    digest = hashlib.sha256("\0".join(names).encode())
    for collection in collections:
        digest.update(f"\0{collection.id}\0{len(collection)}\0".encode())
        digest.update(np.ascontiguousarray(_columns(collection, names), dtype="<f4").data)
    return digest.hexdigest()


def _blocks(collections: Sequence[Collection], names: tuple[str, ...]) -> Iterator[Floats]:
    """Features of successive collections, some items at a time: (items, f[, s])."""
    held: list[NDArray[np.floating[Any]]] = []
    size = 0
    for collection in collections:
        rows = _columns(collection, names)
        if held and rows.shape[1:] != held[0].shape[1:]:
            raise InputError(
                f"collection {collection.id!r}: features of one item have shape {rows.shape[1:]}, "
                f"those before it {held[0].shape[1:]}"
            )
        held.append(rows)
        size += len(rows)
        if size >= _ROWS:
            yield np.concatenate(held, dtype=np.float64)
            held, size = [held[-1][:0]], 0
    if size:
        yield np.concatenate(held, dtype=np.float64)


def _columns(collection: Collection, names: tuple[str, ...]) -> NDArray[np.floating[Any]]:
    """Some features of every item; not a copy where they are all it has."""
    return collection.features if names == collection.feature_names else collection.columns(names)
