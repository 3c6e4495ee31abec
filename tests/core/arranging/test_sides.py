"""Sides against every split, and the choice of what to leave out against every choice."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.durations import as_clocks
from fabula.core.arranging.selection import choose_within
from fabula.core.arranging.sides import arrange_sides
from fabula.core.fit import fit
from fabula.core.template import Template
from fabula.errors import ConflictError, InputError

HILL = Template([0, 0.4, 1], [-1, 1.5, -1])


def plain_rate(essence, durations, groups):
    deviation = sum(fit(essence[list(group)], HILL).deviations.sum() for group in groups) / len(essence)
    times = [durations[list(group)].sum() for group in groups]
    return deviation + (max(times) - min(times)) / np.mean(times)


@pytest.mark.parametrize("sides", [1, 2, 3])
def test_few_items_are_split_as_by_trying_every_split(sides, rng):
    for _ in range(5):
        n = int(rng.integers(3, 7))
        essence, durations = rng.normal(size=n), rng.uniform(1, 4, size=n)
        limit = durations.sum() / sides * 1.4
        best = np.inf
        for split in product(range(sides), repeat=n):
            groups = [[i for i in range(n) if split[i] == side] for side in range(sides)]
            if all(groups) and max(durations[group].sum() for group in groups) <= limit:
                best = min(best, plain_rate(essence, durations, groups))
        if np.isinf(best):
            continue
        found = arrange_sides(essence, HILL, durations, sides=sides, limit=limit)
        assert found.exact
        assert plain_rate(essence, durations, found.sides) == pytest.approx(best)
        for side, part in zip(found.sides, found.arrangements, strict=True):
            assert part.fit.mean == pytest.approx(fit(essence[side], HILL).mean)


@settings(max_examples=8, deadline=None)
@given(n=st.integers(8, 40), seed=st.integers(0, 10**6), sides=st.integers(2, 4))
def test_sides_keep_limit_and_constraints(n, seed, sides):
    rng = np.random.default_rng(seed)
    durations = rng.uniform(2, 5, size=n)
    hidden = rng.permutation(n)
    cuts = np.linspace(0, n, sides + 1).astype(int)
    limit = max(durations[hidden[a:b]].sum() for a, b in pairwise(cuts)) + 1.0
    labels = np.full(n, -1)
    labels[hidden[:6:2]] = 0
    kept = Constraints(
        n,
        fixed={0: int(hidden[0]), -1: int(hidden[-1])},
        together=[hidden[1:3].tolist()],
        before=[(int(hidden[3]), int(hidden[-2]))],
        apart=labels,
    )
    found = arrange_sides(rng.normal(size=n), HILL, durations, sides=sides, limit=limit, constraints=kept, seconds=0.2)
    assert sorted(found.ordering) == list(range(n))
    assert len(found.sides) == sides
    assert all(len(side) for side in found.sides)
    assert max(found.durations) <= limit * (1 + 1e-9)
    assert [durations[side].sum() for side in found.sides] == pytest.approx(found.durations)
    assert set(kept.broken(found.ordering)) <= {"apart"}  # the end of a side and the next beginning are no neighbours
    for side in found.sides:
        carried = labels[side]
        assert not ((carried[1:] == carried[:-1]) & (carried[1:] >= 0)).any()


@pytest.mark.parametrize(
    ("options", "match", "items"),
    [
        ({"limit": 5.0, "durations": [6, 1, 1, 1]}, "a side may take 0:05; item 0 alone takes 0:06$", [0]),
        ({"limit": 5.0, "durations": [4, 4, 4, 4]}, "of 0:05 hold 0:10; the items take 0:16$", []),
        ({"limit": 1320, "durations": [900, 900, 900, 900]}, "of 22:00 hold 44:00; the items take 1:00:00$", []),
        ({"limit": 1320, "durations": [1320.4, 1, 1, 1]}, "take 22:00.0; item 0 alone takes 22:00.4$", [0]),
        ({"limit": 0.3, "durations": [60, 1, 1, 1]}, "take 0:00.3; item 0 alone takes 1:00.0$", [0]),
        (
            {"limit": 8.0, "durations": [5, 5, 3, 3], "constraints": Constraints(4, together=[(0, 1)])},
            "may take 0:08; item 0 and item 1 alone take 0:10$",
            [0, 1],
        ),
        ({"limit": 9.0, "durations": [6, 6, 6, 0]}, "there is no split into 2 sides of at most 0:09 that", []),
        ({"sides": 5}, "5 sides need as many items", []),
    ],
)
def test_what_does_not_fit_is_told(options, match, items):
    given_ = {"durations": [1, 1, 1, 1], **options}
    with pytest.raises(ConflictError, match=match) as caught:
        arrange_sides(np.arange(4.0), HILL, given_.pop("durations"), **given_)
    assert caught.value.items == items
    assert set(caught.value.options) <= {"sides", "limit"}


@pytest.mark.parametrize("durations", [[1, 2], [1, 2, np.nan], [1, 2, -1], "abc"])
def test_malformed_durations_are_told(durations):
    with pytest.raises(InputError, match="durations must"):
        arrange_sides(np.arange(3.0), HILL, durations)
    with pytest.raises(InputError, match="durations must"):
        choose_within(np.arange(3.0), HILL, durations, 1.0)


def test_fewest_and_worst_are_left_out(rng):
    for _ in range(30):
        n = int(rng.integers(3, 8))
        essence, durations = rng.normal(size=n), rng.uniform(1, 4, size=n)
        limit, keep = float(durations.sum() * rng.uniform(0.4, 1.1)), [int(rng.integers(n))]
        best = None
        for size in range(n, 0, -1):
            groups = [list(g) for g in combinations(range(n), size) if set(keep) <= set(g)]
            sums = [fit(essence[g], HILL).deviations.sum() for g in groups if durations[g].sum() <= limit]
            if sums:
                best = size, min(sums)
                break
        if best is None:
            with pytest.raises(ConflictError, match="the limit is"):
                choose_within(essence, HILL, durations, limit, keep=keep)
            continue
        kept = choose_within(essence, HILL, durations, limit, keep=keep)
        assert set(keep) <= set(kept.tolist())
        assert durations[kept].sum() <= limit
        assert (len(kept), fit(essence[kept], HILL).deviations.sum()) == pytest.approx(best)


@pytest.mark.parametrize("d", [1, 2])
def test_many_items_keep_the_limit_and_those_to_keep(d, rng):
    n = 60 if d == 1 else 20
    essence, durations = rng.normal(size=(n, d)), rng.uniform(1, 4, size=n)
    template = HILL if d == 1 else Template([0, 1], rng.normal(size=(2, 2)))
    limit = durations.sum() * (0.8 if d == 1 else 0.9)
    longest = np.argsort(durations)[::-1]
    kept = choose_within(essence, template, durations, limit, keep=longest[:2].tolist())
    fewest = next(k for k in range(n) if durations.sum() - durations[longest[2 : 2 + k]].sum() <= limit)
    assert durations[kept].sum() <= limit
    assert set(longest[:2].tolist()) <= set(kept.tolist())
    assert n - len(kept) == fewest
    plain = np.setdiff1d(np.arange(n), longest[2 : 2 + fewest])
    assert fit(essence[kept], template).deviations.sum() <= fit(essence[plain], template).deviations.sum() + 1e-9


def test_nothing_is_left_out_where_all_fits():
    assert choose_within([3.0, 1.0], HILL, [1, 1], 2.0).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ([], "even the shortest item takes 1:02:03"),
        ([1], "item 1 takes 1:06:40"),
        ([0, 1], "item 0, item 1 take 2:08:43"),
    ],
)
def test_nothing_fits_is_told(keep, words):
    with pytest.raises(ConflictError) as caught:
        choose_within([0.0, 1.0], HILL, [3723, 4000], 62.0, keep=keep)
    assert str(caught.value) == f"the limit is 1:02; {words}"


def test_malformed_times_are_told_as_clocks():
    with pytest.raises(InputError, match="not negative; got -1:05 for item 2"):
        arrange_sides(np.arange(3.0), HILL, [1, 2, -65])
    with pytest.raises(InputError, match=r"not negative; got -0:00\.2 for item 0"):
        choose_within(np.arange(3.0), HILL, [-0.2, 2, 3], 5)
    with pytest.raises(InputError, match="a time limit must be above 0:00; got -1:30"):
        choose_within(np.arange(3.0), HILL, [1, 2, 3], -90)


def read(clock):
    return sum(60**place * float(part) for place, part in enumerate(reversed(clock.split(":"))))


@given(limit=st.floats(1e-3, 1e5), more=st.floats(1e-3, 1e5))
def test_a_clock_never_says_that_what_is_too_long_fits(limit, more):
    told, taken = as_clocks(limit, limit + more)
    assert read(told) < read(taken)
    assert read(told) == pytest.approx(limit, abs=0.5000001)


def test_clocks_are_as_fine_as_they_must_be():
    assert as_clocks(1320, 1412.3) == ["22:00", "23:32"]
    assert as_clocks(59.96, 60.0) == ["0:59.96", "1:00.00"]
    assert as_clocks(60.0, 60.0) == ["1:00", "1:00"]
    assert as_clocks(3599.6, 12.5) == ["1:00:00", "0:13"]
    assert as_clocks(float("nan")) == ["nan"]
