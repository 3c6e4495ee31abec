"""Judges: what a model that proposes orders says of one collection, whatever kind of model it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.solver.constraints import Constraints
from fabula.errors import ModelError
from fabula.media.medium import Medium
from fabula.media.steps import Steps
from fabula.models.file import AnyModel
from fabula.models.sets.agreement import MOST_EXPECTED
from fabula.models.sets.model import SetModel
from fabula.models.sets.reasons import TITLE, Contributions, leave_one_group_out
from fabula.models.steps.evidence import Evidence
from fabula.models.steps.model import StepModel
from fabula.models.steps.posterior import Posterior
from fabula.models.steps.reasons import parts_of
from fabula.models.steps.tables import closeness

_MANY = 1000  # items beyond which tables of pairs are measured when they are asked for, and not kept


class Judge(Protocol):
    """What proposes orders of one collection of n items; higher is likelier."""

    def card(self) -> Mapping[str, Any]:
        """What the model says of itself."""

    def given(self, constraints: Constraints) -> Judge:
        """The same judge, told what must be kept."""

    def positions(self, m: int) -> Floats:
        """How good it is to have each item at each of m positions: shape (n, m)."""

    def flow(self) -> Floats:
        """How good it is to have each item followed by each other: shape (n, n)."""

    @property
    def places(self) -> bool:
        """Whether it has a say in positions; else neighbours count alone."""

    @property
    def tabled(self) -> bool:
        """Whether its tables say how likely an ordering is, so that their best is the likeliest."""

    @property
    def expects(self) -> bool:
        """Whether it proposes what it expects to agree best with the true order, rather than the likeliest."""

    def score(self, ordering: Ints, sides: Sequence[int]) -> float | None:
        """How likely an ordering of some of the items is, a logarithm but for a constant; None: its tables say it."""

    def likes(self) -> Floats | None:
        """Where each item likes to stand, shape (n, n), each row a share over positions; None: its tables say it."""

    def sureness(self, ordering: Ints) -> float | None:
        """How sure it is which end of an ordering begins, 0 to 1; None where it cannot say."""

    def known(self) -> tuple[str, ...]:
        """What is known of the items that the model takes; empty where that is too little to judge by."""

    def contributions(self, ordering: Ints) -> Contributions:
        """What speaks for each item's position in an ordering of all."""


@dataclass(frozen=True, eq=False)
class SetJudge:
    """A set model, which sees titles, neighbours and the whole collection."""

    model: SetModel
    collection: Collection
    places = tabled = True

    @property
    def expects(self) -> bool:
        """Whether there are few enough items to expect anything of them."""
        return len(self.collection) <= MOST_EXPECTED

    def card(self) -> Mapping[str, Any]:
        """What the model says of itself."""
        return self.model.card

    def given(self, constraints: Constraints) -> SetJudge:
        """Itself: its tables do not depend on what must be kept."""
        return self

    def positions(self, m: int) -> Floats:
        """How much each item likes each of m positions: shape (n, m)."""
        return self.model.tables(self.collection, count=m).positions

    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""
        return self.model.tables(self.collection).flow

    def score(self, ordering: Ints, sides: Sequence[int]) -> float | None:
        """None: its tables say it."""
        return None

    def likes(self) -> Floats | None:
        """None: its tables say it."""
        return None

    def sureness(self, ordering: Ints) -> float | None:
        """None: it draws no orderings."""
        return None

    def known(self) -> tuple[str, ...]:
        """The features that are known, and ``title``."""
        titled = any(item.title for item in self.collection.items)
        return (*([TITLE] if titled else []), *_features(self.model.feature_names, self.collection))

    def contributions(self, ordering: Ints) -> Contributions:
        """What is lost when each thing is not known of each item."""
        return leave_one_group_out(self.model, ordering, self.collection)


