"""The published movie shots: costs to meet."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.arrays import normalise
from fabula.templates.costs import quadratic_costs
from fabula.templates.refinement import evolve, refine

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def published(data):
    with np.load(data / "published_templates.npz") as file:
        return {k: file[f"movies_{k}"] for k in range(1, 10)}


@pytest.fixture(scope="module")
def costs(data):
    rows = json.loads((data / "movies" / "training.json").read_text())
    indices = [np.array(row["indices"], dtype=float) for row in rows]
    positions = [(p - p[0]) / (p[-1] - p[0]) for p in indices]
    return quadratic_costs([normalise(row["narrative_essence"]) for row in rows], positions)


def test_published_costs_are_reproduced(costs, published):
    assert costs.of(published[4]).mean() == pytest.approx(0.8293, abs=5e-5)
    assert costs.of(published[9]).min() == pytest.approx(0.7699, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "best_known"), [(1, 0.93121), (4, 0.82113), (9, 0.75769)])
def test_refined_templates_beat_every_published_set(costs, published, k, best_known):
    _, cost = refine(costs, k, rng=np.random.default_rng(0))
    assert cost < costs.of(published[k]).min()
    assert cost < 1.001 * best_known  # the best of 200 starts


@pytest.mark.slow
def test_evolution_reaches_the_published_mean(costs, published):
    for k in (1, 2, 4):
        found = [evolve(costs, k, rng=np.random.default_rng(seed)).best[-1] for seed in range(3)]
        assert np.mean(found) < costs.of(published[k]).mean()
