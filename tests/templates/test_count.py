from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.arrays import normalise
from fabula.core.template import PAPER_KNOTS, Template, TemplateSet
from fabula.errors import InputError
from fabula.templates.learn import CountRow, CountTable, choose_count, contrast_features, information, temper


def make(rng, m, *, shaped):
    shapes = [Template([0, 1], [-1, 1]), Template([0, 0.5, 1], [1.2, -1.2, 1.2])]
    lengths = rng.integers(6, 12, size=m)
    pull = 1.0 if shaped else 0.0
    return [normalise(pull * shapes[i % 2].samples(n) + 0.7 * rng.normal(size=n)) for i, n in enumerate(lengths)]


@pytest.mark.slow
def test_shapes_inform_and_noise_does_not_although_both_fit_better_with_more_templates():
    rng = np.random.default_rng(0)
    shaped = choose_count(make(rng, 400, shaped=True), (1, 2, 3), rng=rng)
    noise = choose_count(make(rng, 400, shaped=False), (1, 2, 3), rng=rng)
    assert shaped.suggestion == 2
    assert noise.suggestion is None
    assert [row.k for row in shaped.rows] == [1, 2, 3]
    for table in (shaped, noise):
        costs = [row.train_cost for row in table.rows]
        assert costs[0] > costs[1] > costs[2]
        assert all(abs(row.shuffled_bits) < 0.2 for row in table.rows)
    two = shaped.rows[1]
    assert two.bits > two.shuffled_bits + 0.5
    assert two.cost < two.shuffled_cost
    assert (shaped.learned_from, shaped.held_out) == (320, 80)
    assert json.loads(json.dumps(shaped.to_dict()))["suggested"] == 2


def test_temperature_is_the_best_of_a_grid():
    rng = np.random.default_rng(1)
    features = contrast_features(make(rng, 200, shaped=True), rng=rng)
    y = rng.normal(size=(2, 7))
    bits = information(features, temper(TemplateSet([Template(PAPER_KNOTS, v) for v in y]), features)).mean()
    from fabula.core.arcs import Arcs

    for scale in np.exp(np.linspace(-8, 2, 40)):
        arcs = Arcs(TemplateSet([Template(PAPER_KNOTS, scale * v) for v in y]), [0, 0])
        assert information(features, arcs).mean() <= bits + 1e-4


def test_suggestion_is_the_smallest_within_one_error():
    def row(k, bits):
        return CountRow(k, 1.0, 1.0, 1.0, bits, 0.02, 0.0, 0.02, 0.0, 0.02)

    assert CountTable((row(1, 0.1), row(2, 0.29), row(3, 0.3)), 5.0, 9, 9).suggestion == 2
    assert CountTable((row(1, 0.05),), 5.0, 9, 9).suggestion is None


def test_what_shuffled_collections_tell_as_well_is_not_informative():
    def row(shuffled):
        return CountRow(1, 1.0, 1.0, 1.0, 0.3, 0.02, shuffled, 0.02, 0.0, 0.02)

    assert row(0.0).informative
    assert row(-0.5).informative
    assert not row(0.28).informative


def test_errors():
    rng = np.random.default_rng(0)
    five = [[0.0, 1.0]] * 5
    with pytest.raises(InputError, match="held_out: must lie between 0 and 1"):
        choose_count(five, [1], rng=rng, held_out=1.0)
    with pytest.raises(InputError, match=r"must lie in 1\.\.3"):
        choose_count(five, [4], rng=rng)
    with pytest.raises(InputError, match="at least one number of templates"):
        choose_count(five, [], rng=rng)
