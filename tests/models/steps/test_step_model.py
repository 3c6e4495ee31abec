import numpy as np
import pytest
from scipy import sparse

from fabula.core.collection import Collection, Item
from fabula.core.solver.constraints import Constraints
from fabula.errors import ModelError
from fabula.models.card import card_lines
from fabula.models.file import load_essence_model, load_model, save_model
from fabula.models.steps.evidence import Evidence, Terms
from fabula.models.steps.model import StepModel
from fabula.models.steps.posterior import Posterior
from fabula.models.steps.reasons import parts_of
from fabula.models.steps.tables import closeness, standing
from fabula.training.steps import Example, Weights, sums_of

N = 6


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def model(rng):
    tensors = {
        "arcs": rng.normal(size=(6, 12)).astype(np.float32),
        "reach": rng.normal(size=(2, 7)).astype(np.float32),
        "lexicon": rng.normal(size=(3, 4)).astype(np.float32),
    }
    words = {"de": ("und",), "en": ("sea", "land")}
    return StepModel(("words", "names"), ("words",), ("wording", "join"), tensors, words=words, card={"name": "x"})


@pytest.fixture
def collection(rng):
    return Collection("c", [Item(str(i)) for i in range(N)], rng.uniform(1, 9, (N, 2)), ("words", "names"))


@pytest.fixture
def evidence(rng):
    counts = sparse.csr_array(rng.integers(0, 4, (N, 3)).astype(float))
    pairs = {"wording": closeness(rng.uniform(0, 100, (N, N))), "join": rng.normal(size=(N, N))}
    return Evidence(pairs, Terms("en", ("land", "sea", "sky"), counts, np.full(N, 50.0)))


def test_scores_add_up_to_what_the_weights_are_trained_on(model, collection, evidence, rng):
    scores = model.scores_of(collection, evidence)
    pairs = np.stack([evidence.pairs[name] for name in model.pair_names])
    one = Example(model.standing_of(collection, evidence), pairs)
    orders = np.stack([rng.permutation(N) for _ in range(5)])
    flat = np.concatenate([model.tensors["arcs"].ravel(), model.tensors["reach"].ravel()])
    assert scores.of(orders) == pytest.approx(sums_of(one, orders) @ flat)
    same = Weights(model.tensors["arcs"], model.tensors["reach"]).scores_of(one)
    assert same.of(orders) == pytest.approx(scores.of(orders))
    posterior = Posterior(model, collection, evidence)
    assert [posterior.score(order) for order in orders] == pytest.approx(scores.of(orders), rel=1e-5)


def test_terms_are_judged_by_the_words_of_their_language_alone(model, evidence):
    leanings = model.leanings_of(evidence.terms, N)
    rates = standing(evidence.terms.rates(("sea", "land")), np.zeros(2, dtype=bool))
    plain = standing(rates @ model.tensors["lexicon"][1:], np.zeros(4, dtype=bool))
    assert leanings == pytest.approx(plain)
    other = Terms("fr", evidence.terms.names, evidence.terms.counts, evidence.terms.totals)
    assert not model.leanings_of(other, N).any()
    assert not model.leanings_of(None, N).any()


def test_reasons_add_up_to_the_tables(model, collection, evidence, rng):
    order = rng.permutation(N)
    found = parts_of(model, order, collection, evidence)
    positions = model.positions_of(collection, evidence, N)
    liked = positions[order, np.arange(N)] - positions[order].mean(axis=1)
    assert found.groups == ("words", "names", "leaning", "middle", "opening", "closing", "wording", "join")
    assert found.position[order] == pytest.approx(liked)
    assert found.by_group.sum(axis=1) == pytest.approx(found.position)
    near = model.scores_of(collection, evidence).apart[1][order[:-1], order[1:]]
    assert found.after_by_group[order[1:], -2:].sum(axis=1) == pytest.approx(found.after[order[1:]])
    assert found.after[order[0]] == 0
    assert near.shape == (N - 1,)


def test_what_is_drawn_keeps_what_is_fixed_and_before(model, collection, evidence):
    constraints = Constraints(N, fixed={0: 4, -1: 1}, before=[(3, 2)])
    drawn = Posterior(model, collection, evidence, constraints).consensus.drawn
    places = np.argsort(drawn, axis=1)
    assert (drawn[:, 0] == 4).all()
    assert (drawn[:, -1] == 1).all()
    assert (places[:, 3] < places[:, 2]).all()


def test_of_very_many_items_nothing_is_drawn(model, rng):
    n = 95
    many = Collection("c", [Item(str(i)) for i in range(n)], rng.uniform(1, 9, (n, 2)), ("words", "names"))
    posterior = Posterior(model, many, Evidence({"join": rng.normal(size=(n, n))}))
    assert posterior.consensus is None
    assert posterior.positions(n).shape == posterior.flow().shape == (n, n)
    assert posterior.sureness(np.arange(n)) is None


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
    assert not model.standing_of(plain, Evidence()).any()
    assert not model.reach_of(Evidence(), 2).any()
    assert standing(np.array([[1.0], [np.nan], [3.0]]), np.array([False])).tolist() == [[-1], [0], [1]]


def test_a_file_gives_the_same_model_back(model, tmp_path):
    path = save_model(tmp_path / "x.safetensors", model)
    again = load_model(path)
    assert isinstance(again, StepModel)
    assert (again.feature_names, again.logged, again.config) == (model.feature_names, model.logged, model.config)
    assert all(np.array_equal(again.tensors[name], model.tensors[name]) for name in model.tensors)
    assert ("pairs", "wording, join") in card_lines(again)
    with pytest.raises(ModelError, match="is a step model"):
        load_essence_model(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"reach": None}, "has the tensors arcs, reach, lexicon; got arcs, lexicon"),
        ({"arcs": np.zeros((5, 11))}, r"must be finite and have shape \(5, 12\); got \(5, 11\)"),
        ({"reach": [[np.nan] * 7]}, "'reach' must be finite"),
    ],
)
def test_wrong_tensors_are_told(change, told):
    tensors = {"arcs": np.zeros((5, 12)), "reach": np.zeros((1, 7)), "lexicon": np.zeros((0, 4))} | change
    with pytest.raises(ModelError, match=told):
        StepModel(("words",), (), ("join",), {name: value for name, value in tensors.items() if value is not None})
