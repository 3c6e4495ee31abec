"""What is asked of an ordering: the request, the items and templates it names, and the constraints it makes."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import pairwise
from math import ceil, isfinite
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.solver.constraints import Constraints
from fabula.core.template import Template, TemplateSet, replace_values, template
from fabula.errors import ConflictError, ConstraintError, InputError, brief, check_count, naming
from fabula.media.facts import COUNT, SECONDS, side_name
from fabula.media.medium import Medium, detail_column
from fabula.models.titles import Series, find_closers, find_interludes, find_series

if TYPE_CHECKING:
    from fabula.session.session import Session

# Pairing: all of an even number of items two by two, so that the costs of the pairs are small.

_FEW = 12  # items up to which every pairing is looked at


def pair_up(costs: Floats) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, of all items by their costs (n, n), symmetric, n even, with a small sum.

    The smallest up to 12 items. Beyond, two pairs are exchanged as long as that helps, from the greedy pairing:
    within a few per cent of the best.

    >>> pair_up(np.array([[0, 9, 1, 9], [9, 0, 9, 2], [1, 9, 0, 9], [9, 2, 9, 0.0]]))
    [(0, 2), (1, 3)]
    """
    n = len(costs)
    if costs.shape != (n, n) or n % 2 or not np.isfinite(costs).all():
        raise InputError(f"costs must be finite, of shape (n, n) with n even; got {costs.shape}")
    pairs = _exact(costs) if n <= _FEW else _exchange(costs)
    return sorted((min(pair), max(pair)) for pair in pairs)


def _exact(costs: Floats) -> list[tuple[int, int]]:
    """By dynamic programming over the sets of items that are paired already."""
    n = len(costs)
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    for done in range((1 << n) - 1):
        if done not in best:
            continue
        cost, pairs = best[done]
        first, *others = (i for i in range(n) if not done >> i & 1)
        for other in others:
            more, then = cost + float(costs[first, other]), done | 1 << first | 1 << other
            if then not in best or more < best[then][0]:
                best[then] = more, [*pairs, (first, other)]
    return best[(1 << n) - 1][1]


def _exchange(costs: Floats) -> list[tuple[int, int]]:
    """Partners exchanged between two pairs of the greedy pairing, what gains most first, until none gains."""
    left, right = np.triu_indices(len(costs), 1)
    free, pairs, cheap = (
        np.ones(len(costs), dtype=bool),
        list[tuple[int, int]](),
        np.argsort(costs[left, right], kind="stable"),
    )
    for part in np.array_split(cheap, len(costs)):
        for k in part[free[left[part]] & free[right[part]]].tolist():
            i, j = int(left[k]), int(right[k])
            if free[i] and free[j]:
                free[i] = free[j] = False
                pairs.append((i, j))
    a, b = np.array(pairs).T

    def weigh(some: Ints) -> tuple[Floats, Floats]:
        """What it costs more to exchange the partners of some pairs with each pair's, straight and crossed, (r, m)."""
        p, own = some[:, np.newaxis], costs[a, b]
        before = own[p] + own
        return costs[a[p], a] + costs[b[p], b] - before, costs[a[p], b] + costs[b[p], a] - before

    gains = np.minimum(*weigh(np.arange(len(a))))
    np.fill_diagonal(gains, 0.0)
    while True:
        p, q = np.unravel_index(int(np.argmin(gains)), gains.shape)
        if gains[p, q] > -1e-12:
            return list(zip(a.tolist(), b.tolist(), strict=True))
        straight, crossed = weigh(np.array([p]))
        if straight[0, q] <= crossed[0, q]:
            b[p], a[q] = a[q], b[p]
        else:
            b[p], b[q] = b[q], b[p]
        gains[[p, q]] = np.minimum(*weigh(np.array([p, q])))
        gains[:, [p, q]] = gains[[p, q]].T
        np.fill_diagonal(gains, 0.0)


Which = int | str  # an item: its index in the order given; or its id, its title, or the name of its file
Ends = Which | Mapping[int, Which]  # of the whole, or by side, counted from 0


