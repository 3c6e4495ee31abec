"""Curves and bars as text."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.template import Template

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # braille dots by row and column of a cell
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def curve_lines(template: Template, *, width: int = 56, height: int = 10) -> list[str]:
    """Draw a scalar template in braille: ``height`` lines of ``width`` characters.

    >>> print("\\n".join(curve_lines(Template([0, 1], [0, 1]), width=4, height=2)))
    ⠀⠀⡠⠊
    ⡠⠊⠀⠀
    """
    columns, rows = 2 * width, 4 * height
    curve = template.samples(columns)
    low, high = curve.min(), curve.max()
    share = (curve - low) / (high - low) if high > low else np.full(columns, 0.5)
    row = np.rint((1 - share) * (rows - 1)).astype(int)
    cells = np.zeros((height, width), dtype=int)
    for x in range(columns):
        before = row[x - 1] if x else row[x]
        start, stop = (row[x], row[x]) if before == row[x] else sorted((row[x], before + int(np.sign(row[x] - before))))
        for y in range(start, stop + 1):
            cells[y // 4, x // 2] |= _DOTS[y % 4][x % 2]
    return ["".join(chr(0x2800 + cell) for cell in line) for line in cells]


def bar(value: float, low: float, high: float, *, width: int = 16) -> str:
    """A bar of ``width`` characters, empty at ``low`` and full at ``high``."""
    share = (value - low) / (high - low) if high > low else 0.5
    eighths = int(np.clip(round(share * width * 8), 1, width * 8))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(width)


def spark(values: ArrayLike) -> str:
    """A row of small columns, one per value."""
    array = np.asarray(values, dtype=np.float64)
    low, high = array.min(), array.max()
    share = (array - low) / (high - low) if high > low else np.full(array.shape, 0.5)
    return "".join(_HEIGHTS[round(7 * s)] for s in share.tolist())
