"""What titles count keeps its order; interludes stand apart; no outro opens; and reasons by titles are true."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks.famous_albums import INTERLUDES, NUMBERED, items_of, open_shuffled
from fabula.models.titles import find_closers, find_interludes


def album(name: str):
    """One of the famous albums, shuffled; and its tracks, of which the numbered ones come first."""
    numbered, _, others = NUMBERED[name].strip().partition("--")
    wanted = items_of(numbered.strip().splitlines())
    return open_shuffled(name, wanted + items_of(others.strip().splitlines(), len(wanted)), 3), wanted


@pytest.fixture(scope="module")
def funeral():
    return album("Arcade Fire: Funeral")


def test_numbered_tracks_keep_their_order_and_it_is_told(funeral):
    session, wanted = funeral
    ordered = session.order()
    titles = [item.title for item in wanted]
    assert [title for title in ordered.titles if title in titles] == titles
    (note,) = [note for note in ordered.notes if "titles count" in note]
    assert note.startswith("kept in the order their titles count: Neighborhood #1 (Tunnels) to Neighborhood #4")
    assert all(not session.order(alternatives=4).task.constraints.broken(p.fit.ordering) for p in ordered.proposals)


def test_it_can_be_switched_off(funeral):
    session, _ = funeral
    free = session.order(series=False)
    assert not free.task.constraints.before
    assert not any("titles count" in note for note in free.notes)
    assert not any("as its title says" in reason for reason in free.reasons)


def test_a_wish_wins_over_what_titles_count(funeral):
    session, _ = funeral
    ordered = session.order(first="Neighborhood #3", last="Neighborhood #1")
    assert (ordered.titles[0][:15], ordered.titles[-1][:15]) == ("Neighborhood #3", "Neighborhood #1")
    assert any("other wishes are against" in note for note in ordered.notes)


def test_movements_of_two_works_are_not_mixed():
    session, _ = album("Vivaldi: The Four Seasons")
    titles = session.order(alternatives=1).titles
    spring = [k for k, title in enumerate(titles) if "primavera" in title]
    assert spring in ([0, 1, 2], [3, 4, 5])
    assert [title.split(": ")[1].split(".")[0] for title in titles] == ["I", "II", "III"] * 2


def test_along_a_template_the_template_decides(funeral):
    session, _ = funeral
    ordered = session.by("duration_ms").order(template="steady-rise")
    lengths = [item.length for item in ordered.collection.items]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("name", ["Janet Jackson: Rhythm Nation", "Kanye West: Late Registration", "Dr. Dre"])
def test_interludes_stand_apart_and_no_outro_opens(name):
    items = items_of(" ".join(INTERLUDES[name].split()).split(" | "))
    titles = open_shuffled(name, items, 0).order(alternatives=1).titles
    assert (np.diff(find_interludes(titles)) > 1).all()
    assert 0 not in find_closers(titles)


@pytest.mark.parametrize(
    "name",
    ["Arcade Fire: Funeral", "Muse: The Resistance", "John Coltrane: A Love Supreme", "Philip Glass: Solo Piano"],
)
def test_every_reason_by_a_title_is_true_of_the_titles(name):
    """Read again by hand: the last number of both titles, one after the other, behind the same words."""
    values = {word: k for k, word in enumerate(["one", "two", "three", "four", "five"], 1)}
    values |= {word: k for k, word in enumerate(["i", "ii", "iii", "iv", "v"], 1)} | {str(k): k for k in range(1, 10)}

    def read(title: str) -> tuple[str, int]:
        word = r"(?:#|Pt\. |Part )?\b(" + "|".join(sorted(values, key=len, reverse=True)) + r")\b"
        found = re.search(word, title, re.IGNORECASE)
        assert found, title
        return title[: found.start()], values[found[1].lower()]

    session, wanted = album(name)
    ordered = session.order(alternatives=1)
    told = 0
    for title, reason in zip(ordered.titles, ordered.reasons, strict=True):
        for before in re.findall(r"follows (.+?), as its title says", reason):
            (one, first), (other, second) = read(before), read(title)
            assert (one, first + 1) == (other, second), reason
            told += 1
    assert told >= len(wanted) - 2
