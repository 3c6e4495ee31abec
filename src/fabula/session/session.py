"""The session: one collection, opened and measured once, ordered many times."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from fabula.core.arrays import Floats, normalise
from fabula.core.collection import Collection, Item
from fabula.core.template import PAPER_KNOTS, Template, from_arc, template_names
from fabula.errors import ConflictError, ConstraintError, InputError, check_kind, naming
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium, Steps, Threads
from fabula.media.registry import ITEMS, media, medium_for
from fabula.models.config import TITLES
from fabula.models.model import load_model
from fabula.session import propose, request as asking
from fabula.session.explain import MOST_ITEMS
from fabula.session.measure import Essence, embed, embedding_step, find_essence, usable_columns
from fabula.session.ordered import Ordered
from fabula.session.propose import OrderTask, Proposal
from fabula.session.request import Request
from fabula.session.review import review_session
from fabula.session.selection import Selection, select
from fabula.sources.registry import Opening, SeveralCollectionsError, Source, as_paths, open_source

# Shapes that an order may have besides the arcs of a model.
_SHAPES = ("steady-fall", "icarus", "man-in-a-hole", "freytag-pyramid", "steady-rise")
_HARDER = (1.0, 3.0, 10.0, 100.0)  # times as much that steps count, until none grows
_INSISTING = (1.0, 10.0, 100.0)  # times as much as all else is about worth that breaking a rule costs, until none is
_SOFT = 4.0  # of the objective that an average step back in a column costs which is to rise
DEFAULT_TEMPLATE = "icarus"  # for a column, of which no model knows what it does in a collection
_RUNNING = ("captured", "date", "number")  # columns that run forward, unless somebody asks for another template


@dataclass(frozen=True, eq=False)
class Session(Essence):
    """One collection being ordered.

    >>> session = session_of([Item("a"), Item("b"), Item("c")], [3.0, 1.0, 2.0])
    >>> session.order(template="steady-rise").ordering
    array([1, 2, 0])
    """

    asked_by: str | None = None  #: the column that was asked for as the essence
    asked_model: str | None = None  #: or the model
    vectors: Floats | None = None  #: an embedding of the user's own, (n, d), which has a say in the steps
    #: the items with the files in which they really lie, whatever they are shown as; empty where nothing may be read
    stored: tuple[Item, ...] = ()

    @property
    def collection(self) -> Collection:
        """The items in the order given, with their features."""
        return self.source.collection

    @property
    def medium(self) -> Medium:
        """The kind of media they are."""
        return self.source.medium

    @property
    def title(self) -> str:
        """What to call it."""
        return self.source.title

    @property
    def column(self) -> str | None:
        """The column that is the essence; None where it is a model's."""
        return self.features[0] if self.model is None and self.likelihood is None and self.features else None

    @property
    def model_name(self) -> str | None:
        """What the model is called that proposes the order, or gives the essence; None for a column."""
        model = (self.likelihood or self).model
        return None if model is None else model.name

    @property
    def card(self) -> Mapping[str, Any] | None:
        """What the model says of itself that proposes orders or else gives the essence; None where a column does."""
        model = (self.likelihood or self).model
        return None if model is None else model.card

    @property
    def columns(self) -> list[str]:
        """The features that can be the essence."""
        return [name for name in usable_columns(self.collection) if name not in self.medium.codes]

    @cached_property
    def templates(self) -> list[Template]:
        """The templates to try where none is named: the arcs of the model, or one for a column."""
        if self.model is None:
            default = "steady-rise" if self.column in _RUNNING else DEFAULT_TEMPLATE
            return [asking.find_template(default)] if self.likelihood is None else list(map(_on_knots, _SHAPES))
        if self.model.arcs is None:
            return [proposal.template for proposal in self.model.order(self.collection)]
        return [arc.normalised() for arc in self.model.arcs.templates]

    @cached_property
    def threads(self) -> Threads | None:
        """What runs through several of the items; None where nothing does, or there are too many items to tell."""
        return None if len(self.collection) > MOST_ITEMS else self.medium.threads(self.readable)

    @property
    def readable(self) -> Collection:
        """The items as they can be read: without files, where what they name is not to be opened."""
        if self.stored:
            return replace(self.collection, items=self.stored)
        places = self.medium.places
        plain = [{k: v for k, v in item.details.items() if k not in places} for item in self.collection.items]
        pairs = zip(self.collection.items, plain, strict=True)
        return replace(self.collection, items=tuple(replace(item, path="", details=said) for item, said in pairs))

    def by(self, column: str | None = None, model: str | None = None, measuring: Measuring | None = None) -> "Session":
        """The same collection with another essence: a column, or a model's; nothing is measured twice."""
        check_kind(column, (str, NoneType), "the name of a column", "by")
        found = find_essence(self.source, measuring or Measuring(), by=column, model=model, readable=self.stored)
        made = _session(found, column, model)
        rows = {item.id: row for row, item in enumerate(self.collection.items)}
        kept = [rows[item.id] for item in made.collection.items]  # some may be left out when they are measured
        vectors = None if self.vectors is None else self.vectors[kept]
        return replace(
            made, vectors=vectors, stored=tuple(self.stored[row] for row in kept) if self.stored else made.stored
        )

    def order(self, request: Request | None = None, **wishes: Any) -> Ordered:
        """Order the collection as a request asks, or the same by name, as :class:`Request` has it.

        Wishes that cannot hold are an error that names them in one line.
        """
        asked = asking.as_request(request, wishes)
        if asked.fill is not None:
            return self._fill(asked)
        if asked.side_limit is not None and asked.sides == 1 and asked.ordering is None:
            return self._count_sides(asked)
        if asked.spreads:
            plain = self.order(replace(asked, spreads="", alternatives=1, choose=1)).ordering
            spread = asking.with_spreads(asked, self.collection, self.medium, plain)
            return replace(self.order(spread), request=asked)
        if asked.never_worse and asked.smoothness > 0:
            return self._no_worse(asked)
        wished = asking.with_matter(asked, self.collection, self.medium)
        constraints = asking.constraints_of(wished, self.collection, self.medium)
        steps = self._steps(asked) if asked.smoothness or asked.step_limits else None
        flow = asked.smoothness * steps.table if steps and asked.smoothness and len(self.collection) > 1 else None
        for column, weight in asked.soft.items():
            back = (abs(weight) * _SOFT) * asking.backward_steps(self.collection, column, self.medium)
            flow = (back if weight > 0 else back.T) + (0.0 if flow is None else flow)
        judged = self.likelihood if asked.template is None and asked.like is None and not asked.flip else None
        task = OrderTask(self.essence, constraints, flow, self.model, judged, asked.likeliest, asked.seconds)
        task, found = self._solve(task, asked, steps)
        if asked.choose > len(found):
            raise InputError(f"there are {len(found)} proposals; got {asked.choose}", field="choose")
        taken: dict[str, Any] = {**vars(found[asked.choose - 1]), "proposals": tuple(found), "chosen": asked.choose - 1}
        ordered = Ordered(**taken, session=self, request=asked, task=task, steps=steps)
        out = [item for item in ordered.left_out if item in asked.only]
        if out:
            who = ", ".join(repr(self.collection.items[item].label) for item in out[:6])
            told = (
                f"the wishes cannot all hold with {len(asked.only)} {self.medium.words.items}: {who} would be left out"
            )
            raise InputError(told)
        return ordered

    def _fill(self, asked: Request) -> Ordered:
        """Items that are together as long as asked for, those that fit best before others, in order."""
        plain = replace(asked, fill=None, limit=asked.fill, alternatives=1, choose=1)
        bound = asking.constraints_of(plain, self.collection, self.medium)
        target, total = float(bound.limit or 0.0), float(bound.weights.sum())
        if total <= target:
            told = f"all {len(self.collection)} {self.medium.words.items} are shorter together than {asked.fill}"
            raise InputError(told, field="fill")
        few = len(self.collection) <= MOST_ITEMS
        preferred = self.order(plain).ordering.tolist() if few else []
        only = asking.fill_up(bound.weights, target, preferred, bound.must_keep)
        found = self.order(replace(asked, fill=None, only=only))
        off = float(bound.weights[only].sum()) - target
        near = "to the second"
        if abs(off) >= 0.5:
            near = f"{abs(off):.1f} {self.medium.unit.name} {'over' if off > 0 else 'short'}, the nearest there is"
        note = f"filled with {len(only)} of {len(self.collection)} {self.medium.words.items}: {near}"
        return self._tell(found, asked, note)

    def _count_sides(self, asked: Request) -> Ordered:
        """The order on as few sides as a limit of each takes."""
        bound = asking.constraints_of(replace(asked, sides=2), self.collection, self.medium)
        kept = bound.weights if not asked.only else bound.weights[list(asked.only)]
        limit = float(bound.side_limit or np.inf)
        fewest = max(1, int(np.ceil(kept.sum() / limit - 1e-9)))
        most = min(2 * fewest + 1, len(kept))
        for sides in range(min(fewest, len(kept)), most + 1):
            one = replace(asked, sides=sides) if sides > 1 else replace(asked, side_limit=None)
            try:
                found = self.order(one)
                break
            except InputError:
                if sides == most or float(kept.max()) > limit:
                    raise
        told = self.medium.unit.text(limit - asking.count_gap(asked, self.medium))  # a gap after each, but for the last
        return self._tell(found, one, f"{sides} side{'s' if sides > 1 else ''}: as many as {told} a side at most take")

    def _tell(self, found: Ordered, asked: Request, note: str) -> Ordered:
        """What was found, for what was asked, with a note."""
        told = replace(found.session, notes=(*found.session.notes, note))
        return replace(found, request=asked, session=told)

    review = review_session

    def _solve(self, task: OrderTask, asked: Request, steps: Steps | None) -> tuple[OrderTask, list[Proposal]]:
        """What was solved, and what came out: with what titles ask for, unless other wishes are against it."""

        def solve(task: OrderTask) -> list[Proposal]:
            ruled = asked.ordering is None and (asked.together_by is not None or bool(asked.step_limits))
            return self._by_rules(task, asked, steps) if ruled else self._proposals(task, asked)

        reads = self.likelihood is not None and TITLES in self.likelihood.model.reads
        titles, judged = self.collection.texts("title"), task.likelihood is not None  # along a template no steps count
        wishes = asking.find_title_wishes(titles, asked, steps=judged) if reads else None
        if wishes is not None:
            try:
                counted = task.under(wishes)
                return counted, solve(counted)
            except (ConflictError, ConstraintError):
                task = replace(task, against_titles=True)
        with asking.explain_conflicts(self.collection, self.medium, asked):
            return task, solve(task)

    def preset(self, name: str, request: Request, measuring: Measuring | None = None) -> "tuple[Session, Request]":
        """The session and the request of a preset of the medium; what the request already says is kept."""
        found = self.medium.presets.get(name)
        if found is None:
            there = ", ".join(self.medium.presets) or "none"
            raise InputError(f"there is no preset {name!r} for {self.medium.words.items}; there are: {there}")
        names = [part.name for part in self.medium.steps(self.readable, self.essence).parts]
        smooth_by = {name: weight for name, weight in found.smooth_by.items() if name in names}
        column = self.column or found.column(self.collection, needed=found.needed or not smooth_by)
        chosen = self if column in (None, self.column) else self.by(column, measuring=measuring)
        drawn = request.template is not None or request.like is not None
        asked = replace(request, template=request.template if drawn else found.template)
        if not asked.smoothness:
            asked = replace(asked, smoothness=found.smoothness, never_worse=True)
        return chosen, asked if asked.smooth_by else replace(asked, smooth_by=smooth_by)

    def _steps(self, asked: Request) -> Steps:
        """What lies between neighbours."""
        steps = self.medium.steps(self.readable, self.essence)
        if self.vectors is not None:  # in place of the essence
            steps = Steps((*(part for part in steps.parts if part.name != "essence"), embedding_step(self.vectors)))
        return steps.reweigh(asked.smooth_by) if asked.smooth_by else steps

    def _proposals(self, task: OrderTask, asked: Request) -> list[Proposal]:
        templates = self._find_templates(asked)
        if asked.ordering is not None:
            sides = _check_sides(asked, asked.ordering, task)
            along = templates[0] if templates else self.templates[0]
            if templates is None and task.likelihood is not None:
                along = propose.find_shape(self.essence[list(asked.ordering)], _named_shapes(), sides)
            return [propose.as_it_is(task, along, asked.ordering, sides)]
        if asked.keep is not None:
            shapes = None if templates is not None or task.likelihood is None else _named_shapes()
            return [propose.near_given(task, templates or self.templates, asked.keep, shapes)]
        if task.likelihood is not None:
            drawn = list(dict.fromkeys([*self.templates, *map(_on_knots, _SHAPES)]))
            return propose.by_likelihood(task, drawn, asked.alternatives, _named_shapes())
        arcs = None if self.model is None or templates is not None or asked.flip else self.model.arcs
        if arcs is not None:
            return [_call_by_name(one) for one in propose.along_arcs(task, arcs, asked.alternatives)]
        own = templates or self.templates
        return propose.distinct(
            [propose.along_template(task, one.flipped() if asked.flip else one) for one in own], asked.alternatives
        )

    def _no_worse(self, asked: Request) -> Ordered:
        """The order in which steps count least beside the arc, but none that counts grows on average; else as given."""
        plain, names = replace(asked, never_worse=False), [part.name for part in self._steps(asked).active]
        tries = [replace(plain, smoothness=times * asked.smoothness) for times in _HARDER]
        tries += [replace(tries[-1], smooth_by=dict.fromkeys(names, 1.0) | {name: 5.0}) for name in names]
        tries.append(replace(plain, smoothness=1e-6))  # the arc alone: a set turned round has the same steps
        for one in tries if asked.ordering is None else [plain]:
            found = self.order(one)
            if all(change.mean[1] <= change.mean[0] + 1e-9 for change in found.changes):
                return replace(found, request=asked)
        given = self.order(replace(plain, ordering=range(len(self.collection)), choose=1))
        note = "no order with steps as small was found: nothing is moved (a smoothness of your own moves all the same)"
        if asked.sides > 1 or given.task.constraints.broken(given.ordering):
            given, note = found, "as the wishes have it, steps grow on average"
        return self._tell(given, asked, note)

    def _by_rules(self, task: OrderTask, asked: Request, steps: Steps | None) -> list[Proposal]:
        """Proposals with one run of what shares a column, and no step beyond its limit; gaps of exact ones alone."""
        n = len(self.collection)
        by, beyond = asked.together_by, np.zeros((n, n)) if steps is None else steps.beyond(asked.step_limits)
        strands = [None] * n if by is None else asking.labels(self.collection, by, self.medium, "together_by")
        flow = np.zeros((n, n)) if task.flow is None else task.flow
        worth = 4.0 + 4.0 * float(np.ptp(flow if task.likelihood is None else flow - task.likelihood.flow))

        def solve(costs: Floats) -> list[Proposal]:
            found = self._proposals(replace(task, flow=flow + costs), asked)
            return [one if one.fit.exact or not one.gap else replace(one, gap=None) for one in found]

        def broken(one: Proposal) -> int:
            over = beyond[one.fit.ordering[:-1], one.fit.ordering[1:]]
            return int(np.delete(over, np.cumsum(one.sides)[:-1].astype(int) - 1).sum())

        def kept(found: list[Proposal]) -> bool:
            one = found[asked.choose - 1 if asked.choose <= len(found) else 0]
            return not asking.strands_apart(one.fit.ordering, strands) and not broken(one)

        table = worth * (beyond + (0.0 if by is None else asking.crossings(strands)))
        for times in _INSISTING:
            found = solve(times * table)
            if kept(found):
                break
        good = [one for one in found if not broken(one)]
        if not good:
            self._refuse_steps(asked, steps, beyond, min(map(broken, found)))
        return good

    def _refuse_steps(self, asked: Request, steps: Steps | None, beyond: Floats, count: int) -> None:
        """Say that limits of steps cannot hold, and which item has no neighbour."""
        units = {part.name: part.unit for part in steps.parts} if steps is not None else {}
        limits = asked.step_limits.items()
        rule = " and ".join(f"{name} at most {most:g} ({units.get(name)})" for name, most in limits)
        near = (beyond + np.eye(len(beyond)) == 0).any(axis=0) | (beyond + np.eye(len(beyond)) == 0).any(axis=1)
        alone = [repr(self.collection.items[i].label) for i in np.flatnonzero(~near)]
        why = f"; {', '.join(alone[:3])} {'fits' if len(alone) == 1 else 'fit'} beside no other" if alone else ""
        told = f"no order was found that keeps every step in {rule}: the best breaks {count} of {len(beyond) - 1}"
        raise InputError(told + why, field="step_limits")

    def _find_templates(self, asked: Request) -> list[Template] | None:
        """The one template that was asked for; None where the model's own are meant."""
        if asked.like is not None:
            other = asked.like if isinstance(asked.like, Session) else self._open(asked.like)
            return [from_arc(other.essence, name=f"like {other.title}")]
        if asked.template is None:
            return None
        given = asked.template
        with naming("template"):
            found = asking.find_template(given, self.templates) if isinstance(given, str) else given
        return [found.normalised() if asked.scaled else found]

    def _open(self, path: str | Path) -> "Session":
        file, mark, which = str(path).rpartition("#")
        named = mark and file and not Path(path).exists()
        opening = Opening(collection=which) if named else None
        with naming("like"):
            try:
                where = [file if named else path]
                return open_session(where, by=self.asked_by, model=self.asked_model, opening=opening)
            except SeveralCollectionsError as error:
                raise InputError(f"{error.message}, as '{path}#{error.choices[0].id}'") from error


