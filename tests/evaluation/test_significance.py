import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fabula.errors import InputError
from fabula.evaluation.intervals import (
    ComparisonSettings,
    bootstrap,
    cohen_dz,
    compare_scores,
    holm,
    pair_differences,
    sign_flip_test,
    t_test,
)

ALTERNATIVES = ["two-sided", "greater", "less"]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 3, 10, 500])
def test_t_test_is_scipys(rng, alternative, n):
    a, b = rng.normal(0.2, 1, n), rng.normal(size=n)
    reference = stats.ttest_rel(a, b, alternative=alternative)
    found = t_test(a, b, alternative=alternative)
    assert found.statistic == pytest.approx(reference.statistic)
    assert found.p == pytest.approx(reference.pvalue)
    assert found.n == n
    assert found.difference == pytest.approx((a - b).mean())
    assert found.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("values", [[1, 2, -3, 0.5, 0], [1, 2, 3, -6], [1, 1, 1, 1, -1, 1]])
def test_sign_flips_of_few_pairs_are_exact(rng, alternative, values):
    reference = stats.permutation_test(
        (np.array(values),),
        np.mean,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=np.inf,
    )
    found = sign_flip_test(values, np.zeros(len(values)), rng, alternative=alternative)
    assert found.p == pytest.approx(reference.pvalue)
    assert found.statistic == pytest.approx(np.mean(values))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_rounding_does_not_break_ties(rng, alternative):
    whole, tenths = ([1, 2, 3, -6], [0.1, 0.2, 0.3, -0.6])
    zeros = np.zeros(4)
    found = sign_flip_test(tenths, zeros, rng, alternative=alternative)
    assert found.p == sign_flip_test(whole, zeros, rng, alternative=alternative).p


