"""Collections as columns, held against the list of objects they stand for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fabula.core.collection import Collection, Item
from fabula.core.collections import Collections, Numbered, Texts
from fabula.errors import InputError


def objects(sizes=(2, 1, 3), features=("energy", "tempo")):
    rng = np.random.default_rng(1)
    made = []
    for k, n in enumerate(sizes):
        items = [
            Item(f"{k}{j}", f"Été {j}", "", f"by {k}", {"mood": f"m{j}"} if j else {}, 3.5 if j else None)
            for j in range(n)
        ]
        made.append(Collection(f"c{k}", items, rng.normal(size=(n, len(features))), features, title=f"T{k}"))
    return made


def same(one: Collection, other: Collection) -> bool:
    return (
        (one.id, one.items, one.feature_names, one.ordered, one.title)
        == (other.id, other.items, other.feature_names, other.ordered, other.title)
        and np.array_equal(one.features, other.features, equal_nan=True)
        and len(one) == len(other)
    )


def all_same(some, others) -> bool:
    return len(some) == len(others) and all(map(same, some, others))


def test_it_is_the_sequence_that_a_list_is():
    known = objects()
    many = Collections.of(known)
    assert all_same(many, known)
    assert same(many[-1], known[-1])
    assert all_same(many[1:], known[1:])
    assert all_same(many[::-1], known[::-1])
    assert all_same(many[3:], [])
    assert all_same(many + known, known + known)
    assert all_same(known + many, known + known)
    assert all_same(many.only([2, 0]), [known[2], known[0]])
    assert all_same(many.only(many.sizes > 1), [c for c in known if len(c) > 1])
    with pytest.raises(IndexError):
        many[3]


def test_the_block_is_the_features_in_their_order():
    known = objects()
    many = Collections.of(known)
    assert np.array_equal(many.features, np.concatenate([c.features for c in known]))
    assert many.offsets.tolist() == [0, 2, 3, 6]
    assert many.ids.tolist() == ["c0", "c1", "c2"]
    assert np.array_equal(many.column("tempo"), np.concatenate([c.column("tempo") for c in known]))
    assert many.texts("title").tolist() == [item.title for c in known for item in c.items]
    assert many.texts("mood").tolist() == [item.details.get("mood", "") for c in known for item in c.items]
    assert many.texts("nothing").tolist() == [""] * 6
    assert np.shares_memory(many[1].features, many.features)
    with pytest.raises(InputError, match="have no feature 'valence'; they have: energy, tempo"):
        many.column("valence")


@pytest.mark.parametrize("part", [slice(None), slice(1, 3), slice(0, 1)])
def test_it_travels_to_other_processes(part):
    many = Collections.of(objects())[part]
    assert all_same(pickle.loads(pickle.dumps(many)), many)
    assert same(pickle.loads(pickle.dumps(many[0])), many[0])
    assert same(copy.deepcopy(many[0]), many[0])


def test_a_part_travels_without_the_rest():
    texts = Texts.of([f"title {i}" for i in range(10_000)])
    many = Collections(np.zeros((10_000, 1)), np.arange(0, 10_001, 10), ["x"])
    many._items.details["note"] = texts
    assert len(pickle.dumps(many[:2])) < 5_000
    assert pickle.loads(pickle.dumps(texts[5:7])).tolist() == ["title 5", "title 6"]


def test_a_view_can_be_changed_like_any_collection():
    one = Collections.of(objects())[0]
    assert replace(one, title="new").items == one.items
    assert [item.id for item in one.reordered([1, 0]).items] == ["01", "00"]
    assert one.only([1]).features.shape == (1, 2)
    assert "Été 0" in repr(one)
    with pytest.raises(AttributeError, match="nothing"):
        _ = one.nothing


def test_items_are_made_once_and_only_when_asked_for(monkeypatch):
    made = []
    kept = Item.__init__
    monkeypatch.setattr(Item, "__init__", lambda self, *args, **more: (made.append(1), kept(self, *args, **more))[1])
    many = Collections(np.zeros((1000, 2)), np.arange(0, 1001, 4), ["a", "b"])
    assert sum(len(c) for c in many) == 1000
    assert not made
    one = many[3]
    assert one.items is one.items
    assert [item.id for item in one.items] == ["13", "14", "15", "16"]
    assert len(made) == 4


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"offsets": [0, 2, 2, 3]}, "offsets must rise"),
        ({"offsets": [0, 2]}, "offsets must begin with 0 and end with the number of rows, 3"),
        ({"offsets": [0.0, 3.0]}, "offsets must be integers"),
        ({"feature_names": ["a"]}, r"shape \(3, 1, ...\); got \(3, 2\)"),
        ({"feature_names": ["a", "a"]}, "'a' is named twice"),
        ({"ids": ["one"]}, "ids: there must be 2; got 1"),
        ({"titles": ["one"]}, "titles: there must be 2; got 1"),
    ],
)
def test_a_block_that_cannot_be_is_refused(changed, line):
    block = {"features": np.zeros((3, 2)), "offsets": [0, 1, 3], "feature_names": ["a", "b"]}
    with pytest.raises(InputError, match=line):
        Collections(**(block | changed))


def test_collections_of_other_features_have_no_block():
    one, *_ = objects()
    with pytest.raises(InputError, match="must have the same features"):
        Collections.of([one, *objects(features=("energy",))])


@pytest.mark.slow
@given(st.lists(st.text(), max_size=12), st.randoms())
def test_texts_are_the_texts(texts, random):
    block = Texts.of(texts)
    rows = np.array([random.randrange(len(texts)) for _ in texts], dtype=np.intp)
    assert block.tolist() == list(block) == texts
    assert block[rows].tolist() == [texts[row] for row in rows]
    assert pickle.loads(pickle.dumps(block[rows])).tolist() == [texts[row] for row in rows]


def test_numbers_of_rows():
    rows = Numbered(np.arange(5, 9))
    assert rows[0] == "5"
    assert rows[-1] == "8"
    assert rows[np.array([2, 0])].tolist() == ["7", "5"]
