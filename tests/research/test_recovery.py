"""All collections at once, held against one by one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from fabula.core.arcs import Arcs
from fabula.core.fit import fit
from fabula.core.template import Template, TemplateSet
from fabula.research.recovery import closest_fit, likeliest_orders, order_blind


@pytest.fixture
def essences():
    rng = np.random.default_rng(5)
    drawn = [rng.standard_normal(n) for n in rng.integers(2, 9, 24)]
    return drawn + [rng.integers(0, 3, n).astype(float) for n in rng.integers(2, 9, 16)]  # with equal items


@pytest.fixture
def templates():
    rng = np.random.default_rng(6)
    return TemplateSet([Template(np.linspace(0, 1, 5), rng.standard_normal(5)) for _ in range(3)])


def test_the_closest_fit_has_the_least_squared_error(essences, templates):
    propose = closest_fit(templates)
    for essence in essences:
        errors = [((essence[propose(essence)] - template.samples(len(essence))) ** 2).mean() for template in templates]
        fits = [fit(essence, template) for template in templates]
        assert min(errors) <= min((each.deviations**2).mean() for each in fits) + 1e-12


def test_no_fit_sees_the_order_it_came_in(essences, templates):
    for seed in (1, 2):
        found = order_blind(essences, np.random.default_rng(seed), partial(map, closest_fit(templates)))
        for essence, ordering in zip(essences, found, strict=True):
            values = essence[ordering].tolist()
            assert values == essence[closest_fit(templates)(essence)].tolist()


def test_the_likeliest_are_those_of_each(essences, templates):
    arcs = Arcs(templates, [0.0, 0.1, -0.2])
    many = order_blind(essences, np.random.default_rng(1), partial(likeliest_orders, arcs))
    alone = partial(map, lambda e: arcs.order(e, alternatives=1)[0].ordering)
    each = order_blind(essences, np.random.default_rng(1), alone)
    for one, other in zip(many, each, strict=True):
        assert one.tolist() == other.tolist()
