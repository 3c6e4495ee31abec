from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fabula.errors import InputError
from fabula.evaluation.metrics import METRICS, Evaluation, evaluate, score_all, validate

orders = st.integers(2, 12).flatmap(lambda n: st.permutations(range(n)))


def plain_levenshtein(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            swap = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, swap)
    return int(table[-1, -1])


def plain_lcs(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            longer = table[i - 1, j - 1] + 1
            table[i, j] = longer if a[i - 1] == b[j - 1] else max(table[i - 1, j], table[i, j - 1])
    return int(table[-1, -1])


@given(orders)
def test_metrics_are_their_plain_references(order):
    n = len(order)
    truth = list(range(n))
    got = evaluate([order])
    assert got.edit == pytest.approx(1 / (1 + plain_levenshtein(order, truth)))
    assert got.lcs == pytest.approx(plain_lcs(order, truth) / n)
    assert got.spearman == pytest.approx(stats.spearmanr(order, truth).statistic)
    assert got.kendall == pytest.approx(stats.kendalltau(order, truth).statistic)
    assert got.neighbours == sum(order.index(i + 1) == order.index(i) + 1 for i in range(n - 1)) / (n - 1)
    assert got.position == sum(order[i] == i for i in range(n)) / n
    assert got.first == (order.index(0) == 0)
    assert got.last == (order.index(n - 1) == n - 1)
    assert got.perfect == (order == truth)


@pytest.mark.parametrize("n", [65, 200, 513])
def test_kendall_of_long_orderings(n):
    order = np.random.default_rng(n).permutation(n)
    turned = sum(order[a] > order[b] for a, b in combinations(range(n), 2))
    assert evaluate([order]).kendall == pytest.approx(1 - 4 * turned / (n * (n - 1)))


@given(st.integers(1, 30))
def test_the_true_ordering_is_perfect_in_every_metric(n):
    result = evaluate([list(range(n)), [0, 1]])
    assert all(result[name] == 1 for name in METRICS)
    assert result.n == 2


@given(orders)
def test_a_reversed_ordering_has_opposite_rank_correlations(order):
    one, two = evaluate([order]), evaluate([order[::-1]])
    assert one.spearman == pytest.approx(-two.spearman)
    assert one.kendall == pytest.approx(-two.kendall)


def test_means_are_over_the_orderings():
    result = evaluate([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
    assert result.first == pytest.approx(1 / 3)
    assert result.last == pytest.approx(2 / 3)
    assert result.kendall == pytest.approx((1 - 1 + 1 / 3) / 3)
    assert result.neighbours == pytest.approx(1 / 3)


def test_neighbours_turned_round_do_not_count():
    assert evaluate([[3, 2, 1, 0]]).neighbours == 0


def test_a_single_item_is_left_out_of_what_needs_pairs():
    result = evaluate([[0], [1, 0]])
    assert (result.spearman, result.kendall, result.neighbours) == (-1, -1, 0)
    assert (result.first, result.perfect, result.n) == (0.5, 0.5, 2)
    alone = evaluate([[0]])
    assert np.isnan([alone.spearman, alone.kendall, alone.neighbours]).all()
    assert alone.edit == 1


def test_by_name_and_as_a_dict():
    result = evaluate([[1, 0]])
    assert result["edit"] == result.edit
    assert dict(result) == {name: result[name] for name in (*METRICS, "n")}
    assert isinstance(result, Evaluation)
    with pytest.raises(KeyError):
        result["keys"]


def test_random_orderings_come_out_as_the_table_says():
    rng = np.random.default_rng(0)
    result = evaluate([rng.permutation(10) for _ in range(4000)])
    assert result.spearman == pytest.approx(0, abs=0.02)
    assert result.kendall == pytest.approx(0, abs=0.02)
    assert [result.first, result.last, result.neighbours, result.position] == pytest.approx([0.1] * 4, abs=0.015)


@pytest.mark.parametrize(
    ("orderings", "message"),
    [
        ([], "at least one ordering"),
        ([[0, 1], [0, 2]], "ordering 1: an ordering must hold each of 0..1 once"),
        ([[0.5]], "ordering 0: an ordering must be a list of item indices"),
        ([[]], "ordering 0: is empty"),
    ],
)
def test_refuses(orderings, message):
    with pytest.raises(InputError, match=message):
        validate(orderings)


@given(st.lists(st.one_of(st.none(), st.integers(1, 9), st.just(70)), max_size=8), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_many_are_scored_as_one_by_one(lengths, seed):
    rng = np.random.default_rng(seed)
    orderings = [None if n is None else rng.permutation(n) for n in lengths]
    found = score_all(orderings)
    for name, metric in METRICS.items():
        expected = [np.nan if order is None else metric(order) for order in orderings]
        np.testing.assert_array_equal(found[name], expected)  # to the last bit
