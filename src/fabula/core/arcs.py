"""A mixture of arcs: templates that say how likely an ordering is, and likely orderings of different shape.

``score(s) = logsumexp_p ( sum_j <t_p(u_j), s_j> + w_p )`` for an essence sequence s with positions u. For one
template the best of all n! orderings of a scalar essence pairs large values with high targets (the rearrangement
inequality): a sort. Under the whole mixture a better one may lie between the templates. It is climbed to: an ordering
gives each template a share of the probability, and the best ordering under the template blended by these shares is at
least as likely (Jensen's inequality), until it stays. That may be a lesser peak; on short albums it is the highest in
99 of 100.
"""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_essence, as_offsets, by_length
from fabula.core.fit import Fit, Ties, as_fixed, assign_least, lay, match_sorted, mixing
from fabula.core.template import CUBIC, Template, TemplateSet, replace_values
from fabula.errors import InputError, check_count

_CELLS = 30_000  # items that climb at a time, times the starts: what they need stays in the cache
_MOST_MIDDLES = 28  # of 8 templates


@dataclass(frozen=True, eq=False)
class Arcs:
    """Templates with log weights: a scorer of essence sequences.

    >>> arcs = Arcs(TemplateSet([Template([0, 1], [-1, 1])]), [0.0])
    >>> arcs.score([-1.0, 1.0])
    2.0
    >>> [f.ordering.tolist() for f in arcs.order([1.0, -1.0], alternatives=2)]
    [[1, 0], [0, 1]]
    """

    templates: TemplateSet  # k of one dimension d
    weights: Floats  # (k,): log weight of each

    def __init__(self, templates: TemplateSet, weights: ArrayLike) -> None:
        checked = np.asarray(weights, dtype=np.float64)
        if checked.shape != (len(templates),) or not np.isfinite(checked).all():
            raise InputError(f"arcs need one finite weight per template: {len(templates)}; got {checked.tolist()}")
        if len({t.dimensions for t in templates}) != 1:
            raise InputError("the templates of a mixture of arcs must have the same number of dimensions")
        self.__dict__.update(templates=templates, weights=checked)

    @property
    def dimensions(self) -> int:
        """How many numbers an item's essence has."""
        return self.templates[0].dimensions

    def score(self, sequences: ArrayLike) -> float | Floats:
        """How likely a sequence (n,) or (n, d) is, or m of one length (m, n, d) -> (m,); higher is likelier."""
        values = np.asarray(sequences, dtype=np.float64)
        single = values.ndim < 3
        batch = values.reshape(1 if single else len(values), -1, self.dimensions)  # (m, n, d)
        targets = np.stack([t.samples(batch.shape[1]).reshape(-1) for t in self.templates])  # (k, n * d)
        scores = _log_sum(batch.reshape(len(batch), -1) @ targets.T + self.weights)
        return float(scores[0]) if single else scores

    def order(
        self,
        essence: ArrayLike,
        *,
        alternatives: int = 4,
        fixed: Mapping[int, int] | None = None,
        ties: Ties = "random",
    ) -> list[Fit]:
        """Likely orderings of different shape of an essence (n,) or (n, d), z-scored; likeliest first, distinct.

        First those that are climbed to under the whole mixture, then the best one under each template, then the
        second best ones, as many as are asked for. Each is exact for its template, which for those climbed to is a
        blend, called by the template that has the largest share of it. Orderings that differ only among equal items
        count as one; fewer than ``alternatives`` come back only when there are no more. Deviations are those from
        the template on the scale of the essence. ``fixed``: position -> item; negative positions count from the end.
        """
        check_count(alternatives, "alternatives")
        rows = self._as_rows(essence)
        pinned = as_fixed(fixed or {}, len(rows))
        mixed = mixing(rows) if ties == "random" else None
        if mixed is not None:
            shown = np.argsort(mixed)
            there = {position: int(shown[item]) for position, item in pinned.items()}
            fits = self.order(rows[mixed], alternatives=alternatives, fixed=there, ties="given")
            return [replace(each, ordering=mixed[each.ordering]) for each in fits]
        found: dict[bytes, Fit] = {}
        for candidates in self._rounds(rows, pinned):
            fits = [
                replace(lay(rows, ordering, template), exact=True, score=float(self.score(rows[ordering])))
                for template, ordering in candidates
            ]
            for candidate in sorted(fits, key=lambda one: -(one.score or 0.0)):
                if len(found) < alternatives:
                    found.setdefault(rows[candidate.ordering].tobytes(), candidate)
            if len(found) == alternatives:
                break
        return sorted(found.values(), key=lambda one: -(one.score or 0.0))

    def order_many(self, essence: ArrayLike, offsets: ArrayLike) -> tuple[Ints, Floats]:
        """The first of what :meth:`order` gives for each of many collections, (rows,), and their scores, (number,).

        >>> arcs = Arcs(TemplateSet([Template([0, 1], [-1, 1])]), [0.0])
        >>> arcs.order_many([1.0, -1.0, -1.0, 1.0], [0, 2, 4])
        (array([1, 0, 0, 1]), array([2., 2.]))
        """
        rows = np.asarray(essence, dtype=np.float64)
        where = as_offsets(offsets, len(rows))
        if not len(rows):
            return np.empty(0, dtype=np.intp), np.empty(0)
        rows = self._as_rows(rows)
        orderings, scores = np.empty(len(rows), dtype=np.intp), np.empty(len(where) - 1)
        for some in by_length(where, _CELLS, axes=1):
            items = rows[some.rows]  # (B, n, d)
            shown = _show_order(items)
            found, score = _likeliest(self, np.take_along_axis(items, shown[..., np.newaxis], axis=1))
            orderings[some.rows] = np.take_along_axis(shown, found, axis=1)
            scores[some.numbers] = score
        return orderings, scores

    def starts(self) -> tuple[Floats, bool]:
        """Where to climb from: shares of each template (s, k), each alone and each two; and whether they can blend."""
        shares = np.eye(len(self.templates))
        kinds = {(t.knots.tobytes(), t.interpolation) for t in self.templates}
        if len(self.templates) == 1 or kinds != {(self.templates[0].knots.tobytes(), CUBIC)}:
            return shares, False
        middles = [(shares[i] + shares[j]) / 2 for i in range(len(shares)) for j in range(i)]
        return np.stack([*shares, *middles[:_MOST_MIDDLES]]), True

    def _as_rows(self, essence: ArrayLike) -> Floats:
        values = as_essence(essence)
        rows = values.reshape(len(values), -1)
        if rows.shape[1] != self.dimensions:
            raise InputError(f"essence has {rows.shape[1]} dimension(s), the arcs have {self.dimensions}")
        return rows

    def _rounds(self, rows: Floats, pinned: dict[int, int]) -> Iterator[list[tuple[Template, Ints]]]:
        """Orderings with the template each is best for, in the order in which they are to be considered."""
        starts, blended = self.starts()
        yield [self._climb(rows, pinned, start) for start in starts] if blended else []
        templates = [t.normalised() for t in self.templates]
        for ranked in zip_longest(*(_rank(rows, t, pinned) for t in self.templates)):
            yield [(t, ordering) for t, ordering in zip(templates, ranked, strict=True) if ordering is not None]

    def _climb(self, rows: Floats, pinned: dict[int, int], share: Floats) -> tuple[Template, Ints]:
        ordering = np.empty(0, dtype=np.intp)
        targets = np.stack([t.samples(len(rows)).reshape(-1) for t in self.templates])  # (k, n * d)
        while True:
            main = self.templates[int(np.argmax(share))]
            blend = replace_values(main, np.tensordot(share, self.templates.values, axes=1))
            better = next(_rank(rows, blend, pinned))
            if np.array_equal(better, ordering):
                return blend.normalised(), ordering
            ordering = better
            share = _shares((targets @ rows[ordering].reshape(-1) + self.weights)[np.newaxis])[0]


