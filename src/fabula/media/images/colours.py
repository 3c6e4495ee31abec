"""Colours as the eye tells them apart: from sRGB to CIE L*a*b* (D65)."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
_CUBIC = (6 / 29) ** 3  # below it the curve of lightness is a line
_STEPS = 4096  # of the tabled cube root


def lab(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Lightness (0 to 100), green to red and blue to yellow of each pixel.

    Parameters
    ----------
    rgb
        Shape (..., 3), sRGB.

    Returns
    -------
    Shape (3, ...).

    Examples
    --------
    >>> lab(np.array([[255, 255, 255], [0, 0, 0], [255, 0, 0]], np.uint8)).round().astype(int).T.tolist()
    [[100, 0, 0], [0, 0, 0], [53, 80, 67]]
    """
    linear = _linear()[rgb]  # (..., 3)
    xyz = linear @ (_TO_XYZ / _WHITE[:, np.newaxis]).T.astype(np.float32)
    root = _roots()[np.rint(np.clip(xyz, 0.0, 1.0) * (_STEPS * 16)).astype(np.int32)]
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@cache
def _linear() -> NDArray[np.float32]:
    """From a byte of sRGB to light, shape (256,)."""
    value = np.arange(256) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4).astype(np.float32)


@cache
def _roots() -> NDArray[np.float32]:
    """The cube root that lightness follows, tabled: a look-up takes a tenth of the time."""
    light: Floats = np.arange(_STEPS * 16 + 1) / (_STEPS * 16)
    return np.where(light > _CUBIC, np.cbrt(light), light / (3 * (6 / 29) ** 2) + 4 / 29).astype(np.float32)


def srgb(colour: Floats) -> NDArray[np.uint8]:
    """The way back: bytes of sRGB of one colour (3,), the nearest there are.

    Examples
    --------
    >>> srgb(np.array([100.0, 0.0, 0.0])).tolist()
    [255, 255, 255]
    """
    y = (colour[0] + 16) / 116
    root = np.array([y + colour[1] / 500, y, y - colour[2] / 200])
    xyz = np.where(root > 6 / 29, root**3, 3 * (6 / 29) ** 2 * (root - 4 / 29)) * _WHITE
    linear = np.clip(np.linalg.solve(_TO_XYZ, xyz), 0.0, 1.0)
    value = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * value), dtype=np.uint8)