@dataclass(frozen=True)
class Request:
    """What is asked of an ordering.

    - ``template``: a template; its name; a file (``FILE#2`` for its second one); or points ``"0:0.2,0.5:1,1:0"``. By
      default the arcs of the model.
    - ``like``: follow the arc of this collection: an open session, or a path (``FILE#ID`` for one of several).
    - ``flip``: turn the template upside down.
    - ``scaled``: whether a template is brought to the scale of the essence: mean 0 and deviation 1.
    - ``alternatives``, ``choose``: how many orderings to propose, and which of them to take, counted from 1.
    - ``likeliest``: propose the likeliest order first, where a model would propose what it expects to agree best with
      the true one.
    - ``ordering``, ``side_sizes``: take this ordering (item indices) as it is, and tell how it does; and how many items
      each of its sides has, by default cut where the lengths are most even.
    - ``first``, ``last``: the opener and the close; or by side, ``{0: "Intro", 1: "Reprise"}``.
    - ``at``: position, counted from 0 (negative: from the end), to item.
    - ``together``: runs of items that stay next to each other, in that order.
    - ``together_by``: items that share this stand in one run, in any order: who made them, or any column.
    - ``before``: pairs of items: the first somewhere before the second.
    - ``apart``, ``apart_soft``: no two neighbours share this: who made them, or any column; soft: as few as can be.
    - ``sides``, ``side_limit``: how many sides, each with an arc of its own, and the length one side holds, as a number
      or as text. With a limit and one side there are as many sides as it takes.
    - ``spreads``: items face each other two by two, after a cover, as in a book: ``"match"`` or ``"contrast"``.
    - ``limit``: the length of all; what fits worst is left out.
    - ``fill``: choose items that are as long as this together, to the second where that can be, and order them.
    - ``only``: order these items (indices) alone, and leave all others out.
    - ``grid``: how many stand in a row where the order is laid out, on a sheet or in a gallery; 0: as many as fit.
    - ``gap_s``: seconds between two items of a side, which count where lengths are in seconds; below 0 they overlap.
    - ``smoothness``: weight of the steps between neighbours; negative asks for contrast.
    - ``seconds``: how long to search for each ordering at most, where that is needed; by default as it is worth.
    - ``smooth_by``: the steps that count, by name, with their weights; by default those of the medium.
    - ``step_limits``: the largest step that neighbours may be apart, by name: ``{"key": 1}`` keeps to moves on the
      wheel of keys.
    - ``never_worse``: with smoothness: an arc is followed only as far as no step that counts grows on average; else
      nothing is moved.
    - ``soft``: columns, with weights, that are to rise through the order as far as all else allows: ``{"captured":
      1}``; below 0, that are to fall.
    - ``keep``: the best order in which at least this share of the items, 0 to 1, keeps its relative order: the longest
      common subsequence with the order given has as many.
    - ``matter``: whether what by its title stands before or behind all else, as a title page does, is kept there.
    - ``series``: whether titles that count (*Part 1*, *Part 2*; movements; *No. 3*) keep their order and no *Outro*
      opens, where a model that reads titles knows the items and no other wish is against it; where it proposes the
      order, without a template, movements also stand in a row and interludes apart.

    >>> Request(first="Intro", sides=2).sides
    2
    """

    template: Template | str | None = None
    like: "Session | str | Path | None" = None
    flip: bool = False
    scaled: bool = True
    alternatives: int = 4
    choose: int = 1
    likeliest: bool = False
    ordering: Sequence[int] | None = None
    side_sizes: Sequence[int] = ()
    first: Ends | None = None
    last: Ends | None = None
    at: Mapping[int, Which] = field(default_factory=dict)
    together: Sequence[Sequence[Which]] = ()
    together_by: str | None = None
    before: Sequence[tuple[Which, Which]] = ()
    apart: str | None = None
    apart_soft: bool = False
    sides: int = 1
    side_limit: float | str | None = None
    spreads: str = ""
    limit: float | str | None = None
    fill: float | str | None = None
    only: Sequence[int] = ()
    grid: int = 0
    gap_s: float = 0.0
    smoothness: float = 0.0
    seconds: float | None = None
    smooth_by: Mapping[str, float] = field(default_factory=dict)
    step_limits: Mapping[str, float] = field(default_factory=dict)
    never_worse: bool = False
    soft: Mapping[str, float] = field(default_factory=dict)
    keep: float | None = None
    matter: bool = True
    series: bool = True

    def __post_init__(self) -> None:
        for wish in fields(self):
            name, kind, value = wish.name, wish.type, getattr(self, wish.name)
            if kind is int:
                check_count(value, name, least=0 if name == "grid" else 1)
            for part in _misfits(value, kind) if kind in _WORDS else ():
                placed = isinstance(value, Mapping) and kind != Mapping[str, float]
                words = "items by position, counted from 0" if placed else _WORDS[kind]
                raise InputError(f"must be {words}; got {brief(part)}", field=name)
        if not isinstance(self.like, str | Path | NoneType) and not hasattr(self.like, "essence"):
            raise InputError(f"must be an open session, or a path; got {brief(self.like)}", field="like")
        if self.template is not None and self.like is not None:
            raise InputError("give either a template or like, not both")
        for name in ("smoothness", "gap_s"):
            if not isfinite(getattr(self, name)):
                raise InputError(f"must be a finite number; got {getattr(self, name)}", field=name)
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise InputError(f"must be above 0; got {self.seconds:g}", field="seconds")
        if self.smooth_by and not self.smoothness:
            raise InputError("goes with smoothness, such as 0.5", field="smooth_by")
        if self.spreads not in ("", "match", "contrast"):
            raise InputError(f'must be "match" or "contrast"; got {self.spreads!r}', field="spreads")
        if self.together_by is not None and self.together_by == self.apart:
            raise InputError(f"{self.apart!r} cannot be kept together and apart", field="together_by")
        if self.side_sizes and self.ordering is None:
            raise InputError("goes with an ordering", field="side_sizes")
        if self.fill is not None and (self.limit is not None or self.only or self.ordering is not None):
            what = "an ordering and items of your own" if self.limit is None else "a limit"
            raise InputError(f"goes without {what}", field="fill")
        if self.keep is None:
            return
        if not 0 <= self.keep <= 1:
            raise InputError(f"must be from 0 to 1, such as 0.8; got {self.keep:g}", field="keep")
        for name in ("together", "together_by", "before", "limit", "spreads", "ordering"):
            if getattr(self, name):  # what is not weighed while most of an order stays
                raise InputError(f"goes without {name.replace('_', ' ')}", field="keep")
        if self.sides > 1:
            raise InputError("goes without sides", field="keep")

    def items(self) -> list[tuple[str, int | str]]:
        """The items that wishes name, each with its wish.

        >>> Request(first="Intro", together=[["Dawn", 3]]).items()
        [('first', 'Intro'), ('together', 'Dawn'), ('together', 3)]
        """
        ends = [(field, getattr(self, field)) for field in ("first", "last")]
        found = [(f, one) for f, end in ends for one in (end.values() if isinstance(end, Mapping) else [end])]
        found += [("at", one) for one in self.at.values()]
        found += [(f, one) for f in ("together", "before") for run in getattr(self, f) for one in run]
        return [(field, one) for field, one in found if one is not None]


