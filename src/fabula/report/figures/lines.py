"""Lines with bands, as SVG: the paper's Figure 2, and learning curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.report import svg
from fabula.report.figures.colours import frame, path, text

_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 52.0, 24.0, 34.0, 44.0, 14.0
_ROW = 20.0  # of the legend


@dataclass(frozen=True)
class Line:
    """One series: where it goes, the band around it, and how it is drawn.

    ``low`` and ``high`` are empty where there is no band; ``colour`` counts from 0.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    colour: int = 0
    dashed: bool = False


@dataclass(frozen=True)
class LinePanel:
    """One pair of axes: a title, what runs along x, and the lines; ``log`` for a logarithmic x."""

    title: str
    along: str
    lines: Sequence[Line]
    log: bool = False


def lines_figure(panels: Sequence[LinePanel], *, width: int = 860, height: int = 300, standalone: bool = True) -> str:
    """Panels of lines side by side over one legend.

    Examples
    --------
    >>> lines_figure([LinePanel("bits", "k", [Line("templates", [1, 2], [0.1, 0.2], [0.0, 0.1], [0.2, 0.3])])])[:4]
    '<svg'
    """
    each = (width - _GAP * (len(panels) - 1)) / len(panels)
    parts: list[str] = []
    for number, panel in enumerate(panels):
        parts += _line_panel(panel, number * (each + _GAP), each, height)
    legend, rows = _legend([line for panel in panels for line in panel.lines], width, height)
    label = ", ".join(panel.title for panel in panels)
    return frame(parts + legend, width=width, height=height + _ROW * rows + 6, label=label, standalone=standalone)


def _line_panel(panel: LinePanel, left: float, width: float, height: float) -> list[str]:
    xs = [v for line in panel.lines for v in line.x]
    ys = [v for line in panel.lines for v in (*line.y, *line.low, *line.high)]
    x = _scale(xs, left + _LEFT, left + width - _RIGHT, log=panel.log)
    margin = 0.06 * (max(ys) - min(ys)) or 0.5
    low, high = min(ys) - margin, max(ys) + margin
    y = _scale([low, high], height - _BOTTOM, _TOP, log=False)
    parts = [text(left + _LEFT, 18, panel.title, bold=True)]
    for tick in svg.ticks(low, high):
        parts.append(
            f'<line class="axis" x1="{left + _LEFT:.1f}" x2="{left + width - _RIGHT:.1f}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/>'
        )
        parts.append(text(left + _LEFT - 6, y(tick) + 4, f"{tick:g}", kind="soft", anchor="end"))
    under = height - _BOTTOM + 17
    parts += [text(x(tick), under, f"{tick:,g}", kind="soft", anchor="middle") for tick in _x_ticks(xs)]
    parts.append(text(left + _LEFT + (width - _LEFT) / 2, height - 8, panel.along, kind="soft", anchor="middle"))
    for line in panel.lines:
        if len(line.low):
            there = [(x(u), y(v)) for u, v in zip(line.x, line.high, strict=True)]
            back = [(x(u), y(v)) for u, v in zip(line.x, line.low, strict=True)][::-1]
            parts.append(f'<g class="s{line.colour}">{path("band", there + back, closed=True)}</g>')
    return parts + [_drawn(line, x, y) for line in panel.lines]


def _drawn(line: Line, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    points = [(x(u), y(v)) for u, v in zip(line.x, line.y, strict=True)]
    marks = "".join(f'<circle class="mark" cx="{px:.1f}" cy="{py:.1f}" r="2.6"/>' for px, py in points[:40])
    kind = "line dashed" if line.dashed else "line"
    return f'<g class="s{line.colour}">{path(kind, points)}{marks if len(points) <= 12 else ""}</g>'


def _legend(lines: Sequence[Line], width: float, top: float) -> tuple[list[str], int]:
    """One entry per name, in rows as wide as the figure; and how many rows."""
    parts: list[str] = []
    at, row = 10.0, 0
    for line in {line.name: line for line in lines}.values():
        room = 46 + 6.4 * len(line.name)
        if at + room > width and at > 10:
            at, row = 10.0, row + 1
        middle = top + 10 + _ROW * row
        kind = "line dashed" if line.dashed else "line"
        parts.append(f'<g class="s{line.colour}">{path(kind, [(at, middle), (at + 24, middle)])}</g>')
        parts.append(text(at + 30, middle + 4, line.name))
        at += room
    return parts, row + 1


def _scale(values: Sequence[float], start: float, stop: float, *, log: bool) -> Callable[[float], float]:
    scaled = math.log if log else float
    low, high = scaled(min(values)), scaled(max(values))
    spread = (high - low) or 1.0
    return lambda value: start + (stop - start) * (scaled(value) - low) / spread


def _x_ticks(values: Sequence[float]) -> list[float]:
    """Where there are few values, all of them; else round numbers."""
    distinct = sorted(set(values))
    if len(distinct) <= 8:
        return distinct
    return [tick for tick in svg.ticks(distinct[0], distinct[-1]) if distinct[0] <= tick <= distinct[-1]]
