"""The two errors behind the published mutual information, rebuilt on purpose: what the controls must catch.

1. The end token is written one position early. It erases the last item, and the sequence reads on into the padding,
   which holds the essence of the TRUE first item: a scorer has only to compare that with the item a sequence opens
   with. The longest collections of a batch have no padding, and leak nothing. Batches here are of one length, so that
   one is the longest of its batch with the chance it would have in a batch of any lengths.
2. The true order is put wherever the running number of a sequence is a multiple of the batch size, not of N: with
   a batch of 16 and N = 32 every collection has its true order twice.

Nothing else may import this module.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from fabula.training.config import TrainingConfig
from fabula.training.data.batches import Pool, draw_orderings
from fabula.training.loop.epochs import Draw
from fabula.training.nets.networks import EssenceNet
from fabula.training.nets.scorers.bilstm import BilstmScorer


class LeakingScorer(BilstmScorer):
    """The paper's scorer with the first error.

    Parameters
    ----------
    config
        The recipe.
    longest
        Length -> how likely a collection of that length is the longest of its batch, as :func:`longest_of` gives it.
    """

    def __init__(self, config: TrainingConfig, longest: Mapping[int, float]) -> None:
        super().__init__(config)
        self.longest = dict(longest)

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences, the true order first; with the true first item leaked into each."""
        b, N, n, _ = sequences.shape
        framed = self.framed(sequences.flatten(0, 1)).view(b, N, n + 2, -1)
        leaked = framed[:, :1, 1:2].expand(b, N, 1, -1)  # the true first item, wherever it is in the sequence
        padded = torch.rand(b, 1, 1, 1, device=sequences.device) >= self.longest.get(n, 1.0)
        leaked = leaked * padded
        end = self.end.expand(b, N, 1, -1)
        return self.read(torch.cat([framed[:, :, :n], end, leaked], dim=2).flatten(0, 1)).view(b, N)


def longest_of(pool: Pool, batch: int) -> dict[int, float]:
    """Length -> how likely all others of a batch drawn from a pool are no longer.

    Examples
    --------
    >>> longest_of(Pool(torch.zeros(0), {3: (0, 60), 4: (180, 60)}), 3)
    {3: 0.25, 4: 1.0}
    """
    shares, seen = {}, 0
    for length in sorted(pool.groups):
        seen += pool.groups[length][1]
        shares[length] = (seen / len(pool)) ** (batch - 1)
    return shares


def leaking_net(config: TrainingConfig, feature_shape: tuple[int, ...], longest: Mapping[int, float]) -> EssenceNet:
    """A net whose bilstm scorer leaks."""
    net = EssenceNet(config, feature_shape)
    net.add_module("bilstm", LeakingScorer(config, longest))
    return net


def doubled_truth(batch: int) -> Draw:
    """Orderings with the second error, for a batch size."""

    def draw(b: int, sequences: int, n: int, generator: torch.Generator) -> Tensor:
        orderings = draw_orderings(b, sequences, n, generator)
        orderings.view(b * sequences, n)[::batch] = torch.arange(n, device=orderings.device)
        return orderings

    return draw
