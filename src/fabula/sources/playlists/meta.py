"""What XSPF and JSPF share: numbers in meta elements, and durations in milliseconds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote


def meta_numbers(pairs: Iterable[tuple[str, Any]]) -> dict[str, float]:
    """The finite numbers among meta values, by the last part of what they are said to be.

    Examples
    --------
    >>> meta_numbers([("https://example.org/ns/energy", "0.5"), ("mood", "calm")])
    {'energy': 0.5}
    """
    numbers = {}
    for rel, value in pairs:
        name = unquote(re.split(r"[/#:]", rel.rstrip("/#:"))[-1])
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if name and math.isfinite(number):
            numbers[name] = number
    return numbers


def meta_name(name: str) -> str:
    """What a feature is called in a meta element."""
    return f"urn:fabula:{quote(name, safe='')}"


def milliseconds(text: Any) -> float | None:
    """A duration in milliseconds as seconds; None where there is none."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value / 1000 if 0 < value < math.inf else None
