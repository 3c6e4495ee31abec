"""What is told of a result: rows that every surface shows, and the same as JSON, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.collection import Item
from fabula.core.fit import Fit
from fabula.media.facts import Fact, choose_facts, total
from fabula.session.explain import likelier
from fabula.session.request import side_name
from fabula.sources.source import with_held

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered
    from fabula.session.propose import Proposal


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


def rows_of(ordered: Ordered) -> list[Row]:
    """The rows of a result, in the new order."""
    unit = ordered.session.medium.unit
    sides = [(side_name(side), size) for side, size in enumerate(ordered.sides)] or [("", len(ordered.ordering))]
    places = [(letter, number) for letter, size in sides for number in range(1, size + 1)]
    items = zip(places, ordered.ordering.tolist(), ordered.collection.items, strict=True)
    return [Row(k, *place, item, index, unit.text(item.length)) for k, (place, index, item) in enumerate(items)]


def facts_of(ordered: Ordered, names: Sequence[str] | None = None) -> tuple[Fact, ...]:
    """What is known of the items of a result, in the new order: by default all of it, else the facts of these names."""
    facts = ordered.session.medium.telling.facts(ordered.collection)
    return facts if names is None else choose_facts(facts, names)


def as_json(ordered: Ordered, *, explain: bool = True) -> dict[str, Any]:
    """A result as one JSON object.

    Keys: ``template`` (its name), ``knots``, ``values``, ``interpolation``, ``ordering`` (0-based item indices),
    ``worst``, ``mean``, ``score``, ``exact``, ``gap`` (null: not known), ``sides`` (items on each), ``lengths`` (of
    each side), ``left_out`` (item indices), ``unmeasured`` (entries that keep their position), ``model``, ``likelier``
    (times, than the order given), ``direction`` (how sure it is which end begins, 0 to 1; null where no model says it),
    ``items`` in the new order (each with ``position`` (1-based), ``id``, ``title``, who made it, ``path``, ``length``,
    ``side``, ``essence``, ``target``, ``deviation``, ``why``, ``facts`` as text), ``given``, ``alternatives`` (each
    with its ``likelihood`` relative to this one, which may be above 1: what is proposed first need not be the
    likeliest), ``changes``, ``likes`` (where each item, in the order given, likes to stand: shares over the positions;
    null where no set model was asked) and ``notes``. Without `explain` it is not said why each item stands where it
    stands, which is most of the work while an arc is dragged.
    """
    return {
        **_summary(ordered.fit),
        "gap": ordered.gap,
        "sides": list(ordered.sides),
        "lengths": ordered.lengths,
        "unit": ordered.session.medium.unit.name,
        "left_out": list(ordered.left_out),
        "unmeasured": _entries_held(ordered),
        "model": model_name(ordered),
        "likelier": likelier(ordered.fit, ordered.given),
        "direction": ordered.sureness,
        "items": _items(ordered, explain=explain),
        "given": _summary(ordered.given),
        "alternatives": [
            {**_summary(other), "likelihood": likelier(other, ordered.fit)} for other in ordered.alternatives
        ],
        "changes": [{"name": c.name, "unit": c.unit, "mean": c.mean, "worst": c.worst} for c in ordered.changes],
        "likes": _likes(ordered) if explain else None,
        "notes": list(ordered.notes),
    }


def gap_text(gap: float) -> str:
    """How much better another ordering could be, in per cent.

    >>> gap_text(0.031), gap_text(0.0002)
    ('3.1 %', 'less than 0.1 %')
    """
    return f"{100 * gap:.1f} %" if gap >= 0.0005 else "less than 0.1 %"


def model_name(ordered: Ordered) -> str | None:
    """What the model is called; None where a column is the essence."""
    judged = ordered.task.likelihood
    model = ordered.session.model
    card = judged.model.card if judged is not None else None if model is None else model.card
    return None if card is None else str(card.get("name") or ordered.session.asked.model or "unnamed")


def knows(ordered: Ordered) -> list[str]:
    """What was gone by, as people call it: what the model knows of an item, or the column."""
    session = ordered.session
    drawn = session.model is not None and ordered.task.likelihood is None
    names = session.model.feature_names if drawn and session.model is not None else session.features
    return list(dict.fromkeys(session.medium.shown(name) for name in names))


def input_order_name(ordered: Ordered) -> str:
    """What to call the order in which the items came: files without numbers of their own come by name."""
    source = ordered.session.source
    by_name = source.files and source.playlist is None and not source.collection.ordered
    return "the order of the file names" if by_name else "the order given"


def likely_text(ordered: Ordered) -> str:
    """How much likelier the model finds the order than the one given, in words; "" where no model speaks."""
    times = likelier(ordered.fit, ordered.given)
    if times is None:
        return ""
    if times < 1.1:
        return f"the model finds it no likelier than {input_order_name(ordered)}"
    return f"{times_text(times)} as likely as {input_order_name(ordered)}"


def beside_text(proposal: Proposal, chosen: Fit) -> str:
    """How likely another proposal is beside the one taken, in words behind a comma; "" where no model speaks."""
    times = likelier(chosen, proposal.fit)
    if times is None:
        return ""
    named = ", the likeliest" if proposal.likeliest else ""
    if 1 / 1.1 < times < 1.1:
        return f"{named}, as likely"
    more = f"{times_text(times)} less likely" if times > 1 else f"{times_text(1 / times)} as likely"
    return f"{named}, {more}"


def times_text(times: float) -> str:
    """How many times, in words.

    >>> times_text(4.26), times_text(36.2), times_text(12345.0)
    ('4.3 times', '36 times', 'over 1,000 times')
    """
    for most, words in ((10, f"{times:.1f}"), (100, f"{times:.0f}"), (1000, "over 100"), (1e6, "over 1,000")):
        if times < most:
            return f"{words} times"
    return "over a million times"


def _items(ordered: Ordered, *, explain: bool) -> list[dict[str, Any]]:
    fit, rows, facts = ordered.fit, rows_of(ordered), facts_of(ordered)
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
            "why": why,
            "facts": {fact.name: fact.texts[row.position] for fact in facts},
        }
        for row, essence, target, deviation, why in zip(rows, *numbers, reasons, strict=True)
    ]


def _likes(ordered: Ordered) -> list[list[float]] | None:
    judged = ordered.task.likelihood
    return None if judged is None or len(judged.collection) > _MOST_LIKES else judged.likes().round(4).tolist()


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


def side_line(ordered: Ordered, side: int) -> str:
    """What a side is called and how long it is."""
    length = ordered.session.medium.unit.text(ordered.lengths[side])
    return f"Side {side_name(side)}{f', {length}' if length else ''}"


def as_text(ordered: Ordered) -> str:
    """A result as lines of text: title, sides, and a line per item."""
    rows = rows_of(ordered)
    wide = max(len(row.label) for row in rows)
    title = min(48, max(len(row.item.label) for row in rows))
    lines = [headline(ordered)]
    for row in rows:
        if row.side and row.number == 1:
            lines.append(side_line(ordered, ordered.side_of(row.position)[0]))
        name = row.item.label if len(row.item.label) <= title else row.item.label[: title - 1] + "…"
        lines.append(f"{row.label:>{wide}}  {name:<{title}}  {row.length:>7}".rstrip())
    return "\n".join([*lines, *(f"note: {note}" for note in ordered.notes)])


def as_html(ordered: Ordered) -> str:
    """A result as a small HTML table, as notebooks show it."""
    essence = ordered.session.essence
    head = "<tr><th>#</th><th>title</th><th>length</th><th>was</th><th>essence</th></tr>"
    body = "".join(
        f"<tr><td>{row.label}</td><td>{escape(row.item.label)}</td><td>{row.length}</td><td>{row.index + 1}</td>"
        f"<td>{np.atleast_1d(essence[row.index])[0]:+.2f}</td></tr>"
        for row in rows_of(ordered)
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in ordered.notes)
    return f"<p><b>{escape(headline(ordered))}</b></p><table>{head}{body}</table>{notes}"
