"""Between the knots of a template: the polynomial of each piece, for either kind of curve.

"cubic" is the spline with continuous curvature, linear in the values: one matrix does it. "monotone" keeps the shape
of what was drawn: its slope at a knot is the weighted harmonic mean of the slopes beside it, zero at a peak or a valley
(Fritsch and Butland 1984, as in SciPy's ``PchipInterpolator``), so that no piece leaves the range of its two knots.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fabula.core.essence import Floats

CUBIC, MONOTONE = "cubic", "monotone"
INTERPOLATIONS = (CUBIC, MONOTONE)


def monotone_pieces(x: Floats, y: Floats) -> Floats:
    """The polynomials of a curve that stays between neighbouring knots.

    Parameters
    ----------
    x, y
        Knots of shape (q,) and values of shape (q,) or (q, d).

    Returns
    -------
    Array of shape (q - 1, 4) or (q - 1, 4, d): coefficients from power 0 up.

    Examples
    --------
    >>> monotone_pieces(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))[1]
    array([1., 0., 0., 0.])
    """
    dx = np.diff(x).reshape(-1, *(1,) * (y.ndim - 1))
    slope = np.diff(y, axis=0) / dx
    derivative = _monotone_slopes(dx, slope)
    start, end = derivative[:-1], derivative[1:]
    return np.stack([y[:-1], start, (3 * slope - 2 * start - end) / dx, (start + end - 2 * slope) / dx**2], axis=1)


def _monotone_slopes(dx: Floats, slope: Floats) -> Floats:
    """The slope at each knot, shape (q[, d]); ``dx`` has shape (q - 1[, 1])."""
    if len(dx) == 1:
        return np.concatenate([slope, slope])
    left, right = slope[:-1], slope[1:]
    before, after = 2 * dx[1:] + dx[:-1], dx[1:] + 2 * dx[:-1]
    level = np.sign(left) * np.sign(right) <= 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of a slope next to nothing
        inner = np.where(level, 0.0, (before + after) / (before / left + after / right))
    first = _end_slope(dx[0], dx[1], slope[0], slope[1])
    last = _end_slope(dx[-1], dx[-2], slope[-1], slope[-2])
    return np.concatenate([first[np.newaxis], inner, last[np.newaxis]])


def _end_slope(near: Floats, far: Floats, slope: Floats, next_slope: Floats) -> Floats:
    """The slope at an end: of the parabola through three knots, held where that would turn."""
    found = ((2 * near + far) * slope - near * next_slope) / (near + far)
    found = np.where(np.sign(found) != np.sign(slope), 0.0, found)
    turning = (np.sign(slope) != np.sign(next_slope)) & (np.abs(found) > 3 * np.abs(slope))
    return np.asarray(np.where(turning, 3 * slope, found))


@lru_cache(maxsize=64)
def piece_operator(knots: bytes) -> Floats:
    """From knot values to the polynomial of each piece: shape (q - 1, 4, q), coefficients from power 0 up."""
    x = np.frombuffer(knots, dtype=np.float64)
    q = len(x)
    dx = np.diff(x)
    eye = np.eye(q)
    slope = np.diff(eye, axis=0) / dx[:, np.newaxis]  # (q - 1, q)
    derivative = _derivative_operator(dx, slope)  # (q, q)
    gap = dx[:, np.newaxis]
    start, end = derivative[:-1], derivative[1:]
    return np.stack([eye[:-1], start, (3 * slope - 2 * start - end) / gap, (start + end - 2 * slope) / gap**2], axis=1)


def _derivative_operator(dx: Floats, slope: Floats) -> Floats:
    """From knot values to the spline's slope at each knot, shape (q, q): the not-a-knot equations, solved."""
    q = len(dx) + 1
    if q == 2:
        return np.vstack([slope[0], slope[0]])
    if q == 3:  # the parabola through three points
        middle = (dx[1] * slope[0] + dx[0] * slope[1]) / (dx[0] + dx[1])
        return np.vstack([2 * slope[0] - middle, middle, 2 * slope[1] - middle])
    A = np.zeros((q, q))
    R = np.zeros((q, q))
    for i in range(1, q - 1):  # the second derivative is continuous at each inner knot
        A[i, i - 1 : i + 2] = dx[i], 2 * (dx[i - 1] + dx[i]), dx[i - 1]
        R[i] = 3 * (dx[i] * slope[i - 1] + dx[i - 1] * slope[i])
    first, last = dx[0] + dx[1], dx[-2] + dx[-1]
    A[0, :2] = dx[1], first  # the third derivative is continuous at the second knot
    R[0] = ((dx[0] + 2 * first) * dx[1] * slope[0] + dx[0] ** 2 * slope[1]) / first
    A[-1, -2:] = last, dx[-2]  # and at the last but one
    R[-1] = (dx[-1] ** 2 * slope[-2] + (2 * last + dx[-1]) * dx[-2] * slope[-1]) / last
    return np.asarray(np.linalg.solve(A, R), dtype=np.float64)