def as_request(request: Request | None, wishes: Mapping[str, Any]) -> Request:
    """A request with wishes given by name; a name that is none is told, with the nearest."""
    if not isinstance(request, Request | NoneType):
        raise InputError(f"takes a Request, or wishes by name; got {brief(request)}")
    known = Request.__dataclass_fields__
    for name in wishes:
        if name not in known:
            near = ["smoothness"] if name == "smooth" else get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
            raise InputError(f"there is no wish {name!r}; {hint}")
    return replace(request or Request(), **wishes)


# What wishes are made of, by how they are declared: anything else is refused by name, and nothing is passed over.

_WORDS: dict[Any, str] = {
    Template | str | None: "a template, or its name",
    bool: "True or False",
    str | None: "the name of a column",
    float | str | None: "a length, as a number or as text",
    float: "a number",
    float | None: "a number",
    Mapping[int, Which]: "items by position, such as {0: 'Intro'}",
    Mapping[str, float]: "weights by name, such as {'essence': 1}",
    Ends | None: "an item: its title, or its index, or one for each side by number",
    Sequence[int]: "whole numbers",
    Sequence[int] | None: "whole numbers",
    Sequence[Sequence[Which]]: "lists of items, such as [['Intro', 'Dawn']]",
    Sequence[tuple[Which, Which]]: "pairs of items",
}


_NUMBERS: dict[Any, Any] = {int: Integral, float: Real}  # what is declared, and what is taken: NumPy's numbers too


