"""Many problems at once: the optimum by trying every ordering, and what ``arrange`` finds of each."""

from itertools import permutations

import numpy as np
import pytest

from fabula.core.fit import dual_prices
from fabula.core.solver import Goal, arrange, proof, solve
from fabula.core.solver.constraints import Constraints
from fabula.core.solver.proof import NEVER, Costs, assign, prove, raise_bounds
from fabula.core.solver.solve import arrange_many
from fabula.errors import InputError


def tables(rng, count, n, flow=1.0):
    return rng.normal(size=(count, n, n)), flow * rng.normal(size=(count, n, n))


def cost_of(places, flow, orderings):
    """What each of B orderings costs."""
    before, after = orderings[:, :-1], orderings[:, 1:]
    return np.array(
        [
            table[order, np.arange(len(order))].sum() + steps[one, other].sum()
            for table, steps, order, one, other in zip(places, flow, orderings, before, after, strict=True)
        ]
    )


def best_of_all(places, flow):
    every = np.array(list(permutations(range(places.shape[1]))))

    def least(one, steps):
        placed = one[every, np.arange(len(one))].sum(axis=1)
        return (placed + steps[every[:, :-1], every[:, 1:]].sum(axis=1)).min()

    return np.array([least(one, steps) for one, steps in zip(places, flow, strict=True)])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("flow", [0.0, 0.3, 3.0])
def test_none_of_all_orderings_is_cheaper(rng, n, flow):
    places, steps = tables(rng, 25, n, flow)
    found = arrange_many(places, steps)
    np.testing.assert_allclose(cost_of(places, steps, found.orderings), best_of_all(places, steps), atol=1e-9)
    assert (np.sort(found.orderings, axis=1) == np.arange(n)).all()
    assert found.exact.all()
    assert not found.gap.any()


@pytest.mark.parametrize("n", [8, 11])
def test_the_same_as_one_by_one(rng, n):
    places, steps = tables(rng, 6, n)
    found = arrange_many(places, steps)
    costs = cost_of(places, steps, found.orderings)
    for number in range(len(places)):
        one = arrange(Goal.table(places[number]), flow=steps[number])
        np.testing.assert_array_equal(found.orderings[number], one.ordering)
        assert costs[number] == pytest.approx(one.objective, abs=1e-9)


def test_without_flow_it_is_an_assignment(rng):
    places, _ = tables(rng, 9, 7)
    none, found = np.zeros_like(places), arrange_many(places)
    np.testing.assert_allclose(cost_of(places, none, found.orderings), best_of_all(places, none), atol=1e-9)


def test_what_an_item_costs_everywhere_leaves_as_few_ways_to_follow(rng, monkeypatch):
    places, steps = tables(rng, 30, 10, 0.3)
    ways, orderings, keep = [], [], proof._keep_cheapest
    for offsets in (0.0, 100 * rng.normal(size=(30, 10, 1))):
        counted = []
        monkeypatch.setattr(
            proof, "_keep_cheapest", lambda *given, to=counted: to.append(len(given[0].cost)) or keep(*given)
        )
        orderings.append(prove(places + offsets, steps)[0])
        ways.append(sum(counted))
    assert np.array_equal(*orderings)
    assert ways[1] < 1.5 * ways[0] + 100


def test_prices_explain_the_cheapest_assignment(rng):
    costs = rng.normal(size=(20, 7, 7)) + 10 * rng.normal(size=(20, 7, 1))
    columns, row, column = dual_prices(costs)
    left = costs - row[:, :, np.newaxis] - column[:, np.newaxis]
    assert left.min() > -1e-9
    np.testing.assert_allclose(np.take_along_axis(left, columns[:, :, np.newaxis], axis=2), 0.0, atol=1e-9)


def test_a_bound_is_never_above_the_best(rng):
    places, steps = tables(rng, 40, 6, 2.0)
    eye = np.eye(6, dtype=bool)
    costs = Costs(places.transpose(2, 1, 0), np.where(eye, NEVER, steps).transpose(1, 2, 0))
    least, _, _, upper = raise_bounds(costs, assign(places), np.zeros((6, 40)))
    best = best_of_all(places, steps)
    assert (least <= best + 1e-9).all()
    assert (upper >= best - 1e-9).all()
    assert ((upper - least) < 1e-9).mean() > 0.05  # some paths are orderings


