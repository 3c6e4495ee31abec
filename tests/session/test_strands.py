"""Strands: what shares a column stands in one run."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

import fabula
from fabula.core.collection import Item
from fabula.errors import InputError
from fabula.session.request import strands_apart
from fabula.session.session import open_session, session_of

STRANDS = ["x", "y", "x", "y", "x", None]


@pytest.fixture
def session():
    items = [Item(str(k), details={"strand": strand} if strand else {}) for k, strand in enumerate(STRANDS)]
    return session_of(items, [3.0, 1.0, -2.0, 0.5, 2.0, -1.0])


def test_the_best_order_that_tears_no_strand(session):
    found = session.order(template="steady-rise", together_by="strand")
    target = found.fit.targets

    def off(order):
        return float(((session.essence[list(order)] - target) ** 2).sum())

    whole = [order for order in permutations(range(6)) if not strands_apart(np.array(order), STRANDS)]
    assert off(found.ordering) == pytest.approx(min(map(off, whole)))
    assert found.gap == 0
    assert not found.notes


def test_where_it_cannot_hold_a_note_says_so(session):
    found = session.order(template="steady-rise", together_by="strand", at={0: 0, 1: 1, 2: 2})
    assert found.ordering[:3].tolist() == [0, 1, 2]
    assert any("do not let these stay together by strand: x" in note for note in found.notes)


def test_bad_columns(session):
    with pytest.raises(InputError, match="no item has 'colour'; there are:"):
        session.order(template="steady-rise", together_by="colour")
    with pytest.raises(InputError, match="cannot be kept together and apart"):
        session.order(template="steady-rise", together_by="strand", apart="strand")


@pytest.fixture
def chapters(tmp_path):
    for number, strand in enumerate("abababab"):
        text = f"---\ntitle: Ch {number}\nstrand: {strand}\n---\nThen old Tom and Ann met in the rain {number} times. "
        (tmp_path / f"{number}.md").write_text(text + "It was so. " * number, encoding="utf-8")
    return tmp_path


def test_front_matter_says_which_strand(chapters):
    session = open_session(chapters)  # the model proposes
    runs = session.order(together_by="strand")
    assert not strands_apart(runs.ordering, list("abababab"))
    mixed = [session.collection.items[i].details["strand"] for i in session.order(apart="strand").ordering]
    assert all(one != other for one, other in pairwise(mixed))


@pytest.mark.slow
def test_more_than_the_exact_solver_takes(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"t{k},{rng.random():.3f},{'abcd'[k % 4]}" for k in range(40)]
    (tmp_path / "x.csv").write_text("title,height,strand\n" + "\n".join(rows) + "\n")
    ordered = fabula.order(tmp_path / "x.csv", by="height", template="icarus", together_by="strand")
    assert not strands_apart(ordered.ordering, list("abcd" * 10))


def test_smoothness_turns_to_variety(chapters):
    session = open_session(chapters, by="words")
    near, far = (session.order(template="steady-rise", smoothness=weight).changes[0].mean[1] for weight in (5, -5))
    assert near < far
