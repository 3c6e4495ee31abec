"""What a set model's tensors and records must be, checked once at the border."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.errors import ModelError
from fabula.models.encoders.set import Array


def stored_dtype(name: str) -> np.dtype[Any]:
    """The dtype in which a tensor is stored: vectors of words in half precision, all else in single.

    Examples
    --------
    >>> stored_dtype("tokens.vectors"), stored_dtype("arcs.template")
    (dtype('float16'), dtype('float32'))
    """
    return np.dtype(np.float16 if name.endswith(".vectors") else np.float32)


def checked(tensors: Mapping[str, ArrayLike], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The tensors as numbers of single precision, rounded as they are stored, so that saving changes nothing."""
    unknown = [name for name in tensors if name not in shapes]
    if unknown:
        raise ModelError(f"tensor {unknown[0]!r} is not one of this model's")
    found: dict[str, Array] = {}
    for name, shape in shapes.items():
        if name not in tensors:
            raise ModelError(f"tensor {name!r} is missing")
        tensor = np.array(tensors[name], order="C").astype(stored_dtype(name)).astype(np.float32)
        if tensor.shape != shape:
            raise ModelError(f"tensor {name!r} must have shape {shape}; got {tensor.shape}")
        if not np.isfinite(tensor).all():
            raise ModelError(f"tensor {name!r} must be finite; it holds NaN or inf")
        found[name] = tensor
    if not (found["transform.deviation"] > 0).all():
        raise ModelError("tensor 'transform.deviation' must be above 0")
    return found


def plain(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A copy that holds nothing but what JSON can hold, or an error that says so."""
    try:
        return dict(json.loads(json.dumps(value, allow_nan=False, default=_as_plain)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"a model's {what} must hold finite numbers, texts, lists and names only ({error})") from error


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"got {type(value).__name__}")
