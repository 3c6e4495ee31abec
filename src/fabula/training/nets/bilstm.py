"""A bidirectional LSTM with the parameters of PyTorch's; on a GPU by kernels of our own, elsewhere by PyTorch's."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from fabula.training.nets.kinds import ScorerNet, Settings, TrainableEncoder, TrainableScorer, Weights
from fabula.training.recipes import TrainingConfig

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

LONGEST = 20.0  # the paper's longest collection: lengths are given to the scorer in this unit


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


def _settings(config: TrainingConfig) -> dict[str, Any]:
    return {
        "kind": "bilstm",
        "hidden": config.scorer_hidden,
        "layers": config.scorer_layers,
        "positions": config.scorer_positions,
        "channels": config.dimensions + 2 * config.scorer_positions,
        "readout": config.readout,
    }


def _flip(weights: Weights, signs: NDArray[np.float32]) -> None:
    for name in ("start", "end", "lstm.weight_ih_l0", "lstm.weight_ih_l0_reverse"):
        weights[f"bilstm.{name}"][..., : len(signs)] *= signs  # (..., c): the channels of the essence come first


BILSTM_SCORER = TrainableScorer(BilstmScorerNet, _settings, _flip)
