from collections import Counter

import numpy as np
import pytest
import torch

from fabula.training.data import ItemPool, draw_orderings, filling, plan_epoch, take

SIZES = {3: 5, 4: 9, 8: 30}  # length: collections


def pool_of(values: torch.Tensor, *lengths: int) -> ItemPool:
    return ItemPool({"values": values}, torch.tensor(lengths))


@pytest.fixture
def pool() -> ItemPool:
    """The features of an item are its collection's number and its place."""
    lengths = [length for length, count in SIZES.items() for _ in range(count)]
    rows = [[number, place] for number, length in enumerate(lengths) for place in range(length)]
    return pool_of(torch.tensor(rows, dtype=torch.float32), *lengths)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_an_epoch_sees_every_collection_once_in_batches_of_one_length(pool):
    plan = plan_epoch(pool, 4, generator())
    seen: Counter[float] = Counter()
    for batch in plan:
        features = take(pool, batch)
        assert 1 <= len(features) <= 4
        assert features.shape[1:] == (batch.length, 2)
        assert (features[:, :, 0] == features[:, :1, 0]).all()  # no collection is mixed with another
        assert (features[:, :, 1] == torch.arange(batch.length)).all()  # in true order
        seen.update(features[:, 0, 0].tolist())
    assert seen == Counter(dict.fromkeys(range(sum(SIZES.values())), 1))
    assert len(pool) == 44


def test_lengths_and_collections_are_shuffled(pool):
    one, two = (plan_epoch(pool, 4, generator(seed)) for seed in (0, 1))
    assert [b.length for b in one] != sorted(b.length for b in one)
    assert [b.length for b in one] != [b.length for b in two]


def test_the_same_seed_gives_the_same_epoch(pool):
    one, two = (plan_epoch(pool, 4, generator(3), subsequences=0.5) for _ in range(2))
    assert [(b.length, b.kept, b.chosen.tolist()) for b in one] == [(b.length, b.kept, b.chosen.tolist()) for b in two]


def test_subsequences_keep_the_order_and_one_length(pool):
    plan = plan_epoch(pool, 8, generator(2), subsequences=1.0)
    kept = set()
    for batch in plan:
        features = take(pool, batch, generator(5))
        assert features.shape[1] == batch.kept
        assert (features[:, 1:, 1] > features[:, :-1, 1]).all()
        assert (features[:, :, 0] == features[:, :1, 0]).all()
        kept.add((batch.length, batch.kept))
    assert all(3 <= m <= n for n, m in kept)
    assert any(m < n for n, m in kept)


def test_every_subset_is_as_likely():
    pool = pool_of(torch.arange(4.0)[:, None], 4)
    batch = plan_epoch(pool, 1, generator())[0]
    many = type(batch)(batch.chosen.repeat(6000), 4, 3)
    left_out = 6 - take(pool, many, generator(1))[:, :, 0].sum(1)
    assert torch.bincount(left_out.long(), minlength=4).tolist() == pytest.approx([1500] * 4, abs=130)


@pytest.mark.parametrize(("shortest", "kept"), [(0.0, {3, 4, 5}), (0.7, {4, 5}), (1.0, {5})])
def test_no_subsequence_is_too_short_or_longer_than_its_collection(shortest, kept):
    pool = pool_of(torch.zeros(7, 1), 2, 5)
    plans = [plan_epoch(pool, 9, generator(seed), subsequences=1.0, shortest=shortest) for seed in range(60)]
    assert {b.kept for plan in plans for b in plan if b.length == 2} == {2}
    assert {b.kept for plan in plans for b in plan if b.length == 5} == kept


def test_orderings_are_the_truth_and_uniform_permutations():
    orderings = draw_orderings(50, 121, 3, generator())
    assert (orderings[:, 0] == torch.arange(3)).all()
    assert (orderings.sort(2).values == torch.arange(3)).all()
    codes = (orderings[:, 1:] * torch.tensor([9, 3, 1])).sum(2).flatten()
    _, counts = np.unique(codes.numpy(), return_counts=True)
    assert counts.tolist() == pytest.approx([1000] * 6, abs=120)  # 4 deviations; the truth is among them


def test_parts_give_all_in_the_order_of_the_pool(pool):
    rows = torch.cat([pool.whole(chosen, length)["values"].flatten(0, 1) for length, chosen in pool.parts(7)])
    assert torch.equal(rows, pool.values)


def test_filled_batches_are_of_one_size_and_weigh_every_collection_the_same(pool):
    plan = plan_epoch(pool, 7, generator(), fill=True)
    assert {len(batch.chosen) for batch in plan} == {6}  # 30 of length 8 are dealt to 5 batches
    weight: Counter[float] = Counter()
    for batch in plan:
        features = take(pool, batch)
        assert (features[:, :, 0] == features[:, :1, 0]).all()
        for number in features[:, 0, 0].tolist():
            weight[number] += batch.weight
    assert len(weight) == 44
    assert sum(weight.values()) == pytest.approx(44)


@pytest.mark.parametrize("batch", [1, 4, 7, 64])
def test_what_filling_costs_is_told_before(pool, batch):
    plan = plan_epoch(pool, batch, generator(), fill=True)
    assert filling(pool, batch) == pytest.approx(sum(len(each.chosen) for each in plan) / 44)
