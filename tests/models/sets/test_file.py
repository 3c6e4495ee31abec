import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from fabula.errors import FileError, ModelError
from fabula.models.sets.file import load_set_model, save_set_model, set_model_bytes, set_model_from_bytes


def header_of(data):
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["fabula"])


def rewritten(data, document=None, tensors=None):
    metadata = {"fabula": json.dumps(document or header_of(data))}
    return save(tensors or load(data), metadata=metadata)


def test_a_model_survives_its_file(model, features, tmp_path, titles):
    path = save_set_model(tmp_path / "m.safetensors", model)
    loaded = load_set_model(path)
    assert (loaded.spec, loaded.vocabulary, loaded.card) == (model.spec, model.vocabulary, model.card)
    np.testing.assert_array_equal(loaded.encode(features, titles), model.encode(features, titles))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kind": "essence"}, "of kind 'essence'"),
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
    data = set_model_bytes(model)
    with pytest.raises(ModelError, match=told):
        set_model_from_bytes(rewritten(data, {**header_of(data), **changes}), "m")


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"width": "96"}, "'width'"), ({"width": True}, "'width'"), ({"depth": 3}, "'depth'"), ({"width": 20}, "shape")],
)
def test_a_wrong_configuration_is_refused(model, changes, told):
    data = set_model_bytes(model)
    document = header_of(data)
    document["config"].update(changes)
    with pytest.raises(ModelError, match=told):
        set_model_from_bytes(rewritten(data, document), "m")


def test_a_tensor_of_another_kind_is_refused(model):
    data = set_model_bytes(model)
    tensors = load(data)
    wide = rewritten(data, tensors={**tensors, "arcs.template": tensors["arcs.template"].astype(np.float64)})
    with pytest.raises(ModelError, match=r"arcs\.template.*float32; got float64"):
        set_model_from_bytes(wide, "m")
    del tensors["arcs.template"]
    short = rewritten(data, tensors=tensors)
    with pytest.raises(ModelError, match="is missing"):
        set_model_from_bytes(short, "m")


@pytest.mark.parametrize("cut", [0, 7, 100, -10])
def test_a_broken_file_is_refused(model, cut):
    with pytest.raises(ModelError, match="not a model file"):
        set_model_from_bytes(set_model_bytes(model)[:cut], "m")


def test_a_file_of_another_program_is_refused(tmp_path):
    with pytest.raises(ModelError, match="another program"):
        set_model_from_bytes(save({"a": np.zeros(1)}), "m")
    with pytest.raises(FileError, match="cannot be read"):
        load_set_model(tmp_path / "none.safetensors")
