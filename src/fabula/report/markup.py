"""What pages and pictures are built of: HTML and SVG as text, in light and dark, without any plotting library."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np

from fabula.core.arrays import Floats

NUMBER, ANY_WAY, WHY = ' class="n"', ' dir="auto"', ' class="why"'  # of the cells of a column
GREY = 7  # the last of the colours that tell series apart: class s0, s1, ...

Scale = Callable[[float], float]
Points = Sequence[tuple[float, float]]
Marks = Sequence[tuple[float, str]]  # heights, and what is written there


@cache
def read_style(name: str) -> str:
    """A style sheet of this package: of all pages, of figures, and what single pages add."""
    return files("fabula.report").joinpath("styles", f"{name}.css").read_text(encoding="utf-8")


def html_page(title: str, body: Iterable[str], *, style: str = "", head: str = "") -> str:
    """A whole page that loads nothing from elsewhere; ``style`` is added to that of all pages."""
    sheets = f"{read_style('page')}{read_style('figure')}{style}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{head}<title>{escape(title)} · fabula</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{sheets}'
        f"</style></head><body>{''.join(body)}</body></html>\n"
    )


def html_table(columns: Sequence[tuple[str, str]], rows: Iterable[str | Sequence[str]]) -> str:
    """A table that scrolls where it is too wide, by the heading of each column and what its cells are, as `NUMBER`.

    Cells are HTML already. A heading may be a whole ``<th>``, and a row a whole ``<tr>``.
    """
    heads = (
        name if name.startswith("<th") else f"<th{kind if kind == NUMBER else ''}>{escape(name)}</th>"
        for name, kind in columns
    )
    body = "".join(row if isinstance(row, str) else f"<tr>{_cells(columns, row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{"".join(heads)}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(columns: Sequence[tuple[str, str]], row: Sequence[str]) -> str:
    return "".join(f"<td{kind}>{cell}</td>" for (_, kind), cell in zip(columns, row, strict=True))


def svg(parts: Iterable[str], *, width: float, height: float, label: str, fixed: bool = False) -> str:
    """The SVG around the parts of a figure, which takes its style from the page; :func:`add_style` gives it its own."""
    wide = f' style="max-width:{width:.0f}px"' if fixed else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"{wide} role="img" '
        f'aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
    )


def add_style(figure: str) -> str:
    """A figure with its style sheet inside, for a file of its own."""
    return figure.replace(">", f"><style>{read_style('figure')}</style>", 1)


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start", bold: bool = False) -> str:
    """One line of text."""
    names = f' class="{kind}"' if kind else ""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{names}{weight}>{escape(words)}</text>'


def line(kind: str, x1: float, x2: float, y1: float, y2: float) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def path(kind: str, points: Points, *, closed: bool = False) -> str:
    """A line through points."""
    route = " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{route}{"Z" if closed else ""}"/>'


def series(number: int, *parts: str) -> str:
    """Parts in the colour of a series."""
    return f'<g class="s{number}">{"".join(parts)}</g>'


def points(at: Iterable[float], values: Iterable[float], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Where values lie on a picture."""
    return [(x(float(u)), y(float(v))) for u, v in zip(at, values, strict=True)]


def band(at: Iterable[float], low: Iterable[float], high: Iterable[float], x: Scale, y: Scale) -> str:
    """The area between two lines."""
    there = list(at)
    return path("band", points(there, high, x, y) + points(there, low, x, y)[::-1], closed=True)


def scale(low: float, high: float, start: float, stop: float) -> Scale:
    """From values to places: low lies at start, high at stop."""
    spread = (high - low) or 1.0
    return lambda value: start + (stop - start) * (value - low) / spread


def grid(
    low: float, high: float, y: Scale, left: float, right: float, kind: str = "soft", marks: Marks = ()
) -> list[str]:
    """A line and a number for each round value of the vertical axis, or for each mark."""
    return [
        line("axis", left, right, y(at), y(at)) + text(left - 6, y(at) + 4, name, kind=kind, anchor="end")
        for at, name in marks or [(tick, f"{tick:g}") for tick in ticks(low, high)]
        if low <= at <= high
    ]


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


def shorten(words: str, most: int = 18) -> str:
    """At most so many characters, the last an ellipsis where some are left out.

    >>> shorten("a long title", 7)
    'a long…'
    """
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
