"""Constraints: read into one form, and contradictions told by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.core.arranging.conflicts import check, contradictory
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.exhaustive import solve_exhaustively
from fabula.core.arranging.problem import problem
from fabula.errors import ConflictError, InputError


def test_constraints_take_one_form():
    kept = Constraints(
        5,
        fixed={-1: 2},
        forbidden=[(0, -2)],
        together=[(3, 1), (4,)],
        before=[(0, 1), (0, 1)],
        apart=["a", "b", "a", None, -1],
    )
    assert kept.fixed == {4: 2}
    assert kept.forbidden == ((0, 3),)
    assert kept.together == ((3, 1),)
    assert kept.before == ((0, 1),)
    assert kept.apart.tolist() == [0, 1, 0, -1, -1]
    assert not kept.places_only
    assert replace(kept, fixed={0: 1}).together == kept.together


def test_labels_that_nobody_shares_ask_for_nothing():
    assert Constraints(3, apart=["a", "b", None]).apart is None
    assert Constraints(3, apart=np.array([4, 4, -1])).apart.tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    ("word", "value", "ordering"),
    [
        ("fixed", {1: 1}, [1, 0, 2]),
        ("forbidden", [(2, 0)], [2, 0, 1]),
        ("together", [(0, 2)], [2, 0, 1]),
        ("before", [(2, 0)], [0, 1, 2]),
        ("apart", [0, 0, -1], [0, 1, 2]),
    ],
)
def test_what_is_broken_is_told(word, value, ordering):
    assert Constraints(3, **{word: value}).broken(ordering) == [word]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"fixed": {0: 3}}, "an item must lie in 0..2; got 3"),
        ({"fixed": {3: 0}}, "a position must lie in"),
        ({"forbidden": [3]}, "pairs"),
        ({"together": [(0, 1), (1, 2)]}, "item 1 twice"),
        ({"together": [0, 1]}, "runs of items"),
        ({"before": [(0, 1, 2)]}, "pairs"),
        ({"before": [(0, 9)]}, "an item must lie in"),
        ({"apart": [1, 2]}, "one label per item, 3 in all; got 2"),
        ({"apart": [[1], [2], [3]]}, "plain labels"),
    ],
)
def test_malformed_constraints_are_told(options, match):
    with pytest.raises(InputError, match=match):
        Constraints(3, **options)


@pytest.mark.parametrize(
    ("n", "options", "items", "words"),
    [
        (4, {"before": [(0, 1), (1, 2), (2, 0), (3, 0)]}, {0, 1, 2}, {"before"}),
        (4, {"before": [(2, 2)]}, {2}, {"before"}),
        (4, {"together": [(0, 1, 2)], "before": [(2, 0), (3, 1)]}, {0, 1, 2}, {"together", "before"}),
        (4, {"together": [(0, 1)], "fixed": {0: 1}}, {0, 1}, {"together", "fixed"}),
        (4, {"together": [(0, 1)], "fixed": {0: 0, 1: 2}}, {0, 1, 2}, {"together", "fixed"}),
        (5, {"before": [(0, 1), (1, 2)], "fixed": {1: 2, 4: 4}}, {0, 1, 2}, {"before", "fixed"}),
        (5, {"before": [(0, 1)], "fixed": {-1: 0}}, {0, 1}, {"before", "fixed"}),
        (4, {"apart": [0, 0, 0, 1]}, {0, 1, 2}, {"apart"}),
        (4, {"apart": [0, 0, 1, 2], "fixed": {1: 0, 2: 1}}, {0, 1}, {"apart", "fixed"}),
        (4, {"apart": [0, 0, 1, 2], "together": [(0, 1)]}, {0, 1}, {"apart", "together"}),
        (5, {"apart": [0, 0, 0, 1, 2], "together": [(3, 4)]}, {0, 1, 2, 3, 4}, {"apart", "together"}),
        (6, {"apart": [0, 0, 1, 2, 3, 4], "fixed": {0: 2, 3: 3, 4: 4, 5: 5}}, {0, 1, 2, 3, 4, 5}, {"apart", "fixed"}),
        (3, {"before": [(0, 1)], "forbidden": [(0, 0), (0, 1)]}, {0, 1}, {"before", "forbidden"}),
        (3, {"forbidden": [(1, 0), (1, 1), (1, 2), (0, 0)]}, {1}, {"forbidden"}),
    ],
)
def test_contradictions_are_told_by_name(n, options, items, words):
    with pytest.raises(ConflictError, match="cannot all hold") as caught:
        check(Constraints(n, **options))
    assert set(caught.value.items) == items
    assert set(caught.value.options) == words
    titles = [f"song{k}" for k in range(n)]
    assert all(titles[item] in caught.value.told(titles) for item in items)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), n=st.integers(2, 6))
def test_a_contradiction_is_one(data, n):
    """What is called contradictory has no ordering at all; dynamic programming looks at every one."""
    item = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(item, item), max_size=6)
    kept = Constraints(
        n,
        fixed=data.draw(st.sampled_from([{}, {0: 1}, {n - 1: 0, 0: n - 1}])),
        forbidden=data.draw(pairs),
        together=data.draw(st.sampled_from([[], [(0, 1)], [(n - 1, 0)]])),
        before=data.draw(pairs),
        apart=data.draw(st.none() | st.lists(st.integers(-1, 2), min_size=n, max_size=n)),
    )
    looped = any(a == b for a, b in kept.before)  # the tables cannot say that an item is before itself
    if contradictory(kept) and not looped:
        runs = {item: (k, o) for k, run in enumerate(kept.together) for o, item in enumerate(run)}
        turned = any(a in runs and b in runs and runs[a] > runs[b] and runs[a][0] == runs[b][0] for a, b in kept.before)
        posed = problem(np.zeros((n, n)), None, replace(kept, before=[]))
        plain = replace(posed, before=np.array(kept.before, dtype=np.intp).reshape(-1, 2).T)
        assert turned or solve_exhaustively(plain) is None


def test_named_items_are_those_of_places_runs_and_pairs():
    kept = Constraints(9, fixed={-1: 4}, forbidden=[(8, 0)], together=[(1, 2)], before=[(6, 3)], apart=[0] * 9)
    assert kept.named == {1, 2, 3, 4, 6}
    assert Constraints(3).named == set()
