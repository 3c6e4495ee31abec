"""Arranging against brute force over all permutations, and what every arrangement keeps."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.core.arranging import conflicts
from fabula.core.arranging.bounds import coupling_bound, link_bound, path_bound, place_bound
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.construct import construct
from fabula.core.arranging.descent import descend
from fabula.core.arranging.moves import block_changes, here, moved, reversal_changes, swap_changes, swapped, turned
from fabula.core.arranging.problem import problem
from fabula.core.arranging.search import arrange, solve
from fabula.core.fit import fit
from fabula.core.template import Template
from fabula.errors import ConflictError, ConstraintError, InputError

KINDS = ("fixed", "forbidden", "together", "before", "apart")
HILL = Template([0, 0.4, 1], [-1, 1.5, -1])


def random_options(rng, n, kinds, *, hidden=None):
    """Some constraints of each kind; with ``hidden``, such that this ordering keeps them."""
    free = hidden is None
    order = rng.permutation(n) if free else hidden
    place = np.argsort(order)
    options = {}
    if "fixed" in kinds:
        options["fixed"] = {int(p): int(order[p]) for p in rng.choice(n, size=max(1, n // 6), replace=False)}
    if "forbidden" in kinds:
        pairs = rng.integers(0, n, size=(2 * n, 2)).tolist()
        options["forbidden"] = [(i, p) for i, p in pairs if free or place[i] != p]
    if "together" in kinds:
        fresh = rng.permutation(n) if free else order
        at = int(rng.integers(0, n - 1))
        options["together"] = [fresh[at : at + int(rng.integers(2, 4))].tolist()]
    if "before" in kinds:
        pairs = [sorted(rng.choice(n, size=2, replace=False).tolist()) for _ in range(max(2, n // 3))]
        fresh = rng.permutation(n) if free else order
        options["before"] = [(int(fresh[a]), int(fresh[b])) for a, b in pairs]
    if "apart" in kinds:
        labels = rng.integers(-1, max(2, n // 3), size=n)
        for a, b in pairwise(order):
            if not free and labels[a] == labels[b]:
                labels[b] = -1
        options["apart"] = labels
    return options


@cache
def all_orderings(n):
    orders = np.array(list(permutations(range(n))))
    return orders, np.argsort(orders, axis=1)


def brute_force(posed_cost, weights, constraints):
    """The smallest objective over all permutations that keep the constraints; None when there is none."""
    n = constraints.n
    orders, place = all_orderings(n)
    keep = np.ones(len(orders), dtype=bool)
    for position, item in constraints.fixed.items():
        keep &= orders[:, position] == item
    for item, position in constraints.forbidden:
        keep &= orders[:, position] != item
    for run in constraints.together:
        for a, b in pairwise(run):
            keep &= place[:, b] == place[:, a] + 1
    for a, b in constraints.before:
        keep &= place[:, a] < place[:, b]
    if constraints.apart is not None:
        labels = constraints.apart[orders]
        keep &= ~((labels[:, 1:] == labels[:, :-1]) & (labels[:, 1:] >= 0)).any(axis=1)
    if not keep.any():
        return None
    orders = orders[keep]
    value = posed_cost[orders, np.arange(n)].sum(axis=1) + weights[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return float(value.min())


@pytest.mark.parametrize("smoothness", [0.0, 0.7, -0.7])
@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS, ("together", "before", "apart"), ()])
def test_few_items_are_arranged_as_by_brute_force(kinds, smoothness, rng):
    for _ in range(14):  # 336 cases in all
        n = int(rng.integers(2, 9))
        rows = rng.normal(size=(n, 2)) if rng.random() < 0.3 else rng.normal(size=(n, 1)).round(1)
        template = Template([0, 0.4, 1], rng.normal(size=(3, rows.shape[1])))
        transitions = rng.random((n, n))
        constraints = Constraints(n, **random_options(rng, n, kinds, hidden=rng.permutation(n) if n % 2 else None))
        goals = template.samples(n).reshape(n, -1)
        cost = np.linalg.norm(rows[:, np.newaxis] - goals, axis=2)
        best = brute_force(cost, smoothness * transitions, constraints)
        options = {"constraints": constraints, "transitions": transitions, "smoothness": smoothness}
        if best is None:
            with pytest.raises(InputError, match=r"cannot all hold|is fixed at"):
                arrange(rows, template, **options)
            continue
        found = arrange(rows, template, **options)
        assert found.fit.exact
        assert constraints.broken(found.ordering) == []
        if smoothness == 0.0 and constraints.places_only:  # the exact fit: the largest deviation comes first
            exact = fit(rows, template, fixed=constraints.fixed, forbidden=constraints.forbidden)
            assert (found.fit.worst, found.fit.mean) == pytest.approx((exact.worst, exact.mean))
            assert found.bound == pytest.approx(best)
        else:
            assert found.objective == pytest.approx(best, abs=1e-9)
            assert found.bound == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("smoothness", [0.0, 0.5, -0.5])
def test_bounds_stay_below_the_best_ordering(smoothness, rng):
    for _ in range(25):
        n = int(rng.integers(3, 8))
        cost, weights = rng.random((n, n)), smoothness * rng.random((n, n))
        constraints = Constraints(n, **random_options(rng, n, KINDS, hidden=rng.permutation(n)))
        best = brute_force(cost, weights, constraints)
        posed = problem(cost, weights, constraints)
        floor, wish = place_bound(posed.cost)
        assert floor + coupling_bound(posed, wish) + link_bound(posed.link) <= best + 1e-9
        assert path_bound(posed, wish, best, rounds=40) <= best + 1e-9


def test_steps_change_the_objective_by_what_they_say(rng):
    for trial in range(60):
        n = int(rng.integers(4, 9))
        ordering = rng.permutation(n)
        options = random_options(rng, n, KINDS if trial % 2 else KINDS[2:], hidden=ordering)
        posed = problem(rng.random((n, n)), rng.normal(size=(n, n)), Constraints(n, **options))
        at = here(posed, ordering)
        kinds = [(swap_changes(at), swapped), (reversal_changes(at), turned)]
        kinds += [(block_changes(at, b), lambda o, i, j, b=b: moved(o, i, j, b)) for b in (1, 2, 3)]
        for change, step in kinds:
            for i, j in np.argwhere(np.isfinite(change)):
                reached = step(ordering, i, j)
                assert posed.in_order(np.argsort(reached))
                assert posed.value(reached) - posed.value(ordering) == pytest.approx(change[i, j], abs=1e-9)
        for i in range(n):  # and what is called impossible is
            for j in range(i + 1, n):
                if np.isinf(swap_changes(at)[i, j]):
                    reached = swapped(ordering, i, j)
                    assert not posed.in_order(np.argsort(reached)) or np.isinf(posed.value(reached))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(19, 60), seed=st.integers(0, 10**6), kinds=st.sets(st.sampled_from(KINDS), min_size=1))
def test_an_ordering_is_found_where_there_is_one(n, seed, kinds):
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(n)
    constraints = Constraints(n, **random_options(rng, n, kinds, hidden=hidden))
    conflicts.check(constraints)
    posed = problem(rng.random((n, n)), rng.random((n, n)), constraints)
    found = construct(posed, place_bound(posed.cost)[1], rng)
    assert found is not None
    assert constraints.broken(found) == []


@settings(max_examples=12, deadline=None)
@given(n=st.integers(19, 40), seed=st.integers(0, 10**6), smoothness=st.sampled_from([0.0, 0.4, -0.4]))
def test_a_search_keeps_every_constraint(n, seed, smoothness):
    rng = np.random.default_rng(seed)
    constraints = Constraints(n, **random_options(rng, n, KINDS, hidden=rng.permutation(n)))
    essence, transitions = rng.normal(size=n), rng.random((n, n))
    found = arrange(essence, HILL, constraints=constraints, transitions=transitions, smoothness=smoothness, seconds=0.4)
    assert sorted(found.ordering) == list(range(n))
    assert constraints.broken(found.ordering) == []
    deviation = np.abs(essence[found.ordering] - HILL.samples(n)).sum()
    walk = transitions[found.ordering[:-1], found.ordering[1:]].sum()
    assert found.objective == pytest.approx(deviation + smoothness * walk)
    assert found.bound <= found.objective
    assert found.gap == pytest.approx(found.objective - found.bound)


def test_the_search_nearly_finds_what_dynamic_programming_finds(rng, monkeypatch):
    for _ in range(4):
        n = 12
        constraints = Constraints(n, **random_options(rng, n, KINDS, hidden=rng.permutation(n)))
        posed = problem(rng.random((n, n)), 0.5 * rng.random((n, n)), constraints)
        best, value = solve(posed, seed=0, seconds=9.0)
        with monkeypatch.context() as patch:
            patch.setattr("fabula.core.arranging.search.MOST_ITEMS", 0)
            found, bound = solve(posed, seed=0, seconds=9.0)
        assert constraints.broken(found) == constraints.broken(best) == []
        assert value <= posed.value(found) + 1e-12
        assert posed.value(found) <= 1.05 * value
        assert bound <= value + 1e-9


def test_descent_never_ends_worse_and_ends_where_no_swap_helps(rng):
    posed = problem(rng.random((30, 30)), rng.random((30, 30)), Constraints(30))
    start = rng.permutation(30)
    end = descend(posed, start)
    assert posed.value(end) < posed.value(start)
    assert swap_changes(here(posed, end)).min() >= -1e-9


def test_the_same_arguments_give_the_same_ordering(rng):
    essence, transitions = rng.normal(size=30), rng.random((30, 30))
    options = {"transitions": transitions, "smoothness": 0.5, "seconds": 60.0}
    first, second, other = (arrange(essence, HILL, seed=seed, **options) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.ordering, second.ordering)
    assert other.objective == pytest.approx(first.objective, rel=0.1)


def test_smoothness_smooths_and_contrast_contrasts(rng):
    essence, colour = rng.normal(size=40), rng.random(40)
    transitions = np.abs(colour - colour[:, np.newaxis])

    def walk(smoothness):
        order = arrange(essence, HILL, transitions=transitions, smoothness=smoothness).ordering
        return transitions[order[:-1], order[1:]].mean()

    assert walk(2.0) < 0.5 * walk(0.0) < walk(0.0) < walk(-2.0)


def test_places_alone_are_left_to_the_fit(rng):
    essence = rng.normal(size=(9, 2))
    template = Template([0, 1], [[0, 1], [1, 0]])
    kept = Constraints(9, fixed={0: 4}, forbidden=[(3, 8)])
    found = arrange(essence, template, constraints=kept)
    np.testing.assert_array_equal(found.ordering, fit(essence, template, fixed={0: 4}, forbidden=[(3, 8)]).ordering)
    assert found.fit.exact
    assert found.bound <= found.objective


def test_long_runs_are_few_units(rng):
    kept = Constraints(20, together=[list(range(10)), list(range(10, 20))], before=[(15, 5)])
    found = arrange(rng.normal(size=20), HILL, constraints=kept)
    assert found.ordering.tolist() == [*range(10, 20), *range(10)]


def test_one_item():
    assert arrange([0.5], HILL, transitions=[[0.0]], smoothness=1.0).ordering.tolist() == [0]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"transitions": np.ones((2, 3)), "smoothness": 1.0}, r"shape \(3, 3\)"),
        ({"transitions": -np.ones((3, 3)), "smoothness": 1.0}, "not negative; got -1.0 from item 0 to item 0"),
        ({"transitions": np.full((3, 3), "x"), "smoothness": 1.0}, "must be numbers"),
        ({"smoothness": 1.0}, "needs transitions"),
        ({"smoothness": np.nan}, "finite"),
        ({"constraints": Constraints(4)}, "for 4 items; got 3"),
    ],
)
def test_malformed_arguments_are_told(options, match):
    with pytest.raises(InputError, match=match):
        arrange([0.0, 1.0, 2.0], HILL, **options)


def test_what_only_the_search_finds_contradictory_is_told_by_name():
    # items 0 and 1 are left two places, which are neighbours
    kept = Constraints(
        6, forbidden=[(0, p) for p in (0, 1, 4, 5)] + [(1, p) for p in (0, 1, 4, 5)], apart=[0, 0, 1, 2, 3, 4]
    )
    assert not conflicts.contradictory(kept)
    with pytest.raises(ConflictError, match="item 0, item 1 apart") as caught:
        arrange(np.arange(6.0), HILL, constraints=kept)
    assert set(caught.value.options) == {"forbidden", "apart"}
    assert set(caught.value.items) == {0, 1}


def test_places_that_run_short_are_told():
    kept = Constraints(20, forbidden=[(item, place) for item in (3, 4) for place in range(1, 20)])
    with pytest.raises(ConstraintError, match="items 3, 4 may take only position"):
        arrange(np.arange(20.0), HILL, constraints=kept)


def test_an_ordering_that_was_not_found_is_told():
    places = [p for p in range(30) if p not in (5, 6)]
    kept = Constraints(30, forbidden=[(item, p) for item in (0, 1) for p in places], apart=[0, 0, *range(1, 29)])
    with pytest.raises(ConflictError, match=r"no ordering was found .*item 0, item 1 apart") as caught:
        arrange(np.arange(30.0), HILL, constraints=kept)
    assert caught.value.options == ("forbidden", "apart")
