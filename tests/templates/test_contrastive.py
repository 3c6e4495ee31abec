from __future__ import annotations

import itertools
from math import factorial

import numpy as np
import pytest
from scipy.optimize import check_grad

from fabula.core.arcs import Arcs
from fabula.core.arrays import normalise
from fabula.core.template import PAPER_KNOTS, Template, TemplateSet
from fabula.errors import InputError
from fabula.templates import learn as module
from fabula.templates.learn import ContrastSettings, contrast, contrast_features, info_nce, information, learn_arcs


def make(rng, m=30, low=3, high=9):
    return [normalise(rng.normal(size=n)) for n in rng.integers(low, high, size=m)]


def drawn(rng, arcs, m, n=5):
    """Collections whose order is drawn from the arcs, over all n! orders."""
    orders = np.array(list(itertools.permutations(range(n))))
    out = []
    for _ in range(m):
        essence = normalise(rng.normal(size=n))
        scores = arcs.score(essence[orders][..., np.newaxis])
        chance = np.exp(scores - scores.max())
        out.append(essence[orders[rng.choice(len(orders), p=chance / chance.sum())]])
    return out


def test_features_give_the_score_of_the_arcs():
    rng = np.random.default_rng(0)
    essences = make(rng)
    features = contrast_features(essences, rng=rng, negatives=6)
    assert features.shape == (30, 7, 7)
    values, weights = rng.normal(size=(3, 7)), rng.normal(size=3)
    arcs = Arcs(TemplateSet([Template(PAPER_KNOTS, y) for y in values]), weights)
    logits = features @ values.T + weights
    scores = np.log(np.exp(logits).sum(axis=2))
    for i, essence in enumerate(essences):
        assert scores[i, 0] == pytest.approx(arcs.score(essence), rel=1e-5, abs=1e-5)
        reachable = (
            [arcs.score(essence[list(p)]) for p in itertools.permutations(range(len(essence)))]
            if len(essence) <= 5
            else []
        )
        for score in scores[i, 1:] if reachable else ():
            assert np.abs(np.array(reachable) - score).min() < 1e-4


def test_loss_equals_a_plain_loop_and_bits_its_mean(monkeypatch):
    rng = np.random.default_rng(1)
    features = contrast_features(make(rng), rng=rng, negatives=4)
    values, weights = rng.normal(size=(2, 7)), rng.normal(size=2)
    arcs = Arcs(TemplateSet([Template(PAPER_KNOTS, y) for y in values]), weights)
    losses = []
    for row in features.astype(float):
        scores = [np.log(sum(np.exp(x @ y + w) for y, w in zip(values, weights, strict=True))) for x in row]
        losses.append(np.log(np.exp(scores).sum()) - scores[0])
    monkeypatch.setattr(module, "_CELLS", 50)
    assert info_nce(features, values, weights)[0] == pytest.approx(np.mean(losses), rel=1e-5)
    bits = np.log2(5) - np.array(losses) / np.log(2)
    np.testing.assert_allclose(information(features, arcs), bits, atol=1e-5)


def test_gradient():
    rng = np.random.default_rng(2)
    features = contrast_features(make(rng), rng=rng, negatives=5).astype(np.float64)
    k = 3

    def loss(p):
        return info_nce(features, p[:-k].reshape(k, 7), p[-k:])[0]

    def slope(p):
        _, values, weights = info_nce(features, p[:-k].reshape(k, 7), p[-k:])
        return np.concatenate([values.ravel(), weights])

    for _ in range(3):
        assert check_grad(loss, slope, rng.normal(size=k * 8)) < 1e-6


@pytest.mark.slow
def test_planted_arcs_are_found_and_noise_has_no_information():
    rng = np.random.default_rng(3)
    truth = Arcs(TemplateSet([Template([0, 0.5, 1], [-1, 0, 1]), Template([0, 0.5, 1], [1.5, -1.5, 1.5])]), [0.0, 0.0])
    train, test = drawn(rng, truth, 1500), drawn(rng, truth, 1500)
    arcs = learn_arcs(train, 2, rng=rng, settings=ContrastSettings(knots=[0, 0.5, 1]))
    unseen = contrast_features(test, rng=rng, knots=[0, 0.5, 1])
    learned, known = information(unseen, arcs), information(unseen, truth)
    assert known.mean() > 0.4
    gap = known - learned
    assert gap.mean() < 0.02 + 3 * gap.std() / np.sqrt(len(gap))
    assert sorted(t.name for t in arcs.templates) == ["rise", "valley"]
    noise = [rng.permutation(e) for e in test]
    bits = information(contrast_features(noise, rng=rng, knots=[0, 0.5, 1]), arcs)
    assert bits.mean() < 3 * bits.std() / np.sqrt(len(bits))


def test_bits_keep_under_their_ceiling():
    rng = np.random.default_rng(4)
    rising = [np.sort(normalise(rng.normal(size=4))) for _ in range(200)]
    features = contrast_features(rising, rng=rng, negatives=500)
    found = contrast(features, 1, rng=rng, settings=ContrastSettings(ridge=0.01))
    bits = np.log2(501) - info_nce(features, *found)[0] / np.log(2)
    assert 4.0 < bits <= np.log2(factorial(4)) + 0.1


def test_positions_are_used():
    rng = np.random.default_rng(5)
    essences = make(rng, m=5)
    positions = [np.sort(rng.random(len(e))) for e in essences]
    features = contrast_features(essences, positions, rng=rng)
    t = Template(PAPER_KNOTS, rng.normal(size=7))
    for row, e, u in zip(features, essences, positions, strict=True):
        assert row[0] @ t.values == pytest.approx(t.at(u) @ e, abs=1e-4)


def test_many_collections_are_sampled_and_seeds_decide(monkeypatch):
    rng = np.random.default_rng(6)
    essences = make(rng, m=60)
    monkeypatch.setattr(module, "_MOST", 20)
    a, b = (learn_arcs(essences, 2, rng=np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(a.templates.values, b.templates.values)
    assert a.weights.sum() == pytest.approx(0, abs=1e-9)


def test_errors():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="at least 1 negative; got 0"):
        learn_arcs([[0.0, 1.0]], 1, rng=rng, settings=ContrastSettings(negatives=0))
    with pytest.raises(InputError, match="ridge of 0 or more"):
        learn_arcs([[0.0, 1.0]], 1, rng=rng, settings=ContrastSettings(ridge=-1))
