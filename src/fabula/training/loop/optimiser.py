"""The optimiser, its learning rate, the running mean of the weights, and the precision of the arithmetic."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from fabula.training.config import TrainingConfig
from fabula.training.nets.networks import EssenceNet


def make_optimizer(net: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Adam or AdamW; the encoder and the scorers have their own weight decay."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        groups.setdefault(_decay(name, parameter, config), []).append(parameter)
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    parameters = [{"params": held, "weight_decay": decay} for decay, held in groups.items()]
    if (
        not parameters
    ):  # frozen features under a scorer without parameters cannot be, but an optimiser must not be empty
        raise ValueError("nothing to train")
    return kind(parameters, lr=config.learning_rate, fused=True)


def _decay(name: str, parameter: nn.Parameter, config: TrainingConfig) -> float:
    decay = config.encoder_decay if name.startswith("encoder.") else config.scorer_decay
    # Decoupled decay is for weight matrices; the paper's Adam takes all.
    spared = config.optimizer == "adamw" and (parameter.ndim < 2 or name == "arcs.values")
    return 0.0 if spared else decay


def learning_rate(config: TrainingConfig, step: int, steps: int) -> float:
    """The rate of a step, counted from 1: a linear rise, then constant or along a cosine to 0.

    Examples
    --------
    >>> config = TrainingConfig(learning_rate=1.0, warmup=0.5)
    >>> [round(learning_rate(config, step, 4), 3) for step in (1, 2, 3, 4)]
    [0.427, 0.5, 0.146, 0.0]
    """
    done = step / steps
    rise = min(1.0, done / config.warmup) if config.warmup else 1.0
    fall = 0.5 + 0.5 * math.cos(math.pi * done) if config.schedule == "cosine" else 1.0
    return config.learning_rate * rise * fall


class RunningMean:
    """An exponential mean of a net's weights; the net it gives is the one to validate and to keep."""

    def __init__(self, net: EssenceNet, decay: float) -> None:
        self.decay = decay
        self.net = copy.deepcopy(net).requires_grad_(requires_grad=False) if decay else net
        for module in self.net.modules():
            if isinstance(module, nn.LSTM):
                module.flatten_parameters()
        self._mean: list[Tensor] = list(self.net.parameters())
        self._weights: list[Tensor] = list(net.parameters())

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after a step, counted from 1; early steps are forgotten sooner."""
        if self.decay:
            torch._foreach_lerp_(self._mean, self._weights, 1.0 - min(self.decay, (1 + step) / (10 + step)))


@contextmanager
def precision(amp: str, device: torch.device) -> Iterator[None]:
    """Products in TF32 or in single precision on a GPU; what was set before is set again after.

    Half precisions are no choice: the z-score of the essence magnifies their rounding beyond the gradients.
    """
    if device.type != "cuda":
        yield
        return
    backends: Any = torch.backends
    switches = [backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn]
    before = [switch.fp32_precision for switch in switches]
    try:
        for switch in switches:
            switch.fp32_precision = "ieee" if amp == "none" else "tf32"
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.fp32_precision = value
