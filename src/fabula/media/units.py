"""Units of an item's length: what limits and sides count, how it is written and how it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.errors import InputError


@dataclass(frozen=True)
class Unit:
    """A unit of length.

    Attributes
    ----------
    name
        What is counted, in the plural: seconds, words, pages, items.
    show
        From several lengths to their texts, as finely as it takes to tell them apart.
    read
        From what a person types to a length; an InputError where it is none.
    example
        Something `read` takes, for messages.
    """

    name: str
    show: Callable[..., list[str]]
    read: Callable[[str], float]
    example: str

    def text(self, length: float | None) -> str:
        """One length as text; empty where it is not known.

        Examples
        --------
        >>> SECONDS.text(200.4), COUNT.text(3), SECONDS.text(None)
        ('3:20', '3', '')
        """
        return "" if length is None or not np.isfinite(length) else self.show(length)[0]


def as_clock(seconds: float, *, digits: int = 0) -> str:
    """Minutes and seconds, with hours where there are some, and with digits behind the seconds if asked for.

    Examples
    --------
    >>> as_clock(1320.4), as_clock(3723), as_clock(1320.4, digits=1)
    ('22:00', '1:02:03', '22:00.4')
    """
    if not np.isfinite(seconds):
        return str(float(seconds))
    whole, part = divmod(int(abs(seconds) * 10**digits + 0.5), 10**digits)  # half a second counts as one
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
    sign = "-" if seconds < 0 and (whole or part) else ""
    return f"{sign}{clock}.{part:0{digits}d}" if digits else f"{sign}{clock}"


def as_clocks(*seconds: float) -> list[str]:
    """Several durations as clocks, to the second where that tells them apart, else as finely as it takes.

    Without it a side of 22:00 could be too short for an item of 22:00.

    Examples
    --------
    >>> as_clocks(1320, 1412.3), as_clocks(1320, 1320.4)
    (['22:00', '23:32'], ['22:00.0', '22:00.4'])
    """
    clocks: list[str] = []
    for digits in range(7):
        clocks = [as_clock(one, digits=digits) for one in seconds]
        if len({as_clock(0, digits=digits), *clocks}) == len({0.0, *seconds}):
            break
    return clocks


_PARTS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def as_seconds(text: str) -> float:
    """Seconds of ``22:00``, ``1:02:03``, ``90s``, ``45m`` or ``1.5h``.

    Examples
    --------
    >>> as_seconds("22:00"), as_seconds("1.5h")
    (1320.0, 5400.0)
    """
    clock = re.fullmatch(r"(?:(\d+):)?(\d+):([0-5]?\d(?:\.\d+)?)", text.strip())
    if clock:
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return 3600 * hours + 60 * minutes + seconds
    plain = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip().lower())
    if not plain or float(plain[1]) == 0:
        raise InputError(f"takes a time such as 22:00, 1:02:03, 45m or 90s; got {text!r}")
    return float(plain[1]) * _PARTS[plain[2]]


def as_numbers(*lengths: float) -> list[str]:
    """Several numbers as text, whole where they are.

    Examples
    --------
    >>> as_numbers(3.0, 2.5)
    ['3', '2.5']
    """
    return [f"{length:g}" for length in lengths]


def as_number(text: str) -> float:
    """A number above 0.

    Examples
    --------
    >>> as_number("12")
    12.0
    """
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise InputError(f"takes a number above 0, such as 12; got {text!r}")
    return number


SECONDS = Unit("seconds", as_clocks, as_seconds, "22:00")
COUNT = Unit("items", as_numbers, as_number, "12")


def total(lengths: Sequence[float | None]) -> float | None:
    """The sum of lengths; None where one is not known.

    Examples
    --------
    >>> total([1.0, 2.0]), total([1.0, None])
    (3.0, None)
    """
    known = [length for length in lengths if length is not None]
    return float(sum(known)) if len(known) == len(lengths) else None
