"""Moves and swaps against orderings scored one by one; the few that help; the best that leaves most in place."""

from __future__ import annotations

from functools import partial
from itertools import combinations, permutations

import numpy as np
import pytest

from fabula.core.energy import Energy
from fabula.core.moves import (
    _search_near,
    arrange_near,
    best_moves,
    best_positions,
    longest_rising,
    move_gains,
)
from fabula.errors import InputError

KINDS = ("positions", "flow", "both", "reach", "all")


def energy_of(kind: str, n: int, rng: np.random.Generator) -> Energy:
    positions = rng.normal(size=(n, n)) if kind in ("positions", "both", "all") else None
    flow = rng.normal(size=(n, n)) if kind in ("flow", "both", "all") else None
    reach = rng.normal(size=(7, n, n)) if kind in ("reach", "all") else None
    return Energy(positions, flow, reach)


def moved(ordering: np.ndarray, at: int, to: int) -> np.ndarray:
    """By a list, as a person would."""
    rows = ordering.tolist()
    rows.insert(to, rows.pop(at))
    return np.array(rows)


def swapped(ordering: np.ndarray, at: int, to: int) -> np.ndarray:
    rows = ordering.tolist()
    rows[at], rows[to] = rows[to], rows[at]
    return np.array(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_every_move_and_swap_gains_what_scoring_it_says(kind, n, rng):
    energy, ordering = energy_of(kind, n, rng), rng.permutation(n)
    here = energy.score(ordering)
    for gains, change in ((move_gains, moved), (partial(move_gains, swap=True), swapped)):
        true = [[energy.score(change(ordering, p, q)) - here for q in range(n)] for p in range(n)]
        np.testing.assert_allclose(gains(energy, ordering), true, atol=1e-9)


@pytest.mark.parametrize("sides", [(3, 4), (1, 6), (6, 1), (2, 3, 2), (1, 1, 5), (7,)])
def test_sides_keep_their_sizes_and_nothing_counts_between_two(sides, rng):
    energy, ordering = energy_of("both", 7, rng), rng.permutation(7)
    here = energy.score(ordering, sides)
    for gains, change in ((move_gains, moved), (partial(move_gains, swap=True), swapped)):
        true = [[energy.score(change(ordering, p, q), sides) - here for q in range(7)] for p in range(7)]
        np.testing.assert_allclose(gains(energy, ordering, sides=sides), true, atol=1e-9)


def test_a_scorer_of_whole_sequences_is_asked(rng):
    weights = rng.normal(size=5)
    energy = Energy(whole=lambda rows: (rows @ weights) ** 2, shape=(5,))
    ordering = rng.permutation(5)
    found = move_gains(energy, ordering, np.array([2]))
    true = [energy.score(moved(ordering, 2, q)) - energy.score(ordering) for q in range(5)]
    np.testing.assert_allclose(found, [true], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_move_is_the_best_there_is_and_each_adds_what_it_says(kind, rng):
    energy, ordering = energy_of(kind, 8, rng), rng.permutation(8)
    found = best_moves(energy, ordering, most=3)
    pairs = [(p, q) for p in range(8) for q in range(8)]
    every = [energy.score(change(ordering, p, q)) for p, q in pairs for change in (moved, swapped)]
    assert found[0].gain == pytest.approx(max(every) - energy.score(ordering))
    here = ordering
    for move in found:
        there = move.apply(here)
        assert energy.score(there) - energy.score(here) == pytest.approx(move.gain)
        here = there
    assert sorted(here) == list(range(8))


def test_moves_end_where_nothing_gains_enough(rng):
    rising = Energy(np.outer(np.arange(6), np.arange(6)) * 1.0)
    assert best_moves(rising, np.arange(6)) == []
    one = best_moves(rising, moved(np.arange(6), 0, 5), most=5)
    assert [(move.at, move.to, move.swap) for move in one] == [(5, 0, False)]
    two = best_moves(rising, swapped(np.arange(6), 1, 4), most=5)
    assert [(move.at, move.to, move.gain, move.swap) for move in two] == [(1, 4, 9.0, True)]
    assert best_moves(rising, swapped(np.arange(6), 1, 4), least=9.5) == []


def test_a_move_is_as_sure_as_its_share_of_all_that_may_have_gone_wrong(rng):
    energy, ordering = energy_of("both", 5, rng), rng.permutation(5)
    here = energy.score(ordering)
    gains = [energy.score(moved(ordering, p, q)) - here for p in range(5) for q in range(5) if p != q]
    gains += [energy.score(swapped(ordering, p, q)) - here for p in range(5) for q in range(p + 2, 5)]
    best = best_moves(energy, ordering, most=1)[0]
    assert best.sure == pytest.approx(np.exp(max(gains)) / (len(gains) + np.exp(gains).sum()))


def test_no_item_is_moved_twice(rng):
    for _ in range(20):
        energy, here = energy_of("both", 6, rng), rng.permutation(6)
        items = []
        for move in best_moves(energy, here, most=6):
            items += here[[move.at, move.to] if move.swap else [move.at]].tolist()
            here = move.apply(here)
        assert len(items) == len(set(items))


def test_best_positions_are_those_of_the_largest_gain(rng):
    energy, ordering = energy_of("both", 9, rng), rng.permutation(9)
    gains, to = best_positions(energy, ordering)
    table = move_gains(energy, ordering)
    np.testing.assert_allclose(gains, table.max(axis=1))
    assert (table[np.arange(9), to] == table.max(axis=1)).all()


def common(one: np.ndarray, other: np.ndarray) -> int:
    """The longest common subsequence, by trying all."""
    for size in range(len(one), 0, -1):
        if {tuple(c) for c in combinations(one.tolist(), size)} & {
            tuple(c) for c in combinations(other.tolist(), size)
        }:
            return size
    return 0


def test_the_longest_rising_run_is_the_longest_common_subsequence(rng):
    rows = np.stack([rng.permutation(6) for _ in range(30)])
    assert longest_rising(rows).tolist() == [common(row, np.arange(6)) for row in rows]


@pytest.mark.parametrize("kind", ["both", "all"])
@pytest.mark.parametrize("share", [1.0, 0.8, 0.5, 0.0])
def test_the_best_order_that_leaves_most_in_place_is_that_of_brute_force(kind, share, rng):
    energy, given = energy_of(kind, 6, rng), rng.permutation(6)
    near = [order for order in map(np.array, permutations(range(6))) if common(order, given) >= share * 6 - 1e-9]
    best = max(energy.score(order) for order in near)
    assert energy.score(arrange_near(energy, given, share)) == pytest.approx(best)


@pytest.mark.slow
def test_the_search_of_longer_orders_mostly_finds_the_best_and_never_moves_more(rng):
    every = np.array(list(permutations(range(7))))
    rising = longest_rising(every)
    exact = 0
    for number in range(40):
        energy, given, spare = energy_of("both", 7, rng), rng.permutation(7), number % 3 + 1
        found = _search_near(energy, given, spare)
        assert common(found, given) >= 7 - spare
        best = energy.score(given[every[rising >= 7 - spare]]).max()
        assert energy.score(found) <= best + 1e-9
        exact += energy.score(found) == pytest.approx(best)
    assert exact >= 34


def test_long_orders_leave_most_in_place(rng):
    n = 200
    energy, given = energy_of("both", n, rng), rng.permutation(n)
    found = arrange_near(energy, given, 0.9)
    assert longest_rising(np.argsort(given)[found][np.newaxis])[0] >= 180
    assert energy.score(found) > energy.score(given) + 20
    with pytest.raises(InputError, match=r"from 0 to 1; got 1\.5"):
        arrange_near(energy, given, 1.5)
