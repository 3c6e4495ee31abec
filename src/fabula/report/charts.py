"""Bars with intervals, as SVG: the paper's Figure 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from fabula.core.ordering import positions
from fabula.core.template import Template
from fabula.report import svg
from fabula.report.svg import GREY, frame, path, shorten, text

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


# Lines with bands, as SVG: the paper's Figure 2, and learning curves.

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


# The genealogy of templates, as SVG: the paper's Figure 5. A box is a template, a band the collections that move.

_TOP_SANKEY, _BOX, _GAP_SANKEY, _CURVE = 30.0, 78.0, 14.0, 46.0
_NAMED = 32.0  # height from which a box has room for its name


@dataclass(frozen=True)
class _Node:
    """Where a template's box stands."""

    template: Mapping[str, Any]
    left: float
    top: float
    height: float


def genealogy_figure(
    genealogy: Mapping[str, Any], *, width: int = 960, height: int = 420, standalone: bool = True
) -> str:
    """Templates by their number, and how collections move between them.

    Parameters
    ----------
    genealogy
        As :meth:`fabula.templates.genealogy.Genealogy.to_dict` gives it.

    Examples
    --------
    >>> one = {"name": "rise", "lineage": 0, "curve": [-1, 1], "collections": 3}
    >>> genealogy_figure({"generations": [{"k": 1, "templates": [one]}], "flows": []})[:4]
    '<svg'
    """
    generations = genealogy["generations"]
    total = sum(t["collections"] for t in generations[0]["templates"])
    most = max(len(g["templates"]) for g in generations)
    scale = (height - _GAP_SANKEY * (most - 1)) / max(total, 1)
    step = (width - _BOX - 20) / max(len(generations) - 1, 1)
    columns: list[dict[int, _Node]] = []
    for number, generation in enumerate(generations):
        order = _ordered(generation, genealogy["flows"][number - 1] if number else [], columns[-1:])
        columns.append(_stacked(generation, order, 10 + step * number, scale, height))
    heights = np.array([v for g in generations for t in g["templates"] for v in t["curve"]])
    reach = float(np.abs(heights).max()) or 1.0
    parts: list[str] = []
    for before, after, links in zip(columns[:-1], columns[1:], genealogy["flows"], strict=True):
        parts += _bands(before, after, links, scale)
    for generation, column in zip(generations, columns, strict=True):
        parts.append(text(next(iter(column.values())).left, 16, f"k = {generation['k']}", bold=True))
        parts += [_box(node, reach) for node in column.values()]
    return frame(
        parts, width=width, height=_TOP_SANKEY + height + 16, label="genealogy of templates", standalone=standalone
    )


def _ordered(
    generation: Mapping[str, Any], links: Sequence[Mapping[str, int]], before: list[dict[int, _Node]]
) -> list[int]:
    """Templates from top to bottom: by where their collections come from, so that few bands cross."""
    numbers = range(len(generation["templates"]))
    if not before:
        return list(numbers)
    middle = {}
    for j in numbers:
        coming = [(before[0][link["source"]], link["collections"]) for link in links if link["target"] == j]
        weight = sum(count for _, count in coming)
        middle[j] = sum((node.top + node.height / 2) * count for node, count in coming) / weight if weight else 1e9
    return sorted(numbers, key=lambda j: middle[j])


def _stacked(
    generation: Mapping[str, Any], order: Sequence[int], left: float, scale: float, height: float
) -> dict[int, _Node]:
    templates = generation["templates"]
    used = sum(t["collections"] for t in templates) * scale + _GAP_SANKEY * (len(templates) - 1)
    top = _TOP_SANKEY + (height - used) / 2
    column = {}
    for j in order:
        size = templates[j]["collections"] * scale
        column[j] = _Node(templates[j], left, top, size)
        top += size + _GAP_SANKEY
    return column


def _bands(
    before: Mapping[int, _Node], after: Mapping[int, _Node], links: Sequence[Mapping[str, int]], scale: float
) -> list[str]:
    """Bands from box to box, in the colour of the box they leave."""
    out = dict.fromkeys(before, 0.0)
    into = dict.fromkeys(after, 0.0)
    arrivals = {number: rank for rank, number in enumerate(after)}
    ranks = {number: rank for rank, number in enumerate(before)}
    drawn = []
    for link in sorted(links, key=lambda each: (ranks[each["source"]], arrivals[each["target"]])):
        source, target = before[link["source"]], after[link["target"]]
        thick = link["collections"] * scale
        x0, x1 = source.left + _BOX, target.left
        y0, y1 = source.top + out[link["source"]], target.top + into[link["target"]]
        middle = (x0 + x1) / 2
        label = f"{source.template['name']} to {target.template['name']}: {link['collections']} collections"
        drawn.append(
            f'<path class="flow s{_colour(source)}" d="M{x0:.1f},{y0:.1f} C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} '
            f"{x1:.1f},{y1:.1f} L{x1:.1f},{y1 + thick:.1f} C{middle:.1f},{y1 + thick:.1f} {middle:.1f},"
            f'{y0 + thick:.1f} {x0:.1f},{y0 + thick:.1f}Z"><title>{escape(label)}</title></path>'
        )
        out[link["source"]] += thick
        into[link["target"]] += thick
    return drawn


def _box(node: _Node, reach: float) -> str:
    curve = np.asarray(node.template["curve"], dtype=np.float64)
    named = node.height >= _NAMED
    room = min(node.height - (18 if named else 4), _CURVE)
    middle = node.top + node.height / 2 + (6 if named else 0)
    xs = np.linspace(node.left + 6, node.left + _BOX - 6, len(curve))
    points = [(float(x), middle - float(v) / reach * room / 2) for x, v in zip(xs, curve, strict=True)]
    label = f"{node.template['name']}: {node.template['collections']} collections"
    name = text(node.left + 5, node.top + 12, node.template["name"], kind="small") if named else ""
    return (
        f'<g class="s{_colour(node)}"><rect class="node" x="{node.left:.1f}" y="{node.top:.1f}" width="{_BOX:.0f}" '
        f'height="{max(node.height, 1):.1f}" rx="4"><title>{escape(label)}</title></rect>'
        f"{path('line', points) if room > 4 else ''}</g>{name}"
    )


def _colour(node: _Node) -> int:
    return int(node.template["lineage"]) % GREY


# Templates with the arcs of collections, as SVG: the paper's Figures 4 and 6.

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