@dataclass(frozen=True, eq=False)
class StepJudge:
    """A step model, which sees measures, and what the medium looks at in pairs of items."""

    model: StepModel
    collection: Collection
    medium: Medium
    constraints: Constraints | None = None
    expects = tabled = False  # its tables are what likely orderings have in common

    @cached_property
    def evidence(self) -> Evidence:
        """What the medium finds in the items, looked at once."""
        found = self.medium.look(self.collection)(range(len(self.collection)))
        if found.pairs:
            return found
        return Evidence(_Closeness(self.medium.steps(self.collection, np.zeros(len(self.collection)))))

    @property
    def places(self) -> bool:
        """Whether arcs, or more than neighbours, have a say."""
        return self.model.reaches or bool(self.model.tensors["arcs"].any())

    @cached_property
    def posterior(self) -> Posterior:
        """The orderings that the model holds likely."""
        return Posterior(self.model, self.collection, self.evidence, self.constraints)

    def card(self) -> Mapping[str, Any]:
        """What the model says of itself."""
        return self.model.card

    def given(self, constraints: Constraints) -> StepJudge:
        """Orderings are drawn among those that keep what is fixed, forbidden and before something."""
        if not (constraints.fixed or constraints.forbidden or constraints.before):
            return self
        judge = replace(self, constraints=constraints)
        judge.__dict__["evidence"] = self.evidence  # looked at once
        return judge

    def positions(self, m: int) -> Floats:
        """How much the orderings that are likely agree with each item at each of m positions: shape (n, m)."""
        return self.posterior.positions(m)

    def flow(self) -> Floats:
        """How much they agree with each item beside each other: shape (n, n)."""
        return self.posterior.flow()

    def score(self, ordering: Ints, sides: Sequence[int]) -> float:
        """The sum over positions and all pairs, whatever the sides; without reach, side by side."""
        if self.model.reaches:
            return self.posterior.score(ordering)
        return sum(map(self.posterior.score, np.split(ordering, np.cumsum(sides or [len(ordering)])[:-1])))

    def likes(self) -> Floats:
        """Where each item stands in the orderings that are likely: shape (n, n)."""
        return self.posterior.shares()

    def sureness(self, ordering: Ints) -> float | None:
        """How many of the orderings that are likely run the same way; None where none were drawn."""
        return self.posterior.sureness(ordering)

    def known(self) -> tuple[str, ...]:
        """The features and pairs that are known; none where no pair is, without which measures tell little."""
        there = [name for name in self.model.pair_names if name in self.evidence.pairs]
        if not there:
            return ()
        return (*_features(self.model.feature_names, self.collection), *(() if self.model.reaches else there))

    def contributions(self, ordering: Ints) -> Contributions:
        """What each feature and each table of pairs adds."""
        return parts_of(self.model, ordering, self.collection, self.evidence)


class _Closeness(Mapping[str, NDArray[np.floating]]):
    """How close items are in each of the medium's steps, measured when it is asked for; kept of few items."""

    def __init__(self, steps: Steps) -> None:
        self._parts = {part.name: part for part in steps.parts}
        self._kept: dict[str, NDArray[np.floating]] = {}

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        if name in self._kept:
            return self._kept[name]
        part = self._parts[name]
        table = closeness(part.distance, own=callable(part.measured))
        if len(table) <= _MANY:
            self._kept[name] = table
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def judge_of(model: AnyModel, collection: Collection, medium: Medium) -> Judge:
    """The judge that a model makes of a collection.

    Raises
    ------
    ModelError
        When the model is of a kind that proposes no orders of its own.
    """
    if isinstance(model, StepModel):
        return StepJudge(model, collection, medium)
    if isinstance(model, SetModel):
        return SetJudge(model, collection)
    raise ModelError(f"{medium.name}: the model that proposes orders must be a set model or a step model")


def _features(names: tuple[str, ...], collection: Collection) -> list[str]:
    there = [name for name in names if name in collection.feature_names]
    return [name for name in there if np.isfinite(collection.column(name)).any()]
