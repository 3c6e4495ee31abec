"""The energy: what a model says of every ordering of a collection, as tables.

An ordering o scores ``sum_j A[o_j, j] + sum_j<k sum_b w_b(k - j) R_b[o_j, o_k]``: A says where an item stands (arcs), R
what two items are to each other, by a function of how far apart they stand. A table that counts at distance 1 alone is
flow; one that counts further is reach. A scorer that reads whole sequences adds a number per ordering. Higher is
likelier. Position and distance enter by fixed functions, on which the weights of models stand.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Bools, Floats, Ints
from fabula.errors import InputError

FUNCTIONS = 12  # of the position
KERNELS = 7  # functions of the distance
NEAR, ALWAYS = 0, KERNELS - 1  # the function that is 1 at distance 1 alone, and the one that is 1 at every distance
NEVER = -1e5  # score of what must not be
MOST_ORDERED = 10_000  # items that a model orders: its tables then take about 1 GB
MOST_WHOLE = 1000  # items that are read, held and ordered as one: of more, tables are in single precision
_ALL = slice(None)


def check_count(n: int) -> None:
    """Refuse more items than a model orders."""
    if n > MOST_ORDERED:
        told = f"a model orders {MOST_ORDERED:,} items at most, and here are {n:,}"
        raise InputError(f"{told}: take some of them, or order by a column (--by)")


def table_type(n: int) -> Any:
    """The type of a table of n items by n: one of very many takes half the memory."""
    return np.float64 if n <= MOST_WHOLE else np.float32


@dataclass(frozen=True, eq=False)
class Energy:
    """What a model says of the orderings of n items; of many collections of one length with a leading axis.

    >>> energy = Energy(np.eye(2), np.array([[0, 0.5], [0, 0]]))
    >>> energy.score([0, 1]), energy.score([[0, 1], [1, 0]]).tolist()
    (2.5, [2.5, 0.0])
    """

    positions: Floats | None = None  # (..., n, n): how much each item likes each position; None where all are alike
    # (..., n, n): how well each item (row) is followed by each other (column); None also where ``reach`` holds it
    flow: Floats | None = None
    # (..., 7, n, n): what each two items add, the first (row) standing before the second, by the functions of their
    # distance, the first of which is flow
    reach: Floats | None = field(default=None, repr=False)
    # number of positions m, items -> how much these like each of so many, (..., items, m), where some items are left
    # out, and of very many items, whose positions are not held; by default the first m positions
    of_count: Callable[[int, slice], Floats] | None = field(default=None, repr=False)
    # orderings (..., r, m) -> a number each, (..., r), by a scorer that reads whole sequences
    whole: Callable[[Ints], Floats] | None = field(default=None, repr=False)
    shape: tuple[int, ...] = ()  # (..., n), where no table says it

    def __post_init__(self) -> None:
        tables = ((self.positions, 2), (self.flow, 2), (self.reach, 3))
        known = next(((*t.shape[:-axes], t.shape[-2]) for t, axes in tables if t is not None), self.shape)
        if not known:
            raise InputError("an energy needs a table, or the number of items")
        object.__setattr__(self, "shape", tuple(map(int, known)))

    @property
    def n(self) -> int:
        """How many items there are."""
        return self.shape[-1]

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading axes: () of one collection, (B,) of B."""
        return self.shape[:-1]

    @property
    def placed(self) -> bool:
        """Whether positions have a say."""
        return self.positions is not None or self.of_count is not None

    @property
    def solvable(self) -> bool:
        """Whether positions and neighbours are all it goes by, so that its best ordering can be solved for."""
        return self.reach is None and self.whole is None

    @cached_property
    def apart(self) -> Floats:
        """What each item adds standing d positions before each other: shape (n, n, n), d first; 0 at d = 0."""
        return np.asarray(np.tensordot(distance_basis(self.n).T, self._all_pairs(), axes=1))

    def _all_pairs(self) -> Floats:
        """A copy of reach with flow in it: shape (7, n, n)."""
        reach = np.zeros((KERNELS, self.n, self.n)) if self.reach is None else self.reach.copy()
        if self.flow is not None:
            reach[NEAR] += self.flow
        return reach

    def at(self, count: int, items: slice = _ALL) -> Floats:
        """How much items like each of ``count`` positions, (..., items, count), where some items are left out."""
        if self.positions is not None and (self.of_count is None or count == self.positions.shape[-1]):
            return self.positions[..., items, :count]
        if self.of_count is not None:
            return self.of_count(count, items)
        return np.zeros((*self.lead, self.n, count))[..., items, :]

    def score(self, orderings: ArrayLike, sides: Sequence[int] = ()) -> float | Floats:
        """How likely orderings (..., m) or (..., r, m) of all or some items are beside others: a float, or (..., r).

        ``sides`` says how many items each side has: positions and reach count through all of them, flow within each.
        """
        given = np.asarray(orderings, dtype=np.intp)
        lead, m = self.lead, given.shape[-1]
        rows = given.reshape(*lead, -1, m)
        which = tuple(np.expand_dims(axis, (-1, -2)) for axis in np.indices(lead, sparse=True)) if lead else ()
        total = np.zeros(rows.shape[:-1])
        if self.placed and self.n <= MOST_WHOLE:
            total = self.at(m)[*which, rows, np.arange(m)].sum(axis=-1)
        elif self.placed:
            for some in split_items(self.n):
                here = (rows >= some.start) & (rows < some.stop)
                liked = self.at(m, some)[*which, np.where(here, rows - some.start, 0), np.arange(m)]
                total = total + np.where(here, liked, 0.0).sum(axis=-1)
        if self.reach is not None:
            total = total + self._by_pairs(rows)
        elif self.flow is not None:
            for part in np.split(rows, np.cumsum(sides or [m])[:-1], axis=-1):
                total = total + self.flow[*which, part[..., :-1], part[..., 1:]].sum(axis=-1, dtype=np.float64)
        if self.whole is not None:
            total = total + self.whole(rows)
        if given.ndim > len(lead) + 1:
            return np.asarray(total)
        return float(total[0]) if not lead else np.asarray(total[..., 0])

    def _by_pairs(self, rows: Ints) -> Floats:
        """What all pairs of each ordering (r, m) of one collection add: shape (r,)."""
        if self.lead:
            raise InputError("reach is scored for one collection at a time")
        m = rows.shape[1]
        if m < self.n:
            return np.array([self.take(row)._by_pairs(np.arange(m)[np.newaxis])[0] for row in rows])
        first, second = np.triu_indices(m, 1)
        here = ((second - first) * m + rows[:, first]) * m + rows[:, second]
        return np.asarray(self.apart.reshape(-1)[here].sum(axis=1))

    def take(self, items: Ints) -> "Energy":
        """The energy of some items of one collection, in the order they are named: ``items[k]`` becomes item k."""
        m = len(items)
        positions = self.at(m)[items] if self.placed else None
        flow = None if self.flow is None else self.flow[items][:, items]
        reach = None if self.reach is None else self.reach[:, items][:, :, items]
        return Energy(positions, flow, reach, shape=(m,))

    def limit(self, allowed: Bools, before: Ints) -> "Energy":
        """The same of one collection, where items may stand at some positions (n, n) alone, and pairs keep an order.

        Of each pair (p, 2) in ``before`` the first stands before the second.
        """
        positions = np.where(allowed, self.at(self.n), NEVER)
        reach = self._all_pairs()
        reach[ALWAYS, before[:, 1], before[:, 0]] += NEVER
        return Energy(positions, None, reach)

    def __getitem__(self, number: int) -> "Energy":
        """The energy of one of many collections."""
        positions, flow, reach = (None if t is None else t[number] for t in (self.positions, self.flow, self.reach))
        of_count, whole = self.of_count, self.whole
        return Energy(
            positions,
            flow,
            reach,
            None if of_count is None else lambda m, items: of_count(m, items)[number],
            None if whole is None else lambda rows: whole(np.broadcast_to(rows, (*self.lead, *rows.shape)))[number],
            self.shape[1:],
        )

    def __add__(self, other: "Energy") -> "Energy":
        """What both say together."""
        positions = _add(self.positions, other.positions)
        flow, reach = _add(self.flow, other.flow), _add(self.reach, other.reach)
        if flow is not None and reach is not None:
            reach = reach.copy()
            reach[..., NEAR, :, :] += flow
            flow = None
        counted = self.of_count is not None or other.of_count is not None
        read = [one.whole for one in (self, other) if one.whole is not None]
        return Energy(
            positions,
            flow,
            reach,
            partial(self._add_up, other) if counted else None,
            (lambda rows: np.sum([one(rows) for one in read], axis=0)) if read else None,
            self.shape,
        )

    def _add_up(self, other: "Energy", count: int, items: slice) -> Floats:
        """What items like of so many positions by both; some items at a time, so that of very many it is made once."""
        begin, end, _ = items.indices(self.n)
        table = np.empty((*self.lead, end - begin, count), dtype=table_type(self.n))
        for some in split_items(self.n, items):
            table[..., some.start - begin : some.stop - begin, :] = self.at(count, some) + other.at(count, some)
        return table


