"""Templates by Lloyd's algorithm, from many starts at once, and by the paper's evolution.

Each collection goes to the template nearest to it, each template becomes the one of least squared error for its
collections, and so on until nothing moves. No step can raise the cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.errors import InputError
from fabula.templates.costs import TemplateCosts, as_count

SEED_RIDGE = 0.05  # on the template of a single collection, whose few items may not determine it
_HOLD = 1e-8  # weight of a template's old values: decides what its collections leave open
_RACE_STEPS = 6
_SAMPLE = 8192  # collections that the starts race on; the winner is refined on all

Progress = Callable[[int, int, float], None]  # steps done, steps in all (at most), best cost so far


@dataclass(frozen=True, eq=False)
class Refinement:
    """Templates found by refinement, and how it went."""

    values: Floats  # (k, q): knot values
    cost: float  # mean over collections of the smallest mean squared error
    # Cost of the winner at its start and after each step; it never rises. Where the race was held on a sample, from the
    # end of the race on.
    history: Floats
    starts: Floats  # (starts,): the cost at which each start left the race, best first


@dataclass(frozen=True)
class RefinementSettings:
    """How templates are refined: from how many starts, and in how many steps at most."""

    starts: int = 48
    steps: int = 300

    def __post_init__(self) -> None:
        if self.starts < 1 or self.steps < 1:
            raise InputError(f"refinement needs at least 1 start and 1 step; got {self.starts} and {self.steps}")


def refine(
    costs: TemplateCosts,
    k: int,
    *,
    rng: np.random.Generator,
    settings: RefinementSettings | None = None,
    initial: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Refinement:
    """Learn k templates by Lloyd's algorithm from many starts.

    The starts race: all take a few steps, a third of them, those with the smallest cost, go on to the end. With very
    many collections the race is held on a sample, and its winner refined on all. The sets ``initial`` (s, k, q), an
    evolved population for instance, are started from besides: the result is never worse than the best of them.
    """
    as_count(k, len(costs))
    how = settings or RefinementSettings()
    rows = sample_rows(len(costs), k, rng)
    sample = costs if rows is None else costs.take(rows)
    given = _as_initial(initial, k, len(costs.knots))
    values, cost, trace = race(sample, k, rng, how, given, progress)
    ranked = np.argsort(cost, kind="stable")
    finalists = np.concatenate([values[ranked[:1]], given])
    winner = int(np.argmin(costs.of(finalists)))
    best, history = descend(costs, finalists[winner], how.steps)
    if sample is costs and winner == 0:
        history = np.concatenate([trace[ranked[0]][:-1], history])
    if progress is not None:
        progress(how.steps, how.steps, float(history[-1]))
    return Refinement(best, float(history[-1]), history, cost[ranked])


def race(
    costs: TemplateCosts,
    k: int,
    rng: np.random.Generator,
    how: RefinementSettings,
    given: Floats,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, list[list[float]]]:
    """Let many starts, and those given (s, k, q), take a few steps and the better ones go on until they stand.

    Gives sets (starts, k, q), their costs (starts,), and the costs of each on the way.
    """
    values = np.concatenate([given, _scatter(costs, k, how.starts, rng)])
    steps = how.steps
    cost = np.full(len(values), np.inf)
    trace: list[list[float]] = [[] for _ in values]
    running = np.arange(len(values))
    for step in range(steps):
        moved, now = lloyd_step(costs, values[running])
        better = now < cost[running] * (1 - 1e-6)
        cost[running] = now
        for start, height in zip(running.tolist(), now.tolist(), strict=True):
            trace[start].append(height)
        if step == _RACE_STEPS:
            better &= now <= np.sort(now)[len(now) // 3]
        values[running[better]] = moved[better]
        running = running[better]
        if progress is not None:
            progress(step + 1, steps, float(cost.min()))
        if not len(running):
            break
    return values, costs.of(values), trace


def _scatter(costs: TemplateCosts, k: int, starts: int, rng: np.random.Generator) -> Floats:
    """Starting templates (starts, k, q), each fitted to one collection, spread as k-means++ spreads its seeds."""
    rows = rng.integers(len(costs), size=starts)
    found = [costs.curve_fits(rows, SEED_RIDGE)]
    error = costs.errors(found[0]).T  # (starts, m)
    for _ in range(1, k):
        height = np.cumsum(error, axis=1)
        aim = rng.random(starts) * height[:, -1]
        rows = np.minimum((height < aim[:, np.newaxis]).sum(axis=1), len(costs) - 1)
        found.append(costs.curve_fits(rows, SEED_RIDGE))
        error = np.minimum(error, costs.errors(found[-1]).T)
    return np.stack(found, axis=1)


def lloyd_step(costs: TemplateCosts, values: Floats) -> tuple[Floats, Floats]:
    """One step for s sets of templates (s, k, q): the moved sets, and the cost (s,) of the sets as they were.

    A template without collections is fitted to the collection that fits worst.
    """
    k = values.shape[1]
    label, error = costs.nearest(values)
    A, b, members = costs.sums(label, k)
    moved = _solve_knots(A, b, members, values)
    for i in np.flatnonzero((members == 0).any(axis=1)).tolist():
        empty = np.flatnonzero(members[i] == 0)
        worst = np.argsort(-error[i], kind="stable")[: len(empty)]
        moved[i, empty] = costs.curve_fits(worst, SEED_RIDGE)
    return moved, np.asarray(error.mean(axis=1))


def sample_rows(collections: int, k: int, rng: np.random.Generator) -> Ints | None:
    """The collections that the starts race on, rising; None for all, unless they are very many."""
    size = max(_SAMPLE, 64 * k)
    return None if collections <= size else np.sort(rng.choice(collections, size, replace=False))


@dataclass(frozen=True, eq=False)
class StepSums:
    """What a step needs to know of some collections under k templates with q knots."""

    quadratic: Floats  # (k, q, q): sum of A over the collections nearest to each template
    linear: Floats  # (k, q): of b
    members: Floats  # (k,): of ones
    error: float  # the sum of their errors
    worst: Floats  # (w,): the largest errors, at most k of them, largest first
    fits: Floats  # (w, q): the template of each of these collections alone

    @property
    def collections(self) -> int:
        """How many collections there are."""
        return int(self.members.sum())

    @classmethod
    def join(cls, parts: "Sequence[StepSums]") -> "StepSums":
        """The sums of all parts, in their order."""
        worst = np.concatenate([part.worst for part in parts])
        fits = np.concatenate([part.fits for part in parts])
        first = np.argsort(-worst, kind="stable")[: len(parts[0].members)]
        return cls(
            np.sum([part.quadratic for part in parts], axis=0),
            np.sum([part.linear for part in parts], axis=0),
            np.sum([part.members for part in parts], axis=0),
            float(np.sum([part.error for part in parts])),
            worst[first],
            fits[first],
        )


def step_sums(costs: TemplateCosts, values: Floats) -> StepSums:
    """What a step needs to know of collections under templates (k, q)."""
    k = len(values)
    label, error = costs.nearest(values[np.newaxis])
    quadratic, linear, members = costs.sums(label, k)
    worst = np.argsort(-error[0], kind="stable")[:k]
    fits = costs.curve_fits(worst, SEED_RIDGE)
    return StepSums(quadratic[0], linear[0], members[0], float(error[0].sum()), error[0][worst], fits)


@dataclass
class Descent:
    """One set of templates on its way down."""

    values: Floats  # (k, q): the set whose sums are wanted next
    steps: int  # at most
    best: Floats | None = None  # the best set seen
    followers: Floats | None = None  # (k,): collections nearest to each of its templates
    history: list[float] = field(default_factory=list)  # its costs on the way
    finished: bool = False

    def take(self, sums: StepSums) -> None:
        """Go on by the sums of all collections under ``values``."""
        cost = sums.error / sums.collections
        stands = bool(self.history) and cost >= self.history[-1] * (1 - 1e-9)
        if not stands or cost < self.history[-1]:
            self.best, self.followers = self.values, sums.members
            self.history.append(cost)
        self.finished = stands or len(self.history) > self.steps
        if not self.finished:
            self.values = _solve_knots(sums.quadratic, sums.linear, sums.members, self.values)
            empty = np.flatnonzero(sums.members == 0)  # without collections: fitted to the one that fits worst
            self.values[empty] = sums.fits[: len(empty)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, to the last digit."""
        plain = {"values": self.values.tolist(), "steps": self.steps, "history": self.history}
        rest = {"best": self.best, "followers": self.followers}
        return {**plain, **{name: None if array is None else array.tolist() for name, array in rest.items()}}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Descent":
        """What :meth:`to_dict` gave."""
        best, followers = (None if document[key] is None else np.array(document[key]) for key in ("best", "followers"))
        return cls(np.array(document["values"]), document["steps"], best, followers, list(document["history"]))


