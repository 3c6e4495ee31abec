"""The two kernels of a bidirectional LSTM layer on a GPU: all steps of some rows in one go, forward and back.

Products with the input are not here: they have no order in time, so one large product does them for all steps.
The gates of one step lie side by side as PyTorch has them: input, forget, cell, output.
"""

from __future__ import annotations

import triton
import triton.language as tl


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
