"""What encoders and scorers compute with in NumPy, in the dtype of the tensors they are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
Tensors = Mapping[str, Array]
Shape = tuple[int, ...]


def linear(tensors: Tensors, name: str, x: Array) -> Array:
    """A linear layer, (n, in) -> (n, out), with the tensors ``name.weight`` and ``name.bias``."""
    out = x @ tensors[f"{name}.weight"].T
    out += tensors[f"{name}.bias"]
    return out


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def cast(x: Array, like: Array) -> Array:
    """``x`` in the dtype of another array; not a copy where it has it."""
    return x.astype(like.dtype, copy=False)


def blocks(x: Array, rows: int) -> Iterator[Array]:
    """An array some rows at a time, so that what is computed of them stays in the cache."""
    return (x[start : start + rows] for start in range(0, len(x), rows))