def descend(costs: TemplateCosts, values: Floats, steps: int) -> tuple[Floats, Floats]:
    """Take one set (k, q) down until it stands: the best set seen, and its costs on the way."""
    way = Descent(values, steps)
    while not way.finished:
        way.take(step_sums(costs, way.values))
    return np.asarray(way.best), np.array(way.history)


def _solve_knots(quadratic: Floats, linear: Floats, members: Floats, values: Floats) -> Floats:
    """Templates (..., q) of least squared error for sums (..., q, q), (..., q) and (...,)."""
    hold = _HOLD * np.maximum(members, 1.0)
    A = quadratic + hold[..., np.newaxis, np.newaxis] * np.eye(values.shape[-1])
    return np.asarray(np.linalg.solve(A, (linear + hold[..., np.newaxis] * values)[..., np.newaxis])[..., 0])


def _as_initial(initial: ArrayLike | None, k: int, q: int) -> Floats:
    if initial is None:
        return np.empty((0, k, q))
    given = np.asarray(initial, dtype=np.float64)
    if given.ndim != 3 or given.shape[1:] != (k, q) or not np.isfinite(given).all():
        raise InputError(f"initial templates must be finite, of shape (s, {k}, {q}); got {given.shape}")
    return given


# Evolution: templates by the paper's Algorithm 1.


