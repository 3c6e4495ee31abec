"""The few colours that a picture is made of, in CIE L*a*b*, each with the share of the picture it covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.media.images.colours import lab, srgb

COLOURS = tuple(f"palette_{k}" for k in range(1, 6))  # the features that hold them, the largest first
_SMALL = 32  # pixels of the longer side that are looked at
_ROUNDS = 8
_SAME = 9.0  # colours nearer than this in L*a*b* are one


def palette_codes(rgb: NDArray[np.uint8]) -> list[float]:
    """The colours of a picture, the largest first, each as one number; 0 where there are fewer than five.

    Parameters
    ----------
    rgb
        Shape (height, width, 3).

    Returns
    -------
    Five numbers below 2^32: a byte each of L* (as 255 parts of 100), a* and b* (with 128 added) and the share (of 255).

    Examples
    --------
    >>> half = np.zeros((8, 8, 3), np.uint8)
    >>> half[:, :2] = 255
    >>> [(tuple(colour), round(share, 2)) for colour, share in decoded(palette_codes(half))]
    [((0.0, 0.0, 0.0), 0.75), ((100.0, 0.0, 0.0), 0.25)]
    """
    step = max(1, -(-max(rgb.shape[:2]) // _SMALL))
    pixels = lab(np.ascontiguousarray(rgb[::step, ::step])).reshape(3, -1).T.astype(np.float64)  # (p, 3)
    centres, shares = _merged(*_clustered(pixels, len(COLOURS)))
    order = np.argsort(-shares, kind="stable")
    found = [_coded(centres[k], shares[k]) for k in order]
    return [*found, *[0.0] * (len(COLOURS) - len(found))]


def decoded(codes: list[float] | Floats) -> list[tuple[tuple[float, float, float], float]]:
    """((L*, a*, b*), share) of each colour."""
    found = []
    for code in codes:
        if np.isfinite(code) and code > 0:
            light, a, b, share = (int(code) >> shift & 255 for shift in (24, 16, 8, 0))
            found.append(((round(light / 2.55, 1), float(a - 128), float(b - 128)), share / 255))
    return found


def palettes(collection: Collection) -> list[list[tuple[tuple[float, float, float], float]]]:
    """The colours of each picture; empty lists where they are not known."""
    there = [name for name in COLOURS if name in collection.feature_names]
    if not there or collection.features.ndim != 2:
        return [[] for _ in collection.items]
    return [decoded(row) for row in collection.columns(there)]


def as_hex(colour: tuple[float, float, float]) -> str:
    """A colour as pages write it.

    Examples
    --------
    >>> as_hex((53.2, 80.0, 67.0))
    '#ff0001'
    """
    red, green, blue = srgb(np.array(colour))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _clustered(pixels: Floats, count: int) -> tuple[Floats, Floats]:
    """Centres (k, 3) and shares (k,) by k-means, begun at pixels far from each other: nothing is left to chance."""
    centres = [pixels[((pixels - pixels.mean(axis=0)) ** 2).sum(axis=1).argmin()]]
    for _ in range(count - 1):
        far = np.min([((pixels - centre) ** 2).sum(axis=1) for centre in centres], axis=0)
        if far.max() <= _SAME**2:
            break
        centres.append(pixels[far.argmax()])
    found = np.array(centres)
    for _ in range(_ROUNDS):
        nearest = ((pixels[:, np.newaxis] - found) ** 2).sum(axis=2).argmin(axis=1)
        counts = np.bincount(nearest, minlength=len(found))
        sums = np.stack([np.bincount(nearest, pixels[:, k], len(found)) for k in range(3)], axis=1)
        found = np.where(counts[:, np.newaxis] > 0, sums / np.maximum(counts, 1)[:, np.newaxis], found)
    return found[counts > 0], counts[counts > 0] / len(pixels)


def _merged(centres: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Colours that the eye hardly tells apart as one."""
    while len(centres) > 1:
        apart = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2) + np.diag(np.full(len(centres), np.inf))
        i, j = np.unravel_index(int(apart.argmin()), apart.shape)
        if apart[i, j] >= _SAME:
            break
        both = shares[i] + shares[j]
        centres[i] = (shares[i] * centres[i] + shares[j] * centres[j]) / both
        shares[i] = both
        centres, shares = np.delete(centres, j, axis=0), np.delete(shares, j)
    return centres, shares


def _coded(centre: Floats, share: float) -> float:
    parts = (centre[0] * 2.55, centre[1] + 128, centre[2] + 128, max(share * 255, 1.0))
    light, a, b, part = (int(np.clip(np.rint(value), 0, 255)) for value in parts)
    return float(light << 24 | a << 16 | b << 8 | part)
