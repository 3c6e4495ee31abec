"""From what a model says to orderings, and why: the likeliest, those that agree best, many at once, a search.

What is solved is always an energy of positions and neighbours. Where all pairs count, it is the agreement with the
orderings that are likely; where a scorer can only be asked, good orderings are searched for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Alike, Bools, Floats, Ints, as_ordering, normalise, positions
from fabula.core.collection import Collection, Evidence
from fabula.core.collections import Collections
from fabula.core.energy import Energy, distance_basis, position_basis, split_items
from fabula.core.fit import Fit, as_fixed, lay
from fabula.core.posterior import agreement, posterior
from fabula.core.solver import Arrangement, Constraints, Goal, arrange
from fabula.core.solver.solve import arrange_many
from fabula.core.template import Template, from_arc
from fabula.errors import ConflictError, InputError, ModelError, check_count
from fabula.models.encoders.measures import LEANINGS, MeasuresEncoder
from fabula.models.encoders.set import TITLE, SetEncoder

if TYPE_CHECKING:
    from fabula.models.model import Model

Rule = Literal["likeliest", "agreeing", "arcs"]  # what to propose first
RULES: tuple[Rule, ...] = get_args(Rule)
MOST_EXPECTED = 200  # items, beyond which too few orderings can be drawn to expect anything of them
_SECONDS = 1.5  # to search in, where the items are too many to be solved
_RANDOM_STARTS = 4
_NEIGHBOURS = 768  # tried at a time; all of them up to 23 items
_ITEMS = 400_000  # scored per start, about: a second

Score = Callable[[Floats], Floats]
T = TypeVar("T")


def likeliest(energy: Energy, constraints: Constraints | None = None, *, seconds: float = _SECONDS) -> Arrangement:
    """The likeliest ordering under constraints, by positions and neighbours: exact up to 18 items, a gap beyond."""
    goal = Goal.table(n=energy.n, whole=lambda m: -energy.at(m)) if energy.placed else Goal(energy.n)
    flow = np.zeros((energy.n, energy.n)) if energy.flow is None else -energy.flow
    return arrange(goal, constraints=constraints, flow=flow, seconds=seconds)


def solvable(energy: Energy) -> Energy:
    """What to solve in its place: itself, or the agreement with what is likely where all pairs count."""
    return energy if energy.solvable else agreement(posterior(energy))


def lean(energy: Energy) -> Floats:
    """Where each item leans to, the beginning (high) or the end (low): shape (n,), z-scored."""
    n = energy.n
    return normalise(np.concatenate([energy.at(n, some) @ (0.5 - positions(n)) for some in split_items(n)], -1))


def propose(
    energy: Energy, essence: Floats, alternatives: int = 4, fixed: Mapping[int, int] | None = None
) -> list[Fit]:
    """Likely orderings of an essence (n, d), likeliest first, distinct: those after the first open or close otherwise.

    Each ordering's template is its own arc. ``fixed``: position -> item; negative positions count from the end.
    """
    check_count(alternatives, "alternatives")
    n, solved = energy.n, solvable(energy)
    found = [likeliest(solved, Constraints(n, fixed=fixed))]
    for _, ends in product(range(n), ((0,), (-1,), (0, -1))) if n > 1 else ():
        if len(found) >= alternatives:
            break
        forbidden = [(int(one.ordering[end]), end) for end in ends for one in found]  # who opens, closes, or both
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


def _as_fit(essence: Floats, ordering: Ints, score: float | Floats, *, exact: bool = False) -> Fit:
    """An ordering laid on its own arc; a single item has none, and lies on a flat template."""
    flat = Template([0, 1], np.zeros((2, *essence.shape[1:])))
    template = from_arc(essence[ordering], name="own arc") if len(essence) > 1 else flat
    return replace(lay(essence, ordering, template), exact=exact, score=float(score))


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
    exact: Bools  # (number,): whether no other ordering does better
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
    for some, energy in _ahead(energies):
        places = energy.at(energy.n)
        flow = np.zeros_like(places) if energy.flow is None else energy.flow
        if rule == "agreeing" and energy.n <= MOST_EXPECTED:
            agreeing = agreement(posterior(energy))
            places, flow = agreeing.at(energy.n), np.asarray(agreeing.flow)
        found = arrange_many(-places, None if rule == "arcs" else -flow, seconds=seconds)
        orderings[some.rows], gap[some.numbers], exact[some.numbers] = found.orderings, found.gap, found.exact
        scores[some.numbers] = energy.score(found.orderings)
    return OrderedMany(orderings, offsets, scores, exact, gap)


def _ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items, each made by another thread while the one before it is used."""
    each, over = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, each, over)
        while (found := coming.result()) is not over:
            coming = pool.submit(next, each, over)
            yield found  # type: ignore[misc]  # over is none of them


