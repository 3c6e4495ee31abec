"""Few items: equal to brute force in every criterion, whatever the mix; one result, whatever holds already."""

from __future__ import annotations

import time

import numpy as np
import pytest

from fabula.core.fit import fit
from fabula.core.solver import Constraints, Goal, arrange, dp
from fabula.core.template import Template
from fabula.errors import ConflictError, InputError

from .cases import kept_wishes, random_case
from .reference import brute_force, candidates, side_loads, value

HILL = Template([0, 0.4, 1], [-1, 1.5, -1])


def compare(seed, most):
    try:
        goal, flow, kept = random_case(seed, most)
    except ConflictError:
        return
    best = brute_force(goal, flow, kept)
    if best is None:
        with pytest.raises(InputError):
            arrange(goal, constraints=kept, flow=flow)
        return
    found = arrange(goal, constraints=kept, flow=flow)
    assert found.exact
    assert found.gap == 0.0
    assert kept.broken(found.ordering, found.sides) == []
    sizes = found.sides or (len(found.ordering),)
    assert value(goal, flow, kept, found.ordering, sizes) == pytest.approx(best, abs=1e-8)
    assert found.objective == pytest.approx(best[-1], abs=1e-8)
    assert sorted([*found.ordering, *found.left_out]) == list(range(kept.n))


@pytest.mark.parametrize("first", range(3))
def test_few_items_are_arranged_as_by_brute_force(first):
    for seed in range(first, 90, 3):
        compare(seed, 6)


def test_bounds_leave_the_best_of_few_items(monkeypatch):
    monkeypatch.setattr(dp, "_FEWEST_BOUNDED", 2)
    for seed in range(0, 400, 8):
        compare(seed, 6)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_leave_the_same_ordering_as_the_whole_programme(seed, monkeypatch):
    rng, n = np.random.default_rng(seed), 12
    costs = [rng.integers(0, 4, size=(n, n)) * 1.0, rng.normal(size=(n, n)) + 50 * rng.normal(size=(n, 1))][seed % 2]
    flow = [rng.integers(0, 3, size=(n, n)) * 1.0, rng.normal(size=(n, n))][seed // 2 % 2]  # with ties, and without
    kept = [
        Constraints(n),
        Constraints(n, fixed={0: 3, -1: 5}, forbidden=[(2, 4)], before=[(1, 2), (2, 7)]),
        Constraints(n, apart=rng.integers(0, 3, size=n), apart_soft=True),
    ][seed % 3]
    found = []
    for fewest in (12, 13):
        monkeypatch.setattr(dp, "_FEWEST_BOUNDED", fewest)
        found.append(arrange(Goal.table(costs), constraints=kept, flow=flow))
    assert found[0].ordering.tolist() == found[1].ordering.tolist()
    assert found[0].objective == found[1].objective


@pytest.mark.slow
def test_many_more_cases_are_arranged_as_by_brute_force():
    for seed in range(90, 975):
        compare(seed, 6)
    for seed in range(975, 1000):
        compare(seed, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120))
def test_a_wish_that_holds_already_changes_nothing(seed):
    try:
        goal, flow, kept = random_case(seed, 8)
        found = arrange(goal, constraints=kept, flow=flow)
    except InputError:
        return
    for name, options in kept_wishes(kept, found, np.random.default_rng(seed)):
        again = arrange(goal, constraints=Constraints(kept.n, **options), flow=flow)
        assert (again.ordering.tolist(), again.sides) == (found.ordering.tolist(), found.sides), name


