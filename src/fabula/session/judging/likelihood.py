"""How likely an order of a collection is, by the model that proposes orders, and why an item stands where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.ordering import Ints, positions
from fabula.core.solver.constraints import Constraints
from fabula.models.sets.posterior import Posterior, posterior
from fabula.models.sets.reasons import Contributions
from fabula.session.judging.judges import Judge

if TYPE_CHECKING:
    from fabula.session.judging.proposals import Task

_RANDOM = 400  # orderings that a proposal is compared with
_HARDLY = 5.0  # times as likely as a random order: below it the model hardly prefers its proposal


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A model's opinion of one collection; sums over positions and neighbours, higher is likelier.

    Attributes
    ----------
    judge
        What the model says: it sees the whole collection, never its order.
    collection
        n items.
    """

    judge: Judge
    collection: Collection
    _known: dict[int, Floats] = field(default_factory=dict, repr=False)
    _given: dict[int, Likelihood] = field(default_factory=dict, repr=False)

    def positions(self, m: int) -> Floats:
        """How much each item likes each of m positions, those of all sides: shape (n, m)."""
        if m not in self._known:
            self._known[m] = self.judge.positions(m)
        return self._known[m]

    @property
    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""
        if -1 not in self._known:
            self._known[-1] = self.judge.flow()
        return self._known[-1]

    @cached_property
    def posterior(self) -> Posterior:
        """How likely each item stands at each position and before each other."""
        return posterior(self.positions(len(self.collection)), self.flow)

    def given(self, constraints: Constraints) -> Likelihood:
        """The same opinion, told what must be kept."""
        if id(constraints) not in self._given:
            judge = self.judge.given(constraints)
            found = self if judge is self.judge else Likelihood(judge, self.collection)
            self._given.clear()
            self._given[id(constraints)] = found
        return self._given[id(constraints)]

    @property
    def tabled(self) -> bool:
        """Whether its tables say how likely an ordering is, so that their best is the likeliest."""
        return self.judge.tabled

    def score(self, ordering: Ints, sides: Sequence[int] = ()) -> float:
        """How likely an ordering of some of the items is: positions count through all sides, neighbours within each."""
        own = self.judge.score(ordering, sides)
        if own is not None:
            return own
        total = float(self.positions(len(ordering))[ordering, np.arange(len(ordering))].sum())
        for part in np.split(ordering, np.cumsum(sides or [len(ordering)])[:-1]):
            total += float(self.flow[part[:-1], part[1:]].sum())
        return total

    def sureness(self, ordering: Ints) -> float | None:
        """How sure the model is which end of an ordering begins, 0 to 1; None where it cannot say."""
        return self.judge.sureness(ordering)

    def beyond_chance(self, ordering: Ints, sides: Sequence[int] = ()) -> float:
        """How many times as likely an ordering is as a random order of its items, on average.

        Over all orderings where they have been summed up, else over some.
        """
        if self.judge.expects and not sides and len(ordering) == len(self.collection):
            mean = self.posterior.mean_score
            if mean is not None:
                return float(np.exp(min(self.score(ordering) - mean, 700.0)))
        rng = np.random.default_rng(0)
        random = np.array([self.score(rng.permutation(ordering), sides) for _ in range(_RANDOM)])
        return _times(self.score(ordering, sides), random)

    def essence(self) -> Floats:
        """Where each item leans to, the beginning (high) or the end (low): shape (n,), z-scored."""
        table = self.positions(len(self.collection))
        return normalise(table @ (0.5 - positions(table.shape[1])))

    def likes(self) -> Floats:
        """Where each item likes to stand: shape (n, n), each row its chances, or shares, over the positions."""
        own = self.posterior.positions if self.judge.expects else self.judge.likes()
        if own is not None:
            return own
        table = self.positions(len(self.collection))
        table = table - table.mean(axis=0)  # what all items like alike decides nothing
        shares = np.exp(table - table.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def known(self) -> tuple[str, ...]:
        """What is known of the items that the model takes; empty where it cannot judge."""
        return self.judge.known()

    def contributions(self, ordering: Ints) -> Contributions | None:
        """What speaks for each item's position; None where some items are left out."""
        if len(ordering) < len(self.collection) or len(ordering) < 2:
            return None
        return self.judge.contributions(ordering)


def doubt(likelihood: Likelihood, ordering: Ints, sides: Sequence[int]) -> list[str]:
    """A warning where the model hardly prefers an ordering to a random one."""
    return _hardly(likelihood.beyond_chance(ordering, sides))


def arcs_doubt(task: Task, ordering: Ints) -> list[str]:
    """A warning where the arcs of a model hardly prefer an ordering to a random one."""
    arcs = task.model.arcs if task.model is not None else None
    if arcs is None:
        return []
    rng = np.random.default_rng(0)
    drawn = np.stack([ordering, *(rng.permutation(ordering) for _ in range(_RANDOM))])  # (1 + r, m)
    rows = task.essence.reshape(len(task.essence), -1)
    scores = np.atleast_1d(arcs.score(rows[drawn]))
    return _hardly(_times(scores[0], scores[1:]))


def learned_nothing(card: Mapping[str, Any] | None) -> list[str]:
    """A warning where a model's own card says that it knows no more of an order than chance, by every scorer."""
    bits = (card or {}).get("bits")
    if not isinstance(bits, Mapping):
        return []
    rows = [bits] if "low" in bits else list(bits.values())
    known = [row for row in rows if isinstance(row, Mapping) and {"bits", "low"} <= set(row)]
    if not known or any(row["low"] > 0 for row in known):
        return []
    best = max(float(row["bits"]) for row in known)
    return [f"this model knows no more of an order than chance ({best + 0.0:.3f} bits on held-out collections)"]


def _hardly(times: float) -> list[str]:
    if times >= _HARDLY:
        return []
    return [f"the model hardly prefers this to a random order ({times:.1f} times as likely)"]


def _times(score: float, random: Floats) -> float:
    """How many times as likely a score is as others, on average."""
    return float(np.exp(min(score - random.max(), 700.0)) / np.exp(random - random.max()).mean())