# The likeliest ordering of each of many collections under a mixture of arcs: the climb of ``Arcs.order``, all at once.


def _show_order(rows: Floats) -> Ints:
    """The order in which the items of each collection are looked at, (B, n): mixed where some are equal."""
    count, n, _ = rows.shape
    shown = np.tile(np.arange(n), (count, 1))
    ranked = np.sort(rows[..., 0], axis=1)  # no two items are equal that are not in the first dimension
    tied = np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1))
    for number in tied:
        mixed = mixing(rows[number])
        shown[number] = shown[number] if mixed is None else mixed
    return shown


def _likeliest(arcs: Arcs, rows: Floats) -> tuple[Ints, Floats]:
    """The best of what is climbed to from each start: orderings (B, n) of items (B, n, d) and their scores (B,)."""
    count, n, _ = rows.shape
    targets = np.stack([template.samples(n).reshape(-1) for template in arcs.templates])  # (k, n * d)
    starts, blended = arcs.starts()
    from_start = np.tile(starts, (count, 1))  # (B * s, k)
    which = np.repeat(np.arange(count), len(starts))
    orderings = np.full((len(which), n), -1)
    moving = np.arange(len(which))
    while len(moving):
        better = _best(rows, which[moving], (from_start[moving] @ targets).reshape(len(moving), n, -1))
        moved = (better != orderings[moving]).any(axis=1)
        orderings[moving[moved]] = better[moved]
        moving = moving[moved] if blended else moving[:0]
        from_start[moving] = _shares(_logits(arcs, rows, which[moving], orderings[moving], targets))
    scores = _log_sum(_logits(arcs, rows, which, orderings, targets)).reshape(count, -1)
    best = scores.argmax(axis=1)
    return orderings.reshape(count, -1, n)[np.arange(count), best], scores[np.arange(count), best]


