"""Judges: what a model that proposes orders says of one collection, whatever kind of model it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import ModelError
from fabula.media.medium import Medium
from fabula.media.steps import Steps
from fabula.models.file import AnyModel
from fabula.models.sets.model import SetModel
from fabula.models.sets.reasons import TITLE, Contributions, leave_one_group_out
from fabula.models.steps.model import StepModel
from fabula.models.steps.reasons import parts_of


class Judge(Protocol):
    """What proposes orders of one collection of n items; higher is likelier."""

    def card(self) -> Mapping[str, Any]:
        """What the model says of itself."""

    def positions(self, m: int) -> Floats:
        """How much each item likes each of m positions: shape (n, m)."""

    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""

    def steps(self) -> Steps | None:
        """What lies between neighbours, where the model has looked at it; else None."""

    def known(self) -> tuple[str, ...]:
        """What is known of the items that the model takes; empty where that is too little to judge by."""

    def contributions(self, ordering: Ints) -> Contributions:
        """What speaks for each item's position in an ordering of all."""


@dataclass(frozen=True, eq=False)
class SetJudge:
    """A set model, which sees titles, neighbours and the whole collection."""

    model: SetModel
    collection: Collection

    def card(self) -> Mapping[str, Any]:
        """What the model says of itself."""
        return self.model.card

    def positions(self, m: int) -> Floats:
        """How much each item likes each of m positions: shape (n, m)."""
        return self.model.tables(self.collection, count=m).positions

    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""
        return self.model.tables(self.collection).flow

    def steps(self) -> Steps | None:
        """None: it goes by the items alone."""
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
    """A step model, which sees measures, and the steps of the medium."""

    model: StepModel
    collection: Collection
    medium: Medium

    @cached_property
    def _steps(self) -> Steps:
        return self.medium.steps(self.collection, np.zeros(len(self.collection)))

    @property
    def distances(self) -> dict[str, Floats]:
        """Name of a step the model knows -> shape (n, n)."""
        return {part.name: part.distance for part in self._steps.parts if part.name in self.model.step_names}

    def steps(self) -> Steps | None:
        """Those of the medium, looked at once; None where the model knows none of them."""
        return self._steps if self.distances else None

    def card(self) -> Mapping[str, Any]:
        """What the model says of itself."""
        return self.model.card

    def positions(self, m: int) -> Floats:
        """How much each item likes each of m positions: shape (n, m)."""
        return self.model.positions_of(self.collection, m)

    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""
        return self.model.flow_of(self.distances, len(self.collection))

    def known(self) -> tuple[str, ...]:
        """The features and steps that are known; none where no step is, without which measures tell little."""
        return (*_features(self.model.feature_names, self.collection), *self.distances) if self.distances else ()

    def contributions(self, ordering: Ints) -> Contributions:
        """What each feature and each step adds."""
        return parts_of(self.model, ordering, self.collection, self.distances)


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
