from __future__ import annotations

import numpy as np
import pytest

from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError
from fabula.templates.learn import METHODS, learn_templates


def make(seed=0, m=80):
    rng = np.random.default_rng(seed)
    rise, arch = Template([0, 1], [-1.5, 1.5]), Template([0, 0.5, 1], [-1, 1, -1])
    sizes = rng.integers(5, 12, size=m)
    return [(rise if i % 4 else arch).samples(n) + 0.2 * rng.normal(size=n) for i, n in enumerate(sizes)]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_shapes(method):
    ts = learn_templates(make(), 2, method=method, knots=[0, 0.5, 1])
    assert isinstance(ts, TemplateSet)
    assert {t.name for t in ts} == {"rise", "arch"}
    assert all(t.description for t in ts)


@pytest.mark.parametrize("method", METHODS)
def test_seed_decides(method):
    essences = make(m=30)
    a, b = (learn_templates(essences, 2, method=method, seed=5) for _ in range(2))
    assert a == b


def test_most_followed_first_and_refined_beats_evolution():
    essences = make()
    refined = learn_templates(essences, 2)
    assert refined[0].name == "rise"
    evolved = learn_templates(essences, 2, method="evolution", generations=20)
    assert refined.cost(essences) <= evolved.cost(essences)


def test_contrastive_templates_come_on_the_scale_of_an_essence():
    for template in learn_templates(make(), 2, method="contrastive"):
        assert template.samples(201).std() == pytest.approx(1.0, abs=1e-9)


def test_positions_reach_every_method():
    essences = [[0.0, 0.1, 1.0]] * 10
    bent = learn_templates(essences, 1, [[0.0, 0.1, 1.0]] * 10, knots=[0, 1])
    np.testing.assert_allclose(bent.values, [[0.0, 1.0]], atol=1e-6)
    assert not np.allclose(learn_templates(essences, 1, knots=[0, 1]).values, [[0.0, 1.0]], atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"k": 0}, r"must lie in 1\.\.3"),
        ({"k": 4}, r"must lie in 1\.\.3.*got 4"),
        ({"method": "magic"}, "method must be one of refined, evolution, contrastive; got 'magic'"),
        ({"method": "evolution", "starts": 3}, "takes the options parents, .*; got starts"),
        ({"knots": [0, 2]}, "knots must rise from 0 to 1"),
        ({"positions": [[0, 1]]}, "one list of positions per collection: got 1 for 3"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_mistakes_are_told(method, arguments, words):
    with pytest.raises(InputError, match=words):
        learn_templates([[0.0, 1.0], [1.0, 0.0], [0.5, 0.0]], **{"k": 1, "method": method, **arguments})


@pytest.mark.parametrize("method", METHODS)
def test_broken_collections_are_told(method):
    with pytest.raises(InputError, match="at least one collection is needed"):
        learn_templates([], 1, method=method)
    with pytest.raises(InputError, match="essence of collection 1 must be finite"):
        learn_templates([[0.0, 1.0], [np.nan, 1.0]], 1, method=method)
    with pytest.raises(InputError, match="one number per item"):
        learn_templates([np.zeros((3, 2))], 1, method=method)


def test_the_options_of_each_method():
    assert METHODS["refined"] == ("starts", "steps", "initial")
    assert METHODS["contrastive"] == ("negatives", "starts", "steps", "ridge")
    assert "generations" in METHODS["evolution"]