def search_orderings(
    score: Score, essence: Floats, *, alternatives: int = 4, fixed: Mapping[int, int] | None = None
) -> list[Fit]:
    """Orderings of an essence (n, d) that no swap and no move of one item makes likelier; likeliest first, distinct.

    Starts from the items sorted up and down by their first dimension and from random orderings. When the starts
    end in fewer different orderings than asked for, the best neighbours of the ends are added. ``score`` goes from
    sequences (m, n, d) to (m,).

    >>> rise = lambda sequences: sequences[:, :, 0] @ np.array([0.0, 1.0, 2.0])
    >>> search_orderings(rise, np.array([[3.0], [1.0], [2.0]]), alternatives=1)[0].ordering
    array([1, 2, 0])
    """
    check_count(alternatives, "alternatives")
    rng = np.random.default_rng(0)
    pinned = as_fixed(fixed or {}, len(essence))
    ends: list[tuple[float, Ints]] = []
    near: list[tuple[float, Ints]] = []
    free, up = np.setdiff1d(np.arange(len(essence)), list(pinned)), np.argsort(essence[:, 0], kind="stable")
    for order in [up, up[::-1], *(rng.permutation(len(essence)) for _ in range(_RANDOM_STARTS))]:
        start = np.empty(len(order), dtype=np.intp)  # what is pinned in its position, the others around it
        start[list(pinned)] = list(pinned.values())
        start[free] = order[~np.isin(order, list(pinned.values()))]
        end, around = _climb(score, essence, start, free, rng)
        ends.append(end)
        near.extend(around)
    found: dict[bytes, tuple[float, Ints]] = {}
    for candidates in (ends, near):
        for value, ordering in sorted(candidates, key=lambda pair: -pair[0]):
            if len(found) < alternatives:
                found.setdefault(essence[ordering].tobytes(), (value, ordering))
    return [_as_fit(essence, pair[1], pair[0]) for pair in sorted(found.values(), key=lambda pair: -pair[0])]


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


# Why an item stands where it does: what each thing known of it, and each neighbour, adds.

_MOST_WHOLE = 200  # items that are looked at beside all others; those of more are looked at beside some
_ROWS, _BESIDE = 50, 150  # positions that are looked at together, and among how many, so that all takes O(n)


@dataclass(frozen=True, eq=False)
class Contributions:
    """What speaks for each item's position (row: item), in natural logarithms of likelihood; above 0 speaks for it."""

    groups: tuple[str, ...]  # g names: the features that are known, then "title"
    position: Floats  # (n,): how much better the item likes its position than positions on average
    by_group: Floats  # (n, g): how much of that is lost when the group is not known of the item
    after: Floats  # (n,): how much better it follows the one before it than others on average; 0 where there is none
    before: Floats  # (n,): the same of being followed by the one after it
    after_by_group: Floats  # (n, g): how much of ``after`` is lost when the group is not known of the item
    # (n,): how much of ``position`` is lost when no feature is known of the item: features that say the same stand
    # in for each other, so that leaving out one may lose little; None where it was not looked at
    measured: Floats | None = None


def explain(
    model: "Model",
    ordering: ArrayLike,
    collection: Collection,
    evidence: Evidence | None = None,
    rows: range | None = None,
) -> Contributions:
    """What each thing known of an item adds to its position in an ordering (n,), by a model of whole collections.

    ``rows``: the positions at which that is looked at, and maybe some beside them, by default all; nothing speaks for
    the others. Of more than 200 items by a set model, an item is looked at beside 149 others: its neighbours, and some
    from all over the ordering, so that time and memory go by what is looked at.
    """
    order, encoder = as_ordering(ordering, len(collection)), model.encoder
    if isinstance(encoder, SetEncoder):
        return _leave_out(model, encoder, order, collection, range(len(order)) if rows is None else rows)
    if isinstance(encoder, MeasuresEncoder):
        return _add_up(model, encoder, order, collection, evidence or Evidence())
    raise ModelError("this model sees each item by itself: its arc says why an item stands where it does")


