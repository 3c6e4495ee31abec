"""Pictures as SVG text, without any plotting library: they scale, they follow light and dark, and they are small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
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


@dataclass(frozen=True)
class Drawing:
    """How an arc is drawn.

    Attributes
    ----------
    template
        A scalar template to draw behind; each side follows it from its beginning to its end.
    sides
        How many items each side has; empty for one side.
    pinned
        Positions drawn in another colour.
    caption
        Above it.
    width, height
        In pixels.
    standalone
        Include the style sheet, for a file of its own.
    """

    template: Template | None = None
    sides: tuple[int, ...] = ()
    pinned: tuple[int, ...] = ()
    caption: str = ""
    width: int = 720
    height: int = 300
    standalone: bool = False


def arc_figure(essence: ArrayLike, labels: Sequence[str], drawing: Drawing | None = None) -> str:
    """A collection's arc: its items as points in order, the template behind them, a gap between sides.

    Parameters
    ----------
    essence
        Shape (n,), in order.
    labels
        n texts; shown below the points where there is room, and on hover.
    drawing
        How.

    Examples
    --------
    >>> arc_figure([0.0, 1.0], ["a", "b"])[:4]
    '<svg'
    """
    how = drawing or Drawing()
    values = np.asarray(essence, dtype=np.float64)
    frame = _Frame(values, labels, how)
    parts = [f'<text x="{frame.left}" y="16" font-weight="600">{escape(how.caption)}</text>'] if how.caption else []
    parts += _grid(frame)
    for side, (start, stop) in enumerate(pairwise([0, *np.cumsum(how.sides or (len(values),)).tolist()])):
        parts += _side(frame, side, start, stop)
    style = f"<style>{STYLE}</style>" if how.standalone else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {how.width} {how.height}" '
        f'role="img" aria-label="{escape(how.caption or "arc", quote=True)}">{style}{"".join(parts)}</svg>'
    )


class _Frame:
    """Where positions and heights lie on the picture."""

    def __init__(self, values: Floats, labels: Sequence[str], how: Drawing) -> None:
        self.values, self.labels, self.how = values, labels, how
        self.named = _labels_fit(labels, how.width)
        self.left, self.right = 34, 92 if self.named else 16
        self.top = 14 + 16 * bool(how.caption) + 16 * bool(how.sides)
        self.bottom = 96 if self.named else 26
        drawn = how.template.samples(161) if how.template is not None else np.empty(0)
        self.low, self.high = limits(np.concatenate([values, drawn]))

    def x(self, position: float) -> float:
        """Where a position lies, 0 .. n - 1; sides stand a position apart."""
        steps = len(self.values) - 1 + max(0, len(self.how.sides) - 1) * 0.6
        side = int(np.searchsorted(np.cumsum(self.how.sides), position, side="right")) if self.how.sides else 0
        share = (position + 0.6 * side) / steps if steps else 0.5
        return self.left + (self.how.width - self.left - self.right) * share

    def y(self, value: float) -> float:
        """Where a height lies."""
        return self.top + (self.how.height - self.top - self.bottom) * (self.high - value) / (self.high - self.low)


def _grid(frame: _Frame) -> list[str]:
    parts, right = [], frame.how.width - frame.right
    for tick in ticks(frame.low, frame.high):
        y = frame.y(tick)
        parts.append(f'<line class="axis" x1="{frame.left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="soft" x="{frame.left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    return parts


def _side(frame: _Frame, side: int, start: int, stop: int) -> list[str]:
    """The template, the line through the items, and the items of one side."""
    template, parts = frame.how.template, []
    if frame.how.sides:
        at = f'x="{frame.x(start):.1f}" y="{frame.top - 8}"'
        parts.append(f'<text class="soft" {at} text-anchor="middle">{chr(ord("A") + side % 26)}</text>')
    if template is not None:
        last = frame.x(stop - 1)
        along = np.linspace(frame.x(start), last if stop - start > 1 or frame.how.sides else last + 0.1, 161)
        if len(frame.values) == 1:
            along = np.linspace(frame.left, frame.how.width - frame.right, 161)
        drawn = template.samples(161)
        parts.append(_path("curve", [(px, frame.y(v)) for px, v in zip(along.tolist(), drawn, strict=True)]))
    points = [(frame.x(j), frame.y(frame.values[j])) for j in range(start, stop)]
    parts.append(_path("arc", points))
    targets = template.samples(stop - start) if template is not None else frame.values[start:stop]
    for j, target in zip(range(start, stop), targets, strict=True):
        parts.append(_point(frame, j, target))
    return parts


def _point(frame: _Frame, j: int, target: float) -> str:
    x, y, value = frame.x(j), frame.y(frame.values[j]), frame.values[j]
    kind, radius = "pin" if j in frame.how.pinned else "dot", 5 if len(frame.values) <= 40 else 2.5
    label = ""
    if frame.named:
        at = f"{x + 3:.1f},{frame.how.height - frame.bottom + 16:.1f}"
        label = f'<text transform="translate({at}) rotate(38)">{escape(short(frame.labels[j]))}</text>'
    return (
        f'<line class="stem" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{frame.y(target):.1f}"/>'
        f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
        f"<title>{j + 1}. {escape(frame.labels[j])} ({value:+.2f})</title></circle>{label}"
    )


def _path(kind: str, points: Sequence[tuple[float, float]]) -> str:
    return f'<path class="{kind}" d="M{" L".join(f"{px:.1f},{py:.1f}" for px, py in points)}"/>'


def limits(values: Floats) -> tuple[float, float]:
    """The lowest and highest value of a picture, with a margin."""
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two values, six at most."""
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


