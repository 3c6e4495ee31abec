from __future__ import annotations

import pickle
from types import MappingProxyType

import numpy as np
import pytest

from fabula.core.arrays import as_ordering, normalise, positions
from fabula.core.collection import Collection, Item
from fabula.errors import InputError

TWO = (Item("a", title="A"), Item("b", path="x/y.ogg"))


def test_columns_by_name():
    c = Collection("1", TWO, [[0.5, 1], [0.7, 2]], ("energy", "tempo"))
    assert c.column("tempo").tolist() == [1, 2]
    assert c.columns(["tempo", "energy"]).tolist() == [[1, 0.5], [2, 0.7]]
    with pytest.raises(InputError, match="collection '1' has no feature 'key'; it has: energy, tempo"):
        c.column("key")


def test_reordered_moves_items_and_features_together():
    c = Collection("1", TWO, [[0.5], [0.7]], ["energy"]).reordered([1, 0])
    assert [item.id for item in c.items] == ["b", "a"]
    assert c.column("energy").tolist() == [0.7, 0.5]
    assert not c.ordered


def test_labels():
    assert [item.label for item in (*TWO, Item("only-id"))] == ["A", "y.ogg", "only-id"]


@pytest.mark.parametrize(
    ("items", "features", "names", "message"),
    [
        ((), None, (), "must have at least one item"),
        (TWO, [[1.0]], ("x",), r"features must have shape \(2, 1, ...\); got \(1, 1\)"),
        (TWO, [[1.0], [2.0]], ("x", "y"), r"features must have shape \(2, 2, ...\); got \(2, 1\)"),
        (TWO, [[1.0, 1], [2.0, 2]], ("x", "x"), "feature 'x' is named twice"),
    ],
)
def test_malformed(items, features, names, message):
    with pytest.raises(InputError, match=message):
        Collection("1", items, features, names)


def test_float32_features_are_not_copied_up():
    features = np.zeros((2, 75, 7), dtype=np.float32)
    names = [f"f{i}" for i in range(75)]
    assert Collection("1", TWO, features, names).features is features


def test_normalise():
    assert np.allclose(normalise([1.0, 2.0, 3.0]), np.array([-1, 0, 1]) * np.sqrt(1.5))
    assert normalise([7.0]).tolist() == [0.0]
    assert normalise(np.full(5, 1e300)).tolist() == [0.0] * 5
    assert np.allclose(normalise([0, 1e-200]), [-1, 1])
    both = normalise([[1.0, 5.0], [2.0, 5.0]])
    assert both.tolist() == [[-1, 0], [1, 0]]
    assert normalise(0.1 + np.zeros(3)).tolist() == [0, 0, 0]


def test_orderings():
    assert positions(1).tolist() == [0.0]
    assert positions(3).tolist() == [0.0, 0.5, 1.0]
    for bad in ([0, 0], [1, 2], [[0, 1]], [0.5, 1], ["a"]):
        with pytest.raises(InputError, match="an ordering must"):
            as_ordering(bad)
    with pytest.raises(InputError, match="an ordering of 3 items must have 3 entries; got 2"):
        as_ordering([0, 1], 3)


def test_items_travel_to_other_processes():
    item = Item("a", "A", "a.ogg", "X", details=MappingProxyType({"year": 1982}))
    again = pickle.loads(pickle.dumps(item))
    assert again == item
    assert again.details["year"] == 1982
