from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy.interpolate import CubicSpline, PchipInterpolator

from fabula.core.template import PAPER_KNOTS, Template, TemplateSet, basis, from_arc, template, template_names
from fabula.errors import InputError


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 12, 200, 201, 900])
@pytest.mark.parametrize("d", [None, 1, 3])
def test_curve_is_scipys_not_a_knot_spline(q, d, rng):
    knots = np.concatenate([[0], np.sort(rng.uniform(0.05, 0.95, q - 2)), [1]])
    values = rng.normal(size=q if d is None else (q, d))
    curve = Template(knots, values)
    u = rng.random(60)
    expected = CubicSpline(knots, values)(u)
    assert np.allclose(curve.at(u), expected[:, 0] if d == 1 else expected, atol=1e-7)


def test_many_knots_take_little_room():
    """The matrix from knot values to the curve of 5,000 knots alone would have 800 MB."""
    knots = np.linspace(0, 1, 5000)
    tracemalloc.start()
    try:
        curve = Template(knots, np.sin(40 * knots))
        assert np.allclose(curve.at([0.123, 0.5]), np.sin([40 * 0.123, 20]), atol=1e-9)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_two_knots_are_a_line_and_three_a_parabola():
    assert np.allclose(Template([0, 1], [1, 3]).at([0.25]), 1.5)
    assert np.allclose(Template([0, 0.5, 1], [0, 1, 0]).at([0.1]), 4 * 0.1 * 0.9)


def test_basis_is_linear_in_the_values(rng):
    values, u = rng.normal(size=7), rng.random(20)
    assert np.allclose(basis(PAPER_KNOTS, u) @ values, Template(PAPER_KNOTS, values).at(u))


@given(st.integers(1, 300))
def test_samples_are_the_curve_at_even_positions(n):
    curve = Template(PAPER_KNOTS, [0.3, -1, 2, 0.1, 0.7, -0.2, 1])
    u = np.linspace(0, 1, n) if n > 1 else np.zeros(1)
    assert np.array_equal(curve.samples(n), curve.at(u))


def test_at_keeps_the_shape_of_the_positions(rng):
    assert Template([0, 1], [0, 1]).at(0.5).shape == ()
    assert Template([0, 1], rng.normal(size=(2, 3))).at(np.zeros((4, 5))).shape == (4, 5, 3)


def test_flip_and_reversal():
    curve = Template(PAPER_KNOTS, [0.3, -1, 2, 0.1, 0.7, -0.2, 1], name="x")
    u = np.linspace(0, 1, 11)
    assert np.allclose(curve.flipped().at(u), -curve.at(u))
    assert np.allclose(curve.reversed().at(u), curve.at(1 - u))
    assert curve.flipped().name == "x (flipped)"


def test_normalised_has_mean_zero_and_deviation_one():
    curve = Template(PAPER_KNOTS, [3, -1, 2, 0.1, 0.7, -0.2, 1]).normalised().samples(201)
    assert abs(curve.mean()) < 1e-12
    assert abs(curve.std() - 1) < 1e-12
    assert np.array_equal(Template([0, 1], [4, 4]).normalised().values, [0, 0])


def test_arc_of_a_collection_passes_through_its_items():
    arc = from_arc([1.0, 5.0, 2.0, 2.0])
    assert np.argmax(arc.samples(4)) == 1
    with pytest.raises(InputError, match="at least 2 items; got 1"):
        from_arc([1.0])


def test_templates_are_values():
    a, b = Template([0, 1], [0, 1], "a"), Template([0, 1], [0, 1], "a")
    assert a == b
    assert hash(a) == hash(b)
    assert a != Template([0, 1], [0, 2], "a")
    with pytest.raises(ValueError, match="read-only"):
        a.values[0] = 3


@pytest.mark.parametrize(
    ("knots", "values", "message"),
    [
        ([0, 0.3, 0.3, 1], [1, 2, 3, 4], "template knots must rise from 0 to 1; got [0. , 0.3, 0.3, 1. ] (knot 3)"),
        ([0, 0.5], [1, 2], "template knots must rise from 0 to 1; got [0. , 0.5]"),
        ([0, np.nan, 1], [1, 2, 3], "template knots must rise from 0 to 1; got [ 0., nan,  1.] (knot 2)"),
        ([0], [1], "a template needs at least 2 knots in one list; got shape (1,)"),
        ([[0, 1]], [1, 2], "a template needs at least 2 knots in one list; got shape (1, 2)"),
        (["a", 1], [1, 2], "template knots must be numbers rising from 0 to 1; got ['a', 1]"),
        ([0, 1], [1, 2, 3], "a template needs one value per knot; got 3 values for 2 knots"),
        ([0, 1], [1, np.inf], "template values must be finite; got inf for item 1"),
        ([0, 1], ["x", 2], "template values must be numbers, one row per item; got ['x', 2]"),
    ],
)
def test_malformed_templates(knots, values, message):
    with pytest.raises(InputError) as caught:
        Template(knots, values)
    assert str(caught.value) == message