@dataclass(frozen=True)
class EvolutionSettings:
    """How templates evolve; the sizes are the published ones."""

    parents: int = 12  # s of Algorithm 1
    children: int = 60  # b
    generations: int = 120
    crossover: float = 0.5  # p: the probability that a point comes from the father
    patience: int | None = None  # stop after so many generations without a better set; None for never
    # The scale of the first population. The paper's is 1, wide of most templates of a z-scored essence: from there some
    # templates may never come into use.
    start: float = 0.3
    # The scale of a generation's mutations is |sigma| with sigma from N(0, 1), times a factor that falls evenly in its
    # logarithm from 1 in the first generation to this in the last. 1 is the paper's; with it, 120 generations hardly
    # ever draw the small steps by which templates settle.
    cooling: float = 0.02

    def __post_init__(self) -> None:
        if self.parents < 2 or self.children < 1 or self.generations < 1:
            raise InputError(
                "evolution needs at least 2 parents, 1 child and 1 generation; "
                f"got {self.parents}, {self.children} and {self.generations}"
            )
        if not 0.0 <= self.crossover <= 1.0:
            raise InputError(f"crossover is a probability, 0 to 1; got {self.crossover}")
        if self.patience is not None and self.patience < 1:
            raise InputError(f"patience must be at least 1 generation; got {self.patience}")
        if not 0.0 < self.start < np.inf:
            raise InputError(f"start is a scale and must be above 0; got {self.start}")
        if not 0.0 < self.cooling <= 1.0:
            raise InputError(f"cooling must lie above 0, and 1 at most; got {self.cooling}")


PAPER_EVOLUTION = EvolutionSettings(start=1.0, cooling=1.0)  # Algorithm 1 to the letter