def split_items(n: int, items: slice = _ALL) -> Iterator[slice]:
    """Some of n items as they are; very many in parts, whose tables are small."""
    begin, end, _ = items.indices(n)
    for start in range(begin, end, MOST_WHOLE):
        yield slice(start, min(start + MOST_WHOLE, end))


def _add(mine: Floats | None, theirs: Floats | None) -> Floats | None:
    if mine is None or theirs is None:
        return theirs if mine is None else mine
    return np.asarray(mine + theirs)


@lru_cache(maxsize=64)
def position_basis(count: int) -> NDArray[np.float32]:
    """Twelve fixed functions of the position, at ``count`` positions: shape (12, count); not to be written to.

    They are 1, u, u^2, u^3 and two cosines of the place u in [0, 1]; what fades from either end within about two
    positions; and indicators of the first, second, last but one and last position.

    >>> position_basis(3)[1]
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if count < 1:
        raise InputError(f"there must be at least 1 position; got {count}")
    j = np.arange(count, dtype=np.float64)
    u, left = j / max(count - 1, 1), count - 1 - j
    smooth = [np.ones_like(u), u, u**2, u**3, np.cos(np.pi * u), np.cos(2 * np.pi * u)]
    ends = [np.exp(-j / 1.5), np.exp(-left / 1.5)]
    near = [np.clip(1 - np.abs(distance - at), 0, 1) for distance in (j, left) for at in (0, 1)]
    basis = np.stack([*smooth, *ends, *near]).astype(np.float32)
    basis.setflags(write=False)
    return basis


def distance_basis(n: int) -> Floats:
    """Seven fixed functions of how far apart two items stand, at distances 0 to n - 1 of n items: shape (7, n).

    They are indicators of distance 1, 2 and 3; what falls by e within 3 and within 8 positions; the distance as a
    part of the whole; and 1. All are zero at distance 0.

    >>> distance_basis(3)[[0, 6]].tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    d = np.arange(n, dtype=np.float64)
    falling = [np.exp(-(d - 1) / 3), np.exp(-(d - 1) / 8)]
    basis = np.stack([d == 1, d == 2, d == 3, *falling, d / max(n, 1), np.ones(n)]).astype(np.float64)
    basis[:, :1] = 0.0
    return basis


