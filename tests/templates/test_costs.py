from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.interpolate import CubicSpline

from fabula.core.template import PAPER_KNOTS, Template, TemplateSet
from fabula.errors import InputError
from fabula.templates import costs as module
from fabula.templates.costs import as_count, quadratic_costs


def make(rng, m=40, *, own_positions, low=1, high=12):
    essences = [rng.normal(size=n) for n in rng.integers(low, high, size=m)]
    if not own_positions:
        return essences, None
    return essences, [np.sort(rng.random(len(e))) for e in essences]


def plain_cost(values, essences, positions):
    total = 0.0
    for i, essence in enumerate(essences):
        n = len(essence)
        u = (np.arange(n) / (n - 1) if n > 1 else np.zeros(1)) if positions is None else positions[i]
        total += min(float(np.mean((essence - CubicSpline(PAPER_KNOTS, y)(u)) ** 2)) for y in values)
    return total / len(essences)


@pytest.mark.parametrize("own_positions", [False, True])
def test_cost_equals_a_double_loop_and_the_template_set(own_positions):
    rng = np.random.default_rng(0)
    essences, positions = make(rng, own_positions=own_positions)
    costs = quadratic_costs(essences, positions)
    populations = rng.normal(size=(5, 3, 7))
    got = costs.of(populations)
    for one, values in zip(got, populations, strict=True):
        assert one == pytest.approx(plain_cost(values, essences, positions), abs=1e-9)
        ts = TemplateSet([Template(PAPER_KNOTS, y) for y in values])
        assert one == pytest.approx(ts.cost(essences, positions), abs=1e-9)
        np.testing.assert_allclose(costs.errors(values), ts.errors(essences, positions), atol=1e-9)


def test_small_spans_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    essences, positions = make(rng, own_positions=True)
    populations, label = rng.normal(size=(4, 2, 7)), rng.integers(2, size=(4, 40))
    whole = quadratic_costs(essences, positions)
    want = whole.of(populations), whole.errors(populations[0]), *whole.nearest(populations), *whole.sums(label, 2)
    monkeypatch.setattr(module, "_CELLS", 13)
    part = quadratic_costs(essences, positions)
    got = part.of(populations), part.errors(populations[0]), *part.nearest(populations), *part.sums(label, 2)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("own_positions", [False, True])
def test_sums_and_curve_fits_equal_their_definitions(own_positions):
    rng = np.random.default_rng(2)
    essences, positions = make(rng, own_positions=own_positions)
    costs = quadratic_costs(essences, positions)
    label = rng.integers(3, size=(2, len(essences)))
    A, b, members = costs.sums(label, 3)
    y = rng.normal(size=7)
    for s in range(2):
        for k in range(3):
            rows = np.flatnonzero(label[s] == k)
            assert members[s, k] == len(rows)
            want = costs.errors(y[None])[rows, 0].sum() - costs.constant[rows].sum()
            assert y @ A[s, k] @ y - 2 * b[s, k] @ y == pytest.approx(want, abs=1e-9)
    long = [i for i, e in enumerate(essences) if len(e) >= 8]
    fits = costs.curve_fits(np.array(long), 1e-9)
    for i, fit in zip(long, fits, strict=True):
        best = costs.errors(fit[None])[i, 0]
        assert all(best <= costs.errors((fit + 0.1 * rng.normal(size=7))[None])[i, 0] + 1e-9 for _ in range(20))


def test_collections_with_equal_positions_share_a_form():
    rng = np.random.default_rng(3)
    essences = [rng.normal(size=n) for n in (4, 5, 4, 5, 6, 4)]
    assert len(quadratic_costs(essences).forms) == 3
    u = np.array([0.0, 0.1, 0.2, 1.0])
    costs = quadratic_costs([e[:4] for e in essences], [u, u, u**2, u, u**2, u])
    assert len(costs.forms) == 2
    assert costs.group.tolist() == [0, 0, 1, 0, 1, 0]
    mixed = TemplateSet([Template(PAPER_KNOTS, np.arange(7.0))])
    want = mixed.errors([e[:4] for e in essences], [u, u, u**2, u, u**2, u])
    np.testing.assert_allclose(costs.errors(mixed.values), want, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.booleans())
def test_any_knots_and_order_of_collections(seed, q, own_positions):
    rng = np.random.default_rng(seed)
    knots = np.concatenate([[0.0], np.sort(rng.random(q - 2)) * 0.8 + 0.1, [1.0]])
    essences, positions = make(rng, 9, own_positions=own_positions)
    values = rng.normal(size=(1, 2, q))
    ts = TemplateSet([Template(knots, y) for y in values[0]])
    scale = 1 + np.abs(ts.errors(essences, positions)).max()
    got = quadratic_costs(essences, positions, knots=knots).of(values)[0]
    assert got == pytest.approx(ts.cost(essences, positions), abs=1e-9 * scale)
    turned = quadratic_costs(essences[::-1], positions and positions[::-1], knots=knots).of(values)[0]
    assert turned == pytest.approx(got, rel=1e-12)


def test_take_keeps_the_costs_of_its_rows():
    rng = np.random.default_rng(4)
    essences, positions = make(rng, own_positions=True)
    costs, y = quadratic_costs(essences, positions), rng.normal(size=(2, 7))
    rows = np.array([5, 1, 30])
    np.testing.assert_allclose(costs.take(rows).errors(y), costs.errors(y)[rows])


def test_rounding_makes_no_error_negative():
    rng = np.random.default_rng(0)
    essences = [1e6 + rng.normal(size=n) for n in rng.integers(2, 8, size=200)]
    costs = quadratic_costs(essences, knots=[0, 0.5, 1])
    own = costs.curve_fits(np.arange(200), 1e-12)
    assert costs.errors(own).min() >= 0


def test_errors_say_what_is_wrong():
    with pytest.raises(InputError, match="essence of collection 1 must be finite"):
        quadratic_costs([[0.0, 1.0], [np.nan, 1.0]])
    with pytest.raises(InputError, match="knots must rise from 0 to 1"):
        quadratic_costs([[0.0, 1.0]], knots=[0, 0.5, 0.5, 1])
    with pytest.raises(InputError, match=r"must lie in 1\.\.3.*got 4"):
        as_count(4, 3)
