"""Sums over collections as the rows of a part, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.essence import Floats
from fabula.core.template import PAPER_KNOTS
from fabula.templates.refinement import StepSums

if TYPE_CHECKING:
    import pyarrow as pa

_Q = len(PAPER_KNOTS)


def sums_table(sums: StepSums) -> pa.Table:
    """Sums as rows: one for each template, then one for each of the worst collections, whose fit is ``linear``."""
    import pyarrow as pa

    k, worst = len(sums.members), len(sums.worst)
    quadratic = np.concatenate([sums.quadratic.reshape(k, -1), np.zeros((worst, sums.quadratic[0].size))])
    return pa.table(
        {
            "kind": pa.array(["template"] * k + ["worst"] * worst),
            "members": pa.array(np.concatenate([sums.members, np.zeros(worst)])),
            "error": pa.array(np.concatenate([[sums.error], np.zeros(k - 1), sums.worst])),
            "linear": lists(np.concatenate([sums.linear, sums.fits])),
            "quadratic": lists(quadratic),
        }
    )


def sums_of(table: pa.Table) -> StepSums:
    """What :func:`sums_table` was made of."""
    k = table.column("kind").to_pylist().count("template")
    members, error = (table.column(name).to_numpy() for name in ("members", "error"))
    linear = arrays(table.column("linear"), _Q)
    quadratic = arrays(table.column("quadratic"), _Q**2)[:k].reshape(k, *[_Q] * 2)
    return StepSums(quadratic, linear[:k], members[:k], float(error[0]), error[k:], linear[k:])


def lists(array: Floats) -> Any:
    """Rows (m, w) as a column of lists."""
    import pyarrow as pa

    offsets = np.arange(len(array) + 1, dtype=np.int32) * array.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(array).ravel()))


def arrays(column: Any, width: int) -> Floats:
    """A column of lists as rows (m, w)."""
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, dtype=np.float64).reshape(-1, width)


def costs_table(totals: Floats, collections: int) -> pa.Table:
    """The summed errors (s,) of sets of templates over so many collections, as rows."""
    import pyarrow as pa

    return pa.table({"error": pa.array(totals), "members": pa.array(np.full(len(totals), collections))})


def costs_of(parts: list[pa.Table]) -> Floats:
    """The mean error (s,) of sets of templates over the collections of all parts."""
    totals = np.sum([part.column("error").to_numpy() for part in parts], axis=0)
    return np.asarray(totals / np.sum([part.column("members").to_numpy() for part in parts], axis=0))
