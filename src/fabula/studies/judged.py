"""Order recovery by models that see each collection whole: what a set model proposes, and the likeliest order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.evaluation.information import Information, mutual_information
from fabula.media.registry import medium_of_columns
from fabula.models.sets.agreement import MOST_EXPECTED, most_agreeing
from fabula.models.sets.model import SetModel
from fabula.models.sets.posterior import posterior
from fabula.models.sets.proposing import likeliest
from fabula.models.sets.tables import Tables
from fabula.models.steps.evidence import Evidence
from fabula.models.steps.kernel import distance_basis
from fabula.models.steps.model import StepModel
from fabula.models.steps.tables import closeness

PROPOSED = "proposed order"
LIKELIEST = "likeliest order"
_SECONDS = 0.5  # to search in, where a collection has too many items to be solved


@dataclass(frozen=True, eq=False)
class Neighbours:
    """A step model that neighbours alone decide, as tables of measured collections."""

    model: StepModel
    scorers = ("flow",)

    @property
    def training(self) -> Mapping[str, Any]:
        """What it was trained on, as its file says."""
        return self.model.training

    @property
    def feature_names(self) -> tuple[str, ...]:
        """None of its own: the medium's steps have their measures."""
        return tuple(self.model.feature_names)

    def tables_all(self, collections: Sequence[Collection]) -> list[tuple[Floats, Floats]]:
        """Of each collection what positions are worth, which is nothing, and what neighbours are: (n, n) each."""
        near = distance_basis(2)[:, 1]
        found = []
        for one in collections:
            n, medium = len(one), medium_of_columns(one.feature_names)
            steps = medium.steps(one, np.zeros(n))
            evidence = Evidence({part.name: closeness(part.distance) for part in steps.parts})
            found.append((np.zeros((n, n)), self.model.weighed(evidence, n, near)))
        return found


def judged_orderings(
    model: SetModel | Neighbours, collections: Sequence[Collection], rng: np.random.Generator
) -> dict[str, list[Ints | None]]:
    """Both orderings of each collection in the true numbering, its items shuffled before the model sees them."""
    mixed = [rng.permutation(len(c)) for c in collections]
    tables = model.tables_all([c.reordered(order) for c, order in zip(collections, mixed, strict=True)])
    found: dict[str, list[Ints | None]] = {PROPOSED: [], LIKELIEST: []}
    for order, (positions, flow) in zip(mixed, tables, strict=True):
        likely = likeliest(Tables(positions, flow), seconds=_SECONDS).ordering
        expected = likely
        if isinstance(model, SetModel) and len(order) <= MOST_EXPECTED:
            expected = most_agreeing(posterior(positions, flow), seconds=_SECONDS).ordering
        found[PROPOSED].append(order[expected])
        found[LIKELIEST].append(order[likely])
    return found if isinstance(model, SetModel) else {LIKELIEST: found[LIKELIEST]}


def judged_bits(model: SetModel | Neighbours, collections: Sequence[Collection], seed: int) -> dict[str, Information]:
    """What such a model tells about the order of collections, by its scorers together and by each alone."""
    scorers = {" + ".join(model.scorers): None, **{kind: kind for kind in model.scorers}}
    return {name: mutual_information(model, collections, seed=seed, scorer=kind) for name, kind in scorers.items()}
