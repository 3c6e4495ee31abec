"""Templates with the arcs of collections, as SVG: the paper's Figures 4 and 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.ordering import positions
from fabula.core.template import Template
from fabula.report import svg
from fabula.report.figures.colours import GREY, frame, path, shorten, text

_POINTS = 81  # of a template


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


@dataclass(frozen=True)
class PanelLayout:
    """How panels are laid out.

    Attributes
    ----------
    columns
        Panels in a row.
    width, height
        Of the figure, and of one panel without the names below it.
    named
        Whether the names of the arcs stand below each panel.
    notes
        Lines of text for the space after the last panel, where it is free.
    """

    columns: int
    width: int = 860
    height: int = 150
    named: bool = True
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class _Box:
    """Where a panel stands, and the values at its bottom and top."""

    left: float
    top: float
    width: float
    height: float
    low: float
    high: float

    def x(self, u: float) -> float:
        return self.left + 6 + (self.width - 12) * u

    def y(self, v: float) -> float:
        return self.top + self.height * (self.high - v) / (self.high - self.low)


def panels_figure(panels: Sequence[ArcPanel], layout: PanelLayout, *, standalone: bool = True) -> str:
    """A grid of panels on one scale, in reading order.

    Examples
    --------
    >>> rise = Template([0, 1], [-1, 1])
    >>> panels_figure([ArcPanel("rise", rise, [Arc("an album", [-1, 0.5, 1])])], PanelLayout(columns=1))[:4]
    '<svg'
    """
    values = [v for panel in panels for arc in panel.arcs for v in arc.values]
    values += [float(v) for p in panels if p.template is not None for v in p.template.samples(_POINTS)]
    low, high = svg.limits(np.array(values))
    columns, height = layout.columns, layout.height
    below = 14.0 * max(len(panel.arcs) for panel in panels) + 8 if layout.named else 6.0
    each, step = (layout.width - 26) / columns, 26 + height + below
    parts = []
    for number, panel in enumerate(panels):
        left, top = 26 + each * (number % columns), step * (number // columns)
        box = _Box(left, top + 26, each - 14, height, low, high)
        parts += _arc_panel(panel, box, ticks=number % columns == 0)
        parts += _names(panel, box, each) if layout.named else []
    if layout.notes and len(panels) % columns:
        left, top = 26 + each * (len(panels) % columns), step * (len(panels) // columns)
        parts += _notes(layout, left, top, each)
    rows = -(-len(panels) // columns)
    label = ", ".join(panel.title for panel in panels)
    return frame(parts, width=layout.width, height=step * rows, label=label, standalone=standalone)


def _names(panel: ArcPanel, box: _Box, width: float) -> list[str]:
    bottom = box.top + box.height + 14
    return [
        text(box.left, bottom + 14 * i, shorten(arc.name, round(width / 6.2)), kind="soft small")
        for i, arc in enumerate(panel.arcs)
    ]


def _notes(layout: PanelLayout, left: float, top: float, width: float) -> list[str]:
    line = min(16.0, (layout.height + 16) / len(layout.notes))
    return [
        text(left + 6, top + 30 + line * i, shorten(note, round(width / 6.6)), kind="soft")
        for i, note in enumerate(layout.notes)
    ]


def _arc_panel(panel: ArcPanel, box: _Box, *, ticks: bool) -> list[str]:
    left, width, x, y = box.left, box.width, box.x, box.y
    parts = [text(left, box.top - 8, shorten(panel.title, round(width / 6.4)), bold=True)]
    for tick in svg.ticks(box.low, box.high):
        parts.append(
            f'<line class="zero" x1="{left:.1f}" x2="{left + width:.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        )
        if ticks:
            parts.append(text(left - 4, y(tick) + 4, f"{tick:g}", kind="soft small", anchor="end"))
    if panel.template is not None:
        points = zip(positions(_POINTS), panel.template.samples(_POINTS), strict=True)
        parts.append(f'<g class="s{panel.colour}">{path("thick", [(x(u), y(float(v))) for u, v in points])}</g>')
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