# Colours that tell series apart, in light and dark, and the frame that every figure of the study has.

_LIGHT = ("#2f6fde", "#c8641b", "#1f8a5f", "#8250c8", "#c2384b", "#0b8aa0", "#8a7a17", "#6b7280")
_DARK = ("#6ea8ff", "#f0a05a", "#4fc795", "#b48cf2", "#f07a88", "#4cc3d9", "#cdbb52", "#a3acbb")

COLOURS = len(_LIGHT)
GREY = COLOURS - 1


def _rules(colours: tuple[str, ...]) -> str:
    return "".join(f".fab .s{i}{{--c:{colour}}}" for i, colour in enumerate(colours))


SERIES_STYLE = (
    _rules(_LIGHT)
    + f"@media(prefers-color-scheme:dark){{{_rules(_DARK)}}}"
    + ".fab .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}"
    + ".fab .thin{fill:none;stroke:var(--c);stroke-width:1.1;stroke-opacity:.75}"
    + ".fab .thick{fill:none;stroke:var(--c);stroke-width:3}"
    + ".fab .dashed{stroke-dasharray:5 4}.fab .band{fill:var(--c);fill-opacity:.14;stroke:none}"
    + ".fab .mark{fill:var(--c)}.fab .flow{fill:var(--c);fill-opacity:.28;stroke:none}"
    + ".fab .node{fill:var(--c);fill-opacity:.12;stroke:var(--c);stroke-width:1.2}"
    + ".fab .inside{fill:#fff;font-weight:600}@media(prefers-color-scheme:dark){.fab .inside{fill:#14171d}}"
    + ".fab .zero{stroke:var(--line);stroke-width:1}.fab .small{font-size:10.5px}"
)


def frame(parts: list[str], *, width: float, height: float, label: str, standalone: bool) -> str:
    """The SVG around the parts of a figure; with its own style sheet where it stands alone."""
    style = f"<style>{STYLE}{SERIES_STYLE}</style>" if standalone else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{style}{"".join(parts)}</svg>'
    )


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start", bold: bool = False) -> str:
    """One line of text."""
    names = f' class="{kind}"' if kind else ""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{names}{weight}>{escape(words)}</text>'


def path(kind: str, points: list[tuple[float, float]], *, closed: bool = False) -> str:
    """A line through points."""
    joined = " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{joined}{"Z" if closed else ""}"/>'


def shorten(words: str, most: int) -> str:
    """At most so many characters, the last an ellipsis where some are left out.

    Examples
    --------
    >>> shorten("a long title", 7)
    'a long…'
    """
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