def _leave_out(
    model: "Model", encoder: SetEncoder, order: Ints, collection: Collection, looked_at: range
) -> Contributions:
    """What is lost when each thing is not known of an item; all else it reads, and sees of the others, is the same."""
    n = len(order)
    features, titled = encoder.known(Collections.of([collection], model.feature_names))
    groups = (*features, *[TITLE] * titled)
    whole, lost = np.zeros((3, n)), np.zeros((2, len(groups) + 1, n))
    for rows, seen in _look_at(n, looked_at):
        items = np.sort(order[seen])
        within, mine = (np.searchsorted(items, order[some]) for some in (seen, rows))
        _, inputs = next(encoder.inputs(Collections.of([collection.only(items)], model.feature_names)))
        less = encoder.leave_out(inputs, [*([name] for name in groups), features])
        stands = [_stand(model.energy_of(x)[0], within, seen, n)[:, mine] for x in less]
        whole[:, order[rows]] = stands[0]
        lost[..., order[rows]] = np.stack([stands[0] - left for left in stands[1:]], axis=1)[:2]
    return Contributions(groups, whole[0], lost[0, :-1].T, whole[1], whole[2], lost[1, :-1].T, lost[0, -1])


def _look_at(n: int, wanted: range) -> Iterator[tuple[Ints, Ints]]:
    """Positions to look at, those wanted of n and few beside, some at a time, and among which, rising."""
    if n <= _MOST_WHOLE:
        yield np.arange(n), np.arange(n)
        return
    for start in range(wanted.start - wanted.start % _ROWS, min(wanted.stop, n), _ROWS):
        near = np.arange(max(start - 1, 0), min(start + _ROWS + 1, n))
        others = np.setdiff1d(np.arange(n), near)
        far = others[np.linspace(0, len(others) - 1, _BESIDE - len(near)).round().astype(np.intp)]
        yield np.arange(start, min(start + _ROWS, n)), np.sort(np.concatenate([near, far]))


def _stand(energy: Energy, order: Ints, places: Ints, n: int) -> Floats:
    """How m items, in order, like their places of n, follow the one before, and are followed, less means: (3, m)."""
    m, others = len(order), max(len(order) - 1, 1)
    stands, links = energy.at(n), np.asarray(energy.flow)
    found = np.zeros((3, m))
    found[0, order] = stands[order, places] - stands.mean(axis=1)[order]
    beside = np.flatnonzero(np.diff(places) == 1)
    first, second = order[beside], order[beside + 1]
    found[1, second] = links[first, second] - links.sum(axis=0)[second] / others
    found[2, first] = links[first, second] - links.sum(axis=1)[first] / others
    return found


def _add_up(
    model: "Model", encoder: MeasuresEncoder, order: Ints, collection: Collection, evidence: Evidence
) -> Contributions:
    """What each feature adds to an item's position, and each table of pairs to what it follows."""
    n, groups = len(order), (*encoder.feature_names, *LEANINGS)
    near = distance_basis(2)[:, 1]  # what counts at distance 1
    names = [name for name in encoder.pair_names if name in evidence.pairs]
    weights = dict(zip(encoder.pair_names, (model.tensors["reach.weights"] @ near).tolist(), strict=True))
    place = np.argsort(order)
    basis = position_basis(n).astype(np.float64)
    liked = model.tensors["arcs.template"].T @ (basis - basis.mean(axis=1, keepdims=True))  # (f + 4, n): of a deviation
    by_feature = encoder.measure(collection, evidence) * liked[:, place].T
    links = [weights[name] * evidence.pairs[name][order[:-1], order[1:]] for name in names]
    after, before = np.zeros((2, n, len(names)))
    if names:
        after[order[1:]] = before[order[:-1]] = np.stack(links, axis=1)
    return Contributions(
        (*groups, *names),
        by_feature.sum(axis=1),
        np.concatenate([by_feature, np.zeros((n, len(names)))], axis=1),
        after.sum(axis=1),
        before.sum(axis=1),
        np.concatenate([np.zeros((n, len(groups))), after], axis=1),
    )
