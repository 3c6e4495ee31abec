"""What orderings score: every metric with its interval, drawn over those who made the collections.

The rules: a question that was not answered, not in time, or not with a permutation counts as a random ordering does
on average. How many there were stands beside the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.evaluation.metrics import METRICS
from fabula.studies.bench.tasks import BenchTask

SHOWN = ("spearman", "kendall", "first", "last", "neighbours", "edit")
_DRAWS = 32  # random orderings that make up chance

Scores = dict[str, Floats]  # metric -> (collections,)


@dataclass(frozen=True)
class BenchRow:
    """One method on a task.

    Attributes
    ----------
    method
        What it is called.
    kind
        ``"yours"``, ``"ours"``, ``"paper"`` or ``"known"``: what somebody who knows the truth could do.
    metrics
        Each metric's mean over the test collections, with its 95 % interval.
    failed
        Questions that count as a random ordering.
    gain
        Spearman's rho less that of chance, paired by collection.
    about
        What it does, in one line.
    """

    method: str
    kind: str
    metrics: Mapping[str, Interval]
    failed: int = 0
    gain: Interval | None = None
    about: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Orderings:
    """A method's orderings in the true numbering, None where it failed, and why it did."""

    found: Sequence[Ints | None]
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many it did not give."""
        return sum(each is None for each in self.found)


def scores_of(orderings: Orderings, chance: Scores) -> Scores:
    """Metric -> score of each collection; chance where there is no ordering."""
    return {
        name: np.array([chance[name][i] if o is None else metric(o) for i, o in enumerate(orderings.found)])
        for name, metric in METRICS.items()
    }


def chance_scores(task: BenchTask, seed: int = 0) -> Scores:
    """What a random ordering of each test collection scores, mean over some; the same every time."""
    rng = np.random.default_rng((seed, 1))
    drawn = [[rng.permutation(len(collection)) for collection in task.test] for _ in range(_DRAWS)]
    return {
        name: np.mean([[metric(order) for order in orders] for orders in drawn], axis=0)
        for name, metric in METRICS.items()
    }


def score_row(
    method: str, kind: str, orderings: Orderings, task: BenchTask, chance: Scores, *, about: str = ""
) -> BenchRow:
    """The row of one method."""
    scores, groups = scores_of(orderings, chance), task.groups
    intervals = {name: _interval(values, groups) for name, values in scores.items()}
    gain = _interval(scores["spearman"] - chance["spearman"], groups)
    return BenchRow(method, kind, intervals, orderings.failed, gain, about)


def chance_row(task: BenchTask, chance: Scores) -> BenchRow:
    """The row that everything is compared with."""
    intervals = {name: _interval(values, task.groups) for name, values in chance.items()}
    return BenchRow("random", "ours", intervals, about="a random ordering, mean of many")


def _interval(values: Floats, groups: Sequence[str]) -> Interval:
    return mean_interval(values, np.random.default_rng((0, 2)), groups)
