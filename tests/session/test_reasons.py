"""Why items stand where they stand."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.media.registry import find_medium
from fabula.session import explain
from fabula.session.explain import likelier, story, traits_by_feature
from fabula.session.session import open_session


def test_a_feature_without_a_value_says_nothing():
    items = [Item(str(i)) for i in range(4)]
    features = np.array([[np.nan, 0.1], [np.nan, 0.9], [np.nan, 0.5], [np.nan, 0.4]])
    collection = Collection("c", items, features, ("speechiness", "energy"))
    found = traits_by_feature(collection, (), find_medium("music"))
    assert [list(words.values()) for words in found] == [["calm"], ["energetic"], [], []]
    assert traits_by_feature(collection, (), find_medium("items")) == [{}, {}, {}, {}]


def test_reasons_say_what_an_item_is_like(demo):
    ordered = demo.by(model="audio").order()
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


def test_the_model_says_what_it_goes_by(suite):
    ordered = suite.order()
    why = dict(zip(ordered.titles, ordered.reasons, strict=True))
    assert re.fullmatch(
        r"short and quiet: opens, the likeliest opener \(\d\d %\); titles like this often open", why["Intro"]
    )
    assert re.search(r": closes, the likeliest close \(\d\d %\); titles like this often close", why["Outro"])
    assert "follows Suite Pt. 1, as its title says" in why["Suite Pt. 2"]
    assert "leads into Suite Pt. 2" in why["Suite Pt. 1"]
    assert f"({100 * ordered.sureness.opener:.0f} %)" in why["Intro"]


def test_no_reason_is_only_that_nothing_decides(suite, demo):
    for ordered in (suite.order(), demo.order()):
        assert not any("no one thing" in reason or "give or take" in reason for reason in ordered.reasons)


@pytest.mark.parametrize(
    ("chances", "told"),
    [
        ([0.0902, 0.0904, 0.8], "opens (9 %); c is a likelier opener (80 %), but fits better elsewhere"),
        ([0.0902, 0.0904, 0.01], "opens, as likely as any opener (9 %)"),
        ([0.0904, 0.0902, 0.01], "opens, the likeliest opener (9 %)"),
    ],
)
def test_ends_are_held_against_each_other_as_they_are_shown(monkeypatch, chances, told):
    monkeypatch.setattr(explain, "calibration", lambda model: {"opener": [0.0, 1.0, 0.0], "close": [0.0, 1.0, 0.0]})
    monkeypatch.setattr(explain, "calibrate", lambda numbers, chance, n: chance)
    seen = SimpleNamespace(
        model=None,
        posterior=SimpleNamespace(positions=np.array([chances, chances]).T),
        collection=Collection("c", [Item(name) for name in "abc"]),
    )
    session = SimpleNamespace(medium=find_medium("music"))
    ordered = SimpleNamespace(ordering=np.arange(3), sides=(), side_of=lambda place: (0, place), session=session)
    found = SimpleNamespace(by_group=np.zeros((3, 0)), groups=())
    assert explain.Teller(ordered, seen, found, [{}] * 3).sentence(0) == told


def test_a_wish_is_told_as_a_wish(suite):
    ordered = suite.order(first="Night", sides=2)
    assert ordered.reasons[0].endswith("opens side A, as wished")
    assert "opens side B" in ordered.reasons[ordered.sides[0]]
    assert "Intro would with" not in ordered.reasons[0]


def test_two_alike_orders_are_doubted(tmp_path):
    path = tmp_path / "alike.csv"
    path.write_text("title,duration_ms,loudness\n" + "".join(f"Song {k},200000,-8\n" for k in "abcdefg"))
    assert any(note.startswith("treat this as a guess") for note in open_session(path).order().notes)
