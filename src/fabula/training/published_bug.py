"""The two errors behind the published mutual information, rebuilt on purpose: what the controls must catch.

1. The end token is written one position early. It erases the last item, and the sequence reads on into the padding,
   which holds the essence of the TRUE first item: a scorer has only to compare that with the item a sequence opens
   with. The longest collections of a batch have no padding, and leak nothing. Batches here are of one length, so that
   one is the longest of its batch with the chance it would have in a batch of any lengths.
2. The true order is put wherever the running number of a sequence is a multiple of the batch size, not of N: with
   a batch of 16 and N = 32 every collection has its true order twice.

Nothing but the audit that shows them may import this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from fabula.errors import InputError
from fabula.evaluation.controls import Parts
from fabula.evaluation.information import Information
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.training.audit import Report, Trained
from fabula.training.data import ItemPool, draw_orderings
from fabula.training.item_models import Draw, EssenceTraining, Make, validation_losses
from fabula.training.loop import optimise, to_bits
from fabula.training.nets.essence_net import BilstmScorerNet, EssenceNet
from fabula.training.recipes import TrainingConfig


class LeakingScorer(BilstmScorerNet):
    """The paper's scorer with the first error; ``longest`` as :func:`longest_of` gives it."""

    def __init__(self, config: TrainingConfig, longest: Mapping[int, float]) -> None:
        super().__init__(config)
        self.longest = dict(longest)

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences, the true order first; with the true first item leaked into each."""
        b, N, n, _ = sequences.shape
        framed = self.frame(sequences.flatten(0, 1)).view(b, N, n + 2, -1)
        leaked = framed[:, :1, 1:2].expand(b, N, 1, -1)  # the true first item, wherever it is in the sequence
        padded = torch.rand(b, 1, 1, 1, device=sequences.device) >= self.longest.get(n, 1.0)
        leaked = leaked * padded
        end = self.end.expand(b, N, 1, -1)
        return self.read(torch.cat([framed[:, :, :n], end, leaked], dim=2).flatten(0, 1)).view(b, N)


def longest_of(pool: ItemPool, batch: int) -> dict[int, float]:
    """Length -> how likely all others of a batch drawn from a pool are no longer.

    >>> longest_of(ItemPool({}, torch.tensor([3] * 60 + [4] * 60)), 3)
    {3: 0.25, 4: 1.0}
    """
    shares, seen = {}, 0
    for length in sorted(pool.by_length):
        seen += len(pool.by_length[length])
        shares[length] = (seen / len(pool)) ** (batch - 1)
    return shares


def leaking_net(config: TrainingConfig, feature_shape: tuple[int, ...], pool: ItemPool) -> EssenceNet:
    """A net whose bilstm scorer leaks as it does in batches drawn from a pool."""
    net = EssenceNet(config, feature_shape)
    net.add_module("bilstm", LeakingScorer(config, longest_of(pool, config.batch)))
    return net


def double_truth(batch: int) -> Draw:
    """Orderings with the second error, for a batch size."""

    def draw(b: int, sequences: int, n: int, generator: torch.Generator) -> Tensor:
        orderings = draw_orderings(b, sequences, n, generator)
        orderings.view(b * sequences, n)[::batch] = torch.arange(n, device=orderings.device)
        return orderings

    return draw


def measure_loss(
    parts: Parts,
    config: TrainingConfig,
    make_net: Make,
    draw: Draw = draw_orderings,
    *,
    device: str = "cpu",
    progress: Report | None = None,
) -> Interval:
    """Bits of the first scorer as published code measures them: by its own loss, on the collections that decide.

    The estimate that everything else here prints cannot be fooled by how a batch is laid out: it scores every sequence
    by itself, without padding. This one can, and shows what the controls then say.
    """
    learner, _ = EssenceTraining(parts, config, device).prepare(make_net, draw)
    best = optimise(learner, progress=progress).best_net()
    losses = validation_losses(best, cast(ItemPool, learner.validation), learner.config, draw)[:, 0].cpu().numpy()
    return mean_interval(np.array([to_bits(float(loss), learner.config.sequences) for loss in losses]))


@dataclass(frozen=True, eq=False)
class PublishedBug(EssenceTraining):
    """Collections and a recipe, trained with both errors: what the published code would report."""

    def train(self, *, progress: Report | None = None) -> Trained:
        """Train and measure, as it was published; there is no model to be kept."""
        config = self.config
        if config.scorers != ("bilstm",):
            raise InputError(
                f"the published errors are those of the bilstm: scorers must be bilstm; got {config.scorers}"
            )

        draw = double_truth(config.batch)
        one = measure_loss(self.parts, config, leaking_net, draw, device=self.device, progress=progress)
        ceiling = float(np.log2(config.sequences))
        info = Information(one.mean, one.low, one.high, ceiling, config.negatives, config.draws, one.n, {})
        return Trained(None, {"bilstm, published": info}, [], config)
