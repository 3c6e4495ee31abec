"""Comparing the nets of one's own with their twins in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS, weights_of
from fabula.training.config import TrainingConfig
from fabula.training.nets.encoders.own import OwnEncoderNet
from fabula.training.nets.scorers.own import OwnScorerNet

TOLERANCE = 1e-5  # by which net and twin may differ, by the size of what they give
_ITEMS = 7  # tried


def check_twins(config: TrainingConfig, item_shape: tuple[int, ...]) -> None:
    """Compare each net of one's own with its twin, before any time is spent on training.

    Raises
    ------
    InputError
        When the two differ by more than rounding.
    """
    rng = np.random.default_rng(0)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        if config.encoder in OWN_ENCODERS:
            part = OWN_ENCODERS[config.encoder]
            items = rng.normal(size=(_ITEMS, *item_shape)).astype(np.float32)
            net = OwnEncoderNet(part, item_shape, config.dimensions).eval()
            essence = net(torch.from_numpy(items)).numpy()
            _compare(f"encoder {part.kind!r}", essence, part.encode(_weights(net), items.astype(np.float64)))
        for name in (name for name in config.scorers if name in OWN_SCORERS):
            scorer = OWN_SCORERS[name]
            judge = OwnScorerNet(scorer, config.dimensions).eval()
            for n in (2, _ITEMS):
                sequences = rng.normal(size=(3, n, config.dimensions)).astype(np.float32)
                found = judge(torch.from_numpy(sequences).unsqueeze(1)).squeeze(1).numpy()
                twin = scorer.score(_weights(judge), sequences.astype(np.float64))
                _compare(f"scorer {name!r}, {n} items", found, twin)


def _weights(net: nn.Module) -> dict[str, Floats]:
    state = {f"own.{name}": tensor.detach().numpy() for name, tensor in net.state_dict().items()}
    return weights_of(state, "own")


def _compare(what: str, net: NDArray[Any], twin: Any) -> None:
    given = np.asarray(twin, dtype=np.float64)
    if given.shape != net.shape:
        raise InputError(f"{what}: its net gives shape {net.shape}, its twin {given.shape}: they must agree")
    apart = float(np.abs(given - net).max(initial=0.0))
    if not apart <= TOLERANCE * max(1.0, float(np.abs(net).max(initial=0.0))):
        raise InputError(f"{what}: its net and its twin differ by {apart:.3g} with the same weights: they must agree")
