"""Numbers of many rows in the pieces their file holds, and the block of features made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

_ROWS = 4096  # that are laid side by side at a time: columns of so many fit into the processor's cache


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number, or a vector of numbers, of every row.

    Parameters
    ----------
    pieces
        One after the other, shape (m,) or (m, w) each, of any kind of number; NaN where a value is missing.
    """

    pieces: tuple[NDArray[Any], ...]

    @property
    def width(self) -> int | None:
        """How many numbers a row has; None where it is one number and no vector."""
        return None if self.pieces[0].ndim == 1 else self.pieces[0].shape[1]

    def whole(self) -> Floats:
        """All in one array, shape (rows,) or (rows, w)."""
        joined = self.pieces[0] if len(self.pieces) == 1 else np.concatenate(self.pieces)
        return joined.astype(np.float64, copy=False)

    def infinite(self) -> int | None:
        """The first row with an infinite number; None where there is none."""
        start = 0
        for piece in self.pieces:
            if piece.dtype.kind == "f":
                wrong = np.isinf(piece)
                if wrong.any():
                    return start + int(np.argmax(wrong.reshape(len(piece), -1).any(axis=1)))
            start += len(piece)
        return None

    def missing(self, rows: Ints) -> Ints:
        """Which of some rows have no number."""
        known = self.whole()[rows]
        return rows[np.isnan(known.reshape(len(rows), -1)).any(axis=1)]


def features_of(columns: Sequence[Numbers], order: Ints | None, count: int) -> Floats:
    """The block of features, shape (rows, f): the columns side by side, vectors with a feature per number.

    Parameters
    ----------
    columns
        Each of ``count`` rows.
    order
        The rows to take, in this order; None for all as they stand.
    count
        The number of rows.
    """
    begins = np.cumsum([0, *(column.width or 1 for column in columns)]).tolist()
    block = np.empty((count if order is None else len(order), begins[-1]))
    for at, column in zip(begins, columns, strict=False):
        if column.width is not None:
            _lay_vectors(block[:, at : at + column.width], column, order)
    narrow = [(at, column) for at, column in zip(begins, columns, strict=False) if column.width is None]
    if order is None:
        _lay_side_by_side(block, narrow)
    else:
        _gather(block, narrow, order)
    return block


def _lay_vectors(block: Floats, vectors: Numbers, order: Ints | None) -> None:
    """Copy vectors into their part of a block."""
    if order is not None:
        block[:] = vectors.whole()[order]
        return
    start = 0
    for piece in vectors.pieces:
        block[start : start + len(piece)] = piece
        start += len(piece)


def _lay_side_by_side(block: Floats, columns: Sequence[tuple[int, Numbers]]) -> None:
    """Copy columns of numbers into a block, some rows of all of them at a time, so that it is written through once."""
    begun = [np.cumsum([0, *map(len, column.pieces[:-1])]) for _, column in columns]
    edges = np.unique(np.concatenate([np.arange(0, len(block), _ROWS), [len(block)], *begun]))
    found = [np.searchsorted(starts, edges[:-1], side="right") - 1 for starts in begun]
    for k, (first, last) in enumerate(pairwise(edges.tolist())):
        for (at, column), starts, of in zip(columns, begun, found, strict=True):
            start = starts[of[k]]
            block[first:last, at] = column.pieces[of[k]][first - start : last - start]


def _gather(block: Floats, columns: Sequence[tuple[int, Numbers]], order: Ints) -> None:
    """Copy rows of columns into a block in another order, column by column: each is joined for its turn alone."""
    for at, column in columns:
        block[:, at] = column.whole()[order]


def as_vectors(cells: Sequence[Any], missing: NDArray[np.bool_]) -> Numbers | None:
    """Lists of as many numbers each as vectors, NaN where a cell or a number is missing; None where they are none."""
    known = [cell for cell, absent in zip(cells, missing.tolist(), strict=True) if not absent]
    if not known or not all(isinstance(cell, (list, tuple)) and len(cell) == len(known[0]) for cell in known):
        return None
    if not len(known[0]) or not all(type(x) in (int, float, type(None)) for cell in known for x in cell):
        return None
    found = np.full((len(cells), len(known[0])), np.nan)
    found[~missing] = np.array(known, dtype=np.float64)
    return Numbers((found,))
