"""Inner arcs: the course of a feature and of the essence through single items, and which templates they are like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Collection, Item
from fabula.core.template import Template, template, template_names
from fabula.errors import FileError, InputError, shown
from fabula.media.medium import Cutting, Medium
from fabula.media.registry import item_endings, medium_of_file
from fabula.models.model import load_model
from fabula.session.explain import MOST_ITEMS
from fabula.session.propose import judge
from fabula.sources.registry import open_source

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered

# Which of some templates an arc is like, how sure that is: against shuffles, and with its pieces drawn again.

POINTS = 100  # of a smoothed arc
_DRAWS = 400  # arcs drawn again, and shuffles
_BLOCKS = 40  # runs of pieces that are shuffled, or drawn again within: neighbouring pieces are alike


@dataclass(frozen=True, eq=False)
class ShapeFit:
    """How like an arc is to k templates."""

    templates: tuple[Template, ...]  # the likest first
    likeness: Floats  # (k,): the correlation of the arc with each, in that order
    shares: Floats  # (k,): in which share of the arcs drawn again each is the likest
    # The share of shuffles that follow one of them as far as the arc does: by the height of the swing that is like it,
    # since after smoothing many a small swing of a shuffle is like something.
    chance: float


@dataclass(frozen=True, eq=False)
class SmoothArc:
    """The course of a feature in p sliding windows, with a 90 % band of the same drawn again, shapes (p,)."""

    column: str  # the feature
    at: Floats  # where each window has its middle, in [0, 1]
    values: Floats
    low: Floats
    high: Floats


def smooth(values: Floats, span: int) -> Floats:
    """Means (..., p) of values (..., m), NaN left out, over p sliding windows of so many pieces, whole ones alone.

    >>> smooth(np.array([1.0, 2, 3, 4]), 2).tolist()
    [1.5, 2.5, 3.5]
    """
    m = values.shape[-1]
    starts = np.unique(np.linspace(0, m - span, POINTS).round().astype(np.int64))
    known = np.isfinite(values)
    zero = np.zeros((*values.shape[:-1], 1))
    sums = np.concatenate([zero, np.cumsum(np.where(known, values, 0.0), axis=-1)], axis=-1)
    counts = np.concatenate([zero, np.cumsum(known, axis=-1)], axis=-1)
    there = counts[..., starts + span] - counts[..., starts]
    return np.asarray((sums[..., starts + span] - sums[..., starts]) / np.maximum(there, 1))


def fit_shapes(
    values: Floats, templates: Sequence[Template], *, span: int, rng: np.random.Generator, draws: int = _DRAWS
) -> ShapeFit:
    """Which of some templates of one dimension the arc of pieces (m,), NaN where one says nothing, is like."""
    arc = smooth(values, span)
    curves = _unit(np.stack([template.samples(len(arc)) for template in templates]))  # (k, p)
    likeness = curves @ _unit(arc)
    again = _unit(smooth(_draw_again(values, draws, rng), span)) @ curves.T  # (r, k)
    shares = np.bincount(again.argmax(axis=1), minlength=len(templates)) / draws
    blocks = _blocks(len(values))
    shuffles = [np.concatenate([blocks[b] for b in rng.permutation(len(blocks))]) for _ in range(draws)]
    by_chance = (smooth(values[np.stack(shuffles)], span) @ curves.T).max(axis=1)  # curves have mean 0
    order = np.argsort(-likeness, kind="stable")
    chance = float((1 + (by_chance >= (curves @ arc).max()).sum()) / (1 + draws))
    return ShapeFit(tuple(templates[i] for i in order), likeness[order], shares[order], chance)


def _blocks(m: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return np.array_split(np.arange(m), min(_BLOCKS, m))


def _draw_again(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The pieces of each block drawn with replacement: shape (r, m)."""
    chosen = [block[rng.integers(len(block), size=(draws, len(block)))] for block in _blocks(len(values))]
    return np.asarray(values[np.concatenate(chosen, axis=1)])


def _unit(curves: Floats) -> Floats:
    """Curves less their means, of length 1: shape (..., p); flat ones are 0."""
    centred = curves - curves.mean(axis=-1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    return np.asarray(centred / np.where(length > 1e-12, length, 1.0))


SIX = ("rags-to-riches", "tragedy", "man-in-a-hole", "icarus", "cinderella", "oedipus")  # Reagan et al. 2016
WINDOW = 10_000  # words of a sliding window, as Reagan et al. have it
_SHARE = 0.2  # of the whole that a window has at most
_SECTIONS = 24  # of the essence, which needs some length to be told
PIECES = 500
FEWEST = 20  # pieces, below which there is no arc to speak of
_BELIEVED = 0.1  # share of shuffles that have as much of a shape, beyond which it is not believed
_KNOWN = 0.5  # share of the pieces that must say something


@dataclass(frozen=True, eq=False)
class InnerArc(SmoothArc):
    """The inner arc of one item; length and window are in the medium's unit."""

    item: Item
    medium: Medium
    length: float
    window: float
    # (s,), where even sections lean to by the model that proposes orders, z-scored; empty where there is none
    essence: Floats
    six: ShapeFit  # how like it is to the six emotional arcs of Reagan et al.
    learned: ShapeFit  # and to the templates learned from collections
    starts: Floats  # where each of its parts, such as chapters, begins, in [0, 1]; none where it has no parts

    @property
    def template(self) -> Floats | None:
        """The likest of the six in the units of the arc, (p,); None where there is none."""
        values, shape = self.values, self.shape
        return None if shape is None else values.mean() + values.std() * shape.normalised().samples(len(self.at))

    @property
    def shape(self) -> Template | None:
        """The likest of the six; None where no more than chance speaks for it."""
        return self.six.templates[0] if self.six.chance <= _BELIEVED else None

    def describe(self) -> str:
        """What it is like, and how sure that is, in a sentence."""
        share, chance = self.six.shares[0], self.six.chance
        if self.shape is None:
            return f"no shape beyond chance: {chance:.0%} of its shuffles have as much of one"
        like = f"{self.shape.name} (correlation {self.six.likeness[0]:.2f})"
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
            "values": self.values.round(6).tolist(),
            "low": self.low.round(6).tolist(),
            "high": self.high.round(6).tolist(),
            "essence": self.essence.round(6).tolist(),
            "starts": self.starts.round(5).tolist(),
            "shape": None if self.shape is None else self.shape.name,
            "six": _shapes(self.six),
            "learned": _shapes(self.learned),
            "told": self.describe(),
        }


