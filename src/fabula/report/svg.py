"""Pictures as SVG text, without any plotting library: they scale, they follow light and dark, and they are small."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.ordering import positions
from fabula.core.template import Template

STYLE = """
.fab{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;--ink:#1d2330;--soft:#6b7280;--line:#d7dbe2;
--curve:#9aa7bd;--dot:#2f6fde;--pin:#d9822b;color:var(--ink)}
@media(prefers-color-scheme:dark){.fab{--ink:#e8ebf1;--soft:#9aa3b2;--line:#38404e;--curve:#64728c;--dot:#6ea8ff;
--pin:#f0a95a}}
.fab text{fill:var(--ink)}.fab .soft{fill:var(--soft)}.fab .axis{stroke:var(--line);stroke-width:1}
.fab .curve{fill:none;stroke:var(--curve);stroke-width:2}.fab .arc{fill:none;stroke:var(--dot);stroke-width:1.5;
stroke-opacity:.55}.fab .stem{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 2}.fab .dot{fill:var(--dot)}
.fab .pin{fill:var(--pin)}.fab .whisker{fill:none;stroke:var(--ink);stroke-width:1.3}
"""


def arc_figure(
    essence: ArrayLike,
    labels: Sequence[str],
    *,
    template: Template | None = None,
    pinned: Sequence[int] = (),
    caption: str = "",
    width: int = 720,
    height: int = 300,
    standalone: bool = False,
) -> str:
    """A collection's arc: its items as points in order, the template behind them.

    Parameters
    ----------
    essence
        Shape (n,), in order.
    labels
        n texts; shown below the points where there is room, and on hover.
    template
        A scalar template to draw behind.
    pinned
        Positions drawn in another colour.
    standalone
        Include the style sheet, for a file of its own.

    Examples
    --------
    >>> arc_figure([0.0, 1.0], ["a", "b"])[:4]
    '<svg'
    """
    values = np.asarray(essence, dtype=np.float64)
    n = len(values)
    named = _labels_fit(labels, width)
    left, right, top, bottom = 34, 92 if named else 16, 30 if caption else 14, 96 if named else 26
    curve = template.samples(161) if template is not None else np.empty(0)
    low, high = limits(np.concatenate([values, curve]))

    def x(u: float) -> float:
        return left + (width - left - right) * (u if n > 1 or template is not None else 0.5)

    def y(v: float) -> float:
        return top + (height - top - bottom) * (high - v) / (high - low)

    parts = [f'<text x="{left}" y="16" font-weight="600">{escape(caption)}</text>'] if caption else []
    for tick in ticks(low, high):
        parts.append(f'<line class="axis" x1="{left}" x2="{width - right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text class="soft" x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    if len(curve):
        parts.append(_path("curve", [(x(u), y(v)) for u, v in zip(positions(161), curve, strict=True)]))
    places = positions(n)
    parts.append(_path("arc", [(x(u), y(v)) for u, v in zip(places, values, strict=True)]))
    targets = template.samples(n) if template is not None else values
    for j, (u, v, target) in enumerate(zip(places, values, targets, strict=True)):
        parts.append(
            f'<line class="stem" x1="{x(u):.1f}" x2="{x(u):.1f}" y1="{y(v):.1f}" y2="{y(target):.1f}"/>'
            f'<circle class="{"pin" if j in pinned else "dot"}" cx="{x(u):.1f}" cy="{y(v):.1f}" '
            f'r="{5 if n <= 40 else 2.5}"><title>{j + 1}. {escape(labels[j])} ({v:+.2f})</title></circle>'
        )
        if named:
            at = f"{x(u) + 3:.1f},{height - bottom + 16:.1f}"
            parts.append(f'<text transform="translate({at}) rotate(38)">{escape(short(labels[j]))}</text>')
    style = f"<style>{STYLE}</style>" if standalone else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(caption or "arc", quote=True)}">{style}{"".join(parts)}</svg>'
    )


def _path(kind: str, points: Sequence[tuple[float, float]]) -> str:
    return f'<path class="{kind}" d="M{" L".join(f"{px:.1f},{py:.1f}" for px, py in points)}"/>'


def limits(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    """The ends of an axis: the smallest and the largest value, with a margin."""
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def ticks(low: float, high: float) -> list[float]:
    """Round numbers along an axis, a few of them."""
    step = 10.0 ** np.floor(np.log10((high - low) / 2))
    step = next(step * m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= 6)
    first = int(np.ceil(low / step))
    return [round(i * step, 10) for i in range(first, int(np.floor(high / step)) + 1)]


def _labels_fit(labels: Sequence[str], width: int) -> bool:
    return len(labels) * 22 <= width


def short(label: str, most: int = 18) -> str:
    """A label that fits under a point.

    Examples
    --------
    >>> short("The Girl Is Mine (with Paul McCartney)")
    'The Girl Is Mine …'
    """
    return label if len(label) <= most else label[: most - 1] + "…"
