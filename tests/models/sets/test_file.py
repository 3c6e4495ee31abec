import json

import numpy as np
import pytest
from safetensors.numpy import load, save

import fabula
from fabula.errors import FileError, ModelError
from fabula.models.file import card_lines, model_bytes
from fabula.models.model import load_essence_model, load_model, model_from_bytes, save_model, shipped_models


def header_of(data):
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["fabula"])


def rewritten(data, document=None, tensors=None):
    metadata = {"fabula": json.dumps(document or header_of(data))}
    return save(tensors or load(data), metadata=metadata)


def test_a_model_survives_its_file(model, features, tmp_path, titles):
    path = save_model(tmp_path / "m.safetensors", model)
    loaded = load_model(path)
    assert (loaded.encoder.spec, loaded.encoder.vocabulary) == (model.encoder.spec, model.encoder.vocabulary)
    assert loaded.card == model.card
    np.testing.assert_array_equal(loaded.encode(features, titles), model.encode(features, titles))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kind": "other"}, "of kind 'other'; expected: 'essence', 'set', 'steps'"),
        ({"version": 2}, "update fabula"),
        ({"version": "1"}, "damaged"),
        ({"format": "x"}, "is not a model file"),
        ({"config": []}, '"config"'),
        ({"vocabulary": {"tokens": ["a"], "grams": []}}, "as many tokens"),
        ({"vocabulary": {"tokens": 3}}, "must list"),
        ({"features": {"names": ["x"]}}, '"features"'),
    ],
)
def test_a_foreign_header_is_refused(model, changes, told):
    data = model_bytes(model)
    with pytest.raises(ModelError, match=told):
        model_from_bytes(rewritten(data, {**header_of(data), **changes}), "m")


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"width": "96"}, "'width'"), ({"width": True}, "'width'"), ({"depth": 3}, "'depth'"), ({"width": 20}, "shape")],
)
def test_a_wrong_configuration_is_refused(model, changes, told):
    data = model_bytes(model)
    document = header_of(data)
    document["config"].update(changes)
    with pytest.raises(ModelError, match=told):
        model_from_bytes(rewritten(data, document), "m")


def test_a_tensor_of_another_kind_is_refused(model):
    data = model_bytes(model)
    tensors = load(data)
    wide = rewritten(data, tensors={**tensors, "arcs.template": tensors["arcs.template"].astype(np.float64)})
    with pytest.raises(ModelError, match=r"arcs\.template.*float32; got float64"):
        model_from_bytes(wide, "m")
    del tensors["arcs.template"]
    short = rewritten(data, tensors=tensors)
    with pytest.raises(ModelError, match="is missing"):
        model_from_bytes(short, "m")


@pytest.mark.parametrize("cut", [0, 7, 100, -10])
def test_a_broken_file_is_refused(model, cut):
    with pytest.raises(ModelError, match="not a model file"):
        model_from_bytes(model_bytes(model)[:cut], "m")


def test_a_file_of_another_program_is_refused(tmp_path):
    with pytest.raises(ModelError, match="another program"):
        model_from_bytes(save({"a": np.zeros(1)}), "m")
    with pytest.raises(FileError, match="no such model file"):
        load_model(tmp_path / "none.safetensors")


def test_models_of_any_kind_are_loaded_and_saved_alike(model, tmp_path):
    path = save_model(tmp_path / "m.safetensors", model)
    loaded = load_model(path)
    assert isinstance(loaded, fabula.Model)
    assert (loaded.config, loaded.card) == (model.config, model.card)
    with pytest.raises(ModelError, match="no template is laid on its essence"):
        load_essence_model(path)


def test_the_shipped_model_says_what_it_is_and_how_it_did():
    assert "music" in shipped_models()
    music = load_model("music")
    assert music.reads == ("features", "titles")
    lines = dict(card_lines(music))
    assert lines["albums trained on, all"] == "50,344 (45,410 usual, 4,934 unusual)"
    assert lines["encoder"].startswith("set, 144 wide")
    assert lines["bits on validation, albums, all inputs"].startswith("0.856 (95 % interval 0.768 to 0.945")
    assert any("any may be missing" in value for value in lines.values())
    for of in music.card["controls"].values():
        assert all(abs(figure["bits"]) < 0.005 for figure in of.values())


def test_the_shipped_model_puts_an_intro_first_and_an_outro_last():
    titles = ["Outro", "Hope (Part 2)", "Rain", "Intro", "Hope (Part 1)"]
    best = load_model("music").order(None, 1, titles=titles)[0].ordering.tolist()
    assert (best[0], best[-1]) == (3, 0)
    assert best.index(4) < best.index(1)
