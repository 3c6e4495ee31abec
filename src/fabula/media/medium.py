"""What a medium is: how its items are read, measured, told; the steps between them, and what models ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Evidence, Item
from fabula.errors import InputError
from fabula.media.children import Stop as Stop, Stopped as Stopped, load as load
from fabula.media.facts import COUNT, Axis, Levelling, Preset, Telling, Unit


@dataclass(frozen=True, eq=False)
class Step:
    """One part of a step."""

    # name, unit: What is compared, and in what
    name: str
    unit: str
    # Shape (n, n), not negative: from each item to each as its follower; or a function that measures it, each time it
    # is asked for, where many items make many large tables
    measured: Floats | Callable[[], Floats]
    weight: float = 1.0  # How much it counts beside the others; 0: only where it is asked for by name
    certainty: Floats | None = None  # How sure each distance is, 0 to 1, shape (n, n); None: all of them are

    @property
    def distance(self) -> Floats:
        """From each item to each as its follower: shape (n, n)."""
        return self.measured() if callable(self.measured) else self.measured

    @property
    def expectation(self) -> Floats:
        """The distances as they count, about 1 on average: one that is not sure counts as an average one in part."""
        distance = self.distance
        n = len(distance)  # the mean is of the distances between different items
        mean = float((distance.sum() - np.trace(distance)) / (n * (n - 1))) if n > 1 else 0.0
        sure = 1.0 if self.certainty is None else self.certainty
        expected = sure * distance + (1.0 - sure) * mean
        return np.asarray(expected / mean if mean > 0 else expected)


@dataclass(frozen=True, eq=False)
class Steps:
    """What lies between neighbours: one part or more."""

    parts: tuple[Step, ...]  # one or more

    @property
    def active(self) -> tuple[Step, ...]:
        """The parts that count; all of them where none has a weight."""
        return tuple(part for part in self.parts if part.weight) or self.parts

    @property
    def table(self) -> Floats:
        """The weighted mean of the parts, each about 1 on average: shape (n, n)."""
        weights = [part.weight or 1.0 for part in self.active]
        total = sum(weight * part.expectation for weight, part in zip(weights, self.active, strict=True))
        return np.asarray(total / sum(weights))

    def reweigh(self, by: Mapping[str, float]) -> Steps:
        """The same steps, of which these count, with these weights above 0; an InputError for an unknown name.

        >>> both = Steps((Step("size", "cm", np.eye(2)), Step("age", "years", np.eye(2))))
        >>> [part.name for part in both.reweigh({"age": 2.0}).active]
        ['age']
        """
        for name, weight in by.items():
            self._part(name, "smooth_by")
            if not 0 < weight < np.inf:
                raise InputError(f"a weight must be above 0; got {weight:g} for {name}", field="smooth_by")
        return Steps(tuple(replace(part, weight=by.get(part.name, 0.0)) for part in self.parts))

    def beyond(self, limits: Mapping[str, float]) -> Floats:
        """1 where a step is known and larger than the limit of its name, else 0: shape (n, n).

        >>> Steps((Step("age", "years", np.array([[0, 3.0], [3, 0]])),)).beyond({"age": 2}).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        parts = [self._part(name, "step_limits") for name in limits]
        found = np.zeros(self.parts[0].distance.shape, dtype=bool)
        for part, most in zip(parts, limits.values(), strict=True):
            found |= (part.distance > most + 1e-9) & (True if part.certainty is None else part.certainty > 0)
        return found.astype(np.float64)

    def _part(self, name: str, asked: str) -> Step:
        found = next((part for part in self.parts if part.name == name), None)
        if found is None:
            known = ", ".join(part.name for part in self.parts)
            raise InputError(f"no step between these items is called {name!r}; there are: {known}", field=asked)
        return found


@dataclass(frozen=True)
class Change:
    """A part of the steps before and after ordering: mean and worst, in its unit."""

    name: str
    unit: str
    mean: tuple[float, float]
    worst: tuple[float, float]


def changes(steps: Steps, before: Ints, after: Ints, breaks: Sequence[int] = ()) -> list[Change]:
    """What an ordering changed, part by part, from ``before`` to ``after``: two orderings of some of the items.

    The step across one of the ``breaks``, positions of ``after`` at which a new side begins, is none.
    """
    found = []
    for part in steps.active:
        distance = part.distance
        was, now = (distance[order[:-1], order[1:]] for order in (before, after))
        now = np.delete(now, [b - 1 for b in breaks])
        if len(was) and len(now):
            mean, worst = (float(was.mean()), float(now.mean())), (float(was.max()), float(now.max()))
            found.append(Change(part.name, part.unit, mean, worst))
    return found


