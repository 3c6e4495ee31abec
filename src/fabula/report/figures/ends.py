"""How each item begins and ends, as SVG: what a listener meets from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from fabula.media.facts import Ends
from fabula.report.svg import short

MOST_ITEMS = 60
_LEFT, _TOP, _HEIGHT = 52, 14, 150


def ends_figure(ends: Ends, labels: Sequence[str], breaks: Sequence[int] = ()) -> str:
    """A line for each item from its beginning over the whole to its end, and a dashed one for each step between them.

    Parameters
    ----------
    ends
        Of m items, in the order in which they stand.
    labels
        m texts.
    breaks
        Positions at which a new side begins: there is no step.

    Examples
    --------
    >>> one = np.array([-10.0, -12.0])
    >>> ends_figure(Ends("level", "dB", one, one, one), ["a", "b"])[:4]
    '<svg'
    """
    m = len(labels)
    wide = max(28, min(90, 1100 // m))
    low, high = _range(ends)

    def y(value: float) -> float:
        return _TOP + _HEIGHT * (high - max(low, value)) / (high - low)

    parts = [_scale(low, high, ends.unit, _LEFT + wide * m)]
    for k in range(m):
        x = _LEFT + wide * k
        begin, mid, end = (y(float(values[k])) for values in (ends.start, ends.whole, ends.end))
        points = f"{x + 4},{begin:.1f} {x + wide / 2},{mid:.1f} {x + wide - 4},{end:.1f}"
        told = f"{labels[k]}: {ends.start[k]:.1f}, {ends.whole[k]:.1f}, {ends.end[k]:.1f} {ends.unit}"
        title = f"<title>{escape(told)}</title>"
        parts.append(f'<polyline points="{points}" fill="none" stroke="var(--dot)" stroke-width="3">{title}</polyline>')
        if k + 1 < m and k + 1 not in breaks:
            after = y(float(ends.start[k + 1]))
            gap = f"{abs(float(ends.start[k + 1] - ends.end[k])):.1f} {ends.unit}"
            parts.append(
                f'<line x1="{x + wide - 4}" y1="{end:.1f}" x2="{x + wide + 4}" y2="{after:.1f}" stroke="#d9822b" '
                f'stroke-width="3"><title>{escape(gap)}</title></line>'
            )
        at = f"{x + wide / 2:.0f},{_TOP + _HEIGHT + 14}"
        name = escape(short(labels[k], 16))
        parts.append(f'<text x="{x + wide / 2:.0f}" y="{_TOP + _HEIGHT + 14}" text-anchor="end" '
                     f'transform="rotate(-45 {at})">{name}</text>')  # fmt: skip
    foot = 24 + 5 * max(len(short(label, 16)) for label in labels)
    width, height = _LEFT + wide * m + 10, _TOP + _HEIGHT + foot
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px" role="img" aria-label="How each begins and ends">{"".join(parts)}</svg>'
    )


def _range(ends: Ends) -> tuple[float, float]:
    """Round numbers around most of the values."""
    values = np.concatenate([ends.start, ends.whole, ends.end])
    low = max(float(values.min()), float(np.median(values)) - 40)
    return float(np.floor(low / 5) * 5), float(np.ceil((values.max() + 0.1) / 5) * 5)


def _scale(low: float, high: float, unit: str, right: float) -> str:
    marks = np.arange(low, high + 0.1, 5 if high - low <= 25 else 10)
    lines = []
    for mark in marks:
        y = _TOP + _HEIGHT * (high - mark) / (high - low)
        lines.append(f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>')
        lines.append(f'<text class="soft" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    return "".join(lines) + f'<text class="soft" x="4" y="{_TOP + _HEIGHT + 14}">{escape(unit)}</text>'
