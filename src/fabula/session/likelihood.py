"""How likely an order of a collection is, by the model that proposes orders, and why an item stands where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fabula.core.arranging.constraints import Constraints
from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.ordering import Ints, positions
from fabula.models.sets.reasons import Contributions
from fabula.session.judges import Judge

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
        """How much each item likes each of m positions, those of one side: shape (n, m)."""
        if m not in self._known:
            self._known[m] = self.judge.positions(m)
        return self._known[m]

    @property
    def flow(self) -> Floats:
        """How well each item is followed by each other: shape (n, n)."""
        if -1 not in self._known:
            self._known[-1] = self.judge.flow()
        return self._known[-1]

    def given(self, constraints: Constraints) -> Likelihood:
        """The same opinion, told what must be kept."""
        if id(constraints) not in self._given:
            judge = self.judge.given(constraints)
            found = self if judge is self.judge else Likelihood(judge, self.collection)
            self._given.clear()
            self._given[id(constraints)] = found
        return self._given[id(constraints)]

    def score(self, ordering: Ints, sides: Sequence[int] = ()) -> float:
        """How likely an ordering of some of the items is: a logarithm, but for a constant."""
        return self.judge.score(ordering, sides)

    def sureness(self, ordering: Ints) -> float | None:
        """How sure the model is which end of an ordering begins, 0 to 1; None where it cannot say."""
        return self.judge.sureness(ordering)

    def beyond_chance(self, ordering: Ints, sides: Sequence[int] = ()) -> float:
        """How many times as likely an ordering is as a random order of its items, on average."""
        rng = np.random.default_rng(0)
        random = np.array([self.score(rng.permutation(ordering), sides) for _ in range(_RANDOM)])
        gained = self.score(ordering, sides) - random.max()
        return float(np.exp(min(gained, 700.0)) / np.exp(random - random.max()).mean())

    def essence(self) -> Floats:
        """Where each item leans to, the beginning (high) or the end (low): shape (n,), z-scored."""
        table = self.positions(len(self.collection))
        return normalise(table @ (0.5 - positions(table.shape[1])))

    def likes(self) -> Floats:
        """Where each item likes to stand: shape (n, n), each row a share of likelihood over the positions."""
        return self.judge.likes()

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
    times = likelihood.beyond_chance(ordering, sides)
    if times >= _HARDLY:
        return []
    return [f"the model hardly prefers this to a random order ({times:.1f} times as likely)"]
