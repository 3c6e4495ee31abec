"""Why an item stands where it does: what each thing known of it, and each neighbour, adds, found by leaving it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.collection import Collection
from fabula.core.energy import distance_basis, position_basis
from fabula.core.essence import Floats
from fabula.core.ordering import Ints, as_ordering
from fabula.models.encoders.measures import Evidence
from fabula.models.encoders.set import Array, SetInputs
from fabula.models.sets.model import SetModel, joined
from fabula.models.steps.model import LEANINGS, StepModel

# Why an item stands where it does: what each thing known of it, and each neighbour, adds, found by leaving it out.

TITLE = "title"


@dataclass(frozen=True, eq=False)
class Contributions:
    """What speaks for each item's position, in natural logarithms of likelihood; above 0 speaks for it.

    Attributes
    ----------
    groups
        g names: the features that are known, then ``"title"``.
    position
        Shape (n,): how much better the item likes its position than positions on average.
    by_group
        Shape (n, g): how much of that is lost when the group is not known of the item.
    after, before
        Shape (n,): how much better the item follows the one before it, and is followed by the one after it, than
        others on average; zero where there is none.
    after_by_group
        Shape (n, g): how much of ``after`` is lost when the group is not known of the item.
    measured
        Shape (n,): how much of ``position`` is lost when no feature is known of the item: features that say the same
        stand in for each other, so that leaving out one may lose little. None where it was not looked at.

    All rows are by item, not by position.
    """

    groups: tuple[str, ...]
    position: Floats
    by_group: Floats
    after: Floats
    before: Floats
    after_by_group: Floats
    measured: Floats | None = None


def leave_one_group_out(
    model: SetModel,
    ordering: ArrayLike,
    features: ArrayLike | Collection | None,
    titles: Sequence[str] | None = None,
    album: str = "",
    artists: Sequence[str] | None = None,
) -> Contributions:
    """What each thing known of each item adds to its position in an ordering.

    Parameters
    ----------
    ordering
        Shape (n,): ``ordering[position] = item``.
    features, titles, album, artists
        As :meth:`SetModel.encode` takes them.
    """
    inputs = model.inputs(features, titles, album, artists)
    n = inputs.values.shape[1]
    order = as_ordering(ordering, n)
    known = [column for column in range(inputs.known.shape[-1]) if inputs.known[..., column].any()]
    groups = [*known, *([-1] if inputs.titled.any() else [])]
    hidden: list[int | list[int]] = [*groups, known]
    without = [_hidden(inputs, item, group) for group in hidden for item in range(n)]
    positions, flow = model.tables_of(joined([inputs, *without]))  # (1 + (g + 1) n, n, n)
    liked, after, before = _at(positions, flow, order)  # (1 + (g + 1) n, n) each
    own = np.arange(n)
    lost = [(1 + group * n + own, own) for group in range(len(groups))]  # each item where it is itself hidden
    names = tuple(TITLE if group < 0 else model.feature_names[group] for group in groups)
    by_group = np.array([liked[0] - liked[cells] for cells in lost]).reshape(len(groups), n).T
    by_after = np.array([after[0] - after[cells] for cells in lost]).reshape(len(groups), n).T
    measured = liked[0] - liked[1 + len(groups) * n + own, own]
    return Contributions(names, liked[0], by_group, after[0], before[0], by_after, measured)


def _hidden(inputs: SetInputs, item: int, group: int | list[int]) -> SetInputs:
    """The inputs with one thing not known of one item: features by their columns, or the title (-1)."""
    if group == -1:
        titled = inputs.titled.copy()
        titled[:, item] = 0
        return replace(inputs, titled=titled)
    known = inputs.known.copy()
    known[:, item, group] = 0
    return replace(inputs, known=known)


def _at(positions: Array, flow: Array, order: Ints) -> tuple[Floats, Floats, Floats]:
    """By item: how it likes its position, follows the one before and is followed by the one after, less the mean."""
    n = len(order)
    place = np.argsort(order)
    stands = positions.astype(np.float64)
    liked = stands[:, np.arange(n), place] - stands.mean(axis=2)
    links = flow.astype(np.float64)
    after, before = np.zeros((2, len(links), n))
    others = max(n - 1, 1)
    first, second = order[:-1], order[1:]
    after[:, second] = links[:, first, second] - links.sum(axis=1)[:, second] / others
    before[:, first] = links[:, first, second] - links.sum(axis=2)[:, first] / others
    return liked, after, before


# Why an item stands where it does, by a step model: what each feature and each table of pairs adds.


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
