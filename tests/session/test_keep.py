"""``keep``: the best order that leaves most of the given one in place, with and without wishes."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from fabula.core.collection import Item
from fabula.core.moves import longest_rising
from fabula.errors import InputError
from fabula.session.open import demo_folder, open as open_folder
from fabula.session.session import Session, session_of


@pytest.fixture(scope="module")
def demo() -> Session:
    return open_folder(demo_folder())


def kept(ordering: np.ndarray) -> int:
    return int(longest_rising(ordering[np.newaxis])[0])


@pytest.mark.parametrize(("share", "least"), [(1.0, 9), (0.8, 8), (0.5, 5), (0.0, 1)])
def test_so_many_keep_their_order_and_the_rest_makes_it_likelier(demo, share, least):
    ordered = demo.order(keep=share)
    assert kept(ordered.ordering) >= least
    scores = [demo.likelihood.score(np.asarray(o)) for o in (range(9), ordered.ordering)]
    assert scores[1] > scores[0] or share == 1.0
    assert f"{kept(ordered.ordering)} of 9 tracks keep their order" in " ".join(ordered.notes)


def test_along_a_template_it_is_the_best_of_all_such_orders():
    rng = np.random.default_rng(3)
    session = session_of([Item(str(k)) for k in range(6)], rng.normal(size=6))
    found = session.order(template="steady-rise", keep=0.7)
    goal = found.fit.template.samples(6)
    near = [o for o in map(np.array, permutations(range(6))) if kept(o) >= 5]
    cost = min(float(((session.essence[o] - goal) ** 2).sum()) for o in near)
    assert float(((session.essence[found.ordering] - goal) ** 2).sum()) == pytest.approx(cost)
    assert found.gap == 0.0


def test_wishes_hold_while_most_stays(demo):
    ordered = demo.order(keep=0.7, first="Parade", last="Embers")
    assert (ordered.titles[0], ordered.titles[-1]) == ("Parade", "Embers")
    assert kept(ordered.ordering) >= 7


def test_neighbours_stay_apart_while_most_stays():
    items = [Item(str(k), artist="ab"[k >= 3]) for k in range(6)]
    session = session_of(items, np.arange(6.0))
    ordered = session.order(template="steady-rise", apart="creator", keep=0.3)
    labels = [item.creator for item in ordered.collection.items]
    assert all(one != other for one, other in pairwise(labels))


def test_what_cannot_be_is_told_in_one_line(demo):
    with pytest.raises(InputError, match="the wishes do not leave 100% of the order as it is"):
        demo.order(keep=1.0, first="Parade")
    with pytest.raises(InputError, match=r"must be from 0 to 1, such as 0\.8; got 1\.2"):
        demo.order(keep=1.2)
    for wish in ({"sides": 2}, {"before": [(0, 1)]}, {"limit": 60}, {"together": [(0, 1)]}):
        with pytest.raises(InputError, match=f"goes without {next(iter(wish))}"):
            demo.order(keep=0.8, **wish)
