"""The review: how an order does as it stands, what is weak in it, and the few moves that would help most.

Everything is measured by the energy of the model that proposes orders, at the order given and around it: among random
orders, at every join, and for every move of one item and every swap of two. What was never learned is not reviewed.
Of very many items stretches are looked at, each by itself and by its joins alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.energy import Energy
from fabula.core.moves import FEW, Move, best_moves, move_gains
from fabula.core.solver.constraints import Constraints
from fabula.errors import InputError
from fabula.models.order import MOST_EXPECTED
from fabula.models.sureness import calibrate, calibration
from fabula.models.titles import find_series
from fabula.session.explain import describe_threads, traits_by_feature
from fabula.session.propose import judge
from fabula.session.request import check_indices

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered
    from fabula.session.session import Session

Progress = Callable[[int, int, str], None]  # how many of how many, and the name of the last

MOST_MOVES = 5
MOST_ODD = 5
_ENDS = 3  # candidates for the opener and for the close
_MOST_WHOLE = 300  # items beyond which stretches are looked at, each by itself
_STRETCH = 150
_DRAWS = 2000  # random orders that the order is held against
_CELLS = 1 << 20  # of orders scored at a time
_LEAST_GAIN = 0.7  # natural logarithms of likelihood: below twice as likely no move is worth a word
# Of an order that stands better than so many of 100 random ones, most moves that are not as sure lead away from it.
_GOOD, _LEAST_SURE = 75.0, 0.1
_FEWEST = 4  # items
_LEAST = 1e-9  # less is rounding
_MOST_JOINS = 40  # that are told of very many, half of them weak
_WINDOW = 120  # items whose steps are compared at a time
_FAR, _NEAR = 0.75, 0.25  # shares of the steps between all pairs, from which a step is worth a word
_UNIT_WORDS = ("deviations", "octaves", "of 1", "% apart")  # units that nobody counts in
# An item is taken for one from elsewhere by how far it lies from all others: log odds, and how fast they rise with the
# logarithm of its distance beside the median; fitted on albums and series of pictures into which one was put.
_STRANGE, _STRANGER = -2.5, 3.8
_ALIKE = ("same ", "nearly the same ")  # how a medium begins to tell what two have in common
_FEWEST_MEASURES = 3  # by which an item can be unlike others
_FINDS = 25  # of 100 orders that a fault is to be named in, beyond chance, to be more than an idea
_SAY_ODD = 0.12  # how likely something is wrong with an item, to be told


@dataclass(frozen=True)
class OddItem:
    """An item that stands oddly; positions count from 1."""

    id: str
    title: str
    position: int
    better: int  # where it would stand better; where it stands, if nowhere
    sure: float  # how likely it is the one, where either nothing is wrong or one item is
    why: str


@dataclass(frozen=True)
class Join:
    """Where two items meet: the one at position ``after``, counted from 1, and the next."""

    after: int
    titles: tuple[str, str]
    strength: float  # how well the second follows the first, beside what else could; 0 is average
    why: str


@dataclass(frozen=True)
class ProposedMove:
    """A move that helps; positions count from 1, in the order after the moves before it."""

    id: str
    title: str
    start: int  # "from" in JSON
    to: int
    gain: float  # natural logarithms of likelihood: e to the power of it is how many times as likely the order becomes
    sure: float  # how likely it is what went wrong, where either nothing did or one move or swap
    swap: str | None  # the id of what it changes places with; None where it moves alone
    say: str  # as people say it
    percentile: float  # of the order with it and those before it


@dataclass(frozen=True, eq=False)
class Review:
    """What is good and what is weak in an order as it stands: what :func:`fabula.review` gives.

    Ids are those of the items; positions count from 1, as in what ``fabula review --json`` prints.
    """

    session: Session
    percentile: float | None = None  # 0 to 100: how many of all orders are less likely; None where nothing is known
    odd: tuple[OddItem, ...] = ()  # worst first, at most five
    joins: tuple[Join, ...] = ()  # weakest first
    moves: tuple[ProposedMove, ...] = ()  # best first, each after those before it, at most five
    openers: tuple[str, ...] = ()  # ids, likeliest first, at most three; empty where nothing is known of ends
    closers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    chances: dict[str, tuple[float, float]] = field(default_factory=dict)  # id -> that it opens, and that it closes
    sides: tuple[int, ...] = ()  # how many items each side has; empty where there is one
    improved: float | None = None  # the percentile with all moves
    steps: tuple[Move, ...] = ()  # the moves as they are applied

    @property
    def items(self) -> tuple[Item, ...]:
        """The items in the order reviewed."""
        return self.session.collection.items

    @property
    def clear_odd(self) -> tuple[OddItem, ...]:
        """What stands oddly by more than a guess, at most three."""
        return tuple(one for one in self.odd[:3] if one.sure >= _SAY_ODD)

    @property
    def weakest(self) -> tuple[Join, ...]:
        """At most three joins that are weaker than average, weakest first."""
        return tuple(one for one in self.joins[:3] if one.strength < 0)

    @property
    def strongest(self) -> tuple[Join, ...]:
        """At most three joins that are stronger than average, strongest first."""
        return tuple(one for one in self.joins[::-1][:3] if one.strength > 0)

    @property
    def lengths(self) -> list[float | None]:
        """The length of each side, or of the whole; None where it is not known."""
        return self.as_it_is.lengths

    @property
    def as_it_is(self) -> Ordered:
        """The order reviewed."""
        return self.apply(0)

    def apply(self, count: int = MOST_MOVES) -> Ordered:
        """The order after the first ``count`` moves, all of them by default, to be looked at or saved."""
        if count < 0:
            raise InputError(f"must not be negative; got {count}", field="moves")
        order = np.arange(len(self.items))
        for move in self.steps[:count]:
            order = move.apply(order)
        sides = max(1, len(self.sides))
        return self.session.order(ordering=order.tolist(), sides=sides, side_sizes=self.sides, alternatives=1)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON can hold it: what ``fabula review --json`` prints, by the keys of `docs/review.md`."""
        return {
            "title": self.session.title,
            "percentile": self.percentile,
            "odd": [dict(vars(one)) for one in self.odd],
            "joins": [{**vars(one), "titles": list(one.titles)} for one in self.joins],
            "moves": [{"from" if key == "start" else key: v for key, v in vars(one).items()} for one in self.moves],
            "openers": list(self.openers),
            "closers": list(self.closers),
            "chances": {one: list(both) for one, both in self.chances.items()},
            "sides": list(self.sides),
            "lengths": self.lengths,
            "unit": self.session.medium.unit.name,
            "improved": self.improved,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        share = "nothing is known" if self.percentile is None else f"better than {self.percentile:.0f} of 100"
        return f"<Review {self.session.title}: {share}; {len(self.odd)} odd, {len(self.moves)} moves>"


def review_session(
    session: Session,
    ordering: Sequence[int] | None = None,
    *,
    sides: int = 1,
    side_sizes: Sequence[int] = (),
    progress: Progress | None = None,
) -> Review:
    """Review the order that the items came in, or another: what is good, what is weak, and the moves that help.

    ``sides`` cuts it evenly where nothing else says where sides end; ``side_sizes`` are items on each; ``progress`` is
    told of each stretch of very many.

    >>> from fabula.session.open import demo_folder, open
    >>> review = open(demo_folder()).review()
    >>> review.percentile is not None, len(review.joins), len(review.moves) <= 5
    (True, 8, True)
    """
    if ordering is not None:
        session = _reorder(session, ordering)
    n, sizes = len(session.collection), tuple(side_sizes)
    if not sizes and ordering is None:  # as the source says, or cut where the lengths are most even
        sizes = session.source.sides
        if sides > 1:
            sizes = session.order(ordering=range(n), sides=sides, alternatives=1).sides
    if sizes and (min(sizes) < 1 or sum(sizes) != n):
        raise InputError(f"must be numbers above 0 that add up to {n}", field="side_sizes")
    parts = _stretches(session, sizes, progress)
    silent = _silent(session, parts)
    notes = (*session.notes, *_name_order(session))
    if silent:
        return Review(session, notes=(silent, *notes), sides=sizes)
    chances, rank = _chances(session), _ranking(parts)
    percentile = rank(np.arange(n))
    titles = _read_titles(session)
    found = _find_moves(parts, _LEAST_SURE if percentile >= _GOOD else 0.0, titles)
    moves = _tell_moves(session, found, rank)
    openers, closers = ([i for i, _ in ends] for ends in likely_ends(session, chances, titles))
    items = session.collection.items
    known: dict[str, tuple[float, float]] = {}  # of these, and of what opens and closes now
    if chances is not None:
        for i in sorted({0, n - 1, *openers, *closers}):
            known[items[i].id] = round(float(chances[0][i]), 4), round(float(chances[1][i]), 4)
    odd = _odd(session, parts, titles)
    notes = (*notes, *_admit(session, parts, told=bool(moves) or any(one.sure >= _SAY_ODD for one in odd)))
    first, last = (tuple(items[i].id for i in ends) for ends in (openers, closers))
    joins, improved = _joins(session, parts, sizes), moves[-1].percentile if moves else None
    return Review(session, percentile, odd, joins, moves, first, last, notes, known, sizes, improved, found)


# What is looked at: all of it, or stretches, each with its energy.


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Items from ``start`` on, in the order given, and what the model says of their orderings."""

    start: int
    energy: Energy
    sides: tuple[int, ...] = ()

    @property
    def order(self) -> Ints:
        """The order given."""
        return np.arange(self.energy.n)


def _reorder(session: Session, ordering: Sequence[int]) -> Session:
    """The session as if its items had come in this order; what a model said of them is not asked for again."""
    rows, n, judged = np.asarray(ordering, dtype=np.intp).reshape(-1), len(session.collection), session.likelihood
    check_indices(rows.tolist(), n, "ordering")
    if judged is not None:
        other = judge(judged.model, judged.collection.only(rows), judged.medium, judged.judged.only(rows))
        if n <= _MOST_WHOLE and judged.energy.whole is None:
            other.__dict__["energy"] = judged.energy.take(rows)
        judged = other
    stored = tuple(session.stored[row] for row in rows) if session.stored else ()
    source = session.source.only(rows.tolist())
    return replace(session, source=source, essence=session.essence[rows], likelihood=judged, stored=stored)


def _stretches(session: Session, sides: tuple[int, ...], progress: Progress | None) -> list[_Stretch]:
    """The energy of the order, or of stretches of it; empty where no model says anything."""
    n, judged, model = len(session.collection), session.likelihood, session.model
    if judged is None:
        if model is None or not model.scorers or n > 2 * FEW:
            return []
        essence = session.essence.reshape(n, -1)
        asked = Energy(whole=lambda rows: np.asarray(model.score(essence[rows.reshape(-1, n)])), shape=(n,))
        return [_Stretch(0, asked)]
    if n <= _MOST_WHOLE:
        return [_Stretch(0, judged.energy, sides if judged.energy.reach is None else ())]
    found: list[_Stretch] = []
    for rows in np.array_split(np.arange(n), -(-n // _STRETCH)):
        if progress is not None:
            progress(int(rows[0]), n, judged.collection.items[int(rows[0])].label)
        one = judge(judged.model, judged.collection.only(rows), judged.medium, judged.judged.only(rows))
        found.append(_Stretch(int(rows[0]), Energy(flow=_near_table(one.energy))))
    return found


_GUESS = "a guess: "


def _silent(session: Session, parts: Sequence[_Stretch]) -> str:
    """Why nothing is said, in a line; "" where something can be."""
    n, words = len(session.collection), session.medium.words
    if n < _FEWEST:
        return f"nothing can be said of so few: {n} {words.item if n == 1 else words.items}"
    if not parts:
        by = session.medium.shown(session.column) if session.column else "this"
        return f"nothing is known of how people order by {by}: a review needs a model that learned from their orders"
    if all(np.ptp(_score_random(part, 60)) < 1e-9 for part in parts):
        return f"nothing can be said: the {words.items} are all alike to the model"
    judged = session.likelihood
    if judged is not None and judged.unfamiliar.startswith(_GUESS):
        return f"nothing can be said: {judged.unfamiliar.removeprefix(_GUESS)}"
    return ""


def _admit(session: Session, parts: Sequence[_Stretch], *, told: bool) -> list[str]:
    """How little is known: of very many, and where one item moved far is hardly named more often than by chance."""
    judged, words = session.likelihood, session.medium.words
    about = f"more than {_MOST_WHOLE} {words.items}: reviewed in stretches of {_STRETCH}, by their joins alone"
    notes = [about] if len(parts) > 1 else []
    if judged is not None and judged.taken:
        return [*notes, judged.unfamiliar]
    found, chance = ((calibration(judged.model) if judged is not None else None) or {}).get("finds", (100, 0))
    if not told or found - chance >= _FINDS:
        return notes
    named = f"a {words.item} moved elsewhere is named in {found} of 100 orders, by chance in {chance}"
    return [*notes, f"take what stands oddly, and the moves, as ideas: {named}"]


def _name_order(session: Session) -> list[str]:
    """What order was reviewed, where it may not be one that somebody chose."""
    source = session.source
    if source.by_name and not all(re.search(r"\d", Path(item.path).stem) for item in source.collection.items):
        return ["the files have no numbers: this is a review of the order of their names"]
    return []


# Among random orders.


def _ranking(parts: Sequence[_Stretch]) -> Callable[[Ints], float]:
    """From an order to how many per cent of all are less likely, ties half; of orders drawn beyond few items."""
    draws = (_score_random(part, _DRAWS if part.energy.n <= _MOST_WHOLE else _DRAWS // 4) for part in parts)
    others = np.sum(list(draws), axis=0)

    def rank(order: Ints) -> float:
        own = [order[part.start : part.start + part.energy.n] - part.start for part in parts]
        here = sum(float(part.energy.score(one, part.sides)) for part, one in zip(parts, own, strict=True))
        near = np.abs(others - here) < 1e-9
        return round(float(100 * ((others < here) & ~near).mean() + 50 * near.mean()), 2)

    return rank


def _score_random(part: _Stretch, draws: int) -> Floats:
    """Scores of all orders of few items, of some beyond: shape (draws,)."""
    n, rng = part.energy.n, np.random.default_rng(0)
    if n <= FEW - 1 and draws == _DRAWS:
        rows = np.array(list(permutations(range(n))), dtype=np.intp)
        return np.asarray(part.energy.score(rows, part.sides))
    wide = n * n if part.energy.reach is not None else n
    many = max(1, _CELLS // wide)
    found = [
        np.asarray(part.energy.score(np.argsort(rng.random((min(many, draws - at), n)), axis=1), part.sides))
        for at in range(0, draws, many)
    ]
    return np.concatenate(found)


# What stands oddly, and the moves that help. What titles say of the order, and the order has, no move undoes.


def _read_titles(session: Session) -> Constraints:
    """What titles say of the order, as far as the order given has it, and where few enough read them."""
    n = len(session.collection)
    if n > _MOST_WHOLE:
        return Constraints(n)
    front, back = session.medium.matter(session.collection)  # such as a title page and an index
    wanted = [*enumerate(front), *enumerate(back, start=n - len(back))]
    pairs = [(a, b) for one in find_series(session.collection.texts("title")) for a, b in pairwise(one.items) if a < b]
    return Constraints(n, fixed={at: i for at, i in wanted if at == i}, before=pairs)


def _odd(session: Session, parts: Sequence[_Stretch], titles: Constraints) -> tuple[OddItem, ...]:
    """The items that are likeliest to be wrong where they stand, or from elsewhere, worst first."""
    n, known = len(session.collection), session.collection.features
    numbers = [k for k, name in enumerate(session.collection.feature_names) if name not in session.medium.codes]
    strange = _STRANGE + _STRANGER * outlying(known[:, numbers] if known.ndim == 2 else np.zeros((n, 0)))
    placed = np.concatenate([_surprise(part) for part in parts])
    weight = np.exp(np.logaddexp(placed, strange))
    sure = weight / (n + weight.sum())
    traits = traits_by_feature(session.collection, session.features, session.medium)
    found = []
    for at in np.argsort(-weight, kind="stable")[:MOST_ODD].tolist():
        part = next(part for part in parts[::-1] if part.start <= at)
        gains, better = move_gains(part.energy, part.order, np.array([at - part.start]), part.sides)[0], at
        for to in np.argsort(-gains, kind="stable")[:_ENDS].tolist():  # the best move that titles permit, if any helps
            if gains[to] > _LEAST and not titles.broken(Move(at - part.start, to, 0.0).apply(part.order)):
                better = part.start + to
                break
        item, alien = session.collection.items[at], strange[at] > max(placed[at], 0.0)
        like = " and ".join(list(traits[at].values())[:2])
        words = f"unlike the others{f': {like}' if like else ''}" if alien else ""
        stands = _place(session.collection, at, better)
        why = "; ".join(filter(None, (words, stands))) or "fits nowhere much better"
        found.append(OddItem(item.id, item.label, at + 1, better + 1, round(float(sure[at]), 4), why))
    return tuple(found)


def _surprise(part: _Stretch) -> Floats:
    """Of each position how much likelier its item is to stand anywhere than here, by the rest: logarithms, (n,)."""
    n = part.energy.n
    found = []
    for rows in np.array_split(np.arange(n), max(1, n * n // _CELLS)):
        gains = move_gains(part.energy, part.order, rows, part.sides)
        found.append(np.logaddexp.reduce(gains, axis=1) - np.log(n))
    return np.concatenate(found)


def outlying(rows: NDArray[np.floating]) -> Floats:
    """How far each row (n, f) lies from all others: logarithm of its distance in their deviations, less the median.

    By fewer than three measures nothing is said: all are 0.

    >>> outlying(np.array([[1.0, 2, 3], [1.2, 2.1, 3], [0.8, 2, 3.1], [5, 5, 5]])).argmax()
    np.int64(3)
    """
    n, rows = len(rows), np.asarray(rows, dtype=np.float64)
    known = rows[:, np.isfinite(rows).all(axis=0)]
    known = known[:, np.ptp(known, axis=0) > 0] if n > 2 else known[:, :0]
    if known.shape[1] < _FEWEST_MEASURES:
        return np.zeros(n)
    known = known - known.mean(axis=0)
    mean = -known / (n - 1)  # of the others
    spread = np.maximum((known**2).sum(axis=0) - known**2, 0.0) / (n - 1) - mean**2
    spread = np.maximum(spread, 1e-4 * known.var(axis=0) + 1e-12)
    far = np.clip((known - mean) / np.sqrt(spread), -6.0, 6.0)
    distance = np.log(np.sqrt((far**2).mean(axis=1)) + 1e-9)
    return np.asarray(distance - np.median(distance))


def _place(collection: Collection, at: int, to: int) -> str:
    """Where an item would stand better, in words; "" where it stands well."""
    labels = [item.label for item in collection.items]
    if to == at:
        return ""
    rest = labels[:at] + labels[at + 1 :]
    if to == 0:
        return f"would stand better at the start, before {rest[0]}"
    if to == len(rest):
        return f"would stand better at the end, after {rest[-1]}"
    return f"would stand better between {rest[to - 1]} and {rest[to]}"


def _find_moves(parts: Sequence[_Stretch], least_sure: float, titles: Constraints) -> tuple[Move, ...]:
    """The few moves that gain most, never a reshuffle."""
    n = sum(part.energy.n for part in parts)
    asked: dict[str, Any] = {"most": min(MOST_MOVES, max(1, n // 3)), "least": _LEAST_GAIN, "least_sure": least_sure}
    asked["permits"] = lambda ordering: not titles.broken(ordering)
    found: list[Move] = []
    for part in parts:
        own = best_moves(part.energy, part.order, sides=part.sides, **asked)
        found += [replace(move, at=part.start + move.at, to=part.start + move.to) for move in own]
    if len(parts) > 1:  # within one, each counts on those before it
        found = sorted(found, key=lambda move: -move.gain)[: asked["most"]]
    return tuple(found)


def _tell_moves(session: Session, found: Sequence[Move], rank: Callable[[Ints], float]) -> tuple[ProposedMove, ...]:
    """Moves as people say them, one after the other."""
    order, said = np.arange(len(session.collection)), []
    for move in found:
        items = [session.collection.items[i] for i in order.tolist()]
        item, other, order = items[move.at], items[move.to], move.apply(order)
        rest = [one.label for k, one in enumerate(items) if k != move.at]
        beside = f"before {rest[0]}" if move.to == 0 else f"after {rest[move.to - 1]}"
        say = f"move {item.label} from {move.at + 1} to {move.to + 1}, {beside}"
        if move.swap:
            say = f"swap {item.label} ({move.at + 1}) and {other.label} ({move.to + 1})"
        swap, gain, sure = other.id if move.swap else None, round(move.gain, 4), round(move.sure, 4)
        places = (move.at + 1, move.to + 1)
        said.append(ProposedMove(item.id, item.label, *places, gain, sure, swap, say, rank(order)))
    return tuple(said)


# Openers and closes.


def likely_ends(
    session: Session, chances: tuple[Floats, Floats] | None = None, titles: Constraints | None = None
) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """The three likeliest openers and the three likeliest closes: items with their chances; none where not known."""
    known, said = chances or _chances(session), titles or _read_titles(session)
    if known is None:
        return [], []
    taken = {b for _, b in said.before}, {a for a, _ in said.before}  # which titles keep from opening, from closing
    first, last = (
        [(i, float(chances[i])) for i in np.argsort(-chances, kind="stable").tolist() if i not in barred][:_ENDS]
        for chances, barred in zip(known, taken, strict=True)
    )
    return first, last


def _chances(session: Session) -> tuple[Floats, Floats] | None:
    """How likely each item opens, and closes: shape (n,) both; None where nothing is known of ends."""
    judged, n = session.likelihood, len(session.collection)
    if judged is None or not 2 <= n <= MOST_EXPECTED or judged.energy.whole is not None:
        return None
    places = judged.energy.positions
    if judged.energy.reach is None and (places is None or not np.ptp(places, axis=0).any()):
        return None
    expected, known = judged.posterior.positions, calibration(judged.model)
    first, last = expected[:, 0], expected[:, -1]
    if known is None:
        return first, last
    put_right = [np.array([calibrate(known[claim], float(chance), n) for chance in chances])
                 for claim, chances in (("opener", first), ("close", last))]  # fmt: skip
    return put_right[0], put_right[1]


# Joins: how well each follows the one before it, and why.


def _near_table(energy: Energy) -> Floats | None:
    """What each item adds right before each other: shape (n, n); None where that is not known."""
    if energy.reach is not None:
        return np.asarray(energy.apart[1])
    return energy.flow


def _joins(session: Session, parts: Sequence[_Stretch], sides: tuple[int, ...]) -> tuple[Join, ...]:
    """Where two items meet, weakest first; of very many the weakest and the strongest."""
    ends = set(np.cumsum(sides, dtype=np.intp)[:-1].tolist())
    found: list[tuple[float, int, str]] = []  # strength, position of the second, who would follow best
    for part in parts:
        table = _near_table(part.energy)
        if table is not None and part.energy.n > 2:
            found += _strengths(session, part, np.asarray(table, dtype=np.float64))
    kept = sorted(one for one in found if one[1] not in ends)
    if len(kept) > _MOST_WHOLE:
        kept = kept[: _MOST_JOINS // 2] + kept[-_MOST_JOINS // 2 :]
    said = _why_joins(session, [at for _, at, _ in kept], sides)
    items, joins = session.collection.items, []
    for (strength, at, best), why in zip(kept, said, strict=True):
        apart, binds = why
        if strength < 0:
            told = apart or (f"{best} would follow better" if best else "no step stands out")
        else:
            told = binds or (f"a contrast that goes well: {apart}" if apart else "nothing parts them")
        joins.append(Join(at, (items[at - 1].label, items[at].label), round(strength, 4), told))
    return tuple(joins)


def _strengths(session: Session, part: _Stretch, table: Floats) -> Iterator[tuple[float, int, str]]:
    """Of each join how much better than average it is for both, and who would follow better than who does."""
    n = part.energy.n
    off = np.where(np.eye(n, dtype=bool), 0.0, table)
    rows, columns = off.sum(axis=1) / (n - 1), off.sum(axis=0) / (n - 1)
    centred = table - rows[:, np.newaxis] - columns + off.sum() / (n * (n - 1))
    np.fill_diagonal(centred, -np.inf)
    for at in range(1, n):
        best = int(centred[at - 1].argmax())
        label = session.collection.items[part.start + best].label if best != at else ""
        yield float(centred[at - 1, at]), part.start + at, label


def _why_joins(session: Session, ats: Sequence[int], sides: tuple[int, ...]) -> list[tuple[str, str]]:
    """Of joins, by the position of the second, what parts and what binds the two, in words; "" where nothing does."""
    if not ats:
        return []
    breaks, n = np.cumsum(sides, dtype=np.intp)[:-1].tolist(), len(session.collection)
    told = session.medium.telling.joins(session.collection, breaks)
    threads = session.threads
    goes_on = [""] * n if threads is None else describe_threads(threads, np.arange(n), breaks)
    goes_on = [words.partition(" and brings in")[0] if words.startswith("goes on") else "" for words in goes_on]
    steps = _steps_along(session, set(ats))
    found = []
    for at in ats:
        alike = told[at].startswith(_ALIKE)
        parts = (() if alike else (told[at],)) + (steps[at][0],)
        binds = ((told[at],) if alike else ()) + (goes_on[at], steps[at][1])
        found.append(("; ".join(filter(None, parts)), "; ".join(filter(None, binds))))
    return found


def _steps_along(session: Session, wanted: set[int]) -> dict[int, tuple[str, str]]:
    """For joins, by the position of the second, in what it is far and in what it is close, some items at a time."""
    found: dict[int, tuple[str, str]] = {}
    readable, n = session.readable, len(session.collection)
    for start in range(0, max(1, n - 1), _WINDOW):
        rows = np.arange(start, min(start + _WINDOW + 1, n))
        ats = [at for at in rows[1:].tolist() if at in wanted]
        if not ats:
            continue
        parts = [part for part in session.medium.steps(readable.only(rows), session.essence[rows]).parts if part.weight]
        far: dict[int, list[str]] = {at: [] for at in ats}
        near: dict[int, list[str]] = {at: [] for at in ats}
        for part in parts:
            distance = part.distance
            others = np.sort(distance[~np.eye(len(rows), dtype=bool)])
            if part.name == "essence" or not np.ptp(others):
                continue
            for at in ats:
                step = float(distance[at - start - 1, at - start])
                share = np.searchsorted(others, step) / len(others)
                words, count = {"join": "how one ends and the next begins"}.get(part.name, part.name), f"{step:.0f}"
                unit = part.unit.removesuffix("s") if count == "1" else part.unit
                if share >= _FAR or share <= _NEAR:
                    told = words if part.unit in _UNIT_WORDS else f"{words} ({count} {unit})"
                    (far if share >= _FAR else near)[at].append(told)
        found |= {at: (_list("far apart in", far[at]), _list("close in", near[at])) for at in ats}
    return found


def _list(verb: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"{verb} {names[0]}" if len(names) == 1 else f"{verb} {', '.join(names[:-1])} and {names[-1]}"