@lru_cache(maxsize=32)
def _on_knots(name: str) -> Template:
    """A built-in template on the paper's knots, so that a person can bend it there."""
    named = asking.find_template(name)
    return Template(PAPER_KNOTS, named.at(PAPER_KNOTS), named.name, named.description)


def _named_shapes() -> list[Template]:
    """The built-in templates that have a name of their own, no number, on the paper's knots."""
    return [_on_knots(name) for name in template_names() if not name[-1].isdecimal()]


def _call_by_name(proposal: Proposal) -> Proposal:
    """A proposal along an arc of a model, which is called as the built-in template that it follows."""
    arc = proposal.fit.template
    if arc.values.ndim > 1:
        return proposal
    known = propose.find_shape(arc.samples(21), _named_shapes())
    named = Template(arc.knots, arc.values, known.name, known.description, arc.interpolation)
    return replace(proposal, fit=replace(proposal.fit, template=named))


def check_template(text: str, model: str | None = None) -> None:
    """Refuse a template that nothing can mean, of a model's arcs or all media's, before anything is measured."""
    if model is None:
        with suppress(InputError):  # a built-in, a file or points: no model need be loaded
            asking.find_template(text)
            return
    names = [model] if model is not None else [name for medium in media().values() for name in medium.models]
    arcs = [getattr(load_model(name), "arcs", None) for name in names]
    with naming("template"):
        asking.find_template(text, [template for one in arcs if one is not None for template in one.templates])


