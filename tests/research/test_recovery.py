"""All collections at once, held against one by one."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.core.arcs import Arcs
from fabula.core.fit import fit
from fabula.core.template import Template, TemplateSet
from fabula.research.recovery import closest_fits, each_alone, order_blind


@pytest.fixture
def essences():
    rng = np.random.default_rng(5)
    drawn = [rng.standard_normal(n) for n in rng.integers(2, 9, 24)]
    return drawn + [rng.integers(0, 3, n).astype(float) for n in rng.integers(2, 9, 16)]  # with equal items


@pytest.fixture
def templates():
    rng = np.random.default_rng(6)
    return TemplateSet([Template(np.linspace(0, 1, 5), rng.standard_normal(5)) for _ in range(3)])


def closest(essence, templates):
    fits = [fit(essence, template) for template in templates]
    return min(fits, key=lambda each: float((each.deviations**2).mean())).ordering


def test_the_closest_fits_are_those_of_each(essences, templates):
    many = order_blind(essences, np.random.default_rng(1), closest_fits(templates))
    each = order_blind(essences, np.random.default_rng(1), each_alone(lambda essence: closest(essence, templates)))
    for one, other in zip(many, each, strict=True):
        assert one.tolist() == other.tolist()


def test_the_likeliest_are_those_of_each(essences, templates):
    arcs = Arcs(templates, [0.0, 0.1, -0.2])
    many = order_blind(essences, np.random.default_rng(1), lambda rows, offsets: arcs.order_many(rows, offsets)[0])
    each = order_blind(
        essences, np.random.default_rng(1), each_alone(lambda e: arcs.order(e, alternatives=1)[0].ordering)
    )
    for one, other in zip(many, each, strict=True):
        assert one.tolist() == other.tolist()
