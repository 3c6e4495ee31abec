"""Costs of templates as quadratic forms.

A template is linear in its knot values y, so the mean squared error of a collection under a
template is ``y'Ay - 2b'y + c``: A depends on the positions alone, b and c on the essence. They are computed once;
what remains of a cost is a matrix product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, positions as positions_of
from fabula.core.energy import multiply
from fabula.core.template import PAPER_KNOTS, basis, join_essences
from fabula.errors import InputError, check_kind

_CELLS = 1 << 19  # floats held at once: what a core's cache holds, and a bound on memory


@dataclass(frozen=True, eq=False)
class TemplateCosts:
    """The mean squared error of m collections under any template with q knots."""

    knots: Floats  # (q,)
    # (g, q (q + 1) / 2): the upper triangle of A, off-diagonal doubled, for each distinct list of positions
    forms: Floats
    group: Ints  # (m,): which form each collection has
    linear: Floats  # (m, q): b
    constant: Floats  # (m,): c, the mean squared essence

    def __len__(self) -> int:
        return len(self.constant)

    def errors(self, values: ArrayLike) -> Floats:
        """Mean squared error (m, k) of every collection under every template (k, q)."""
        y = np.asarray(values, dtype=np.float64)
        out = np.empty((len(self), len(y)))
        for rows, block in self._blocks(y):
            out[rows] = block.T
        return out

    def of(self, populations: ArrayLike) -> Floats:
        """Cost (s,) of s sets of k templates, (s, k, q): the mean over collections of the smallest error."""
        y = np.asarray(populations, dtype=np.float64)
        s, k, q = y.shape
        total = np.zeros(s)
        for _, block in self._blocks(y.swapaxes(0, 1).reshape(k * s, q)):
            total += block.reshape(k, s, -1).min(axis=0).sum(axis=1)
        return total / len(self)

    def nearest(self, populations: Floats) -> tuple[Ints, Floats]:
        """For s sets of templates (s, k, q): the best template of each collection and its error, both (s, m)."""
        s, k, q = populations.shape
        label = np.empty((s, len(self)), dtype=np.intp)
        error = np.empty((s, len(self)))
        for rows, block in self._blocks(populations.swapaxes(0, 1).reshape(k * s, q)):
            tables = block.reshape(k, s, -1)
            label[:, rows] = tables.argmin(axis=0)
            error[:, rows] = tables.min(axis=0)
        return label, error

    def sums(self, label: Ints, k: int) -> tuple[Floats, Floats, Floats]:
        """Sums of A (s, k, q, q), of b (s, k, q) and of ones (s, k) over the collections of each label (s, m)."""
        s, q = len(label), len(self.knots)
        members = np.zeros((s * k, len(self.forms)))
        linear = np.zeros((s * k, q))
        shared = len(self.forms) < len(self)
        for rows in _spans(len(self), s * k):
            part = label[:, rows]  # (s, rows)
            hot = (part[:, np.newaxis] == np.arange(k)[:, np.newaxis]).reshape(s * k, -1).astype(np.float64)
            linear += hot @ self.linear[rows]
            if shared:
                cell = (np.arange(s)[:, np.newaxis] * k + part) * len(self.forms) + self.group[rows]
                members += np.bincount(cell.ravel(), minlength=members.size).reshape(members.shape)
            else:
                members[:, self.group[rows]] = hot
        quadratic = _unpack(members @ self.forms, q)
        return quadratic.reshape(s, k, q, q), linear.reshape(s, k, q), members.sum(axis=1).reshape(s, k)

    def curve_fits(self, rows: Ints, ridge: float) -> Floats:
        """The template of each of some collections alone, by least squares with a ridge: shape (rows, q)."""
        q = len(self.knots)
        A = _unpack(self.forms[self.group[rows]], q) + ridge * np.eye(q)
        return np.asarray(np.linalg.solve(A, self.linear[rows][..., np.newaxis])[..., 0])

    def take(self, rows: Ints) -> "TemplateCosts":
        """The costs of some of the collections."""
        used, group = np.unique(self.group[rows], return_inverse=True)
        return TemplateCosts(self.knots, self.forms[used], group, self.linear[rows], self.constant[rows])

    def _blocks(self, y: Floats) -> Iterator[tuple[slice, Floats]]:
        """Errors of templates (t, q), a span of collections at a time: shape (t, rows)."""
        i, j = np.triu_indices(y.shape[1])
        features = y[:, i] * y[:, j]  # what a form is multiplied with
        shared = len(self.forms) < len(self)
        quadratic = multiply(features, self.forms.T) if shared else None  # (t, g)
        steps = -2.0 * y
        for rows in _spans(len(self), len(y)):
            block = multiply(steps, self.linear[rows].T)
            group = self.group[rows]
            block += quadratic[:, group] if quadratic is not None else multiply(features, self.forms[group].T)
            block += self.constant[rows]
            yield rows, np.maximum(block, 0.0, out=block)  # rounding must not make an error negative


def quadratic_costs(
    essences: Sequence[ArrayLike], positions: Sequence[ArrayLike] | None = None, *, knots: ArrayLike = PAPER_KNOTS
) -> TemplateCosts:
    """Compute A, b and c of every collection; those with equal positions share one A."""
    values, u, lengths = join_essences(essences, positions)
    return flat_costs(values, lengths, None if positions is None else u, knots=knots)


def flat_costs(
    values: Floats, lengths: Ints, u: Floats | None = None, *, knots: ArrayLike = PAPER_KNOTS
) -> TemplateCosts:
    """Compute A, b and c of collections laid end to end: essence and uneven positions (items,), lengths (m,)."""
    x = np.asarray(knots, dtype=np.float64)
    q = basis(x, [0.0]).shape[1]  # checks the knots
    starts = np.cumsum(lengths) - lengths
    m = len(lengths)
    group = np.empty(m, dtype=np.intp)
    linear, constant = np.empty((m, q)), np.empty(m)
    forms: list[Floats] = [np.empty((0, q * (q + 1) // 2))]
    known = 0
    for n in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == n)
        lists, which = _position_lists(u, starts[rows], n)
        group[rows] = known + which
        known += len(lists)
        forms.extend(_forms(x, lists))
        for span in _spans(len(rows), n * q):
            part = rows[span]
            V = values[starts[part][:, np.newaxis] + np.arange(n)]
            if len(lists) == 1:
                linear[part] = V @ basis(x, lists[0]) / n
            else:
                B = basis(x, lists[which[span]].ravel()).reshape(len(part), n, q)
                linear[part] = (V[:, np.newaxis] @ B)[:, 0] / n
            constant[part] = (V * V).mean(axis=1)
    return TemplateCosts(x, np.concatenate(forms), group, linear, constant)


def restore_costs(lengths: Ints, linear: Floats, constant: Floats) -> TemplateCosts:
    """Costs of collections with even positions, from their lengths (m,) and what was kept of them: b (m, q), c (m,)."""
    x = np.asarray(PAPER_KNOTS)
    sizes, group = np.unique(lengths, return_inverse=True)
    forms = [form for n in sizes.tolist() for form in _forms(x, positions_of(n)[np.newaxis])]
    none = np.empty((0, len(x) * (len(x) + 1) // 2))
    return TemplateCosts(x, np.concatenate([none, *forms]), group, linear, constant)


def as_count(k: int, collections: int) -> int:
    """Check a number of templates: at least 1, at most one per collection."""
    if not collections:
        raise InputError("at least one collection is needed; got none")
    check_kind(k, Integral, "a whole number", "k")
    if not 1 <= k <= collections:
        raise InputError(f"the number of templates must lie in 1..{collections}, one per collection at most; got {k}")
    return int(k)


def _position_lists(u: Floats | None, starts: Ints, n: int) -> tuple[Floats, Ints]:
    """The distinct ones of lists of n positions, (lists, n), and which one each is; without u all are even."""
    if u is None:
        return positions_of(n)[np.newaxis], np.zeros(len(starts), dtype=np.intp)
    known: dict[bytes, int] = {}
    lists = (u[start : start + n].tobytes() for start in starts.tolist())
    which = np.fromiter((known.setdefault(one, len(known)) for one in lists), np.intp, len(starts))
    return np.frombuffer(b"".join(known)).reshape(-1, n), which


def _forms(knots: Floats, lists: Floats) -> Iterator[Floats]:
    """Packed A for each list of positions (lists, n)."""
    (_, n), q = lists.shape, len(knots)
    for span in _spans(len(lists), n * q):
        B = basis(knots, lists[span].ravel()).reshape(-1, n, q)
        A = B.swapaxes(1, 2) @ B / n  # (rows, q, q)
        i, j = np.triu_indices(q)
        yield A[:, i, j] * np.where(i == j, 1.0, 2.0)


def _unpack(forms: Floats, q: int) -> Floats:
    """Symmetric matrices (t, q, q) from forms (t, q (q + 1) / 2)."""
    i, j = np.triu_indices(q)
    out = np.empty((len(forms), q, q))
    out[:, i, j] = out[:, j, i] = forms * np.where(i == j, 1.0, 0.5)
    return out


def _spans(rows: int, width: int) -> Iterator[slice]:
    """Spans of rows whose tables of that width stay small."""
    step = max(1, _CELLS // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))
