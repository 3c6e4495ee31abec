"""How values show themselves in a notebook: small tables and curves as HTML and SVG text, every name escaped."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

_COLOURS = ("#2f6fde", "#d9822b", "#2e9e6b", "#9b59b6", "#c0392b", "#7f8c8d")


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", more: str = "") -> str:
    """A table with texts escaped; the caption stands above it, ``more`` in a last row.

    >>> table_html(["a"], [["<b>"]])
    '<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    last = f'<tr><td colspan="{len(heads)}">{escape(more)}</td></tr>' if more else ""
    return f"{caption_html(caption)}<table><tr>{head}</tr>{body}{last}</table>"


def caption_html(text: str) -> str:
    """A line in bold; nothing for no text."""
    return f"<p><b>{escape(text)}</b></p>" if text else ""


def curve_svg(
    curve: NDArray[np.float64],
    *,
    label: str,
    dots: NDArray[np.float64] | None = None,
    width: int = 240,
    height: int = 90,
    colour: int = 0,
) -> str:
    """A curve (m,) from left to right, or d of them (m, d), and dots (n,) at even distances; the label is read out."""
    lines = np.asarray(curve, dtype=np.float64).reshape(len(curve), -1)
    points = np.empty(0) if dots is None else np.asarray(dots, dtype=np.float64)
    every = np.concatenate([lines.ravel(), points])
    low, high = float(every.min()), float(every.max())
    flat = high - low <= 1e-12 * max(1.0, abs(low), abs(high))

    def at(i: int, count: int, value: float) -> str:
        x = 6 + (width - 12) * (i / (count - 1) if count > 1 else 0.5)
        y = 6 + (height - 12) * (0.5 if flat else (high - value) / (high - low))
        return f"{x:.1f},{y:.1f}"

    drawn = [
        f'<polyline fill="none" stroke="{_COLOURS[(colour + d) % len(_COLOURS)]}" stroke-width="2" '
        f'points="{" ".join(at(i, len(lines), v) for i, v in enumerate(line))}"/>'
        for d, line in enumerate(lines.T)
    ]
    for i, value in enumerate(points):
        x, y = at(i, len(points), value).split(",")
        drawn.append(f'<circle cx="{x}" cy="{y}" r="3" fill="#6b7280"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(label, quote=True)}">{"".join(drawn)}</svg>'
    )


def number(value: float) -> str:
    """A number in a few digits; nothing where it is missing.

    >>> number(0.123456), number(201000.4), number(float("nan"))
    ('0.1235', '201000', '')
    """
    if np.isnan(value):
        return ""
    whole = float(value).is_integer() or abs(value) >= 1000
    return f"{value:.0f}" if whole and abs(value) < 1e15 else f"{value:.4g}"


def name_some(names: Sequence[str], most: int = 6) -> str:
    """Some names of a list, and how many more there are.

    >>> name_some(["a", "b", "c"], 2)
    'a, b, and 1 more'
    """
    rest = len(names) - most
    return ", ".join([*names[:most], *([f"and {rest} more"] if rest > 0 else [])])
