"""Figures as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats, normalise
from fabula.core.template import Template
from fabula.media.telling import Ends
from fabula.media.threads import Threads
from fabula.report import svg
from fabula.report.svg import COLOURS, GREY, frame, path, short, shorten, text
from fabula.session.telling.inner import InnerArc
from fabula.session.telling.pieces import WholeArc

# How each item begins and ends, as SVG: what a listener meets from one to the next.

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


# Inner arcs as SVG: the course of a feature through an item, and the six templates beside it.

Scale = Callable[[float], float]
WIDTH = 900
_ARC = 560.0  # where the small templates begin
_HEIGHT_INNER = 250.0  # of one item
_LEFT_INNER, _TOP_INNER, _BOTTOM = 48.0, 44.0, 30.0
_SMALL_W, _SMALL_H = 104.0, 66.0


def inner_figure(arcs: Sequence[InnerArc], *, standalone: bool = True) -> str:
    """One row an item: its arc with its band and the likest template, its essence, and the six beside it."""
    parts = [part for number, arc in enumerate(arcs) for part in _row(arc, number * _HEIGHT_INNER)]
    label = "; ".join(f"{arc.item.label}: {arc.shape.name}" for arc in arcs)
    return frame(parts, width=WIDTH, height=_HEIGHT_INNER * len(arcs) + 8, label=label, standalone=standalone)


def _row(arc: InnerArc, top: float) -> list[str]:
    values, shown = arc.arc, arc.shape.normalised().samples(len(arc.at))
    spread = float(values.values.std()) or 1.0
    template = values.values.mean() + spread * shown
    low, high = svg.limits(np.concatenate([values.low, values.high, template]))

    def x(share: float) -> float:
        return _LEFT_INNER + (_ARC - 30 - _LEFT_INNER) * share

    def y(value: float) -> float:
        return top + _TOP_INNER + (_HEIGHT_INNER - _TOP_INNER - _BOTTOM) * (high - value) / (high - low)

    parts = [text(_LEFT_INNER, top + 18, shorten(arc.item.label, 60), bold=True)]
    told = f"{arc.medium.unit.text(arc.length)}, in windows of {arc.medium.unit.text(arc.window)}"
    parts.append(text(_LEFT_INNER, top + 34, told, kind="soft small"))
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
    return parts + _keys(arc, x(0), top + _HEIGHT_INNER - 8) + _six(arc, top)


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
        return _LEFT_INNER + (WIDTH - 20 - _LEFT_INNER) * share

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


# Where each item likes to stand, as SVG: a table of items by positions, the darker the likelier.

MOST_ROWS = 60
_CELL, _LEFT_LIKES, _TOP_LIKES = 22, 176, 24


def likes_figure(likes: ArrayLike, labels: Sequence[str]) -> str:
    """A table of items by positions.

    Parameters
    ----------
    likes
        Shape (m, p): rows in the order in which the items stand, shares over the positions.
    labels
        m texts.

    Examples
    --------
    >>> likes_figure([[0.8, 0.2], [0.3, 0.7]], ["a", "b"])[:4]
    '<svg'
    """
    table = np.asarray(likes, dtype=np.float64)
    top = table.max(initial=0.0) or 1.0
    width, height = _LEFT_LIKES + _CELL * table.shape[1] + 10, _TOP_LIKES + _CELL * len(table) + 6
    heads = "".join(
        f'<text class="soft" x="{_LEFT_LIKES + _CELL * (j + 0.5):.0f}" y="16" text-anchor="middle">{j + 1}</text>'
        for j in range(table.shape[1])
    )
    rows = "".join(
        _row_likes(number, label, shares / top)
        for number, (label, shares) in enumerate(zip(labels, table, strict=True))
    )
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px" role="img" aria-label="Where each likes to stand">{heads}{rows}</svg>'
    )


def _row_likes(number: int, label: str, shades: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    y = _TOP_LIKES + _CELL * number
    name = f'<text x="{_LEFT_LIKES - 8}" y="{y + 15}" text-anchor="end">{escape(short(label, 22))}</text>'
    cells = "".join(
        f'<rect class="dot" x="{_LEFT_LIKES + _CELL * j + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill-opacity="{0.05 + 0.9 * shade:.2f}"><title>{escape(label)}, position {j + 1}</title></rect>'
        for j, shade in enumerate(shades.tolist())
    )
    own = ""
    if number < len(shades):
        x = _LEFT_LIKES + _CELL * (number + 0.5)
        own = f'<circle class="whisker" cx="{x:.0f}" cy="{y + _CELL / 2:.0f}" r="{_CELL / 2 - 4:.0f}"/>'
    return name + cells + own


# Threads as ribbons: through which items of an order each name runs, and how strongly.

_LEFT_THREADS, _RIGHT, _ROW, _TOP_THREADS = 120.0, 20.0, 24.0, 26.0


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
    step = (width - _LEFT_THREADS - _RIGHT) / max(1, n)
    height = _TOP_THREADS + _ROW * k + 22
    parts = [_column(position, step, height, labels[position], n) for position in range(n)]
    for row, thread in enumerate(order.tolist()):
        middle = _TOP_THREADS + _ROW * (row + 0.5)
        parts.append(text(_LEFT_THREADS - 10, middle + 4, shorten(threads.names[thread], 16), anchor="end"))
        counts = threads.counts[:, thread]
        parts.append(f'<g class="s{row % (COLOURS - 1)}">{_ribbon(counts, middle, step)}</g>')
    return frame(parts, width=width, height=height, label="threads of names", standalone=False)


def _column(position: int, step: float, height: float, label: str, n: int) -> str:
    x = _LEFT_THREADS + step * (position + 0.5)
    every = max(1, round(n / 30))
    number = text(x, height - 6, str(position + 1), kind="soft small", anchor="middle") if position % every == 0 else ""
    line = f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP_THREADS - 4}" y2="{height - 20:.1f}"/>'
    return f"<g><title>{escape(label)}</title>{line}{number}</g>"


def _ribbon(counts: Floats, middle: float, step: float) -> str:
    """Bands over runs of items that have it, thin where one between them has not."""
    half = (_ROW / 2 - 2) * np.sqrt(counts / counts.max())
    there = np.flatnonzero(counts > 0)
    first, last = int(there[0]), int(there[-1])
    x = _LEFT_THREADS + step * (np.arange(len(counts)) + 0.5)
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