@pytest.mark.parametrize("seed", range(24))
def test_the_order_in_which_items_are_listed_has_no_say(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    rows = rng.normal(size=n)
    template = Template([0, 0.5, 1], rng.normal(size=3).round(1))
    flow = rng.random((n, n)) if seed % 2 else None
    lengths = rng.integers(1, 4, size=n) * 1.0
    shuffle = rng.permutation(n)
    options = {"sides": 1 + seed % 3 if n > 3 else 1}
    one = arrange(Goal.template(rows, template), flow=flow, constraints=Constraints(n, lengths=lengths, **options))
    other = arrange(
        Goal.template(rows[shuffle], template),
        flow=None if flow is None else flow[np.ix_(shuffle, shuffle)],
        constraints=Constraints(n, lengths=lengths[shuffle], **options),
    )
    assert shuffle[other.ordering].tolist() == one.ordering.tolist()
    assert other.sides == one.sides


@pytest.mark.parametrize("seed", range(36))
def test_without_wishes_and_with_fixed_items_it_is_the_fit(seed):
    """The dynamic programme pairs values and targets as the sort does, ties included."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    rows = rng.normal(size=n).round(seed % 3)
    template = Template([0, 0.5, 1], [0, 1, 0]) if seed % 2 else Template([0, 0.3, 1], rng.normal(size=3))
    fixed = {0: int(rng.integers(n))} if seed % 3 else {}
    sorted_fit = fit(rows, template, fixed=fixed, ties="given")
    found = arrange(Goal.template(rows, template), constraints=Constraints(n, fixed=fixed))
    assert found.ordering.tolist() == sorted_fit.ordering.tolist()
    order = sorted_fit.ordering.tolist()
    held = Constraints(n, fixed=fixed, before=[(order[0], order[-1])])
    assert arrange(Goal.template(rows, template), constraints=held).ordering.tolist() == order


@pytest.mark.slow
def test_a_million_items_without_wishes_are_sorted():
    rows = np.random.default_rng(0).normal(size=1_000_000)
    start = time.process_time()
    found = arrange(Goal.template(rows, HILL), constraints=Constraints(1_000_000, fixed={-1: 3}))
    assert time.process_time() - start < 20
    assert found.exact
    assert found.ordering[-1] == 3


@pytest.mark.parametrize("seed", range(7))
def test_sides_with_pins_are_the_best_there_are(seed):
    """Eight tracks on two sides with an opener, a close, a run and a pair."""
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(8).tolist()
    kept = Constraints(
        8,
        fixed={0: hidden[0], -1: hidden[-1]},
        together=[hidden[2:4]],
        before=[(hidden[1], hidden[5])],
        sides=2,
        lengths=rng.uniform(150, 330, size=8),
    )
    goal = Goal.template(rng.normal(size=8), HILL)
    best = brute_force(goal, None, kept)
    if best is None:
        with pytest.raises(ConflictError):
            arrange(goal, constraints=kept)
        return
    found = arrange(goal, constraints=kept)
    assert (found.worst, found.objective) == pytest.approx(best[1:])


@pytest.mark.parametrize("n", [13, 14, 15, 16])
def test_two_sides_of_an_album_are_as_even_as_they_are_asked_to_be(n):
    rng = np.random.default_rng(n)
    lengths = rng.uniform(150, 330, size=n)
    kept = Constraints(n, sides=2, lengths=lengths)
    essence = rng.normal(size=n)
    found = arrange(Goal.template(essence, HILL), constraints=kept)
    assert found.exact
    assert max(side_loads(kept, found.ordering, found.sides)) <= 1.15 * lengths.sum() / 2
    targets = np.concatenate([HILL.samples(size) for size in found.sides])  # each side follows the whole template
    np.testing.assert_allclose(found.deviations, np.abs(essence[found.ordering] - targets), atol=1e-6)


def test_sides_that_cannot_be_even_are_as_even_as_the_constraints_permit():
    kept = Constraints(5, together=[(0, 1, 2, 3)], sides=2)
    found = arrange(Goal.template(np.arange(5.0), HILL), constraints=kept)
    assert sorted(found.sides) == [1, 4]


def test_runs_count_as_one_item_for_the_exact_solution(rng):
    kept = Constraints(40, together=[list(range(20)), list(range(20, 40))], before=[(25, 5)])
    found = arrange(Goal.template(rng.normal(size=40), HILL), constraints=kept)
    assert found.ordering.tolist() == [*range(20, 40), *range(20)]
    assert found.exact


def test_a_limit_leaves_out_as_few_as_possible_and_what_fits_worst():
    goal = Goal.template([0.0, 0.5, 9.0, 1.0], Template([0, 1], [0, 1]))
    found = arrange(goal, constraints=Constraints(4, limit=3))
    assert found.ordering.tolist() == [0, 1, 3]
    assert found.left_out.tolist() == [2]
    kept = arrange(goal, constraints=Constraints(4, limit=3, before=[(2, 1)]))
    assert 2 in kept.ordering


def test_soft_apart_comes_before_every_other_criterion():
    labels = ["a", "a", "a", "b"]
    goal = Goal.template([0.0, 1.0, 2.0, 3.0], Template([0, 1], [0, 3]))
    with pytest.raises(ConflictError, match="apart"):
        arrange(goal, constraints=Constraints(4, apart=labels))
    found = arrange(goal, constraints=Constraints(4, apart=labels, apart_soft=True))
    assert found.violations == 1
    assert found.ordering.tolist() in ([0, 1, 3, 2], [0, 3, 1, 2])


def test_one_item_and_no_flow():
    assert arrange(Goal.template([0.5], HILL), flow=[[7.0]]).ordering.tolist() == [0]
    assert arrange(Goal.table(np.zeros((1, 1)))).worst is None


def test_the_reference_knows_the_even_sides():
    assert {tuple(sizes) for _, sizes in candidates(Constraints(4, sides=2))} == {(2, 2)}


@pytest.mark.slow
@pytest.mark.parametrize(("sides", "seconds"), [(1, 4), (2, 8), (3, 20), (4, 20)])
@pytest.mark.parametrize("flowing", [False, True])
def test_eighteen_items_take_seconds(sides, seconds, flowing):
    rng = np.random.default_rng(0)
    kept = Constraints(18, sides=sides, lengths=rng.uniform(120, 400, size=18), before=[(1, 7)], fixed={0: 3})
    start = time.process_time()
    found = arrange(
        Goal.template(rng.normal(size=18), HILL), constraints=kept, flow=rng.random((18, 18)) if flowing else None
    )
    assert found.exact
    assert time.process_time() - start < seconds
