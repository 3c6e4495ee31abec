"""Evolution: templates by the paper's Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from fabula.core.arrays import Floats
from fabula.errors import InputError
from fabula.templates.costs import TemplateCosts, as_count
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


def evolve(
    costs: TemplateCosts,
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

    Attributes
    ----------
    how, rng
        Settings, and the randomness of what is to come.
    asked
        Shape (s, k, q): the sets whose costs are wanted next.
    population, costs
        Shapes (s, k, q) and (s,): the fittest so far and their costs, best first; empty before the first.
    best, mean
        Smallest and mean cost of the population, at the start and after each generation; ``best`` never rises.
    steps
        The scale of each generation's mutations.
    waited
        Generations without a better set.
    finished
        Whether the last generation is through.
    """

    how: EvolutionSettings
    rng: np.random.Generator
    asked: Floats
    population: Floats
    costs: Floats
    best: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    waited: int = 0
    finished: bool = False

    @classmethod
    def begin(cls, k: int, q: int, how: EvolutionSettings, rng: np.random.Generator) -> Evolution:
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
    def from_dict(cls, document: Mapping[str, Any]) -> Evolution:
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
