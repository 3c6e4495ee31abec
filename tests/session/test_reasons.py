"""Why items stand where they stand."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.media.registry import find_medium
from fabula.session.reasons import likelier, story, traits_of


def test_a_feature_without_a_value_says_nothing():
    items = [Item(str(i)) for i in range(4)]
    features = np.array([[np.nan, 0.1], [np.nan, 0.9], [np.nan, 0.5], [np.nan, 0.4]])
    collection = Collection("c", items, features, ("speechiness", "energy"))
    assert traits_of(collection, (), find_medium("music")) == [["calm"], ["energetic"], [], []]
    assert traits_of(collection, (), find_medium("items")) == [[], [], [], []]


def test_reasons_say_what_an_item_is_like(demo):
    ordered = demo.order()
    why = dict(zip(ordered.titles, ordered.reasons, strict=True))
    assert "loud" in why["Red Line"]
    assert "quiet" in why["Embers"]
    assert why[ordered.titles[0]].split(": ")[1].startswith("opener")
    assert why[ordered.titles[-1]].split(": ")[1].startswith("close")


def test_the_order_in_a_sentence(demo):
    ordered = demo.order()
    words = story(ordered)
    assert words.startswith(f"opens with {ordered.titles[0]}")
    assert f"closes with {ordered.titles[-1]}" in words
    times = likelier(ordered.fit, ordered.given)
    assert times == np.exp(ordered.fit.score - ordered.given.score)
