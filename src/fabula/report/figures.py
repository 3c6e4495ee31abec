"""The figures of an ordering as SVG: its arc, how items begin and end, where they like to stand, and inner arcs."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, normalise
from fabula.core.template import Template
from fabula.media.facts import Axis, Ends, side_name
from fabula.media.medium import Threads
from fabula.report.markup import GREY, Marks, band, grid, limits, line, path, points, scale, series, shorten, svg, text
from fabula.session.inner_arcs import InnerArc, WholeArc

MOST_ENDS = 60  # items whose ends are shown
MOST_LIKES = 60  # items whose likely positions are shown
_WIDTH = 900.0


@dataclass(frozen=True)
class Drawing:
    """How an arc is drawn."""

    template: Template | None = None  # a scalar one to draw behind; each side follows it from its beginning to its end
    sides: tuple[int, ...] = ()  # how many items each side has; empty for one side
    pinned: tuple[int, ...] = ()  # positions drawn in another colour
    caption: str = ""
    width: int = 720
    height: int = 300
    weak: tuple[int, ...] = ()  # positions from which the line to the next is drawn as weak
    marks: Marks = ()  # heights named in the arc's own unit; without them they are named as they are


def arc_figure(essence: ArrayLike, labels: Sequence[str], how: Drawing) -> str:
    """A collection's arc: its items (n,) as points in order, the template behind them, a gap between sides."""
    frame = _ArcFrame(np.asarray(essence, dtype=np.float64), labels, how)
    parts = [text(frame.left, 16, how.caption, bold=True)] if how.caption else []
    parts += grid(frame.low, frame.high, frame.y, frame.left, how.width - frame.right, marks=how.marks)
    for side, (start, stop) in enumerate(pairwise([0, *np.cumsum(how.sides or (len(frame.values),)).tolist()])):
        parts += _side(frame, side, start, stop)
    return svg(parts, width=how.width, height=how.height, label=how.caption or "arc")


def mark_axis(axis: Axis | None) -> Marks:
    """Where round numbers of an axis from 0 to 100 lie once its values are z-scored."""
    if axis is None or not axis.values.std():
        return ()
    steps = range(0, 101, 20 if np.ptp(axis.values) > 60 else 10)
    return [((k - axis.values.mean()) / axis.values.std(), str(k)) for k in steps]


class _ArcFrame:
    """Where positions and heights lie on the picture."""

    def __init__(self, values: Floats, labels: Sequence[str], how: Drawing) -> None:
        self.values, self.labels, self.how = values, labels, how
        self.named = len(labels) * 22 <= how.width
        self.left, self.right = 34, 92 if self.named else 16
        self.top = 14 + 16 * bool(how.caption) + 16 * bool(how.sides)
        self.bottom = 96 if self.named else 26
        drawn = how.template.samples(161) if how.template is not None else np.empty(0)
        self.low, self.high = limits(np.concatenate([values, drawn]))
        self.y = scale(self.high, self.low, self.top, how.height - self.bottom)

    def x(self, position: float) -> float:
        """Where a position lies, 0 .. n - 1; sides stand a position apart."""
        steps = len(self.values) - 1 + max(0, len(self.how.sides) - 1) * 0.6
        side = int(np.searchsorted(np.cumsum(self.how.sides), position, side="right")) if self.how.sides else 0
        share = (position + 0.6 * side) / steps if steps else 0.5
        return self.left + (self.how.width - self.left - self.right) * share


def _side(frame: _ArcFrame, side: int, start: int, stop: int) -> list[str]:
    """The template, the line through the items, and the items of one side."""
    template, parts = frame.how.template, []
    if frame.how.sides:
        parts.append(text(frame.x(start), frame.top - 8, side_name(side), kind="soft", anchor="middle"))
    if template is not None:
        last = frame.x(stop - 1)
        along = np.linspace(frame.x(start), last if stop - start > 1 or frame.how.sides else last + 0.1, 161)
        if len(frame.values) == 1:
            along = np.linspace(frame.left, frame.how.width - frame.right, 161)
        parts.append(path("curve", points(along, template.samples(161), float, frame.y)))
    parts.append(path("arc", points(range(start, stop), frame.values[start:stop], frame.x, frame.y)))
    weak = [
        points((j, j + 1), frame.values[j : j + 2], frame.x, frame.y) for j in frame.how.weak if start <= j < stop - 1
    ]
    parts += [series(1, path("line dashed", both)) for both in weak]
    targets = template.samples(stop - start) if template is not None else frame.values[start:stop]
    for j, target in zip(range(start, stop), targets, strict=True):  # its point, a line to its target, its label
        x, y, value = frame.x(j), frame.y(frame.values[j]), frame.values[j]
        kind, radius = "pin" if j in frame.how.pinned else "dot", 5 if len(frame.values) <= 40 else 2.5
        parts.append(
            f'{line("stem", x, x, y, frame.y(target))}<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
            f"<title>{j + 1}. {escape(frame.labels[j])} ({value:+.2f})</title></circle>"
        )
        if frame.named:
            at = f"{x + 3:.1f},{frame.how.height - frame.bottom + 16:.1f}"
            label = escape(shorten(frame.labels[j]))
            parts.append(f'<text transform="translate({at}) rotate(38)">{label}</text>')
    return parts


