"""What a trained net knows, measured on whole collections: their essence, and its information about their order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import torch
from torch import Tensor

from fabula.core.essence import Floats
from fabula.evaluation.information import Information, information_of
from fabula.training.config import TrainingConfig
from fabula.training.data.batches import Pool, take, whole_batches
from fabula.training.loop.distributed import World
from fabula.training.loop.epochs import validation_bits
from fabula.training.nets.networks import EssenceNet

_ITEMS_AT_ONCE = 1 << 14
_SCALES = (1.0, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.5)


@torch.no_grad()
def encode_pool(net: EssenceNet, pool: Pool) -> list[Floats]:
    """The essence of every collection of a pool, (n, d) each, z-scored, by rising length."""
    net.eval()
    essences: list[Floats] = []
    longest = max(pool.groups)
    for batch in whole_batches(pool, max(1, _ITEMS_AT_ONCE // longest)):
        essences.extend(net.encode(take(pool, batch)).double().cpu().numpy())
    return essences


def information(
    net: EssenceNet,
    pool: Pool,
    config: TrainingConfig,
    *,
    draws: int = 4,
    groups: Sequence[Hashable] | None = None,
) -> dict[str, Information]:
    """Bits with their interval on a pool, by scorer; the estimator is the one that measures finished models.

    Parameters
    ----------
    net
        In the state to measure.
    pool
        Collections not trained on.
    config
        Its negatives and its seed.
    draws
        How often negatives are drawn.
    groups
        Whom each collection of the pool is by, in its order; each by somebody else by default.
    """
    essences = encode_pool(net, pool)
    device = pool.values.device

    def scorer(name: str) -> dict[str, Information]:
        @torch.no_grad()
        def score(sequences: Floats) -> Floats:
            rows: Tensor = torch.as_tensor(sequences, dtype=torch.float32, device=device)
            return np.asarray(net.get_submodule(name)(rows.unsqueeze(1)).squeeze(1).double().cpu().numpy())

        options = {"negatives": config.negatives, "draws": draws, "seed": config.seed}
        return {name: information_of(score, essences, groups=groups, **options)}

    return {key: value for name in config.scorers for key, value in scorer(name).items()}


@torch.no_grad()
def calibrate(net: EssenceNet, pool: Pool, config: TrainingConfig, world: World) -> None:
    """Scale each scorer's certainty by the one of a few numbers that gives the most bits on a pool.

    A net held back in training says less than it knows; one that learned by heart says more.
    """
    kept = {name: [tensor.clone() for tensor in net.certainty_of(name)] for name in config.scorers}
    bits = {}
    for scale in _SCALES:
        _scale(net, kept, dict.fromkeys(config.scorers, scale))
        bits[scale] = validation_bits(net, pool, config)
    best = [max(_SCALES, key=lambda scale: bits[scale][name]) for name in config.scorers]
    _scale(net, kept, dict(zip(config.scorers, world.agree(best), strict=True)))


def _scale(net: EssenceNet, kept: dict[str, list[Tensor]], scales: dict[str, float]) -> None:
    for name, tensors in kept.items():
        for tensor, original in zip(net.certainty_of(name), tensors, strict=True):
            tensor.copy_(original * scales[name])
