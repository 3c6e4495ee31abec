import numpy as np

from fabula.core.collection import Collection, Item
from fabula.evaluation.controls import noise_features, shuffle_orders


def some(n=6, f=3, count=1):
    rng = np.random.default_rng(0)
    names = [f"f{i}" for i in range(f)]
    return [Collection(str(c), [Item(str(i)) for i in range(n)], rng.random((n, f)), names) for c in range(count)]


def test_noise_keeps_everything_but_the_values():
    before = some(count=3)
    after = noise_features(before, np.random.default_rng(1))
    for one, two in zip(before, after, strict=True):
        assert (one.id, one.items, one.feature_names, one.ordered) == (
            two.id,
            two.items,
            two.feature_names,
            two.ordered,
        )
        assert not np.isin(two.features, one.features).any()


def test_noise_is_standard_and_independent():
    noise = noise_features(some(12_000, 2), np.random.default_rng(1))[0].features
    assert np.allclose(noise.mean(axis=0), 0, atol=0.03)
    assert np.allclose(noise.std(axis=0), 1, atol=0.03)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]) < 0.03


def test_noise_of_a_logged_feature_stays_above_0():
    noise = noise_features(some(5000, 2), np.random.default_rng(1), logged=["f1"])[0]
    assert (noise.column("f1") > 0).all()
    assert abs(np.log(noise.column("f1")).std() - 1) < 0.05
    assert (noise.column("f0") < 0).any()


def test_noise_of_features_that_are_arrays():
    c = Collection("1", [Item("a")], np.ones((1, 2, 4)), ["x", "y"])
    assert noise_features([c], np.random.default_rng(0))[0].features.shape == (1, 2, 4)


def test_shuffled_orders_hold_the_same_items_with_their_features():
    before = some(count=4)
    after = shuffle_orders(before, np.random.default_rng(1))
    for one, two in zip(before, after, strict=True):
        where = [one.items.index(item) for item in two.items]
        assert sorted(where) == list(range(6))
        assert np.array_equal(one.features[where], two.features)
        assert two.ordered


def test_shuffled_orders_are_uniform():
    orders = shuffle_orders(some(3, 1, 6000), np.random.default_rng(2))
    _, counts = np.unique([[int(item.id) for item in c.items] for c in orders], axis=0, return_counts=True)
    assert len(counts) == 6
    assert np.abs(counts / 1000 - 1).max() < 0.12
