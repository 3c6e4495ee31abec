"""Essence: one number, or a few, per item. Checking it and putting it on a common scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.errors import InputError

Floats = NDArray[np.float64]


def as_essence(essence: ArrayLike, *, name: str = "essence") -> Floats:
    """Check an essence and return it as floats: ``(n,)``, or ``(n, d)`` with d of 2 or more; (n, 1) becomes (n,).

    >>> as_essence([[1], [2]])
    array([1., 2.])
    """
    try:
        values = np.asarray(essence, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, one row per item; got {_brief(essence)}") from error
    if values.ndim not in (1, 2) or values.shape[-1] == 0:
        raise InputError(f"{name} must have shape (n,) or (n, d) with n and d at least 1; got {values.shape}")
    finite = np.isfinite(values)
    if not finite.all():
        item = int(np.argwhere(~finite)[0, 0])
        raise InputError(f"{name} must be finite; got {values[item]} for item {item}")
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def normalise(essence: ArrayLike) -> Floats:
    """Z-score an essence (n,) or (n, d) within its collection, each dimension by itself.

    A dimension in which all items are alike (to rounding) becomes zero: it says nothing about the order.

    >>> normalise([1.0, 2.0, 3.0]).round(4)
    array([-1.2247,  0.    ,  1.2247])
    >>> normalise([5.0, 5.0])
    array([0., 0.])
    """
    values = as_essence(essence)
    scale = np.abs(values).max(axis=0)
    values = values / np.where(scale > 0, scale, 1.0)  # so that squares neither overflow nor vanish
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    alike = deviation <= 1e-12
    return np.where(alike, 0.0, centred / np.where(alike, 1.0, deviation))


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