def ends_figure(ends: Ends, labels: Sequence[str], breaks: Sequence[int] = ()) -> str:
    """A line for each item from its beginning over the whole to its end, a dashed one for each step between them."""
    m, left, top, tall = len(labels), 52, 14, 150
    wide = max(28, min(90, 1100 // m))
    values = np.concatenate([ends.start, ends.whole, ends.end])  # round numbers around most of them
    low = float(np.floor(max(float(values.min()), float(np.median(values)) - 40) / 5) * 5)
    high = float(np.ceil((values.max() + 0.1) / 5) * 5)
    y = scale(high, low, top, top + tall)
    names = [shorten(label, 16) for label in labels]
    parts = []
    for mark in np.arange(low, high + 0.1, 5 if high - low <= 25 else 10):
        parts.append(line("axis", left, left + wide * m, y(mark), y(mark)))
        parts.append(text(left - 6, y(mark) + 4, f"{mark:g}", kind="soft", anchor="end"))
    parts.append(text(4, top + tall + 14, ends.unit, kind="soft"))
    for k in range(m):
        x = left + wide * k
        begin, mid, end = (y(max(low, float(of[k]))) for of in (ends.start, ends.whole, ends.end))
        shape = f"{x + 4},{begin:.1f} {x + wide / 2},{mid:.1f} {x + wide - 4},{end:.1f}"
        told = f"{labels[k]}: {ends.start[k]:.1f}, {ends.whole[k]:.1f}, {ends.end[k]:.1f} {ends.unit}"
        parts.append(_stroke("polyline", f'points="{shape}" fill="none" stroke="var(--dot)"', told))
        if k + 1 < m and k + 1 not in breaks:
            after = y(max(low, float(ends.start[k + 1])))
            gap = f"{abs(float(ends.start[k + 1] - ends.end[k])):.1f} {ends.unit}"
            at = f'x1="{x + wide - 4}" y1="{end:.1f}" x2="{x + wide + 4}" y2="{after:.1f}" stroke="#d9822b"'
            parts.append(_stroke("line", at, gap))
        middle, under = f"{x + wide / 2:.0f}", top + tall + 14
        turned = f'transform="rotate(-45 {middle},{under})"'
        parts.append(f'<text x="{middle}" y="{under}" text-anchor="end" {turned}>{escape(names[k])}</text>')
    height = top + tall + 24 + 5 * max(map(len, names))
    return svg(parts, width=left + wide * m + 10, height=height, label="How each begins and ends", fixed=True)


def _stroke(tag: str, attributes: str, title: str) -> str:
    """A thick stroke with what it says on hover."""
    return f'<{tag} {attributes} stroke-width="3"><title>{escape(title)}</title></{tag}>'


def likes_figure(likes: ArrayLike, labels: Sequence[str]) -> str:
    """A table (m, p) of items by positions, the darker the likelier; rows in the order in which the m items stand."""
    table = np.asarray(likes, dtype=np.float64)
    highest = table.max(initial=0.0) or 1.0
    cell, left, top = 22, 176, 24
    parts = [text(left + cell * (j + 0.5), 16, str(j + 1), kind="soft", anchor="middle") for j in range(table.shape[1])]
    for row, (label, shares) in enumerate(zip(labels, table / highest, strict=True)):
        y = top + cell * row
        parts.append(text(left - 8, y + 15, shorten(label, 22), anchor="end"))
        parts += [
            f'<rect class="dot" x="{left + cell * j + 1}" y="{y + 1}" width="{cell - 2}" height="{cell - 2}" rx="3" '
            f'fill-opacity="{0.05 + 0.9 * shade:.2f}"><title>{escape(label)}, position {j + 1}</title></rect>'
            for j, shade in enumerate(shares.tolist())
        ]
        if row < len(shares):
            at = f'cx="{left + cell * (row + 0.5):.0f}" cy="{y + cell / 2:.0f}"'
            parts.append(f'<circle class="whisker" {at} r="{cell / 2 - 4:.0f}"/>')
    width, height = left + cell * table.shape[1] + 10, top + cell * len(table) + 6
    return svg(parts, width=width, height=height, label="Where each likes to stand", fixed=True)


def threads_figure(threads: Threads, labels: list[str]) -> str:
    """One ribbon a thread, along the positions of n items in their new order; as thick as it is met often."""
    (n, k), left, top, tall, width = threads.counts.shape, 120.0, 26.0, 24.0, _WIDTH
    order = np.argsort([int(np.argmax(row > 0)) for row in threads.counts.T], kind="stable")  # as they come in
    step, height = (width - left - 20) / max(1, n), top + tall * k + 22
    every, parts = max(1, round(n / 30)), []
    for j in range(n):
        x = left + step * (j + 0.5)
        number = text(x, height - 6, str(j + 1), kind="soft small", anchor="middle") if j % every == 0 else ""
        stem = line("axis", x, x, top - 4, height - 20)
        parts.append(f"<g><title>{escape(labels[j])}</title>{stem}{number}</g>")
    for row, thread in enumerate(order.tolist()):
        middle = top + tall * (row + 0.5)
        parts.append(text(left - 10, middle + 4, shorten(threads.names[thread], 16), anchor="end"))
        x_of = left + step * (np.arange(n) + 0.5)
        parts.append(series(row % GREY, *_ribbon(threads.counts[:, thread], middle, tall / 2 - 2, x_of, step)))
    return svg(parts, width=width, height=height, label="threads of names")


def _ribbon(counts: Floats, middle: float, most: float, x: Floats, step: float) -> list[str]:
    """Bands over runs of items that have it, thin where one between them has not."""
    half = most * np.sqrt(counts / counts.max())
    there = np.flatnonzero(counts > 0)
    first, last = int(there[0]), int(there[-1])
    parts = [path("thin", [(x[first], middle), (x[last], middle)])] if last > first else []
    for j in there.tolist():
        tall = max(1.5, float(half[j]))
        before = float(half[j - 1]) / 2 + tall / 2 if j and counts[j - 1] else 0.0
        after = float(half[j + 1]) / 2 + tall / 2 if j + 1 < len(counts) and counts[j + 1] else 0.0
        parts.append(_bell(float(x[j]), middle, 0.5 * step, (before, tall, after)))
    return parts


def _bell(x: float, middle: float, wide: float, heights: tuple[float, float, float]) -> str:
    """A band from the edge of a column to its middle and on to the other edge, the same above and below."""
    left, tall, right = heights
    bend = wide / 2
    edge = [(-wide, left), (-bend, left), (-bend, tall), (0.0, tall), (bend, tall), (bend, right), (wide, right)]
    upper = [f"{x + at:.1f},{middle - high:.1f}" for at, high in edge]
    lower = [f"{x + at:.1f},{middle + high:.1f}" for at, high in edge[::-1]]
    above, below = (f"{one[0]} C{' '.join(one[1:4])} C{' '.join(one[4:])}" for one in (upper, lower))
    return f'<path class="flow" d="M{above} L{below}Z"/>'


_ARC_END = 560.0  # where the small templates begin
_ROW = 250.0  # height of one item
_LEFT = 48.0
_SMALL_W, _SMALL_H = 104.0, 66.0


def inner_limits(arcs: Sequence[InnerArc]) -> tuple[float, float]:
    """The lowest and the highest value of all, so that arcs side by side are drawn to one scale."""
    drawn = [values for arc in arcs for values in (arc.low, arc.high, arc.template) if values is not None]
    return limits(np.concatenate(drawn))


def inner_label(arc: InnerArc) -> str:
    """What the horizontal axis of an inner arc says."""
    named = f"through the {arc.medium.words.item}"
    return f"{named}, with a line where each of its {len(arc.starts)} parts begins" if len(arc.starts) > 1 else named


def inner_figure(arcs: Sequence[InnerArc], reach: tuple[float, float]) -> str:
    """One row an item: its arc with its band and the likest template, its essence, and the six beside it.

    All are drawn to one scale, from the lowest to the highest value of ``reach``.
    """
    parts = [part for number, arc in enumerate(arcs) for part in _inner_row(arc, number * _ROW, *reach)]
    label = "; ".join(f"{arc.item.label}{f': {arc.shape.name}' if arc.shape else ''}" for arc in arcs)
    return svg(parts, width=_WIDTH, height=_ROW * len(arcs) + 8, label=label)


def _inner_row(arc: InnerArc, top: float, low: float, high: float) -> list[str]:
    template = arc.template
    spread, mean = float(arc.values.std()) or 1.0, arc.values.mean()
    x, y = scale(0, 1, _LEFT, _ARC_END - 30), scale(high, low, top + 44, top + _ROW - 42)
    told = f"{arc.medium.unit.text(arc.length)}, in windows of {arc.medium.unit.text(arc.window)}"
    parts = [
        text(_LEFT, top + 18, shorten(arc.item.label, 60), bold=True),
        text(_LEFT, top + 34, told, kind="soft small"),
        *grid(low, high, y, x(0), x(1), kind="soft small"),
        *(line("stem", x(start), x(start), y(high), y(low)) for start in arc.starts[1:].tolist()),
        text(x(0.5), top + _ROW - 24, inner_label(arc), kind="soft small", anchor="middle"),
        series(0, band(arc.at, arc.low, arc.high, x, y), path("line", points(arc.at, arc.values, x, y))),
    ]
    if template is not None:
        parts.append(series(GREY, path("line dashed", points(arc.at, template, x, y))))
    if len(arc.essence):
        inside = np.clip(mean + spread * arc.essence, low, high)
        parts.append(series(1, path("thin", points(np.linspace(0, 1, len(inside)), inside, x, y))))
    keys = [(0, "line", arc.medium.shown(arc.column))]
    keys += [(GREY, "line dashed", arc.shape.name)] if arc.shape is not None else []
    keys += [(1, "thin", "essence: like a beginning (high) or an end (low)")] if len(arc.essence) else []
    left, under = x(0), top + _ROW - 8
    for colour, kind, words in keys:
        parts.append(series(colour, path(kind, [(left, under - 4), (left + 20, under - 4)])))
        parts.append(text(left + 25, under, words, kind="soft small"))
        left += 44 + 5.8 * len(words)
    return parts + ([] if template is None else _six(arc, top))


def _six(arc: InnerArc, top: float) -> list[str]:
    """The six in rows of three, the likest first, each with the arc before it."""
    parts = [text(_ARC_END, top + 18, "the six emotional arcs", kind="soft small")]
    own = np.clip(normalise(arc.values), -2.6, 2.6)
    even = np.linspace(0, 1, len(own))
    for number, (template, likeness) in enumerate(zip(arc.six.templates, arc.six.likeness, strict=True)):
        left = _ARC_END + (_SMALL_W + 8) * (number % 3)
        upper = top + 30 + (_SMALL_H + 38) * (number // 3)
        x, y = scale(0, 1, left, left + _SMALL_W), scale(2.6, -2.6, upper, upper + _SMALL_H)
        wanted = np.clip(template.normalised().samples(len(arc.at)), -2.6, 2.6)
        said = f"{likeness:+.2f}, {arc.six.shares[number]:.0%}"
        parts += [
            series(GREY, path("thick", points(even, wanted, x, y))),
            series(0, path("thin", points(even, own, x, y))),
            text(left, upper + _SMALL_H + 12, template.name, kind="small", bold=number == 0),
            text(left, upper + _SMALL_H + 25, said, kind="soft small"),
        ]
    return parts


def whole_figure(arc: WholeArc) -> str:
    """The arc through items laid one after the other, with a line and a number where each begins."""
    height = 260.0
    low, high = limits(np.concatenate([arc.low, arc.high]))
    x, y = scale(0, 1, _LEFT, _WIDTH - 20), scale(high, low, 14, height - 34)
    parts = grid(low, high, y, x(0), x(1), kind="soft small")
    every = max(1, round(len(arc.starts) / 40))
    for number, (start, label) in enumerate(zip(arc.starts.tolist(), arc.labels, strict=True), start=1):
        stem = line("stem", x(start), x(start), 14, height - 34)
        shown = text(x(start) + 3, height - 18, str(number), kind="soft small") if (number - 1) % every == 0 else ""
        parts.append(f"<g><title>{escape(label)}</title>{stem}{shown}</g>")
    course = path("line", points(arc.at, arc.values, x, y))
    parts.append(series(0, band(arc.at, arc.low, arc.high, x, y), course))
    return svg(parts, width=_WIDTH, height=height, label="The arc of the whole")
