"""The guard: every planted leak is found, and healthy collections are left in peace."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import leak_plants, planted
from fabula.core.collection import Collection, Item
from fabula.evaluation.leaks import find_leaks
from fabula.research.splits import overlap

COLUMNS = [name for name in planted.PLANTS if name not in ("by duplicates across splits", "by artist")]


def table(values, names) -> list[Collection]:
    """Collections of one length from values (collections, n, f)."""
    return [Collection(str(i), [Item(str(j)) for j in range(len(v))], v, names) for i, v in enumerate(values)]


@pytest.mark.parametrize("name", [*COLUMNS, *planted.MORE_PLANTS])
def test_a_planted_leak_is_found_in_the_data(name):
    plant = {**planted.PLANTS, **planted.MORE_PLANTS}[name]
    rng = np.random.default_rng(0)
    sides = planted.healthy(rng, count=50)
    assert find_leaks(sides[0]) == []
    assert find_leaks(plant(sides, rng)[0])


@pytest.mark.slow
def test_leaks_by_what_they_are_and_not_by_their_names():
    """Phases, lags, means so far, noisy ranks, growing variance, times modulo, words and characters at positions."""
    missed = []
    for number, (name, plant) in enumerate(leak_plants.NAMED.items()):
        rng = np.random.default_rng((31, number))
        sides = leak_plants.albums(rng, count=40)
        before = set(leak_plants.accusations(sides))
        missed += [] if set(leak_plants.accusations(plant(sides, rng))) - before else [name]
    assert missed == []


@pytest.mark.parametrize("name", ["the training set again, remastered", "training albums less their last"])
def test_what_is_held_out_again_is_counted(name):
    rng = np.random.default_rng(5)
    training, held_out = leak_plants.ALL[name](leak_plants.albums(rng, count=60), rng)
    [note, *_] = overlap(training, held_out)
    assert note == f"LEAK: {len(held_out)} of {len(held_out)} held-out collections are also among those trained on"


def test_what_was_made_of_another_column_is_left_out_and_not_that_column():
    rng = np.random.default_rng(3)
    for name in ("noisy lag", "rolling mean of 3", "start time modulo, and length"):
        training, _ = leak_plants.NAMED[name](leak_plants.albums(rng, count=80), rng)
        assert {each.columns for each in find_leaks(training)} == {("planted 0",)}


@pytest.mark.parametrize(
    ("name", "columns", "why"),
    [
        ("offset in a file", {("planted 0",)}, "its steps are 'duration_ms'"),
        (
            "a sign that turns with another's at the half",
            {("planted 0", "planted 1")},
            "whether their signs agree tells the position",
        ),
    ],
)
def test_what_begins_anew_many_times_and_signs_that_agree_are_found(name, columns, why):
    """A sum modulo so little that it begins anew fifty times an item; two signs alike in the first half alone."""
    rng = np.random.default_rng(4)
    training, _ = leak_plants.UNSEEN[name](leak_plants.albums(rng, count=80), rng)
    found = find_leaks(training)
    assert {each.columns for each in found} == columns
    assert why in str(found[0])


def test_a_column_on_a_grid_is_no_time_that_begins_anew():
    """Shares with three decimals: in any unit their steps lie on a grid, which is none of another column's range."""
    accused = []
    for seed in range(12):
        training, _ = leak_plants.albums(np.random.default_rng((seed, 77)), 60)
        accused += [str(each) for each in find_leaks(training, ["energy", "valence", "instrumentalness"])]
    assert accused == []


def test_signs_that_seldom_differ_are_not_accused():
    """A share that is rarely below zero, and a heavy tail: their product hardly turns, and tells nothing."""
    training, held_out = planted.healthy(np.random.default_rng((7, 16)))
    assert {"share 0", "tailed 5"} <= set(training[0].feature_names)
    assert leak_plants.accusations((training, held_out)) == []


def test_honest_albums_are_not_accused():
    """An arc of energy, neighbours that are alike, intros, outros, encores and works in parts are findings."""
    found = [leak_plants.accusations(leak_plants.albums(np.random.default_rng((7, seed)), 40)) for seed in range(5)]
    assert [each for each in found if each] == []


@pytest.mark.parametrize("name", ["by duplicates across splits", "by artist"])
def test_what_both_sides_share_is_told(name):
    rng = np.random.default_rng(3)
    sides = planted.healthy(rng, count=100)
    assert overlap(*sides) == ()
    notes = overlap(*planted.PLANTS[name](sides, rng))
    assert notes[0].startswith("LEAK" if "duplicates" in name else "NOT INDEPENDENT")