def essence_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps where nothing else is known: the distance between essences (n,) or (n, d), in deviations."""
    rows = essence.reshape(len(collection), -1)
    return Steps((Step("essence", "deviations", np.sqrt(((rows[:, np.newaxis] - rows) ** 2).sum(axis=2))),))


# What a medium is: everything that the rest of the house may ask about a kind of media, in one value.


@dataclass(frozen=True)
class Spec:
    """A kind of features."""

    name: str
    version: int  #: rises whenever the same file would give other numbers
    feature_names: tuple[str, ...]  #: f names
    #: From a path and a function that says whether to give up to the features of the file, of shape `shape`.
    measure: Callable[[str, Stop], NDArray[np.float64]]
    shape: tuple[int, ...]  #: (f,) or (f, ...)
    #: Called once before many files: raises when something it needs is not installed.
    prepare: Callable[[], object] = lambda: None
    #: Whether a file is of a kind that is parsed by more than a header: then it is measured in a child process.
    parsed: Callable[[str], bool] = lambda path: False


# Looking at items once, and at some of them as if there were no others: what step models ask of a medium.

Look = Callable[[Sequence[int]], Evidence]  # from rows of a collection to what is known of these


def look_at_nothing(rows: Sequence[int]) -> Evidence:
    """The look of items that tell nothing beside their features."""
    return Evidence()


@dataclass(frozen=True)
class Cutting:
    """What a medium is given to cut a file into its items."""

    tell: Callable[[int, int, str], None] = lambda done, total, name: None  # told after each item
    stop: Stop = lambda: False  # asked before each; True gives up with `Stopped`
    notes: list[str] = field(default_factory=list)  # what the user should know goes here, such as what is left out


@dataclass(frozen=True, eq=False)
class Threads:
    """What runs through several of n items, such as the people of a story."""

    names: tuple[str, ...]  # k of them, the one that is met most first
    counts: Floats  # how often each is met in each item: shape (n, k)


@dataclass(frozen=True)
class Words:
    """What people call things of this medium."""

    # One atom, and several.
    item: str = "item"
    items: str = "items"
    collection: str = "collection"  # several that belong together
    creator: str = "creator"  # who made an item; also its name in JSON and tables
    # Feature -> (word for an item that has much of it, word for one that has little).
    traits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # Feature -> what people call it, where its own name is not it.
    features: Mapping[str, str] = field(default_factory=dict)
    # A file that is an item, and several.
    file: str = "a file of a known kind"
    files: str = "files of a known kind"
    side: str = "side"  # what a collection is cut into, where each has an arc of its own


def read_words(package: str) -> dict[str, Any]:
    """What a medium says of its items, by what it is about: the ``words.json`` of its package."""
    said = json.loads(files(package).joinpath("words.json").read_text(encoding="utf-8"))
    return {**said, "traits": {name: tuple(pair) for name, pair in said["traits"].items()}}


@dataclass(frozen=True, eq=False)
class Wave:
    """What an item looks like over its length."""

    # Shape (k,): the smallest and the largest value in each of k equal parts, from -1 to 1.
    low: Floats
    high: Floats
    # Where there is something first and last, in the unit of the medium; both 0 where there is nothing.
    begins: float
    ends: float
    length: float  # of the item, in the unit of the medium


@dataclass(frozen=True)
class Cover:
    """A picture that stands for an item: its bytes, and their media type."""

    data: bytes = field(repr=False)
    type: str


Lengths = Callable[[Collection], Floats]


@dataclass(frozen=True)
class Preview:
    """How an item is shown on the page: as ``"sound"``, ``"video"``, ``"picture"`` or ``"text"``, or not (``""``)."""

    kind: str = ""  # which of them
    # The media type of an ending where the server cannot guess it.
    types: Mapping[str, str] = field(default_factory=dict)
    # From a file, and a function that says whether to give up, to what it looks like over its length.
    wave: Callable[[str, Stop], Wave] | None = None
    # From a file, and the most pixels that its longer side needs, to the picture that stands for it; None where there
    # is none. One that is in the file already may be larger.
    cover: Callable[[str, int], Cover | None] | None = None
    # From a collection to what brings its items to one level, in dB, shape (n,), none above 0; NaN where it is not
    # known.
    gains: Lengths | None = None
    # From an item to how it begins and how it ends as plain text, to be read where two meet; None where there is
    # nothing to read.
    ends: Callable[[Item], tuple[str, str] | None] | None = None


@dataclass(frozen=True, eq=False)
class Facing:
    """What faces what on two pages of a book."""

    alone: NDArray[np.bool_]  # shape (n,), bool: which items need both pages
    # Measures two tables (n, n): how far two items are from each other, symmetric, about 1 on average; and what it
    # costs besides that these two face each other, whether they match or contrast.
    costs: Callable[[], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Choosing:
    """What few of n items are chosen by."""

    groups: Sequence[Hashable | None]  # of each item, what it shares with those of which one will do; None: nothing
    worth: Floats  # shape (n,): whole numbers that count, such as stars; parts of them say which is best of a group
    distance: Callable[[Sequence[int]], Floats]  # from m rows to how far these are from each other, shape (m, m)
    alike: str = ""  # what those of a group are, in words
    called: str = ""  # what a whole number of worth is called, such as ``{:g} stars and more``


def as_moment(text: Any) -> float | None:
    """Seconds since 1970 of a date or a moment as ISO 8601 or EXIF write it, on the clock it was written by.

    >>> as_moment("2024-05-17"), as_moment("2024:05:17 18:30:00") - as_moment("2024-05-17T18:00:00+02:00")
    (1715904000.0, 1800.0)
    """
    found = _MOMENT.match(text) if isinstance(text, str) else None
    if found is None:
        return None
    with suppress(ValueError, OverflowError):
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    return None


_MOMENT = re.compile(r"\s*(\d{4})[-:](\d\d)[-:](\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?|\s*$)")


def detail_number(value: Any) -> float | None:
    """A detail of an item as a number, a date as seconds since 1970; None where it is none.

    >>> detail_number(4), detail_number("2.5"), detail_number("1970-01-02"), detail_number("red")
    (4.0, 2.5, 86400.0, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError):
        number = float(value)
        return number if isfinite(number) else None
    return as_moment(value)


