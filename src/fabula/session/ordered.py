"""The result: a collection laid out in order, with everything that can be told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Ints, normalise
from fabula.core.collection import Collection, Item
from fabula.core.display import name_some, table_html
from fabula.core.fit import Fit
from fabula.core.template import Template
from fabula.media.facts import SECONDS, Axis, Fact, begin_times, choose_facts, round_parts, side_name, total
from fabula.media.medium import Change, Steps, changes
from fabula.models.sureness import Sureness
from fabula.models.titles import find_series
from fabula.session import explain as why, export
from fabula.session.explain import likelier
from fabula.session.propose import OrderTask, Proposal, lay_out
from fabula.session.request import Request, count_gap
from fabula.sources.registry import with_held

if TYPE_CHECKING:
    from fabula.session.session import Session

# What is told of a result: rows that every surface shows, and the same as JSON, as text and as HTML.

_MOST_LIKES = 60  # items, beyond which nobody reads a table of them by positions


@dataclass(frozen=True)
class Row:
    """One position of a result."""

    position: int  # from 0, in the whole
    side: str  # its letter, "" where there is one
    number: int  # on its side, from 1
    item: Item
    index: int  # of the item in the order given
    length: str  # as text, "" where it is not known

    @property
    def label(self) -> str:
        """Its position as people say it: 3, or B1."""
        return f"{self.side}{self.number}"


def model_name(ordered: Ordered) -> str | None:
    """What the model is called; None where a column is the essence."""
    model = (ordered.task.likelihood or ordered.session).model
    return None if model is None else model.name


def knows(ordered: Ordered) -> list[str]:
    """What was gone by, as people call it: what the model knows of an item, or the column."""
    session = ordered.session
    drawn = session.model is not None and ordered.task.likelihood is None
    names = session.model.feature_names if drawn and session.model is not None else session.features
    if session.axis is not None and ordered.task.likelihood is None:
        return [session.axis.name]
    return list(dict.fromkeys(session.medium.shown(name) for name in names))


def input_order_name(ordered: Ordered) -> str:
    """What to call the order in which the items came: files without numbers of their own come by name."""
    return "the order of the file names" if ordered.session.source.by_name else "the order given"


def likely_text(ordered: Ordered) -> str:
    """That the order given is as good to the model, in words; "" where it is not, or where no model speaks."""
    judged = ordered.task.likelihood
    times = likelier(ordered.fit, ordered.given) if judged is None or not judged.unfamiliar else None
    moved = not np.array_equal(ordered.ordering, ordered.given.ordering)
    return f"no likelier than {input_order_name(ordered)}" if times is not None and times < 1.1 and moved else ""


def shape_text(template: Template) -> str:
    """What a template does and what it is called, where it has a name.

    >>> from fabula.core.template import template
    >>> shape_text(template("steady-fall"))
    'falls evenly from the first item to the last (steady-fall)'
    """
    does = template.description.rstrip(".")
    return f"{does[:1].lower()}{does[1:]} ({template.name})" if does else template.name


def beside_text(proposal: Proposal, chosen: Fit) -> str:
    """How likely another proposal is beside the one taken, in words; "" where no model speaks."""
    times = likelier(chosen, proposal.fit)
    if times is None:
        return ""
    words = ((1 / 1.25, "likelier"), (1.25, "as likely"), (3.0, "a little less likely"), (np.inf, "less likely"))
    return "the likeliest" if proposal.likeliest else next(word for most, word in words if times < most)


def _items(ordered: Ordered, *, explain: bool) -> list[dict[str, Any]]:
    fit, rows, facts = ordered.fit, ordered.rows, ordered.facts()
    reasons = ordered.reasons if explain else [""] * len(rows)
    numbers = (ordered.session.essence[fit.ordering].tolist(), fit.targets.tolist(), fit.deviations.tolist())
    return [
        {
            "position": row.position + 1,
            "id": row.item.id,
            "title": row.item.label,
            ordered.session.medium.words.creator: row.item.creator,
            "path": row.item.path,
            "length": row.item.length,
            "side": row.side,
            "essence": essence,
            "target": target,
            "deviation": deviation,
            "off": off,
            "why": why,
            "facts": {fact.name: fact.texts[row.position] for fact in facts},
        }
        for row, essence, target, deviation, off, why in zip(rows, *numbers, ordered.offs, reasons, strict=True)
    ]


def describe_arc(arc: Axis | None, ordering: Ints | slice) -> dict[str, Any] | None:
    """The arc of an ordering: what it is of, its unit, and its values by position; None where there is none."""
    if arc is None:
        return None
    return {"name": arc.name, "unit": arc.unit, "values": [round(value, 4) for value in arc.values[ordering].tolist()]}


def find_arc(session: Session, *, judged: bool) -> Axis | None:
    """What the arc of a session is drawn along, the values in the order given; None where it has none to draw.

    The medium's axis, the column that is the essence, or the essence itself; of an order that a model proposes
    without such an axis (`judged`), the tone of the medium.
    """
    medium, collection, essence = session.medium, session.collection, session.essence
    if session.axis is not None:
        return session.axis
    names = session.columns
    drawn = (
        name for name in medium.columns if name in names and np.array_equal(normalise(collection.column(name)), essence)
    )
    name = medium.tone if judged else session.column or next(drawn, None)
    if name is not None and name in collection.feature_names:
        return Axis(medium.shown(name), "", collection.column(name)) if name in names else None
    return None if judged or essence.ndim > 1 else Axis("essence", "", essence)


def _entries_held(ordered: Ordered) -> list[dict[str, Any]]:
    """Entries of a playlist that could not be measured, and the position they keep in what is written."""
    source = ordered.session.source
    if source.playlist is None or not source.unmovable:
        return []
    order = with_held([source.rows[i] for i in ordered.ordering], source.unmovable)
    entries = source.playlist.entries
    return [
        {"position": order.index(entry) + 1, "title": entries[entry].title, "location": entries[entry].location}
        for entry in source.unmovable
    ]


def _summary(chosen: Fit) -> dict[str, Any]:
    return {
        "template": chosen.template.name,
        "knots": chosen.template.knots.tolist(),
        "values": chosen.template.values.tolist(),
        "interpolation": chosen.template.interpolation,
        "ordering": chosen.ordering.tolist(),
        "worst": chosen.worst,
        "mean": chosen.mean,
        "score": chosen.score,
        "exact": chosen.exact,
    }


def headline(ordered: Ordered) -> str:
    """Title, number of items and length of the whole, in one line."""
    medium, n = ordered.session.medium, len(ordered.ordering)
    length = medium.unit.text(total(ordered.lengths))
    named = medium.words.item if n == 1 else medium.words.items
    return f"{ordered.session.title}: {n} {named}{f', {length}' if length else ''}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Ordered(Proposal):
    """A collection laid in order: what :func:`fabula.order` and ``Session.order`` give: the proposal that was taken."""

    session: Session  # the collection, in the order given, and its essence
    request: Request  # what was asked for
    task: OrderTask  # what was solved
    proposals: tuple[Proposal, ...]  # orderings of different shape, likeliest first
    chosen: int = 0  # which of them was taken, counted from 0
    steps: Steps | None = None  # what lies between neighbours, where smoothness was asked for

    def shape_of(self, fit: Fit) -> Template | None:
        """The template to draw behind a proposal; None where a model proposed an order that follows none."""
        return fit.template if fit.template.name or self.task.likelihood is None else None

    @property
    def ordering(self) -> Ints:
        """Shape (m,), ``ordering[position] = item index``; without what was left out."""
        return self.fit.ordering

    @property
    def alternatives(self) -> tuple[Fit, ...]:
        """The orderings that were not taken."""
        return tuple(proposal.fit for k, proposal in enumerate(self.proposals) if k != self.chosen)

    @property
    def collection(self) -> Collection:
        """The items in the new order."""
        return self.session.collection.only(self.ordering)

    @property
    def readable(self) -> Collection:
        """The items in the new order, with the files in which they really lie where these are known."""
        return self.session.readable.only(self.ordering) if self.session.stored else self.collection

    @property
    def titles(self) -> list[str]:
        """What the items are called, in the new order."""
        return [item.label for item in self.collection.items]

    @cached_property
    def given(self) -> Fit:
        """The items kept, in the order given, beside the template and on sides of the same size."""
        return lay_out(self.task, self.fit.template, np.sort(self.ordering), self.sides)

    @property
    def pinned(self) -> tuple[int, ...]:
        """Positions that were fixed."""
        constraints, n = self.task.constraints, len(self.ordering)
        starts = [0, *np.cumsum(self.sides or (n,)).tolist()]
        fixed = {position % n for position in constraints.fixed}
        fixed |= {(starts[s] if p >= 0 else starts[s + 1]) + p for s, p in constraints.ends}
        return tuple(sorted(fixed))

    @property
    def breaks(self) -> tuple[int, ...]:
        """Positions at which a new side begins."""
        return tuple(np.cumsum(self.sides)[:-1].tolist()) if self.sides else ()

    def side_of(self, position: int) -> tuple[int, int]:
        """The side of a position and its position on that side, both counted from 0."""
        side = sum(position >= start for start in self.breaks)
        return side, position - (self.breaks[side - 1] if side else 0)

    @property
    def offs(self) -> list[float | None]:
        """How far each item of the new order is above the template, or below it; None where none is followed."""
        essence = self.session.essence
        if self.task.likelihood is not None or essence.ndim > 1:
            return [None] * len(self.ordering)
        return [float(off) for off in essence[self.ordering] - self.fit.targets]

    @property
    def gap_seconds(self) -> float:
        """Seconds between two items of a side, below 0 where they overlap; 0 where lengths are no times."""
        return count_gap(self.request, self.session.medium)

    @property
    def limit(self) -> float | None:
        """The length of all that was asked for; None where none was."""
        found = self.task.constraints.limit
        return None if found is None else found - self.gap_seconds * self.request.sides

    @property
    def begins(self) -> list[float | None]:
        """When each item begins on its side, gaps counted; None where a length is not known, or is no time."""
        items, unit = self.collection.items, self.session.medium.unit
        known = [item.length for item in items if item.length is not None]
        if len(known) < len(items) or unit.name != SECONDS.name:
            return [None] * len(items)
        starts = pairwise([0, *self.breaks, len(items)])
        return [time for start, stop in starts for time in begin_times(known[start:stop], self.gap_seconds)]

    @property
    def lengths(self) -> list[float | None]:
        """The length of each side with its gaps, or of the whole where there is one; None where it is not known."""
        lengths = [item.length for item in self.collection.items]
        starts = [0, *self.breaks, len(lengths)]
        return [total(lengths[start:stop], self.gap_seconds) for start, stop in pairwise(starts)]

    @property
    def length_texts(self) -> list[str]:
        """The lengths as text, to the second so that they add up to that of all."""
        unit, known = self.session.medium.unit, [length for length in self.lengths if length is not None]
        whole = unit.name == SECONDS.name and len(known) == len(self.lengths) and min(known, default=0.0) >= 1
        return [unit.text(length) for length in (round_parts(known) if whole and self.sides else self.lengths)]

    @property
    def arc(self) -> Axis | None:
        """What the arc of the order as it stands is drawn along, in the order given; None where there is none."""
        return find_arc(self.session, judged=self.task.likelihood is not None)

    @cached_property
    def sureness(self) -> Sureness:
        """What may be claimed of it, chances from 0 to 1; None where nothing is known, or it was made by hand."""
        likelihood = self.task.likelihood
        if likelihood is None or self.request.ordering is not None or self.left_out:
            return Sureness()
        return likelihood.under(self.task.constraints).sureness(self.ordering)

    @cached_property
    def reasons(self) -> list[str]:
        """Why each item of the new order stands where it stands."""
        return why.reasons(self)

    def reasons_at(self, rows: range) -> list[str]:
        """The same of some positions, of which it is told what the model goes by, wherever they are."""
        reasons = self.reasons if rows.stop <= self.reasons_told else why.reasons(self, rows)
        return reasons[rows.start : rows.stop]

    @property
    def reasons_told(self) -> int:
        """Of how many rows, from the first on, ``reasons`` tells what the model goes by."""
        n = len(self.ordering)
        return n if self.task.likelihood is None else min(n, why.MOST_CAUSES)

    @property
    def reasons_untold(self) -> str:
        """Of which rows it is not told what the model goes by; "" where it is told of all."""
        n = len(self.ordering)
        told = f"what the model goes by is told of the first {why.MOST_CAUSES} of {n:,} rows"
        return "" if self.reasons_told == n else told

    @property
    def changes(self) -> list[Change]:
        """What smoothness changed, part by part."""
        if self.steps is None:
            return []
        return changes(self.steps, np.sort(self.ordering), self.ordering, self.breaks)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        found, sides = list(self.session.notes), f"{self.session.medium.words.side}s"
        if self.sides and self.request.ordering is None:  # what follows by its titles and stands on two sides
            place = {item: k for k, item in enumerate(self.ordering.tolist())}
            titles = self.session.collection.texts("title")
            pairs = [pair for one in find_series(titles) if one.follows for pair in pairwise(one.items)]
            apart = [(a, b) for a, b in pairs if place.get(b) in self.breaks and place.get(a) == place[b] - 1]
            told = "the {} part {!r} and {!r}: --together keeps them on one"
            found += [told.format(sides, titles[a], titles[b]) for a, b in apart]
        return (*found, *why.doubts(self))

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of the result, in the new order."""
        unit = self.session.medium.unit
        sides = [(side_name(side), size) for side, size in enumerate(self.sides)] or [("", len(self.ordering))]
        places = [(letter, number) for letter, size in sides for number in range(1, size + 1)]
        items = zip(places, self.ordering.tolist(), self.collection.items, strict=True)
        return [Row(k, *place, item, index, unit.text(item.length)) for k, (place, index, item) in enumerate(items)]

    def facts(self, names: Sequence[str] | None = None) -> tuple[Fact, ...]:
        """What is known of the items, in the new order: by default all of it, else the facts of these names."""
        facts = self.session.medium.telling.facts(self.collection)
        return facts if names is None else choose_facts(facts, names)

    def side_line(self, side: int) -> str:
        """What a side is called and how long it is."""
        length = self.length_texts[side]
        word = self.session.medium.words.side.capitalize()
        return f"{word} {side_name(side)}{f', {length}' if length else ''}"

    def to_json(self, *, explain: bool = True) -> dict[str, Any]:
        """Everything about it as one JSON object: what ``fabula order --json`` prints and the page shows.

        Its keys are those of `docs/files.md`. Without `explain` it is not said why each item stands where it stands,
        which is most of the work while an arc is dragged.
        """
        axis, judged, timed = self.session.axis, self.task.likelihood, self.session.medium.unit.name == SECONDS.name
        drawn, likes = {}, None
        if axis is not None:
            values = axis.values[self.ordering].round(2).tolist()
            drawn = {"axis": {"name": axis.name, "unit": axis.unit, "source": axis.source, "values": values}}
        if explain and judged is not None and len(judged.collection) <= _MOST_LIKES:
            likes = judged.likes().round(4).tolist()
        return {
            **_summary(self.fit),
            "gap": self.gap,
            "sides": list(self.sides),
            "lengths": self.lengths,
            "unit": self.session.medium.unit.name,
            "gap_seconds": self.gap_seconds if timed else None,
            "side_seconds": self.lengths if timed else None,
            "total_seconds": total(self.lengths) if timed else None,
            "left_out": list(self.left_out),
            "unmeasured": _entries_held(self),
            "model": model_name(self),
            **drawn,
            "arc": describe_arc(self.arc, self.ordering),
            "sure": self.sureness.order,
            **{name: getattr(self.sureness, name) for name in ("direction", "opener", "close")},
            "items": _items(self, explain=explain),
            "given": _summary(self.given),
            "alternatives": [_summary(other) for other in self.alternatives],
            "changes": [{"name": c.name, "unit": c.unit, "mean": c.mean, "worst": c.worst} for c in self.changes],
            "likes": likes,
            "notes": [*self.notes, *([self.reasons_untold] if explain and self.reasons_untold else [])],
        }

    # What is written of it, and where to.
    save = export.write_ordered
    losses = export.tell_losses
    write_back = export.write_back
    copy = export.copy_numbered

    def __repr__(self) -> str:
        return f"<Ordered {headline(self)}; {name_some(self.titles, 4)}>"

    def __str__(self) -> str:
        rows = self.rows
        wide = max(len(row.label) for row in rows)
        title = min(48, max(len(row.item.label) for row in rows))
        lines = [headline(self)]
        for row in rows:
            if row.side and row.number == 1:
                lines.append(self.side_line(self.side_of(row.position)[0]))
            name = row.item.label if len(row.item.label) <= title else row.item.label[: title - 1] + "…"
            lines.append(f"{row.label:>{wide}}  {name:<{title}}  {row.length:>7}".rstrip())
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        essence = self.session.essence
        rows = [
            (row.label, row.item.label, row.length, str(row.index + 1), f"{np.atleast_1d(essence[row.index])[0]:+.2f}")
            for row in self.rows
        ]
        table = table_html(("#", "title", "length", "was", "essence"), rows, caption=headline(self))
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return table + notes
