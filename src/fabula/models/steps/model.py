"""A step model: from the measures of items and the steps between them to tables of positions and flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.errors import ModelError
from fabula.models.sets.basis import FUNCTIONS, position_basis
from fabula.models.showing import CardShown
from fabula.models.steps.tables import closeness, standing


class StepModel(CardShown):
    """Arcs over plain measures and flow over a medium's own steps, with linear weights.

    Parameters
    ----------
    features, logged
        f names, and those of which the logarithm is taken.
    steps
        k names of steps: of :class:`fabula.media.steps.Step`.
    tensors
        ``arcs``, shape (f, 12), and ``flow``, shape (k,).
    training, card
        What it was trained on and how; what it is for and how it did.

    Raises
    ------
    ModelError
        When a tensor is missing, unknown, of another shape or not finite.

    Examples
    --------
    >>> model = StepModel(("words",), (), ("names",), {"arcs": np.zeros((1, 12)), "flow": [1.0]})
    >>> model.flow_of({"names": np.ones((2, 2))}, 2).shape
    (2, 2)
    """

    scorers = ("arcs", "flow")

    def __init__(
        self,
        features: Sequence[str],
        logged: Sequence[str],
        steps: Sequence[str],
        tensors: Mapping[str, ArrayLike],
        *,
        training: Mapping[str, Any] | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.feature_names, self.logged, self.step_names = tuple(features), tuple(logged), tuple(steps)
        for names in (self.feature_names, self.step_names):
            if len(set(names)) != len(names):
                raise ModelError(f"the features and steps of a step model must be distinct; got {', '.join(names)}")
        unknown = [name for name in self.logged if name not in self.feature_names]
        if unknown:
            raise ModelError(f"{unknown[0]!r} is not one of the features: {', '.join(self.feature_names)}")
        self.tensors = self._checked(tensors)
        self.training, self.card = dict(training or {}), dict(card or {})

    def _checked(self, tensors: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        shapes = {"arcs": (len(self.feature_names), FUNCTIONS), "flow": (len(self.step_names),)}
        if set(tensors) != set(shapes):
            raise ModelError(f"a step model has the tensors arcs and flow; got {', '.join(tensors) or 'none'}")
        found = {name: np.asarray(tensor, dtype=np.float64) for name, tensor in tensors.items()}
        for name, shape in shapes.items():
            if found[name].shape != shape or not np.isfinite(found[name]).all():
                raise ModelError(f"tensor {name!r} must be finite and have shape {shape}; got {found[name].shape}")
        return found

    @property
    def dimensions(self) -> int:
        """Of what is known of an item by itself: its features."""
        return len(self.feature_names)

    @property
    def config(self) -> dict[str, Any]:
        """What it is made of."""
        return {"steps": list(self.step_names)}

    def standing_of(self, collection: Collection) -> Floats:
        """How far each item stands out in each feature, in deviations: shape (n, f), 0 where it is not known."""
        there = [name for name in self.feature_names if name in collection.feature_names]
        features = np.full((len(collection), len(self.feature_names)), np.nan)
        if there:
            features[:, [self.feature_names.index(name) for name in there]] = collection.columns(there)
        return standing(features, np.isin(self.feature_names, self.logged))

    def positions_of(self, collection: Collection, count: int) -> Floats:
        """How much each item likes each of ``count`` positions: shape (n, count).

        Parameters
        ----------
        collection
            n items; features it does not have say nothing.
        count
            How many positions there are.
        """
        arcs = self.standing_of(collection) @ self.tensors["arcs"]  # (n, 12)
        return np.asarray(arcs @ position_basis(count).astype(np.float64))

    def flow_of(self, distances: Mapping[str, Floats], n: int) -> Floats:
        """How well each item is followed by each other: shape (n, n).

        Parameters
        ----------
        distances
            Name of a step -> shape (n, n); steps that are not there say nothing.
        n
            How many items there are.
        """
        total = np.zeros((n, n))
        for name, weight in zip(self.step_names, self.tensors["flow"], strict=True):
            if name in distances:
                total += weight * closeness(distances[name])
        return total
