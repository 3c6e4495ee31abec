"""What a step model holds likely of one collection: orderings drawn by it, and what they have in common."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.sampling.consensus import Consensus
from fabula.core.sampling.drawing import draw_orderings
from fabula.core.sampling.scores import Scores
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.domains import positions_allowed
from fabula.models.sets.basis import position_basis
from fabula.models.steps.evidence import Evidence
from fabula.models.steps.kernel import distance_basis
from fabula.models.steps.model import StepModel, apart_of

MOST_DRAWN = 90  # items beyond which drawing takes too long: then arcs, neighbours and who comes first decide
PATIENCE = 8.0  # seconds after which fewer orderings will do
_COOLING = 30  # rounds
_WORK = 24_000  # chains by items squared, about


@dataclass(frozen=True, eq=False)
class Posterior:
    """The orderings that a model holds likely, of those that keep what is fixed, forbidden and before something.

    Attributes
    ----------
    model, collection, evidence
        Who judges what, by what.
    constraints
        What must be kept; None where nothing must.
    """

    model: StepModel
    collection: Collection
    evidence: Evidence
    constraints: Constraints | None = None

    @cached_property
    def standing(self) -> Floats:
        """How far items stand out: shape (n, f + 4)."""
        return self.model.standing_of(self.collection, self.evidence)

    @cached_property
    def reach(self) -> Floats:
        """The tables by function of the distance: shape (7, n, n)."""
        return self.model.reach_of(self.evidence, len(self.collection))

    @cached_property
    def scores(self) -> Scores:
        """What every ordering of all items scores."""
        return self.model.scores_of(self.collection, self.evidence)

    @cached_property
    def consensus(self) -> Consensus | None:
        """Orderings drawn; None where there are too many items to draw them, or only neighbours count."""
        n = len(self.collection)
        if n > MOST_DRAWN or not self.model.reaches:
            return None
        until = time.monotonic() + PATIENCE
        chains = int(np.clip(_WORK / (n * n), 8, 32))
        scores = self._limited(self.scores)
        order = _canonical(scores)  # so that the order in which items are listed has no say
        drawn = draw_orderings(
            scores.taken(order),
            np.random.default_rng(0),
            chains=chains,
            cooling=_COOLING,
            kept=max(6, 192 // chains),
            between=3,
            stop=lambda: time.monotonic() > until,
        )
        return Consensus(order[drawn])

    def _limited(self, scores: Scores) -> Scores:
        """The scores of orderings that keep what single positions and pairs must keep, where that can be kept."""
        c = self.constraints
        allowed = None if c is None else positions_allowed(c, scores.n)
        if c is None or allowed is None or not allowed.any(axis=0).all():
            return scores
        return scores.limited(allowed, np.array(c.before, dtype=np.intp).reshape(-1, 2))

    def positions(self, m: int) -> Floats:
        """How good each of m positions is for each item: shape (n, m)."""
        if self.consensus is not None:
            return -self.consensus.costs(m)
        arcs = self.standing @ self.model.tensors["arcs"] @ position_basis(m).astype(np.float64)
        return np.asarray(arcs + np.outer(self._lead, (m - 1) / 2 - np.arange(m)))

    def _standing_at(self, ordering: Ints) -> float:
        """What `positions` says along an ordering, without the whole table."""
        m = len(ordering)
        if self.consensus is not None:
            return float(self.positions(m)[ordering, np.arange(m)].sum())
        arcs = self.standing[ordering] @ self.model.tensors["arcs"] * position_basis(m).T
        return float(arcs.sum() + self._lead[ordering] @ ((m - 1) / 2 - np.arange(m)))

    @cached_property
    def _lead(self) -> Floats:
        """How much speaks for each item before all others, over the distances they can have: shape (n,)."""
        n = len(self.collection)
        if not self.model.reaches:
            return np.zeros(n)
        mean = self.model.weighed(self.evidence, n, distance_basis(n)[:, 1:].mean(axis=1))
        return np.asarray((mean - mean.T).sum(axis=1) / n)

    def flow(self) -> Floats:
        """How good it is to have each item before each other: shape (n, n)."""
        if self.consensus is not None:
            return -self.consensus.flow()
        return self._near

    @cached_property
    def _near(self) -> Floats:
        """What two neighbours add: shape (n, n)."""
        return self.model.weighed(self.evidence, len(self.collection), distance_basis(2)[:, 1])

    def score(self, ordering: Ints) -> float:
        """How likely an ordering of some of the items is: a logarithm, but for a constant.

        Of very many items neighbours count, and what speaks for each before all others, in place of all pairs.
        """
        m = len(ordering)
        if len(self.collection) > MOST_DRAWN or not self.model.reaches:
            flow = self.flow()[ordering[:-1], ordering[1:]].sum(dtype=np.float64)
            return float(self._standing_at(ordering) + flow)
        if m == len(self.collection):
            return float(self.scores.of(ordering[np.newaxis])[0])
        at = self.standing[ordering] @ self.model.tensors["arcs"] @ position_basis(m).astype(np.float64)
        apart = apart_of(self.reach[:, ordering][:, :, ordering])
        return float(Scores(at, apart).of(np.arange(m)[np.newaxis])[0])

    def shares(self) -> Floats:
        """Where each item stands in the orderings that are likely: shape (n, n)."""
        if self.consensus is not None:
            return self.consensus.shares()
        table = self.positions(len(self.collection))
        table = table - table.mean(axis=0)  # what all items like alike decides nothing
        shares = np.exp(table - table.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def sureness(self, ordering: Ints) -> float | None:
        """How many of the orderings that are likely run the same way; None where none were drawn."""
        return None if self.consensus is None else self.consensus.sureness(ordering)


def _canonical(scores: Scores) -> Ints:
    """The items by what they score, wherever they were listed: shape (n,)."""
    keys = [scores.apart.sum(axis=(0, 2)), scores.apart.sum(axis=(0, 1)), *scores.at.T]
    return np.lexsort([np.round(key, 6) for key in keys])
