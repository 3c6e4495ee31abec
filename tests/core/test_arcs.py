from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.special import logsumexp

from fabula.core.arcs import Arcs
from fabula.core.arrays import positions
from fabula.core.template import PAPER_KNOTS, Template, TemplateSet, basis
from fabula.errors import InputError


def mixture(rng, k, d=1):
    values = rng.normal(size=(k, 7, d))
    return Arcs(TemplateSet([Template(PAPER_KNOTS, v) for v in values]), rng.normal(size=k))


@pytest.mark.parametrize("d", [1, 3])
def test_score_is_the_plain_formula(d, rng):
    arcs, s = mixture(rng, 4, d), rng.normal(size=(6, d))
    u = np.linspace(0, 1, 6)
    logits = [
        sum(float(np.dot(t.at(u[j]).reshape(d), s[j])) for j in range(6)) + w
        for t, w in zip(arcs.templates, arcs.weights, strict=True)
    ]
    assert arcs.score(s) == pytest.approx(logsumexp(logits))
    assert np.allclose(arcs.score(np.stack([s, s[::-1]])), [arcs.score(s), arcs.score(s[::-1])])


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("fixed", [{}, {0: 2, -1: 1}])
def test_every_ordering_of_one_arc_comes_in_order(d, fixed, rng):
    """With one template, asking for all n! alternatives gives them from the likeliest down."""
    arcs, essence = mixture(rng, 1, d), rng.normal(size=(5, d))
    scores = [
        arcs.score(essence[list(p)])
        for p in permutations(range(5))
        if all(p[place] == item for place, item in fixed.items())
    ]
    fits = arcs.order(essence, alternatives=200, fixed=fixed)
    assert len(fits) == len(scores)
    assert np.allclose([f.score for f in fits], sorted(scores, reverse=True))
    assert all(f.ordering[place] == item for f in fits for place, item in fixed.items())


def test_best_pair_of_template_and_ordering_is_found(rng):
    for _ in range(30):
        arcs, essence = mixture(rng, 3), rng.normal(size=6)
        curves = arcs.templates.values @ basis(arcs.templates[0].knots, positions(6)).T  # (k, 6)
        every = essence[np.array(list(permutations(range(6))))]
        joint = (every @ curves.T + arcs.weights).max()
        found = max((curves @ essence[f.ordering] + arcs.weights).max() for f in arcs.order(essence, alternatives=12))
        assert found == pytest.approx(joint)


@pytest.mark.slow
def test_the_first_is_the_likeliest_of_all_under_the_mixture(rng):
    """Climbing is not proved to reach the top; it does in nearly every case."""
    missed = 0
    for _ in range(100):
        arcs, essence = mixture(rng, 3), rng.normal(size=6)
        best = arcs.score(essence[np.array(list(permutations(range(6))))][..., np.newaxis]).max()
        found = arcs.order(essence, alternatives=1)[0].score
        assert found <= best + 1e-9
        missed += found < best - 1e-9
    assert missed <= 2


def test_each_is_exact_for_its_template(rng):
    arcs, essence = mixture(rng, 3), rng.normal(size=6)
    for found in arcs.order(essence, alternatives=5)[:2]:
        best = max(float(found.targets @ essence[list(p)]) for p in permutations(range(6)))
        assert float(found.targets @ essence[found.ordering]) == pytest.approx(best)


def test_alternatives_are_distinct_and_fall(rng):
    arcs, essence = mixture(rng, 4), rng.normal(size=12)
    fits = arcs.order(essence, alternatives=9)
    assert len({tuple(f.ordering) for f in fits}) == 9
    assert all(a.score >= b.score for a, b in pairwise(fits))
    assert all(f.score == pytest.approx(arcs.score(essence[f.ordering])) for f in fits)


def test_equal_items_make_no_alternatives(rng):
    assert len(mixture(rng, 4).order(np.zeros(6), alternatives=5)) == 1
    assert len(mixture(rng, 1).order([0.0, 0.0, 1.0], alternatives=9)) == 3


def test_bad_arcs(rng):
    arcs = mixture(rng, 2)
    with pytest.raises(InputError, match="alternatives: must be at least 1; got 0"):
        arcs.order([1.0, 2.0], alternatives=0)
    with pytest.raises(InputError, match=r"essence has 2 dimension\(s\), the arcs have 1"):
        arcs.order([[1.0, 2.0]])
    with pytest.raises(InputError, match="one finite weight per template: 2; got"):
        Arcs(arcs.templates, [1.0])