def _check_sides(asked: Request, ordering: Sequence[int], task: OrderTask) -> tuple[int, ...]:
    """How many items each side of a given ordering has: as asked, or cut where the lengths are most even."""
    n, sides = len(task.essence), asked.sides
    asking.check_indices(ordering, n, "ordering")
    if asked.side_sizes:
        sizes = tuple(asked.side_sizes)
        if len(sizes) != sides or min(sizes) < 1 or sum(sizes) != len(ordering):
            rule = f"must be {sides} numbers above 0 that add up to {len(ordering)}"
            raise InputError(f"{rule}; got {list(sizes)}", field="side_sizes")
        return sizes if sides > 1 else ()
    if sides == 1:
        return ()
    if sides > len(ordering):
        raise InputError(f"{sides} sides need as many items; got {len(ordering)}", field="sides")
    through = np.cumsum(task.constraints.weights[list(ordering)])
    cuts = [int(np.argmin(np.abs(through - through[-1] * k / sides))) + 1 for k in range(1, sides)]
    for k in range(len(cuts)):  # none empty
        low, high = (cuts[k - 1] if k else 0) + 1, len(ordering) - (sides - 1 - k)
        cuts[k] = min(max(cuts[k], low), high)
    return tuple(np.diff([0, *cuts, len(ordering)]).tolist())


