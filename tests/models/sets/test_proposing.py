from itertools import permutations

import numpy as np
import pytest

from fabula.core.energy import Energy, position_basis
from fabula.errors import InputError, ModelError
from fabula.models.order import likeliest, propose


@pytest.fixture
def tables():
    rng = np.random.default_rng(3)
    flow = rng.normal(size=(6, 6))
    np.fill_diagonal(flow, 0.0)
    return Energy(rng.normal(size=(6, 6)), flow)


def test_the_first_is_the_likeliest_of_all(tables):
    best = max(tables.score(order) for order in permutations(range(6)))
    found = likeliest(tables)
    assert found.exact
    assert tables.score(found.ordering) == pytest.approx(best)
    assert -found.objective == pytest.approx(best)


def test_alternatives_are_distinct_and_begin_or_end_otherwise(tables):
    fits = propose(tables, np.random.default_rng(0).normal(size=(6, 2)), 5)
    assert len({fit.ordering.tobytes() for fit in fits}) == 5
    assert [fit.score for fit in fits] == sorted((fit.score for fit in fits), reverse=True)
    first = fits[0].ordering
    assert all(fit.ordering[0] != first[0] or fit.ordering[-1] != first[-1] for fit in fits[1:])
    assert all(fit.template.name == "own arc" for fit in fits)


def test_what_is_fixed_stays_fixed(tables):
    fits = propose(tables, np.zeros((6, 1)), 4, {0: 2, -1: 4})
    assert fits
    assert all(fit.ordering[0] == 2 and fit.ordering[-1] == 4 for fit in fits)


def test_one_item_has_one_ordering():
    fits = propose(Energy(np.zeros((1, 1)), np.zeros((1, 1))), np.zeros((1, 2)), 3)
    assert [fit.ordering.tolist() for fit in fits] == [[0]]


def test_at_least_one_alternative_must_be_asked_for(tables):
    with pytest.raises(InputError, match="alternatives: must be at least 1; got 0"):
        propose(tables, np.zeros((6, 1)), 0)


def test_a_model_orders_by_what_it_knows(model, features, titles):
    fits = model.order(features, alternatives=3, titles=titles, album="Hope")
    tables = model.energy(features, titles, "Hope")
    assert fits[0].score == pytest.approx(max(tables.score(order) for order in permutations(range(6))))
    assert model.order(features, 1, fixed={0: 3}, titles=titles)[0].ordering[0] == 3


def test_tables_of_many_are_those_of_each(model, features):
    both = [features, features[:4]]
    for found, one in zip(model.energies(both), both, strict=True):
        alone = model.energy(one)
        np.testing.assert_allclose(found.positions, alone.positions, atol=1e-5)
        np.testing.assert_allclose(found.flow, alone.flow, atol=1e-5)


def test_each_scorer_of_many_can_be_asked_alone(model, features):
    both = [features, features[:4]]
    for whole, arcs, flow in zip(*(model.energies(both, scorer) for scorer in (None, "arcs", "flow")), strict=True):
        orders = np.array([np.arange(whole.n), np.arange(whole.n)[::-1]])
        assert arcs.flow is None
        assert flow.positions is None
        np.testing.assert_allclose(whole.score(orders), arcs.score(orders) + flow.score(orders), atol=1e-9)
    with pytest.raises(ModelError, match="this model has no scorer 'bilstm'; it has: arcs, flow"):
        model.energies(both, "bilstm")


def test_fewer_positions_have_tables_of_their_own(model, features):
    energy = model.energy(features)
    essence = model.encode(features, raw=True)
    wanted = essence @ (model.tensors["arcs.template"].T @ position_basis(3))
    np.testing.assert_allclose(energy.at(3), wanted, atol=1e-5)
    np.testing.assert_allclose(energy.at(6), energy.positions, atol=1e-6)
    assert energy.at(9).shape == (6, 9)


def test_an_essence_is_scaled_within_its_collection(model, features, titles):
    essence = model.encode(features, titles)
    np.testing.assert_allclose(essence.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(essence.std(axis=0), 1, atol=1e-9)
