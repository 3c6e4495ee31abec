"""What pages and pictures are built of: HTML and SVG as text, in light and dark, without any plotting library."""

from collections.abc import Callable, Iterable, Sequence
from html import escape

import numpy as np

from fabula.core.arrays import Floats

PAGE_STYLE = """
:root{color-scheme:light dark;--ink:#1d2330;--soft:#6b7280;--line:#e1e5ec;--page:#fff;--card:#f7f8fa;--dot:#2f6fde}
@media(prefers-color-scheme:dark){:root{--ink:#e8ebf1;--soft:#9aa3b2;--line:#343b48;--page:#14171d;--card:#1c2028;
--dot:#6ea8ff}}
*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:2rem 1rem 4rem;background:var(--page);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.4rem 0 .6rem}
.sub,.soft{color:var(--soft)}.note{border-left:3px solid #d9822b;padding:.3rem .8rem;background:var(--card);
margin:.6rem 0}
figure{margin:1rem 0;padding:.8rem;background:var(--card);border:1px solid var(--line);border-radius:10px}
figure{overflow-x:auto}svg{width:100%;min-width:34rem;height:auto;display:block}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}th{text-align:left;color:var(--soft);font-weight:600}
th,td{padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.why{min-width:15rem}.bar{height:.55rem;border-radius:.3rem;background:var(--dot);min-width:2px;margin-top:.45rem}
details{border:1px solid var(--line);border-radius:10px;padding:.5rem .9rem;margin:.5rem 0}summary{cursor:pointer}
ol{margin:.6rem 0;padding-left:2rem}
"""
_LIGHT = ("#2f6fde", "#c8641b", "#1f8a5f", "#8250c8", "#c2384b", "#0b8aa0", "#8a7a17", "#6b7280")
_DARK = ("#6ea8ff", "#f0a05a", "#4fc795", "#b48cf2", "#f07a88", "#4cc3d9", "#cdbb52", "#a3acbb")
SERIES = len(_LIGHT)  # colours that tell series apart: class s0, s1, ...
GREY = SERIES - 1
_SERIES_RULES, _DARK_RULES = (
    "".join(f".fab .s{i}{{--c:{colour}}}" for i, colour in enumerate(colours)) for colours in (_LIGHT, _DARK)
)
FIGURE_STYLE = f"""
.fab{{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;--ink:#1d2330;--soft:#6b7280;--line:#d7dbe2;
--curve:#9aa7bd;--dot:#2f6fde;--pin:#d9822b;color:var(--ink)}}
@media(prefers-color-scheme:dark){{.fab{{--ink:#e8ebf1;--soft:#9aa3b2;--line:#38404e;--curve:#64728c;--dot:#6ea8ff;
--pin:#f0a95a}}}}
.fab text{{fill:var(--ink)}}.fab .soft{{fill:var(--soft)}}.fab .axis{{stroke:var(--line);stroke-width:1}}
.fab .curve{{fill:none;stroke:var(--curve);stroke-width:2}}.fab .arc{{fill:none;stroke:var(--dot);stroke-width:1.5;
stroke-opacity:.55}}.fab .stem{{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 2}}.fab .dot{{fill:var(--dot)}}
.fab .pin{{fill:var(--pin)}}.fab .whisker{{fill:none;stroke:var(--ink);stroke-width:1.3}}
{_SERIES_RULES}@media(prefers-color-scheme:dark){{{_DARK_RULES}}}
.fab .line{{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}}
.fab .thin{{fill:none;stroke:var(--c);stroke-width:1.1;stroke-opacity:.75}}
.fab .thick{{fill:none;stroke:var(--c);stroke-width:3}}
.fab .dashed{{stroke-dasharray:5 4}}.fab .band{{fill:var(--c);fill-opacity:.14;stroke:none}}
.fab .mark{{fill:var(--c)}}.fab .flow{{fill:var(--c);fill-opacity:.28;stroke:none}}
.fab .node{{fill:var(--c);fill-opacity:.12;stroke:var(--c);stroke-width:1.2}}
.fab .inside{{fill:#fff;font-weight:600}}@media(prefers-color-scheme:dark){{.fab .inside{{fill:#14171d}}}}
.fab .zero{{stroke:var(--line);stroke-width:1}}.fab .small{{font-size:10.5px}}
"""

Scale = Callable[[float], float]
Points = Sequence[tuple[float, float]]


def html_page(title: str, body: Iterable[str], *, style: str = "", head: str = "") -> str:
    """A whole page that loads nothing from elsewhere; ``style`` is added to that of all pages."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{head}<title>{escape(title)} · fabula</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{PAGE_STYLE}{FIGURE_STYLE}{style}'
        f"</style></head><body>{''.join(body)}</body></html>\n"
    )


def html_table(head: str, rows: Iterable[str]) -> str:
    """A table of cells that are HTML already, which scrolls where it is too wide."""
    body = "".join(f"<tr>{row}</tr>" if not row.startswith("<tr") else row for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def svg(
    parts: Iterable[str], *, width: float, height: float, label: str, standalone: bool = False, fixed: bool = False
) -> str:
    """The SVG around the parts of a figure, with its style sheet where it is a file of its own (``standalone``).

    A figure is as wide as its place, or at most ``width`` pixels with ``fixed``; a screen reader says ``label``.
    """
    style = f"<style>{FIGURE_STYLE}</style>" if standalone else ""
    wide = f' style="max-width:{width:.0f}px"' if fixed else ""
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"{wide} role="img" '
        f'aria-label="{escape(label, quote=True)}">{style}{"".join(parts)}</svg>'
    )


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


def grid(low: float, high: float, y: Scale, left: float, right: float, kind: str = "soft") -> list[str]:
    """A line and a number for each round value of the vertical axis."""
    return [
        line("axis", left, right, y(tick), y(tick)) + text(left - 6, y(tick) + 4, f"{tick:g}", kind=kind, anchor="end")
        for tick in ticks(low, high)
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
