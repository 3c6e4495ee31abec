"""Proposals: orderings of an essence under constraints, along a template or along the arcs of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.core.fit import Fit, lay
from fabula.core.ordering import Ints
from fabula.core.solver.solve import Arrangement, Constraints, Goal, arrange
from fabula.core.template import Template
from fabula.models.model import Model
from fabula.models.sets.agreement import neighbour_agreement, position_agreement
from fabula.session.judging.likelihood import Likelihood

_FIRST, _OTHERS = 1.5, 0.4  # seconds to search for the first proposal and for each alternative, beyond few items
_EACH = 1000  # items from which more have more time
_LONGEST = 3.0  # times as much, at most
_MOST_LEANING = 2000  # items beyond which no alternatives lean towards a template: their tables are large
_LEANING = 0.5  # how much a squared deviation from a template counts against the likelihood of an alternative


@dataclass(frozen=True, eq=False)
class Proposal:
    """One ordering.

    Attributes
    ----------
    fit
        The items kept, laid on the template.
    gap
        How much better, as a part of the objective, another ordering could be at most; 0 when it is exact, None
        when it is not known.
    sides
        How many items each side has; empty where there is one.
    left_out
        Items that a limit left out, rising.
    likeliest
        Whether it was asked for as the likeliest ordering there is, by a model that proposes orders.
    """

    fit: Fit
    gap: float | None = 0.0
    sides: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    likeliest: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """What to lay along what: essence (n,) or (n, d), constraints, the cost of steps (n, n) or None, and who judges.

    With ``likeliest``, the likeliest ordering comes first even where the judge would propose what it expects.
    ``seconds`` is how long to search for each ordering at most; None as long as it is worth.
    """

    essence: Floats
    constraints: Constraints
    flow: Floats | None = None
    model: Model | None = None
    likelihood: Likelihood | None = None
    likeliest: bool = False
    seconds: float | None = None

    def time_for(self, usual: float) -> float:
        """Seconds for a search that usually takes so many; of very many items it takes longer."""
        worth = usual * min(max(1.0, len(self.essence) / _EACH), _LONGEST)
        return worth if self.seconds is None else min(worth, self.seconds)

    @property
    def plain(self) -> bool:
        """Whether a sort does it: nothing but fixed positions is asked for."""
        return self.flow is None and self.constraints.positions_only and not self.constraints.forbidden


def along_template(task: Task, template: Template) -> Proposal:
    """The ordering that follows a template most closely under the constraints."""
    found = arrange(
        Goal.template(task.essence, template),
        constraints=task.constraints,
        flow=task.flow,
        seconds=task.time_for(_FIRST),
    )
    return _proposal(task, template, found)


def along_arcs(task: Task, most: int) -> list[Proposal]:
    """The likeliest orderings under a model's mixture of arcs, likeliest first, distinct.

    Under one arc the likeliest ordering is the one with the smallest squared deviations from it; what the free search
    finds likeliest is kept wherever it keeps the constraints, so that a wish that holds already changes nothing.
    """
    arcs = task.model.arcs if task.model is not None else None
    if arcs is None:
        raise ValueError("the model has no arcs")
    if task.plain:
        fits = arcs.order(task.essence, alternatives=most, fixed=task.constraints.fixed, ties="given")
        return [Proposal(fit) for fit in fits]
    free = arcs.order(task.essence, alternatives=max(most, len(arcs.templates)), ties="given")
    found: dict[bytes, Proposal] = {}
    for number, fit in enumerate(free):
        proposal = _under_arc(task, fit, _OTHERS if number else _FIRST)
        found.setdefault(proposal.fit.ordering.tobytes(), proposal)
    return sorted(found.values(), key=lambda proposal: -(proposal.fit.score or 0.0))[:most]


def _under_arc(task: Task, fit: Fit, seconds: float) -> Proposal:
    kept = task.constraints
    if task.flow is None and kept.one_side and not kept.apart_soft and not kept.broken(fit.ordering):
        return Proposal(fit)

    goal = Goal.table(lambda m: _squares(task.essence, fit.template, m), len(task.essence))
    found = arrange(goal, constraints=kept, flow=task.flow, seconds=task.time_for(seconds))
    return _proposal(task, fit.template, found)


def by_likelihood(task: Task, templates: Sequence[Template], most: int) -> list[Proposal]:
    """Orderings under a model that judges the collection, distinct, those after the first likeliest first.

    The first is what the model expects to agree best with the true order, where it expects anything; the likeliest
    comes next, or first. Others lean towards a template: its squared deviations, each side from its beginning to its
    end, count against the likelihood. Positions count through all sides: what closes closes the last.
    """
    likelihood = task.likelihood
    if likelihood is None:
        raise ValueError("no model judges this task")
    likelihood = likelihood.given(task.constraints)
    found: dict[bytes, Proposal] = {}
    if likelihood.judge.expects and not task.likeliest:
        arranged = _arranged(task, _expected(likelihood), neighbour_agreement(likelihood.posterior), _FIRST)
        _keep(found, task, templates, arranged)
    leaning = templates[: max(0, 2 * (most - 1))] if len(task.essence) <= _MOST_LEANING else []
    for lean in [None, *leaning]:
        if len(found) == most:
            break
        goal = _liked(likelihood, _leaning(task, lean))
        arranged = _arranged(task, goal, likelihood.flow, _FIRST if lean is None else _OTHERS)
        _keep(
            found,
            task,
            [lean] if lean is not None else templates,
            arranged,
            likeliest=lean is None and likelihood.tabled,
        )
    best, *others = found.values()
    return [best, *sorted(others, key=lambda proposal: -(proposal.fit.score or 0.0))]


def _liked(likelihood: Likelihood, leaning: Callable[[int], Floats] | None) -> Goal:
    """What positions cost by likelihood, and by what leaning towards a template costs."""
    n = len(likelihood.collection)
    if leaning is None and not likelihood.judge.places:
        return Goal(n)
    return Goal.table(leaning, n, whole=(lambda m: -likelihood.positions(m)) if likelihood.judge.places else None)


def _expected(likelihood: Likelihood) -> Goal:
    n = len(likelihood.collection)
    return Goal.table(n=n, whole=lambda m: -position_agreement(likelihood.posterior, m))


def _arranged(task: Task, goal: Goal, flow: Floats, seconds: float) -> Arrangement:
    """The best ordering by a goal and by what neighbours are worth, (n, n), less the steps that were asked for."""
    cost = -flow if task.flow is None else task.flow - flow
    return arrange(goal, constraints=task.constraints, flow=cost, seconds=task.time_for(seconds))


def _keep(
    found: dict[bytes, Proposal],
    task: Task,
    templates: Sequence[Template],
    arranged: Arrangement,
    *,
    likeliest: bool = False,
) -> None:
    """Keep an ordering as a proposal, beside the template it is nearest to; one found before stays as it is."""
    key = arranged.ordering.tobytes()
    if key not in found:
        template = nearest(task.essence[arranged.ordering], templates, arranged.sides)
        found[key] = replace(_proposal(task, template, arranged), likeliest=likeliest)
    elif likeliest:
        found[key] = replace(found[key], likeliest=True)


def _leaning(task: Task, lean: Template | None) -> Callable[[int], Floats] | None:
    """From the size of a side to what leaning towards a template costs, (n, size)."""
    return None if lean is None else lambda m: _LEANING * _squares(task.essence, lean, m)


def _squares(essence: Floats, template: Template, m: int) -> Floats:
    """Squared deviations of n items from a template at m positions: shape (n, m)."""
    rows, goals = essence.reshape(len(essence), -1), template.samples(m).reshape(m, -1)
    return np.asarray(((rows[:, np.newaxis] - goals) ** 2).sum(axis=-1))


def nearest(essence: Floats, templates: Sequence[Template], sides: Sequence[int] = ()) -> Template:
    """The template that an essence in order is nearest to, each side from its beginning to its end."""
    parts = np.split(essence, np.cumsum(sides or [len(essence)])[:-1])

    def off(template: Template) -> float:
        return sum(float(((part - template.samples(len(part))) ** 2).sum()) for part in parts)

    return min(templates, key=off)


def as_it_is(task: Task, template: Template, ordering: ArrayLike, sides: Sequence[int] = ()) -> Proposal:
    """A given ordering of some of the items beside a template; how good it is among others is not known."""
    order = np.asarray(ordering, dtype=np.intp)
    left_out = np.setdiff1d(np.arange(len(task.essence)), order)
    return Proposal(laid(task, template, order, sides), None, tuple(sides), tuple(left_out.tolist()))


def laid(task: Task, template: Template, ordering: ArrayLike, sides: Sequence[int] = ()) -> Fit:
    """Items in an ordering beside a template, which each side follows from its beginning to its end."""
    order = np.asarray(ordering, dtype=np.intp)
    ends = np.cumsum(sides or [len(order)])[:-1]
    parts = [lay(task.essence[part], np.arange(len(part)), template) for part in np.split(order, ends)]
    targets = np.concatenate([part.targets for part in parts])
    deviations = np.concatenate([part.deviations for part in parts])
    return Fit(order, template, targets, deviations, exact=False, score=score(task, order, sides))


def score(task: Task, ordering: Ints, sides: Sequence[int] = ()) -> float | None:
    """How likely a model finds an ordering, the sum over its sides; None where there is no scorer."""
    if task.likelihood is not None:
        return task.likelihood.score(ordering, sides)
    if task.model is None or not task.model.scorers:
        return None
    ends = np.cumsum(sides or [len(ordering)])[:-1]
    return sum(float(task.model.score(task.essence[part])) for part in np.split(ordering, ends))


def _proposal(task: Task, template: Template, found: Arrangement) -> Proposal:
    fit = replace(laid(task, template, found.ordering, found.sides), exact=found.exact)
    return Proposal(fit, found.gap, tuple(found.sides), tuple(int(i) for i in found.left_out))