def _misfits(value: Any, declared: Any) -> list[Any]:
    """The parts of a value that are of another kind than was declared."""
    for kind in get_args(declared) if isinstance(declared, UnionType) else (declared,):
        of, inner = get_origin(kind), get_args(kind)
        if of is Mapping and isinstance(value, Mapping):
            return [bad for pair in value.items() for each in zip(pair, inner, strict=True) for bad in _misfits(*each)]
        if of in (Sequence, tuple) and isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
            return [bad for part in value for bad in _misfits(part, inner[0])]
        if of is None and isinstance(value, _NUMBERS.get(kind, kind)) and (kind is bool or not isinstance(value, bool)):
            return []
    return [value]


# What a person types: the template or the item she means.

_POINT = re.compile(r"\s*([-+.\deE]+)\s*:\s*([-+.\deE]+)\s*")


def find_template(text: str, known: Sequence[Template] = (), *, files: bool = True) -> Template:
    """A template by name (a built-in or a known one), from a file (``FILE#2``: its second), or drawn as points.

    >>> find_template("0:0,1:1").at(0.25).item()
    0.25
    """
    if ":" in text and all(_POINT.fullmatch(part) for part in text.split(",")):
        try:
            points = sorted((float(x), float(y)) for x, y in (part.split(":") for part in text.split(",")))
        except ValueError:
            raise InputError(f"the points of a template must be numbers; got {text[:80]!r}") from None
        return Template([x for x, _ in points], [y for _, y in points], name=text[:80])
    own = next((one for one in known if one.name and one.name.casefold() == text.strip().casefold()), None)
    if own is not None:
        return own
    name, _, number = text.rpartition("#")
    file = name if number.isdigit() and name else text
    if files and (Path(file).is_file() or file.lower().endswith(".json")):
        templates, chosen = TemplateSet.load(file), int(number) if file != text else 1
        if file == text and len(templates) > 1:
            told = f"{file} holds {len(templates)} templates"
            raise InputError(f"{told}: say which, as '{file}#1' to '#{len(templates)}'")
        if not 1 <= chosen <= len(templates):
            raise InputError(f"{file} holds {len(templates)} template(s); there is no #{chosen}")
        found = templates[chosen - 1]
        return found if found.name else replace_values(found, found.values, name=f"{Path(file).name}#{chosen}")
    if ":" in text and "," in text:
        raise InputError(f"a drawn template is a list of position:height, such as '0:0.2,0.5:1,1:0'; got {text[:80]!r}")
    try:
        return template(text)
    except InputError as error:
        more = "a template file or points such as '0:0.2,0.5:1,1:0' will do too"
        raise InputError(f"{error} ({more if files else 'points such as 0:0.2,0.5:1,1:0 will do too'})") from None


def find_item(items: Sequence[Item], which: int | str, field: str) -> int:
    """The one item a person means: its index; or its id, title or file name, or a part that only one of them has."""
    if not isinstance(which, str):
        which = int(which)
        if not 0 <= which < len(items):
            raise InputError(f"there is no item {which}; items count from 0 to {len(items) - 1}", field=field)
        return which
    ids = [i for i, item in enumerate(items) if item.id == which]
    if len(ids) == 1:
        return ids[0]
    wanted = _fold(which)
    names = [{_fold(name) for name in _names(item)} - {""} for item in items]
    exact = [i for i, known in enumerate(names) if wanted in known]
    inside = [i for i, known in enumerate(names) if wanted and any(wanted in name for name in known)]
    for hits in (exact, inside):
        if len(hits) == 1:
            return hits[0]
        if hits:
            listed = ", ".join(f"{items[i].label!r} (item {i + 1})" for i in hits[:4])
            raise InputError(f"{which!r} fits {len(hits)} items: {listed}; give the whole title or the id", field=field)
    from rapidfuzz import fuzz

    likeness = [max((fuzz.ratio(wanted, name) for name in known), default=0.0) for known in names]
    ranked = sorted(range(len(items)), key=lambda i: -likeness[i])
    runner_up = likeness[ranked[1]] if len(ranked) > 1 else 0.0
    near = f"the nearest are {', '.join(repr(items[i].label) for i in ranked[:3])}"
    if likeness[ranked[0]] >= 80 and likeness[ranked[0]] - runner_up >= 5:
        near = f"did you mean {items[ranked[0]].label!r}?"
    raise InputError(f"no item is called {which!r}; {near}", field=field)


