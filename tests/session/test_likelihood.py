"""Orders that the model `music` proposes: titles, neighbours and context."""

from __future__ import annotations

import weakref
from itertools import pairwise, permutations

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.energy import MOST_ORDERED
from fabula.core.posterior import agreement
from fabula.errors import InputError
from fabula.media.registry import find_medium
from fabula.models import order as orders
from fabula.models.model import load_model
from fabula.session import propose
from fabula.session.propose import judge
from fabula.session.session import open_session


def test_titles_that_say_where_they_stand(suite):
    titles = suite.order().titles
    assert titles[0] == "Intro"
    assert titles[-1] == "Outro"
    assert titles.index("Suite Pt. 2") == titles.index("Suite Pt. 1") + 1


def test_the_likeliest_is_the_likeliest_of_all(tmp_path):
    """Of seven items every order is looked at."""
    rng = np.random.default_rng(1)
    path = tmp_path / "seven.csv"
    lines = [
        f"{t},{rng.integers(120, 300)}000,{rng.normal(-9, 3):.1f}"
        for t in ["Opening", "Run", "Sea", "Home", "Rain", "Stay", "End"]
    ]
    path.write_text("title,duration_ms,loudness\n" + "\n".join(lines) + "\n")
    session = open_session(path)
    ordered = session.order(likeliest=True)
    scores = [session.likelihood.score(np.array(order)) for order in permutations(range(7))]
    assert ordered.fit.exact
    assert ordered.gap == 0
    assert ordered.likeliest
    assert ordered.fit.score == pytest.approx(max(scores))
    times = np.exp(max(scores)) / np.mean(np.exp(scores))
    assert session.likelihood.beyond_chance(ordered.ordering) == pytest.approx(times)


def test_what_is_proposed_is_expected_to_agree_best_and_the_likeliest_is_told(table):
    session = open_session(table)
    ordered = session.order()
    assert ordered.ordering.tolist() == orders.likeliest(agreement(session.likelihood.posterior)).ordering.tolist()
    assert ordered.fit.exact
    likeliest = next(proposal for proposal in ordered.proposals if proposal.likeliest)
    assert likeliest.fit.ordering.tolist() == session.order(likeliest=True).ordering.tolist()
    assert likeliest.fit.score == max(proposal.fit.score for proposal in ordered.proposals)


def test_what_closes_closes_the_last_side(suite):
    """Positions count through all sides: no side is an album of its own."""
    for likeliest in (False, True):
        ordered = suite.order(sides=2, likeliest=likeliest)
        assert len(ordered.sides) == 2
        assert (ordered.titles[0], ordered.titles[-1]) == ("Intro", "Outro")
        whole = suite.likelihood.tables.at(8)[ordered.ordering, np.arange(8)].sum()
        links = [(a, b) for k, (a, b) in enumerate(pairwise(ordered.ordering), start=1) if k != ordered.sides[0]]
        assert ordered.fit.score == pytest.approx(whole + sum(suite.likelihood.flow[a, b] for a, b in links))


def test_alternatives_are_others_and_less_likely(suite):
    ordered = suite.order(alternatives=4, likeliest=True)
    scores = [proposal.fit.score for proposal in ordered.proposals]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(proposal.fit.ordering) for proposal in ordered.proposals}) == len(scores)


def test_the_order_of_the_rows_has_no_say(suite, tmp_path):
    lines = (tmp_path / "suite.csv").read_text().splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    assert open_session(other).order().titles == suite.order().titles


def test_wishes_hold_and_one_that_holds_already_changes_nothing(suite):
    free = suite.order()
    assert suite.order(before=[("Intro", "Fire")]).titles == free.titles
    assert suite.order(first="Night", last="Fire").titles[0] == "Night"
    two = suite.order(sides=2)
    assert sum(two.sides) == 8
    assert two.fit.score == pytest.approx(suite.likelihood.score(two.ordering, two.sides))


def test_titles_alone_are_enough(tmp_path):
    path = tmp_path / "titles.csv"
    path.write_text("title,artist,album\nOutro,X,Y\nRain,X,Y\nIntro,X,Y\nRun,X,Y\n")
    session = open_session(path, model="music")
    assert session.features == ("title",)
    titles = session.order().titles
    assert (titles[0], titles[-1]) == ("Intro", "Outro")


def test_a_template_is_followed_by_the_essence_that_draws_the_arc(suite):
    ordered = suite.order(template="steady-rise")
    assert ordered.task.likelihood is None
    assert np.all(np.diff(suite.essence[ordered.ordering]) >= 0)


def test_streams_are_ordered_by_what_the_playlist_says(tmp_path):
    path = tmp_path / "radio.m3u8"
    entries = [("Outro", 90), ("Rain", 240), ("Intro", 60), ("Run", 190)]
    path.write_text("#EXTM3U\n" + "".join(f"#EXTINF:{s},X - {t}\nhttp://a.example/{t}\n" for t, s in entries))
    session = open_session(path)
    assert session.features == ("title", "duration_ms")
    titles = session.order().titles
    assert (titles[0], titles[-1]) == ("Intro", "Outro")


def test_lengths_in_seconds_or_as_a_clock_are_known_to_the_model(tmp_path):
    path = tmp_path / "clock.csv"
    path.write_text("title,duration,loudness\nRain,4:00,-9\nRun,3:10,-5\nHome,2:50,-7\n")
    session = open_session(path)
    assert session.collection.column("duration_ms").tolist() == [240000, 190000, 170000]
    assert "duration_ms" in session.features


def test_items_that_are_too_many_to_order_are_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    items = tuple(Item(str(n), details={"text": "Rain fell on the hills."}) for n in range(MOST_ORDERED + 1))
    found = judge(load_model("prose"), Collection("a", items, np.zeros((len(items), 0)), ()), find_medium("text"))
    monkeypatch.setattr(propose, "find_evidence", lambda *_: pytest.fail("they are looked into"))
    with pytest.raises(InputError, match="10,000 items at most"):
        _ = found.evidence


def test_the_table_to_solve_is_held_by_the_solver_alone(suite, monkeypatch) -> None:
    held = []

    def arrange(*_: object, flow: np.ndarray, **__: object) -> None:
        known = weakref.ref(flow)
        del flow
        held.append(known() is not None)
        raise LookupError

    monkeypatch.setattr(propose, "arrange", arrange)
    with pytest.raises(LookupError):
        suite.order()
    assert held == [False]
