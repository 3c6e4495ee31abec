"""The main job: a collection in, an ordering out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.search import arrange
from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.fit import Fit, lay
from fabula.core.template import Template, from_arc
from fabula.errors import ConflictError, ConstraintError, InputError
from fabula.media.music.transitions import transitions_of
from fabula.session.choosing import choose_template
from fabula.session.essence import Essence, find_essence
from fabula.session.limits import keep_within, lay_on_sides
from fabula.session.reasons import reasons
from fabula.session.sources import Measuring, Source, read_source
from fabula.session.wishes import Wishes, constraints_of

DEFAULT_TEMPLATE = "icarus"  # for a column, of which no model knows what it does in an album


@dataclass(frozen=True, eq=False)
class Ordered:
    """A collection laid in order.

    Attributes
    ----------
    source
        Where it came from, in the order given, without what was left out.
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
    gap
        How much better, as a part of the objective, another ordering could be at most; 0 when it is exact.
    sides
        How many items each side has; empty where there are no sides.
    notes
        What the user should know.
    """

    source: Source
    essence: Floats
    fits: tuple[Fit, ...]
    given: Fit
    features: tuple[str, ...] = ()
    pinned: tuple[int, ...] = ()
    gap: float = 0.0
    sides: tuple[int, ...] = ()
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
    model: str | None = None,
    template: str | None = None,
    like: str | Path | None = None,
    flip: bool = False,
    alternatives: int = 4,
    collection: str | None = None,
    wishes: Wishes | None = None,
    measuring: Measuring | None = None,
) -> Ordered:
    """Put a folder of music, a playlist or a table in an order that tells a story.

    Parameters
    ----------
    paths
        One table, one playlist, or any number of folders and audio files.
    by
        The column to use as the essence, instead of a model.
    model
        A shipped model or a file; by default the shipped one that knows most of the features there are.
    template
        A name, a file (``FILE#2`` for its second template) or points ``"0:0.2,0.5:1,1:0"``; by default the arc that
        the model finds likeliest.
    like
        Take the arc of this collection instead.
    flip
        Turn the template upside down.
    alternatives
        How many orderings to propose, the chosen one among them.
    collection
        Which collection of a table of several.
    wishes
        What the ordering must keep.
    measuring
        How sound is found and measured.
    """
    if template is not None and like is not None:
        raise InputError("give either --template or --like, not both")
    if alternatives < 1:
        raise InputError(f"--alternatives must be at least 1; got {alternatives}")
    wanted, how = wishes or Wishes(), measuring or Measuring()
    source = read_source(paths, collection=collection, measuring=how)
    choose = choose_template(template) if template is not None else None  # a wrong name is told before the measuring
    found = find_essence(source, by=by, model=model, measuring=how)
    curves = _curves(found, choose, like, by, model, how)
    curves = [curve.flipped() for curve in curves] if flip else curves
    with titles_in_errors(found.source.collection):
        found = keep_within(found, curves[0], wanted)
    with titles_in_errors(found.source.collection):
        constraints = constraints_of(wanted, found.source.collection)
        free = choose is None and like is None and not flip
        return lay_out(found, curves, constraints, wanted, alternatives=alternatives, free=free)


def _curves(
    found: Essence,
    template: Template | None,
    like: str | Path | None,
    by: str | None,
    model: str | None,
    how: Measuring,
) -> list[Template]:
    """The templates to try, on the scale of the essence."""
    if template is not None:
        return [template.normalised()]
    if like is not None:
        other = find_essence(read_source([like], measuring=how), by=by, model=model, measuring=how)
        return [from_arc(other.values, name=f"like {other.source.collection.title or Path(like).stem}")]
    return own_curves(found)


def own_curves(found: Essence) -> list[Template]:
    """The templates to try where the user names none: the arcs of the model, or one for a column."""
    if found.model is None:
        return [choose_template(DEFAULT_TEMPLATE)]
    if found.model.arcs is None:
        return [proposal.template for proposal in found.model.order(found.source.collection)]
    return [arc.normalised() for arc in found.model.arcs.templates]


def lay_out(
    found: Essence,
    curves: Sequence[Template],
    constraints: Constraints,
    wishes: Wishes,
    *,
    alternatives: int = 4,
    free: bool = True,
) -> Ordered:
    """Lay an essence along templates under constraints.

    Parameters
    ----------
    found
        The essence of a source.
    curves
        The templates to try, on the scale of the essence.
    constraints
        What the ordering must keep, by the indices of the items.
    wishes
        Of these the smoothness and the sides.
    alternatives
        How many orderings to propose, the chosen one among them.
    free
        Whether the curves are the model's own arcs: then the first is the likeliest that is climbed to.
    """
    proposals = _proposals(found, curves, constraints, wishes, alternatives, free=free)
    return _ordered(found, proposals, constraints)


@dataclass(frozen=True, eq=False)
class _Proposal:
    fit: Fit
    gap: float = 0.0
    sides: tuple[int, ...] = ()


def _proposals(
    found: Essence, curves: Sequence[Template], constraints: Constraints, wishes: Wishes, most: int, *, free: bool
) -> list[_Proposal]:
    """Distinct orderings; the likeliest first where a model is asked."""
    arcs = found.model.arcs if found.model is not None else None
    plain = constraints.places_only and not wishes.smoothness and wishes.sides == 1
    if arcs is not None and free and plain:
        return [_Proposal(f) for f in arcs.order(found.values, alternatives=most, fixed=constraints.fixed)]
    transitions = transitions_of(found.source.collection, found.values) if wishes.smoothness else None
    distinct: dict[bytes, _Proposal] = {}
    for curve in curves:
        if wishes.sides > 1:
            laid, sides, gap = lay_on_sides(found, curve, constraints, wishes, transitions)
        else:
            arranged = arrange(
                found.values, curve, constraints=constraints, transitions=transitions, smoothness=wishes.smoothness
            )
            laid, sides, gap = arranged.fit, (), arranged.relative_gap
        scored = replace(laid, score=_score(found, laid.ordering))
        distinct.setdefault(laid.ordering.tobytes(), _Proposal(scored, gap, sides))
    return sorted(distinct.values(), key=lambda proposal: -(proposal.fit.score or 0.0))[:most]


def _score(found: Essence, ordering: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.intp]]) -> float | None:
    if found.model is None or not found.model.scorers:
        return None
    return float(found.model.score(found.values[ordering]))


def _ordered(found: Essence, proposals: list[_Proposal], constraints: Constraints) -> Ordered:
    identity = np.arange(len(found.values))
    best = proposals[0]
    given = replace(lay(found.values, identity, best.fit.template), score=_score(found, identity))
    return Ordered(
        found.source,
        found.values,
        tuple(proposal.fit for proposal in proposals),
        given,
        features=found.features,
        pinned=tuple(sorted(constraints.fixed)),
        gap=best.gap,
        sides=best.sides,
        notes=found.source.notes + found.notes,
    )


@contextmanager
def titles_in_errors(collection: Collection) -> Iterator[None]:
    """Where constraints cannot hold, say so with titles in place of indices."""
    titles = [repr(item.label) for item in collection.items]
    try:
        yield
    except ConflictError as error:
        raise InputError(error.told(titles)) from error
    except ConstraintError as error:
        who = ", ".join(titles[i] for i in error.items[:6])
        places = ", ".join(str(place + 1) for place in error.places) or "no place"
        raise InputError(f"the constraints cannot all hold: {who} may only take {places}") from error


def as_json(ordered: Ordered) -> dict[str, Any]:
    """The ordering as one JSON object, as ``--json`` prints it.

    Keys: ``template``, ``curve``, ``ordering`` (0-based item indices), ``worst``, ``mean``, ``score``, ``exact``,
    ``gap``, ``sides``, ``items`` in the new order (each with ``position`` (1-based), ``id``, ``title``, ``artist``,
    ``path``, ``essence``, ``target``, ``deviation``, ``why``), ``given``, ``alternatives`` and ``notes``.
    """
    chosen = ordered.fit
    rows = zip(
        ordered.collection.items,
        ordered.essence[chosen.ordering].tolist(),
        chosen.targets.tolist(),
        chosen.deviations.tolist(),
        ordered.reasons,
        strict=True,
    )
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
            "why": why,
        }
        for position, (item, value, target, deviation, why) in enumerate(rows, start=1)
    ]
    return {
        **_summary(chosen),
        "gap": ordered.gap,
        "sides": list(ordered.sides),
        "curve": {"knots": chosen.template.knots.tolist(), "values": chosen.template.values.tolist()},
        "items": items,
        "given": _summary(ordered.given),
        "alternatives": [_summary(other) for other in ordered.fits[1:]],
        "notes": list(ordered.notes),
    }


def _summary(chosen: Fit) -> dict[str, Any]:
    return {
        "template": chosen.template.name,
        "ordering": chosen.ordering.tolist(),
        "worst": chosen.worst,
        "mean": chosen.mean,
        "score": chosen.score,
        "exact": chosen.exact,
    }
