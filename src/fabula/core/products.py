"""Matrix products that stay on one thread where they are small.

A BLAS hands a product out to all cores from about 2^18 multiplications on. Up to some milliseconds of work that gains
little, and beside one busy process it loses much: its threads wait for each other spinning. So a small product is done
in pieces below that size, which are computed as the whole would be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 18  # multiplications up to which OpenBLAS takes one thread
_STEP = 16  # rows or columns that a piece has a multiple of, so that equal rows are computed alike
_MOST = 64  # pieces; a product beyond is worth all cores

Matrix = NDArray[np.floating[Any]]


def multiply(rows: Matrix, matrix: Matrix, out: Matrix | None = None) -> Matrix:
    """The product (m, k) by (k, n) -> (m, n), or of each of B such, (B, m, k) by (B, k, n) -> (B, m, n).

    Examples
    --------
    >>> multiply(np.ones((2, 3)), np.eye(3))
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """
    m, k, n = *rows.shape[-2:], matrix.shape[-1]
    work = m * k * n
    if work <= _PIECE or work > _MOST * _PIECE or k * n > _PIECE:
        return np.asarray(np.matmul(rows, matrix, out=out))
    found = np.empty((*rows.shape[:-1], n), dtype=np.result_type(rows, matrix)) if out is None else out
    step, width = _PIECE // (k * n) // _STEP * _STEP, max(1, _PIECE // (m * k) // _STEP) * _STEP
    each = [(rows, matrix, found)] if rows.ndim == 2 else zip(rows, matrix, found, strict=True)
    for left, right, into in each:
        if step:
            for at in range(0, m, step):
                np.matmul(left[at : at + step], right, out=into[at : at + step])
        else:  # few long rows: some columns at a time
            for at in range(0, n, width):
                into[:, at : at + width] = np.matmul(left, right[:, at : at + width])
    return found
