"""Templates with the arcs of collections, as SVG: the paper's Figures 4 and 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.ordering import positions
from fabula.core.template import Template
from fabula.report import svg
from fabula.report.figures.colours import GREY, frame, path, shortened, text

_POINTS = 81  # of a curve


@dataclass(frozen=True)
class Arc:
    """A collection's essence in one order; ``marks`` are short texts at its points, where there are some."""

    name: str
    values: Sequence[float]
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class ArcPanel:
    """A template, or none, and arcs over it."""

    title: str
    template: Template | None
    arcs: Sequence[Arc]
    colour: int = 0


def panels_figure(
    panels: Sequence[ArcPanel],
    *,
    columns: int,
    width: int = 860,
    height: int = 150,
    named: bool = True,
    notes: Sequence[str] = (),
    standalone: bool = True,
) -> str:
    """A grid of panels on one scale, row by row.

    Parameters
    ----------
    panels
        In reading order.
    columns
        Panels in a row.
    width, height
        Of the figure, and of one panel without the names below it.
    named
        Whether the names of the arcs stand below each panel.
    notes
        Lines of text for the place after the last panel, where it is free.

    Examples
    --------
    >>> rise = Template([0, 1], [-1, 1])
    >>> panels_figure([ArcPanel("rise", rise, [Arc("an album", [-1, 0.5, 1])])], columns=1)[:4]
    '<svg'
    """
    values = [v for panel in panels for arc in panel.arcs for v in arc.values]
    values += [float(v) for p in panels if p.template is not None for v in p.template.samples(_POINTS)]
    low, high = svg._limits(np.array(values))
    below = 14.0 * max(len(panel.arcs) for panel in panels) + 8 if named else 6.0
    each, step = (width - 26) / columns, 26 + height + below
    parts = []
    for number, panel in enumerate(panels):
        left, top = 26 + each * (number % columns), step * (number // columns)
        parts += _panel(panel, left, top + 26, each - 14, height, (low, high), ticks=number % columns == 0)
        if named:
            lines = [text(left, top + 40 + height + 14 * i, shortened(arc.name, round(each / 6.2)), kind="soft small")
                     for i, arc in enumerate(panel.arcs)]  # fmt: skip
            parts += lines
    if notes and len(panels) % columns:
        left, top = 26 + each * (len(panels) % columns), step * (len(panels) // columns)
        line = min(16.0, (height + 16) / len(notes))
        parts += [
            text(left + 6, top + 30 + line * i, shortened(note, round(each / 6.6)), kind="soft")
            for i, note in enumerate(notes)
        ]
    rows = -(-len(panels) // columns)
    label = ", ".join(panel.title for panel in panels)
    return frame(parts, width=width, height=step * rows, label=label, standalone=standalone)


def _panel(
    panel: ArcPanel,
    left: float,
    top: float,
    width: float,
    height: float,
    limits: tuple[float, float],
    *,
    ticks: bool,
) -> list[str]:
    low, high = limits

    def x(u: float) -> float:
        return left + 6 + (width - 12) * u

    def y(v: float) -> float:
        return top + height * (high - v) / (high - low)

    parts = [text(left, top - 8, shortened(panel.title, round(width / 6.4)), bold=True)]
    for tick in svg._ticks(low, high):
        parts.append(
            f'<line class="zero" x1="{left:.1f}" x2="{left + width:.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        )
        if ticks:
            parts.append(text(left - 4, y(tick) + 4, f"{tick:g}", kind="soft small", anchor="end"))
    if panel.template is not None:
        curve = zip(positions(_POINTS), panel.template.samples(_POINTS), strict=True)
        parts.append(f'<g class="s{panel.colour}">{path("thick", [(x(u), y(float(v))) for u, v in curve])}</g>')
    return parts + [_arc(arc, x, y) for arc in panel.arcs]


def _arc(arc: Arc, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    points = [(x(float(u)), y(v)) for u, v in zip(positions(len(arc.values)), arc.values, strict=True)]
    drawn = path("thin", points) if len(points) > 1 else ""
    radius = 8 if arc.marks else 2.2
    for number, (px, py) in enumerate(points):
        drawn += f'<circle class="mark" cx="{px:.1f}" cy="{py:.1f}" r="{radius}"/>'
        if arc.marks:
            drawn += text(px, py + 3.6, arc.marks[number], kind="small inside", anchor="middle")
    return f'<g class="s{GREY}">{drawn}</g>'
