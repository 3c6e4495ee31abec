import numpy as np
import pytest
from scipy import sparse

from fabula.core.collection import Collection, Evidence, Item, Terms
from fabula.core.energy import distance_basis
from fabula.core.posterior import posterior
from fabula.core.solver import Constraints
from fabula.errors import InputError, ModelError
from fabula.media.registry import find_medium
from fabula.models.encoders.measures import closeness, leanings, measures_config, stand_out
from fabula.models.file import card_lines
from fabula.models.model import Model, load_essence_model, load_model, save_model
from fabula.models.order import explain, solvable
from fabula.session.propose import Likelihood
from fabula.training.step_models import Example, Weights, sums_of

N = 6


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def model(rng):
    tensors = {
        "arcs.template": rng.normal(size=(6, 12)).T.astype(np.float32),
        "reach.weights": rng.normal(size=(2, 7)).astype(np.float32),
        "lexicon.weights": rng.normal(size=(3, 4)).astype(np.float32),
    }
    config = measures_config(
        ("words", "names"), ("words",), ("wording", "join"), {"de": ("und",), "en": ("sea", "land")}
    )
    return Model(config, tensors, card={"name": "x"})


@pytest.fixture
def collection(rng):
    return Collection("c", [Item(str(i)) for i in range(N)], rng.uniform(1, 9, (N, 2)), ("words", "names"))


@pytest.fixture
def evidence(rng):
    counts = sparse.csr_array(rng.integers(0, 4, (N, 3)).astype(float))
    pairs = {"wording": closeness(rng.uniform(0, 100, (N, N))), "join": rng.normal(size=(N, N))}
    return Evidence(pairs, Terms("en", ("land", "sea", "sky"), counts, np.full(N, 50.0)))


def test_scores_add_up_to_what_the_weights_are_trained_on(model, collection, evidence, rng):
    energy = model.energy(collection, evidence=evidence)
    pairs = np.stack([evidence.pairs[name] for name in model.encoder.pair_names])
    one = Example(model.encoder.measure(collection, evidence), pairs)
    orders = np.stack([rng.permutation(N) for _ in range(5)])
    arcs, reach = model.tensors["arcs.template"].T, model.tensors["reach.weights"]
    flat = np.concatenate([arcs.ravel(), reach.ravel()])
    assert energy.score(orders) == pytest.approx(sums_of(one, orders) @ flat)
    assert Weights(arcs, reach).energy_of(one).score(orders) == pytest.approx(energy.score(orders))
    assert model.score(collection, orders, evidence=evidence) == pytest.approx(energy.score(orders))
    some = orders[0, :4]
    assert energy.score(some) == pytest.approx(energy.take(some).score(np.arange(4)))


def test_terms_are_judged_by_the_words_of_their_language_alone(model, evidence):
    words, lexicon = model.encoder.words, model.encoder.lexicon
    said = leanings(evidence.terms, words, lexicon, N)
    rates = stand_out(evidence.terms.rates(("sea", "land")), np.zeros(2, dtype=bool))
    plain = stand_out(rates @ model.tensors["lexicon.weights"][1:], np.zeros(4, dtype=bool))
    assert said == pytest.approx(plain)
    other = Terms("fr", evidence.terms.names, evidence.terms.counts, evidence.terms.totals)
    assert not leanings(other, words, lexicon, N).any()
    assert not leanings(None, words, lexicon, N).any()


def test_reasons_add_up_to_the_tables(model, collection, evidence, rng):
    order = rng.permutation(N)
    found = explain(model, order, collection, evidence)
    energy = model.energy(collection, evidence=evidence)
    positions = energy.positions
    liked = positions[order, np.arange(N)] - positions[order].mean(axis=1)
    assert found.groups == ("words", "names", "leaning", "middle", "opening", "closing", "wording", "join")
    assert found.position[order] == pytest.approx(liked)
    assert found.by_group.sum(axis=1) == pytest.approx(found.position)
    near = sum(w @ distance_basis(2)[:, 1] * evidence.pairs[name] for name, w in weights_by_name(model))
    assert found.after[order[1:]] == pytest.approx(near[order[:-1], order[1:]])
    assert found.after_by_group[order[1:], -2:].sum(axis=1) == pytest.approx(found.after[order[1:]])
    assert found.after[order[0]] == 0


