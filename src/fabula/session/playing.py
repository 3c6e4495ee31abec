"""The main job on a collection that stays loaded: what a page asks for again and again while an arc is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.durations import as_clock
from fabula.core.arranging.selection import choose_within
from fabula.core.collection import Collection, Item
from fabula.core.essence import normalise
from fabula.core.fit import lay
from fabula.core.template import Template
from fabula.errors import InputError
from fabula.session.essence import Essence, find_essence
from fabula.session.limits import left_out_note
from fabula.session.ordering import Ordered, as_json, lay_out, own_curves, titles_in_errors
from fabula.session.sources import Measuring, Source
from fabula.session.wishes import Wishes, durations

_FAVOURED = ("energy", "loudness", "tempo", "valence", "essence")  # columns worth an arc, the best first


def load(source: Source, *, by: str | None = None, model: str | None = None, measuring: Measuring) -> Essence:
    """The essence of a source; for a table that no model knows, a likely column, and a note that says so."""
    if by is not None or source.kind != "table":
        return find_essence(source, by=by, model=model, measuring=measuring)
    try:
        return find_essence(source, by=None, model=model, measuring=measuring)
    except InputError:
        usable = columns(source.collection)
        if not usable:
            raise
        name = next((name for name in _FAVOURED if name in usable), usable[0])
        found = find_essence(source, by=name, model=None, measuring=measuring)
        return replace(found, notes=(*found.notes, f"ordered by {name}: another column may be chosen"))


def columns(collection: Collection) -> list[str]:
    """The features that can be an essence: one number, known of every item."""
    if collection.features.ndim > 2:
        return []
    known = np.isfinite(collection.features).all(axis=0)
    return [name for name, usable in zip(collection.feature_names, known, strict=True) if usable]


def essence_of(items: Sequence[Item], values: ArrayLike, *, title: str = "") -> Essence:
    """Items with a number each, as a loaded collection; the numbers are z-scored.

    Examples
    --------
    >>> essence_of([Item("a"), Item("b")], [1.0, 3.0]).values
    array([-1.,  1.])
    """
    numbers = np.asarray(values, dtype=np.float64)
    collection = Collection(title or "items", tuple(items), numbers[:, np.newaxis], ("essence",), title=title)
    source = Source(Path(title or "items"), collection, Path(), "table")
    return Essence(source, normalise(numbers), ("essence",))


def order_loaded(
    found: Essence,
    *,
    template: Template | None = None,
    flip: bool = False,
    alternatives: int = 4,
    wishes: Wishes | None = None,
    constraints: Constraints | None = None,
) -> Ordered:
    """Order a loaded collection, as :func:`fabula.session.ordering.order` does after reading and measuring.

    Parameters
    ----------
    found
        The essence of the collection.
    template
        On the scale it is to be followed on; by default the arcs of the model.
    flip
        Turn it upside down.
    alternatives
        How many orderings to propose, the chosen one among them.
    wishes
        Smoothness, sides and limits; what names items by their titles is not looked at.
    constraints
        What the ordering must keep, by the indices of the items.
    """
    wanted = wishes or Wishes()
    kept = constraints or Constraints(len(found.values))
    curves = [template] if template is not None else own_curves(found)
    curves = [curve.flipped() for curve in curves] if flip else curves
    free = template is None and not flip
    with titles_in_errors(found.source.collection):
        if wanted.limit is not None:
            found, kept = _within(found, curves[0], kept, wanted.limit)
    with titles_in_errors(found.source.collection):
        return lay_out(found, curves, kept, wanted, alternatives=alternatives, free=free)


def _within(found: Essence, curve: Template, kept: Constraints, limit: float) -> tuple[Essence, Constraints]:
    """Without what fits worst, so that the whole keeps within a limit; what the constraints name stays."""
    collection = found.source.collection
    chosen = choose_within(found.values, curve, durations(collection, "limit"), limit, keep=kept.named)
    left_out = np.setdiff1d(np.arange(len(collection)), chosen)
    if not len(left_out):
        return found, kept
    new = {int(item): index for index, item in enumerate(chosen)}
    moved = Constraints(
        len(chosen),
        fixed={place: new[item] for place, item in _moved(kept.fixed, collection, len(chosen), limit).items()},
        together=[[new[item] for item in run] for run in kept.together],
        before=[(new[a], new[b]) for a, b in kept.before],
        apart=None if kept.apart is None else kept.apart[chosen],
    )
    return found.without(left_out, left_out_note(limit)), moved


def _moved(fixed: Mapping[int, int], collection: Collection, count: int, limit: float) -> dict[int, int]:
    """Fixed places when ``count`` items are left; one that is gone was meant from the end."""
    moved: dict[int, int] = {}
    for place, item in sorted(fixed.items()):
        here = place if place < count else place - len(collection) + count
        if here < 0 or here in moved:
            who, left = collection.items[item].label, f"{count} of {len(collection)} items"
            raise InputError(f"{who!r} cannot have place {place + 1}: {left} keep within {as_clock(limit)}")
        moved[here] = item
    return moved


def laid_out(found: Essence, ordering: ArrayLike, template: Template, *, pinned: Sequence[int] = ()) -> Ordered:
    """A loaded collection in an ordering that is already chosen, for keeping it."""
    identity = np.arange(len(found.values))
    chosen = lay(found.values, ordering, template)
    given = lay(found.values, identity, template)
    scorers = found.model is not None and found.model.scorers
    if found.model is not None and scorers:
        chosen = replace(chosen, score=float(found.model.score(found.values[chosen.ordering])))
        given = replace(given, score=float(found.model.score(found.values)))
    return Ordered(
        found.source,
        found.values,
        (chosen,),
        given,
        features=found.features,
        pinned=tuple(sorted(pinned)),
        notes=found.source.notes + found.notes,
    )


class _Unexplained(Ordered):
    """An ordering whose reasons nobody asks for: while a knot is dragged they would be most of the work."""

    @property
    def reasons(self) -> list[str]:
        return [""] * len(self.essence)


def answer(ordered: Ordered, *, why: bool = True) -> dict[str, Any]:
    """What ``fabula order --json`` prints, and the curve of each alternative.

    Parameters
    ----------
    ordered
        What was found.
    why
        Whether to say why each item stands where it stands.
    """
    if not why:
        ordered = _Unexplained(**{field.name: getattr(ordered, field.name) for field in fields(ordered)})
    told = as_json(ordered)
    for summary, fit in zip(told["alternatives"], ordered.fits[1:], strict=True):
        summary["curve"] = {"knots": fit.template.knots.tolist(), "values": fit.template.values.tolist()}
    return told
