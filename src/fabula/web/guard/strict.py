"""JSON as the standard has it: without NaN and Infinity, coming in and going out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

_MOST_DEEP = 60  # levels; nobody's request has more


class StrictRoute(APIRoute):
    """A route whose JSON bodies are what the standard calls JSON, and not too deep."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, for requests that read JSON strictly."""
        handler = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return strictly


class _StrictRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json


def read_json(body: bytes) -> Any:
    """What a body says.

    Raises
    ------
    json.JSONDecodeError
        When it is not JSON, holds a number that is none, or is nested too deep.
    """
    try:
        data = json.loads(body, parse_constant=_refused, parse_float=_finite)
        if _depth(data) > _MOST_DEEP:
            raise ValueError(f"it is nested more than {_MOST_DEEP} deep")
    except (ValueError, RecursionError) as error:
        words = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise json.JSONDecodeError(words, "", 0) from error
    return data


def write_json(data: Any) -> str:
    """JSON text, plain ASCII; a number that is none is written as null.

    Examples
    --------
    >>> write_json({"gap": float("inf"), "a": [1.5]})
    '{"gap":null,"a":[1.5]}'
    """
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_cleaned(data), separators=(",", ":"), allow_nan=False)


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large a number")
    return value


def _depth(data: Any) -> int:
    """How deep lists and objects are nested; looked at level by level."""
    level, depth = [data], 0
    while level:
        level = [inner for one in level if isinstance(one, dict | list) for inner in _inner(one)]
        depth += 1
        if depth > _MOST_DEEP:
            break
    return depth


def _inner(one: dict[str, Any] | list[Any]) -> list[Any]:
    values = one.values() if isinstance(one, dict) else one
    return [value for value in values if isinstance(value, dict | list)]


def _cleaned(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _cleaned(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_cleaned(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
