"""The nets that are trained, top down: an encoder from features to essence, scorers from essence to one number.

Names and shapes of the parameters are those of the model file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from fabula.core.arrays import Floats, positions
from fabula.core.template import basis
from fabula.errors import InputError
from fabula.models.config import Settings
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS, Encoder, Scorer
from fabula.models.scorers.bilstm import LONGEST
from fabula.training.recipes import TrainingConfig

# What every kind of encoder and of scorer that is trained says of itself.

T = TypeVar("T")


@dataclass(frozen=True)
class TrainableEncoder:
    """One kind of encoder, with the tensors of the kind of the same name in :mod:`fabula.models.encoders`."""

    # From settings, item shape, dimensions and dropout to a net from items (m, f[, s]) to essence (m, d).
    make: Callable[[Settings, tuple[int, ...], int, float], nn.Module]
    settings: Callable[[TrainingConfig], dict[str, Any]]  # what the model file will say of it
    # The tensors whose first axis is the essence's dimensions: all change sign where one is turned upside down.
    outputs: Callable[[Settings], tuple[str, ...]] | None = None


Weights = dict[str, NDArray[Any]]


class ScorerNet(nn.Module, ABC):
    """A scorer of sequences (b, N, n, d), which gives (b, N)."""

    @abstractmethod
    def certainty(self) -> list[Tensor]:
        """The parameters that say how sure it is: scaled by 0, it has no opinion."""


@dataclass(frozen=True)
class TrainableScorer:
    """One kind of scorer, with the tensors of the kind of the same name in :mod:`fabula.models.scorers`."""

    make: Callable[[TrainingConfig], ScorerNet]
    settings: Callable[[TrainingConfig], dict[str, Any]]  # what the model file will say of it
    # Change weights in place, so that every score stays when dimensions with a sign of -1 are turned upside down.
    flip: Callable[[Weights, NDArray[np.float32]], None]
    constants: Callable[[TrainingConfig], Mapping[str, NDArray[Any]]] = lambda config: {}  # not trained


# Linear layers with an activation between them.


class MlpNet(nn.Module):
    """Linear layers with an activation and dropout between them: (items, f) -> (items, d)."""

    def __init__(self, settings: Settings, item_shape: tuple[int, ...], dimensions: int, dropout: float) -> None:
        super().__init__()
        [features], widths = item_shape, settings["widths"]
        layers = [nn.Linear(before, after) for before, after in pairwise((features, *widths, dimensions))]
        self.depth, self.layernorm = len(widths), settings.get("layernorm", False)
        for number, layer in enumerate(layers):
            self.add_module(str(number), layer)
            if self.layernorm and number < self.depth:
                layer.add_module("norm", nn.LayerNorm(layer.out_features))
        self.has_skip = settings.get("skip", False)
        if self.has_skip:
            self.skip = nn.Linear(features, dimensions, bias=False)
        self.activation, self.dropout = _ACTIVATIONS[settings["activation"]], dropout

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


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "relu": torch.relu,
    "tanh": torch.tanh,
}


def _outputs(settings: Settings) -> tuple[str, ...]:
    last = f"encoder.{len(settings['widths'])}"
    skip = ("encoder.skip.weight",) if settings.get("skip") else ()
    return (f"{last}.weight", f"{last}.bias", *skip)


MLP = TrainableEncoder(
    make=MlpNet,
    settings=lambda config: {
        "kind": "mlp", "widths": list(config.widths), "activation": config.activation,
        "layernorm": config.layernorm, "skip": config.skip,
    },
    outputs=_outputs,
)  # fmt: skip
IDENTITY = TrainableEncoder(  # the features as they are
    make=lambda settings, item_shape, dimensions, dropout: nn.Identity(),
    settings=lambda config: {"kind": "identity"},
)


# The mixture of arcs.


class ArcsNet(ScorerNet):
    """Logsumexp over templates of (sum_j <t(u_j), s_j> + weight); (b, N, n, d) -> (b, N)."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        self.knots = config.knots
        self.values = nn.Parameter(0.1 * torch.randn(config.arcs, len(config.knots), config.dimensions))
        self.weights = nn.Parameter(torch.zeros(config.arcs))
        self._bases: dict[int, Tensor] = {}

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences."""
        n = sequences.shape[2]
        if n not in self._bases or self._bases[n].device != self.values.device:  # made once for each length
            self._bases[n] = torch.as_tensor(basis(self.knots, positions(n))).to(self.values)
        targets = torch.einsum("nq,kqd->ndk", self._bases[n], self.values)  # the templates at n positions
        logits = sequences.flatten(2) @ targets.flatten(0, 1) + self.weights  # (b, N, k)
        return torch.logsumexp(logits, dim=2)

    def certainty(self) -> list[Tensor]:
        """All of it."""
        return list(self.parameters())


ARCS = TrainableScorer(
    make=ArcsNet,
    settings=lambda config: {"kind": "arcs", "k": config.arcs, "knots": len(config.knots)},
    flip=lambda weights, signs: weights.update({"arcs.values": weights["arcs.values"] * signs}),
    constants=lambda config: {"arcs.knots": np.array(config.knots)},
)


# A bidirectional LSTM with the parameters of PyTorch's; on a GPU by kernels of our own, elsewhere by PyTorch's.

_FUSED = (16, 32, 64, 128)  # hidden units the kernels can do

States = tuple[Tensor, Tensor]


class LstmStack(nn.LSTM):
    """A bidirectional LSTM over (m, steps, c), with dropout between its layers."""

    def __init__(self, channels: int, hidden: int, layers: int, *, dropout: float = 0.0) -> None:
        between = dropout if layers > 1 else 0.0
        super().__init__(channels, hidden, layers, bidirectional=True, batch_first=True, dropout=between)

    def read(self, steps: Tensor, start: States | None = None) -> tuple[Tensor, Tensor]:
        """Read steps (m, steps, c) from both ends, from hidden and cell states (2 layers, m, hidden) or zeros.

        Gives the last layer's outputs (m, steps, 2 hidden) and last states, forward's beside backward's, (m, 2 hidden).
        """
        if steps.is_cuda and steps.dtype == torch.float32 and _fits(steps.device, self.hidden_size):
            return self.read_fused(steps, start)
        outputs, (h, _) = self(steps, start)
        return outputs, torch.cat([h[-2], h[-1]], dim=1)

    def read_fused(self, steps: Tensor, start: States | None = None) -> tuple[Tensor, Tensor]:
        """:meth:`read`, layer by layer with kernels of our own."""
        from fabula.training.nets.triton_lstm import FusedLayer

        nothing = steps.new_zeros(2 * self.num_layers, len(steps), self.hidden_size)
        h, c = start or (nothing, nothing)
        precision = "tf32" if torch.backends.cuda.matmul.fp32_precision == "tf32" else "tf32x3"
        outputs = steps
        for layer in range(self.num_layers):
            shown = functional.dropout(outputs, self.dropout, self.training and layer > 0)
            ahead, back = self.all_weights[2 * layer : 2 * layer + 2]  # each: w_in, w_state, b_in, b_state
            here = slice(2 * layer, 2 * layer + 2)
            outputs, ends = FusedLayer.apply(  # type: ignore[no-untyped-call]
                shown,
                torch.cat([ahead[0], back[0]]),
                torch.cat([ahead[2] + ahead[3], back[2] + back[3]]),
                torch.stack([ahead[1], back[1]]),
                h[here],
                c[here],
                precision,
                torch.is_grad_enabled(),
            )
        return outputs, torch.cat([ends[0], ends[1]], dim=1)


@cache
def _fits(device: torch.device, hidden: int) -> bool:
    """Whether the kernels run on a GPU: Triton is there, and the card has products in TF32."""
    if hidden not in _FUSED or torch.version.hip is not None or find_spec("triton") is None:
        return False
    return torch.cuda.get_device_capability(device) >= (8, 0)


# The paper's encoder, for features that are arrays.


class BilstmEncoderNet(nn.Module):
    """Reads the features of an item one after the other, (items, steps, s) -> (items, d)."""

    def __init__(self, settings: Settings, item_shape: tuple[int, ...], dimensions: int, dropout: float) -> None:
        super().__init__()
        hidden, layers = settings["hidden"], settings["layers"]
        self.lstm = LstmStack(item_shape[1], hidden, layers, dropout=dropout)
        self.h0 = nn.Parameter(torch.zeros(2 * layers, hidden))
        self.c0 = nn.Parameter(torch.zeros(2 * layers, hidden))
        self.out = nn.Linear(2 * hidden, dimensions)

    def forward(self, items: Tensor) -> Tensor:
        """Essence of items, in (0, 1)."""
        m = items.shape[0]  # not len(): ONNX must see that it varies
        start = [state.unsqueeze(1).expand(-1, m, -1).contiguous() for state in (self.h0, self.c0)]
        _, ends = self.lstm.read(items, (start[0], start[1]))
        return torch.sigmoid(self.out(ends))


BILSTM_ENCODER = TrainableEncoder(
    make=BilstmEncoderNet,
    settings=lambda config: {"kind": "bilstm", "hidden": config.encoder_hidden, "layers": config.encoder_layers},
    # The sigmoid becomes one minus itself, which z-scoring makes a change of sign.
    outputs=lambda settings: ("encoder.out.weight", "encoder.out.bias"),
)


# The paper's scorer.


class BilstmScorerNet(ScorerNet):
    """Reads start token, sequence, end token; (b, N, n, d) -> (b, N)."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        channels = config.dimensions + 2 * config.scorer_positions
        hidden = config.scorer_hidden
        self.positions, self.readout, self.dropout = config.scorer_positions, config.readout, config.readout_dropout
        self.start = nn.Parameter(torch.randn(channels))
        self.end = nn.Parameter(torch.randn(channels))
        self.lstm = LstmStack(channels, hidden, config.scorer_layers)
        self.out = nn.Linear(2 * hidden, 1)
        nn.init.zeros_(self.out.weight)  # it starts from no opinion
        nn.init.zeros_(self.out.bias)

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores of sequences."""
        b, N = sequences.shape[:2]
        return self.read(self.frame(sequences.flatten(0, 1))).view(b, N)

    def frame(self, rows: Tensor) -> Tensor:
        """Sequences (m, n, d) between the tokens: (m, n + 2, c)."""
        m, n, _ = rows.shape
        if self.positions:
            u = torch.linspace(0.0, 1.0, n, device=rows.device, dtype=rows.dtype)
            channels = torch.stack([u, torch.full_like(u, n / LONGEST)], dim=1)  # (n, 2)
            rows = torch.cat([rows, channels.expand(m, n, 2)], dim=2)
        return torch.cat([self.start.expand(m, 1, -1), rows, self.end.expand(m, 1, -1)], dim=1)

    def read(self, framed: Tensor) -> Tensor:
        """Framed sequences (m, n + 2, c) to scores (m,)."""
        outputs, ends = self.lstm.read(framed)
        summary = outputs.mean(1) if self.readout == "mean" else ends
        score: Tensor = self.out(functional.dropout(summary, self.dropout, self.training)).squeeze(1)
        return score

    def certainty(self) -> list[Tensor]:
        """Its last layer."""
        return list(self.out.parameters())


def _flip_bilstm(weights: Weights, signs: NDArray[np.float32]) -> None:
    for name in ("start", "end", "lstm.weight_ih_l0", "lstm.weight_ih_l0_reverse"):
        weights[f"bilstm.{name}"][..., : len(signs)] *= signs  # (..., c): the channels of the essence come first


BILSTM_SCORER = TrainableScorer(
    make=BilstmScorerNet,
    settings=lambda config: {
        "kind": "bilstm", "hidden": config.scorer_hidden, "layers": config.scorer_layers,
        "positions": config.scorer_positions, "channels": config.dimensions + 2 * config.scorer_positions,
        "readout": config.readout,
    },
    flip=_flip_bilstm,
)  # fmt: skip


# Nets of one's own, wrapped so that the loop can turn, scale and silence them, and compared with their twins.


class OwnEncoderNet(nn.Module):
    """An encoder's net, and a sign for each dimension of its essence, which is no parameter."""

    signs: Tensor

    def __init__(self, part: Encoder, item_shape: tuple[int, ...], dimensions: int) -> None:
        super().__init__()
        self.net = part.net(item_shape, dimensions)
        self.register_buffer("signs", torch.ones(dimensions))

    def forward(self, items: Tensor) -> Tensor:
        """Essence (m, d) of items (m, f[, s])."""
        essence: Tensor = self.net(items)
        return essence * self.signs


