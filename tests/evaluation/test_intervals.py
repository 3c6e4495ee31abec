"""Intervals of a mean: over groups, and of few and skewed values; against families whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks import coverage, known_truth
from fabula.core.collection import Collection, Item
from fabula.errors import SeenWarning
from fabula.evaluation import intervals
from fabula.evaluation.information import information_of, mutual_information
from fabula.evaluation.intervals import Interval, _estimate, compare_scores, mean_interval
from fabula.models.model import Model
from fabula.models.transform import Transform


def held(intervals, truth) -> float:
    return float(np.mean([each.low <= truth <= each.high for each in intervals]))


def test_few_skewed_values_are_covered_where_percentiles_are_not(rng):
    """Ten values of an exponential: percentile intervals hold its mean in about 86 of 100 cases."""
    samples = [rng.exponential(size=10) for _ in range(300)]
    ours = held([mean_interval(s) for s in samples], 1.0)
    means = [s[rng.integers(len(s), size=(500, len(s)))].mean(axis=1) for s in samples]
    plain = held(
        [Interval(len(s), 0.0, *np.quantile(m, [0.025, 0.975])) for s, m in zip(samples, means, strict=True)], 1.0
    )
    assert plain < 0.90
    assert 0.91 < ours < 0.985


def test_groups_are_drawn_whole(rng):
    """Four values of each of 12 groups that are alike: one by one, intervals are far too narrow."""
    alone, together = [], []
    groups = [g for g in range(12) for _ in range(4)]
    for _ in range(200):
        values = np.repeat(rng.normal(size=12), 4) + 0.3 * rng.normal(size=48)
        alone.append(mean_interval(values))
        together.append(mean_interval(values, groups))
    assert held(alone, 0.0) < 0.8
    assert 0.90 < held(together, 0.0) < 0.99


def test_every_value_a_group_of_its_own_is_no_group(rng):
    values = rng.normal(size=30)
    assert mean_interval(values) == mean_interval(values, list(range(30)))
    assert mean_interval(values) == mean_interval(values, ["one"] * 30)  # who is alone says nothing of others
    assert mean_interval([0.3]) == Interval(1, 0.3, 0.3, 0.3)


def test_the_error_is_that_of_leaving_out_each_group(rng):
    groups = rng.integers(8, size=40)
    values = rng.normal(size=40) + groups
    without = np.array([values[groups != g].mean() for g in range(8)])
    assert _estimate(values, groups.tolist()).error == pytest.approx(
        math.sqrt(7 / 8 * ((without - values.mean()) ** 2).sum())
    )


def test_halls_transformation_is_turned_round(rng):
    """An end of the interval is where the transformed statistic has Student's quantile."""
    values = rng.exponential(size=30)
    found = mean_interval(values)
    own = _estimate(values, None)
    k = stats.skew(values) / math.sqrt(30)
    for end, quantile in ((found.low, stats.t.ppf(0.975, 29)), (found.high, stats.t.ppf(0.025, 29))):
        t = (own.mean - end) / own.error
        assert t + k * (t * t / 3 + 1 / 6) + k * k * t**3 / 27 == pytest.approx(quantile)


@pytest.mark.parametrize("kept", [0, 3, 20])
def test_yes_and_no_stay_within_zero_and_one(kept):
    """Each by somebody else it is Wilson's interval but for Student's quantile."""
    values = np.arange(20) < kept
    found = mean_interval(values, within=(0.0, 1.0))
    z = stats.t.ppf(0.975, 2 * 19)
    n = 20 if kept in (0, 20) else 19  # the error is that of a sample
    p = kept / 20
    middle, half = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n**2)
    ends = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    assert (found.low, found.high) == pytest.approx(ends)
    assert 0 <= found.low < found.high <= 1


def test_the_interval_holds_zero_where_p_is_above_one_in_twenty(rng):
    for _ in range(200):
        groups = rng.integers(6, size=20).tolist()
        [found] = compare_scores({"a": rng.normal(0.4, 1, 20), "b": np.zeros(20)}, [("a", "b")], groups=groups)
        assert (found.low <= 0 <= found.high) == (found.p >= 0.05)


@pytest.mark.parametrize("cell", coverage.CELLS, ids=str)
def test_intervals_hold_the_truth_as_often_as_they_say(cell):
    """The table of docs/honesty.md with fewer runs: 92 to 97 %, give or take what 300 runs can tell."""
    share = coverage.hold(cell, creators=10, dominant=True, runs=300)
    assert 0.88 <= share <= 0.995
    assert 0.9 <= coverage.hold(cell, creators=20, dominant=False, runs=300) <= 0.99


def test_p_values_of_nothing_are_uniform_over_creators():
    p = coverage.null_p_values(creators=20, dominant=False, runs=300)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    alone = coverage.null_p_values(creators=20, dominant=False, runs=300, grouped=False)
    assert (alone < 0.05).mean() > 0.15  # who takes each collection for somebody else's finds what is not there


