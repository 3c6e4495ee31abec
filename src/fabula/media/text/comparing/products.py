"""Products of texts with texts over their words: dense for words of many texts, sparse for all others.

Most of the work is in words that stand in many texts, and there a dense product is much quicker than a sparse one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fabula.core.ordering import Ints

_OFTEN = 1 / 32  # share of the texts from which on a word is one of many texts

Table = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Parts:
    """A table of words (n, w) in two parts: words of many texts (n, a), dense, and the others (n, w), sparse."""

    often: NDArray[np.float32]
    seldom: sparse.csr_array

    def times(self, other: Parts) -> Table:
        """The product of each row with each row of another table: shape (n, n)."""
        found: Table = self.often @ other.often.T
        rest = self.seldom @ other.seldom.T
        if rest.nnz:
            found += rest.toarray()
        return found


class Layout:
    """Where the entries of a sparse table (n, w) go: which of them are of words of many texts.

    Parameters
    ----------
    counts
        Shape (n, w), sparse.

    Examples
    --------
    >>> counts = sparse.csr_array([[1.0, 2.0], [0.0, 1.0]])
    >>> parts = Layout(counts).parts(counts.data)
    >>> parts.times(parts).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """

    def __init__(self, counts: sparse.csr_array) -> None:
        self.shape = counts.shape
        n, width = counts.shape
        many = np.bincount(counts.indices, minlength=width) > n * _OFTEN
        self.many = many[counts.indices]
        rows: Ints = np.repeat(np.arange(n), np.diff(counts.indptr))
        column = np.cumsum(many) - 1
        self.place = rows[self.many], column[counts.indices[self.many]]
        self.width = int(many.sum())
        self.columns = counts.indices[~self.many]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(rows[~self.many], minlength=n))])

    def parts(self, values: Table) -> Parts:
        """A table with these values, one an entry."""
        often = np.zeros((self.shape[0], self.width), dtype=np.float32)
        often[self.place] = values[self.many]
        others = values[~self.many].astype(np.float32)
        told = others != 0
        starts = np.concatenate([[0], np.cumsum(told)])[self.starts]
        return Parts(often, sparse.csr_array((others[told], self.columns[told], starts), shape=self.shape))