def sum_pairs(pairs: NDArray[np.floating], orderings: np.ndarray) -> Floats:
    """Tables (k, n, n) summed over all pairs of orderings (r, n), by the functions of their distance: (r, k, 7)."""
    k, n = len(pairs), orderings.shape[1]
    first, second = np.triu_indices(n, 1)
    flat = pairs.reshape(k, n * n)
    basis = distance_basis(n)[:, second - first]  # (7, pairs)
    found = [flat[:, order[first] * n + order[second]] @ basis.T for order in orderings]
    return np.stack(found) if found else np.zeros((0, k, KERNELS))


# Matrix products that stay on one thread where they are small.

_PIECE = 1 << 18  # multiplications up to which OpenBLAS takes one thread
_STEP = 16  # rows or columns that a piece has a multiple of
_MOST = 64  # pieces; a product beyond is worth all cores

Matrix = NDArray[np.floating[Any]]


def multiply(rows: Matrix, matrix: Matrix, out: Matrix | None = None) -> Matrix:
    """The product (m, k) by (k, n) -> (m, n), or of each of B such, (B, m, k) by (B, k, n) -> (B, m, n)."""
    m, k, n = *rows.shape[-2:], matrix.shape[-1]
    work = m * k * n
    if work <= _PIECE or work > _MOST * _PIECE or k * n > _PIECE:
        return np.asarray(np.matmul(rows, matrix, out=out))
    found = np.empty((*rows.shape[:-1], n), dtype=np.result_type(rows, matrix)) if out is None else out
    step = _PIECE // (k * n) // _STEP * _STEP or min(m, _STEP)  # rows of a piece: whole ones, or else a few
    width = n if step * k * n <= _PIECE else max(1, _PIECE // (step * k) // _STEP) * _STEP  # and its columns
    each = [(rows, matrix, found)] if rows.ndim == 2 else zip(rows, matrix, found, strict=True)
    for left, right, into in each:
        for at, by in product(range(0, m, step), range(0, n, width)):
            np.matmul(left[at : at + step], right[:, by : by + width], out=into[at : at + step, by : by + width])
    return found