class OwnScorerNet(ScorerNet):
    """A scorer's net between signs of the dimensions and a scale, which are no parameters."""

    signs: Tensor
    scale: Tensor

    def __init__(self, part: Scorer, dimensions: int) -> None:
        super().__init__()
        self.net = part.net(dimensions)
        self.register_buffer("signs", torch.ones(dimensions))
        self.register_buffer("scale", torch.ones(1))

    def forward(self, sequences: Tensor) -> Tensor:
        """Scores (b, N) of sequences (b, N, n, d)."""
        scores: Tensor = self.net(sequences.flatten(0, 1) * self.signs)
        return scores.view(sequences.shape[:2]) * self.scale

    def certainty(self) -> list[Tensor]:
        """Its scale."""
        return [self.scale]


TOLERANCE = 1e-5  # by which net and twin may differ, by the size of what they give
_ITEMS = 7  # tried


def check_twins(config: TrainingConfig, item_shape: tuple[int, ...]) -> None:
    """Compare each net of one's own with its twin, before any time is spent: they may differ by rounding."""
    rng, d = np.random.default_rng(0), config.dimensions
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        if config.encoder in OWN_ENCODERS:
            part = OWN_ENCODERS[config.encoder]
            items = rng.normal(size=(_ITEMS, *item_shape))
            _compare(f"encoder {part.kind!r}", part.net(item_shape, d), part.encode, items, (_ITEMS, d))
        for name in (name for name in config.scorers if name in OWN_SCORERS):
            scorer = OWN_SCORERS[name]
            net = scorer.net(d)
            for n in (2, _ITEMS):
                sequences = rng.normal(size=(3, n, d))
                _compare(f"scorer {name!r}, {n} items", net, scorer.score, sequences, (3,))