def _names(item: Item) -> tuple[str, ...]:
    file = item.path.replace("\\", "/").rpartition("/")[2]
    return item.id, item.title, item.path, file, file.rpartition(".")[0], f"{item.creator} - {item.title}"


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def check_indices(given: Sequence[int], n: int, field: str) -> None:
    """Refuse what does not name some of n items, each once."""
    if not len(given) or not set(given) <= set(range(n)) or len(set(given)) < len(given):
        raise InputError(f"must hold indices from 0 to {n - 1}, none twice; got {list(given)[:12]}", field=field)


# Wishes as constraints on item indices.


def constraints_of(request: Request, collection: Collection, medium: Medium) -> Constraints:
    """The wishes of a request as constraints on item indices."""
    items, n, gap = collection.items, len(collection), count_gap(request, medium)
    lengths, limit = _lengths(request, collection, medium), _limit(request.limit, "limit", medium, gap * request.sides)
    if request.only:  # a limit that these keep together, and each of the others alone is longer than
        check_indices(request.only, n, "only")
        known = np.ones(n) if lengths is None else lengths
        limit = float(known[list(request.only)].sum()) * (1 + 1e-9) + 1e-9
        lengths = np.where(np.isin(np.arange(n), request.only), known, 2 * limit + 1)
    with explain_conflicts(collection, medium, request):
        return Constraints(
            n,
            fixed=_pins(request, items),
            together=[[find_item(items, one, "together") for one in run] for run in request.together],
            before=[tuple(find_item(items, one, "before") for one in pair) for pair in request.before],  # type: ignore[misc]
            apart=None if request.apart is None else labels(collection, request.apart, medium),
            apart_soft=request.apart_soft,
            sides=request.sides,
            ends=_ends(request, items),
            lengths=lengths,
            side_limit=_limit(request.side_limit, "side_limit", medium, gap),
            limit=limit,
        )


def _pins(request: Request, items: tuple[Item, ...]) -> dict[int, int]:
    """Position -> item, of the opener, the close and what has a position."""
    n, some = len(items), request.limit is not None or bool(request.only)  # of which nobody knows yet how many are kept
    asked = [(0, request.first, "first"), (-1, request.last, "last")]
    wishes = [(position, which, where) for position, which, where in asked if not isinstance(which, Mapping | NoneType)]
    wishes += [(position, which, "at") for position, which in request.at.items()]
    fixed: dict[int, int] = {}
    for position, which, where in wishes:
        if not -n <= position < n:
            raise InputError(f"positions go from 1 to {n} (or -1 from the end); got {_from_one(position)}", field=where)
        item, place = find_item(items, which, where), position if some else position % n
        place = -1 if some and place == n - 1 else place
        if fixed.get(place, item) != item:
            told = f"position {_from_one(place)} is already taken by {items[fixed[place]].label!r}"
            raise InputError(told, field=where)
        other = next((p for p, i in fixed.items() if i == item and p != place and (p < 0) == (place < 0)), None)
        if other is not None:
            raise InputError(f"{items[item].label!r} is already at position {_from_one(other)}", field=where)
        fixed[place] = item
    return fixed


def _from_one(position: int) -> int:
    """A position as people give it, counted from 1, or from -1 at the end."""
    return position + 1 if position >= 0 else position


def with_matter(request: Request, collection: Collection, medium: Medium) -> Request:
    """The request with what stands before and behind all else fixed there, where it leaves two items and more.

    What a person fixes goes first: with an opener of hers nothing is kept at the front, with a close of hers nothing at
    the back, and where she gives positions of her own neither.
    """
    if not request.matter or request.sides > 1 or request.ordering is not None or request.at or request.spreads:
        return request
    front, back = medium.matter(collection)
    front, back = front if request.first is None else [], back if request.last is None else []
    if not (front or back) or len(collection) - len(front) - len(back) < 2:
        return request
    behind = {position - len(back): item for position, item in enumerate(back)}
    return replace(request, at={**dict(enumerate(front)), **behind})