def detail_column(collection: Collection, name: str) -> Floats:
    """What items say in a detail, dates as seconds since 1970: shape (n,), NaN where that is no number."""
    numbers = map(detail_number, collection.texts(name))
    return np.array([np.nan if number is None else number for number in numbers])


def common_detail(items: Sequence[Item], name: str) -> str:
    """What all of some items say in a detail, such as the album they are from; "" where they do not say the same."""
    said = {str(item.details.get(name, "")) for item in items}
    return said.pop() if len(said) == 1 else ""


Numbers = tuple[int, int]  # which, and of how many


class Layout(tuple[int, ...]):
    """How many items each side has, empty where there is one; and how many stand in a row, 0: as many as fit.

    >>> Layout((4, 5), across=3), Layout((4, 5), across=3).across
    ((4, 5), 3)
    """

    across: int

    def __new__(cls, sides: Sequence[int] = (), across: int = 0) -> Layout:
        """Sizes of the sides."""
        made = super().__new__(cls, sides)
        made.across = across
        return made


Output = Callable[[Collection, Path, Layout], Path]  # items in their new order, target, how they are laid out
Sheet = Callable[[Collection, Path, Sequence[int], float], Path]  # sizes of the sides, and the gap between two items


def column(collection: Collection, name: str) -> Floats:
    """A feature of n items, shape (n,); NaN where the collection has none of that name."""
    if name not in collection.feature_names or collection.features.ndim > 2:
        return np.full(len(collection), np.nan)
    return np.asarray(collection.column(name), dtype=np.float64)


_Kind = TypeVar("_Kind")


def load_points(group: str, kind: type[_Kind]) -> Iterator[_Kind]:
    """What other packages bring under a group of entry points; an InputError for what is of another kind."""
    for point in load("importlib.metadata:entry_points")(group=group):  # slow to load
        try:
            found = point.load()
        except Exception as error:  # the package's own
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise InputError(f"the entry point {point.value!r} of {group} cannot be loaded ({why})") from error
        if not isinstance(found, kind):
            got = type(found).__name__
            raise InputError(f"the entry point {point.value!r} of {group} must name a {kind.__name__}; got {got}")
        yield found