@pytest.mark.slow
@pytest.mark.parametrize("creators", coverage.CREATORS)
def test_p_values_of_nothing_are_uniform_where_one_creator_has_half_of_all(creators):
    """Student's have a KS distance of 0.10 to 0.29 here, of ten creators and more."""
    p = coverage.null_p_values(creators=creators, dominant=True, runs=600)
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_p_by_sizes_is_what_simulation_counts(rng):
    """Imhof's integral against drawn sums of groups of sizes 40, 8, 8, 3, 1; of one size it is Student's."""
    sizes, within, between = np.array([40.0, 8, 8, 3, 1]), 0.7, 0.3
    null = intervals._Null(
        np.array([1.0, 3, 8, 40]), np.array([1.0, 1, 2, 1]), np.array([1.0, 3, 8, 40]) ** 2 * between
        + np.array([1.0, 3, 8, 40]) * within
    )  # fmt: skip
    sums = rng.normal(size=(100_000, 5)) * np.sqrt(sizes**2 * between + sizes * within)
    mean = sums.sum(axis=1) / 60
    moved = (sums - mean[:, np.newaxis] * sizes) / (60 - sizes)
    t = np.abs(mean) / np.sqrt((moved**2).sum(axis=1) * 4 / 5)
    for at in (0.5, 1.0, 2.0, 5.0, 12.0):
        assert null.p(at) == pytest.approx((t > at).mean(), abs=0.006)
    assert null.p(null.quantile) == pytest.approx(0.05)
    for groups in (3, 12, 200):
        nearly = intervals._Null(np.array([8.0, 8 + 1e-9]), np.array([1.0, groups - 1]), np.array([8.0, 8.0]))
        assert [nearly.p(t) for t in (0.3, 2.0, 4.0)] == pytest.approx(
            [2 * stats.t.sf(t, groups - 1) for t in (0.3, 2.0, 4.0)]
        )


@pytest.mark.parametrize("n", [2, 3, 4])
def test_below_five_groups_it_is_students(rng, n):
    values = rng.normal(size=n)
    found = mean_interval(values)
    low, high = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high))


def p_value(differences, groups=None):
    """Of a paired test of differences against zero."""
    return compare_scores({"a": differences, "b": np.zeros(len(differences))}, [("a", "b")], groups=groups)[0].p


def test_paired_tests_over_groups(rng):
    """Groups of one are the plain test; groups that are alike make it less sure, and right."""
    a, b = rng.normal(0.3, 1, 20), rng.normal(size=20)
    assert p_value(a - b, list(range(20))) == pytest.approx(p_value(a - b))
    groups = [g for g in range(10) for _ in range(5)]
    false = {"plain": 0, "grouped": 0}
    for _ in range(200):
        scores = np.repeat(rng.normal(size=10), 5) + 0.2 * rng.normal(size=50)
        false["plain"] += p_value(scores) < 0.05
        false["grouped"] += p_value(scores, groups) < 0.05
    assert false["plain"] > 60
    assert false["grouped"] < 22
    [told] = compare_scores({"a": scores, "b": np.zeros(50)}, [("a", "b")], groups=groups)
    [narrow] = compare_scores({"a": scores, "b": np.zeros(50)}, [("a", "b")])
    assert told.high - told.low > 1.3 * (narrow.high - narrow.low)


@pytest.mark.parametrize("name", sorted(known_truth.FAMILIES))
@pytest.mark.parametrize(("n", "sequences"), [(3, 32), (6, 2)])
def test_known_truths_are_held(name, n, sequences):
    found = known_truth.coverage(known_truth.FAMILIES[name](n), sequences, collections=20, runs=60, seed=1)
    assert found.mean == pytest.approx(found.truth, abs=4 * found.width / math.sqrt(60))
    assert found.share > 0.86


def test_the_true_value_of_a_family_by_counting():
    """First item only, N = 2: the truth is a sum over the items that open."""
    family, n = known_truth.first_item_only(4), 4
    worth = 2.0 * known_truth._quantiles(n)
    chance = np.exp(worth) / np.exp(worth).sum()
    exact = sum(chance[i] * np.log2(2 / (1 + np.exp(worth[j] - worth[i]))) / n for i in range(n) for j in range(n))
    assert known_truth.true_bits(family, 2, np.random.default_rng(0)) == pytest.approx(exact, abs=0.02)


def test_nothing_that_is_told_passes_its_ceiling():
    """A perfect scorer of three items: samples pass log2 3! by chance."""
    sure = [information_of(lambda s: 50 * s[:, :, 0] @ np.arange(3), [np.arange(3.0)] * 4, seed=k) for k in range(40)]
    assert all(info.high <= info.ceiling and info.bits <= info.ceiling for info in sure)
    assert any(info.bits == info.ceiling for info in sure)
    assert all(each.bits <= each.ceiling for info in sure for each in info.per_length.values())


def model(training) -> Model:
    config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": [{"kind": "arcs", "k": 1, "knots": 2}]}
    rise = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
    return Model(config, rise, Transform(("x",), (), [0.0], [1.0]), training=training)


def made(count: int, artists: int) -> list[Collection]:
    rng = np.random.default_rng(count)
    return [
        Collection(str(i), [Item(str(j), artist=f"a{i % artists}") for j in range(6)], rng.normal(size=(6, 1)), ["x"])
        for i in range(count)
    ]


def test_information_is_over_those_who_made_the_collections():
    some = made(60, artists=6)
    info = mutual_information(model({}), some)
    assert (info.collections, info.groups, info.seen) == (60, 6, None)


def test_measuring_on_what_was_trained_on_is_said_loudly():
    from fabula.core.fingerprints import Fingerprints

    some = made(30, artists=30)
    known = model({"seen": Fingerprints.of(some[:10], ["x"]).to_dict()})
    with pytest.warns(SeenWarning, match="10 of 30 collections were trained on"):
        info = mutual_information(known, some)
    assert info.seen == 10
    assert mutual_information(known, some[10:]).seen == 0