def _ends(request: Request, items: tuple[Item, ...]) -> dict[tuple[int, int], int]:
    """(side, position on it) -> item, where openers and closes are named by side."""
    ends: dict[tuple[int, int], int] = {}
    for position, named, where in ((0, request.first, "first"), (-1, request.last, "last")):
        for side, which in named.items() if isinstance(named, Mapping) else ():
            if not 0 <= side < request.sides:
                counted = "is 1 side" if request.sides == 1 else f"are {request.sides} sides"
                raise InputError(f"there {counted}; got side {side_name(side)}", field=where)
            ends[side, position] = find_item(items, which, where)
    return ends


def count_gap(request: Request, medium: Medium) -> float:
    """What lies between two items of a side, in the unit of their lengths: nothing where that is no time."""
    return request.gap_s if medium.unit.name == SECONDS.name else 0.0


def _limit(limit: float | str | None, field: str, medium: Medium, gaps: float) -> float | None:
    """A limit, and what each side has of gaps less than items: every item is counted with the gap behind it."""
    if isinstance(limit, str):
        with naming(field):
            limit = medium.unit.read(limit)
    if limit is not None and not 0 < limit < float("inf"):
        raise InputError(f"must be above 0; got {limit:g}", field=field)
    return limit if limit is None or not gaps else max(limit + gaps, 1e-9)


def _lengths(request: Request, collection: Collection, medium: Medium) -> Floats | None:
    """The length of each item where limits need it, or where sides can use it."""
    known, gap = [item.length for item in collection.items], count_gap(request, medium)
    field = "side_limit" if request.side_limit is not None else "limit"
    if request.side_limit is None and request.limit is None:
        if None in known or not (request.sides > 1 or request.only):
            return None
    elif medium.unit is COUNT and all(length is None for length in known):
        return np.ones(len(collection))
    else:
        for item in collection.items:
            if item.length is None or item.length < 0:
                why = "is not known" if item.length is None else f"must not be negative; got {item.length:g}"
                raise InputError(f"the length of {item.label!r} in {medium.unit.name} {why}", field=field)
    lengths = np.array(known, dtype=np.float64)
    return np.maximum(lengths + gap, 0.0) if gap else lengths  # each with the gap behind it


def labels(collection: Collection, column: str, medium: Medium, field: str = "apart") -> list[Hashable | None]:
    """What each item has in a column; None where it has nothing. Refused where none has, but for groups of none."""
    creator = column.casefold() in (medium.words.creator, "creator")
    numbers = collection.column(column) if column in collection.feature_names else np.full(len(collection), np.nan)
    found: list[Hashable | None] = []
    for item, number in zip(collection.items, numbers.tolist(), strict=True):
        if creator or column in item.details:
            value = item.creator if creator else item.details[column]
            found.append(None if value in (None, "") else str(value).casefold())
        else:
            found.append(number if isfinite(number) else None)
    if all(label is None for label in found) and column not in medium.codes:
        names = {name for item in collection.items for name in item.details} | set(collection.feature_names)
        names |= {medium.words.creator} if any(item.creator for item in collection.items) else set()
        there = ", ".join(sorted(names - {column})) or "nothing"
        raise InputError(f"no item has {column!r}; there are: {there}", field=field)
    return found


@contextmanager
def explain_conflicts(collection: Collection, medium: Medium, request: Request) -> Iterator[None]:
    """Where constraints cannot hold, say so with titles and lengths as people write them."""
    try:
        yield
    except ConflictError as error:
        titles = [repr(item.label) for item in collection.items]
        last = count_gap(request, medium) * (request.sides if "limit" in error.options else 1)  # behind no item
        differ = [f"by {{length{k}}}" in error.pattern for k in range(len(error.lengths))]
        lengths = [one if by else one - last for one, by in zip(error.lengths, differ, strict=True)]
        meant = ConflictError(error.pattern, error.items, error.options, lengths)
        # Rounded up, so that a limit that is said to work does.
        raise InputError(meant.told(titles, lengths=lambda length: medium.unit.text(ceil(length - 1e-6)))) from error
    except ConstraintError as error:
        who = ", ".join(repr(collection.items[i].label) for i in error.items[:6])
        places = ", ".join(str(position + 1) for position in error.places) or "none"
        raise InputError(f"the wishes cannot all hold: {who} may only take position(s) {places}") from error


