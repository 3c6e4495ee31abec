"""Why an item stands where it does, by a step model: what each feature and each step adds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.models.sets.basis import position_basis
from fabula.models.sets.reasons import Contributions
from fabula.models.steps.model import StepModel
from fabula.models.steps.tables import closeness


def parts_of(
    model: StepModel, ordering: Ints, collection: Collection, distances: Mapping[str, Floats]
) -> Contributions:
    """What each feature adds to an item's position, and each step to what it follows; nothing need be left out.

    Parameters
    ----------
    model
        With linear weights, so that the parts add up to the whole.
    ordering
        Shape (n,), of all items.
    collection
        n items.
    distances
        Name of a step -> shape (n, n).
    """
    n, features = len(ordering), len(model.feature_names)
    steps = [(name, w) for name, w in zip(model.step_names, model.tensors["flow"], strict=True) if name in distances]
    place = np.argsort(ordering)
    basis = position_basis(n).astype(np.float64)
    liked = model.tensors["arcs"] @ (basis - basis.mean(axis=1, keepdims=True))  # (f, n): of a deviation, by position
    by_feature = model.standing_of(collection) * liked[:, place].T
    links = np.stack([weight * closeness(distances[name]) for name, weight in steps]) if steps else np.zeros((0, n, n))
    after, before = np.zeros((2, n, len(steps)))
    after[ordering[1:]] = links[:, ordering[:-1], ordering[1:]].T
    before[ordering[:-1]] = links[:, ordering[:-1], ordering[1:]].T
    return Contributions(
        (*model.feature_names, *(name for name, _ in steps)),
        by_feature.sum(axis=1),
        np.concatenate([by_feature, np.zeros((n, len(steps)))], axis=1),
        after.sum(axis=1),
        before.sum(axis=1),
        np.concatenate([np.zeros((n, features)), after], axis=1),
    )