def open_session(
    paths: str | Path | Sequence[str | Path],
    opening: Opening | None = None,
    measuring: Measuring | None = None,
    *,
    by: str | None = None,
    model: str | None = None,
    embedding: str | None = None,
    occasion: str | None = None,
    selection: Selection | None = None,
    request: Request | None = None,
) -> Session:
    """Open a collection: read it, measure its items where they are files, find their essence.

    As :func:`fabula.open` takes it; ``selection`` says which items are wanted. The items named by a ``request`` that
    will be made of it are looked for before anything is measured, unless some items are left out first.
    """
    named = as_paths(paths)
    how = measuring or Measuring()
    source = open_source(named, replace(opening or Opening(), progress=how.progress, stop=how.stop)).with_lengths()
    named_items = request.items() if request else []
    for field, which in named_items if selection is None or not selection.narrows else ():
        if isinstance(which, str):
            asking.find_item(source.collection.items, which, field)
    if selection is not None:
        source = select(source, selection, how, [which for _, which in named_items])
    known: dict[str, Floats] = {}
    if embedding is not None:
        source, known = embed(source, embedding)
    note = ""
    if occasion is not None:
        if by is not None or model is not None:
            raise InputError("goes with neither a column nor a model", field="occasion")
        source = replace(source, medium=medium_for(occasion, source.medium))
        model, note = source.medium.occasions[occasion](source.collection)
    session = _session(find_essence(source, how, by=by, model=model), by, model)
    session = replace(session, notes=(*session.notes, note)) if note else session
    if not known:
        return session
    return replace(session, vectors=np.stack([known[item.id] for item in session.collection.items]))


def session_of(items: Sequence[Item], essence: Any) -> Session:
    """Items with a number each, as a session; the numbers are z-scored."""
    numbers = np.asarray(essence, dtype=np.float64)
    collection = Collection("items", tuple(items), numbers[:, np.newaxis], ("essence",))
    return Session(Source(Path("items"), collection, ITEMS), normalise(numbers), ("essence",))


def source_session(
    source: Source, measuring: Measuring, by: str | None = None, model: str | None = None, *, guess: bool = False
) -> Session:
    """A source that is open already, measured where needed; a likely column may be guessed as its essence."""
    return _session(find_essence(source.with_lengths(), measuring, by=by, model=model, guess=guess), by, model)


def _session(found: Essence, by: str | None, model: str | None) -> Session:
    stored = found.source.collection.items if found.source.files or found.source.cut else ()
    told = {**vars(found), "notes": found.source.tell() + found.notes}
    return Session(**told, asked_by=by, asked_model=model, stored=stored)
