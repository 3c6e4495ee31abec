from __future__ import annotations

import itertools

import numpy as np
import pytest

from fabula.core.template import PAPER_KNOTS, Template
from fabula.errors import InputError
from fabula.templates import refinement as module
from fabula.templates.costs import quadratic_costs
from fabula.templates.refinement import RefinementSettings, lloyd_step, refine


def planted(rng, m=300, noise=0.0, k=3):
    values = rng.normal(size=(k, 7))
    curves = [Template(PAPER_KNOTS, y) for y in values]
    owner = np.arange(m) % k
    lengths = rng.integers(8, 20, size=m)
    essences = [curves[p].samples(n) + noise * rng.normal(size=n) for p, n in zip(owner, lengths, strict=True)]
    return values, owner, essences


def test_planted_templates_are_found_exactly():
    rng = np.random.default_rng(0)
    values, owner, essences = planted(rng)
    costs = quadratic_costs(essences)
    found, cost = refine(costs, 3, rng=rng)
    assert cost < 1e-12
    label = costs.nearest(found[np.newaxis])[0][0]
    for p in range(3):
        assert len(set(label[owner == p])) == 1
        np.testing.assert_allclose(found[label[owner == p][0]], values[p], atol=1e-5)


def test_tiny_data_reach_the_best_of_all_assignments():
    rng = np.random.default_rng(1)
    essences = [rng.normal(size=4) for _ in range(8)]
    costs = quadratic_costs(essences, knots=[0, 1])
    best = np.inf
    for label in itertools.product(range(2), repeat=8):
        A, b, members = costs.sums(np.array([label]), 2)
        if members.min() > 0:
            best = min(best, costs.of(np.linalg.solve(A[0], b[0][..., None])[None, ..., 0])[0])
    assert refine(costs, 2, rng=rng)[1] == pytest.approx(best, abs=1e-7)


def test_a_step_never_raises_the_cost_even_with_empty_or_open_templates():
    rng = np.random.default_rng(2)
    essences = [rng.normal(size=n) for n in rng.integers(1, 5, size=25)]  # too short to settle 7 knots
    costs = quadratic_costs(essences)
    values = rng.normal(size=(6, 5, 7))
    values[0, 1:] = 50.0  # four templates without a collection
    before = costs.of(values)
    for _ in range(15):
        values, now = lloyd_step(costs, values)
        np.testing.assert_allclose(now, before, rtol=1e-9)
        before = costs.of(values)
        assert (before <= now * (1 + 1e-9)).all()
        assert np.isfinite(values).all()
    assert len(set(costs.nearest(values[:1])[0][0])) == 5


def test_costs_fall_from_start_to_end():
    rng = np.random.default_rng(3)
    costs = quadratic_costs(planted(rng, noise=1.0)[2])
    told = []
    found, reached = refine(costs, 4, rng=rng, progress=lambda done, total, cost: told.append(cost))
    assert (np.diff(told) <= 1e-12).all()
    assert len(told) > 3
    assert told[-1] == reached == pytest.approx(costs.of(found[None])[0], rel=1e-12)


def test_never_worse_than_what_it_started_from():
    rng = np.random.default_rng(4)
    values, _, essences = planted(rng, noise=0.5)
    costs = quadratic_costs(essences)
    start = values[np.newaxis] + 0.01
    assert refine(costs, 3, rng=rng, settings=RefinementSettings(1, 1), initial=start)[1] <= costs.of(start)[0]
    alone, cost = refine(costs, 3, rng=np.random.default_rng(9), settings=RefinementSettings(1, 2))
    assert refine(costs, 3, rng=np.random.default_rng(9), initial=alone[None])[1] <= cost


def test_a_race_on_a_sample_finds_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    costs = quadratic_costs(planted(rng, m=900, noise=0.3)[2])
    whole = refine(costs, 3, rng=np.random.default_rng(0))[1]
    monkeypatch.setattr(module, "_SAMPLE", 300)
    assert refine(costs, 3, rng=np.random.default_rng(0))[1] == pytest.approx(whole, rel=1e-6)


def test_same_seed_same_templates_and_the_order_of_collections_has_no_say():
    rng = np.random.default_rng(6)
    essences = planted(rng, noise=0.4)[2]
    a, b = (refine(quadratic_costs(essences), 3, rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(a[0], b[0])
    turned = refine(quadratic_costs(essences[::-1]), 3, rng=np.random.default_rng(7))[1]
    assert turned == pytest.approx(a[1], rel=1e-6)


def test_one_template_per_collection_costs_nothing():
    rng = np.random.default_rng(8)
    essences = [rng.normal(size=5) for _ in range(4)]
    assert refine(quadratic_costs(essences), 4, rng=rng)[1] < 1e-6


def test_errors_and_progress():
    costs = quadratic_costs([[0.0, 1.0], [1.0, 0.0]], knots=[0, 1])
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="starts: must be at least 1; got 0"):
        refine(costs, 1, rng=rng, settings=RefinementSettings(0, 5))
    with pytest.raises(InputError, match=r"shape \(s, 1, 2\); got \(1, 1, 3\)"):
        refine(costs, 1, rng=rng, initial=np.zeros((1, 1, 3)))
    seen = []
    refine(costs, 1, rng=rng, progress=lambda *told: seen.append(told))
    assert seen[-1][0] == seen[-1][1]
    assert all(cost >= seen[-1][2] - 1e-12 for _, _, cost in seen)
