"""Collections: items with an id, their features, and what else is known of them as evidence."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Floats, as_ordering
from fabula.core.display import name_some, number, table_html
from fabula.errors import InputError, brief, check_kind

if TYPE_CHECKING:
    from scipy import sparse

    from fabula.core.collections import ItemColumns

_HEAD = 8  # items that a collection shows of itself
_COLUMNS = 8  # features

_AND, _FEATURED = frozenset(("and", "y", "und", "et")), frozenset(("feat", "ft", "featuring"))


@lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """A text in lower case, without accents, in plain forms of its characters: "Canción  Ⅳ" -> "cancion iv"."""
    if text.isascii():
        return " ".join(text.lower().split())
    decomposed = unicodedata.normalize("NFKD", text)
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).lower().split())


def fold_creator(name: str) -> str:
    """A name such that spellings of one artist are one: no case, accents, marks or spaces, no "The" before it.

    "and" is "&", and who is featured is left out.

    >>> fold_creator("The Jay-Z Band"), fold_creator("JAY Z band"), fold_creator("The The"), fold_creator("!!!")
    ('jayzband', 'jayzband', 'the', '!!!')
    >>> fold_creator("Simon and Garfunkel") == fold_creator("Simon & Garfunkel (feat. A Choir)")
    True
    """
    folded = fold(name)
    words = re.findall(r"[^\W_]+", folded)
    words = words[1:] if len(words) > 1 and words[0] == "the" else words
    words = words[: next((k for k, word in enumerate(words) if k and word in _FEATURED), None)]
    ends = (0, len(words) - 1)  # "And One" is a name, "Generation Y" too
    return "".join(word for k, word in enumerate(words) if k in ends or word not in _AND) or folded


@dataclass(frozen=True)
class Item:
    """One atom: a track, an image, a passage, a shot.

    ``artist`` is who made it. ``length`` is what limits and sides count, in the unit of its medium; None where it is
    not known. ``details`` holds what else its source said of it, by name.
    """

    id: str
    title: str = ""
    path: str = ""
    artist: str = ""
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    length: float | None = None

    @property
    def creator(self) -> str:
        """Who made it."""
        return self.artist

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be pickled, and items must travel to other processes.
        return Item, (self.id, self.title, self.path, self.artist, dict(self.details), self.length)

    @property
    def label(self) -> str:
        """What to call it: its title, else the name of its file, else its id."""
        return self.title or self.path.replace("\\", "/").rstrip("/").rpartition("/")[2] or self.id


@dataclass(frozen=True, eq=False)
class Collection:
    """Items with an id; *ordered* when the order given is the true one.

    Parameters
    ----------
    id
        What tells it from other collections.
    items
        One or more.
    features
        Shape (n, f), or (n, f, ...) for features that are arrays; NaN where a value is missing.
    feature_names
        f names, one per column.
    ordered
        Whether the given order is the true one.
    title
        What to call it.

    Examples
    --------
    >>> c = Collection("1", (Item("a"), Item("b")), [[0.5], [0.7]], ("energy",))
    >>> c.column("energy")
    array([0.5, 0.7])
    """

    id: str
    items: tuple[Item, ...]
    features: NDArray[np.floating[Any]] = field(repr=False)
    feature_names: tuple[str, ...] = ()
    ordered: bool = True
    title: str = ""

    def __init__(
        self,
        id: str,  # noqa: A002 - the design's word
        items: tuple[Item, ...] | list[Item],
        features: ArrayLike | None = None,
        feature_names: tuple[str, ...] | list[str] = (),
        *,
        ordered: bool = True,
        title: str = "",
    ) -> None:
        given = tuple(items)
        named: Any = feature_names
        if isinstance(named, str):
            raise InputError(f"must be a list of names; got {brief(named)}", field="feature_names")
        for item in given:
            check_kind(item, Item, "a list of Items", "items")
        names = tuple(feature_names)
        array = np.asarray(np.empty((len(given), 0)) if features is None else features)
        if not np.issubdtype(array.dtype, np.floating):
            try:
                array = array.astype(np.float64)
            except (TypeError, ValueError):
                raise InputError(f"must be numbers; got {brief(features)}", field="features") from None
        if not given:
            raise InputError(f"collection {id!r} must have at least one item")
        if array.ndim < 2 or array.shape[:2] != (len(given), len(names)):
            raise InputError(
                f"collection {id!r} has {len(given)} items and {len(names)} feature names: "
                f"features must have shape ({len(given)}, {len(names)}, ...); got {array.shape}"
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"collection {id!r}: feature {twice!r} is named twice")
        self.__dict__.update(id=id, items=given, features=array, feature_names=names, ordered=ordered, title=title)

    @classmethod
    def view(cls, columns: "tuple[ItemColumns, slice]", **known: Any) -> "Collection":
        """A collection of all that is ``known`` but its items, which are made of some rows when first asked for.

        :class:`fabula.Collections` makes these of its block; nothing is checked or copied.
        """
        made = object.__new__(cls)
        made.__dict__.update(known, _columns=columns)
        return made

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__.get("_columns") if name == "items" else None
        if held is None:
            raise AttributeError(f"a Collection has no attribute {name!r}")
        self.__dict__["items"] = items = held[0].part(held[1]).items()
        return items

    def texts(self, name: str) -> list[Any]:
        """One word of every item: its id, title, path, artist, or a detail by its name; "" where it has none.

        >>> Collection("1", (Item("a", "Intro"), Item("b"))).texts("title")
        ['Intro', '']
        """
        held = self.__dict__.get("_columns")
        if held is not None:
            cells = held[0].column(name)
            return [""] * len(self) if cells is None else cells[held[1]].tolist()
        if name in ("id", "title", "path", "artist"):
            return [getattr(item, name) for item in self.items]
        return [item.details.get(name, "") for item in self.items]

    @property
    def creators(self) -> list[str]:
        """Who made each item; "" where that is not known."""
        return self.texts("artist")

    @property
    def maker(self) -> str:
        """Who made it, one spelling for all: the first name that an item says; "" where none does."""
        return next((fold_creator(name) for name in self.creators if name), "")

    @property
    def detail_names(self) -> tuple[str, ...]:
        """The names of the details that items may have."""
        held = self.__dict__.get("_columns")
        return tuple(held[0].details if held else dict.fromkeys(name for item in self.items for name in item.details))

    def detail_named(self, name: str) -> str | None:
        """The detail of a name in any case; None where there is none."""
        return next((one for one in self.detail_names if one.casefold() == name.casefold()), None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("id", "items", "features", "feature_names", "ordered", "title")}

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        what = f"{len(self)} item{'' if len(self) == 1 else 's'}{', in their true order' if self.ordered else ''}"
        first = name_some([item.label for item in self.items], 3)
        features = name_some(self.feature_names) or "none"
        return f"<Collection {self.title or self.id!r}: {what} ({first}); features: {features}>"

    def _repr_html_(self) -> str:
        names = self.feature_names[:_COLUMNS] if self.features.ndim == 2 else ()
        rows = [
            [str(i + 1), item.label, item.creator, *(number(self.features[i, f]) for f in range(len(names)))]
            for i, item in enumerate(self.items[:_HEAD])
        ]
        beyond = {"items": len(self) - _HEAD, "features": len(self.feature_names) - len(names)}
        hidden = [f"{many} more {what}" for what, many in beyond.items() if many > 0]
        state = "in their true order" if self.ordered else "in no known order"
        caption = f"{self.title or self.id}: {len(self)} items, {state}"
        return table_html(["#", "title", "by", *names], rows, caption=caption, more=", ".join(hidden))

    def column(self, name: str) -> Floats:
        """One feature of every item, shape (n,) or (n, ...); an error lists what there is."""
        return self.columns((name,))[:, 0]

    def columns(self, names: tuple[str, ...] | list[str]) -> Floats:
        """Some features of every item by name, shape (n, len(names), ...)."""
        missing = [name for name in names if name not in self.feature_names]
        if missing:
            known = ", ".join(self.feature_names) or "none"
            raise InputError(f"collection {self.id!r} has no feature {', '.join(map(repr, missing))}; it has: {known}")
        return np.asarray(self.features[:, [self.feature_names.index(name) for name in names]], dtype=np.float64)

    def only(self, indices: Sequence[int] | NDArray[np.intp]) -> "Collection":
        """Some of the items, in the order of the indices.

        >>> Collection("1", (Item("a"), Item("b"))).only([1]).items[0].id
        'b'
        """
        chosen = list(indices)
        return replace(self, items=tuple(self.items[i] for i in chosen), features=self.features[chosen])

    def reordered(self, ordering: ArrayLike, *, ordered: bool = False) -> "Collection":
        """The same items in another order."""
        order = as_ordering(ordering, len(self))
        return replace(self.only(order), ordered=ordered)


# What is known of items beside their features: tables over all pairs of them, and the terms they hold.


@dataclass(frozen=True, eq=False)
class Terms:
    """How often which term stands in which of n items."""

    language: str  # whose terms they are; empty where it is not known
    names: Sequence[str]  # w terms
    counts: "sparse.csr_array"  # (n, w), sparse
    totals: Floats  # (n,): all terms of each item

    def rates(self, wanted: Sequence[str]) -> Floats:
        """Logarithms of 1 + how often each wanted term stands among 1,000: shape (n, wanted).

        >>> from scipy import sparse
        >>> terms = Terms("en", ("sea", "land"), sparse.csr_array([[1.0, 0.0], [0.0, 3.0]]), np.array([100.0, 100.0]))
        >>> terms.rates(["land", "sky"]).round(2).tolist()
        [[0.0, 0.0], [3.43, 0.0]]
        """
        place = {name: number for number, name in enumerate(self.names)}
        there = [(column, place[name]) for column, name in enumerate(wanted) if name in place]
        found = np.zeros((self.counts.shape[0], len(wanted)))
        if there:
            columns, numbers = map(list, zip(*there, strict=True))
            found[:, columns] = self.counts[:, numbers].toarray()
        return np.asarray(np.log1p(1000 * found / np.maximum(self.totals, 1)[:, np.newaxis]))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of n items beside their features."""

    # name -> (n, n), scaled: how alike two items are, or how much speaks for the first before the second
    pairs: Mapping[str, NDArray[np.floating]] = field(default_factory=dict)
    terms: Terms | None = None
