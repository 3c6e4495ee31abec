"""Collections as flat arrays on a device, from which batches of one length are gathered without padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fabula.errors import InputError
from fabula.models.encoders.set import SetInputs


class Batch(NamedTuple):
    """B collections of n items in true order, as :class:`fabula.models.encoders.set.SetInputs` holds them."""

    values: Tensor
    known: Tensor
    titled: Tensor
    tokens: Tensor
    grams: Tensor
    marks: Tensor
    pairs: Tensor


_BY_ITEM = ("values", "known", "titled", "tokens", "grams", "marks")


@dataclass(frozen=True, eq=False)
class SetData:
    """Many collections in true order.

    Attributes
    ----------
    values, known, titled, tokens, grams, marks
        One row per item, collection after collection, as in a batch.
    pairs
        Shape (sum of n^2, k): of each collection its table, row by row.
    lengths, starts, pair_starts
        Shape (collections,): items of each, where they begin, and where its table begins.
    groups
        Shape (collections,): whom it is by, as a number; what is set aside or resampled goes by it.
    """

    values: Tensor
    known: Tensor
    titled: Tensor
    tokens: Tensor
    grams: Tensor
    marks: Tensor
    pairs: Tensor
    lengths: Tensor
    starts: Tensor
    pair_starts: Tensor
    groups: Tensor

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device | str) -> SetData:
        """The same on a device."""
        return SetData(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))

    def gather(self, chosen: Tensor, steps: Tensor) -> Batch:
        """Some items of some collections.

        Parameters
        ----------
        chosen
            Shape (B,): which collections.
        steps
            Shape (B, m): which of their items, rising for the true order.
        """
        items = self.starts[chosen][:, None] + steps  # (B, m)
        wide = self.lengths[chosen][:, None, None]
        cells = self.pair_starts[chosen][:, None, None] + steps[:, :, None] * wide + steps[:, None]
        rows = {name: getattr(self, name)[items] for name in _BY_ITEM}
        return Batch(pairs=self.pairs[cells].float(), **rows)

    def whole(self, chosen: Tensor) -> Batch:
        """All items of collections of one length."""
        n = int(self.lengths[chosen[0]])
        return self.gather(chosen, torch.arange(n, device=chosen.device).expand(len(chosen), n))

    def by_length(self) -> dict[int, Tensor]:
        """Numbers of the collections of each length."""
        return {int(n): (self.lengths == n).nonzero()[:, 0] for n in torch.unique(self.lengths).tolist()}


def as_data(inputs: Sequence[SetInputs], groups: Sequence[int] | None = None) -> SetData:
    """Collections, each given as inputs of B = 1, as data for training.

    Parameters
    ----------
    inputs
        One or more collections of 2 items or more, in true order.
    groups
        Whom each is by; each by somebody else by default.
    """
    if not inputs:
        raise InputError("at least one collection is needed to train or to measure")
    lengths = torch.tensor([x.values.shape[1] for x in inputs])
    if int(lengths.min()) < 2:
        raise InputError("a collection must have at least 2 items to be ordered")
    rows = {name: _joined([getattr(x, name)[0] for x in inputs]) for name in _BY_ITEM}
    pairs = _joined([x.pairs[0].reshape(-1, x.pairs.shape[-1]) for x in inputs]).half()
    by = torch.as_tensor(np.arange(len(inputs)) if groups is None else np.asarray(groups))
    return SetData(
        pairs=pairs, lengths=lengths, starts=_starts(lengths), pair_starts=_starts(lengths**2), groups=by, **rows
    )


def subset(data: SetData, chosen: Tensor) -> SetData:
    """Some of the collections; the items stay where they are."""
    parts = {name: getattr(data, name)[chosen] for name in ("lengths", "starts", "pair_starts", "groups")}
    return replace(data, **parts)


def _joined(parts: Sequence[np.ndarray]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts))


def _starts(lengths: Tensor) -> Tensor:
    return torch.cumsum(lengths, 0) - lengths
