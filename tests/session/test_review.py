"""The review of an order as it stands, against orders scored one by one and faults that were planted."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.core.energy import Energy
from fabula.core.moves import Move
from fabula.core.posterior import posterior
from fabula.errors import InputError
from fabula.media.registry import find_medium
from fabula.models.sureness import calibrate, calibration
from fabula.report.reviews import move_lines, name_ends, review_lines, verdict
from fabula.session.open import demo_folder
from fabula.session.propose import judge
from fabula.session.review import _steps_along, outlying, review_session
from fabula.session.session import Session, session_of
from fabula.sources.registry import Source


def session_by(energy: Energy, order: np.ndarray, sides: tuple[int, ...] = ()) -> Session:
    """Tracks in an order, of whom a model says this; the k-th is called ``t k``."""
    music, n = find_medium("music"), len(order)
    details = [{"side": "AB"[int(at >= sides[0])]} if sides else {} for at in range(n)]
    items = [Item(f"i{k}", f"t {k}", details=each, length=60.0) for k, each in zip(order, details, strict=True)]
    collection = Collection("c", items, np.linspace(0, 1, n)[order][:, np.newaxis], ("energy",))
    likelihood = judge(fabula.load_model("music"), collection, music)
    likelihood.__dict__["energy"] = energy.take(order)
    source = Source(Path("c"), collection, music)
    return Session(source, np.linspace(-1, 1, n)[order], ("energy",), None, likelihood)


def rising(n: int, strength: float = 1.0) -> Energy:
    """A model that is sure of the order of the numbers, neighbours included."""
    near = -np.abs(np.arange(n)[:, np.newaxis] + 1 - np.arange(n)) * strength
    return Energy(np.outer(np.arange(n), np.arange(n)) * strength / n, near / n)


@pytest.fixture
def twelve() -> Energy:
    return rising(12, 4.0)


def test_one_moved_far_is_named_first_and_put_back(twelve):
    order = Move(2, 9, 0.0).apply(np.arange(12))
    review = session_by(twelve, order).review()
    assert (review.odd[0].id, review.odd[0].position, review.odd[0].better) == ("i2", 10, 3)
    assert review.odd[0] in review.clear_odd
    first = review.moves[0]
    assert (first.id, first.start, first.to, first.swap) == ("i2", 10, 3, None)
    assert first.say == "move t 2 from 10 to 3, after t 1"
    assert review.apply(1).titles == [f"t {k}" for k in range(12)]
    assert review.improved >= review.percentile > 90
    assert {join.after for join in review.joins[:2]} == {9, 10}


def test_two_that_changed_places_are_named_and_swapped_back(twelve):
    order = Move(1, 8, 0.0, swap=True).apply(np.arange(12))
    review = session_by(twelve, order).review()
    assert {one.id for one in review.odd[:2]} == {"i1", "i8"}
    first = review.moves[0]
    assert {first.id, first.swap} == {"i1", "i8"}
    assert first.say == "swap t 8 (2) and t 1 (9)"
    assert review.apply(1).titles == [f"t {k}" for k in range(12)]


def test_an_order_that_is_right_is_left_alone(twelve):
    review = session_by(twelve, np.arange(12)).review()
    assert review.percentile == 100.0
    assert review.moves == ()
    assert review.clear_odd == ()
    assert review_lines(review)[1] == "better than 99 of 100 random orders"
    assert "no move of one or two would help much" in review_lines(review)


def test_never_more_than_five_moves_and_never_a_reshuffle(rng):
    for n in (4, 8, 30):
        energy = Energy(rng.normal(size=(n, n)) * 5, rng.normal(size=(n, n)) * 5)
        review = session_by(energy, rng.permutation(n)).review()
        assert len(review.moves) <= min(5, max(1, n // 3))
        assert review.moves or n < 8
        gained = [move.gain for move in review.moves]
        before, after = (float(energy.score(_numbers(o))) for o in (review.apply(0), review.apply()))
        assert sum(gained) == pytest.approx(after - before, abs=1e-3)


def _numbers(ordered) -> np.ndarray:
    return np.array([int(item.id[1:]) for item in ordered.collection.items])


def test_the_percentile_of_few_is_that_of_all_orders(rng):
    energy = Energy(rng.normal(size=(5, 5)), rng.normal(size=(5, 5)))
    every = np.array(list(permutations(range(5))))
    scores = energy.score(every)
    for order in every[::17]:
        here = energy.score(order)
        expected = 100 * ((scores < here - 1e-9).mean() + 0.5 * (np.abs(scores - here) < 1e-9).mean())
        assert session_by(energy, order).review().percentile == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
def test_random_orders_have_percentiles_that_are_spread_evenly(rng):
    energy = Energy(rng.normal(size=(10, 10)), rng.normal(size=(10, 10)))
    found = np.sort([session_by(energy, rng.permutation(10)).review().percentile for _ in range(60)])
    off = np.abs(found / 100 - (np.arange(60) + 0.5) / 60).max()
    assert off < 1.63 / np.sqrt(60)  # Kolmogorov and Smirnov, 1 %


def test_openers_and_closers_are_the_likeliest_of_all_orders(rng):
    energy, order = Energy(rng.normal(size=(7, 7)), rng.normal(size=(7, 7))), rng.permutation(7)
    review = session_by(energy, order).review()
    chances = posterior(energy).positions
    assert review.openers == tuple(f"i{k}" for k in np.argsort(-chances[:, 0])[:3])
    assert review.closers == tuple(f"i{k}" for k in np.argsort(-chances[:, -1])[:3])
    known = calibration(fabula.load_model("music"))
    assert known is not None
    assert review.chances[review.openers[0]][0] == calibrate(known["opener"], float(chances[:, 0].max()), 7)
    opens, closes = name_ends(review)
    assert opens.startswith(f"opens with t {order[0]}")
    assert closes.startswith(f"closes with t {order[-1]}")


def test_nothing_is_said_of_ends_where_only_neighbours_are_known(rng):
    review = session_by(Energy(flow=rng.normal(size=(6, 6))), np.arange(6)).review()
    assert review.openers == review.closers == ()
    assert name_ends(review) == []


def test_joins_stand_weakest_first_and_none_between_two_sides(rng):
    energy = Energy(rng.normal(size=(8, 8)), rng.normal(size=(8, 8)))
    review = session_by(energy, np.arange(8), (3, 5)).review()
    assert review.sides == (3, 5)
    assert sorted(join.after for join in review.joins) == [1, 2, 4, 5, 6, 7]
    strengths = [join.strength for join in review.joins]
    assert strengths == sorted(strengths)
    assert all(join.why for join in review.joins)
    assert all(one.strength < 0 for one in review.weakest)
    assert all(one.strength > 0 for one in review.strongest)
    assert "\n".join(review_lines(review)).count("side A: 1 to 3, 3:00\nside B: 4 to 8, 5:00") == 1


def test_sides_are_cut_where_lengths_are_most_even(twelve):
    assert session_by(twelve, np.arange(12)).review(sides=3).sides == (4, 4, 4)


def test_one_that_lies_far_from_all_others_is_found(rng):
    rows = rng.normal(size=(12, 6))
    rows[7] += 4
    assert outlying(rows).argmax() == 7
    assert (outlying(np.ones((5, 2))) == 0).all()
    assert (outlying(np.full((5, 2), np.nan)) == 0).all()
    flat = Energy(rng.normal(size=(12, 12)) * 0.01, rng.normal(size=(12, 12)) * 0.01)
    session = session_by(flat, np.arange(12))
    names = tuple("abcdef")
    collection = replace(session.collection, features=rows, feature_names=names)
    odd = replace(session, source=replace(session.source, collection=collection)).review().odd[0]
    assert odd.id == "i7"
    assert odd.why.startswith("unlike the others")


@pytest.mark.parametrize("n", [1, 3])
def test_of_too_few_nothing_is_said(n, rng):
    review = session_by(Energy(rng.normal(size=(n, n)), rng.normal(size=(n, n))), np.arange(n)).review()
    assert review.percentile is None
    assert review.notes[0] == f"nothing can be said of so few: {n} track{'s' if n > 1 else ''}"
    assert (review.odd, review.joins, review.moves, review.openers, review.closers) == ((), (), (), (), ())
    json.dumps(review.to_json())


def test_where_no_model_knows_anything_one_line_says_so():
    review = session_of([Item(str(k), f"t {k}") for k in range(6)], np.arange(6.0)).review()
    assert review.percentile is None
    assert [line for line in review_lines(review) if "nothing is known" in line] == [
        "note: nothing is known of how people order by essence: a review needs a model that learned from their orders"
    ]
    alike = session_by(Energy(np.zeros((6, 6)), np.zeros((6, 6))), np.arange(6)).review()
    assert alike.percentile is None
    assert alike.notes[0] == "nothing can be said: the tracks are all alike to the model"


def test_a_model_that_reads_whole_sequences_is_asked():
    rows = np.random.default_rng(0).normal(size=(8, 2))
    items = [Item(str(k), f"t {k}") for k in range(8)]
    model = fabula.load_model("albums")
    source = Source(Path("c"), Collection("c", items, rows, ("a", "b")), find_medium("music"))
    session = Session(source, 4 * np.sort(rows[:, 0]), ("a",), model)
    review = session.review()
    assert 0 <= review.percentile <= 100
    best = review.moves[0]
    now, then = (float(model.score(session.essence[o.ordering])) for o in (review.apply(0), review.apply(1)))
    assert then - now == pytest.approx(best.gain, abs=1e-3)


def test_very_many_are_reviewed_in_stretches(rng):
    names = ("brightness", "contrast", "warmth", "green_red", "colourfulness", "aspect")
    items = [Item(f"i{k}", f"p {k}") for k in range(620)]
    rows = np.cumsum(rng.normal(size=(620, 6)), axis=0) * 3 + 50
    rows[400] = rows[10]
    collection, images = Collection("c", items, rows, names), find_medium("images")
    likelihood = judge(fabula.load_model("pictures"), collection, images)
    session = Session(Source(Path("c"), collection, images), rows[:, 0], names, None, likelihood)
    told = []
    review = review_session(session, progress=lambda *done: told.append(done))
    assert [done for done, _, _ in told] == [0, 124, 248, 372, 496]
    assert "more than 300 pictures: reviewed in stretches of 150, by their joins alone" in review.notes
    assert "energy" not in likelihood.__dict__  # the table of all pairs was never made
    assert len(review.joins) == 40
    assert {join.after for join in review.joins[:3]} & {400, 401}
    assert review.openers == ()
    assert review.percentile > 50
    assert sorted(review.apply().ordering) == list(range(620))


def test_the_verdict_is_a_sentence():
    session = session_by(rising(6), np.arange(6))
    review = session.review()
    said = {p: verdict(replace(review, percentile=p)) for p in (None, 12.3, 50.0, 83.2, 99.9)}
    assert said[None] == ""
    assert said[12.3] == "only better than 12 of 100 random orders"
    assert said[50.0].startswith("about as good as a random order")
    assert said[83.2] == "better than 83 of 100 random orders"
    assert said[99.9] == "better than 99 of 100 random orders"


def test_moves_are_applied_as_many_as_asked_for(twelve):
    review = session_by(twelve, Move(2, 9, 0.0).apply(np.arange(12))).review()
    assert review.apply(0).ordering.tolist() == list(range(12))
    with pytest.raises(InputError, match="must not be negative"):
        review.apply(-1)


def test_the_demo_is_reviewed_by_python():
    review = fabula.review(demo_folder())
    assert 0 <= review.percentile <= 100
    assert len(review.joins) == 8
    assert set(review.openers) <= {item.id for item in review.items}
    assert review.as_it_is.titles[0] == "Embers"


def test_no_move_undoes_what_titles_count(twelve):
    session = session_by(twelve, np.arange(12)[::-1].copy())
    titles = [f"Suite, Pt. {k + 1}" if k < 4 else item.title for k, item in enumerate(session.collection.items)]
    items = tuple(replace(item, title=title) for item, title in zip(session.collection.items, titles, strict=True))
    counted = replace(session, source=replace(session.source, collection=replace(session.collection, items=items)))
    review = counted.review()
    assert session.review().moves[0].id in {"i11", "i0"}  # the ends first, where nothing is against it
    for number in range(1, len(review.moves) + 1):
        kept = [title for title in review.apply(number).titles if title.startswith("Suite")]
        assert kept == sorted(kept)
    names = {item.id: item.title for item in items}
    assert {names[one] for one in review.openers} & {f"Suite, Pt. {k}" for k in (2, 3, 4)} == set()
    assert {names[one] for one in review.closers} & {f"Suite, Pt. {k}" for k in (1, 2, 3)} == set()


def test_each_move_says_where_it_lifts_the_order(rng):
    energy = Energy(rng.normal(size=(7, 7)), rng.normal(size=(7, 7)))  # few, so that all orders are counted
    session = session_by(energy, np.argsort(energy.at(7) @ np.arange(7)))
    review = session.review()
    assert review.moves
    for number, move in enumerate(review.moves, start=1):
        assert move.percentile == session.review(review.apply(number).ordering).percentile
    lines = move_lines(review)
    first = review.moves[0]
    assert lines[0].startswith(f"{first.say}: ")
    assert lines[0].endswith(f"; from {review.percentile:.0f} to {min(round(first.percentile), 99)} of 100")
    assert not any("times" in line for line in review_lines(review))


@pytest.mark.parametrize(("sure", "word"), [(0.6, "clear"), (0.3, "likely"), (0.1, "worth a try"), (0.01, "an idea")])
def test_a_move_is_called_as_sure_as_it_is(twelve, sure, word):
    review = session_by(twelve, Move(2, 9, 0.0).apply(np.arange(12))).review()
    said = move_lines(replace(review, moves=(replace(review.moves[0], sure=sure, percentile=0.0),)))
    assert said == [f"move t 2 from 10 to 3, after t 1: {word}"]


def test_tempered_scores_prefer_an_order_less_to_random_ones(rng, monkeypatch):
    energy = Energy(reach=rng.normal(size=(7, 9, 9)))  # all pairs count, as for texts
    session = session_by(Energy(np.zeros((9, 9))), np.arange(9))
    order = max((rng.permutation(9) for _ in range(500)), key=energy.score)
    found = {}
    for factor in (1.0, 0.7):
        session.likelihood.__dict__["energy"] = energy
        monkeypatch.setattr("fabula.session.propose.temper_of", lambda model, factor=factor: factor)
        found[factor] = session.likelihood.beyond_chance(order)
    assert found[1.0] > found[0.7] > 1


@pytest.mark.parametrize(("finds", "told"), [([40, 28], True), ([78, 30], False)])
def test_where_a_fault_is_hardly_found_it_is_said(twelve, monkeypatch, finds, told):
    session = session_by(twelve, Move(2, 9, 0.0).apply(np.arange(12)))
    known = {**(calibration(session.likelihood.model) or {}), "finds": finds}
    monkeypatch.setattr("fabula.session.review.calibration", lambda model: known)
    line = "as ideas: a track moved elsewhere is named in 40 of 100 orders, by chance in 28"
    assert any(line in note for note in session.review().notes) == told


def test_a_join_of_which_nothing_parts_the_two_has_no_large_step():
    review = fabula.review(demo_folder())
    steps = _steps_along(review.session, set(range(1, 9)))
    assert {join.why for join in review.joins if join.strength > 0}
    for join in review.joins:
        if join.why == "nothing parts them":
            assert steps[join.after][0] == ""


def test_nothing_is_called_likelier_that_is_not(rng):
    for _ in range(6):
        energy = Energy(rng.normal(size=(8, 8)), rng.normal(size=(8, 8)))
        review = session_by(energy, rng.permutation(8)).review()
        for line in name_ends(review):
            here, *others = (float(share) for share in re.findall(r"\((\d+) %\)", line))
            if "likelier" in line:
                assert min(others) > here
            else:
                assert max(others) <= here
