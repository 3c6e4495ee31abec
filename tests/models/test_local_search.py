from itertools import permutations

import numpy as np
import pytest

from fabula.core.arrays import normalise
from fabula.errors import InputError
from fabula.models.order import _neighbours, search_orderings


def wavy(sequences):
    """A score with many local optima: places and neighbours both count."""
    n = sequences.shape[1]
    x = sequences[:, :, 0]
    return x @ np.sin(3 * np.arange(n)) - 0.5 * np.abs(np.diff(x, axis=1)).sum(axis=1)


def test_neighbours_are_all_swaps_and_moves():
    rng = np.random.default_rng(0)
    start = rng.permutation(6)
    expected = set()
    for a in range(6):
        for b in range(6):
            swapped = start.tolist()
            swapped[a], swapped[b] = swapped[b], swapped[a]
            moved = start.tolist()
            moved.insert(b, moved.pop(a))
            expected |= {tuple(swapped), tuple(moved)}
    found = [tuple(row) for row in _neighbours(start, np.arange(6), rng).tolist()]
    assert len(found) == len(set(found))
    assert set(found) == expected - {tuple(start.tolist())}


def test_neighbours_leave_pinned_places_alone():
    start = np.array([3, 0, 4, 1, 2])
    rows = _neighbours(start, np.array([0, 2, 4]), np.random.default_rng(0))
    assert (rows[:, [1, 3]] == start[[1, 3]]).all()
    assert (np.sort(rows, axis=1) == np.arange(5)).all()


@pytest.mark.parametrize("n", [2, 4, 6])
def test_finds_the_best_of_all_orderings_of_a_short_collection(n):
    essence = normalise(np.random.default_rng(n).normal(size=n))[:, np.newaxis]
    best = max(float(wavy(essence[list(p)][np.newaxis])[0]) for p in permutations(range(n)))
    found = search_orderings(wavy, essence, alternatives=2)
    assert found[0].score == pytest.approx(best)
    assert not found[0].exact
    assert found[0].worst < 1e-9  # laid on its own arc


def test_no_swap_or_move_is_likelier():
    essence = np.random.default_rng(5).normal(size=(9, 1))
    found = search_orderings(wavy, essence, alternatives=1)[0]
    around = _neighbours(found.ordering, np.arange(9), np.random.default_rng(0))
    assert wavy(essence[around]).max() <= found.score + 1e-6


def test_a_long_collection_ends_and_stays_a_permutation():
    essence = np.random.default_rng(0).normal(size=(90, 2))
    found = search_orderings(wavy, essence, alternatives=3, fixed={1: 80})
    assert len(found) == 3
    assert all(sorted(f.ordering) == list(range(90)) and f.ordering[1] == 80 for f in found)


def test_alike_items_have_one_ordering():
    assert len(search_orderings(wavy, np.zeros((4, 1)))) == 1


def test_everything_pinned():
    found = search_orderings(wavy, np.array([[1.0], [2.0]]), fixed={0: 1, 1: 0})
    assert [f.ordering.tolist() for f in found] == [[1, 0]]


def test_the_same_every_time():
    essence = np.random.default_rng(0).normal(size=(12, 1))
    one, two = (search_orderings(wavy, essence) for _ in range(2))
    assert [f.ordering.tolist() for f in one] == [f.ordering.tolist() for f in two]


def test_refuses_no_alternatives():
    with pytest.raises(InputError, match="alternatives: must be at least 1; got 0"):
        search_orderings(wavy, np.zeros((3, 1)), alternatives=0)
