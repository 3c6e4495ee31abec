"""The exact fit against brute force over all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from fabula.core.arrays import normalise, quantise
from fabula.core.fit import fit, lay, match_assignment
from fabula.core.template import PAPER_KNOTS, Template
from fabula.errors import ConstraintError, InputError
from fabula.evaluation.metrics import evaluate


def brute_force(rows, goals, fixed, forbidden):
    """Smallest (worst, mean) over all permutations that keep the constraints; None when there is none."""
    n = len(rows)
    pinned = {position % n: item for position, item in fixed.items()}
    banned = {(item, position % n) for item, position in forbidden}
    orders = np.array(list(permutations(range(n))))
    keep = np.ones(len(orders), dtype=bool)
    for position, item in pinned.items():
        keep &= orders[:, position] == item
    for item, position in banned:
        keep &= orders[:, position] != item
    if not keep.any():
        return None
    deviations = np.sqrt(((rows[orders[keep]] - goals) ** 2).sum(axis=-1))
    worst = deviations.max(axis=1)
    tied = worst <= worst.min() + 1e-12
    return worst.min(), deviations[tied].mean(axis=1).min()


def random_case(rng, d, *, fixed, forbidden):
    n = int(rng.integers(1, 8 if d == 1 else 7))
    rows = rng.normal(size=(n, d))
    if rng.random() < 0.4:
        rows = rows.round(0)  # ties
    curve = Template([0, 0.3, 0.6, 1], rng.normal(size=(4, d)))
    pins = {}
    if fixed:
        places = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        items = rng.permutation(n)[: len(places)]
        pins = {int(p) - (n if rng.random() < 0.5 else 0): int(i) for p, i in zip(places, items, strict=True)}
    bans = [(int(i), int(p)) for i, p in rng.integers(0, n, size=(int(rng.integers(1, 2 * n + 1)), 2))]
    return rows, curve, pins, bans if forbidden else []


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("fixed", "forbidden"), [(False, False), (True, False), (False, True), (True, True)])
def test_fit_is_brute_force(d, fixed, forbidden, rng):
    for _ in range(100):  # 1,200 cases in all
        rows, curve, pins, bans = random_case(rng, d, fixed=fixed, forbidden=forbidden)
        best = brute_force(rows, curve.samples(len(rows)).reshape(len(rows), d), pins, bans)
        if best is None:
            with pytest.raises(InputError, match=r"cannot all hold|is fixed at position"):
                fit(rows, curve, fixed=pins, forbidden=bans)
            continue
        found = fit(rows, curve, fixed=pins, forbidden=bans)
        assert sorted(found.ordering) == list(range(len(rows)))
        assert all(found.ordering[place] == item for place, item in pins.items())
        assert not any(found.ordering[place] == item for item, place in bans)
        assert (found.worst, found.mean) == pytest.approx(best, abs=1e-12)
        assert found.exact


def test_sort_and_general_solver_agree(rng):
    for _ in range(200):
        n = int(rng.integers(1, 40))
        values, curve = rng.normal(size=n), Template(PAPER_KNOTS, rng.normal(size=7))
        quick = fit(values, curve)
        general = match_assignment(np.abs(values[:, np.newaxis] - curve.samples(n)))
        other = lay(values, general, curve)
        assert (quick.worst, quick.mean) == pytest.approx((other.worst, other.mean), abs=1e-12)


def test_slack_of_a_fixed_item_is_used_by_the_rest():
    """A fixed item far from its target sets the largest deviation; below it, only the mean counts."""
    rows = np.array([[9.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.9, 0.9]])
    curve = Template([0, 1], [[0.0, 0.0], [1.0, 0.2]])
    found = fit(rows, curve, fixed={0: 0})
    assert (found.worst, found.mean) == pytest.approx(brute_force(rows, curve.samples(4), {0: 0}, []))


numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
values_of_any_length = st.integers(1, 30).flatmap(lambda n: arrays(np.float64, n, elements=numbers))
curves = arrays(np.float64, 7, elements=st.floats(-3, 3)).map(lambda y: Template(PAPER_KNOTS, y))


@given(values_of_any_length, curves)
def test_a_fit_is_a_permutation(values, curve):
    assert sorted(fit(values, curve).ordering) == list(range(len(values)))


@given(
    arrays(np.float64, 12, elements=st.integers(-50, 50).map(float)), curves, st.floats(0.1, 50), st.floats(-100, 100)
)
def test_shift_and_scale_of_the_essence_change_nothing(values, curve, scale, shift):
    a = fit(normalise(values), curve)
    b = fit(normalise(values * scale + shift), curve)
    assert np.array_equal(values[a.ordering], values[b.ordering])
    assert (a.worst, a.mean) == pytest.approx((b.worst, b.mean), abs=1e-6)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=25, unique=True), curves)
def test_a_reversed_template_gives_a_reversed_fit(values, curve):
    n = len(values)
    if len(np.unique(curve.samples(n).round(9))) == n:
        assert np.array_equal(fit(values, curve.reversed()).ordering, fit(values, curve).ordering[::-1])


@given(values_of_any_length, curves, st.randoms(use_true_random=False))
def test_the_given_order_has_no_say(values, curve, random):
    shuffle = list(range(len(values)))
    random.shuffle(shuffle)
    told = quantise(values)  # what differs by rounding alone is equal
    assert np.array_equal(told[fit(values, curve).ordering], told[shuffle][fit(values[shuffle], curve).ordering])


def test_the_given_order_has_no_say_in_the_general_solver(rng):
    for _ in range(100):
        n = int(rng.integers(2, 9))
        rows = rng.normal(size=(n, 2)).round(int(rng.integers(0, 2)))
        curve = Template([0, 0.5, 1], rng.normal(size=(3, 2)).round(1))
        shuffle = rng.permutation(n)
        assert np.array_equal(rows[fit(rows, curve).ordering], rows[shuffle][fit(rows[shuffle], curve).ordering])


def test_equal_items_keep_their_order_where_asked():
    fall = Template([0, 1], [1, -1])
    assert fit(np.zeros(5), fall, ties="given").ordering.tolist() == [0, 1, 2, 3, 4]
    assert fit([2, 1, 2, 1], fall, ties="given").ordering.tolist() == [0, 2, 1, 3]
    pairs = np.array([[2, 0], [1, 0], [2, 0], [1, 0]])
    assert fit(pairs, Template([0, 1], [[1, 0], [-1, 0]]), ties="given").ordering.tolist() == [0, 2, 1, 3]
    assert fit([2, 1, 2, 1], fall, forbidden=[(3, 0)], ties="given").ordering.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_ties_in_true_order_tell_nothing(rng, levels):
    """Noise of few levels, or of none, in true order: a rank correlation of 0.5 (or 1) where ties keep their order."""
    rise = Template([0, 1], [-1, 1])
    noise = [rng.integers(0, levels, 12).astype(float) for _ in range(300)]
    told, kept = (evaluate([fit(each, rise, ties=ties).ordering for each in noise]) for ties in ("random", "given"))
    assert kept.spearman > 0.3
    assert abs(told.spearman) < 0.06
    assert abs(told.kendall) < 0.1
    assert told.first < 0.2
    again = fit(noise[0], rise).ordering
    assert np.array_equal(again, fit(noise[0], rise).ordering)


def test_mixed_ties_keep_what_is_fixed_and_forbidden(rng):
    fall = Template([0, 1], [1, -1])
    for _ in range(50):
        n = int(rng.integers(3, 9))
        values = rng.integers(0, 2, n).astype(float)
        item, banned = int(rng.integers(n)), int(rng.integers(n))
        plain, mixed = (fit(values, fall, fixed={0: item}, ties=ties) for ties in ("given", "random"))
        assert mixed.ordering[0] == item
        assert (mixed.worst, round(mixed.mean, 12)) == (plain.worst, round(plain.mean, 12))
        free = fit(values, fall, forbidden=[(banned, 0)])
        assert free.ordering[0] != banned


def test_one_and_two_items():
    rise = Template([0, 1], [-1, 1])
    assert fit([3.0], rise).ordering.tolist() == [0]
    assert fit([3.0], rise).worst == 4.0
    assert fit([3.0, 1.0], rise).ordering.tolist() == [1, 0]
    assert fit([[3.0], [1.0]], rise).ordering.tolist() == [1, 0]


def test_all_forbidden_but_one_way(rng):
    """With every pair but one permutation forbidden, that permutation is the answer, n = 60."""
    n = 60
    order = rng.permutation(n)
    bans = [(item, place) for place in range(n) for item in range(n) if order[place] != item]
    assert np.array_equal(fit(rng.normal(size=n), Template([0, 1], [0, 1]), forbidden=bans).ordering, order)


RISE = Template([0, 1], [-1, 1])


@pytest.mark.parametrize(
    ("essence", "options", "message"),
    [
        ([], {}, "essence must have shape (n,) or (n, d) with n and d at least 1; got (0,)"),
        ([[]], {}, "essence must have shape (n,) or (n, d) with n and d at least 1; got (1, 0)"),
        (5.0, {}, "essence must have shape (n,) or (n, d) with n and d at least 1; got ()"),
        ([1, np.nan], {}, "essence must be finite; got nan for item 1"),
        ([np.inf, 1], {}, "essence must be finite; got inf for item 0"),
        (["a", "b"], {}, "essence must be numbers, one row per item; got ['a', 'b']"),
        ([[1, 2], [3]], {}, "essence must be numbers, one row per item; got [[1, 2], [3]]"),
        ([[1, 2], [3, 4]], {}, "essence has 2 dimension(s), template has 1: they must agree"),
        ([1, 2], {"fixed": {2: 0}}, "a position must lie in 0..1, or -2..-1 from the end; got 2"),
        ([1, 2], {"fixed": {-3: 0}}, "a position must lie in 0..1, or -2..-1 from the end; got -3"),
        ([1, 2], {"fixed": {0: 2}}, "an item must lie in 0..1; got 2"),
        ([1, 2], {"fixed": {0: -1}}, "an item must lie in 0..1; got -1"),
        ([1, 2], {"fixed": {0.5: 1}}, "a position must be a whole number; got 0.5"),
        ([1, 2], {"fixed": {0: "x"}}, "an item must be a whole number; got 'x'"),
        ([1, 2], {"fixed": {0: 1, 1: 1}}, "item 1 is fixed twice: at position 0 and position 1"),
        ([1, 2], {"fixed": {1: 0, -1: 1}}, "position 1 is fixed twice: for item 0 and item 1"),
        ([1, 2], {"fixed": {0: 1}, "forbidden": [(1, 0)]}, "item 1 is fixed at position 0 and forbidden there"),
        (
            [1, 2],
            {"forbidden": [(1, 0), (1, -1)]},
            "the constraints cannot all hold: item 1 may take no position at all",
        ),
        (
            [1, 2, 3],
            {"forbidden": [(0, 1), (0, 2), (2, 1), (2, 2)]},
            "the constraints cannot all hold: items 0, 2 may take only position(s) 0",
        ),
        (
            [1, 2, 3, 4],
            {"fixed": {0: 1}, "forbidden": [(0, 1), (0, 2), (2, 1), (2, 2)]},
            "the constraints cannot all hold: items 0, 2 may take only position(s) 3",
        ),
        ([1, 2], {"forbidden": [3]}, "forbidden must be pairs (item, position); got [3]"),
    ],
)
def test_bad_input(essence, options, message):
    with pytest.raises(InputError) as caught:
        fit(essence, RISE, **options)
    assert str(caught.value) == message


def test_a_shortage_names_items_and_places():
    with pytest.raises(ConstraintError) as caught:
        fit(np.arange(4.0), RISE, forbidden=[(i, p) for i in (0, 1, 3) for p in (2, 3)])
    assert (caught.value.items, caught.value.places) == ([0, 1, 3], [0, 1])


@pytest.mark.parametrize("offset", [0.0, 1e6, 1.7e12])
@pytest.mark.parametrize("ties", ["random", "given"])
def test_values_far_from_zero_are_told_apart(offset, ties):
    values, scale = np.array([90.0, 10.0, 50.0]), 1.0 if offset > 1e9 else 1e-5
    values = offset + values * scale
    rise = Template([0, 1], [values.min(), values.max()])
    found = fit(values, rise, ties=ties)
    assert found.ordering.tolist() == [1, 2, 0]
    assert found.worst == pytest.approx(0, abs=1e-3 * scale)


@pytest.mark.parametrize(
    "values", [[0.3, -1.0, 0.9, 0.1], [1.0, 1.0, 1.0, 0.0], [[0.3, 1.0], [-1.0, 0], [0.9, 0], [0.9, 0]]]
)
@pytest.mark.parametrize("item", range(4))
def test_the_item_that_may_stand_nowhere_is_named(values, item):
    template = Template([0, 0.5, 1], np.zeros((3, *np.shape(values)[1:])))
    with pytest.raises(InputError, match=f"item {item} may take no position at all"):
        fit(values, template, forbidden=[(item, position) for position in range(4)])


def test_what_is_no_pair_is_refused_in_a_line():
    for wrong in ([(0, 1, 2)], "ab", [3]):
        with pytest.raises(InputError, match="forbidden must be pairs"):
            fit([0.0, 1.0], Template([0, 1], [0, 1]), forbidden=wrong)
