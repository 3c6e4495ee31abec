"""Collections of many items: read, ordered and explained some rows at a time, with the same result and in bounds."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.solver import Constraints, Goal, arrange, solve
from fabula.core.solver.solve import arrange_stretches
from fabula.errors import ConflictError
from fabula.models.encoders import set as set_encoder
from fabula.models.model import load_model
from fabula.models.order import explain
from fabula.models.titles import TITLE_PAIRS, TitleRelations, read_titles, title_pairs

WORDS = ["love", "night", "river", "stone", "light", "shadow", "road", "dream", "fire", "rain", "silver", "part"]


def titled(n: int, seed: int = 0) -> Collection:
    """Items with titles that share words, and features, some of them not known."""
    rng = np.random.default_rng(seed)
    titles = [" ".join(rng.choice(WORDS, rng.integers(0, 4))) + rng.choice(["", " Pt. 1", " Pt. 2"]) for _ in range(n)]
    names = load_model("music").feature_names
    features = rng.random((n, len(names)))
    features[rng.random(features.shape) < 0.2] = np.nan
    return Collection("1", [Item(str(i), title) for i, title in enumerate(titles)], features, names)


def relate(one, other) -> tuple[float, ...]:
    """What relates two titles, by the words of the definition."""
    mine, theirs = set(one.words), set(other.words)
    if not mine & theirs:
        return (0.0,) * len(TITLE_PAIRS)
    parts = one.part and other.part and one.base == other.base
    step = other.part - one.part if parts else 0
    said = mine <= theirs, theirs <= mine, step == 1, step == -1, step > 0
    return (len(mine & theirs) / len(mine | theirs), *map(float, said))


def test_what_relates_titles_is_what_their_words_say():
    titles = [
        read_titles([*names])
        for names in (["Hope Pt. 2", "Hope Pt. 1", "Rain and Hope", ""], ["Rain", "Rain", "Night Rain", "Sun"])
    ]
    table = title_pairs(titles)
    for own, found in zip(titles, table, strict=True):
        assert not found[np.arange(4), np.arange(4)].any()
        for i, k in permutations(range(4), 2):
            assert found[i, k].tolist() == pytest.approx(relate(own[i], own[k]))


def test_relations_of_some_rows_and_columns_are_those_of_the_whole():
    titles = [read_titles([item.title for item in titled(40).items])]
    whole = title_pairs(titles)[0]
    rows, columns = slice(7, 19), np.array([0, 3, 8, 9, 30])
    first, second, cells = TitleRelations(titles).cells(rows, columns)
    part = np.zeros((12, 5, len(TITLE_PAIRS)), np.float32)
    part[first, second] = cells
    assert np.array_equal(part, whole[rows][:, columns])
    assert part.any()


def test_by_rows_the_model_says_the_same(monkeypatch):
    model, collection = load_model("music"), titled(90)
    whole, essence = model.energy(collection), model.encode(collection, raw=True)
    monkeypatch.setattr(set_encoder, "_MOST_DENSE", 20)
    monkeypatch.setattr(set_encoder, "_TOGETHER", 600)  # ten rows at a time
    by_rows = model.energy(collection)
    assert np.allclose(whole.flow, by_rows.flow, atol=2e-5)
    assert np.allclose(whole.positions, by_rows.positions, atol=2e-5)
    assert np.allclose(essence, model.encode(collection, raw=True), atol=2e-5)


def test_the_order_in_which_very_many_are_listed_has_no_say(monkeypatch):
    monkeypatch.setattr(set_encoder, "_MOST_DENSE", 20)
    monkeypatch.setattr(set_encoder, "_MOST_SEEN", 60)
    monkeypatch.setattr(set_encoder, "_SEEN", 30)
    model, collection = load_model("music"), titled(90)
    other = np.random.default_rng(1).permutation(90)
    essence = model.encode(collection, raw=True)
    assert np.allclose(model.encode(collection.only(other), raw=True), essence[other], atol=1e-4)
    assert not np.allclose(essence, 0)


@pytest.mark.slow
def test_stretches_come_close_to_the_search_of_all():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((600, 4)) @ rng.standard_normal((4, 600))
    flow = rng.standard_normal((600, 600))
    np.fill_diagonal(flow, 0)
    kept = Constraints(600, fixed={0: 5, -1: 9, 300: 7}, forbidden=[(3, 1), (4, -2)])
    found = arrange_stretches(lambda _: scores, flow, kept, seconds=1.2)
    assert sorted(found.ordering.tolist()) == list(range(600))
    assert found.ordering[[0, 300, -1]].tolist() == [5, 7, 9]
    assert (found.ordering[1], found.ordering[-2]) != (3, 4)
    assert np.isnan(found.gap)
    assert not found.exact
    value = scores[found.ordering, np.arange(600)].sum() + flow[found.ordering[:-1], found.ordering[1:]].sum()
    assert -found.objective == pytest.approx(value)
    whole = arrange(Goal.table(-scores), flow=-flow, constraints=kept, seconds=1.2)
    assert value >= 0.85 * -whole.objective


def wishes(n: int, seed: int, **more: object) -> Constraints:
    """Constraints of all kinds that a random ordering keeps."""
    rng = np.random.default_rng(seed)
    true = rng.permutation(n)
    runs = [true[at : at + 3].tolist() for at in (5, n // 3)]
    labels = np.full(n, -1)
    labels[true[::2]] = np.arange(len(true[::2])) % 7
    before = [(int(true[a]), int(true[b])) for a, b in np.sort(rng.choice(n, (6, 2), replace=False), axis=1)]
    return Constraints(
        n, {0: int(true[0])}, [(int(true[1]), 2)], runs, before, labels, lengths=rng.uniform(1, 5, n), **more
    )


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"sides": 3},
        {"sides": 2, "side_limit": 135.0},
        {"limit": 135.0},
        {"sides": 2, "limit": 165.0},
        {"apart_soft": True},
    ],
)
def test_stretches_keep_every_wish(monkeypatch, seed, more):
    monkeypatch.setattr(solve, "_STRETCH", 20)
    n, rng = 80, np.random.default_rng(seed)
    scores, flow = rng.standard_normal((n, n)), rng.standard_normal((n, n)).astype(np.float32)
    kept = wishes(n, seed, **more)
    found = arrange_stretches(lambda sizes: scores[:, : sum(sizes)], flow, kept, seconds=0.1)
    assert kept.broken(found.ordering, found.sides) == []
    assert sorted([*found.ordering, *found.left_out]) == list(range(n))
    assert (len(found.left_out) > 0) == ("limit" in more)
    assert found.violations == 0
    value = -found.objective
    parts = np.split(found.ordering, np.cumsum(found.sides or (len(found.ordering),))[:-1])
    neighbours = sum(flow[part[:-1], part[1:]].sum(dtype=np.float64) for part in parts)
    assert value == pytest.approx(scores[found.ordering, np.arange(len(found.ordering))].sum() + neighbours, rel=1e-5)
    assert value > 45.0  # a random ordering has 0, give or take 13


def test_stretches_say_what_cannot_be_kept():
    flow, table = np.zeros((40, 40)), np.zeros((40, 40))
    with pytest.raises(ConflictError, match="a side limit that was found to work is"):
        arrange_stretches(lambda _: table, flow, Constraints(40, sides=2, lengths=np.full(40, 3.0), side_limit=59.0))
    with pytest.raises(ConflictError, match="these cannot all hold"):
        arrange_stretches(lambda _: table, flow, Constraints(40, {0: 1}, before=[(2, 1)]))


@pytest.mark.slow
def test_an_item_of_many_is_explained_beside_some(monkeypatch):
    from fabula.models import order as ordering

    model, collection = load_model("music"), titled(36)
    order = np.random.default_rng(3).permutation(36)
    whole = explain(model, order, collection)
    for name, value in (("_MOST_WHOLE", 20), ("_BESIDE", 28), ("_ROWS", 12)):
        monkeypatch.setattr(ordering, name, value)
    some = explain(model, order, collection)
    assert some.groups == whole.groups
    for mine, theirs in ((some.position, whole.position), (some.by_group, whole.by_group), (some.after, whole.after)):
        assert np.corrcoef(mine.ravel(), theirs.ravel())[0, 1] > 0.85
    first = explain(model, order, collection, rows=range(12))
    assert np.array_equal(first.by_group[order[:12]], some.by_group[order[:12]])
    assert not first.by_group[order[12:]].any()
    below = explain(model, order, collection, rows=range(14, 20))
    assert np.array_equal(below.by_group[order[14:20]], some.by_group[order[14:20]])
    assert not below.by_group[order[24:]].any()


LARGE = """
from tests.models.sets.test_many_items import titled
from fabula.models.model import load_model
from fabula.models.order import explain
import numpy as np
model, collection = load_model("music"), titled(1200)
explain(model, np.arange(1200), collection, rows=range(24))
energy = model.energy(collection)
assert energy.flow.dtype == energy.at(1200).dtype == np.float32
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
def test_memory_of_many_items_is_bounded():
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, timeout=100, check=True)
    assert int(done.stdout) < 300 * 1024
