"""Nets of one's own, wrapped so that the loop can turn, scale and silence them, and compared with their twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.arrays import Floats
from fabula.errors import InputError
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS, Encoder, Scorer, tensor_sizes, weights_of
from fabula.training.nets.kinds import ScorerNet, TrainableEncoder, TrainableScorer, Weights
from fabula.training.recipes import TrainingConfig


class OwnEncoderNet(nn.Module):
    """An encoder's net, and a sign for each dimension of its essence, which is no parameter."""

    signs: Tensor

    def __init__(self, part: Encoder, item_shape: tuple[int, ...], dimensions: int) -> None:
        super().__init__()
        self.net = as_module(part.net(item_shape, dimensions), f"encoder {part.kind!r}")
        self.register_buffer("signs", torch.ones(dimensions))
        self.kind = part.kind

    def forward(self, items: Tensor) -> Tensor:
        """Essence (m, d) of items (m, f[, s])."""
        essence: Tensor = self.net(items)
        if essence.ndim != 2 or essence.shape[1] != len(self.signs):
            wanted = f"(items, {len(self.signs)})"
            raise InputError(f"the net of encoder {self.kind!r} must give {wanted}; got {tuple(essence.shape)}")
        return essence * self.signs


def own_encoder(part: Encoder) -> TrainableEncoder:
    """An encoder of one's own as the training takes it."""
    return TrainableEncoder(
        make=lambda settings, item_shape, dimensions, dropout: OwnEncoderNet(part, item_shape, dimensions),
        settings=lambda config: {"kind": part.kind},
        outputs=lambda settings: ("encoder.signs",),
        describe=lambda settings, weights: {**settings, "tensors": tensor_sizes("encoder", weights)},
    )


def as_module(net: Any, what: str) -> nn.Module:
    """Refuse what is no net."""
    if not isinstance(net, nn.Module):
        raise InputError(f"the net of {what} must be a torch.nn.Module; got {type(net).__name__}")
    return net


class OwnScorerNet(ScorerNet):
    """A scorer's net between signs of the dimensions and a scale, which are no parameters."""

    signs: Tensor
    scale: Tensor

    def __init__(self, part: Scorer, dimensions: int) -> None:
        super().__init__()
        self.net = as_module(part.net(dimensions), f"scorer {part.kind!r}")
        self.register_buffer("signs", torch.ones(dimensions))
        self.register_buffer("scale", torch.ones(1))
        self.kind = part.kind

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores (b, N) of sequences (b, N, n, d)."""
        b, N = sequences.shape[:2]
        scores: Tensor = self.net(sequences.flatten(0, 1) * self.signs)
        if scores.shape != (b * N,):
            raise InputError(
                f"the net of scorer {self.kind!r} must give one score per sequence, (m,); got {tuple(scores.shape)}"
            )
        return scores.view(b, N) * self.scale

    def certainty(self) -> list[Tensor]:
        """Its scale."""
        return [self.scale]


def own_scorer(part: Scorer) -> TrainableScorer:
    """A scorer of one's own as the training takes it."""

    def flip(weights: Weights, signs: NDArray[np.float32]) -> None:
        weights[f"{part.kind}.signs"] = weights[f"{part.kind}.signs"] * signs

    return TrainableScorer(
        make=lambda config: OwnScorerNet(part, config.dimensions),
        settings=lambda config: {"kind": part.kind},
        flip=flip,
        describe=lambda settings, weights: {**settings, "tensors": tensor_sizes(part.kind, weights)},
    )


TOLERANCE = 1e-5  # by which net and twin may differ, by the size of what they give
_ITEMS = 7  # tried


def check_twins(config: TrainingConfig, item_shape: tuple[int, ...]) -> None:
    """Compare each net of one's own with its twin, before any time is spent: they may differ by rounding."""
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