def weights_by_name(model):
    return zip(model.encoder.pair_names, model.tensors["reach.weights"], strict=True)


def test_what_is_drawn_keeps_what_is_fixed_and_before(model, collection, evidence):
    constraints = Constraints(N, fixed={0: 4, -1: 1}, before=[(3, 2)])
    judged = Likelihood(model, collection, collection, find_medium("text"), constraints)
    judged.__dict__["evidence"] = evidence
    drawn = judged.posterior.drawn
    places = np.argsort(drawn, axis=1)
    assert (drawn[:, 0] == 4).all()
    assert (drawn[:, -1] == 1).all()
    assert (places[:, 3] < places[:, 2]).all()


def test_what_is_drawn_does_not_depend_on_how_items_are_listed(model, collection, evidence, rng):
    energy, order = model.energy(collection, evidence=evidence), rng.permutation(N)
    found, mixed = posterior(energy), posterior(energy.take(order))
    np.testing.assert_array_equal(found.positions[order], mixed.positions)


def test_of_very_many_items_nothing_is_drawn(model, rng):
    n = 95
    many = Collection("c", [Item(str(i)) for i in range(n)], rng.uniform(1, 9, (n, 2)), ("words", "names"))
    energy = model.energy(many, evidence=Evidence({"join": rng.normal(size=(n, n))}))
    assert energy.solvable
    assert solvable(energy) is energy
    assert energy.positions.shape == energy.flow.shape == (n, n)
    assert energy.at(40).shape == (n, 40)


def test_it_orders_what_was_seen_in_the_items_and_says_so_where_nothing_was(model, collection, evidence):
    fits = model.order(collection, alternatives=2, fixed={0: 4}, evidence=evidence)
    assert len(fits) == 2
    assert all(fit.ordering[0] == 4 for fit in fits)
    assert fits[0].score == pytest.approx(model.score(collection, fits[0].ordering, evidence=evidence))
    for ask in (model.order, model.energy, model.encode):
        with pytest.raises(InputError, match=r"looks into the items themselves \(pairs: wording, join\)"):
            ask(collection)


def test_closeness_is_centred_by_row_and_column(rng):
    near = closeness(rng.uniform(0, 100, (7, 7)) + 40 * np.arange(7))
    assert near.sum(axis=0) == pytest.approx(np.zeros(7))
    assert near.sum(axis=1) == pytest.approx(np.zeros(7))
    assert (near**2).sum() / 42 == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2])
def test_of_one_or_two_items_nothing_is_close(n):
    assert not closeness(np.ones((n, n))).any()


def test_what_is_not_known_says_nothing(model):
    plain = Collection("c", [Item("a"), Item("b")], [[1.0], [np.nan]], ("words",))
    assert not model.encoder.measure(plain, Evidence()).any()
    assert not model.energy(plain, evidence=Evidence()).reach.any()
    assert stand_out(np.array([[1.0], [np.nan], [3.0]]), np.array([False])).tolist() == [[-1], [0], [1]]


def test_a_file_gives_the_same_model_back(model, tmp_path):
    path = save_model(tmp_path / "x.safetensors", model)
    again = load_model(path)
    assert isinstance(again, Model)
    assert (again.feature_names, again.config) == (model.feature_names, model.config)
    assert all(np.array_equal(again.tensors[name], model.tensors[name]) for name in model.tensors)
    assert ("pairs", "wording, join") in card_lines(again)
    with pytest.raises(ModelError, match="looks into items and has no essence"):
        load_essence_model(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"reach.weights": None}, "tensor 'reach.weights' is missing"),
        ({"arcs.template": np.zeros((11, 5))}, r"must have shape \(12, 5\); got \(11, 5\)"),
        ({"reach.weights": [[np.nan] * 7]}, "'reach.weights' must be finite"),
    ],
)
def test_wrong_tensors_are_told(change, told):
    tensors = {
        "arcs.template": np.zeros((12, 5)),
        "reach.weights": np.zeros((1, 7)),
        "lexicon.weights": np.zeros((0, 4)),
    } | change
    with pytest.raises(ModelError, match=told):
        Model(
            measures_config(("words",), (), ("join",)),
            {name: value for name, value in tensors.items() if value is not None},
        )
