"""Bars with intervals, as SVG: the paper's Figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fabula.report import svg

_LETTER = 6.6  # about as wide as a letter is


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its value, and the interval around it where there is one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def bars_figure(panels: Sequence[tuple[str, Sequence[Bar]]], *, width: int = 860, standalone: bool = True) -> str:
    """Panels of horizontal bars side by side.

    Parameters
    ----------
    panels
        (title, bars) each; bars go from a common zero, negative ones to the left.

    Examples
    --------
    >>> bars_figure([("bits", [Bar("energy", 0.15, 0.12, 0.18)])])[:4]
    '<svg'
    """
    rows = max(len(bars) for _, bars in panels)
    height = 46 + 24 * rows + 20
    each = width / len(panels)
    parts = [
        part for number, (title, bars) in enumerate(panels) for part in _bar_panel(title, bars, number * each, each)
    ]
    style = f"<style>{svg.STYLE}</style>" if standalone else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(", ".join(title for title, _ in panels), quote=True)}">{style}{"".join(parts)}</svg>'
    )


def _bar_panel(title: str, bars: Sequence[Bar], left: float, width: float) -> list[str]:
    names = min(width / 2, 16 + _LETTER * max(len(b.name) for b in bars))
    room = 46.0
    low = min(0.0, *(b.value if b.low is None else b.low for b in bars))
    high = max(0.0, *(b.value if b.high is None else b.high for b in bars)) or 1.0
    scale = (width - names - room - 12) / ((high - low) or 1.0)

    def x(value: float) -> float:
        return left + names + (value - low) * scale

    bottom = 40 + 24 * len(bars)
    parts = [
        f'<text x="{left + names:.1f}" y="20" font-weight="600">{escape(title)}</text>',
        f'<line class="axis" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="32" y2="{bottom}"/>',
    ]
    for row, b in enumerate(bars):
        y = 40 + 24 * row
        start, stop = sorted((x(0), x(b.value)))
        parts.append(f'<text x="{left + names - 8:.1f}" y="{y + 11}" text-anchor="end">{escape(b.name)}</text>')
        parts.append(
            f'<rect class="dot" x="{start:.1f}" y="{y}" width="{stop - start:.1f}" height="14" rx="2" '
            f'fill-opacity="{1 if b.name == "essence" else 0.55}"/>'
        )
        end = stop
        if b.low is not None and b.high is not None:
            parts.append(f'<path class="whisker" d="M{x(b.low):.1f},{y + 7} H{x(b.high):.1f}"/>')
            end = max(stop, x(b.high))
        parts.append(f'<text class="soft" x="{end + 5:.1f}" y="{y + 11}">{round(b.value, 2) + 0.0:.2f}</text>')
    return parts
