"""Inner arcs: the course of a feature and of the essence through single items, and which templates they are like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.builtin import template, template_names
from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats, normalise
from fabula.core.template import Template
from fabula.errors import FileError, InputError, shown
from fabula.evaluation.shapes import ShapeFit, SmoothArc, fit_shapes, smooth_with_band
from fabula.media.medium import Medium
from fabula.media.registry import item_endings, medium_of_file
from fabula.models.file import load_model
from fabula.session.explain import MOST_ITEMS
from fabula.session.propose import judge
from fabula.sources.registry import open_source

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered

SIX = ("rags-to-riches", "tragedy", "man-in-a-hole", "icarus", "cinderella", "oedipus")  # Reagan et al. 2016
WINDOW = 10_000  # words of a sliding window, as Reagan et al. have it
_SHARE = 0.2  # of the whole that a window has at most
_SECTIONS = 24  # of the essence, which needs some length to be told
PIECES = 500
FEWEST = 20  # pieces, below which there is no arc to speak of
_KNOWN = 0.5  # share of the pieces that must say something


@dataclass(frozen=True)
class Windows:
    """How an inner arc is taken.

    Attributes
    ----------
    by
        The feature; by default the one the medium names.
    window
        The length of a sliding window, in the medium's unit; never more than a fifth of the item.
    seed
        Of the draws that say how sure it is.
    """

    by: str | None = None
    window: float = WINDOW
    seed: int = 0


@dataclass(frozen=True, eq=False)
class InnerArc:
    """The inner arc of one item.

    Attributes
    ----------
    item, medium
        Whose, and its kind.
    column
        The feature.
    length, window
        Of the item and of a sliding window, in the medium's unit.
    at
        Where each window has its middle, in [0, 1]: shape (p,).
    arc
        The feature along the item, with its band.
    essence
        Along even sections of it, by the model that proposes orders, z-scored: shape (s,); empty where there is none.
    six, learned
        How like it is to the six emotional arcs of Reagan et al., and to the templates learned from collections.
    """

    item: Item
    medium: Medium
    column: str
    length: float
    window: float
    at: Floats
    arc: SmoothArc
    essence: Floats
    six: ShapeFit
    learned: ShapeFit

    @property
    def shape(self) -> Template:
        """The likest of the six."""
        return self.six.templates[0]

    def describe(self) -> str:
        """What it is like, and how sure that is, in a sentence.

        The share of shuffles decides whether it is believed; that of arcs drawn again, which of the six.
        """
        name = self.shape.name.replace("-", " ")
        like = f"{name} (correlation {self.six.likeness[0]:.2f})"
        if self.six.chance > 0.1:
            return f"no shape beyond chance: nearest {like}, and {self.six.chance:.0%} of its shuffles go as far"
        sure = "surely" if self.six.shares[0] >= 0.9 else "likely" if self.six.shares[0] >= 0.6 else "perhaps"
        rest = (
            f"{self.six.shares[0]:.0%} of the arcs drawn again agree, {self.six.chance:.1%} of its shuffles go as far"
        )
        return f"{sure} {like}; {rest}"

    def to_json(self) -> dict[str, Any]:
        """Everything about it as JSON can hold it."""
        return {
            "title": self.item.label,
            self.medium.words.creator: self.item.creator,
            "path": self.item.path,
            "length": self.length,
            "unit": self.medium.unit.name,
            "window": self.window,
            "column": self.column,
            "at": self.at.round(5).tolist(),
            "values": self.arc.values.round(6).tolist(),
            "low": self.arc.low.round(6).tolist(),
            "high": self.arc.high.round(6).tolist(),
            "essence": self.essence.round(6).tolist(),
            "shape": self.shape.name,
            "six": _shapes(self.six),
            "learned": _shapes(self.learned),
            "told": self.describe(),
        }


def inner_arcs(
    paths: Sequence[str | Path],
    windows: Windows | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[InnerArc]:
    """The inner arc of each of some files or folders.

    Parameters
    ----------
    paths
        Files, each an item of a medium whose items have an inside; or folders of them, each taken as one.
    windows
        How.
    progress
        Called with (done, total, path) after each.

    Raises
    ------
    InputError
        When a file is of no such kind, or too short, or does not have the feature.
    """
    how = windows or Windows()
    found = []
    for path in map(str, paths):
        item, medium, parts = _open(path)
        found.append(inner_arc(item, medium, how, parts))
        if progress is not None:
            progress(len(found), len(paths), path)
    return found


def inner_arc(item: Item, medium: Medium, windows: Windows | None = None, parts: Sequence[Item] = ()) -> InnerArc:
    """The inner arc of one item: its pieces measured, averaged in sliding windows, and laid beside templates.

    Parameters
    ----------
    item, medium
        What it is called, and its kind.
    windows
        How.
    parts
        Where it is in several files: these, one after the other.
    """
    how = windows or Windows()
    if not how.window > 0:
        raise InputError(f"must be above 0; got {how.window:g}", field="window")
    within = parts or (item,)
    pieces, _ = pieces_along(within, medium, PIECES)
    if pieces is None or len(pieces) < FEWEST:
        if len(within) == 1 and item.path:
            medium.spec().measure(item.path, lambda: False)  # says what is wrong with a file that cannot be read
        raise FileError(f"{_name(item)}: is too short for an arc")
    column, values = _column(pieces, item, medium, how.by)
    lengths = medium.lengths(pieces)
    length = float(lengths.sum())
    share = min(_SHARE, how.window / length)
    span = max(1, round(share * len(pieces)))
    rng = np.random.default_rng(how.seed)
    arc = smooth_with_band(values, span, rng)
    half = span / len(pieces) / 2
    fits = [fit_shapes(values, known, span=span, rng=rng) for known in (_six(), _corpus_templates())]
    at = np.linspace(half, 1 - half, len(arc.values))
    return InnerArc(item, medium, column, length, share * length, at, arc, _essence(within, medium), *fits)


def _open(path: str) -> tuple[Item, Medium, tuple[Item, ...]]:
    """An item, its kind, and the items of a folder in the order of their names, which are its parts."""
    if Path(path).is_dir():
        source = open_source([path])
        if source.medium.tone is None:
            raise InputError(f"{shown(path)}: {source.medium.words.items} have no inner arc")
        return Item(path, source.title, path), source.medium, source.collection.items
    medium = medium_of_file(Path(path).suffix)
    if medium is None or medium.tone is None:
        own = [ending for ending in sorted(item_endings()) if getattr(medium_of_file(ending), "tone", None)]
        raise InputError(f"{shown(path)}: has no inner arc; files that have one end in {', '.join(own)}")
    if not Path(path).is_file():
        raise FileError(f"{shown(path)}: no such file")
    return medium.read_item(path), medium, ()


def _column(pieces: Collection, item: Item, medium: Medium, by: str | None) -> tuple[str, Floats]:
    asked = by or medium.tone or ""
    name = medium.meant(asked, pieces.feature_names)
    if name is None:
        raise InputError(f"there is no {asked!r}; there are: {', '.join(pieces.feature_names)}", field="by")
    values = pieces.column(name)
    if np.isfinite(values).sum() < FEWEST:
        raise InputError(f"{_name(item)}: has no {name!r}: {medium.unknown.get(name, 'not known')}", field="by")
    return name, values


def _name(item: Item) -> str:
    return shown(item.path) or item.label


def _essence(parts: Sequence[Item], medium: Medium) -> Floats:
    """Where each section leans to, the beginning (high) or the end (low), by the model that proposes orders."""
    sections, _ = pieces_along(parts, medium, _SECTIONS)
    if medium.proposer is None or sections is None or len(sections) < _SECTIONS // 2:
        return np.empty(0)
    judged = judge(load_model(medium.proposer), sections, medium)
    return normalise(judged.essence())


def _six() -> list[Template]:
    return [template(name) for name in SIX]


def _corpus_templates() -> list[Template]:
    return [template(name) for name in template_names() if name.startswith("album-4")]


def _shapes(fit: ShapeFit) -> list[dict[str, Any]]:
    rows = zip(fit.templates, fit.likeness.tolist(), fit.shares.tolist(), strict=True)
    return [{"name": t.name, "likeness": r, "share": s, "chance": fit.chance} for t, r, s in rows]


@dataclass(frozen=True, eq=False)
class WholeArc:
    """The course of a feature through items laid one after the other.

    ``at`` and ``arc`` are as of an inner arc; ``starts`` tells where each item begins, in [0, 1], and ``labels``
    what it is called.
    """

    column: str
    at: Floats
    arc: SmoothArc
    starts: Floats
    labels: tuple[str, ...]


def whole_arc(ordered: Ordered) -> WholeArc | None:
    """The arc through all items of an order, piece by piece; None where they have no inside that could be told."""
    session = ordered.session
    medium, items = session.medium, session.readable.only(ordered.ordering).items
    if medium.tone is None or len(items) > MOST_ITEMS:
        return None
    pieces, starts = pieces_along(items, medium, PIECES)
    if pieces is None or len(pieces) < FEWEST:
        return None
    values = pieces.column(medium.tone)
    if np.isfinite(values).mean() < _KNOWN:
        return None
    span = max(1, len(values) // 10)
    arc = smooth_with_band(values, span, np.random.default_rng(0))
    half = span / len(values) / 2
    at = np.linspace(half, 1 - half, len(arc.values))
    return WholeArc(medium.tone, at, arc, np.array(starts) / len(values), tuple(item.label for item in items))


def pieces_along(items: Sequence[Item], medium: Medium, count: int) -> tuple[Collection | None, list[int]]:
    """About so many pieces of items laid one after the other, and the number of the first of each item.

    Each item has as many as its share of the whole; one that cannot be cut has none. None where none can.

    Parameters
    ----------
    items, medium
        In their order, and their kind.
    count
        How many in all.
    """
    sizes = [len(medium.content(item)) if medium.content is not None else 1 for item in items]
    found: list[Collection] = []
    starts: list[int] = []
    for item, size in zip(items, sizes, strict=True):
        starts.append(sum(map(len, found)))
        pieces = medium.inner(item, max(2, round(count * size / max(1, sum(sizes)))))
        if pieces is not None:
            found.append(pieces)
    if not found:
        return None, starts
    numbered = [Item(str(number)) for number in range(sum(map(len, found)))]
    rows = np.concatenate([pieces.features for pieces in found])
    return Collection("pieces", numbered, rows, found[0].feature_names), starts