@pytest.mark.parametrize("u", [-0.01, 1.01, np.nan])
def test_positions_outside(u):
    with pytest.raises(InputError, match=r"positions must lie in \[0, 1\]; got"):
        Template([0, 1], [0, 1]).at([0.5, u])


def test_builtins_are_normalised_and_told_apart():
    curves = [template(name).samples(201) for name in template_names()]
    assert len(curves) == 12 + 21
    for name, curve in zip(template_names(), curves, strict=True):
        assert template(name).name == name
        assert template(name).description.endswith(".")
        assert abs(curve.std() - 1) < 1e-3
    distance = [np.abs(a - b).mean() for i, a in enumerate(curves[:12]) for b in curves[:i]]
    assert min(distance) > 0.1


def test_builtin_shapes_do_what_they_say():
    hole = template("man in a hole").samples(101)
    assert 20 < np.argmin(hole) < 70
    assert hole[-1] > hole[0]
    assert np.argmax(template("icarus").samples(101)) in range(20, 70)
    for name, sign in {"rags-to-riches": 1, "tragedy": -1, "steady-rise": 1, "steady-fall": -1}.items():
        assert (sign * np.diff(template(name).samples(101)) > 0).all(), name
    cinderella = np.sign(np.diff(template("cinderella").samples(101)))
    assert (np.diff(cinderella[cinderella != 0]) != 0).sum() == 2  # up, down, up


def test_unknown_builtin_names_the_near_ones():
    with pytest.raises(InputError, match="no built-in template is called 'ikarus'; did you mean icarus"):
        template("ikarus")


@pytest.mark.parametrize("q", [2, 3, 4, 7, 12])
@pytest.mark.parametrize("d", [None, 1, 3])
def test_a_monotone_curve_is_scipys_pchip(q, d, rng):
    knots = np.concatenate([[0], np.sort(rng.uniform(0.05, 0.95, q - 2)), [1]])
    values = rng.integers(-2, 3, size=q if d is None else (q, d)).astype(float)  # with equal neighbours
    curve = Template(knots, values, interpolation="monotone")
    u = rng.random(60)
    expected = PchipInterpolator(knots, values)(u)
    assert np.allclose(curve.at(u), expected[:, 0] if d == 1 else expected, atol=1e-12)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=12))
@example([0.0, 2.2e-311, 1.0])
def test_a_monotone_curve_stays_between_neighbouring_knots(values):
    curve = Template(np.linspace(0, 1, len(values)), values, interpolation="monotone")
    for (left, right), (low, high) in zip(pairwise(curve.knots), pairwise(values), strict=True):
        piece = curve.at(np.linspace(left, right, 9))
        assert min(low, high) - 1e-9 <= piece.min() <= piece.max() <= max(low, high) + 1e-9


def test_a_bump_drawn_among_zeros_leaves_no_dip():
    values = [0, 0, 0, 2, 0, 0, 0]
    assert Template(PAPER_KNOTS, values).samples(101).min() < -0.3
    assert Template(PAPER_KNOTS, values, interpolation="monotone").samples(101).min() == 0


def test_what_is_made_of_a_monotone_curve_is_monotone():
    curve = Template(PAPER_KNOTS, [0, 0, 0, 2, 0, 0, 1], interpolation="monotone")
    u = np.linspace(0, 1, 21)
    assert np.allclose(curve.flipped().at(u), -curve.at(u))
    assert np.allclose(curve.reversed().at(u), curve.at(1 - u))
    scaled = curve.normalised().samples(201)
    assert np.allclose([scaled.mean(), scaled.std()], [0, 1])
    assert curve != Template(PAPER_KNOTS, curve.values)


def test_an_unknown_interpolation_is_refused():
    with pytest.raises(InputError, match="interpolation must be 'cubic' or 'monotone'; got 'linear'"):
        Template([0, 1], [0, 1], interpolation="linear")


def test_a_set_of_several_dimensions_refuses_an_essence_of_one():
    several = TemplateSet([Template([0, 1], [[0, 1], [1, 1]])])
    for essence in ([0.0, 1.0], [0.0, 1.0, 2.0]):
        with pytest.raises(InputError, match=r"essence has 1 dimension\(s\), template has 2"):
            several.cost([essence])
    with pytest.raises(InputError, match="essences: must be a list of essences"):
        several.cost(None)