def _best(rows: Floats, which: Ints, goals: Floats) -> Ints:
    """The best ordering of collection ``which[a]`` under the targets ``goals[a]`` (n, d), for each a: (a, n)."""
    if rows.shape[2] > 1:  # items of several dimensions: an assignment each
        gains = goals @ rows[which].transpose(0, 2, 1)  # (a, positions, items)
        return np.array([assign_least(-gain)[1] for gain in gains], dtype=np.intp).reshape(goals.shape[:2])
    values = rows[..., 0]
    items = np.argsort(values, axis=1, kind="stable")  # (B, n)
    positions = np.argsort(goals[..., 0], axis=1, kind="stable")  # (a, n)
    ranked = np.take_along_axis(values, items, axis=1)
    tied = ranked[:, 1:] == ranked[:, :-1]
    if tied.any():  # equal items stand in the order in which they are shown
        run = np.zeros(ranked.shape, dtype=np.intp)
        run[:, 1:] = np.cumsum(~tied, axis=1) * ranked.shape[1]
        positions = np.sort(run[which] + positions, axis=1) - run[which]
    found = np.empty_like(positions)
    np.put_along_axis(found, positions, items[which], axis=1)
    return found


def _logits(arcs: Arcs, rows: Floats, which: Ints, orderings: Ints, targets: Floats) -> Floats:
    """How likely each ordering is under each template: (a, k)."""
    sequences = rows[which[:, np.newaxis], orderings].reshape(len(which), targets.shape[1])
    return np.asarray(sequences @ targets.T + arcs.weights)


def _shares(logits: Floats) -> Floats:
    likely = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def _log_sum(logits: Floats) -> Floats:
    top = logits.max(axis=1)
    return np.asarray(top + np.log(np.exp(logits - top[:, np.newaxis]).sum(axis=1)))


def _rank(rows: Floats, template: Template, pinned: dict[int, int]) -> Iterator[Ints]:
    """Orderings of items (n, d) from the likeliest down under one template, pinned items in their positions."""
    n = len(rows)
    positions = np.setdiff1d(np.arange(n), list(pinned))
    items = np.setdiff1d(np.arange(n), list(pinned.values()))
    goals = template.samples(n).reshape(n, -1)[positions]
    free = rows[items]
    ranked = _rank_scalar(free[:, 0], goals[:, 0]) if rows.shape[1] == 1 else _rank_vector(free @ goals.T)
    for matched in ranked:
        ordering = np.empty(n, dtype=np.intp)
        ordering[list(pinned)] = list(pinned.values())
        ordering[positions] = items[matched]
        yield ordering


def _rank_scalar(values: Floats, goals: Floats) -> Iterator[Ints]:
    """Orderings by falling ``sum_j goals[j] * values[ordering[j]]``, exactly, without repeating a sequence."""
    # In ranks the best ordering is sorted. Undoing an inversion of neighbours never lowers the sum, so every ordering
    # is reached from the best by steps down, and a heap gives them in order.
    best = match_sorted(values, goals)
    positions = np.argsort(goals, kind="stable")
    start = best[positions]  # items by rank of their position
    rising = goals[positions]
    heap = [(-float(rising @ values[start]), tuple(start.tolist()))]
    seen = {values[start].tobytes()}
    while heap:
        cost, ranks = heapq.heappop(heap)
        ordering = np.empty_like(best)
        ordering[positions] = ranks
        yield ordering
        for i in range(len(ranks) - 1):
            drop = (rising[i + 1] - rising[i]) * (values[ranks[i + 1]] - values[ranks[i]])
            swapped = (*ranks[:i], ranks[i + 1], ranks[i], *ranks[i + 2 :])
            key = values[list(swapped)].tobytes()
            if values[ranks[i]] < values[ranks[i + 1]] and key not in seen:
                seen.add(key)
                heapq.heappush(heap, (cost + float(drop), swapped))


def _rank_vector(gain: Floats) -> Iterator[Ints]:
    """Orderings by falling ``sum_j gain[ordering[j], j]``, exactly (Murty's algorithm)."""
    n = len(gain)
    heap: list[tuple[float, tuple[int, ...], int, Floats]] = []

    def push(cost: Floats, kept: int) -> None:
        try:
            positions, items = assign_least(cost)
        except ValueError:  # every continuation is taken
            return
        heapq.heappush(heap, (float(cost[positions, items].sum()), tuple(items.tolist()), kept, cost))

    push(-gain.T, 0)
    while heap:
        _, ordering, kept, cost = heapq.heappop(heap)
        yield np.array(ordering, dtype=np.intp)
        for position in range(kept, n - 1):  # keep the positions before, forbid this one
            part = cost.copy()
            for before in range(position):
                part[before] = np.inf
                part[:, ordering[before]] = np.inf
                part[before, ordering[before]] = cost[before, ordering[before]]
            part[position, ordering[position]] = np.inf
            push(part, position)
