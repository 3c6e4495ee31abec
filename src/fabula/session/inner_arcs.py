"""Inner arcs: the course of a feature and of the essence through single items, and which templates they are like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.builtin import template, template_names
from fabula.core.collection import Collection, Item
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
    """How an inner arc is taken."""

    by: str | None = None  # the feature; by default the one the medium names
    window: float = WINDOW  # length of a sliding one, in the medium's unit; never more than a fifth of the item
    seed: int = 0  # of the draws that say how sure it is


@dataclass(frozen=True, eq=False)
class InnerArc:
    """The inner arc of one item; length and window are in the medium's unit."""

    item: Item
    medium: Medium
    column: str  # the feature
    length: float
    window: float
    at: Floats  # (p,), where each window has its middle, in [0, 1]
    arc: SmoothArc  # the feature along the item, with its band
    essence: Floats  # (s,), of even sections, by the model that proposes orders, z-scored; empty where there is none
    six: ShapeFit  # how like it is to the six emotional arcs of Reagan et al.
    learned: ShapeFit  # and to the templates learned from collections

    @property
    def shape(self) -> Template:
        """The likest of the six."""
        return self.six.templates[0]

    def describe(self) -> str:
        """What it is like, and how sure that is, in a sentence.

        The share of shuffles decides whether it is believed; that of arcs drawn again, which of the six.
        """
        share, chance = self.six.shares[0], self.six.chance
        like = f"{self.shape.name.replace('-', ' ')} (correlation {self.six.likeness[0]:.2f})"
        if chance > 0.1:
            return f"no shape beyond chance: nearest {like}, and {chance:.0%} of its shuffles go as far"
        sure = "surely" if share >= 0.9 else "likely" if share >= 0.6 else "perhaps"
        return f"{sure} {like}; {share:.0%} of the arcs drawn again agree, {chance:.1%} of its shuffles go as far"

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
    """The inner arc of each of some files, items of a medium whose items have an inside, or folders, each as one.

    `progress` is called with (done, total, path) after each.
    """
    how = windows or Windows()
    if not how.window > 0:
        raise InputError(f"must be above 0; got {how.window:g}", field="window")
    found = []
    for path in map(str, paths):
        found.append(_inner_arc(*_open(path), how))
        if progress is not None:
            progress(len(found), len(paths), path)
    return found


def _inner_arc(item: Item, medium: Medium, parts: Sequence[Item], how: Windows) -> InnerArc:
    """The inner arc of an item: its pieces measured, averaged in sliding windows, and laid beside templates."""
    pieces, _ = pieces_along(parts, medium, PIECES)
    if pieces is None or len(pieces) < FEWEST:
        if len(parts) == 1 and item.path:
            medium.spec().measure(item.path, lambda: False)  # says what is wrong with a file that cannot be read
        raise FileError(f"{_name(item)}: is too short for an arc")
    column, values = _column(pieces, item, medium, how.by)
    lengths = medium.lengths(pieces)
    length = float(lengths.sum())
    share = min(_SHARE, how.window / length)
    span = max(1, round(share * len(pieces)))
    rng = np.random.default_rng(how.seed)
    at, arc = _smooth(values, span, rng)
    learned = [name for name in template_names() if name.startswith("album-4")]
    fits = [fit_shapes(values, list(map(template, known)), span=span, rng=rng) for known in (SIX, learned)]
    return InnerArc(item, medium, column, length, share * length, at, arc, _essence(parts, medium), *fits)


def _smooth(values: Floats, span: int, rng: np.random.Generator) -> tuple[Floats, SmoothArc]:
    """Where each window has its middle, in [0, 1], and the values averaged in windows of so many pieces."""
    arc, half = smooth_with_band(values, span, rng), span / len(values) / 2
    return np.linspace(half, 1 - half, len(arc.values)), arc


def _open(path: str) -> tuple[Item, Medium, tuple[Item, ...]]:
    """An item, its kind, and its parts: itself, or the items of a folder in the order of their names."""
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
    item = medium.read_item(path)
    return item, medium, (item,)


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


def _shapes(fit: ShapeFit) -> list[dict[str, Any]]:
    rows = zip(fit.templates, fit.likeness.tolist(), fit.shares.tolist(), strict=True)
    return [{"name": t.name, "likeness": r, "share": s, "chance": fit.chance} for t, r, s in rows]


@dataclass(frozen=True, eq=False)
class WholeArc:
    """The course of a feature through items laid one after the other; column, at and arc as of an inner arc."""

    column: str
    at: Floats
    arc: SmoothArc
    starts: Floats  # where each item begins, in [0, 1]
    labels: tuple[str, ...]  # what each is called


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
    at, arc = _smooth(values, max(1, len(values) // 10), np.random.default_rng(0))
    return WholeArc(medium.tone, at, arc, np.array(starts) / len(values), tuple(item.label for item in items))


def pieces_along(items: Sequence[Item], medium: Medium, count: int) -> tuple[Collection | None, list[int]]:
    """About so many pieces of items laid one after the other, and the number of the first of each item.

    Each item has as many as its share of the whole; one that cannot be cut has none. None where none can.
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