def _compare(what: str, net: Any, twin: Callable[..., Any], given: Floats, shape: tuple[int, ...]) -> None:
    """Refuse a net and a twin that do not give the same, of this shape."""
    if not isinstance(net, nn.Module):
        raise InputError(f"the net of {what} must be a torch.nn.Module; got {type(net).__name__}")

    def check(whose: str, array: NDArray[Any]) -> NDArray[Any]:
        if array.shape != shape:
            raise InputError(f"{what}: of {len(given)} its {whose} must give shape {shape}; got {array.shape}")
        return array

    single = given.astype(np.float32)
    found = check("net", net.eval()(torch.from_numpy(single)).numpy())
    weights = {name: tensor.numpy().astype(np.float64) for name, tensor in net.state_dict().items()}
    told = check("twin", np.asarray(twin(weights, single.astype(np.float64)), dtype=np.float64))
    apart = float(np.abs(told - found).max(initial=0.0))
    if not apart <= TOLERANCE * max(1.0, float(np.abs(found).max(initial=0.0))):
        raise InputError(f"{what}: its net and its twin differ by {apart:.3g} with the same weights: they must agree")


# What can be trained, by kind: one line here.
ENCODERS: dict[str, TrainableEncoder] = {"mlp": MLP, "bilstm": BILSTM_ENCODER, "identity": IDENTITY}
SCORERS: dict[str, TrainableScorer] = {"arcs": ARCS, "bilstm": BILSTM_SCORER}


