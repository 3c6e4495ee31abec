"""Why an item stands where it does, by a step model: what each feature and each table of pairs adds."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.ordering import Ints
from fabula.models.sets.basis import position_basis
from fabula.models.sets.reasons import Contributions
from fabula.models.steps.evidence import Evidence
from fabula.models.steps.kernel import distance_basis
from fabula.models.steps.model import LEANINGS, StepModel


def parts_of(model: StepModel, ordering: Ints, collection: Collection, evidence: Evidence) -> Contributions:
    """What each feature adds to an item's position, and each table to what it follows; nothing need be left out.

    Parameters
    ----------
    model
        With linear weights, so that the parts add up to the whole.
    ordering
        Shape (n,), of all items.
    collection
        n items.
    evidence
        Of the same items.
    """
    n, groups = len(ordering), (*model.feature_names, *LEANINGS)
    near = distance_basis(2)[:, 1]  # what counts at distance 1
    names = [name for name in model.pair_names if name in evidence.pairs]
    weights = {name: float(w @ near) for name, w in zip(model.pair_names, model.tensors["reach"], strict=True)}
    place = np.argsort(ordering)
    basis = position_basis(n).astype(np.float64)
    liked = model.tensors["arcs"] @ (basis - basis.mean(axis=1, keepdims=True))  # (f + 4, n): of a deviation
    by_feature = model.standing_of(collection, evidence) * liked[:, place].T
    links = [weights[name] * evidence.pairs[name][ordering[:-1], ordering[1:]] for name in names]
    after, before = np.zeros((2, n, len(names)))
    if names:
        after[ordering[1:]] = before[ordering[:-1]] = np.stack(links, axis=1)
    return Contributions(
        (*groups, *names),
        by_feature.sum(axis=1),
        np.concatenate([by_feature, np.zeros((n, len(names)))], axis=1),
        after.sum(axis=1),
        before.sum(axis=1),
        np.concatenate([np.zeros((n, len(groups))), after], axis=1),
    )
