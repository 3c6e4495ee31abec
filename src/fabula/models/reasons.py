"""Why an item stands where it does: what each thing known of it, and each neighbour, adds.

Where the encoder sees the whole collection, that is found by leaving one thing out of one item at a time, in blocks, so
that memory does not grow with how many things are known. Where it is linear, the parts add up to the whole, and nothing
need be left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_ordering
from fabula.core.collection import Collection, Evidence
from fabula.core.collections import Collections
from fabula.core.energy import Energy, distance_basis, position_basis
from fabula.errors import ModelError
from fabula.models.encoders.measures import LEANINGS, MeasuresEncoder
from fabula.models.encoders.set import TITLE, SetEncoder, SetInputs

if TYPE_CHECKING:
    from fabula.models.model import Model

_TOGETHER = 60_000  # cells of pairs that are computed at a time


@dataclass(frozen=True, eq=False)
class Contributions:
    """What speaks for each item's position (row: item), in natural logarithms of likelihood; above 0 speaks for it."""

    groups: tuple[str, ...]  # g names: the features that are known, then "title"
    position: Floats  # (n,): how much better the item likes its position than positions on average
    by_group: Floats  # (n, g): how much of that is lost when the group is not known of the item
    after: Floats  # (n,): how much better it follows the one before it than others on average; 0 where there is none
    before: Floats  # (n,): the same of being followed by the one after it
    after_by_group: Floats  # (n, g): how much of ``after`` is lost when the group is not known of the item
    # (n,): how much of ``position`` is lost when no feature is known of the item: features that say the same stand
    # in for each other, so that leaving out one may lose little; None where it was not looked at
    measured: Floats | None = None


def explain(
    model: "Model", ordering: ArrayLike, collection: Collection, evidence: Evidence | None = None
) -> Contributions:
    """What each thing known of an item adds to its position in an ordering (n,), by a model of whole collections."""
    order, encoder = as_ordering(ordering, len(collection)), model.encoder
    if isinstance(encoder, SetEncoder):
        return _leave_out(model, encoder, order, collection)
    if isinstance(encoder, MeasuresEncoder):
        return _add_up(model, encoder, order, collection, evidence or Evidence())
    raise ModelError("this model sees each item by itself: its arc says why an item stands where it does")


def _leave_out(model: "Model", encoder: SetEncoder, order: Ints, collection: Collection) -> Contributions:
    """What is lost when each thing is not known of each item."""
    n = len(order)
    _, inputs = next(encoder.inputs(Collections.of([collection], model.feature_names)))
    known = [column for column in range(inputs.known.shape[-1]) if inputs.known[..., column].any()]
    groups = [*known, *([-1] if inputs.titled.any() else [])]
    left_out: list[list[int]] = [*([group] for group in groups), known]
    liked, after = np.empty((2, len(left_out), n))
    whole: tuple[Floats, Floats, Floats] | None = None
    for cells, block in _blocks(inputs, left_out):
        found = _stand(model.energy_of(encoder.encode_inputs(block)), order)  # (1 + cells, n) each, all known first
        group, item = np.divmod(cells, n)
        rows = np.arange(1, len(cells) + 1)
        liked[group, item] = found[0][0, item] - found[0][rows, item]
        after[group, item] = found[1][0, item] - found[1][rows, item]
        whole = whole or (found[0][0], found[1][0], found[2][0])
    names = tuple(TITLE if group < 0 else model.feature_names[group] for group in groups)
    position, follows, leads = whole or (np.zeros(n),) * 3
    return Contributions(names, position, liked[:-1].T, follows, leads, after[:-1].T, liked[-1])


def _blocks(inputs: SetInputs, left_out: list[list[int]]) -> Iterator[tuple[Ints, SetInputs]]:
    """The inputs as they are, and with a group not known of an item, some cells ``group * n + item`` at a time."""
    n = inputs.values.shape[1]
    together = max(1, _TOGETHER // n**2)
    for start in range(0, len(left_out) * n, together):
        cells = np.arange(start, min(start + together, len(left_out) * n))
        shared = {
            name: np.broadcast_to(getattr(inputs, name), (len(cells) + 1, *getattr(inputs, name).shape[1:]))
            for name in SetInputs.__dataclass_fields__
        }
        block = SetInputs(**shared | {name: shared[name].copy() for name in ("known", "titled")})
        for row, cell in enumerate(cells, start=1):
            group, item = left_out[cell // n], cell % n
            if group == [-1]:
                block.titled[row, item] = 0
            else:
                block.known[row, item, group] = 0
        yield cells, block


def _stand(energy: Energy, order: Ints) -> tuple[Floats, Floats, Floats]:
    """By item: how it likes its position, follows the one before and is followed by the one after, less the mean."""
    n = len(order)
    place = np.argsort(order)
    stands, links = energy.at(n), np.asarray(energy.flow)
    liked = stands[:, np.arange(n), place] - stands.mean(axis=2)
    after, before = np.zeros((2, len(links), n))
    others = max(n - 1, 1)
    first, second = order[:-1], order[1:]
    after[:, second] = links[:, first, second] - links.sum(axis=1)[:, second] / others
    before[:, first] = links[:, first, second] - links.sum(axis=2)[:, first] / others
    return liked, after, before


def _add_up(
    model: "Model", encoder: MeasuresEncoder, order: Ints, collection: Collection, evidence: Evidence
) -> Contributions:
    """What each feature adds to an item's position, and each table of pairs to what it follows."""
    n, groups = len(order), (*encoder.feature_names, *LEANINGS)
    near = distance_basis(2)[:, 1]  # what counts at distance 1
    names = [name for name in encoder.pair_names if name in evidence.pairs]
    weights = dict(zip(encoder.pair_names, (model.tensors["reach.weights"] @ near).tolist(), strict=True))
    place = np.argsort(order)
    basis = position_basis(n).astype(np.float64)
    liked = model.tensors["arcs.template"].T @ (basis - basis.mean(axis=1, keepdims=True))  # (f + 4, n): of a deviation
    by_feature = encoder.measure(collection, evidence) * liked[:, place].T
    links = [weights[name] * evidence.pairs[name][order[:-1], order[1:]] for name in names]
    after, before = np.zeros((2, n, len(names)))
    if names:
        after[order[1:]] = before[order[:-1]] = np.stack(links, axis=1)
    return Contributions(
        (*groups, *names),
        by_feature.sum(axis=1),
        np.concatenate([by_feature, np.zeros((n, len(names)))], axis=1),
        after.sum(axis=1),
        before.sum(axis=1),
        np.concatenate([np.zeros((n, len(groups))), after], axis=1),
    )