def test_sign_flips_by_a_plain_loop(rng):
    values = rng.normal(0.4, 1, 8)
    sums = [sum(v if bits >> i & 1 else -v for i, v in enumerate(values)) for bits in range(2**8)]
    plain = sum(abs(s) >= abs(values.sum()) - 1e-12 for s in sums) / 2**8
    assert sign_flip_test(values, np.zeros(8), rng).p == plain


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_random_sign_flips_agree_with_scipy_and_count_the_observed(rng, alternative):
    values = rng.normal(0.3, 1, 40)
    reference = stats.permutation_test(
        (values,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=20_000,
        vectorized=True,
        rng=rng,
    )
    found = sign_flip_test(values, np.zeros(40), rng, alternative=alternative, draws=20_000)
    assert found.p == pytest.approx(reference.pvalue, abs=5 * math.sqrt(0.25 / 20_000))
    huge = sign_flip_test(values + 100, np.zeros(40), rng, draws=99)
    assert huge.p == 1 / 100  # never 0


def test_random_sign_flips_in_batches(rng, monkeypatch):
    values = rng.normal(0.3, 1, 40)
    monkeypatch.setattr("fabula.evaluation.intervals._DRAWN", 1000)
    few = sign_flip_test(values, np.zeros(40), rng, draws=5000)
    monkeypatch.undo()
    assert few.p == pytest.approx(sign_flip_test(values, np.zeros(40), rng, draws=5000).p, abs=0.04)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_agrees_with_scipy(rng, method):
    values = rng.exponential(size=60)  # skewed, so that the two methods differ
    reference = stats.bootstrap((values,), np.mean, method=method, n_resamples=20_000, rng=rng).confidence_interval
    found = bootstrap(values, rng, method=method, resamples=20_000)
    width = reference.high - reference.low
    assert found.low == pytest.approx(reference.low, abs=0.03 * width)
    assert found.high == pytest.approx(reference.high, abs=0.03 * width)
    assert found.mean == values.mean()
    assert found.n == 60


def test_bca_leans_to_the_long_tail(rng):
    values = rng.exponential(size=30)
    plain = bootstrap(values, np.random.default_rng(1), method="percentile", resamples=5000)
    corrected = bootstrap(values, np.random.default_rng(1), method="bca", resamples=5000)
    assert corrected.low > plain.low
    assert corrected.high > plain.high


def test_bootstrap_of_a_wider_level_is_wider(rng):
    values = rng.normal(size=50)
    narrow, wide = (bootstrap(values, np.random.default_rng(0), level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_holds_the_mean_as_often_as_it_says(rng, method):
    inside = 0
    for _ in range(300):
        interval = bootstrap(rng.normal(3, 1, 40), rng, level=0.9, resamples=300, method=method)
        inside += interval.low <= 3 <= interval.high
    low, high = stats.binom.interval(0.999, 300, 0.88)  # a bootstrap of 40 falls a little short
    assert low <= inside <= high


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
    found = t_test(a, b)
    assert found.effect == (0 if constant == 0 else math.copysign(math.inf, constant))
    assert found.p == (1 if constant == 0 else 0)
    assert t_test(a, b, alternative="greater").p == {0.0: 0.5, 0.1: 0, -0.1: 1}[constant]
    interval = bootstrap(a - b, rng)
    assert interval.low == interval.high == pytest.approx(constant)
    assert sign_flip_test(a[:10], b[:10], rng).p == (1 if constant == 0 else 2 / 2**10)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e200])
def test_very_small_and_large_differences(rng, scale):
    values = np.array([1.0, 2.0, 4.0, -1.0])
    assert cohen_dz(values * scale) == pytest.approx(cohen_dz(values))
    interval = bootstrap(values * scale, rng)
    assert interval.low <= interval.mean <= interval.high


def test_nan_pairs_are_left_out_and_counted():
    a, b = [1.0, np.nan, 3.0, 5.0], [0.0, 1.0, np.nan, 3.0]
    assert pair_differences(a, b)[0].tolist() == [1, 2]
    assert t_test(a, b).n == 2
    assert compare_scores({"a": a, "b": b})[0].n == 2
    assert cohen_dz([1.0, np.nan, 3.0]) == cohen_dz([1.0, 3.0])
    assert bootstrap([1.0, np.nan, 3.0], np.random.default_rng(0)).n == 2


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
def test_scores_that_cannot_be_compared(rng, a, b, words):
    with pytest.raises(InputError, match=words):
        t_test(a, b)
    with pytest.raises(InputError, match=words):
        sign_flip_test(a, b, rng)
    with pytest.raises(InputError, match="one and two: "):
        compare_scores({"one": a, "two": b})


def test_wrong_arguments_are_told(rng):
    with pytest.raises(InputError, match='alternative must be "two-sided", "greater" or "less"; got \'more\''):
        t_test([1, 2], [2, 3], alternative="more")
    with pytest.raises(InputError, match="draws must be at least 1; got 0"):
        sign_flip_test([1, 2], [2, 3], rng, draws=0)
    with pytest.raises(InputError, match="level of an interval must lie between 0 and 1; got 95"):
        bootstrap([1, 2], rng, level=95)
    with pytest.raises(InputError, match="resamples must be at least 1; got 0"):
        bootstrap([1, 2], rng, resamples=0)
    with pytest.raises(InputError, match='method must be "bca" or "percentile"; got \'basic\''):
        bootstrap([1, 2], rng, method="basic")
    for bad in ([0.5, np.nan], [1.2], [-0.1]):
        with pytest.raises(InputError, match=r"p-values must be a list of numbers in \[0, 1\]"):
            holm(bad)


def test_compare_takes_a_baseline_pairs_or_all(rng):
    scores = {name: rng.normal(shift, 1, 30) for name, shift in (("arcs", 1.0), ("noise", 0.0), ("random", 0.0))}
    assert [(c.a, c.b) for c in compare_scores(scores)] == [("arcs", "noise"), ("arcs", "random"), ("noise", "random")]
    assert [(c.a, c.b) for c in compare_scores(scores, pairs=[("random", "arcs")])] == [("random", "arcs")]
    family = compare_scores(scores, baseline="random")
    assert [(c.a, c.b) for c in family] == [("arcs", "random"), ("noise", "random")]
    for each in family:
        reference = stats.ttest_rel(scores[each.a], scores[each.b])
        assert each.p == pytest.approx(reference.pvalue)
        assert each.low < each.difference < each.high
        assert each.n == 30
    assert [c.adjusted for c in family] == holm([c.p for c in family]).tolist()
    assert compare_scores(scores, baseline="random") == family  # the seed decides
    flipped = compare_scores(scores, baseline="random", settings=ComparisonSettings("sign-flip", "greater"))
    assert flipped[0].p < 0.05


def test_compare_says_what_is_wrong_with_its_names():
    scores = {"a": [1.0, 2.0], "b": [2.0, 4.0]}
    with pytest.raises(InputError, match="no scores called 'c'; there are: a, b"):
        compare_scores(scores, baseline="c")
    with pytest.raises(InputError, match="no scores called 'x'"):
        compare_scores(scores, pairs=[("a", "x")])
    with pytest.raises(InputError, match="a baseline or pairs, not both"):
        compare_scores(scores, baseline="a", pairs=[("a", "b")])
    with pytest.raises(InputError, match="needs two lists of scores; got a"):
        compare_scores({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match='test must be "t" or "sign-flip"; got \'wilcoxon\''):
        compare_scores(scores, settings=ComparisonSettings("wilcoxon"))


@pytest.mark.parametrize("test", ["t", "sign-flip"])
def test_a_family_of_nulls_raises_no_more_false_alarms_than_promised(rng, test):
    alarms = 0
    for _ in range(400):
        base = rng.normal(size=12)
        scores = {str(i): base + rng.normal(size=12) for i in range(3)}
        family = compare_scores(
            {"base": base + rng.normal(size=12), **scores},
            baseline="base",
            settings=ComparisonSettings(test, resamples=1),
        )
        alarms += min(c.adjusted for c in family) < 0.05
    assert alarms <= stats.binom.ppf(0.999, 400, 0.05)
    assert alarms >= 1  # and it can say something


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=9), st.floats(0.1, 5))
@settings(max_examples=50)
def test_sign_flips_do_not_mind_scale_or_swap(values, scale):
    rng = np.random.default_rng(0)
    zeros = np.zeros(len(values))
    found = sign_flip_test(values, zeros, rng).p
    assert sign_flip_test(zeros, values, rng).p == found
    assert 0 < found <= 1
    power = 2.0 ** round(scale)
    assert sign_flip_test(np.array(values) * power, zeros, rng).p == found
