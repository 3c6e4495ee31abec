"""Where each item likes to stand, as SVG: a table of items by positions, the darker the likelier."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from fabula.report.svg import short

MOST_ROWS = 60
_CELL, _LEFT, _TOP = 22, 176, 24


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
    width, height = _LEFT + _CELL * table.shape[1] + 10, _TOP + _CELL * len(table) + 6
    heads = "".join(
        f'<text class="soft" x="{_LEFT + _CELL * (j + 0.5):.0f}" y="16" text-anchor="middle">{j + 1}</text>'
        for j in range(table.shape[1])
    )
    rows = "".join(
        _row(number, label, shares / top) for number, (label, shares) in enumerate(zip(labels, table, strict=True))
    )
    return (
        f'<svg class="fab" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px" role="img" aria-label="Where each likes to stand">{heads}{rows}</svg>'
    )


def _row(number: int, label: str, shades: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    y = _TOP + _CELL * number
    name = f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{escape(short(label, 22))}</text>'
    cells = "".join(
        f'<rect class="dot" x="{_LEFT + _CELL * j + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill-opacity="{0.05 + 0.9 * shade:.2f}"><title>{escape(label)}, position {j + 1}</title></rect>'
        for j, shade in enumerate(shades.tolist())
    )
    own = ""
    if number < len(shades):
        x = _LEFT + _CELL * (number + 0.5)
        own = f'<circle class="whisker" cx="{x:.0f}" cy="{y + _CELL / 2:.0f}" r="{_CELL / 2 - 4:.0f}"/>'
    return name + cells + own
