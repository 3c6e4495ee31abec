from itertools import permutations

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.fit import fit
from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError
from fabula.evaluation.intervals import compare_scores
from fabula.evaluation.metrics import (
    best_scores,
    edit,
    evaluate,
    random_proposals,
    shuffle_proposals,
    single_features,
    spearman,
    template_proposals,
)

RISE, ARCH = Template([0, 1], [-1, 1]), Template([0, 0.5, 1], [-1, 1, -1])


def collection(columns: dict[str, list[float]]) -> Collection:
    n = len(next(iter(columns.values())))
    return Collection("c", [Item(str(i)) for i in range(n)], np.array(list(columns.values())).T, list(columns))


def test_random_orderings_are_uniform(rng):
    counts = dict.fromkeys(permutations(range(3)), 0)
    for [ordering] in random_proposals([3] * 6000, 1, rng):
        counts[tuple(ordering.tolist())] += 1
    assert min(counts.values()) > 850
    assert max(counts.values()) < 1150


def test_proposals_have_a_place_for_each_collection(rng):
    proposals = random_proposals([4, 7], 3, rng)
    assert [[o.size for o in p] for p in proposals] == [[4] * 3, [7] * 3]
    essences = [rng.normal(size=4), rng.normal(size=7)]
    for made in (template_proposals, shuffle_proposals):
        found = made(essences, TemplateSet([RISE, ARCH]), rng)
        assert [[sorted(o.tolist()) for o in p] for p in found] == [[list(range(n))] * 2 for n in (4, 7)]


@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_template_proposals_are_the_fits_of_the_normalised_essence(rng, shape):
    essence = rng.normal(5, 30, shape)
    curve = Template([0, 0.5, 1], rng.normal(size=(3, *shape[1:])))
    found = template_proposals([essence], [curve], rng)[0][0]
    scaled = (essence - essence.mean(axis=0)) / essence.std(axis=0)
    assert found.tolist() == fit(scaled, curve).ordering.tolist()


def test_the_true_order_is_found_where_the_essence_shows_it_and_lost_when_shuffled(rng):
    essences = [np.sort(rng.normal(size=8)) for _ in range(300)]
    assert evaluate([p[0] for p in template_proposals(essences, [RISE], rng)]).perfect == 1
    shuffled = evaluate([p[0] for p in shuffle_proposals(essences, [RISE], rng)])
    assert abs(shuffled.spearman) < 4 / np.sqrt(300 * 7)


@pytest.mark.parametrize("made", [template_proposals, shuffle_proposals])
def test_equal_items_do_not_give_the_true_order_away(rng, made):
    essences = [np.repeat([0.0, 1.0], 4)[rng.permutation(8)] for _ in range(200)] + [np.ones(8)] * 200
    rho = evaluate([p[0] for p in made(essences, [RISE], rng)]).spearman
    assert abs(rho) < 4 / np.sqrt(400 * 7)


def test_single_features_sort_both_ways(rng):
    found = single_features([collection({"energy": [3, 1, 2], "tempo": [1, 2, np.nan]})], rng)
    assert {name: orderings[0].tolist() for name, orderings in found.items()} == {
        "energy up": [1, 2, 0],
        "energy down": [0, 2, 1],
        "tempo up": [0, 1, 2],
        "tempo down": [1, 0, 2],
    }


def test_a_constant_feature_knows_nothing(rng):
    found = single_features([collection({"key": [1.0] * 8})] * 400, rng)
    for orderings in found.values():
        assert abs(evaluate(orderings).spearman) < 4 / np.sqrt(400 * 7)


def test_best_scores_are_the_largest_of_each_set(rng):
    proposals = random_proposals(rng.integers(3, 9, 50), 4, rng)
    assert best_scores(proposals).tolist() == [max(edit(o) for o in p) for p in proposals]
    assert best_scores(proposals, "spearman").tolist() == [max(spearman(o) for o in p) for p in proposals]


def test_more_random_proposals_score_higher_so_k_must_be_equal(rng):
    one, four = (best_scores(random_proposals([8] * 400, k, rng)).mean() for k in (1, 4))
    assert four > one + 0.01


def test_the_papers_comparison_from_end_to_end(rng):
    essences = [np.sort(rng.normal(size=10)) + rng.normal(0, 0.5, 10) for _ in range(200)]
    templates = [RISE, ARCH]
    scores = {
        "templates": best_scores(template_proposals(essences, templates, rng)),
        "random": best_scores(random_proposals([10] * 200, 2, rng)),
        "shuffled": best_scores(shuffle_proposals(essences, templates, rng)),
    }
    over_random, over_shuffled = compare_scores(scores, pairs=[("templates", "random"), ("templates", "shuffled")])
    assert over_random.adjusted < 1e-6
    assert over_shuffled.low > 0
    assert compare_scores(scores, pairs=[("shuffled", "random")])[0].p > 0.001


def test_the_rng_decides(rng):
    essences = [rng.normal(size=6) for _ in range(5)]
    a, b = (shuffle_proposals(essences, [RISE], np.random.default_rng(3)) for _ in range(2))
    assert [p[0].tolist() for p in a] == [p[0].tolist() for p in b]


def test_what_is_wrong_is_told(rng):
    with pytest.raises(InputError, match="essence of collection 1 must be finite"):
        template_proposals([[1.0, 2.0], [np.nan, 1.0]], [RISE], rng)
    with pytest.raises(InputError, match="essence of collection 0 must be finite"):
        shuffle_proposals([[np.inf, 2.0]], [RISE], rng)
    deep = Collection("deep", [Item("a")], np.zeros((1, 2, 7)), ["x", "y"])
    with pytest.raises(InputError, match=r"one number per item; those of 'deep' have shape \(1, 2, 7\)"):
        single_features([deep], rng)
