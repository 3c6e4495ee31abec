"""From what a model says to orderings: the likeliest, those that agree best, alternatives, many at once, a search.

What is solved is always an energy of positions and neighbours. Where all pairs count, it is the agreement with the
orderings that are likely; where a scorer can only be asked, good orderings are searched for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal, get_args

import numpy as np

from fabula.core.arrays import Alike, Floats, Ints, normalise, positions
from fabula.core.energy import Energy
from fabula.core.fit import Fit, as_fixed, lay
from fabula.core.posterior import Posterior, agreement, posterior
from fabula.core.solver.solve import ArrangedMany, Arrangement, Constraints, Goal, arrange, arrange_many
from fabula.core.template import Template, from_arc
from fabula.errors import ConflictError, InputError

Rule = Literal["likeliest", "agreeing", "arcs"]  # what to propose first
RULES: tuple[Rule, ...] = get_args(Rule)
MOST_EXPECTED = 200  # items, beyond which too few orderings can be drawn to expect anything of them
_SECONDS = 1.5  # to search in, where the items are too many to be solved
_RANDOM_STARTS = 4
_NEIGHBOURS = 768  # tried at a time; all of them up to 23 items
_ITEMS = 400_000  # scored per start, about: a second

Score = Callable[[Floats], Floats]


def likeliest(energy: Energy, constraints: Constraints | None = None, *, seconds: float = _SECONDS) -> Arrangement:
    """The likeliest ordering under constraints, by positions and neighbours: exact up to 18 items, a gap beyond."""
    goal = Goal(energy.n) if energy.positions is None else Goal.table(n=energy.n, whole=lambda m: -energy.at(m))
    flow = np.zeros((energy.n, energy.n)) if energy.flow is None else -energy.flow
    return arrange(goal, constraints=constraints, flow=flow, seconds=seconds)


def most_agreeing(
    expected: Posterior, constraints: Constraints | None = None, *, seconds: float = _SECONDS
) -> Arrangement:
    """The ordering that can be expected to agree best with the true one: exact up to 18 items, with a gap beyond."""
    return likeliest(agreement(expected), constraints, seconds=seconds)


def solvable(energy: Energy) -> Energy:
    """What to solve in its place: itself, or the agreement with what is likely where all pairs count."""
    return energy if energy.solvable else agreement(posterior(energy))


def lean(energy: Energy) -> Floats:
    """Where each item leans to, the beginning (high) or the end (low): shape (n,), z-scored."""
    return normalise(energy.at(energy.n) @ (0.5 - positions(energy.n)))


def propose(
    energy: Energy, essence: Floats, alternatives: int = 4, fixed: Mapping[int, int] | None = None
) -> list[Fit]:
    """Likely orderings of an essence (n, d), likeliest first, distinct: those after the first open or close otherwise.

    Each ordering's template is its own arc. ``fixed``: position -> item; negative positions count from the end.
    """
    _check_alternatives(alternatives)
    n, solved = energy.n, solvable(energy)
    found = [likeliest(solved, Constraints(n, fixed=fixed))]
    for forbidden in _otherwise(found, n):
        if len(found) >= alternatives:
            break
        try:
            other = likeliest(solved, Constraints(n, fixed=fixed, forbidden=forbidden))
        except (ConflictError, InputError):
            continue  # what is fixed leaves no such ordering
        if not any(np.array_equal(other.ordering, known.ordering) for known in found):
            found.append(other)
    fits = [
        _as_fit(essence, one.ordering, energy.score(one.ordering), exact=one.exact and energy.solvable) for one in found
    ]
    return [fits[0], *sorted(fits[1:], key=lambda fit: -(fit.score or 0.0))]


def _otherwise(found: list[Arrangement], n: int) -> Iterator[list[tuple[int, int]]]:
    """What to forbid next: the openers, the closes, or both, of what has been found so far."""
    if n < 2:
        return
    for _, ends in product(range(n), ((0,), (-1,), (0, -1))):
        yield [(int(one.ordering[end]), end) for end in ends for one in found]


def _as_fit(essence: Floats, ordering: Ints, score: float | Floats, *, exact: bool = False) -> Fit:
    """An ordering laid on its own arc; a single item has none, and lies on a flat template."""
    flat = Template([0, 1], np.zeros((2, *essence.shape[1:])))
    template = from_arc(essence[ordering], name="own arc") if len(essence) > 1 else flat
    return replace(lay(essence, ordering, template), exact=exact, score=float(score))


def _check_alternatives(alternatives: int) -> None:
    if alternatives < 1:
        raise InputError(f"alternatives must be at least 1; got {alternatives}")


@dataclass(frozen=True, eq=False)
class OrderedMany:
    """One ordering of each of many collections, as arrays.

    >>> two = OrderedMany(np.array([1, 0, 0]), np.array([0, 2, 3]), np.zeros(2), np.ones(2, bool), np.zeros(2))
    >>> two[0], two.rows
    (array([1, 0]), array([1, 0, 2]))
    """

    orderings: Ints = field(repr=False)  # (rows,): ``ordering[position] = item``, counted within each collection
    offsets: Ints = field(repr=False)  # (number + 1,): where each collection begins and ends
    scores: Floats  # (number,): how likely each is beside others of the same collection; higher is likelier
    exact: np.ndarray[tuple[int], np.dtype[np.bool_]]  # (number,): whether no other ordering does better
    gap: Floats  # (number,): how much better another could be, as a part of what was reached; NaN where not known

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, number: int) -> Ints:
        number = range(len(self))[number]
        return self.orderings[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[Ints]:
        return (self[number] for number in range(len(self)))

    @property
    def rows(self) -> Ints:
        """The same orderings as rows of the whole, shape (rows,): ``features[ordered.rows]`` is all in order."""
        return self.orderings + np.repeat(self.offsets[:-1], np.diff(self.offsets))


def join_fits(fits: Sequence[Fit], offsets: Ints) -> OrderedMany:
    """Orderings found one by one."""
    orderings = np.concatenate([np.empty(0, np.intp), *(fit.ordering for fit in fits)])
    exact = np.array([fit.exact for fit in fits], dtype=bool)
    scores = np.array([np.nan if fit.score is None else fit.score for fit in fits])
    return OrderedMany(orderings, offsets, scores, exact, np.where(exact, 0.0, np.nan))


def order_many(
    energies: Iterable[tuple[Alike, Energy]], offsets: Ints, rule: Rule, seconds: float = _SECONDS
) -> OrderedMany:
    """One ordering of each of many collections, by the energies of those of one length, (B, n, n), in turn."""
    if rule not in RULES:
        raise InputError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    orderings, number = np.empty(offsets[-1], dtype=np.intp), len(offsets) - 1
    scores, gap, exact = np.empty(number), np.zeros(number), np.ones(number, dtype=bool)
    for some, energy in energies:
        found = _arrange_alike(energy, rule, seconds)
        orderings[some.rows], gap[some.numbers], exact[some.numbers] = found.orderings, found.gap, found.exact
        scores[some.numbers] = energy.score(found.orderings)
    return OrderedMany(orderings, offsets, scores, exact, gap)


def _arrange_alike(energy: Energy, rule: Rule, seconds: float) -> ArrangedMany:
    """One ordering of each of B collections of one length."""
    places = energy.at(energy.n)
    if rule == "arcs":
        return arrange_many(-places)
    flow = np.zeros_like(places) if energy.flow is None else energy.flow
    if rule == "agreeing" and energy.n <= MOST_EXPECTED:
        agreeing = agreement(posterior(energy))
        places, flow = agreeing.at(energy.n), np.asarray(agreeing.flow)
    return arrange_many(-places, -flow, seconds=seconds)


def search_orderings(
    score: Score,
    essence: Floats,
    *,
    alternatives: int = 4,
    fixed: Mapping[int, int] | None = None,
    seed: int = 0,
) -> list[Fit]:
    """Orderings of an essence (n, d) that no swap and no move of one item makes likelier; likeliest first, distinct.

    Starts from the items sorted up and down by their first dimension and from random orderings. When the starts
    end in fewer different orderings than asked for, the best neighbours of the ends are added. ``score`` goes from
    sequences (m, n, d) to (m,).

    >>> rise = lambda sequences: sequences[:, :, 0] @ np.array([0.0, 1.0, 2.0])
    >>> search_orderings(rise, np.array([[3.0], [1.0], [2.0]]), alternatives=1)[0].ordering
    array([1, 2, 0])
    """
    _check_alternatives(alternatives)
    rng = np.random.default_rng(seed)
    pinned = as_fixed(fixed or {}, len(essence))
    ends: list[tuple[float, Ints]] = []
    near: list[tuple[float, Ints]] = []
    for start in _starts(essence, pinned, rng):
        end, around = _climb(score, essence, start, np.setdiff1d(np.arange(len(start)), list(pinned)), rng)
        ends.append(end)
        near.extend(around)
    found: dict[bytes, tuple[float, Ints]] = {}
    for candidates in (ends, near):
        for value, ordering in sorted(candidates, key=_by_score):
            if len(found) < alternatives:
                found.setdefault(essence[ordering].tobytes(), (value, ordering))
    return [_as_fit(essence, pair[1], pair[0]) for pair in sorted(found.values(), key=_by_score)]


def _climb(
    score: Score, essence: Floats, start: Ints, free_positions: Ints, rng: np.random.Generator
) -> tuple[tuple[float, Ints], list[tuple[float, Ints]]]:
    """The end of one climb, and the orderings next to it with their scores."""
    here = start
    value = float(score(essence[here][np.newaxis])[0])
    around: list[tuple[float, Ints]] = []
    scored = 0
    while scored < _ITEMS:
        orderings = _neighbours(here, free_positions, rng)
        if not len(orderings):
            break
        scored += orderings.size
        scores = score(essence[orderings])
        best = np.argsort(-scores, kind="stable")
        around = [(float(scores[i]), orderings[i]) for i in best[:16]]
        if scores[best[0]] <= value + 1e-6:  # less is rounding
            break
        value, here = around[0]
    return (value, here), around


def _neighbours(ordering: Ints, free_positions: Ints, rng: np.random.Generator) -> Ints:
    """Orderings one swap or one move away, all others kept: shape (m, n)."""
    first, second = np.triu_indices(len(free_positions), 1)
    moves = [(a, b, kind) for a, b in zip(first, second, strict=True) for kind in range(3 if b - a > 1 else 1)]
    if len(moves) > _NEIGHBOURS:
        moves = [moves[i] for i in rng.choice(len(moves), _NEIGHBOURS, replace=False)]
    out = np.tile(ordering, (len(moves), 1))
    free = ordering[free_positions]
    for row, (a, b, kind) in zip(out, moves, strict=True):
        part = free[a : b + 1]
        if kind == 0:
            row[free_positions[a]], row[free_positions[b]] = part[-1], part[0]
        else:  # the first of the part behind its last, or the last before its first
            row[free_positions[a : b + 1]] = np.roll(part, -1 if kind == 1 else 1)
    return out


def _starts(essence: Floats, pinned: dict[int, int], rng: np.random.Generator) -> list[Ints]:
    n = len(essence)
    up = np.argsort(essence[:, 0], kind="stable")
    orders = [up, up[::-1], *(rng.permutation(n) for _ in range(_RANDOM_STARTS))]
    return [_with_pinned(order, pinned) for order in orders]


def _with_pinned(order: Ints, pinned: dict[int, int]) -> Ints:
    """The pinned items in their positions, the others around them in the given order."""
    ordering = np.empty(len(order), dtype=np.intp)
    ordering[list(pinned)] = list(pinned.values())
    ordering[np.setdiff1d(np.arange(len(order)), list(pinned))] = order[~np.isin(order, list(pinned.values()))]
    return ordering


def _by_score(candidate: tuple[float, Ints]) -> float:
    return -candidate[0]
