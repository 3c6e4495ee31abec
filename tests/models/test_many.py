"""Many collections through a model of single items: what each gives by itself."""

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.core.collections import Collections
from fabula.errors import InputError, ModelError
from fabula.models import transform as module

SIZES = (1, 2, 6, 3, 6, 30, 2)


@pytest.fixture
def collections(rng):
    def features(n):
        values = rng.random((n, 5)) + 0.1
        values[rng.random(values.shape) < 0.1] = np.nan
        values[n // 2] = values[0]  # equal items
        return values

    names = [f"f{i}" for i in range(5)]
    return [Collection(f"c{k}", [Item(str(i)) for i in range(n)], features(n), names) for k, n in enumerate(SIZES)]


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("raw", [False, True])
def test_each_essence_is_that_of_its_collection(make_model, collections, d, raw):
    model = make_model(d)
    block = Collections.of(collections)
    expected = np.concatenate([model.encode(each, raw=raw) for each in collections])
    for given in ((collections,), (block,), (block.features, block.offsets)):
        np.testing.assert_allclose(model.encode_many(*given, raw=raw), expected, atol=1e-10)


def test_the_raw_essence_does_not_depend_on_the_collection(make_model, collections):
    model, block = make_model(2), Collections.of(collections)
    together = model.encode_many(block, raw=True)
    np.testing.assert_allclose(model.encode_many(block.features, [0, len(together)], raw=True), together)
    assert not np.allclose(model.encode(block.features), np.concatenate(model.encode_all(collections)))


@pytest.mark.parametrize("scorers", [("bilstm", "arcs"), ("bilstm",)])
def test_each_ordering_is_the_first_of_its_collection(make_model, collections, scorers):
    model = make_model(scorers=scorers)
    given = collections[:5]
    ordered = model.order_many(given)
    for number, collection in enumerate(given):
        first = model.order(collection, alternatives=1)[0]
        assert ordered.scores[number] == pytest.approx(first.score)
        np.testing.assert_array_equal(ordered[number], first.ordering)
        assert ordered.exact[number] == first.exact
    assert np.isnan(ordered.gap[~ordered.exact]).all()


def test_rows_at_a_time_change_nothing(make_model, collections, monkeypatch):
    model = make_model()
    whole = model.encode_many(collections)
    monkeypatch.setattr(module, "_ROWS", 7)
    np.testing.assert_allclose(model.encode_many(collections), whole, atol=1e-10)


def test_a_value_that_is_refused_names_its_collection(make_model, collections):
    block = Collections.of(collections)
    block.features[4, 0] = -10.0
    with pytest.raises(InputError, match=r"collection 'c2': feature 'f0' must be above 0.*item 1"):
        make_model().encode_many(block)
    with pytest.raises(InputError, match="collection '3': feature 'f0'"):
        make_model().encode_many(block.features, block.offsets)


def test_a_feature_that_is_missing_is_named(make_model, collections):
    fewer = Collection("x", [Item("a")], [[1.0]], ["f1"])
    for given in ([*collections, fewer], Collections.of([fewer])):
        with pytest.raises(ModelError, match="collection 'x' lacks 4 of the 5 features"):
            make_model().order_many(given)
    with pytest.raises(ModelError, match=r"takes features of shape \(n, 5\)"):
        make_model().encode_many(np.zeros((3, 4)), [0, 3])


def test_a_model_that_looks_into_items_says_so():
    model = fabula.load_model("poems")
    for ask in (model.encode_many, model.order_many):
        with pytest.raises(InputError, match="looks into the items"):
            ask(np.zeros((3, 4)), [0, 3])
