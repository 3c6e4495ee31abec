"""Threads as ribbons: through which items of an order each name runs, and how strongly."""

from __future__ import annotations

from html import escape

import numpy as np

from fabula.core.essence import Floats
from fabula.media.medium import Threads
from fabula.report.figures.colours import COLOURS, frame, shortened, text

_LEFT, _RIGHT, _ROW, _TOP = 120.0, 20.0, 24.0, 26.0


def threads_figure(threads: Threads, labels: list[str], *, width: float = 900) -> str:
    """One ribbon a thread, along the positions; as thick as it is met often.

    Parameters
    ----------
    threads
        Of n items, in their new order.
    labels
        n texts, shown on hover.
    """
    n, k = threads.counts.shape
    order = np.argsort([int(np.argmax(row > 0)) for row in threads.counts.T], kind="stable")  # as they come in
    step = (width - _LEFT - _RIGHT) / max(1, n)
    height = _TOP + _ROW * k + 22
    parts = [_column(position, step, height, labels[position], n) for position in range(n)]
    for row, thread in enumerate(order.tolist()):
        middle = _TOP + _ROW * (row + 0.5)
        parts.append(text(_LEFT - 10, middle + 4, shortened(threads.names[thread], 16), anchor="end"))
        counts = threads.counts[:, thread]
        parts.append(f'<g class="s{row % (COLOURS - 1)}">{_ribbon(counts, middle, step)}</g>')
    return frame(parts, width=width, height=height, label="threads of names", standalone=False)


def _column(position: int, step: float, height: float, label: str, n: int) -> str:
    x = _LEFT + step * (position + 0.5)
    every = max(1, round(n / 30))
    number = text(x, height - 6, str(position + 1), kind="soft small", anchor="middle") if position % every == 0 else ""
    line = f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{height - 20:.1f}"/>'
    return f"<g><title>{escape(label)}</title>{line}{number}</g>"


def _ribbon(counts: Floats, middle: float, step: float) -> str:
    """Bands over runs of items that have it, thin where one between them has not."""
    half = (_ROW / 2 - 2) * np.sqrt(counts / counts.max())
    there = np.flatnonzero(counts > 0)
    first, last = int(there[0]), int(there[-1])
    x = _LEFT + step * (np.arange(len(counts)) + 0.5)
    parts = (
        [f'<path class="thin" d="M{x[first]:.1f},{middle:.1f} L{x[last]:.1f},{middle:.1f}"/>'] if last > first else []
    )
    for position in there.tolist():
        wide, tall = 0.5 * step, max(1.5, float(half[position]))
        before = float(half[position - 1]) / 2 + tall / 2 if position and counts[position - 1] else 0.0
        after = float(half[position + 1]) / 2 + tall / 2 if position + 1 < len(counts) and counts[position + 1] else 0.0
        parts.append(_bell(float(x[position]), middle, wide, (before, tall, after)))
    return "".join(parts)


def _bell(x: float, middle: float, wide: float, heights: tuple[float, float, float]) -> str:
    """A band from the edge of a column to its middle and on to the other edge, the same above and below."""
    left, tall, right = heights
    bend = wide / 2
    upper = (
        f"M{x - wide:.1f},{middle - left:.1f} C{x - bend:.1f},{middle - left:.1f} {x - bend:.1f},{middle - tall:.1f} "
        f"{x:.1f},{middle - tall:.1f} C{x + bend:.1f},{middle - tall:.1f} {x + bend:.1f},{middle - right:.1f} "
        f"{x + wide:.1f},{middle - right:.1f}"
    )
    lower = (
        f"L{x + wide:.1f},{middle + right:.1f} C{x + bend:.1f},{middle + right:.1f} {x + bend:.1f},{middle + tall:.1f} "
        f"{x:.1f},{middle + tall:.1f} C{x - bend:.1f},{middle + tall:.1f} {x - bend:.1f},{middle + left:.1f} "
        f"{x - wide:.1f},{middle + left:.1f}Z"
    )
    return f'<path class="flow" d="{upper} {lower}"/>'