def inner_arcs(
    paths: Sequence[str | Path],
    *,
    by: str | None = None,
    window: float = WINDOW,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
    problems: list[str] | None = None,
) -> list[InnerArc]:
    """The inner arc of each of some files, items of a medium whose items have an inside, or folders, each as one.

    By the feature that the medium names, over sliding windows in the unit of the medium, never more than a fifth of
    the item; `seed` is of the draws that say how sure it is. With a list of `problems` one that has no arc is told
    there and the others go on, unless none has one.
    """
    if not window > 0:
        raise InputError(f"must be above 0; got {window:g}", field="window")
    found = []
    for number, path in enumerate(map(str, paths), start=1):
        try:
            found.append(_inner_arc(*_open(path), by, window, np.random.default_rng(seed)))
        except (FileError, InputError) as error:
            if problems is None or len(paths) == 1:
                raise
            problems.append(error.message if isinstance(error, InputError) else str(error))
        if progress is not None:
            progress(number, len(paths), path)
    if problems and not found:
        raise FileError("; ".join(problems))
    return found


def _inner_arc(
    item: Item, medium: Medium, parts: Sequence[Item], by: str | None, window: float, rng: np.random.Generator
) -> InnerArc:
    """The inner arc of an item: its pieces measured, averaged in sliding windows, and laid beside templates."""
    pieces, starts = pieces_along(parts, medium, PIECES)
    if pieces is None or len(pieces) < FEWEST:
        if len(parts) == 1 and item.path:
            medium.spec().measure(item.path, lambda: False)  # says what is wrong with a file that cannot be read
        raise FileError(f"{_name(item)}: is too short for an arc")
    column, values = _column(pieces, item, medium, by)
    lengths = medium.lengths(pieces)
    length = float(lengths.sum())
    share = min(_SHARE, window / length)
    span = max(1, round(share * len(pieces)))
    course = _smooth(column, values, span, rng)
    learned = [name for name in template_names() if name.startswith("album-4")]
    fits = [fit_shapes(values, list(map(template, known)), span=span, rng=rng) for known in (SIX, learned)]
    begun, essence = np.array(starts) / len(pieces), np.empty(0)
    if len(parts) == 1:  # where the parts of a file begin, by their lengths; none where it cannot be cut
        cut = medium.parts(item.path, Cutting())
        sizes = np.zeros(0) if cut is None else medium.lengths(cut)
        begun = (np.cumsum(sizes) - sizes) / max(1.0, float(sizes.sum()))
    sections, _ = pieces_along(parts, medium, _SECTIONS)
    if medium.proposer is not None and sections is not None and len(sections) >= _SECTIONS // 2:
        essence = normalise(judge(load_model(medium.proposer), sections, medium).essence())
    return InnerArc(**vars(course), item=item, medium=medium, length=length, window=share * length, essence=essence,
                    six=fits[0], learned=fits[1], starts=begun)  # fmt: skip


def _smooth(column: str, values: Floats, span: int, rng: np.random.Generator) -> SmoothArc:
    """The values of a column averaged in windows of so many pieces."""
    low, high = np.quantile(smooth(_draw_again(values, _DRAWS, rng), span), [0.05, 0.95], axis=0)
    mean, half = smooth(values, span), span / len(values) / 2
    return SmoothArc(column, np.linspace(half, 1 - half, len(mean)), mean, low, high)


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


def _shapes(fit: ShapeFit) -> list[dict[str, Any]]:
    rows = zip(fit.templates, fit.likeness.tolist(), fit.shares.tolist(), strict=True)
    return [{"name": t.name, "likeness": r, "share": s, "chance": fit.chance} for t, r, s in rows]


@dataclass(frozen=True, eq=False)
class WholeArc(SmoothArc):
    """The course of a feature through items laid one after the other."""

    starts: Floats  # where each item begins, in [0, 1]
    labels: tuple[str, ...]  # what each is called


def whole_arc(ordered: "Ordered") -> WholeArc | None:
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
    course = _smooth(medium.tone, values, max(1, len(values) // 10), np.random.default_rng(0))
    labels = tuple(item.label for item in items)
    return WholeArc(**vars(course), starts=np.array(starts) / len(values), labels=labels)


def pieces_along(items: Sequence[Item], medium: Medium, count: int) -> tuple[Collection | None, list[int]]:
    """About so many pieces of items laid one after the other, and the number of the first of each item."""
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
