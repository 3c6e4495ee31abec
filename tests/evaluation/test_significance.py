import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from fabula.errors import InputError
from fabula.evaluation.intervals import cohen_dz, compare_scores, holm, mean_interval, pair_differences

TWO = [("a", "b")]


@pytest.mark.parametrize("n", [2, 3, 10, 500])
def test_the_paired_test_is_scipys(rng, n):
    a, b = rng.normal(0.2, 1, n), rng.normal(size=n)
    reference = stats.ttest_rel(a, b)
    [found] = compare_scores({"a": a, "b": b}, TWO)
    assert found.p == pytest.approx(reference.pvalue)
    interval = reference.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.n == n
    assert found.difference == pytest.approx((a - b).mean())
    assert found.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1))


def test_holm_by_hand():
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 -> 0.04 is lifted to 0.06 by the one before
    assert np.allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([]).shape == (0,)
    assert holm([0.7, 0.6]).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_the_steps_reject(p_values):
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    rejected = set()
    for step, i in enumerate(order):  # the procedure as Holm states it
        if p_values[i] * (len(p_values) - step) > 0.05:
            break
        rejected.add(i)
    adjusted = holm(p_values)
    assert set(np.flatnonzero(adjusted <= 0.05)) == rejected
    assert (adjusted >= np.array(p_values)).all()


@pytest.mark.parametrize("constant", [0.0, 0.1, -0.1])
def test_constant_differences_are_defined(rng, constant):
    b = rng.normal(size=20)
    a = b + constant
    assert cohen_dz(a - b) == (0 if constant == 0 else math.copysign(math.inf, constant))
    assert compare_scores({"a": a - b, "b": np.zeros(20)}, TWO)[0].p == (1 if constant == 0 else 0)
    interval = mean_interval(a - b)
    assert interval.low == interval.high == pytest.approx(constant)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e200])
def test_very_small_and_large_differences(rng, scale):
    values = np.array([1.0, 2.0, 4.0, -1.0])
    assert cohen_dz(values * scale) == pytest.approx(cohen_dz(values))
    interval = mean_interval(values * scale)
    assert interval.low <= interval.mean <= interval.high


def test_nan_pairs_are_left_out_and_counted():
    a, b = [1.0, np.nan, 3.0, 5.0], [0.0, 1.0, np.nan, 3.0]
    assert pair_differences(a, b)[0].tolist() == [1, 2]
    assert compare_scores({"a": a, "b": b}, TWO)[0].n == 2
    assert compare_scores({"a": a, "b": b}, TWO)[0].effect == cohen_dz(np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([1, 2, 3], [1, 2], "must be of the same collections: got 3 and 2"),
        ([1], [2], "at least 2 values that are not NaN are needed; got 1"),
        ([np.nan, 1], [1, np.nan], "at least 2 values that are not NaN are needed; got 0"),
        ([1, np.inf], [1, 2], "a must be finite or NaN; got inf at 1"),
        ([[1, 2]], [[1, 2]], r"a must be a list of numbers, one per collection; got shape \(1, 2\)"),
        (["x", "y"], [1, 2], "a must be a list of numbers"),
    ],
)
def test_scores_that_cannot_be_compared(a, b, words):
    with pytest.raises(InputError, match=words):
        pair_differences(a, b)
    with pytest.raises(InputError, match="one and two: "):
        compare_scores({"one": a, "two": b}, [("one", "two")])


def test_wrong_arguments_are_told(rng):
    for bad in ([0.5, np.nan], [1.2], [-0.1]):
        with pytest.raises(InputError, match=r"p-values must be a list of numbers in \[0, 1\]"):
            holm(bad)
    with pytest.raises(InputError, match="no scores called 'x'; there are: a, b"):
        compare_scores({"a": [1.0, 2.0], "b": [2.0, 4.0]}, [("a", "x")])


def test_pairs_are_compared_as_one_family(rng):
    scores = {name: rng.normal(shift, 1, 30) for name, shift in (("arcs", 1.0), ("noise", 0.0), ("random", 0.0))}
    pairs = [("arcs", "random"), ("noise", "random")]
    family = compare_scores(scores, pairs)
    assert [(c.a, c.b) for c in family] == pairs
    for each in family:
        reference = stats.ttest_rel(scores[each.a], scores[each.b])
        assert each.p == pytest.approx(reference.pvalue)
        assert each.low < each.difference < each.high
        assert each.n == 30
    assert [c.adjusted for c in family] == holm([c.p for c in family]).tolist()


def test_a_family_of_nulls_raises_no_more_false_alarms_than_promised(rng):
    alarms = 0
    for _ in range(400):
        base = rng.normal(size=12)
        scores = {str(i): base + rng.normal(size=12) for i in range(3)}
        pairs = [(name, "base") for name in scores]
        family = compare_scores({"base": base + rng.normal(size=12), **scores}, pairs)
        alarms += min(c.adjusted for c in family) < 0.05
    assert alarms <= stats.binom.ppf(0.999, 400, 0.05)
    assert alarms >= 1  # and it can say something


@pytest.mark.parametrize(("value", "p", "effect"), [(0.0, 1.0, 0.0), (0.25, 0.0, math.inf)])
def test_ways_that_never_differ_by_makers_of_unlike_many(value, p, effect):
    found = compare_scores({"a": np.full(10, 0.5 + value), "b": np.full(10, 0.5)}, [("a", "b")], groups="aaabbcdddd")[0]
    assert (found.difference, found.low, found.high, found.effect, found.p) == (value, value, value, effect, p)