def trainable_encoder(kind: str) -> TrainableEncoder:
    """A kind of encoder by name; one that cannot be trained is an error that names those that can."""
    if kind not in OWN_ENCODERS:
        return _find("encoder", kind, ENCODERS)
    part = OWN_ENCODERS[kind]
    return TrainableEncoder(
        make=lambda settings, item_shape, dimensions, dropout: OwnEncoderNet(part, item_shape, dimensions),
        settings=lambda config: {"kind": part.kind},
        outputs=lambda settings: ("encoder.signs",),
    )


def trainable_scorer(kind: str) -> TrainableScorer:
    """A kind of scorer by name; one that cannot be trained is an error that names those that can."""
    if kind not in OWN_SCORERS:
        return _find("scorer", kind, SCORERS)
    part, signed = OWN_SCORERS[kind], f"{kind}.signs"
    return TrainableScorer(
        make=lambda config: OwnScorerNet(part, config.dimensions),
        settings=lambda config: {"kind": part.kind},
        flip=lambda weights, signs: weights.update({signed: weights[signed] * signs}),
    )


def _find(what: str, kind: str, known: dict[str, T]) -> T:
    if kind not in known:
        raise InputError(f"no {what} of kind {kind!r} can be trained; there are: {', '.join(known)}")
    return known[kind]


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
