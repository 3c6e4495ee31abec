"""A bidirectional LSTM layer as one operation, several times faster on a GPU than cuDNN's for small states."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fabula.training.kernels import triton_lstm as fused_kernels


class FusedLayer(torch.autograd.Function):
    """One layer, both directions, the forward one first, in single precision.

    Takes steps (m, T, c), input weights (8 H, c) and their biases (8 H,), state weights (2, 4 H, H), hidden and cell
    states to start from, (2, m, H) each, the precision of products with states (``"tf32"``, or ``"tf32x3"``, which is
    nearly exact), and whether gradients will be asked for: once, since they take the place of what is kept for them.
    Gives outputs (m, T, 2 H) and the last hidden states (2, m, H).
    """

    @staticmethod
    def forward(
        ctx: Any,
        steps: Tensor,
        w_in: Tensor,
        bias: Tensor,
        w_state: Tensor,
        h0: Tensor,
        c0: Tensor,
        precision: str,
        kept: bool,  # noqa: FBT001 - positional is all that autograd passes
    ) -> tuple[Tensor, Tensor]:
        """Outputs and last states."""
        m, count, channels = steps.shape
        hidden = w_state.shape[2]
        gates = torch.addmm(bias, steps.reshape(m * count, channels), w_in.t())  # (m T, 8 H)
        outputs = steps.new_empty(m, count, 2, hidden)
        before, cells = (torch.empty_like(outputs) if kept else outputs for _ in range(2))
        h_end = steps.new_empty(2, m, hidden)
        rows, warps = block(hidden, precision)
        fused_kernels.forward_kernel[(-(-m // rows), 2)](
            gates, w_state.contiguous(), h0.contiguous(), c0.contiguous(), outputs, before, cells, h_end, m, count,
            H=hidden, ROWS=rows, PRECISION=precision, KEPT=kept, **options(warps),
        )  # fmt: skip
        ctx.save_for_backward(steps, w_in, w_state, gates, before, cells)
        ctx.precision, ctx.spent = precision, False
        return outputs.view(m, count, 2 * hidden), h_end

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_end: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of all that came in."""
        if ctx.spent:
            raise RuntimeError("the gradients of a fused layer can be computed once: it keeps no graph")
        ctx.spent = True
        steps, w_in, w_state, d_gates, before, cells = ctx.saved_tensors  # gates until the kernel has run
        m, count, channels = steps.shape
        hidden = w_state.shape[2]
        d_h0, d_c0 = (steps.new_empty(2, m, hidden) for _ in range(2))
        rows, warps = block(hidden, ctx.precision)
        fused_kernels.backward_kernel[(-(-m // rows), 2)](
            d_gates, w_state.contiguous(), cells, d_outputs.contiguous(), d_end.contiguous(), d_h0, d_c0, m, count,
            H=hidden, ROWS=rows, PRECISION=ctx.precision, **options(warps),
        )  # fmt: skip
        by_direction = d_gates.view(m * count, 2, 4 * hidden)
        states = before.view(m * count, 2, hidden)
        d_w_state = torch.stack([by_direction[:, k].t() @ states[:, k] for k in range(2)])
        d_steps = (d_gates @ w_in).view_as(steps) if ctx.needs_input_grad[0] else None
        d_w_in = d_gates.t() @ steps.reshape(m * count, channels)
        return d_steps, d_w_in, d_gates.sum(0), d_w_state, d_h0, d_c0, None, None


def block(hidden: int, precision: str) -> tuple[int, int]:
    """Rows and warps of a block: the fastest of a few on an H200."""
    if hidden < 128:
        return 64, 4
    return 16, 4 if precision == "tf32" else 8


def options(warps: int) -> dict[str, Any]:
    """How the kernels are compiled."""
    return {"num_warps": warps, "num_stages": 1, "enable_fp_fusion": True}