def evolve(
    costs: TemplateCosts,
    k: int,
    *,
    rng: np.random.Generator,
    settings: EvolutionSettings | None = None,
    progress: Progress | None = None,
) -> "Evolution":
    """Learn k templates by the paper's Algorithm 1; calls ``progress(generation, generations, best_cost)``."""
    as_count(k, len(costs))
    how = settings or EvolutionSettings()
    way = Evolution.begin(k, len(costs.knots), how, rng)
    while not way.finished:
        way.take(costs.of(way.asked))
        if progress is not None and len(way.best) > 1:
            progress(len(way.best) - 1, how.generations, way.best[-1])
    return way


@dataclass
class Evolution:
    """Templates that evolve: asks for the costs of sets of templates, and breeds the next from them.

    Costs are means over collections, so those of parts of the collections add up; who has them need not be here.
    """

    how: EvolutionSettings
    rng: np.random.Generator  # the randomness of what is to come
    asked: Floats  # (s, k, q): the sets whose costs are wanted next
    population: Floats  # (s, k, q): the fittest so far, best first; empty before the first
    costs: Floats  # (s,): theirs
    # of the population, at the start and after each generation; never rises
    best: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)  # likewise
    steps: list[float] = field(default_factory=list)  # the scale of each generation's mutations
    waited: int = 0  # generations without a better set
    finished: bool = False

    @classmethod
    def begin(cls, k: int, q: int, how: EvolutionSettings, rng: np.random.Generator) -> "Evolution":
        """The first population of k templates with q knots."""
        first = how.start * rng.standard_normal((how.parents, k, q))
        return cls(how, rng, first, np.empty((0, k, q)), np.empty(0))

    def take(self, costs: Floats) -> None:
        """Go on by the costs (s,) of the sets that were asked for."""
        population, height = np.concatenate([self.population, self.asked]), np.concatenate([self.costs, costs])
        if self.best:
            fittest = np.argsort(height, kind="stable")[: self.how.parents]
            population, height = population[fittest], height[fittest]
            self.waited = 0 if height[0] < self.best[-1] else self.waited + 1
        self.population, self.costs = population, height
        self.best.append(float(height.min()))
        self.mean.append(float(height.mean()))
        tired = self.how.patience is not None and self.waited >= self.how.patience
        self.finished = tired or len(self.steps) >= self.how.generations
        if not self.finished:
            self._mate()

    def _mate(self) -> None:
        age = len(self.steps) / max(1, self.how.generations - 1)
        step = float(np.abs(self.rng.standard_normal())) * self.how.cooling**age
        young = _children(self.population, self.how, self.rng)
        self.asked = young + step * self.rng.standard_normal(young.shape)
        self.steps.append(step)

    @property
    def values(self) -> Floats:
        """The best set, shape (k, q)."""
        return np.asarray(self.population[int(np.argmin(self.costs))])

    @property
    def cost(self) -> float:
        """Its cost."""
        return self.best[-1]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, to the last digit."""
        arrays = {name: getattr(self, name).tolist() for name in ("asked", "population", "costs")}
        lists = {name: getattr(self, name) for name in ("best", "mean", "steps", "waited")}
        return {"how": asdict(self.how), "rng": self.rng.bit_generator.state, **arrays, **lists}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Evolution":
        """What :meth:`to_dict` gave."""
        rng = np.random.default_rng()
        rng.bit_generator.state = document["rng"]
        asked = np.array(document["asked"])
        population = np.array(document["population"]).reshape(-1, *asked.shape[1:])
        best, mean, steps = (list(document[name]) for name in ("best", "mean", "steps"))
        how, costs = EvolutionSettings(**document["how"]), np.array(document["costs"])
        return cls(how, rng, asked, population, costs, best, mean, steps, document["waited"])


def _children(population: Floats, how: EvolutionSettings, rng: np.random.Generator) -> Floats:
    """Children (b, k, q), each point from the father or the mother; the two are never the same."""
    s, k, q = population.shape
    father = rng.integers(s, size=how.children)
    mother = (father + rng.integers(1, s, size=how.children)) % s
    return np.where(rng.random((how.children, k, q)) < how.crossover, population[father], population[mother])
