"""Many collections through a set model: what each gives by itself."""

import tracemalloc

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.collections import Collections
from fabula.core.energy import Energy
from fabula.core.posterior import agreement, posterior
from fabula.errors import InputError, ModelError
from fabula.models.encoders import set as module
from fabula.models.order import likeliest

WORDS = ("Intro", "Hope", "Rain", "the end", "Part", "1", "2", "Été", "II")
SIZES = (1, 2, 6, 3, 6, 9, 2)


@pytest.fixture
def collections(rng, model):
    made = []
    for number, n in enumerate(SIZES):
        columns = [rng.normal(-8, 3, n), rng.integers(-1, 12, n), rng.integers(0, 2, n), rng.uniform(9e4, 4e5, n)]
        features = np.stack(columns, axis=1)
        features[rng.random(features.shape) < 0.2] = np.nan
        items = [Item(f"{number}.{i}", " ".join(rng.choice(WORDS, 2)), artist="Rain") for i in range(n)]
        made.append(Collection(str(number), items, features, model.feature_names, title="Hope"))
    return made


def parts(array, collections):
    return np.split(array, np.cumsum([len(c) for c in collections])[:-1])


@pytest.mark.parametrize("raw", [False, True])
def test_each_essence_is_that_of_its_collection(model, collections, raw):
    essence = model.encode_many(collections, raw=raw)
    for part, collection in zip(parts(essence, collections), collections, strict=True):
        np.testing.assert_allclose(part, model.encode(collection, raw=raw), atol=2e-4)


def test_columns_arrays_and_collections_are_one(model, collections):
    block = Collections.of(collections)
    np.testing.assert_array_equal(model.encode_many(block), model.encode_many(collections))
    untitled = model.encode_many(block.features, block.offsets)
    for part, collection in zip(parts(untitled, collections), collections, strict=True):
        np.testing.assert_allclose(part, model.encode(collection.features), atol=2e-4)


def test_titles_alone(model, collections):
    block = Collections.of(collections)
    rows, titles = len(block.features), block.texts("title").tolist()
    essence = model.encode_many(Collections(np.zeros((rows, 0)), block.offsets, items={"title": titles}), raw=True)
    for part, collection in zip(parts(essence, collections), collections, strict=True):
        alone = model.encode(None, [item.title for item in collection.items], raw=True)
        np.testing.assert_allclose(part, alone, atol=1e-5)


def test_the_likeliest_is_what_order_gives_first(model, collections):
    ordered = model.order_many(collections)
    for number, collection in enumerate(collections):
        first = model.order(collection, alternatives=1)[0]
        assert ordered.scores[number] == pytest.approx(first.score, abs=1e-4)
        np.testing.assert_array_equal(ordered[number], first.ordering)
    assert ordered.exact.all()


def test_what_agrees_best_is_what_is_proposed(model, collections):
    ordered = model.order_many(collections, rule="agreeing")
    for number, collection in enumerate(collections):
        tables = model.energy(collection)
        best = likeliest(agreement(posterior(tables)))
        np.testing.assert_array_equal(ordered[number], best.ordering)
        assert ordered.scores[number] == pytest.approx(tables.score(best.ordering), abs=1e-4)


def test_by_arcs_alone(model, collections):
    ordered = model.order_many(collections, rule="arcs")
    for number, collection in enumerate(collections):
        tables = model.energy(collection)
        arcs = Energy(tables.positions, np.zeros_like(tables.flow))
        others = max(arcs.score(np.random.default_rng(k).permutation(len(collection))) for k in range(50))
        assert arcs.score(ordered[number]) >= others - 1e-4
        assert ordered.scores[number] == pytest.approx(tables.score(ordered[number]), abs=1e-4)


@pytest.mark.parametrize("rule", ["likeliest", "agreeing", "arcs"])
def test_the_order_and_number_of_collections_change_nothing(model, collections, rule, rng, monkeypatch):
    whole = model.order_many(collections, rule=rule)
    monkeypatch.setattr(module, "_TOGETHER", 1)
    mixed = rng.permutation(len(collections))
    again = model.order_many([collections[i] for i in mixed], rule=rule)
    np.testing.assert_allclose(again.scores, whole.scores[mixed], atol=1e-4)
    for number, ordering in zip(mixed, again, strict=True):
        np.testing.assert_array_equal(ordering, whole[number])


@pytest.mark.slow
def test_more_than_eighteen_items(model, rng):
    features = np.stack([rng.normal(-8, 3, 21), *rng.integers(0, 2, (2, 21)), rng.uniform(9e4, 4e5, 21)], axis=1)
    ordered = model.order_many(features, [0, 19, 21], seconds=0.1)
    assert sorted(ordered[0].tolist()) == list(range(19))
    first = model.order(features[:19], alternatives=1)[0]
    assert ordered.scores[0] >= first.score - 1e-4
    assert (ordered.gap[ordered.exact] == 0).all()
    np.testing.assert_array_equal(np.sort(ordered.rows), np.arange(21))


def test_what_is_no_batch_is_refused(model, collections):
    with pytest.raises(InputError, match="rule must be one of"):
        model.order_many(collections, rule="best")
    with pytest.raises(InputError, match="offsets must say"):
        model.encode_many(np.zeros((3, 4)))
    with pytest.raises(ModelError, match="shape"):
        model.encode_many(np.zeros((3, 2)), [0, 3])
    with pytest.raises(InputError, match=r"one text per row, 3, .*; got 2 of 'title'"):
        Collections(np.zeros((3, 0)), [0, 3], items={"title": ["a", "b"]})
    with pytest.raises(InputError, match="offsets of their own"):
        model.encode_many(Collections.of(collections), [0, 3])


def test_no_collection_gives_nothing(model):
    assert model.encode_many(np.zeros((0, 4)), [0]).shape == (0, model.dimensions)
    assert len(model.order_many(np.zeros((0, 4)), np.array([0]))) == 0
    assert model.encode_all([]) == []


def test_memory_does_not_grow_with_the_number_of_collections(model, rng, monkeypatch):
    monkeypatch.setattr(module, "_TOGETHER", 2000)
    features = np.stack([rng.normal(-8, 3, 3600), *rng.integers(0, 2, (2, 3600)), rng.uniform(9e4, 4e5, 3600)], axis=1)
    peaks = []
    for count in (50, 150, 600):  # the first to load what is loaded once
        tracemalloc.start()
        model.order_many(features[: 6 * count], np.arange(0, 6 * count + 1, 6), rule="arcs")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.5 * peaks[1]
