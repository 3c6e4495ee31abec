from __future__ import annotations

import itertools

import numpy as np
import pytest

from fabula.core.template import PAPER_KNOTS, Template, TemplateSet
from fabula.errors import InputError
from fabula.templates.genealogy import compare_templates


def make(rng, k):
    return TemplateSet([Template(PAPER_KNOTS, rng.normal(size=7)) for _ in range(k)])


def test_pairs_are_the_best_of_all_pairings():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = make(rng, 3), make(rng, 4)
        found = compare_templates(a, b)
        u = np.linspace(0, 1, 101)
        table = np.array([[np.mean((s.at(u) - t.at(u)) ** 2) for t in b] for s in a])
        best = min(itertools.permutations(range(4), 3), key=lambda p: sum(table[i, j] for i, j in enumerate(p)))
        assert found.pairs == list(enumerate(best))
        np.testing.assert_allclose(found.distances**2, [table[i, j] for i, j in found.pairs], atol=1e-12)
        assert found.unmatched_first == []
        assert found.unmatched_second == sorted(set(range(4)) - set(best))


def test_a_set_is_like_itself_shuffled_scaled_and_shifted():
    rng = np.random.default_rng(1)
    a = make(rng, 5)
    order = rng.permutation(5)
    other = TemplateSet([Template(a[i].knots, 3 * a[i].values + 1) for i in order])
    found = compare_templates(a, other, normalised=True)
    assert [order[j] for _, j in found.pairs] == list(range(5))
    np.testing.assert_allclose(found.distances, 0, atol=1e-9)
    np.testing.assert_allclose(found.correlations, 1)
    assert compare_templates(a, other).distances.max() > 0.5


def test_other_knots_flat_curves_and_dimensions():
    line, flat = Template([0, 1], [0, 1]), Template([0, 1], [1, 1])
    bent = Template([0, 0.5, 1], [0, 0.5, 1])
    assert compare_templates(TemplateSet([line]), TemplateSet([bent])).distances == pytest.approx([0], abs=1e-12)
    assert compare_templates(TemplateSet([line]), TemplateSet([flat])).correlations.tolist() == [0.0]
    with pytest.raises(InputError, match="one dimension are compared; got 2"):
        compare_templates(TemplateSet([line]), TemplateSet([Template([0, 1], [[0, 1], [1, 0]])]))