def soft_values(collection: Collection, column: str, medium: Medium) -> Floats:
    """The column that is to rise as far as all else allows, NaN where one is unknown; refused where all are."""
    name = medium.meant(column, collection.feature_names)
    detail = collection.detail_named(column) or column
    values = detail_column(collection, detail) if name is None else collection.column(name)
    if np.isnan(values).all():
        there = ", ".join(dict.fromkeys([*collection.feature_names, *collection.detail_names]))
        raise InputError(f"no {medium.words.item} has a number for {column!r}; there are: {there}", field="soft")
    return np.asarray(values, dtype=np.float64)


def backward_steps(collection: Collection, column: str, medium: Medium) -> Floats:
    """What a step back in a column costs, (n, n): its ranks, about 1 for any two; nothing where one is unknown."""
    values = soft_values(collection, column, medium)
    known = np.isfinite(values)
    ranks = np.searchsorted(np.unique(values[known]), np.where(known, values, 0.0)).astype(np.float64)
    back = np.maximum(ranks[:, np.newaxis] - ranks, 0.0) * (known[:, np.newaxis] & known)
    return np.asarray(back / max(float(back.sum()) / (len(back) * max(len(back) - 1, 1) / 2), 1e-12))


# Filling a length: which items are together as long as asked for, those that fit best before others.

_TICK = 0.05  # of the unit of lengths, in which they are counted; coarser where there are very many items
_CELLS = 40_000_000  # of the table, at most


def fill_up(lengths: Floats, target: float, preferred: Sequence[int], must: Iterable[int] = ()) -> list[int]:
    """The items whose lengths (n,) sum to a target, as near as can be, by dynamic programming over all sums.

    Of sums within half a unit of it the one whose items are most of them preferred, by length; ``must`` are in it.

    >>> fill_up(np.array([100.0, 200.0, 310.0, 150.0]), 460.0, [0, 1, 3])
    [2, 3]
    """
    n, wanted = len(lengths), set(must)
    least = float(lengths[sorted(wanted)].sum())
    end = max(target, least) + float(lengths.max())
    tick = max(_TICK, n * end / _CELLS)
    ticks = np.maximum(1, np.round(lengths / tick).astype(np.int64))
    worth = np.where(np.isin(np.arange(n), list(preferred)), lengths, 0.0)
    best = np.full(int(end / tick) + 2, -np.inf)
    best[0] = 0.0
    taken = np.zeros((n, len(best)), dtype=bool)
    for item, step in enumerate(ticks.tolist()):
        with_it = np.full(len(best), -np.inf)
        with_it[step:] = best[: len(best) - step] + worth[item]
        taken[item] = np.isfinite(with_it) if item in wanted else with_it > best
        best = with_it if item in wanted else np.maximum(best, with_it)
    reached = np.flatnonzero(np.isfinite(best[1:])) + 1
    if not len(reached):
        return sorted(wanted)
    off = np.abs(reached * tick - target)
    near = reached[off <= max(0.5, float(off.min()))]
    at = int(max(near, key=lambda one: (best[one], -abs(one * tick - target))))
    chosen = []
    for item in reversed(range(n)):
        if taken[item, at]:
            chosen.append(item)
            at -= int(ticks[item])
    return sorted(chosen)


# What titles ask for by themselves: that what they count keeps its order.

_IN_A_ROW, _SPREAD = 4.0, 6.0  # what it is worth that movements stand in a row, and that two interludes do not
_MOST_SERIES = 200  # items, beyond which nobody counts


@dataclass(frozen=True, eq=False)
class TitleWishes:
    """What the titles of n items ask for."""

    series: tuple[Series, ...] = ()  # that keep the order of their numbers
    costs: Floats | None = None  # (n, n): of one right before another; None where no two have anything to do
    not_first: tuple[int, ...] = ()  # items that close by their titles

    def hold(self, ordering: Ints) -> bool:
        """Whether an ordering (n,) has all of it, so that none is better for asking."""
        if self.add_to(Constraints(len(ordering))).broken(ordering):
            return False
        return self.costs is None or self.costs[ordering[:-1], ordering[1:]].sum() <= np.minimum(self.costs, 0.0).sum()

    def add_to(self, constraints: Constraints) -> Constraints:
        """The constraints with those of the titles."""
        before = [pair for one in self.series for pair in pairwise(one.items)]
        forbidden = [(item, 0) for item in self.not_first]
        return replace(
            constraints, before=(*constraints.before, *before), forbidden=(*constraints.forbidden, *forbidden)
        )


