import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.errors import ModelError
from fabula.models.card import card_lines
from fabula.models.file import load_essence_model, load_model, save_model
from fabula.models.sets.basis import position_basis
from fabula.models.steps.model import StepModel
from fabula.models.steps.reasons import parts_of
from fabula.models.steps.tables import closeness, standing, summed


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def model(rng):
    tensors = {"arcs": rng.normal(size=(2, 12)).astype(np.float32), "flow": np.float32([0.5, 0.25])}
    return StepModel(("words", "names"), ("words",), ("wording", "join"), tensors, card={"name": "x"})


@pytest.fixture
def collection(rng):
    return Collection("c", [Item(str(i)) for i in range(6)], rng.uniform(1, 9, (6, 2)), ("words", "names"))


def test_the_tables_add_up_to_what_the_weights_are_trained_on(model, collection, rng):
    distances = {name: rng.uniform(0, 100, (6, 6)) for name in model.step_names}
    positions, flow = model.positions_of(collection, 6), model.flow_of(distances, 6)
    order = rng.permutation(6)
    score = positions[order, np.arange(6)].sum() + flow[order[:-1], order[1:]].sum()
    near = np.stack([closeness(distances[name]) for name in model.step_names])
    sums = summed(model.standing_of(collection), near, order[np.newaxis])[0]
    assert score == pytest.approx(sums @ np.concatenate([model.tensors["arcs"].ravel(), model.tensors["flow"]]))


def test_reasons_add_up_to_the_tables(model, collection, rng):
    distances = {"join": rng.uniform(0, 100, (6, 6))}
    order = rng.permutation(6)
    found = parts_of(model, order, collection, distances)
    positions = model.positions_of(collection, 6)
    liked = positions[order, np.arange(6)] - positions[order].mean(axis=1)
    assert found.groups == ("words", "names", "join")
    assert found.position[order] == pytest.approx(liked)
    assert found.by_group.sum(axis=1) == pytest.approx(found.position)
    assert found.after[order[1:]] == pytest.approx(model.flow_of(distances, 6)[order[:-1], order[1:]])
    assert found.after[order[0]] == 0


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
    assert not model.standing_of(plain).any()
    assert not model.flow_of({}, 2).any()
    assert standing(np.array([[1.0], [np.nan], [3.0]]), np.array([False])).tolist() == [[-1], [0], [1]]


def test_a_file_gives_the_same_model_back(model, tmp_path):
    path = save_model(tmp_path / "x.safetensors", model)
    again = load_model(path)
    assert isinstance(again, StepModel)
    assert (again.feature_names, again.logged, again.step_names) == (
        model.feature_names,
        model.logged,
        model.step_names,
    )
    assert all(np.array_equal(again.tensors[name], model.tensors[name]) for name in model.tensors)
    assert ("steps", "wording, join") in card_lines(again)
    with pytest.raises(ModelError, match="is a step model"):
        load_essence_model(path)


@pytest.mark.parametrize(
    ("tensors", "told"),
    [
        ({"arcs": np.zeros((1, 12))}, "has the tensors arcs and flow; got arcs"),
        ({"arcs": np.zeros((1, 11)), "flow": [1.0]}, r"must be finite and have shape \(1, 12\); got \(1, 11\)"),
        ({"arcs": np.zeros((1, 12)), "flow": [np.nan]}, "'flow' must be finite"),
    ],
)
def test_wrong_tensors_are_told(tensors, told):
    with pytest.raises(ModelError, match=told):
        StepModel(("words",), (), ("join",), tensors)


def test_positions_have_as_many_columns_as_asked(model, collection):
    assert model.positions_of(collection, 4).shape == (6, 4)
    assert position_basis(4).shape == (12, 4)
