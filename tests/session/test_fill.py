"""Filling a length, and sides as many as a limit takes."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from fabula.core.collection import Item
from fabula.errors import InputError
from fabula.session.request import fill_up
from fabula.session.session import session_of


def best_sum(lengths: np.ndarray, target: float, must: set[int]) -> float:
    """How near any choice comes, by trying all."""
    n = len(lengths)
    sums = [lengths[list(one)].sum() for k in range(1, n + 1) for one in combinations(range(n), k) if must <= set(one)]
    return float(min(abs(total - target) for total in sums))


@pytest.mark.parametrize("seed", range(12))
def test_no_choice_comes_nearer(seed):
    rng = np.random.default_rng(seed)
    lengths = np.round(rng.uniform(60, 400, 10), 2)
    must = {int(rng.integers(10))} if seed % 2 else set()
    target = float(rng.uniform(300, 1500))
    chosen = fill_up(lengths, target, [0, 1, 2], must)
    assert must <= set(chosen)
    nearest = best_sum(lengths, target, must)
    assert abs(lengths[chosen].sum() - target) <= max(0.5, nearest) + 0.05 * len(chosen)


def test_what_fits_best_goes_first():
    lengths = np.full(6, 100.0)
    assert fill_up(lengths, 300.0, [1, 3, 5]) == [1, 3, 5]


def made(lengths):
    items = [Item(str(k), f"T{k}", length=float(length)) for k, length in enumerate(lengths)]
    return session_of(items, np.arange(float(len(lengths))))


def test_a_crate_fills_a_length():
    ordered = made([100, 200, 310, 150, 90, 75]).order(fill=460, template="steady-rise")
    kept = [item.length for item in ordered.collection.items]
    assert sum(kept) == pytest.approx(460, abs=1)
    assert any("filled with" in note and "to the second" in note for note in ordered.notes)
    assert sorted([*ordered.ordering.tolist(), *ordered.left_out]) == list(range(6))
    held = made([100, 200, 310, 150, 90, 75]).order(fill=460, first="T5", template="steady-rise")
    assert held.titles[0] == "T5"


def test_what_cannot_be_filled_says_so():
    with pytest.raises(InputError, match="fill: all 2 items are shorter together than 900"):
        made([100, 200]).order(fill=900)
    ordered = made([100, 200, 310]).order(fill=255, template="steady-rise")
    assert any("45.0" in note and "the nearest there is" in note for note in ordered.notes)
    with pytest.raises(InputError, match="fill: goes without a limit"):
        made([100, 200]).order(fill=100, limit=50)


@pytest.mark.parametrize(
    ("lengths", "limit", "sides"),
    [([10, 10, 10, 10], 20, 2), ([10, 10, 10], 40, 1), ([7, 7, 7, 7], 10, 4), ([6, 6, 6, 4, 4, 4], 10, 3)],
)
def test_as_many_sides_as_a_limit_takes(lengths, limit, sides):
    ordered = made(lengths).order(side_limit=limit, template="steady-rise")
    assert max(1, len(ordered.sides)) == sides
    starts = np.cumsum([0, *(ordered.sides or (len(lengths),))])
    kept = [item.length for item in ordered.collection.items]
    assert all(sum(kept[a:b]) <= limit for a, b in pairwise(starts))


def test_one_item_longer_than_a_side():
    with pytest.raises(InputError, match="the shortest side limit that works is 50"):
        made([10, 50, 10]).order(side_limit=40)


def test_a_run_that_cannot_stay_on_one_side_is_told():
    with pytest.raises(InputError, match="together"):
        made([10, 10, 10, 10]).order(sides=2, side_limit=20, together=[["T0", "T1", "T2"]], template="steady-rise")


def test_items_may_be_chosen_by_hand():
    assert made([1, 2, 3, 4]).order(only=[0, 3], template="steady-fall").titles == ["T3", "T0"]
    with pytest.raises(InputError, match="only: must hold indices from 0 to 3"):
        made([1, 2, 3, 4]).order(only=[4])