@dataclass(frozen=True)
class lazy:  # noqa: N801 - it stands for a function
    """The function at ``"package.module:name"``, imported when it is called: many commands call none of them."""

    place: str

    def __call__(self, *given: Any) -> Any:
        """What it gives."""
        return load(self.place)(*given)


@dataclass(frozen=True)
class Medium:
    """A kind of media."""

    name: str  #: what it is called in the registry
    words: Words = Words()  #: what people call things
    examples: tuple[str, ...] = ()  #: what people do with such items, as commands, for the help
    #: Endings of files that are items; of folders that people take for one file; and of what lies beside items and is
    #: passed over in silence.
    endings: frozenset[str] = frozenset()
    bundles: frozenset[str] = frozenset()
    companions: frozenset[str] = frozenset()
    whole: Callable[[str], str] = lambda folder: ""  #: the one file of a folder that includes its others, or ""
    #: From a file to its item, with what its tags say; from an item to what it is sorted by within its folder, None
    #: where its file does not say; and from items to what they are called together, or "".
    read_item: Callable[[str], Item] = lambda path: Item(path, title=Path(path).stem, path=path)
    number: Callable[[Item], tuple[float, ...] | None] = lambda item: None
    title: Callable[[Sequence[Item]], str] = lambda items: ""
    #: From the name of a file, without its ending, to what an item is called that says no title of its own.
    called: Callable[[str], str] = lambda name: name
    #: From a file that is given alone, and how to tell how far it is, to the items in it with their features, or None
    #: where it is one item.
    parts: Callable[[str, Cutting], Collection | None] = lambda path, cutting: None
    #: From items that hold what they say in a detail, as rows of a table may, to the same with their features, or None.
    held: Callable[[Collection], Collection | None] = lambda collection: None
    #: From an item and a number to that many pieces of it in their order, as items with features, or None where it has
    #: no inside; and the feature whose course through an item is worth an arc.
    inner: Callable[[Item, int], Collection | None] = lambda item, count: None
    tone: str | None = None
    content: Callable[[Item], str] | None = None  #: what an item says, as text, for models that read
    #: What can be measured of a file, by name; the first is measured where nothing else is asked for.
    specs: Mapping[str, Callable[[], Spec]] = field(default_factory=dict)
    #: From a collection as a source gave it to one with the features that follow from those it has.
    complete: Callable[[Collection], Collection] = lambda collection: collection
    #: From a collection, and the slowest and fastest tempo to count in, to one whose tempi lie there by octaves.
    fold: Callable[[Collection, float, float], Collection] = lambda collection, low, high: collection
    #: The unit of an item's length, and the length of every item of a collection from its features, NaN where unknown.
    unit: Unit = COUNT
    lengths: Lengths = lambda collection: np.full(len(collection), np.nan)
    unknown: Mapping[str, str] = field(default_factory=dict)  #: feature -> why it may not be known of an item
    #: How far it is from one item to the next, for smoothness.
    steps: Callable[[Collection, Floats], Steps] = essence_steps
    #: What runs through several items of a collection, such as the people of a story; None where nothing does.
    threads: Callable[[Collection], Threads | None] = lambda collection: None
    #: From a collection to what step models look at in some of its items, beside their features.
    look: Callable[[Collection], Look] = lambda collection: look_at_nothing
    #: From a collection that was measured to what arcs are drawn along and templates laid along where nothing else is
    #: asked for, None where that is not known of every item; and what it is called.
    axis: Callable[[Collection], Axis | None] = lambda collection: None
    axis_name: str = ""
    #: Shipped models whose essence draws the arc where there is no axis, the one that knows most first.
    models: tuple[str, ...] = ()
    #: The shipped model that proposes orders where no template is asked for, a set model or a step model, which takes
    #: what ``look`` gives by name; None where there is none.
    proposer: str | None = None
    #: From a collection to the shipped model that knows such items better, as poems are known, and why it is taken, in
    #: words; two times "" for most.
    special: Callable[[Collection], tuple[str, str]] = lambda collection: ("", "")
    #: The shipped model that lays out items which have nothing to do with each other, and what it does, in words.
    varied: tuple[str, str] | None = None
    #: What an order may be for, such as a concert: from a collection to the model that proposes then, and a note.
    occasions: Mapping[str, Callable[[Collection], tuple[str, str]]] = field(default_factory=dict)
    neighbours: bool = False  #: whether it is by their steps alone that orders of such items are learned
    #: Features by which a table is known to be of this medium, those worth an arc first; and features that stand for
    #: something else than how much there is of it, which no arc is drawn over.
    columns: tuple[str, ...] = ()
    codes: frozenset[str] = frozenset()
    #: Whether a file is parsed by more than a header: then it is read in a child process.
    parsed: Callable[[str], bool] = lambda path: False
    places: frozenset[str] = frozenset()  #: details of an item that name a file it lies in, besides its path
    preview: Preview = Preview()  #: how an item is shown on the page
    #: What few of many items are chosen by; None: by the steps between them.
    choosing: Callable[[Collection], Choosing] | None = None
    #: How items go beside each other on facing pages; None where they have none.
    facing: Callable[[Collection], Facing] | None = None
    #: Ending -> how a collection is written in a format of this medium's own; and how many items one holds at most.
    outputs: Mapping[str, Output] = field(default_factory=dict)
    room: Mapping[str, int] = field(default_factory=dict)
    #: From a collection and a file of one of its outputs to what does not come along into that, in words; or "".
    losses: Callable[[Collection, Path], str] = lambda collection, target: ""
    #: Ending -> how a collection is written in a format that says when each item begins, with a gap between two.
    sheets: Mapping[str, Sheet] = field(default_factory=dict)
    #: Writes the number of a position, and of a side where there are several, into a file, or beside it; and from a
    #: file to what is written then, which is the file itself or one beside it that may be replaced.
    write_numbers: Callable[[Path, Numbers, Numbers | None], None] | None = None
    numbered: Callable[[Path], Path] = lambda path: path
    #: Mends copies that name each other: from the files to their copies.
    relink: Callable[[Mapping[Path, Path]], None] = lambda copies: None
    telling: Telling = field(default_factory=Telling)  #: what can be told of items besides their titles
    levelling: Levelling | None = None  #: how items are brought to one level; None where that makes no sense
    presets: Mapping[str, Preset] = field(default_factory=dict)  #: wishes that go together, by name
    #: From a collection to what by its titles stands before and behind all else, such as a title page and an index:
    #: item indices, each in its order.
    matter: Callable[[Collection], tuple[list[int], list[int]]] = lambda collection: ([], [])

    def spec(self, name: str | None = None) -> Spec:
        """A spec by name; by default the first. An InputError where there is none."""
        if not self.specs:
            raise InputError(f"{self.words.items} of medium {self.name!r} cannot be measured")
        chosen = name or next(iter(self.specs))
        if chosen not in self.specs:
            raise InputError(f"the features must be one of {', '.join(self.specs)}; got {chosen!r}")
        return self.specs[chosen]()

    @property
    def measured(self) -> tuple[str, ...]:
        """The features that are measured where nothing else is asked for."""
        return self.spec().feature_names if self.specs else ()

    def shown(self, feature: str) -> str:
        """What people call a feature."""
        return self.words.features.get(feature, feature)

    def meant(self, text: str, features: Iterable[str]) -> str | None:
        """The feature a person means, by its own name or by what people call it; None where none is called so."""
        wanted = text.casefold()
        known = list(features)
        named = (name for name in known if name.casefold() == wanted)
        return next(named, next((name for name in known if self.shown(name).casefold() == wanted), None))


# What a medium finds in the items of a collection beside their features: what models of pairs ask for.

MANY = 1000  # items beyond which tables of pairs are measured when they are asked for, and not kept


def find_evidence(collection: Collection, medium: Medium) -> Evidence:
    """What a medium finds in the items of a collection, or else in the steps between what was measured of them."""
    found = medium.look(collection)(range(len(collection)))
    if found.pairs:
        return found

    def measure(part: Step) -> NDArray[np.floating]:
        from fabula.models.encoders.measures import closeness  # not loaded by who only parses files

        return closeness(part.distance, own=callable(part.measured))

    steps = medium.steps(collection, np.zeros(len(collection)))
    return Evidence(PairTables({part.name: partial(measure, part) for part in steps.parts}))


class PairTables(Mapping[str, NDArray[np.floating]]):
    """Tables of pairs (n, n) by name, each made when it is asked for; kept of few items."""

    def __init__(self, makers: Mapping[str, Callable[[], NDArray[np.floating]]]) -> None:
        self._makers = dict(makers)
        self._kept: dict[str, NDArray[np.floating]] = {}

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        if name in self._kept:
            return self._kept[name]
        table = self._makers[name]()
        if len(table) <= MANY:
            self._kept[name] = table
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
