"""The nets that are trained, top down: an encoder from features to essence, scorers from essence to one number.

Names and shapes of the parameters are those of the model file.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from fabula.errors import InputError
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS
from fabula.training.nets.arcs import ARCS
from fabula.training.nets.bilstm import BILSTM_ENCODER, BILSTM_SCORER
from fabula.training.nets.kinds import ScorerNet, TrainableEncoder, TrainableScorer
from fabula.training.nets.mlp import IDENTITY, MLP
from fabula.training.nets.own import own_encoder, own_scorer
from fabula.training.recipes import TrainingConfig

# Encoders that can be trained, by kind: one file each, and one line here.

ENCODERS: dict[str, TrainableEncoder] = {"mlp": MLP, "bilstm": BILSTM_ENCODER, "identity": IDENTITY}


def trainable_encoder(kind: str) -> TrainableEncoder:
    """A kind of encoder by name; one that cannot be trained is an error that names those that can."""
    if kind in OWN_ENCODERS:
        return own_encoder(OWN_ENCODERS[kind])
    if kind not in ENCODERS:
        raise InputError(f"no encoder of kind {kind!r} can be trained; there are: {', '.join(ENCODERS)}")
    return ENCODERS[kind]


# Scorers that can be trained, by kind: one file each, and one line here.

SCORERS: dict[str, TrainableScorer] = {"arcs": ARCS, "bilstm": BILSTM_SCORER}


def trainable_scorer(kind: str) -> TrainableScorer:
    """A kind of scorer by name; one that cannot be trained is an error that names those that can."""
    if kind in OWN_SCORERS:
        return own_scorer(OWN_SCORERS[kind])
    if kind not in SCORERS:
        raise InputError(f"no scorer of kind {kind!r} can be trained; there are: {', '.join(SCORERS)}")
    return SCORERS[kind]


# Items whose essence differs by less than this part of its size are alike: in single precision that is rounding.
ALIKE = 1e-6


class EssenceNet(nn.Module):
    """One encoder (the paper's f) and one or two scorers (its g) on it, for items of shape (f,) or (f, s)."""

    def __init__(self, config: TrainingConfig, feature_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.names = config.scorers
        self.feature_dropout, self.feature_noise = config.feature_dropout, config.feature_noise
        self.essence_noise = config.essence_noise
        encoder = trainable_encoder(config.encoder)
        self.encoder = encoder.make(encoder.settings(config), feature_shape, config.dimensions, config.dropout)
        for name in self.names:
            self.add_module(name, trainable_scorer(name).make(config))

    def encode(self, features: Tensor) -> Tensor:
        """Features (b, n, f[, s]) to essence (b, n, d), z-scored within each collection."""
        b, n = features.shape[:2]
        shown = self._disturb(features) if self.training else features
        essence = self.encoder(shown.flatten(0, 1)).view(b, n, -1)
        return zscore(essence)

    def score(self, essence: Tensor, orderings: Tensor) -> dict[str, Tensor]:
        """Score essence (b, n, d) in the orderings (b, N, n): shape (b, N) for each scorer."""
        sequences = arrange(essence, orderings)
        if self.training and self.essence_noise:
            sequences = sequences + self.essence_noise * torch.randn_like(sequences)
        return {name: self.get_submodule(name)(sequences) for name in self.names}

    def forward(self, features: Tensor, orderings: Tensor) -> dict[str, Tensor]:
        """Encode each item once, then score the collections in many orderings."""
        return self.score(self.encode(features), orderings)

    def _disturb(self, features: Tensor) -> Tensor:
        """Features (b, n, f[, s]) as shown in training: noise on all, some left out of a whole collection."""
        if self.feature_noise:
            features = features + self.feature_noise * torch.randn_like(features)
        if self.feature_dropout:
            b, _, f, *rest = features.shape
            kept = torch.rand(b, 1, f, *[1] * len(rest), device=features.device) >= self.feature_dropout
            features = features * kept
        return features

    def certainty_of(self, name: str) -> list[Tensor]:
        """The parameters that say how sure a scorer is: scaled by 0, it has no opinion."""
        return cast(ScorerNet, self.get_submodule(name)).certainty()

    @torch.no_grad()
    def silence(self) -> None:
        """Make every scorer say the same to everything: no information, and no misinformation."""
        for name in self.names:
            torch._foreach_zero_(self.certainty_of(name))


def arrange(essence: Tensor, orderings: Tensor) -> Tensor:
    """Essence (b, n, d) in the orderings (b, N, n): sequences (b, N, n, d)."""
    b, N, n = orderings.shape
    d = essence.shape[-1]
    index = orderings.unsqueeze(-1).expand(b, N, n, d)
    return essence.unsqueeze(1).expand(b, N, n, d).gather(2, index)


def zscore(values: Tensor) -> Tensor:
    """Z-score (b, n, d) over the n items; a dimension in which all are alike becomes zero, with finite gradients."""
    centred = values - values.mean(1, keepdim=True)
    variance = centred.square().mean(1, keepdim=True)  # (b, 1, d)
    alike = variance <= (ALIKE * values.detach().abs().amax(1, keepdim=True)).square()
    scale = torch.where(alike, torch.ones_like(variance), variance).rsqrt()
    return torch.where(alike, torch.zeros_like(variance), scale) * centred
