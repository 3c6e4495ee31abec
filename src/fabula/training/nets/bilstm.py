"""A bidirectional LSTM with the parameters of PyTorch's; on a GPU by kernels of our own, elsewhere by PyTorch's."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional

_FUSED = (16, 32, 64, 128)  # hidden units the kernels can do

States = tuple[Tensor, Tensor]


class Bilstm(nn.LSTM):
    """A bidirectional LSTM over (m, steps, c), with dropout between its layers.

    Parameters
    ----------
    channels, hidden, layers
        Numbers per step that come in; units of each direction; layers.
    dropout
        Between layers, in training.
    """

    def __init__(self, channels: int, hidden: int, layers: int, *, dropout: float = 0.0) -> None:
        between = dropout if layers > 1 else 0.0
        super().__init__(channels, hidden, layers, bidirectional=True, batch_first=True, dropout=between)

    def read(self, steps: Tensor, start: States | None = None) -> tuple[Tensor, Tensor]:
        """Read sequences from both ends.

        Parameters
        ----------
        steps
            Shape (m, steps, c).
        start
            Hidden and cell states to start from, (2 layers, m, hidden) each; none: zeros.

        Returns
        -------
        The last layer's outputs, (m, steps, 2 hidden), and its last states, forward's beside backward's, (m, 2 hidden).
        """
        if steps.is_cuda and steps.dtype == torch.float32 and _fits(steps.device, self.hidden_size):
            return self.read_fused(steps, start)
        outputs, (h, _) = self(steps, start)
        return outputs, torch.cat([h[-2], h[-1]], dim=1)

    def read_fused(self, steps: Tensor, start: States | None = None) -> tuple[Tensor, Tensor]:
        """:meth:`read`, layer by layer with kernels of our own."""
        from fabula.training.kernels.lstm import FusedLayer

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
