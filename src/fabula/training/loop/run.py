"""A run of training: what it has learned so far, and where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from fabula.training.config import TrainingConfig
from fabula.training.loop.graphs import GraphedStep
from fabula.training.loop.optimiser import RunningMean, make_optimizer
from fabula.training.nets.networks import EssenceNet


@dataclass(frozen=True)
class Progress:
    """Where a run stands after an epoch.

    Parameters
    ----------
    epoch, epochs
        Done, and to do in all; epoch 0 is the state before any training.
    loss
        Mean over the training collections, in nats, summed over scorers.
    bits
        On validation, by scorer.
    seconds_left
        If the rest goes as fast as what was done since the start or the resumption.
    """

    epoch: int
    epochs: int
    loss: float
    bits: dict[str, float]
    seconds_left: float


@dataclass
class Run:
    """The learned state of a run: everything that an interruption would lose."""

    net: EssenceNet
    mean: RunningMean
    optimizer: torch.optim.Optimizer
    epoch: int
    best_epoch: int
    best_bits: dict[str, float]
    best: dict[str, Tensor]
    history: list[Progress] = field(default_factory=list)
    graphed: GraphedStep | None = None


def start_run(make_net: Callable[[], EssenceNet], config: TrainingConfig, device: torch.device) -> Run:
    """A run before its first epoch; its best state so far knows nothing and says so: 0 bits."""
    torch.manual_seed(seed_of(config.seed, 0, 0))
    net = make_net().to(device)
    silent = make_net().to(device)
    silent.load_state_dict(net.state_dict())
    silent.silence()
    nothing = dict.fromkeys(config.scorers, 0.0)
    best = {name: tensor.clone() for name, tensor in silent.state_dict().items()}
    return Run(net, RunningMean(net, config.ema), make_optimizer(net, config), 0, 0, nothing, best)


def seed_of(*parts: int) -> int:
    """A seed that follows from numbers, such as the seed of the run and an epoch."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1))
