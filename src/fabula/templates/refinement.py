"""Templates by Lloyd's algorithm, from many starts at once, and by the paper's evolution.

Each collection goes to the template nearest to it, each template becomes the one of least squared error for its
collections, and so on until nothing moves. No step can raise the cost.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats
from fabula.errors import InputError, check_count
from fabula.templates.costs import TemplateCosts, as_count

SEED_RIDGE = 0.05  # on the template of a single collection, whose few items may not determine it
_HOLD = 1e-8  # weight of a template's old values: decides what its collections leave open
_RACE_STEPS = 6
_SAMPLE = 8192  # collections that the starts race on; the winner is refined on all

Progress = Callable[[int, int, float], None]  # steps done, steps in all (at most), best cost so far


@dataclass(frozen=True)
class RefinementSettings:
    """How templates are refined: from how many starts, and in how many steps at most."""

    starts: int = 48
    steps: int = 300

    def __post_init__(self) -> None:
        check_count(self.starts, "starts")
        check_count(self.steps, "steps")


def refine(
    costs: TemplateCosts,
    k: int,
    *,
    rng: np.random.Generator,
    settings: RefinementSettings | None = None,
    initial: ArrayLike | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, float]:
    """Learn k templates (k, q) by Lloyd's algorithm from many starts; and their cost, as of a set of templates.

    The starts race: all take a few steps, a third of them, those with the smallest cost, go on to the end. With very
    many collections the race is held on a sample, and its winner refined on all. The sets ``initial`` (s, k, q), an
    evolved population for instance, are started from besides: the result is never worse than the best of them.
    """
    as_count(k, len(costs))
    how = settings or RefinementSettings()
    size = max(_SAMPLE, 64 * k)  # of very many
    sample = costs if len(costs) <= size else costs.take(np.sort(rng.choice(len(costs), size, replace=False)))
    q = len(costs.knots)
    given = np.empty((0, k, q)) if initial is None else np.asarray(initial, dtype=np.float64)
    if given.ndim != 3 or given.shape[1:] != (k, q) or not np.isfinite(given).all():
        raise InputError(f"initial templates must be finite, of shape (s, {k}, {q}); got {given.shape}")
    finalists = np.concatenate([race(sample, k, rng, how, given, progress)[np.newaxis], given])
    best, cost = descend(costs, finalists[int(np.argmin(costs.of(finalists)))], how.steps)
    if progress is not None:
        progress(how.steps, how.steps, cost)
    return best, cost


def race(
    costs: TemplateCosts,
    k: int,
    rng: np.random.Generator,
    how: RefinementSettings,
    given: Floats,
    progress: Progress | None = None,
) -> Floats:
    """The winner (k, q) of many starts and those given (s, k, q): all take a few steps, the better ones go on."""
    values = np.concatenate([given, _scatter(costs, k, how.starts, rng)])
    steps = how.steps
    cost = np.full(len(values), np.inf)
    running = np.arange(len(values))
    for step in range(steps):
        moved, now = lloyd_step(costs, values[running])
        better = now < cost[running] * (1 - 1e-6)
        cost[running] = now
        if step == _RACE_STEPS:
            better &= now <= np.sort(now)[len(now) // 3]
        values[running[better]] = moved[better]
        running = running[better]
        if progress is not None:
            progress(step + 1, steps, float(cost.min()))
        if not len(running):
            break
    return np.asarray(values[int(np.argmin(costs.of(values)))])


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
    """One step for s sets of templates (s, k, q): the moved sets, and the cost (s,) of the sets as they were."""
    k = values.shape[1]
    label, error = costs.nearest(values)
    A, b, members = costs.sums(label, k)
    hold = _HOLD * np.maximum(members, 1.0)
    A += hold[..., np.newaxis, np.newaxis] * np.eye(values.shape[-1])
    moved = np.asarray(np.linalg.solve(A, (b + hold[..., np.newaxis] * values)[..., np.newaxis])[..., 0], np.float64)
    for i in np.flatnonzero((members == 0).any(axis=1)).tolist():
        empty = np.flatnonzero(members[i] == 0)
        worst = np.argsort(-error[i], kind="stable")[: len(empty)]
        moved[i, empty] = costs.curve_fits(worst, SEED_RIDGE)
    return moved, np.asarray(error.mean(axis=1))


def descend(costs: TemplateCosts, values: Floats, steps: int) -> tuple[Floats, float]:
    """Take one set (k, q) down until it stands: the best set seen, and its cost."""
    best, least = values, np.inf
    for _ in range(steps + 1):
        moved, [cost] = lloyd_step(costs, values[np.newaxis])
        stands = cost >= least * (1 - 1e-9)
        if cost < least:
            best, least = values, float(cost)
        if stands:
            break
        values = moved[0]
    return best, least


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


@dataclass(frozen=True, eq=False)
class Evolution:
    """Templates that evolved, and how it went."""

    values: Floats  # (k, q): the best set
    best: list[float]  # what the best set cost, at the start and after each generation; never rises
    steps: list[float]  # the scale of each generation's mutations


def evolve(
    costs: TemplateCosts,
    k: int,
    *,
    rng: np.random.Generator,
    settings: EvolutionSettings | None = None,
    progress: Progress | None = None,
) -> Evolution:
    """Learn k templates by the paper's Algorithm 1; calls ``progress(generation, generations, best_cost)``."""
    as_count(k, len(costs))
    how = settings or EvolutionSettings()
    population = how.start * rng.standard_normal((how.parents, k, len(costs.knots)))
    height, steps, waited = costs.of(population), list[float](), 0
    best = [float(height.min())]
    while len(steps) < how.generations and (how.patience is None or waited < how.patience):
        age = len(steps) / max(1, how.generations - 1)
        steps.append(float(np.abs(rng.standard_normal())) * how.cooling**age)
        young = _children(population, how, rng)
        young = young + steps[-1] * rng.standard_normal(young.shape)
        population, height = np.concatenate([population, young]), np.concatenate([height, costs.of(young)])
        fittest = np.argsort(height, kind="stable")[: how.parents]
        population, height = population[fittest], height[fittest]
        waited = 0 if height[0] < best[-1] else waited + 1
        best.append(float(height[0]))
        if progress is not None:
            progress(len(steps), how.generations, best[-1])
    return Evolution(population[0], best, steps)


def _children(population: Floats, how: EvolutionSettings, rng: np.random.Generator) -> Floats:
    """Children (b, k, q), each point from the father or the mother; the two are never the same."""
    s, k, q = population.shape
    father = rng.integers(s, size=how.children)
    mother = (father + rng.integers(1, s, size=how.children)) % s
    return np.where(rng.random((how.children, k, q)) < how.crossover, population[father], population[mother])