@pytest.mark.slow
def test_healthy_sets_are_not_accused():
    accused = 0
    for seed in range(12):
        training, held_out = planted.healthy(np.random.default_rng((7, seed)), count=30)
        accused += bool(find_leaks(training) or overlap(training, held_out))
    assert accused <= 1


def test_a_strong_honest_trend_is_no_leak():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 10, 2))
    values[:, :, 0] += np.linspace(-1, 1, 10)  # far stronger than any feature of real albums
    assert find_leaks(table(values, ("loudness", "noise"))) == []


@pytest.mark.parametrize("sides", [2, 3])
@pytest.mark.parametrize("gaps", [0, 1])
def test_numbers_that_start_again_with_gaps(sides, gaps):
    rng = np.random.default_rng(sides)
    rows = []
    for _ in range(30):
        n = int(rng.integers(9, 16))
        number = np.arange(n) % -(-n // sides) + 1.0
        number[rng.permutation(n)[:gaps]] = np.nan
        rows.append(np.stack([number, rng.normal(size=n)], axis=1))
    assert [each.columns for each in find_leaks(table(rows, ("number", "x")))] == [("number",)]


def test_directions_may_differ_from_collection_to_collection():
    rng = np.random.default_rng(1)
    rows = [np.sort(rng.normal(size=(7, 1)), axis=0)[:: rng.choice([-1, 1])] for _ in range(20)]
    assert find_leaks(table(rows, ("x",)))


def test_some_sorted_collections_are_told_but_not_left_out():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(100, 8, 1))
    rows[:20] = np.sort(rows[:20], axis=1)
    [found] = find_leaks(table(rows, ("x",)))
    assert not found.throughout
    assert "20% of the collections" in found.why


def test_features_that_are_arrays_are_not_looked_at():
    some = [Collection(str(i), [Item("a"), Item("b"), Item("c")], np.ones((3, 2, 7)), ("a", "b")) for i in range(9)]
    assert find_leaks(some) == []


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda n, rng: (np.arange(n) + rng.integers(3)) % 3, "the items before tell its values"),
        (lambda n, rng: (np.arange(n) + rng.integers(2)) % 2, "the items before tell its values"),
        (lambda n, rng: rng.permutation(3)[np.arange(n) % 3], "the items before tell its values"),
        (lambda n, rng: 2 * rng.integers(9e4, size=n) + np.arange(n) % 2, "its remainder by 2 tells the position"),
        (
            lambda n, rng: 100 * rng.integers(9e4, size=n) + np.arange(n),
            "its remainder by 100 follows the order itself",
        ),
    ],
)
def test_turns_that_begin_anywhere_and_what_hides_in_whole_numbers(make, why):
    rng = np.random.default_rng(1)
    training, _ = leak_plants.albums(rng, count=60)
    rows = [np.stack([make(len(c), rng), rng.normal(size=len(c))], axis=1).astype(float) for c in training]
    assert [str(each) for each in find_leaks(table(rows, ("turn", "x")))] == [f"column 'turn': {why}"]


def test_the_last_numbers_in_titles_are_looked_at_too():
    rng = np.random.default_rng(2)
    training, _ = leak_plants.albums(rng, count=60)
    for c in (marked := list(training)):
        begin = int(rng.integers(1000, 90000))
        items = [Item(x.id, f"{rng.integers(1, 99)} {x.title} {begin + j}") for j, x in enumerate(c.items)]
        marked[marked.index(c)] = Collection(c.id, items, c.features, c.feature_names)
    assert [str(each) for each in find_leaks(marked)] == [
        "the titles: the numbers at their ends follow the order itself"
    ]


def test_a_bonus_at_the_end_of_some_and_heavy_tails_are_not_accused():
    """What marks one end of few collections is like an Intro; an outlier makes no two steps equal."""
    accused = []
    for seed in range(8):
        rng = np.random.default_rng((8, seed))
        training, _ = leak_plants.albums(rng, count=60)
        rows = []
        for c in training:
            bonus, tempo = np.zeros(len(c)), rng.normal(120, 20, len(c))
            bonus[-1] = rng.random() < 0.15
            tempo[0] = np.nan if rng.random() < 0.25 else tempo[0]
            rows.append(np.column_stack([bonus, tempo, rng.standard_cauchy(len(c)), c.column("duration_ms") // 1000]))
        accused += [str(each) for each in find_leaks(table(rows, ("bonus", "bpm", "heavy", "seconds")))]
    assert accused == []


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_a_handful_of_collections_accuses_nobody(count):
    """Of few items any column goes a little with the order or with another's neighbours."""
    accused = []
    for seed in range(6):
        training, _ = leak_plants.albums(np.random.default_rng((count, seed)), 60)
        accused += [str(each) for each in find_leaks(training[:count], titles=False)]
    assert accused == []
