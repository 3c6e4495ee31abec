"""The nets that are trained, top down: an encoder from features to essence, scorers from essence to one number.

Names and shapes of the parameters are those of the model file.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from fabula.core.ordering import positions
from fabula.core.template import basis
from fabula.training.config import TrainingConfig
from fabula.training.nets.bilstm import Bilstm

# Items whose essence differs by less than this part of its size are alike: in single precision that is rounding.
ALIKE = 1e-6
LONGEST = 20.0  # the paper's longest collection, the unit in which the bilstm is told a length


class EssenceNet(nn.Module):
    """One encoder (the paper's f) and one or two scorers (its g) on top of it.

    Parameters
    ----------
    config
        With its encoder decided: not ``"auto"``.
    feature_shape
        Shape of the features of one item: (f,), or (f, s).
    """

    def __init__(self, config: TrainingConfig, feature_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.names = config.scorers
        self.feature_dropout, self.feature_noise = config.feature_dropout, config.feature_noise
        self.essence_noise = config.essence_noise
        self.encoder = make_encoder(config, feature_shape)
        for name in self.names:
            self.add_module(name, BilstmScorer(config) if name == "bilstm" else ArcsScorer(config))

    def encode(self, features: Tensor) -> Tensor:
        """Features (b, n, f[, s]) to essence (b, n, d), z-scored within each collection."""
        b, n = features.shape[:2]
        shown = self._disturbed(features) if self.training else features
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

    def _disturbed(self, features: Tensor) -> Tensor:
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
        scorer = self.get_submodule(name)
        return list(scorer.out.parameters() if isinstance(scorer, BilstmScorer) else scorer.parameters())

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


def make_encoder(config: TrainingConfig, feature_shape: tuple[int, ...]) -> nn.Module:
    """The encoder a config names, for features of one item of the given shape."""
    if config.encoder == "identity":
        return nn.Identity()
    if config.encoder == "bilstm":
        return BilstmEncoder(config, feature_shape[1])
    return MlpEncoder(config, feature_shape[0])


class MlpEncoder(nn.Module):
    """Linear layers with an activation and dropout between them: (items, f) -> (items, d)."""

    def __init__(self, config: TrainingConfig, features: int) -> None:
        super().__init__()
        sizes = (features, *config.widths, config.dimensions)
        layers = [nn.Linear(before, after) for before, after in pairwise(sizes)]
        for number, layer in enumerate(layers):
            self.add_module(str(number), layer)
            if config.layernorm and number < len(config.widths):
                layer.add_module("norm", nn.LayerNorm(layer.out_features))
        if config.skip:
            self.skip = nn.Linear(features, config.dimensions, bias=False)
        self.depth, self.layernorm, self.has_skip = len(config.widths), config.layernorm, config.skip
        self.activation, self.dropout = _ACTIVATIONS[config.activation], config.dropout

    def forward(self, items: Tensor) -> Tensor:
        """Essence of items."""
        hidden = items
        for number in range(self.depth):
            layer = self.get_submodule(str(number))
            hidden = layer(hidden)
            if self.layernorm:
                hidden = layer.get_submodule("norm")(hidden)
            hidden = functional.dropout(self.activation(hidden), self.dropout, self.training)
        essence: Tensor = self.get_submodule(str(self.depth))(hidden)
        return essence + self.skip(items) if self.has_skip else essence


def _gelu_tanh(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu_tanh": _gelu_tanh,
    "relu": torch.relu,
    "tanh": torch.tanh,
}


class BilstmEncoder(nn.Module):
    """The paper's encoder: reads the features of an item one after the other, (items, steps, s) -> (items, d)."""

    def __init__(self, config: TrainingConfig, statistics: int) -> None:
        super().__init__()
        hidden, layers = config.encoder_hidden, config.encoder_layers
        self.lstm = Bilstm(statistics, hidden, layers, dropout=config.dropout)
        self.h0 = nn.Parameter(torch.zeros(2 * layers, hidden))
        self.c0 = nn.Parameter(torch.zeros(2 * layers, hidden))
        self.out = nn.Linear(2 * hidden, config.dimensions)

    def forward(self, items: Tensor) -> Tensor:
        """Essence of items, in (0, 1)."""
        m = items.shape[0]  # not len(): ONNX must see that it varies
        start = [state.unsqueeze(1).expand(-1, m, -1).contiguous() for state in (self.h0, self.c0)]
        _, ends = self.lstm.read(items, (start[0], start[1]))
        return torch.sigmoid(self.out(ends))


class BilstmScorer(nn.Module):
    """The paper's scorer: reads start token, sequence, end token; (b, N, n, d) -> (b, N)."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        channels = config.dimensions + 2 * config.scorer_positions
        hidden = config.scorer_hidden
        self.positions, self.readout, self.dropout = config.scorer_positions, config.readout, config.readout_dropout
        self.start = nn.Parameter(torch.randn(channels))
        self.end = nn.Parameter(torch.randn(channels))
        self.lstm = Bilstm(channels, hidden, config.scorer_layers)
        self.out = nn.Linear(2 * hidden, 1)
        nn.init.zeros_(self.out.weight)  # it starts from no opinion
        nn.init.zeros_(self.out.bias)

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences."""
        b, N = sequences.shape[:2]
        return self.read(self.framed(sequences.flatten(0, 1))).view(b, N)

    def framed(self, rows: Tensor) -> Tensor:
        """Sequences (m, n, d) between the tokens: (m, n + 2, c)."""
        m, n, _ = rows.shape
        if self.positions:
            u = torch.linspace(0.0, 1.0, n, device=rows.device, dtype=rows.dtype)
            place = torch.stack([u, torch.full_like(u, n / LONGEST)], dim=1)  # (n, 2)
            rows = torch.cat([rows, place.expand(m, n, 2)], dim=2)
        return torch.cat([self.start.expand(m, 1, -1), rows, self.end.expand(m, 1, -1)], dim=1)

    def read(self, framed: Tensor) -> Tensor:
        """Framed sequences (m, n + 2, c) to scores (m,)."""
        outputs, ends = self.lstm.read(framed)
        summary = outputs.mean(1) if self.readout == "mean" else ends
        score: Tensor = self.out(functional.dropout(summary, self.dropout, self.training)).squeeze(1)
        return score


class ArcsScorer(nn.Module):
    """The mixture of arcs: logsumexp over templates of (sum_j <t(u_j), s_j> + weight); (b, N, n, d) -> (b, N)."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        self.knots = config.knots
        self.values = nn.Parameter(0.1 * torch.randn(config.arcs, len(config.knots), config.dimensions))
        self.weights = nn.Parameter(torch.zeros(config.arcs))
        self._bases: dict[int, Tensor] = {}

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences."""
        curves = torch.einsum("nq,kqd->ndk", self._basis(sequences.shape[2]), self.values)
        logits = sequences.flatten(2) @ curves.flatten(0, 1) + self.weights  # (b, N, k)
        return torch.logsumexp(logits, dim=2)

    def _basis(self, n: int) -> Tensor:
        """From knot values to the curve at n places, (n, knots); made once for each length."""
        if n not in self._bases or self._bases[n].device != self.values.device:
            self._bases[n] = torch.as_tensor(basis(self.knots, positions(n))).to(self.values)
        return self._bases[n]
