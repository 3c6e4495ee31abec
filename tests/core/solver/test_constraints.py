"""Constraints: read into one form, and contradictions told by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabula.core.solver import Constraints, Goal, arrange
from fabula.core.solver.solve import check, contradictory
from fabula.core.template import Template
from fabula.errors import ConflictError, InputError

from .reference import candidates

HILL = Template([0, 0.4, 1], [-1, 1.5, -1])


def test_constraints_take_one_form():
    kept = Constraints(
        5,
        fixed={-1: 2},
        forbidden=[(0, -2)],
        together=[(3, 1), (4,)],
        before=[(0, 1), (0, 1)],
        apart=["a", "b", "a", None, -1],
    )
    assert kept.fixed == {-1: 2}
    assert kept.forbidden == ((0, -2),)
    assert kept.together == ((3, 1),)
    assert kept.before == ((0, 1),)
    assert kept.apart.tolist() == [0, 1, 0, -1, -1]
    assert not kept.positions_only
    assert replace(kept, fixed={0: 1}).together == kept.together


def test_runs_that_overlap_are_joined():
    assert Constraints(6, together=[(0, 1), (1, 2), (5, 4)]).together == ((0, 1, 2), (5, 4))
    assert Constraints(6, together=[(1, 2), (0, 1), (0, 1, 2)]).together == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("runs", "items"),
    [([(0, 1), (0, 2)], {0, 1, 2}), ([(0, 2), (1, 2)], {0, 1, 2}), ([(0, 1), (1, 0)], {0, 1}), ([(0, 1, 0)], {0, 1})],
)
def test_runs_that_contradict_each_other_are_told(runs, items):
    with pytest.raises(ConflictError, match=r"cannot all hold: .* together") as caught:
        Constraints(4, together=runs)
    assert set(caught.value.items) == items
    assert caught.value.options == ("together",)


def test_labels_that_are_carried_once_ask_for_nothing():
    assert Constraints(3, apart=["a", "b", None]).apart is None
    assert Constraints(3, apart=np.array([4, 4, -1])).apart.tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    ("options", "ordering", "sides", "word"),
    [
        ({"fixed": {1: 1}}, [1, 0, 2], (), "fixed"),
        ({"forbidden": [(2, 0)]}, [2, 0, 1], (), "forbidden"),
        ({"together": [(0, 2)]}, [2, 0, 1], (), "together"),
        ({"together": [(0, 2)], "sides": 2}, [0, 2, 1], (1, 2), "together"),
        ({"before": [(2, 0)]}, [0, 1, 2], (), "before"),
        ({"apart": [0, 0, -1]}, [0, 1, 2], (), "apart"),
        ({"sides": 2}, [0, 1, 2], (), "sides"),
        ({"sides": 2, "ends": {(1, 0): 0}}, [0, 1, 2], (1, 2), "ends"),
        ({"sides": 2, "side_limit": 1.5}, [0, 1, 2], (1, 2), "side_limit"),
        ({"limit": 2}, [0, 1, 2], (), "limit"),
    ],
)
def test_what_is_broken_is_told(options, ordering, sides, word):
    assert word in Constraints(3, **options).broken(ordering, sides)


def test_neighbours_across_a_break_are_no_neighbours():
    assert Constraints(3, apart=[0, 0, -1], sides=2).broken([0, 1, 2], (1, 2)) == []


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"fixed": {0: 3}}, "an item must lie in 0..2; got 3"),
        ({"fixed": {3: 0}}, "a position must lie in"),
        ({"fixed": {0: 1, 2: 1}}, "item 1 is fixed twice: at position 1 and position 3"),
        ({"forbidden": [3]}, "pairs"),
        ({"together": [0, 1]}, "runs of items"),
        ({"before": [(0, 1, 2)]}, "pairs"),
        ({"before": [(0, 9)]}, "an item must lie in"),
        ({"apart": [1, 2]}, "one label per item, 3 in all; got 2"),
        ({"apart": [[1], [2], [3]]}, "plain labels"),
        ({"sides": 0}, "sides must be at least 1"),
        ({"ends": {(1, 0): 0}}, "a side must lie in 0..0; got 1"),
        ({"ends": {1: 0}}, "ends must map"),
        ({"lengths": [1, 2]}, "3 in all"),
        ({"lengths": [1, 2, -3]}, "not negative; got -3 for item 2"),
        ({"lengths": ["a", 2, 3]}, "must be numbers"),
        ({"limit": 0}, "a limit must be above 0; got 0"),
        ({"side_limit": -2}, "a side limit must be above 0; got -2"),
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
        (3, {"fixed": {0: 1, -3: 2}}, {1, 2}, {"fixed"}),
    ],
)
def test_contradictions_are_told_by_name(n, options, items, words):
    with pytest.raises(ConflictError, match="cannot all hold") as caught:
        check(Constraints(n, **options))
    assert set(caught.value.items) == items
    assert set(caught.value.options) == words
    titles = [f"song{k}" for k in range(n)]
    assert all(titles[item] in caught.value.told(titles) for item in items)
    assert "position 0" not in str(caught.value)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), n=st.integers(2, 6))
def test_a_contradiction_is_one(data, n):
    """What is called contradictory has no ordering at all."""
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
    if contradictory(kept):
        assert candidates(kept) == []


def test_named_items_are_those_of_positions_runs_pairs_and_ends():
    kept = Constraints(
        9, fixed={-1: 4}, forbidden=[(8, 0)], together=[(1, 2)], before=[(6, 3)], apart=[0] * 9, ends={(0, 0): 7}
    )
    assert kept.must_keep == {1, 2, 3, 4, 6, 7}
    assert Constraints(3).must_keep == set()


def test_what_only_the_solver_finds_contradictory_is_told_by_name():
    # items 0 and 1 are left two positions, which are neighbours
    kept = Constraints(
        6, forbidden=[(0, p) for p in (0, 1, 4, 5)] + [(1, p) for p in (0, 1, 4, 5)], apart=[0, 0, 1, 2, 3, 4]
    )
    assert not contradictory(kept)
    with pytest.raises(ConflictError, match="item 0, item 1 apart") as caught:
        arrange(Goal.template(np.arange(6.0), HILL), constraints=kept)
    assert set(caught.value.options) == {"forbidden", "apart"}
    assert set(caught.value.items) == {0, 1}


def test_a_side_limit_that_cannot_be_kept_comes_with_the_shortest_that_can():
    goal = Goal.template(np.arange(4.0), HILL)
    kept = Constraints(4, sides=2, lengths=[60, 70, 80, 90], side_limit=140)
    with pytest.raises(ConflictError, match="the shortest side limit that works is 150") as caught:
        arrange(goal, constraints=kept)
    assert caught.value.lengths == [140.0, 10.0, 150.0]
    assert "2:30" in caught.value.told([], lengths=lambda s: f"{int(s) // 60}:{int(s) % 60:02d}")
    assert arrange(goal, constraints=replace(kept, side_limit=150.0)).exact


def test_what_stands_against_a_side_limit_is_named():
    kept = Constraints(4, sides=2, lengths=[60, 70, 80, 90], side_limit=150, together=[(2, 3)])
    with pytest.raises(ConflictError, match="is 170; it would work without any one of: item 2 and item 3 together"):
        arrange(Goal.template(np.arange(4.0), HILL), constraints=kept)


def test_what_must_be_kept_and_is_over_the_limit_is_told():
    kept = Constraints(3, lengths=[5, 6, 7], limit=10, before=[(0, 1)])
    with pytest.raises(ConflictError, match="must be kept holds 11, the limit is 10: item 0 before item 1"):
        arrange(Goal.template(np.arange(3.0), HILL), constraints=kept)
    with pytest.raises(ConflictError, match="every item alone holds more than the limit of 4"):
        arrange(Goal.template(np.arange(3.0), HILL), constraints=Constraints(3, lengths=[5, 6, 7], limit=4))


def test_more_sides_than_items_are_told():
    with pytest.raises(ConflictError, match="4 sides need as many items or runs; got 3"):
        arrange(Goal.template(np.arange(3.0), HILL), constraints=Constraints(3, sides=4))


def test_ends_that_cannot_be_kept_are_told_by_side_and_position():
    kept = Constraints(4, sides=2, ends={(0, 0): 1, (1, -1): 1})
    with pytest.raises(
        ConflictError, match="item 1 fixed at position 1 of side 1; item 1 fixed at the last position of"
    ):
        arrange(Goal.template(np.arange(4.0), HILL), constraints=kept)
