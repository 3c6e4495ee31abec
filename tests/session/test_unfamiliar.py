"""Of what a model has not learned nothing is claimed, in one line; verse is given to the model for it."""

from __future__ import annotations

import inspect
import textwrap

import numpy as np
import pytest

from fabula.session.open import demo_folder
from fabula.session.session import open_session

VERSE = """The {0} goes over the hill,
The {1} is quiet and cold,
And down in the valley the mill
Grinds on for the {0} of old."""
CZECH = "byl jednou jeden král a ten měl tři syny, kteří se vydali do světa a nikdo neví kam šli, ale každý z nich {} "


def write(folder, texts):
    folder.mkdir()
    for k, text in enumerate(texts):
        (folder / f"{k:02}.txt").write_text(text, encoding="utf-8")
    return folder


def nothing_claimed(ordered) -> bool:
    told = ordered.to_json()
    return told["sure"] is told["direction"] is told["opener"] is told["close"] is None


def test_verse_is_given_to_poems_with_nothing_claimed(tmp_path, rng):
    words = ["wind", "moon", "rain", "crow", "snow", "road", "star", "lamp", "sea", "fox"]
    texts = [VERSE.format(*rng.choice(words, 2, replace=False)) + f"\nAnd {word} and {word} again" for word in words]
    folder = write(tmp_path / "poems", texts)
    ordered = open_session(folder).order(alternatives=1)
    assert ordered.session.model_name == "poems"
    assert nothing_claimed(ordered)
    (note,) = [note for note in ordered.notes if "looks like verse" in note]
    assert "knows what goes beside what" in note
    assert not any("%" in text for text in (*ordered.notes, *ordered.reasons))
    asked = open_session(folder, model="poems").order(alternatives=1)
    assert asked.to_json()["sure"] is not None


@pytest.mark.parametrize("kind", ["code", "language", "notes"])
def test_of_other_kinds_nothing_is_claimed_and_one_line_says_so(tmp_path, rng, kind):
    if kind == "code":
        modules = (textwrap, inspect, np.ma, np.testing, np.random, np.polynomial)
        texts = [source for source in map(source_of, modules) if len(source) > 400][:6]
        texts = [*texts, *(source_of(one) for one in (pytest, open_session))]
    elif kind == "language":
        texts = [CZECH.format(word) * 40 for word in ("spal", "jedl", "pil", "zpíval", "mlčel", "utekl", "padl")]
    else:
        texts = [f"Buy milk, {k} eggs and bread. Call Ann about the {word}." for k, word in enumerate("abcdefgh")]
    ordered = open_session(write(tmp_path / kind, texts)).order(alternatives=1)
    assert nothing_claimed(ordered)
    told = [note for note in ordered.notes if note.startswith("a guess: ")]
    assert len(told) == 1
    assert ("language" in told[0]) == (kind == "language")
    assert not any("%" in note or "times" in note for note in ordered.notes)


def source_of(what) -> str:
    try:
        return inspect.getsource(what)
    except (OSError, TypeError):
        return ""


def test_albums_are_claimed():
    told = open_session(demo_folder()).order().to_json()
    assert 0.5 < told["sure"] < 0.7
    assert told["sure"] < told["direction"] < 1
    assert 0 < told["opener"] < 1
    assert 0 < told["close"] < 1


def test_an_order_made_by_hand_is_not_claimed(demo):
    ordered = demo.order(ordering=list(range(len(demo.collection))))
    assert nothing_claimed(ordered)
