"""Many collections under a mixture of arcs: what ``Arcs.order`` puts first for each."""

import numpy as np
import pytest

from fabula.core import arcs as climbing
from fabula.core.arcs import Arcs
from fabula.core.arrays import normalise
from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError

SIZES = (1, 2, 7, 3, 7, 12, 2, 5)


def mixture(rng, k, d=1, interpolation="cubic"):
    shape = (5, d) if d > 1 else (5,)
    templates = [Template(np.linspace(0, 1, 5), rng.normal(size=shape), "", "", interpolation) for _ in range(k)]
    return Arcs(TemplateSet(templates), rng.normal(size=k))


def collections(rng, d=1, *, tied=False):
    parts = [rng.integers(0, 3, (n, d)) if tied else rng.normal(size=(n, d)) for n in SIZES]
    return [normalise(part).reshape(-1, d) for part in parts]


def both(arcs, parts):
    offsets = np.cumsum([0, *map(len, parts)])
    orderings, scores = arcs.order_many(np.concatenate(parts), offsets)
    return np.split(orderings, offsets[1:-1]), scores


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("tied", [False, True])
def test_the_same_as_one_by_one(rng, k, d, tied):
    arcs, parts = mixture(rng, k, d), collections(rng, d, tied=tied)
    orderings, scores = both(arcs, parts)
    for part, ordering, score in zip(parts, orderings, scores, strict=True):
        first = arcs.order(part, alternatives=1)[0]
        assert score == pytest.approx(first.score, abs=1e-9)
        assert arcs.score(part[ordering]) == pytest.approx(score, abs=1e-9)
        if d == 1:  # in more dimensions two assignments may tie
            np.testing.assert_array_equal(ordering, first.ordering)


def test_templates_that_cannot_blend(rng):
    arcs, parts = mixture(rng, 3, interpolation="monotone"), collections(rng)
    orderings, scores = both(arcs, parts)
    for part, ordering, score in zip(parts, orderings, scores, strict=True):
        first = arcs.order(part, alternatives=1)[0]
        np.testing.assert_array_equal(ordering, first.ordering)
        assert score == pytest.approx(first.score)


def test_how_many_climb_at_a_time_and_in_which_order_changes_nothing(rng, monkeypatch):
    arcs, parts = mixture(rng, 4), collections(rng)
    orderings, scores = both(arcs, parts)
    monkeypatch.setattr(climbing, "_CELLS", 1)
    order = rng.permutation(len(parts))
    again, rescored = both(arcs, [parts[i] for i in order])
    np.testing.assert_allclose(rescored, scores[order])
    for number, ordering in zip(order, again, strict=True):
        np.testing.assert_array_equal(ordering, orderings[number])


def test_what_is_not_an_essence_of_these_arcs_is_refused(rng):
    with pytest.raises(InputError, match="2 dimension"):
        mixture(rng, 2).order_many(np.zeros((3, 2)), [0, 3])
    with pytest.raises(InputError, match="finite"):
        mixture(rng, 2).order_many([0.0, np.nan], [0, 2])
    assert [part.shape for part in mixture(rng, 2).order_many(np.zeros(0), [0])] == [(0,), (0,)]