def find_title_wishes(titles: Sequence[str], request: Request, *, steps: bool = True) -> TitleWishes | None:
    """What the titles of a collection ask for beside a request, of ``steps`` too; None where that is nothing."""
    n = len(titles)
    chosen = request.limit is not None or request.only or request.ordering is not None or request.keep is not None
    if chosen or not request.series or not 2 < n <= _MOST_SERIES:
        return None
    series, interludes, closers = find_series(titles), find_interludes(titles), find_closers(titles)
    costs = np.zeros((n, n))
    for one in series:
        for first, second in pairwise(one.items) if one.follows else ():
            costs[first, second] -= _IN_A_ROW
    if 1 < len(interludes) <= n / 2:
        costs[np.ix_(interludes, interludes)] += _SPREAD
    kept = costs if steps and costs.any() else None
    wishes = TitleWishes(tuple(series), kept, tuple(closers if len(closers) < n else ()))
    return wishes if series or wishes.costs is not None or wishes.not_first else None


# Spreads: which items face each other on the pages of a book or a wall, as wishes to keep them together.


def with_spreads(request: Request, collection: Collection, medium: Medium, plain: Ints) -> Request:
    """The request with its spreads as wishes: a cover alone, then two and two, or one over both pages.

    `plain`, the order without spreads, shape (n,), says what opens where nothing is asked for, and which of two facing
    items stands on the left.
    """
    if medium.facing is None:
        raise InputError(f"{medium.words.items} have no pages that face each other", field="spreads")
    for name in ("limit", "ordering"):
        if getattr(request, name) is not None:
            raise InputError(f"goes without {name}", field="spreads")
    if request.sides > 1:
        raise InputError("goes without sides: a book has one run of pages", field="spreads")
    items = collection.items
    runs = [[find_item(items, one, "together") for one in run] for run in request.together]
    if any(len(run) != 2 for run in runs):
        raise InputError("two items face each other; a run of more cannot be kept together", field="spreads")
    first, close = (None if isinstance(end, Mapping) else end for end in (request.first, request.last))
    cover = int(plain[0]) if first is None else find_item(items, first, "first")
    last = None if close is None else find_item(items, close, "last")
    found = medium.facing(collection)
    taken = {cover, *(one for run in runs for one in run)}
    free = [i for i in range(len(items)) if i not in taken and not found.alone[i]]
    unlike, odd = found.costs()  # of each two that face each other
    costs = odd + unlike if request.spreads == "match" else odd - unlike
    for column, weight in request.soft.items():
        back = backward_steps(collection, column, medium)
        costs = costs + abs(weight) * (back + back.T)
    alone = None
    if len(free) % 2:  # one stands alone at the end
        lonely = costs[np.ix_(free, free)] + np.where(np.eye(len(free), dtype=bool), np.inf, 0.0)
        alone = last if last in free else free[int(np.argmax(lonely.min(axis=1)))]
        free = [i for i in free if i != alone]
    place = np.argsort(plain)
    pairs = [[free[i], free[j]] for i, j in pair_up(costs[np.ix_(free, free)])]
    turned = [sorted(pair, key=lambda i: (i == last, place[i])) for pair in pairs]
    end = last if alone is None else alone
    return replace(request, first=cover, last=end, together=[*runs, *turned], spreads="")


# Strands: items that share something stand in one run, by a cost of every step from one strand to another.


def crossings(labels: Sequence[Hashable | None]) -> Floats:
    """1 where a step leads from one strand to another, else 0: shape (n, n); an item without one is a strand alone.

    >>> crossings(["a", "a", "b"]).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    own = [(label,) if label is not None else index for index, label in enumerate(labels)]
    table = np.array([[float(one != other) for other in own] for one in own])
    return table.reshape(len(own), len(own))


def strands_apart(ordering: Ints, labels: Sequence[Hashable | None]) -> list[Hashable]:
    """The strands that an ordering tears apart."""
    seen, found, before = set(), [], object()
    for label in (labels[i] for i in ordering.tolist()):
        if label is not None and label != before and label in seen:
            found.append(label)
        seen.add(label)
        before = label
    return list(dict.fromkeys(found))
