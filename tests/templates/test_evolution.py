from __future__ import annotations

import itertools

import numpy as np
import pytest

from fabula.errors import InputError
from fabula.templates.costs import quadratic_costs
from fabula.templates.refinement import PAPER_EVOLUTION, EvolutionSettings, _children, evolve


def make(seed=0, m=60):
    rng = np.random.default_rng(seed)
    return quadratic_costs([rng.normal(size=n) for n in rng.integers(4, 12, size=m)])


@pytest.mark.parametrize("settings", [None, PAPER_EVOLUTION])
def test_elitism_the_best_never_rises(settings):
    costs = make()
    found = evolve(costs, 3, rng=np.random.default_rng(1), settings=settings)
    assert len(found.best) == len(found.steps) + 1 == 121
    assert (np.diff(found.best) <= 0).all()
    assert found.best[-1] < found.best[0]
    np.testing.assert_allclose(costs.of(found.values[np.newaxis]), found.best[-1], rtol=1e-12)


def test_children_take_each_point_from_two_different_parents():
    population = np.arange(4 * 2 * 3, dtype=float).reshape(4, 2, 3)
    how = EvolutionSettings(parents=4, children=500)
    young = _children(population, how, np.random.default_rng(0))
    parent = (young // 6).astype(int)
    np.testing.assert_array_equal(young % 6, np.broadcast_to(np.arange(6.0).reshape(2, 3), young.shape))
    kinds = [set(row.ravel().tolist()) for row in parent]
    assert max(map(len, kinds)) == 2  # never a third parent
    assert np.mean([len(kind) == 1 for kind in kinds]) < 0.1  # 2 ** -5 by chance: father and mother differ
    assert {tuple(sorted(kind)) for kind in kinds if len(kind) == 2} == set(itertools.combinations(range(4), 2))


def test_crossover_is_the_fathers_share():
    population = np.stack([np.zeros((1, 7)), np.ones((1, 7))])
    how = EvolutionSettings(parents=2, children=4000, crossover=0.9)
    share = _children(population, how, np.random.default_rng(0)).mean(axis=(1, 2))
    assert np.mean(np.minimum(share, 1 - share)) == pytest.approx(0.1, abs=0.01)


def test_steps_follow_the_paper_or_cool():
    costs = make(m=5)
    literal = evolve(costs, 1, rng=np.random.default_rng(3), settings=PAPER_EVOLUTION).steps
    assert np.mean(literal) == pytest.approx(np.sqrt(2 / np.pi), abs=0.2)
    cooled = evolve(costs, 1, rng=np.random.default_rng(3), settings=EvolutionSettings(cooling=0.01)).steps
    assert np.mean(cooled[-20:]) < 0.1 * np.mean(cooled[:20])


def test_patience_and_progress_and_seed():
    costs = make()
    seen = []
    how = EvolutionSettings(generations=1000, patience=5, cooling=1.0)
    found = evolve(costs, 2, rng=np.random.default_rng(4), settings=how, progress=lambda *told: seen.append(told))
    assert len(found.steps) < 1000
    assert len(set(found.best[-6:])) == 1
    assert [told[0] for told in seen] == list(range(1, len(found.steps) + 1))
    assert seen[-1] == (len(found.steps), 1000, found.best[-1])
    again = evolve(costs, 2, rng=np.random.default_rng(4), settings=how)
    np.testing.assert_array_equal(again.values, found.values)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"parents": 1}, "at least 2 parents"),
        ({"crossover": 1.5}, "a probability, 0 to 1; got 1.5"),
        ({"patience": 0}, "patience must be at least 1"),
        ({"start": -1.0}, "start is a scale and must be above 0; got -1.0"),
        ({"cooling": 0.0}, "cooling must lie above 0"),
    ],
)
def test_settings_are_checked(wrong, words):
    with pytest.raises(InputError, match=words):
        EvolutionSettings(**wrong)
