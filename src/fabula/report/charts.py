"""Charts of a study as SVG: bars and lines with intervals, templates with arcs, and the genealogy of templates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from fabula.core.arrays import positions
from fabula.core.template import Template
from fabula.report.markup import GREY, band, grid, limits, line, path, points, scale, series, shorten, svg, text, ticks


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its value, and the interval around it where there is one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def bars_figure(panels: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """Panels (title, bars) of horizontal bars side by side, negative ones to the left: the paper's Figure 1."""
    rows = max(len(bars) for _, bars in panels)
    width, each = 860, 860 / len(panels)
    parts = [part for i, (title, bars) in enumerate(panels) for part in _bars(title, bars, i * each, each)]
    label = ", ".join(title for title, _ in panels)
    return svg(parts, width=width, height=66 + 24 * rows, label=label)


def _bars(title: str, bars: Sequence[Bar], left: float, width: float) -> list[str]:
    names = min(width / 2, 16 + 6.6 * max(len(b.name) for b in bars))  # a letter is about so wide
    low = min(0.0, *(b.value if b.low is None else b.low for b in bars))
    high = max(0.0, *(b.value if b.high is None else b.high for b in bars)) or 1.0
    x = scale(low, high, left + names, left + width - 58)
    parts = [text(left + names, 20, title, bold=True), line("axis", x(0), x(0), 32, 40 + 24 * len(bars))]
    for row, b in enumerate(bars):
        y = 40 + 24 * row
        start, stop = sorted((x(0), x(b.value)))
        parts.append(text(left + names - 8, y + 11, b.name, anchor="end"))
        parts.append(
            f'<rect class="dot" x="{start:.1f}" y="{y}" width="{stop - start:.1f}" height="14" rx="2" '
            f'fill-opacity="{1 if b.name == "essence" else 0.55}"/>'
        )
        end = stop
        if b.low is not None and b.high is not None:
            parts.append(path("whisker", [(x(b.low), y + 7), (x(b.high), y + 7)]))
            end = max(stop, x(b.high))
        parts.append(text(end + 5, y + 11, f"{round(b.value, 2) + 0.0:.2f}", kind="soft"))
    return parts


@dataclass(frozen=True)
class Line:
    """One series, with a band where it has ``low`` and ``high``; ``colour`` counts from 0."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    colour: int = 0
    dashed: bool = False

    @property
    def kind(self) -> str:
        """The class of its path."""
        return "line dashed" if self.dashed else "line"


@dataclass(frozen=True)
class LinePanel:
    """One pair of axes: a title, what runs along x, and the lines; ``log`` for a logarithmic x."""

    title: str
    along: str
    lines: Sequence[Line]
    log: bool = False


def lines_figure(panels: Sequence[LinePanel], *, width: int = 860, height: int = 300) -> str:
    """Panels of lines side by side over one legend: the paper's Figure 2, and learning curves."""
    each = (width - 14 * (len(panels) - 1)) / len(panels)
    parts = [part for i, panel in enumerate(panels) for part in _lines(panel, i * (each + 14), each, height)]
    at, row = 10.0, 0  # the legend: one entry per name, in rows as wide as the figure
    for one in {one.name: one for panel in panels for one in panel.lines}.values():
        room = 46 + 6.4 * len(one.name)
        if at + room > width and at > 10:
            at, row = 10.0, row + 1
        middle = height + 10 + 20 * row
        parts.append(series(one.colour, path(one.kind, [(at, middle), (at + 24, middle)])))
        parts.append(text(at + 30, middle + 4, one.name))
        at += room
    label = ", ".join(panel.title for panel in panels)
    return svg(parts, width=width, height=height + 20 * (row + 1) + 6, label=label)


