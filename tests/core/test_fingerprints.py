"""Digests by which collections are known again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.fingerprints import Fingerprints, find_shared, fingerprints_of
from fabula.errors import InputError

LETTERS = str.maketrans("0123456789", "abcdefghij")
NAMES = ("energy", "loudness", "tempo")


def made(count: int, seed: int = 0, titles: str = "") -> list[Collection]:
    rng = np.random.default_rng(seed)
    out = []
    for number in range(count):
        n = 3 + number % 6
        words = [f"{number} {j}".translate(LETTERS) for j in range(n)]
        items = [Item(f"{number}-{j}", titles.format(j=j, words=word)) for j, word in enumerate(words)]
        out.append(Collection(f"c{number}", items, rng.normal(size=(n, 3)), NAMES))
    return out


def test_a_collection_is_known_whatever_the_order_of_rows_and_columns_and_its_id():
    known = made(60)
    seen = Fingerprints.of(known, NAMES)
    assert all(seen.among(known))
    assert not any(seen.among(made(60, seed=1)))
    rng = np.random.default_rng(5)
    for c in known[:20]:
        columns = rng.permutation(3)
        names = [*(NAMES[i] for i in columns), "more"]
        values = np.concatenate([c.features[:, columns], rng.normal(size=(len(c), 1))], axis=1)
        other = Collection("another", c.items, values, names).reordered(rng.permutation(len(c)))
        assert seen.among([other]) == [True]
        changed = c.features + 0.01
        assert seen.among([Collection(c.id, c.items, changed, NAMES)]) == [False]


def test_missing_values_and_single_precision_change_nothing():
    known = made(40)
    for c in known:
        c.features[0, 1] = np.nan
    seen = Fingerprints.of(known, NAMES)
    single = [Collection(c.id, c.items, c.features.astype(np.float32), NAMES) for c in known]
    assert all(seen.among(single))


def test_titles_tell_where_values_cannot():
    known = made(40, titles="song {words}")
    seen = Fingerprints.of(known, NAMES)
    bare = [Collection("x", c.items) for c in known]
    assert all(seen.among(bare))
    assert not any(
        Fingerprints.of(made(40, titles="Track {j}"), NAMES).among([Collection("x", c.items) for c in known])
    )


def test_what_cannot_tell_collections_apart_is_not_digested():
    """Yes and no, and titles that every collection has, would call every collection known."""
    rng = np.random.default_rng(0)
    coarse = [
        Collection(str(i), [Item(str(j), f"Track {j}") for j in range(8)], rng.integers(0, 2, (8, 1)), ["mode"])
        for i in range(200)
    ]
    assert len(Fingerprints.of(coarse[:100], ["mode"])) == 0
    assert not any(find_shared(coarse[:100], coarse[100:]))


def test_it_is_small_and_comes_back_from_json():
    seen = Fingerprints.of(made(500), NAMES)
    text = json.dumps(seen.to_dict())
    assert len(text) < 500 * 18
    back = fingerprints_of({"seen": json.loads(text)})
    assert back is not None
    assert np.array_equal(back.values, seen.values)
    assert np.array_equal(back.pairs, seen.pairs)
    assert back.features == NAMES
    assert fingerprints_of({}) is None
    with pytest.raises(InputError, match="damaged"):
        fingerprints_of({"seen": {"features": ["a"], "values": "!!"}})


def test_both_of_two():
    first, second = made(30), made(30, seed=1)
    both = Fingerprints.of(first, NAMES) | Fingerprints.of(second, NAMES)
    assert all(both.among([*first, *second]))


def test_what_all_items_of_a_collection_share_does_not_tell_it():
    rows = {"a": (1880.0, 14.0), "b": (1880.0, 14.0), "c": (1901.0, 20.0)}
    books = {
        name: Collection(name, [Item(str(k)) for k in range(14)], [row] * 14, ["year", "parts"])
        for name, row in rows.items()
    }
    assert Fingerprints.of([books["a"], books["c"]], ["year", "parts"]).among([books["b"]]) == [False]


def test_a_collection_is_known_when_an_item_is_missing():
    known = [c for c in made(120, titles="song {words}") if len(c) > 4]
    less = [c.only(range(len(c) - 1)) for c in known]
    bare = [Collection("x", c.items) for c in less]  # by their titles alone
    untitled = [Collection("x", [Item(x.id) for x in c.items], c.features, NAMES) for c in less]
    seen = Fingerprints.of(known, NAMES)
    for again in (less, bare, untitled):
        assert sum(seen.among(again)) > 0.9 * len(known)
    others = [c for c in made(120, seed=1, titles="other {words}") if len(c) > 4]
    assert not any(seen.among(c.only(range(len(c) - 1)) for c in others))


def test_a_remaster_is_the_same_collection():
    known = [c for c in made(60, titles="song {words}") if len(c) > 3]
    for name in (
        "{} (Remastered 2011)",
        "{} - 2009 Remaster",
        "{} [Mono]",
        "{} \u2013 Remastered 2011",
        "{} / Remastered",
    ):
        again = [Collection("x", [Item(x.id, name.format(x.title)) for x in c.items]) for c in known]
        assert all(Fingerprints.of(known, NAMES).among(again))
    live = [Collection("x", [Item(x.id, f"{x.title} (Live)") for x in c.items]) for c in known]
    assert not any(Fingerprints.of(known, NAMES).among(live))


def test_values_that_were_moved_a_little_are_the_same_collection():
    known = made(60)
    moved = [
        Collection("x", [Item(x.id) for x in c.items], c.features + np.array([0.01, 0, -0.005]), NAMES) for c in known
    ]
    assert all(find_shared(known, moved))
    assert all(find_shared(known, [c.only(range(1, len(c))) for c in moved if len(c) > 3]))
    assert not any(find_shared(known, made(60, seed=1)))
    coarse = [Collection(c.id, c.items, c.features[:, :1].round(1), ["energy"]) for c in known]
    assert not any(find_shared(coarse[:30], coarse[30:]))
