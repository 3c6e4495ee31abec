"""Proposals: orderings of an essence under constraints, along a template, the arcs of a model, or by its likelihood."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Evidence
from fabula.core.energy import MOST_WHOLE, NEVER, Energy, check_count
from fabula.core.fit import Fit, lay
from fabula.core.moves import FEW, arrange_near
from fabula.core.posterior import Posterior, agreement, posterior
from fabula.core.solver import Arrangement, Constraints, Goal, arrange
from fabula.core.solver.problem import positions_allowed
from fabula.core.solver.solve import arrange_stretches
from fabula.core.template import PAPER_KNOTS, Template
from fabula.errors import InputError, ModelError
from fabula.media.medium import Medium, find_evidence
from fabula.models.config import PAIRS
from fabula.models.encoders.measures import MeasuresEncoder, as_measures
from fabula.models.model import Model
from fabula.models.order import MOST_EXPECTED, Contributions, explain, lean as lean_of
from fabula.models.sureness import Sureness, calibration, claim, is_far, is_scattered, measure_kin, temper_of
from fabula.models.titles import Series
from fabula.session.request import TitleWishes

REACH = "reach"  # the scorer by which all pairs count
_RANDOM = 400  # orderings that a proposal is compared with
_FIRST, _OTHERS = 1.5, 0.4  # seconds to search for the first proposal and for each alternative, beyond few items
_EACH = 1000  # items from which more have more time
_LONGEST = 3.0  # times as much, at most
_MOST_LEANING = 2000  # items beyond which no alternatives lean towards a template: their tables are large
_APART_SOFT = 8.0  # natural logarithms of likelihood that two alike side by side cost, where that is to be seldom
_FOLLOWED = 0.6  # correlation from which on an order is said to follow a template
_TELLING = 100  # words of an item in the middle, from which on it tells whether it has to do with others
APART = "have little to do with each other"
FLAT = Template([0, 1], [0, 0])  # where no arc is drawn
_LEANING = 0.5  # how much a squared deviation from a template counts against the likelihood of an alternative


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A model's opinion of one collection, in one pass over its items; higher is likelier."""

    model: Model  # sees the whole collection, never its order
    collection: Collection
    judged: Collection  # the same items as the model can judge them
    medium: Medium  # looks into the items where the model asks for that
    constraints: Constraints | None = None  # what orderings must keep that are drawn
    taken: str = ""  # why a model was taken that is not the usual one, in words: nothing is claimed then

    @cached_property
    def evidence(self) -> Evidence | None:
        """What the medium finds in the items, looked at once; None where the model does not ask for it."""
        if PAIRS not in self.model.reads:
            return None
        check_count(len(self.judged))  # before they are looked into
        return find_evidence(self.judged, self.medium)

    @cached_property
    def energy(self) -> Energy:
        """What the model says of every ordering."""
        return self.model.energy(self.judged, evidence=self.evidence)

    @cached_property
    def posterior(self) -> Posterior:
        """How likely each item stands at each position and before each other, of what keeps the constraints."""
        kept = self.constraints
        allowed = None if kept is None else positions_allowed(kept, self.energy.n)
        if kept is None or allowed is None or not allowed.any(axis=0).all():
            return posterior(self.energy)
        return posterior(self.energy.limit(allowed, np.array(kept.before, dtype=np.intp).reshape(-1, 2)))

    @cached_property
    def tables(self) -> Energy:
        """What to solve for: what the model says, or the agreement with what is likely where all pairs count."""
        return self.energy if self.energy.solvable else agreement(self.posterior)

    @property
    def expects(self) -> bool:
        """Whether it proposes what it expects to agree best with the true order, rather than the likeliest."""
        return self.by_tables and len(self.collection) <= MOST_EXPECTED

    @property
    def by_tables(self) -> bool:
        """Whether it goes by positions and neighbours, so that the best by them is the likeliest."""
        return REACH not in self.model.scorers

    @property
    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""
        n = len(self.collection)
        return np.zeros((n, n)) if self.tables.flow is None else self.tables.flow

    def under(self, constraints: Constraints) -> "Likelihood":
        """The same opinion, told what must be kept: orderings are drawn among those that keep it."""
        c = constraints
        if self.energy.solvable or not (c.fixed or c.forbidden or c.before) or c is self.constraints:
            return self
        other = replace(self, constraints=c)
        known = {name: self.__dict__[name] for name in ("unfamiliar", "_kin") if name in self.__dict__}
        other.__dict__.update(evidence=self.evidence, energy=self.energy, **known)  # looked at once
        return other

    def score(self, ordering: Ints, sides: Sequence[int] = ()) -> float:
        """How likely an ordering of some of the items is: positions count through all sides, neighbours within each."""
        return float(self.energy.score(ordering, sides))

    @cached_property
    def _kin(self) -> tuple[Mapping[str, Any], Floats] | None:
        """What the model has learned from is like, and what these items are like; None where that is not known."""
        kin, encoder = (calibration(self.model) or {}).get("kin"), self.model.encoder
        terms = None if self.evidence is None else self.evidence.terms
        if kin is None or terms is None or not isinstance(encoder, MeasuresEncoder) or len(self.collection) < 3:
            return None
        threads = self.medium.threads(self.judged)
        return kin, measure_kin(encoder.read(self.judged), terms, None if threads is None else threads.counts)

    @property
    def scattered(self) -> bool:
        """Whether the items have no more to do with each other than parts of different works."""
        terms = None if self.evidence is None else self.evidence.terms
        long_enough = terms is not None and float(np.median(terms.totals)) >= _TELLING
        return self._kin is not None and self._spoken and long_enough and is_scattered(*self._kin)

    @property
    def _spoken(self) -> bool:
        """Whether the model has learned the language of the items."""
        terms = None if self.evidence is None else self.evidence.terms
        return terms is not None and terms.language in as_measures(self.model.encoder).words

    @cached_property
    def unfamiliar(self) -> str:
        """Why nothing may be claimed, in words: the items are unlike what the model has learned from; else ""."""
        items = self.medium.words.items
        if self.taken or self._kin is None:
            return self.taken
        if not self._spoken:
            return "a guess: the model has not learned this language"
        if is_far(*self._kin):
            return f"a guess: these {items} are unlike those that the model has learned from"
        return f"a guess: these {items} {APART}" if self.scattered else ""

    def sureness(self, ordering: Ints) -> Sureness:
        """What may be claimed of an ordering of all items."""
        silent = self.unfamiliar or len(ordering) > MOST_EXPECTED
        return Sureness() if silent else claim(self.model, self.posterior, ordering)

    def beyond_chance(self, ordering: Ints, sides: Sequence[int] = ()) -> float:
        """How many times as likely an ordering is as a random order of its items, on average."""
        if self.expects and not sides and len(ordering) == len(self.collection):
            mean = self.posterior.mean_score
            if mean is not None:
                return float(np.exp(min(self.score(ordering) - mean, 700.0)))
        tempered = temper_of(self.model)
        return _beyond_chance(lambda rows: tempered * np.asarray(self.energy.score(rows, sides)), ordering)

    def essence(self) -> Floats:
        """Where each item leans to, the beginning (high) or the end (low): shape (n,), z-scored."""
        return lean_of(self.tables)

    def likes(self) -> Floats:
        """Where each item likes to stand: shape (n, n), each row its chances, or shares, over the positions."""
        if self.expects or not self.energy.solvable:
            return self.posterior.positions
        table = self.tables.at(len(self.collection))
        table = table - table.mean(axis=0)  # what all items like alike decides nothing
        shares = np.exp(table - table.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def contributions(self, ordering: Ints, rows: range) -> Contributions | None:
        """What speaks for each item's position, at some positions; None where some items are left out."""
        if len(ordering) < len(self.collection) or len(ordering) < 2:
            return None
        return explain(self.model, ordering, self.judged, self.evidence, rows)


def judge(model: Model, collection: Collection, medium: Medium, judged: Collection | None = None) -> Likelihood:
    """What a model that sees whole collections says of one, whose items it may be shown otherwise."""
    if model.by_item:
        raise ModelError(f"{medium.name}: the model that proposes orders must see whole collections")
    return Likelihood(model, collection, collection if judged is None else judged, medium)


@dataclass(frozen=True, eq=False)
class Proposal:
    """One ordering."""

    fit: Fit  #: the items kept, laid on the template
    #: how much better, as a part of the objective, another could be at most; None when it is not known
    gap: float | None = 0.0
    sides: tuple[int, ...] = ()  #: how many items each side has; empty where there is one
    left_out: tuple[int, ...] = ()  #: indices of the items that a limit left out, rising
    likeliest: bool = False  # whether it was asked for as the likeliest there is, by a model that proposes orders


@dataclass(frozen=True, eq=False)
class OrderTask:
    """What to lay along what, and who judges."""

    essence: Floats  # (n,) or (n, d)
    constraints: Constraints
    flow: Floats | None = None  # the cost of steps, (n, n)
    model: Model | None = None
    likelihood: Likelihood | None = None
    likeliest: bool = False  # the likeliest comes first even where the judge would propose what it expects
    seconds: float | None = None  # to search for each ordering at most; None as long as it is worth
    series: tuple[Series, ...] = ()  # items that keep the order of the numbers in their titles
    against_titles: bool = False  # whether other wishes keep titles from having what they ask for

    def under(self, wishes: TitleWishes) -> "OrderTask":
        """The same with what titles ask for."""
        flow = wishes.costs if self.flow is None or wishes.costs is None else self.flow + wishes.costs
        constraints = wishes.add_to(self.constraints)
        return replace(self, constraints=constraints, flow=self.flow if flow is None else flow, series=wishes.series)

    def time_for(self, usual: float) -> float:
        """Seconds for a search that usually takes so many; of very many items it takes longer."""
        worth = usual * min(max(1.0, len(self.essence) / _EACH), _LONGEST)
        return worth if self.seconds is None else self.seconds

    def beyond_chance(self, ordering: Ints) -> float | None:
        """How many times as likely the arcs of the model find an ordering as a random one; None where it has none."""
        arcs, essence = None if self.model is None else self.model.arcs, self.essence.reshape(len(self.essence), -1)
        return None if arcs is None else _beyond_chance(lambda rows: np.asarray(arcs.score(essence[rows])), ordering)

    @property
    def plain(self) -> bool:
        """Whether a sort does it: nothing but fixed positions is asked for."""
        return self.flow is None and self.constraints.positions_only and not self.constraints.forbidden


def along_template(task: OrderTask, template: Template) -> Proposal:
    """The ordering that follows a template most closely under the constraints."""
    goal, seconds = Goal.template(task.essence, template), task.time_for(_FIRST)
    found = arrange(goal, constraints=task.constraints, flow=task.flow, seconds=seconds)
    return _proposal(task, template, found)


def along_arcs(task: OrderTask, arcs: Arcs, most: int) -> list[Proposal]:
    """The likeliest orderings under a model's mixture of arcs, likeliest first, distinct.

    Under one arc the likeliest ordering is the one with the smallest squared deviations from it; what the free search
    finds likeliest is kept wherever it keeps the constraints, so that a wish that holds already changes nothing.
    """
    if task.plain:
        fits = arcs.order(task.essence, alternatives=most, fixed=task.constraints.fixed, ties="given")
        return [Proposal(fit) for fit in fits]
    free = arcs.order(task.essence, alternatives=max(most, len(arcs.templates)), ties="given")
    kept, found = task.constraints, []
    for fit in free:
        if task.flow is None and kept.one_side and not kept.apart_soft and not kept.broken(fit.ordering):
            found.append(Proposal(fit))
            continue
        goal = Goal.table(partial(_squares, task.essence, fit.template), len(task.essence))
        seconds = task.time_for(_OTHERS if found else _FIRST)
        arranged = arrange(goal, constraints=kept, flow=task.flow, seconds=seconds)
        found.append(_proposal(task, fit.template, arranged))
    return distinct(found, most)


def distinct(found: Sequence[Proposal], most: int) -> list[Proposal]:
    """Different orderings, the likeliest first."""
    kept: dict[bytes, Proposal] = {}
    for proposal in found:
        kept.setdefault(proposal.fit.ordering.tobytes(), proposal)
    return sorted(kept.values(), key=lambda proposal: -(proposal.fit.score or 0.0))[:most]


def by_likelihood(
    task: OrderTask, templates: Sequence[Template], most: int, shapes: Sequence[Template] = ()
) -> list[Proposal]:
    """Orderings under a model that judges the collection, distinct, those after the first likeliest first.

    The first is what the model expects to agree best with the true order, where it expects anything; the likeliest
    comes next, or first. Others lean towards a template: its squared deviations, each side from its beginning to its
    end, count against the likelihood. Positions count through all sides: what closes closes the last. Each is told by
    the shape it follows, of those named or else of the templates.
    """
    likelihood = task.likelihood
    if likelihood is None:
        raise ValueError("no model judges this task")
    likelihood, shapes = likelihood.under(task.constraints), shapes or templates
    found: dict[bytes, Proposal] = {}

    def keep(arranged: Arrangement, *, likeliest: bool = False) -> None:
        key = arranged.ordering.tobytes()
        if key not in found:  # beside the template it is nearest to
            shape = find_shape(task.essence[arranged.ordering], shapes, arranged.sides)
            found[key] = _proposal(task, shape, arranged)
        if likeliest:
            found[key] = replace(found[key], likeliest=True)

    if likelihood.expects and not task.likeliest:
        keep(_arrange(task, agreement(likelihood.posterior), None, _FIRST))
    leaning = templates[: max(0, 2 * (most - 1))] if len(task.essence) <= _MOST_LEANING else []
    for lean in [None, *leaning]:
        if len(found) == most:
            break
        arranged = _arrange(task, likelihood.tables, lean, _FIRST if lean is None else _OTHERS)
        keep(arranged, likeliest=lean is None and likelihood.by_tables)
    best, *others = found.values()
    return [best, *sorted(others, key=lambda proposal: -(proposal.fit.score or 0.0))]


def _arrange(task: OrderTask, energy: Energy, lean: Template | None, usual: float) -> Arrangement:
    """The best ordering by an energy, less what steps and leaning to a template cost; of very many by stretches."""
    n, seconds = energy.n, task.time_for(usual)
    # from the size of a side to what leaning costs, (n, size)
    leaning = None if lean is None else lambda m: _LEANING * _squares(task.essence, lean, m)
    if n > MOST_WHOLE and energy.placed and energy.flow is not None:

        def scores(sizes: Sequence[int]) -> Floats:
            liked = energy.at(sum(sizes))
            return liked if leaning is None else liked - np.concatenate([leaning(size) for size in sizes], axis=1)

        return arrange_stretches(scores, energy.flow, task.constraints, steps=task.flow, seconds=seconds)
    goal = Goal(n)
    if leaning is not None or energy.placed:
        goal = Goal.table(leaning, n, whole=(lambda m: -energy.at(m)) if energy.placed else None)
    flow = np.zeros((n, n)) if energy.flow is None else energy.flow
    return arrange(
        goal,
        constraints=task.constraints,
        flow=-flow if task.flow is None else task.flow - flow,  # held by nobody else: it may be large
        seconds=seconds,
    )


def _squares(essence: Floats, template: Template, m: int) -> Floats:
    """Squared deviations of n items from a template at m positions: shape (n, m)."""
    rows, goals = essence.reshape(len(essence), -1), template.samples(m).reshape(m, -1)
    return np.asarray(((rows[:, np.newaxis] - goals) ** 2).sum(axis=-1))


def find_shape(essence: Floats, templates: Sequence[Template], sides: Sequence[int] = ()) -> Template:
    """The template that an essence in order follows; where it follows none, its own course, which has no name."""
    parts = _split(essence, sides)
    sizes = tuple(map(len, parts))
    if essence.ndim > 1:  # the nearest
        off = [sum(float(((p - one.samples(len(p))) ** 2).sum()) for p in parts) for one in templates]
        return templates[int(np.argmin(off))]
    parts = [part - part.mean() for part in parts]
    course = np.concatenate(parts)
    swing = np.linalg.norm(course)

    def along(template: Template) -> float:
        off, size = _centre(template, sizes)
        return float(off @ course) / float(size * swing) if size * swing else 0.0

    best = max(templates, key=along)
    if along(best) >= _FOLLOWED:
        return best
    courses = [np.interp(PAPER_KNOTS, np.linspace(0, 1, len(part)), part) for part in parts if len(part) > 1]
    return Template(PAPER_KNOTS, np.mean(courses, axis=0) if courses else np.zeros(len(PAPER_KNOTS)))


@lru_cache(maxsize=256)
def _centre(template: Template, sizes: tuple[int, ...]) -> tuple[Floats, np.floating]:
    """A template about its mean on sides of so many items each, one after the other, and how far it swings."""
    goals = [template.samples(size) for size in sizes]
    off = np.concatenate([goal - goal.mean() for goal in goals])
    return off, np.linalg.norm(off)


def as_it_is(task: OrderTask, template: Template, ordering: ArrayLike, sides: Sequence[int] = ()) -> Proposal:
    """A given ordering of some of the items beside a template; how good it is among others is not known."""
    order = np.asarray(ordering, dtype=np.intp)
    left_out = np.setdiff1d(np.arange(len(task.essence)), order)
    return Proposal(lay_out(task, template, order, sides), None, tuple(sides), tuple(left_out.tolist()))


def near_given(
    task: OrderTask, templates: Sequence[Template], share: float, shapes: Sequence[Template] | None = None
) -> Proposal:
    """The best ordering in which that share of the items keeps its relative order, by the judge or a template."""
    n, template = len(task.essence), templates[0]
    energy = Energy(-_squares(task.essence, template, n)) if task.likelihood is None else task.likelihood.energy
    if task.flow is not None:
        energy = energy + Energy(flow=-task.flow)
    kept, allowed = task.constraints, positions_allowed(task.constraints, n)
    if allowed is not None and not allowed.all():
        energy = energy + Energy(np.where(allowed, 0.0, NEVER))
    if kept.apart is not None:
        same = np.asarray(kept.same_label())
        energy = energy + Energy(flow=np.where(same, -_APART_SOFT if kept.apart_soft else NEVER, 0.0))
    order = arrange_near(energy, np.arange(n), share)
    if kept.broken(order):
        rule = f"the wishes do not leave {share:.0%} of the order as it is"
        raise InputError(f"{rule}: keep less, or wish for less", field="keep")
    template = template if shapes is None else find_shape(task.essence[order], shapes)
    return Proposal(lay_out(task, template, order, exact=n <= FEW), 0.0 if n <= FEW else None)


def lay_out(
    task: OrderTask, template: Template, ordering: ArrayLike, sides: Sequence[int] = (), *, exact: bool = False
) -> Fit:
    """Items in an ordering beside a template, which each side follows from its beginning to its end."""
    order = np.asarray(ordering, dtype=np.intp)
    parts = [lay(task.essence[part], np.arange(len(part)), template) for part in _split(order, sides)]
    targets = np.concatenate([part.targets for part in parts])
    deviations = np.concatenate([part.deviations for part in parts])
    score = None
    if task.likelihood is not None:
        score = task.likelihood.score(order, sides)
    elif task.model is not None and task.model.scorers:
        score = sum(float(task.model.score(task.essence[part])) for part in _split(order, sides))
    return Fit(order, template, targets, deviations, exact=exact, score=score)


def _split(rows: NDArray[Any], sides: Sequence[int]) -> list[NDArray[Any]]:
    """What each side has of something in order; all of it where there are no sides."""
    return np.split(rows, np.cumsum(sides or [len(rows)])[:-1])


def _proposal(task: OrderTask, template: Template, found: Arrangement) -> Proposal:
    fit = lay_out(task, template, found.ordering, found.sides, exact=found.exact)
    gap = None if np.isnan(found.gap) else found.gap
    return Proposal(fit, gap, tuple(found.sides), tuple(map(int, found.left_out)))


def _beyond_chance(score: Callable[[Ints], Floats], ordering: Ints) -> float:
    """How many times as likely an ordering is as a random order of its items, on average."""
    rng = np.random.default_rng(0)
    scores = score(np.stack([ordering, *(rng.permutation(ordering) for _ in range(_RANDOM))]))  # (1 + r,)
    most = scores[1:].max()
    return float(np.exp(min(scores[0] - most, 700.0)) / np.exp(scores[1:] - most).mean())
