"""Where the values of a JSON text stand, so that each can be moved or kept byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def first_value(text: str) -> int:
    """Where the value of a JSON text starts."""
    return _after_space(text, 0)


def members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The key of each member of the object at `start`, and where its value starts and ends.

    The text must be valid JSON.

    >>> text = '{"a": 1.50, "b": [2]}'
    >>> [(key, text[a:b]) for key, a, b in members(text, 0)]
    [('a', '1.50'), ('b', '[2]')]
    """
    at = _after_space(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        value = _after_space(text, _after_space(text, at) + 1)  # past the colon
        end = _DECODER.raw_decode(text, value)[1]
        yield key, value, end
        at = _next(text, end)


def elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where each element of the array at `start` starts and ends."""
    at = _after_space(text, start + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _next(text, end)


def member(text: str, start: int, name: str) -> tuple[int, int] | None:
    """Where the value of a member starts and ends; the last one where the key stands twice, as JSON readers take it."""
    spans = [(a, b) for key, a, b in members(text, start) if key == name]
    return spans[-1] if spans else None


def _next(text: str, end: int) -> int:
    """Where the next member or element starts, or the closing bracket stands."""
    at = _after_space(text, end)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