def test_the_order_and_number_at_a_time_change_nothing(rng, monkeypatch):
    places, steps = tables(rng, 12, 7)
    whole = arrange_many(places, steps)
    monkeypatch.setattr(solve, "_TOGETHER", 100)
    mixed = rng.permutation(12)
    parts = arrange_many(places[mixed], steps[mixed])
    np.testing.assert_array_equal(parts.orderings, whole.orderings[mixed])


def test_where_too_many_ways_are_left_they_are_solved_one_by_one(rng, monkeypatch):
    places, steps = tables(rng, 5, 7, 3.0)
    monkeypatch.setattr(solve, "prove", lambda places, flow: prove(places, flow, (1,)))
    found = arrange_many(places, steps)
    np.testing.assert_allclose(cost_of(places, steps, found.orderings), best_of_all(places, steps), atol=1e-9)
    assert found.exact.all()


def test_items_that_nothing_tells_apart_keep_their_order():
    found = arrange_many(np.zeros((1, 6, 6)), np.full((1, 6, 6), 0.5))
    assert found.orderings.tolist() == [list(range(6))]
    places = np.zeros((1, 4, 4))
    places[0, 2, 3] = -1.0
    assert arrange_many(places).orderings.tolist() == [[0, 1, 3, 2]]


def test_items_that_flow_alone_tells_apart_are_not_exchanged():
    steps = np.zeros((1, 4, 4))
    steps[0, [2, 0, 3], [0, 3, 1]] = -1.0  # 2 0 3 1 is the best; every item has like numbers, in another order
    steps[0, 1, 2] = -1.0
    found = arrange_many(np.zeros((1, 4, 4)), steps)
    assert cost_of(np.zeros((1, 4, 4)), steps, found.orderings)[0] == -3.0


@pytest.mark.slow
def test_more_items_than_the_programme_over_all_subsets_takes(rng):
    n = 20
    places = (rng.random((3, n, 1)) * n - np.arange(n)) ** 2 / n
    steps = 0.2 * rng.random((3, n, n))
    found = arrange_many(places, steps)
    assert found.exact.all()
    costs = cost_of(places, steps, found.orderings)
    for number in range(3):
        one = arrange(Goal.table(places[number]), flow=steps[number], seconds=0.2)
        assert one.bound - 1e-9 <= costs[number] <= one.objective + 1e-9


@pytest.mark.parametrize(
    ("places", "flow", "words"),
    [
        (np.zeros((2, 3)), None, "shape"),
        (np.zeros((2, 3, 4)), None, "shape"),
        (np.zeros((2, 3, 3)), np.zeros((1, 3, 3)), "shape of the tables"),
        (np.full((1, 2, 2), np.nan), None, "finite"),
    ],
)
def test_tables_that_are_none_are_refused(places, flow, words):
    with pytest.raises(InputError, match=words):
        arrange_many(places, flow)


def test_without_constraints_the_best_of_more_items_is_proved_and_bounds_all_others():
    rng = np.random.default_rng(4)
    places, steps = (rng.random((22, 1)) * 22 - np.arange(22)) ** 2 / 22, 0.2 * rng.random((22, 22))
    goal = Goal.table(places)
    free = arrange(goal, flow=steps, seconds=0.3)
    assert free.exact
    assert free.objective == pytest.approx(
        float(cost_of(places[np.newaxis], steps[np.newaxis], free.ordering[np.newaxis])[0])
    )
    first, last = int(free.ordering[0]), int(free.ordering[-1])
    kept = arrange(goal, flow=steps, constraints=Constraints(22, fixed={0: first}), seconds=0.3)
    assert kept.exact
    assert kept.ordering.tolist() == free.ordering.tolist()
    turned = arrange(goal, flow=steps, constraints=Constraints(22, fixed={0: last}), seconds=0.3)
    assert turned.ordering[0] == last
    assert turned.objective >= turned.bound >= free.objective - 1e-9
