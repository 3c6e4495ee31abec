"""The main job: a collection in, an ordering out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.fit import Fit, fit, lay
from fabula.core.template import Template, from_arc
from fabula.errors import ConstraintError, InputError
from fabula.pipeline.choosing import choose_places, choose_template
from fabula.pipeline.sources import Source, essence_by, read_source
from fabula.pipeline.why import reasons

DEFAULT_TEMPLATE = "icarus"


@dataclass(frozen=True)
class Ordered:
    """A collection laid in order.

    Attributes
    ----------
    source
        Where it came from, in the order given.
    essence
        Shape (n,) or (n, d), z-scored, in the order given.
    fits
        The ordering chosen, then the alternatives.
    given
        The order given, beside the chosen template.
    features
        The features the essence was made of.
    pinned
        The positions the user fixed.
    notes
        What the user should know.
    """

    source: Source
    essence: Floats
    fits: tuple[Fit, ...]
    given: Fit
    features: tuple[str, ...] = ()
    pinned: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fit(self) -> Fit:
        """The ordering chosen."""
        return self.fits[0]

    @property
    def collection(self) -> Collection:
        """The items in the new order."""
        return self.source.collection.reordered(self.fit.ordering)

    @property
    def reasons(self) -> list[str]:
        """Why each item of the new order stands where it stands."""
        return reasons(self.source.collection, self.essence, self.fit, features=self.features)


def order(
    paths: Sequence[str | Path],
    *,
    by: str | None = None,
    template: str | None = None,
    like: str | Path | None = None,
    collection: str | None = None,
    first: str | None = None,
    last: str | None = None,
    at: Mapping[int, str] | None = None,
    flip: bool = False,
) -> Ordered:
    """Lay a table or a playlist along a template.

    Parameters
    ----------
    paths
        One table or one playlist.
    by
        The column to use as the essence.
    template
        A name, a file (``FILE#2`` for its second template) or points ``"0:0.2,0.5:1,1:0"``.
    like
        Take the arc of this collection instead.
    collection
        Which collection of a table of several.
    first, last, at
        Titles for the opener, the close, and any place counted from 1.
    flip
        Turn the template upside down.
    """
    if template is not None and like is not None:
        raise InputError("give either --template or --like, not both")
    source = read_source(paths, collection=collection)
    if by is None:
        raise InputError(f"say which column is the essence with --by; {source.path} has: {_columns(source)}")
    essence = essence_by(source, by)
    curve = _curve(template, like, by)
    curve = curve.flipped() if flip else curve
    fixed = choose_places(source.collection.items, first=first, last=last, at=at)
    chosen = _fit_by_name(source.collection, essence, curve.normalised(), fixed)
    given = lay(essence, range(len(essence)), chosen.template)
    return Ordered(source, essence, (chosen,), given, (by,), tuple(sorted(fixed)), source.notes)


def _columns(source: Source) -> str:
    return ", ".join(source.collection.feature_names) or "no numbers"


def _curve(template: str | None, like: str | Path | None, by: str) -> Template:
    if like is None:
        return choose_template(DEFAULT_TEMPLATE if template is None else template)
    other = read_source([like])
    return from_arc(essence_by(other, by), name=f"like {other.collection.title or Path(like).stem}")


def _fit_by_name(collection: Collection, essence: Floats, curve: Template, fixed: dict[int, int]) -> Fit:
    try:
        return fit(essence, curve, fixed=fixed)
    except ConstraintError as error:
        names = ", ".join(repr(collection.items[i].label) for i in error.items[:6])
        places = ", ".join(str(place + 1) for place in error.places) or "none"
        raise InputError(f"the constraints cannot all hold: {names} may only take places {places}") from None


def as_json(ordered: Ordered) -> dict[str, Any]:
    """The ordering as one JSON object, as ``--json`` prints it.

    Keys: ``template``, ``curve``, ``ordering`` (0-based item indices), ``worst``, ``mean``, ``score``, ``exact``,
    and ``items`` in the new order, each with ``position`` (1-based), ``id``, ``title``, ``artist``, ``path``,
    ``essence``, ``target``, ``deviation``.
    """
    chosen = ordered.fit
    essence = ordered.essence[chosen.ordering].tolist()
    rows = zip(ordered.collection.items, essence, chosen.targets.tolist(), chosen.deviations.tolist(), strict=True)
    items = [
        {
            "position": position,
            "id": item.id,
            "title": item.label,
            "artist": item.artist,
            "path": item.path,
            "essence": value,
            "target": target,
            "deviation": deviation,
        }
        for position, (item, value, target, deviation) in enumerate(rows, start=1)
    ]
    curve = {"knots": chosen.template.knots.tolist(), "values": chosen.template.values.tolist()}
    return {**_summary(chosen), "curve": curve, "given": _summary(ordered.given), "items": items}


def _summary(chosen: Fit) -> dict[str, Any]:
    return {
        "template": chosen.template.name,
        "ordering": chosen.ordering.tolist(),
        "worst": chosen.worst,
        "mean": chosen.mean,
        "score": chosen.score,
        "exact": chosen.exact,
    }
