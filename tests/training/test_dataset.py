import numpy as np
import pytest
import torch

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.training import data as gathering
from fabula.training.data import check_collections, choose_features, fingerprint, fit_transform, make_pool
from fabula.training.recipes import TrainingConfig


@pytest.mark.parametrize("block", [1, 11, 4096])
def test_the_transform_is_that_of_all_items_at_once(make, monkeypatch, block):
    monkeypatch.setattr(gathering, "_ROWS", block)
    collections = make(20, names=("energy", "duration_ms"))
    for c in collections:
        c.features[:, 1] = np.exp(c.features[:, 1])
    collections[3].features[0, 0] = np.nan
    rows = np.concatenate([c.features for c in collections])
    rows[:, 1] = np.log(rows[:, 1])
    got = fit_transform(collections, ("energy", "duration_ms"), ("duration_ms", "loudness"))
    assert got.logged == ("duration_ms",)
    assert got.mean == pytest.approx(np.nanmean(rows, axis=0), abs=1e-12)
    assert got.deviation == pytest.approx(np.nanstd(rows, axis=0), abs=1e-12)


@pytest.mark.parametrize("block", [1, 11, 4096])
@pytest.mark.parametrize("statistics", [0, 2])
def test_a_pool_holds_the_transformed_items_by_rising_length(make, monkeypatch, block, statistics):
    monkeypatch.setattr(gathering, "_ROWS", block)
    collections = make(10, lengths=(7, 4, 6), statistics=statistics)
    transform = fit_transform(collections, collections[0].feature_names, ())
    pool = make_pool(collections, transform, torch.device("cpu"))
    assert pool.values.dtype == torch.float32
    assert {n: len(chosen) for n, chosen in pool.by_length.items()} == {4: 3, 6: 3, 7: 4}
    assert pool.lengths.tolist() == sorted(pool.lengths.tolist())
    expected = np.concatenate([transform.apply(c.features) for c in sorted(collections, key=len)])
    assert pool.values.numpy() == pytest.approx(expected, abs=1e-5)


def test_a_missing_value_counts_as_the_mean(make):
    collections = make(6)
    collections[0].features[0, 1] = np.nan
    transform = fit_transform(collections, collections[0].feature_names, ())
    assert make_pool(collections, transform, torch.device("cpu")).values[0, 1] == 0


def test_the_fingerprint_sees_ids_values_and_order(make):
    def told(collections):
        return fingerprint(collections, ("energy", "loudness"))

    first = told(make(5))
    assert first == told(make(5))
    others = [make(5, seed=1), make(4), make(5)[::-1]]
    renamed = make(5)
    renamed[0] = Collection("other", renamed[0].items, renamed[0].features, renamed[0].feature_names)
    assert len({first, *map(told, [*others, renamed])}) == 5


def test_bad_collections_are_told(make):
    with pytest.raises(InputError, match="validation needs at least one ordered collection; got none"):
        check_collections([], role="validation")
    single = Collection("x", [Item("a")], [[1.0]], ["energy"])
    with pytest.raises(InputError, match="training collection 'x' has 1 item: an order needs at least 2"):
        check_collections([*make(2), single], role="training")
    loose = make(1)[0].reordered([1, 0, 2, 3])
    with pytest.raises(InputError, match="collection 'c0' is not ordered"):
        check_collections([loose], role="training")
    with pytest.raises(InputError, match="has no features"):
        choose_features(TrainingConfig(), [Collection("x", [Item("a"), Item("b")])])


def test_bad_features_are_told(make):
    collections = make(4)
    names = collections[0].feature_names
    for c in collections:
        c.features[:, 2] = 0.1
    with pytest.raises(InputError, match="feature 'tempo' has the same value in every training item"):
        fit_transform(collections, names, ())
    for c in collections:
        c.features[:, 2] = np.nan
    with pytest.raises(InputError, match="feature 'tempo' has no value in any training item"):
        fit_transform(collections, names, ())
    collections[1].features[0, 0] = np.inf
    with pytest.raises(InputError, match="feature 'energy' must be finite"):
        fit_transform(collections, names, ())
    with pytest.raises(InputError, match="no feature 'valence'"):
        fit_transform(collections, ("valence",), ())
    mixed = [*make(1), *make(1, statistics=2)]
    with pytest.raises(InputError, match=r"features of one item have shape \(3, 2\)"):
        fit_transform(mixed, names, ())
