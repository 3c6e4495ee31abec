"""Inner arcs as SVG: the course of a feature through an item, and the six templates beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from fabula.core.essence import Floats, normalise
from fabula.core.template import Template
from fabula.report import svg
from fabula.report.figures.colours import GREY, frame, path, shortened, text
from fabula.session.inner_arcs import InnerArc, WholeArc

Scale = Callable[[float], float]
WIDTH = 900
_ARC = 560.0  # where the small templates begin
_HEIGHT = 250.0  # of one item
_LEFT, _TOP, _BOTTOM = 48.0, 44.0, 30.0
_SMALL_W, _SMALL_H = 104.0, 66.0


def inner_figure(arcs: Sequence[InnerArc], *, standalone: bool = True) -> str:
    """One row an item: its arc with its band and the likest template, its essence, and the six beside it."""
    parts = [part for number, arc in enumerate(arcs) for part in _row(arc, number * _HEIGHT)]
    label = "; ".join(f"{arc.item.label}: {arc.shape.name}" for arc in arcs)
    return frame(parts, width=WIDTH, height=_HEIGHT * len(arcs) + 8, label=label, standalone=standalone)


def _row(arc: InnerArc, top: float) -> list[str]:
    values, shown = arc.arc, arc.shape.normalised().samples(len(arc.at))
    spread = float(values.values.std()) or 1.0
    template = values.values.mean() + spread * shown
    low, high = svg.limits(np.concatenate([values.low, values.high, template]))

    def x(share: float) -> float:
        return _LEFT + (_ARC - 30 - _LEFT) * share

    def y(value: float) -> float:
        return top + _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)

    parts = [text(_LEFT, top + 18, shortened(arc.item.label, 60), bold=True)]
    told = f"{arc.medium.unit.text(arc.length)}, in windows of {arc.medium.unit.text(arc.window)}"
    parts.append(text(_LEFT, top + 34, told, kind="soft small"))
    parts += _grid(x, y, low, high)
    there = [(x(u), y(v)) for u, v in zip(arc.at, values.high, strict=True)]
    back = [(x(u), y(v)) for u, v in zip(arc.at, values.low, strict=True)][::-1]
    lines = [path("band", there + back, closed=True), path("line", _points(arc.at, values.values, x, y))]
    parts.append(f'<g class="s0">{"".join(lines)}</g>')
    parts.append(f'<g class="s{GREY}">{path("line dashed", _points(arc.at, template, x, y))}</g>')
    if len(arc.essence):
        ends = np.linspace(0, 1, len(arc.essence))
        drawn = values.values.mean() + spread * arc.essence
        inside = np.clip(drawn, low, high)
        parts.append(f'<g class="s1">{path("thin", _points(ends, inside, x, y))}</g>')
    return parts + _keys(arc, x(0), top + _HEIGHT - 8) + _six(arc, top)


def _keys(arc: InnerArc, left: float, y: float) -> list[str]:
    keys = [(0, "line", arc.medium.shown(arc.column)), (GREY, "line dashed", arc.shape.name)]
    keys += [(1, "thin", "essence: like a beginning (high) or an end (low)")] if len(arc.essence) else []
    parts = []
    for colour, kind, words in keys:
        parts.append(f'<g class="s{colour}">{path(kind, [(left, y - 4), (left + 20, y - 4)])}</g>')
        parts.append(text(left + 25, y, words, kind="soft small"))
        left += 44 + 5.8 * len(words)
    return parts


def _six(arc: InnerArc, top: float) -> list[str]:
    """The six in rows of three, the likest first, each with the arc before it."""
    parts = [text(_ARC, top + 18, "the six emotional arcs", kind="soft small")]
    for number, (template, likeness) in enumerate(zip(arc.six.templates, arc.six.likeness, strict=True)):
        left = _ARC + (_SMALL_W + 8) * (number % 3)
        upper = top + 30 + (_SMALL_H + 38) * (number // 3)
        parts += _small(arc, template, left, upper)
        parts.append(text(left, upper + _SMALL_H + 12, template.name, kind="small", bold=number == 0))
        said = f"{likeness:+.2f}, {arc.six.shares[number]:.0%}"
        parts.append(text(left, upper + _SMALL_H + 25, said, kind="soft small"))
    return parts


def _small(arc: InnerArc, template: Template, left: float, top: float) -> list[str]:
    own, wanted = normalise(arc.arc.values), template.normalised().samples(len(arc.at))

    def x(share: float) -> float:
        return left + _SMALL_W * share

    def y(value: float) -> float:
        return top + _SMALL_H * (2.6 - float(np.clip(value, -2.6, 2.6))) / 5.2

    even = np.linspace(0, 1, len(own))
    return [
        f'<g class="s{GREY}">{path("thick", _points(even, wanted, x, y))}</g>',
        f'<g class="s0">{path("thin", _points(even, own, x, y))}</g>',
    ]


def _grid(x: Scale, y: Scale, low: float, high: float) -> list[str]:
    return [
        f'<line class="axis" x1="{x(0):.1f}" x2="{x(1):.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        + text(x(0) - 6, y(tick) + 4, f"{tick:g}", kind="soft small", anchor="end")
        for tick in svg.ticks(low, high)
    ]


def _points(at: Floats, values: Floats, x: Scale, y: Scale) -> list[tuple[float, float]]:
    return [(x(float(u)), y(float(v))) for u, v in zip(at, values, strict=True)]


def whole_figure(arc: WholeArc) -> str:
    """The arc through items laid one after the other, with a line and a number where each begins."""
    height, values = 260.0, arc.arc
    low, high = svg.limits(np.concatenate([values.low, values.high]))

    def x(share: float) -> float:
        return _LEFT + (WIDTH - 20 - _LEFT) * share

    def y(value: float) -> float:
        return 14 + (height - 14 - 34) * (high - value) / (high - low)

    parts = _grid(x, y, low, high)
    every = max(1, round(len(arc.starts) / 40))
    for number, (start, label) in enumerate(zip(arc.starts.tolist(), arc.labels, strict=True), start=1):
        line = f'<line class="stem" x1="{x(start):.1f}" x2="{x(start):.1f}" y1="14" y2="{height - 34:.1f}"/>'
        shown = text(x(start) + 3, height - 18, str(number), kind="soft small") if (number - 1) % every == 0 else ""
        parts.append(f"<g><title>{escape(label)}</title>{line}{shown}</g>")
    there = _points(arc.at, values.high, x, y)
    back = _points(arc.at, values.low, x, y)[::-1]
    lines = path("band", there + back, closed=True) + path("line", _points(arc.at, values.values, x, y))
    parts.append(f'<g class="s0">{lines}</g>')
    return frame(parts, width=WIDTH, height=height, label="The arc of the whole", standalone=False)
