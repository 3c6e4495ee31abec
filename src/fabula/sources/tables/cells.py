"""What one cell of a table means: a number, a duration, text, or nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_WORDS = "na n/a n.a. #n/a nan null none nil - -- – — ? \\n"
_ABSENT = frozenset(_WORDS.split())
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2}(?:[.,]\d+)?)")


def says_nothing(cell: Any) -> bool:
    """Whether a cell says in words that there is no value; what that means is for its column to say.

    Examples
    --------
    >>> [says_nothing(cell) for cell in ("NA", "n/a", "-", "nan", "null", "none at all", 0)]
    [True, True, True, True, True, False, False]
    """
    return isinstance(cell, str) and cell.strip().lower() in _ABSENT


def clock_seconds(text: str) -> float | None:
    """The seconds of a duration written as on a clock; None for anything else.

    Examples
    --------
    >>> clock_seconds("3:20"), clock_seconds("1:02:03"), clock_seconds("0:09.5"), clock_seconds("200")
    (200.0, 3723.0, 9.5, None)
    """
    match = _CLOCK.fullmatch(text.strip())
    if not match:
        return None
    hours, minutes, seconds = match.groups()
    total = 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds.replace(",", "."))
    return float(total) if float(seconds.replace(",", ".")) < 60 and (hours is None or int(minutes) < 60) else None


def text_of(value: Any) -> str:
    """One value as the text of a cell; numbers so that they read back equal.

    Examples
    --------
    >>> [text_of(v) for v in (3.0, 0.1, True, None, "x")]
    ['3', '0.1', 'true', '', 'x']
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def is_nested(value: Any) -> bool:
    """Whether a cell holds a list or an object."""
    return isinstance(value, (list, dict, tuple, np.ndarray))


def brief(value: Any) -> str:
    """A value for an error message, on one line and not too long."""
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
