"""A bidirectional LSTM layer on a GPU as one operation, several times faster than cuDNN's for small states.

Two kernels do all steps of some rows in one go, forward and back.
Products with the input are not here: they have no order in time, so one large product does them for all steps.
The gates of one step lie side by side as PyTorch has them: input, forget, cell, output.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def _tanh(x):
    return 2 / (1 + tl.exp(-2 * x)) - 1


@triton.jit
def forward_kernel(
    gates,  # (m, T, 2, 4 H): products with the input; what comes out of the nonlinearities takes their place
    weights,  # (2, 4 H, H)
    h0,  # (2, m, H)
    c0,  # (2, m, H)
    outputs,  # (m, T, 2, H)
    before,  # (m, T, 2, H): the hidden state each step started from
    cells,  # (m, T, 2, H): the cell state each step started from
    h_end,  # (2, m, H)
    m,
    T,
    H: tl.constexpr,
    ROWS: tl.constexpr,
    PRECISION: tl.constexpr,
    KEPT: tl.constexpr,
):
    direction = tl.program_id(1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    unit = tl.arange(0, H)
    real = (row < m)[:, None]
    state = (direction * m + row).to(tl.int64)[:, None] * H + unit[None, :]
    h = tl.load(h0 + state, mask=real, other=0.0)
    c = tl.load(c0 + state, mask=real, other=0.0)
    # (H in, H out) of each gate: h @ w.T
    w = weights + direction * 4 * H * H + unit[None, :] * H + unit[:, None]
    for number in range(T):
        t = number + direction * (T - 1 - 2 * number)  # the second direction reads from the end
        place = (row.to(tl.int64)[:, None] * T + t) * 2 + direction
        g = gates + place * 4 * H + unit[None, :]
        s = place * H + unit[None, :]
        if KEPT:
            tl.store(before + s, h, mask=real)
            tl.store(cells + s, c, mask=real)
        x_in = tl.load(g, mask=real, other=0.0)
        x_forget = tl.load(g + H, mask=real, other=0.0)
        x_cell = tl.load(g + 2 * H, mask=real, other=0.0)
        x_out = tl.load(g + 3 * H, mask=real, other=0.0)
        i = _sigmoid(tl.dot(h, tl.load(w), acc=x_in, input_precision=PRECISION))
        f = _sigmoid(tl.dot(h, tl.load(w + H * H), acc=x_forget, input_precision=PRECISION))
        a = _tanh(tl.dot(h, tl.load(w + 2 * H * H), acc=x_cell, input_precision=PRECISION))
        o = _sigmoid(tl.dot(h, tl.load(w + 3 * H * H), acc=x_out, input_precision=PRECISION))
        c = f * c + i * a
        h = o * _tanh(c)
        if KEPT:
            tl.store(g, i, mask=real)
            tl.store(g + H, f, mask=real)
            tl.store(g + 2 * H, a, mask=real)
            tl.store(g + 3 * H, o, mask=real)
        tl.store(outputs + s, h, mask=real)
    tl.store(h_end + state, h, mask=real)


@triton.jit
def backward_kernel(
    gates,  # (m, T, 2, 4 H): gates as the forward kernel left them; their gradients take their place
    weights,  # (2, 4 H, H)
    cells,  # (m, T, 2, H)
    d_outputs,  # (m, T, 2, H)
    d_end,  # (2, m, H)
    d_h0,  # (2, m, H)
    d_c0,  # (2, m, H)
    m,
    T,
    H: tl.constexpr,
    ROWS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    direction = tl.program_id(1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    unit = tl.arange(0, H)
    real = (row < m)[:, None]
    state = (direction * m + row).to(tl.int64)[:, None] * H + unit[None, :]
    dh = tl.load(d_end + state, mask=real, other=0.0)
    dc = tl.full((ROWS, H), 0.0, dtype=tl.float32)
    w = weights + direction * 4 * H * H + unit[:, None] * H + unit[None, :]  # (H out, H in) of each gate
    for number in range(T):
        t = (T - 1 - number) + direction * (2 * number + 1 - T)  # against the direction of reading
        place = (row.to(tl.int64)[:, None] * T + t) * 2 + direction
        g = gates + place * 4 * H + unit[None, :]
        s = place * H + unit[None, :]
        i = tl.load(g, mask=real, other=0.0)
        f = tl.load(g + H, mask=real, other=0.0)
        a = tl.load(g + 2 * H, mask=real, other=0.0)
        o = tl.load(g + 3 * H, mask=real, other=0.0)
        c_before = tl.load(cells + s, mask=real, other=0.0)
        dh += tl.load(d_outputs + s, mask=real, other=0.0)
        bent = _tanh(f * c_before + i * a)
        dc += dh * o * (1 - bent * bent)
        d_in = dc * a * i * (1 - i)
        d_forget = dc * c_before * f * (1 - f)
        d_cell = dc * i * (1 - a * a)
        d_out = dh * bent * o * (1 - o)
        dc = dc * f
        tl.store(g, d_in, mask=real)
        tl.store(g + H, d_forget, mask=real)
        tl.store(g + 2 * H, d_cell, mask=real)
        tl.store(g + 3 * H, d_out, mask=real)
        dh = tl.dot(d_in, tl.load(w), input_precision=PRECISION)
        dh = tl.dot(d_forget, tl.load(w + H * H), acc=dh, input_precision=PRECISION)
        dh = tl.dot(d_cell, tl.load(w + 2 * H * H), acc=dh, input_precision=PRECISION)
        dh = tl.dot(d_out, tl.load(w + 3 * H * H), acc=dh, input_precision=PRECISION)
    tl.store(d_h0 + state, dh, mask=real)
    tl.store(d_c0 + state, dc, mask=real)


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
        forward_kernel[(-(-m // rows), 2)](
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
        backward_kernel[(-(-m // rows), 2)](
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
