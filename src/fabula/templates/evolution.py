"""Evolution: templates by the paper's Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.errors import InputError
from fabula.templates.costs import Costs, as_count
from fabula.templates.refinement import Progress


@dataclass(frozen=True)
class EvolutionSettings:
    """How templates evolve; the sizes are the published ones.

    Attributes
    ----------
    parents, children, generations
        Sizes s and b of Algorithm 1, and when it is done.
    crossover
        p: the probability that a point comes from the father.
    patience
        Stop after so many generations without a better set; None for never.
    start
        The scale of the first population. The paper's is 1, wide of most templates of a z-scored essence: from
        there some templates may never come into use.
    cooling
        The scale of a generation's mutations is ``|sigma|`` with sigma from N(0, 1), times a factor that falls
        evenly in its logarithm from 1 in the first generation to this in the last. 1 is the paper's; with it,
        120 generations hardly ever draw the small steps by which templates settle.
    """

    parents: int = 12
    children: int = 60
    generations: int = 120
    crossover: float = 0.5
    patience: int | None = None
    start: float = 0.3
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
    """Evolved templates, and how they came about.

    Attributes
    ----------
    values
        Shape (k, q): the best set.
    cost
        Its cost.
    population, costs
        Shapes (s, k, q) and (s,): the last generation, best first.
    best, mean
        Shape (generations + 1,): smallest and mean cost of the population, at the start and after each generation.
        ``best`` never rises.
    steps
        Shape (generations,): the scale of each generation's mutations.
    """

    values: Floats
    cost: float
    population: Floats
    costs: Floats
    best: Floats
    mean: Floats
    steps: Floats


def evolve(
    costs: Costs,
    k: int,
    *,
    rng: np.random.Generator,
    settings: EvolutionSettings | None = None,
    progress: Progress | None = None,
) -> Evolution:
    """Learn k templates by the paper's Algorithm 1.

    Parameters
    ----------
    costs
        Of the collections to learn from.
    k
        How many templates, 1 to the number of collections.
    settings
        Sizes and operators; ``PAPER_EVOLUTION`` is the paper to the letter.
    progress
        Called as ``progress(generation, generations, best_cost)``.

    Examples
    --------
    >>> from fabula.templates.costs import quadratic_costs
    >>> costs = quadratic_costs([[0.0, 1.0], [1.0, 0.0]], knots=[0, 1])
    >>> found = evolve(costs, 2, rng=np.random.default_rng(0))
    >>> found.values.shape, bool(found.cost < 0.01)
    ((2, 2), True)
    """
    as_count(k, len(costs))
    how = settings or EvolutionSettings()
    population = how.start * rng.standard_normal((how.parents, k, len(costs.knots)))
    height = costs.of(population)
    best, mean, steps = [float(height.min())], [float(height.mean())], []
    waited = 0
    for generation in range(1, how.generations + 1):
        age = (generation - 1) / max(1, how.generations - 1)
        step = float(np.abs(rng.standard_normal())) * how.cooling**age
        young = _children(population, how, rng)
        young += step * rng.standard_normal(young.shape)
        population = np.concatenate([population, young])
        height = np.concatenate([height, costs.of(young)])
        fittest = np.argsort(height, kind="stable")[: how.parents]
        population, height = population[fittest], height[fittest]
        waited = 0 if height[0] < best[-1] else waited + 1
        best.append(float(height[0]))
        mean.append(float(height.mean()))
        steps.append(step)
        if progress is not None:
            progress(generation, how.generations, best[-1])
        if how.patience is not None and waited >= how.patience:
            break
    first = int(np.argmin(height))  # the population is ordered from the first generation on
    return Evolution(population[first], best[-1], population, height, np.array(best), np.array(mean), np.array(steps))


def _children(population: Floats, how: EvolutionSettings, rng: np.random.Generator) -> Floats:
    """Children (b, k, q), each point from the father or the mother; the two are never the same."""
    s, k, q = population.shape
    father = rng.integers(s, size=how.children)
    mother = (father + rng.integers(1, s, size=how.children)) % s
    return np.where(rng.random((how.children, k, q)) < how.crossover, population[father], population[mother])
