from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError
from fabula.templates.genealogy import trace_genealogy
from fabula.templates.learn import learn_templates


def make(seed=0, m=120):
    rng = np.random.default_rng(seed)
    shapes = [Template([0, 1], [-2, 2]), Template([0, 1], [2, -2]), Template([0, 0.5, 1], [-2, 2, -2])]
    return [shapes[i % 3].samples(n) + 0.3 * rng.normal(size=n) for i, n in enumerate(rng.integers(6, 12, size=m))]


def test_flows_labels_and_extremes_equal_plain_counts():
    essences = make()
    sets = [learn_templates(essences, k, knots=[0, 0.5, 1]) for k in (1, 2, 3, 4)]
    kin = trace_genealogy(sets, essences)
    for generation, templates in zip(kin.generations, sets, strict=True):
        errors = templates.errors(essences)
        np.testing.assert_array_equal(generation.label, errors.argmin(axis=1))
        assert sum(generation.sizes) == len(essences)
        for p in range(len(templates)):
            members = [i for i in range(len(essences)) if errors[i].argmin() == p]
            members.sort(key=lambda i: errors[i].min())
            assert generation.best[p] == members[:3]
            assert generation.worst[p] == members[::-1][:3]
        assert len(set(generation.lineage)) == len(templates)
    for flow, a, b in zip(kin.flows, kin.generations, kin.generations[1:], strict=False):
        assert flow.shape == (len(a.templates), len(b.templates))
        for i in range(flow.shape[0]):
            for j in range(flow.shape[1]):
                assert flow[i, j] == np.sum((a.label == i) & (b.label == j))
        assert set(a.lineage) <= set(b.lineage)  # one heir for each
    assert kin.lineages == 4


def test_two_that_have_no_ancestor_are_two_lineages():
    rise, fall, arch = Template([0, 1], [-1, 1]), Template([0, 1], [1, -1]), Template([0, 0.5, 1], [-1, 1, -1])
    kin = trace_genealogy([TemplateSet([rise]), TemplateSet([rise, fall, arch])], make())
    assert kin.generations[1].lineage == [0, 1, 2]


def test_a_lineage_follows_its_template_through_renumbering():
    essences = make()
    third = learn_templates(essences, 3, knots=[0, 0.5, 1])
    kin = trace_genealogy([third, TemplateSet([third[2], third[0], third[1]])], essences)
    assert kin.generations[1].lineage == [2, 0, 1]
    assert (np.count_nonzero(kin.flows[0], axis=1) == 1).all()


def test_the_dictionary_is_json():
    essences = make(m=30)
    sets = [learn_templates(essences, k) for k in (1, 2)]
    document = json.loads(json.dumps(trace_genealogy(sets, essences).to_dict()))
    assert [g["k"] for g in document["generations"]] == [1, 2]
    assert sum(link["collections"] for link in document["flows"][0]) == 30
    assert document["generations"][1]["cost"] == pytest.approx(sets[1].cost(essences))
    assert document["generations"][0]["templates"][0]["collections"] == 30


def test_errors():
    with pytest.raises(InputError, match="at least one set"):
        trace_genealogy([], [[0, 1]])