def _lines(panel: LinePanel, left: float, width: float, height: float) -> list[str]:
    start, stop, floor = left + 52, left + width - 24, height - 44.0
    xs = [v for one in panel.lines for v in one.x]
    ys = [v for one in panel.lines for v in (*one.y, *one.low, *one.high)]
    margin = 0.06 * (max(ys) - min(ys)) or 0.5
    low, high = min(ys) - margin, max(ys) + margin
    stretch = math.log if panel.log else float
    along, y = scale(stretch(min(xs)), stretch(max(xs)), start, stop), scale(low, high, floor, 34)

    def x(value: float) -> float:
        return along(stretch(value))

    distinct = sorted(set(xs))  # where there are few values all are marked, else round numbers
    marks = distinct if len(distinct) <= 8 else [t for t in ticks(distinct[0], distinct[-1]) if t <= distinct[-1]]
    parts = [text(start, 18, panel.title, bold=True), *grid(low, high, y, start, stop)]
    parts += [text(x(mark), floor + 17, f"{mark:,g}", kind="soft", anchor="middle") for mark in marks]
    parts.append(text(start + (width - 52) / 2, height - 8, panel.along, kind="soft", anchor="middle"))
    parts += [series(one.colour, band(one.x, one.low, one.high, x, y)) for one in panel.lines if len(one.low)]
    for one in panel.lines:
        there = points(one.x, one.y, x, y)
        dots = [f'<circle class="mark" cx="{px:.1f}" cy="{py:.1f}" r="2.6"/>' for px, py in there]
        parts.append(series(one.colour, path(one.kind, there), *(dots if len(there) <= 12 else [])))
    return parts


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
    panels: Sequence[ArcPanel], columns: int, *, height: int = 150, named: bool = True, notes: Sequence[str] = ()
) -> str:
    """A grid of templates with the arcs of collections on one scale, in reading order: the paper's Figures 4 and 6.

    A panel is so high without the names of its arcs, which stand below it where they are ``named``; ``notes`` are lines
    of text for the space after the last panel, where it is free.
    """
    values = [v for panel in panels for arc in panel.arcs for v in arc.values]
    values += [float(v) for p in panels if p.template is not None for v in p.template.samples(81)]
    low, high = limits(np.array(values))
    width = 860
    below = 14.0 * max(len(panel.arcs) for panel in panels) + 8 if named else 6.0
    each, step = (width - 26) / columns, 26 + height + below
    parts = []
    for number, panel in enumerate(panels):
        left, top = 26 + each * (number % columns), step * (number // columns) + 26
        x, y = scale(0, 1, left + 6, left + each - 20), scale(high, low, top, top + height)
        parts.append(text(left, top - 8, shorten(panel.title, round((each - 14) / 6.4)), bold=True))
        for tick in ticks(low, high):
            parts.append(line("zero", left, left + each - 14, y(tick), y(tick)))
            if number % columns == 0:
                parts.append(text(left - 4, y(tick) + 4, f"{tick:g}", kind="soft small", anchor="end"))
        if panel.template is not None:
            curve = points(positions(81), panel.template.samples(81), x, y)
            parts.append(series(panel.colour, path("thick", curve)))
        parts += [_arc(arc, points(positions(len(arc.values)), arc.values, x, y)) for arc in panel.arcs]
        for i, arc in enumerate(panel.arcs if named else ()):
            words = shorten(arc.name, round(each / 6.2))
            parts.append(text(left, top + height + 14 + 14 * i, words, kind="soft small"))
    if notes and len(panels) % columns:
        left, top = 26 + each * (len(panels) % columns), step * (len(panels) // columns)
        room = min(16.0, (height + 16) / len(notes))
        for i, note in enumerate(notes):
            parts.append(text(left + 6, top + 30 + room * i, shorten(note, round(each / 6.6)), kind="soft"))
    label = ", ".join(panel.title for panel in panels)
    rows = -(-len(panels) // columns)
    return svg(parts, width=width, height=step * rows, label=label)


def _arc(arc: Arc, there: Sequence[tuple[float, float]]) -> str:
    parts = [path("thin", there)] if len(there) > 1 else []
    for number, (px, py) in enumerate(there):
        parts.append(f'<circle class="mark" cx="{px:.1f}" cy="{py:.1f}" r="{8 if arc.marks else 2.2}"/>')
        if arc.marks:
            parts.append(text(px, py + 3.6, arc.marks[number], kind="small inside", anchor="middle"))
    return series(GREY, *parts)


_TOP, _BOX, _GAP, _CURVE = 30.0, 78.0, 14.0, 46.0
_NAMED = 32.0  # height from which a box has room for its name


@dataclass(frozen=True)
class _Node:
    """Where a template's box stands."""

    template: Mapping[str, Any]
    left: float
    top: float
    height: float

    @property
    def colour(self) -> int:
        return int(self.template["lineage"]) % GREY


Column = Mapping[int, _Node]
Links = Sequence[Mapping[str, int]]
Templates = Sequence[Mapping[str, Any]]


def genealogy_figure(genealogy: Mapping[str, Any]) -> str:
    """Templates by their number, and how collections move between them: the paper's Figure 4."""
    generations, width, height = genealogy["generations"], 960, 420
    total = sum(t["collections"] for t in generations[0]["templates"])
    most = max(len(g["templates"]) for g in generations)
    unit = (height - _GAP * (most - 1)) / max(total, 1)  # height of a collection
    step = (width - _BOX - 20) / max(len(generations) - 1, 1)
    columns: list[Column] = []
    for number, generation in enumerate(generations):
        templates = generation["templates"]
        order = _rank(templates, genealogy["flows"][number - 1], columns[-1]) if number else range(len(templates))
        columns.append(_stack(templates, order, 10 + step * number, unit, height))
    reach = max(abs(v) for g in generations for t in g["templates"] for v in t["curve"]) or 1.0
    parts: list[str] = []
    for before, after, links in zip(columns[:-1], columns[1:], genealogy["flows"], strict=True):
        parts += _flows(before, after, links, unit)
    for generation, column in zip(generations, columns, strict=True):
        parts.append(text(next(iter(column.values())).left, 16, f"k = {generation['k']}", bold=True))
        parts += [_box(node, reach) for node in column.values()]
    return svg(parts, width=width, height=_TOP + height + 16, label="genealogy of templates")


def _rank(templates: Templates, links: Links, before: Column) -> list[int]:
    """Templates from top to bottom: by where their collections come from, so that few bands cross."""
    middle = {}
    for j in range(len(templates)):
        coming = [(before[link["source"]], link["collections"]) for link in links if link["target"] == j]
        weight = sum(count for _, count in coming)
        middle[j] = sum((node.top + node.height / 2) * count for node, count in coming) / weight if weight else 1e9
    return sorted(middle, key=lambda j: middle[j])


def _stack(templates: Templates, order: Sequence[int], left: float, unit: float, height: float) -> Column:
    """The boxes of one number of templates, in an order from top to bottom."""
    top = _TOP + (height - sum(t["collections"] for t in templates) * unit - _GAP * (len(templates) - 1)) / 2
    column = {}
    for j in order:
        column[j] = _Node(templates[j], left, top, templates[j]["collections"] * unit)
        top += column[j].height + _GAP
    return column


def _flows(before: Column, after: Column, links: Links, unit: float) -> list[str]:
    """Bands from box to box, in the colour of the box they leave."""
    out, into = dict.fromkeys(before, 0.0), dict.fromkeys(after, 0.0)
    ranks, arrivals = ({number: rank for rank, number in enumerate(column)} for column in (before, after))
    parts = []
    for link in sorted(links, key=lambda each: (ranks[each["source"]], arrivals[each["target"]])):
        source, target = before[link["source"]], after[link["target"]]
        thick = link["collections"] * unit
        x0, x1 = source.left + _BOX, target.left
        y0, y1 = source.top + out[link["source"]], target.top + into[link["target"]]
        middle = (x0 + x1) / 2
        label = f"{source.template['name']} to {target.template['name']}: {link['collections']} collections"
        parts.append(
            f'<path class="flow s{source.colour}" d="M{x0:.1f},{y0:.1f} C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} '
            f"{x1:.1f},{y1:.1f} L{x1:.1f},{y1 + thick:.1f} C{middle:.1f},{y1 + thick:.1f} {middle:.1f},"
            f'{y0 + thick:.1f} {x0:.1f},{y0 + thick:.1f}Z"><title>{escape(label)}</title></path>'
        )
        out[link["source"]] += thick
        into[link["target"]] += thick
    return parts


def _box(node: _Node, reach: float) -> str:
    curve = node.template["curve"]
    named = node.height >= _NAMED
    room = min(node.height - (18 if named else 4), _CURVE)
    middle = node.top + node.height / 2 + (6 if named else 0)
    x, y = scale(0, 1, node.left + 6, node.left + _BOX - 6), scale(0, reach, middle, middle - room / 2)
    course = path("line", points(positions(len(curve)), curve, x, y)) if room > 4 else ""
    label = f"{node.template['name']}: {node.template['collections']} collections"
    name = text(node.left + 5, node.top + 12, node.template["name"], kind="small") if named else ""
    rect = (
        f'<rect class="node" x="{node.left:.1f}" y="{node.top:.1f}" width="{_BOX:.0f}" '
        f'height="{max(node.height, 1):.1f}" rx="4"><title>{escape(label)}</title></rect>'
    )
    return series(node.colour, rect, course) + name
