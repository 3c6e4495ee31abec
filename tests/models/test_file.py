import json
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from fabula.errors import FileError, ModelError
from fabula.models import model as model_file
from fabula.models.file import model_bytes, tensor_shapes
from fabula.models.model import Model, load_model, save_model, shipped_models
from fabula.models.transform import Transform

OLD = Path(__file__).parent / "data" / "version-1.safetensors"
FEATURES = np.array([[200.0, 0.1, -5.0], [100.0, 0.9, np.nan], [400.0, 0.4, -9.0], [250.0, 0.3, -7.0]])

# what OLD gives for FEATURES
ESSENCE = [[-0.13729, -0.29167], [1.62506, 1.66259], [-1.08565, -1.01028], [-0.40212, -0.36064]]
ARCS = -0.649041
BILSTM = -0.659916
ORDERING = [0, 2, 1, 3]


def old_model() -> Model:
    """What OLD was written from, with :func:`save_model`; never write it again for the same version."""
    config = {
        "dimensions": 2,
        "encoder": {"kind": "mlp", "widths": [4], "activation": "gelu_tanh"},
        "scorers": [
            {"kind": "bilstm", "hidden": 3, "layers": 2, "channels": 4, "positions": True, "readout": "ends"},
            {"kind": "arcs", "k": 2, "knots": 4},
        ],
    }
    tensors = {}
    for number, (name, shape) in enumerate(tensor_shapes(config, (3,)).items()):
        if not name.startswith("transform."):
            tensors[name] = np.sin(1.7 * np.arange(np.prod(shape)) + number).reshape(shape)
    tensors["arcs.knots"] = np.array([0.0, 0.3, 0.6, 1.0])
    names = ("duration_ms", "energy", "loudness")
    transform = Transform(names, ("duration_ms",), [5.3, 0.4, -8.0], [0.5, 0.2, 3.0])
    return Model(config, tensors, transform, training={"seeds": [0], "preset": "test"}, card={"bits": 0.25})


def header(**changes):
    document = {
        "format": "fabula-model",
        "version": 1,
        "kind": "essence",
        "config": {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []},
        "features": {"names": ["a"], "logged": [], "shape": [1]},
        "training": {},
        "card": {},
    }
    return document | changes


def write(path, document=None, metadata=None, **tensors):
    arrays = {"transform.mean": np.zeros(1), "transform.deviation": np.ones(1)} | tensors
    said = metadata if metadata is not None else {"fabula": json.dumps(document or header())}
    path.write_bytes(save({k: v for k, v in arrays.items() if v is not None}, metadata=said))
    return path


def refusal(path):
    with pytest.raises(ModelError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def same(one, two):
    return one.keys() == two.keys() and all(
        np.array_equal(one[k], two[k]) and one[k].dtype == two[k].dtype for k in one
    )


@pytest.mark.parametrize(
    ("encoder", "shape"),
    [
        (None, (5,)),
        ({"kind": "mlp", "widths": [], "activation": "tanh", "skip": True}, (5,)),
        ({"kind": "bilstm", "hidden": 4, "layers": 1}, (6, 7)),
    ],
)
def test_a_model_comes_back_as_it_was(make_model, tmp_path, encoder, shape):
    model = make_model(2, encoder=encoder, item_shape=shape, positions=True)
    back = load_model(save_model(tmp_path / "m.safetensors", model))
    assert (back.config, back.card, back.training) == (model.config, model.card, model.training)
    assert (back.feature_names, back.transform.logged) == (model.feature_names, model.transform.logged)
    assert same(back.tensors, model.tensors)
    features = np.exp(np.random.default_rng(0).normal(size=(4, *shape)))
    assert np.array_equal(back.encode(features), model.encode(features))
    essence = model.encode(features)
    assert all(back.score(essence, s) == model.score(essence, s) for s in model.scorers)


def test_the_same_model_gives_the_same_bytes(make_model, tmp_path):
    one, two = (save_model(tmp_path / name, make_model()).read_bytes() for name in ("a", "b"))
    assert one == two


def test_an_old_file_still_loads_and_gives_what_it_gave():
    model = load_model(OLD)
    assert model.feature_names == ("duration_ms", "energy", "loudness")
    assert model.card == {"bits": 0.25}
    essence = model.encode(FEATURES)
    assert essence.round(5).tolist() == ESSENCE
    assert model.score(essence, "arcs") == pytest.approx(ARCS, abs=1e-5)
    assert model.score(essence, "bilstm") == pytest.approx(BILSTM, abs=1e-5)
    assert model.order(FEATURES)[0].ordering.tolist() == ORDERING


def test_todays_writer_writes_the_tensors_of_the_old_file(tmp_path):
    assert same(load_file(save_model(tmp_path / "m.safetensors", old_model())), load_file(OLD))


def test_loads_the_smallest_model(tmp_path):
    model = load_model(str(write(tmp_path / "m.safetensors")))
    assert np.allclose(model.encode([[1.0], [3.0]]), [[-1.0], [1.0]])


def test_a_file_cut_anywhere_is_refused(make_model, tmp_path):
    whole = save_model(tmp_path / "m.safetensors", make_model()).read_bytes()
    path = tmp_path / "cut.safetensors"
    for size in (0, 4, 8, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert "is not a model file, or is cut short" in refusal(path)


@pytest.mark.parametrize("content", [b"RIFF0000WAVEfmt ", b"\x80\x04\x95pickle", b"\xff" * 64, b"{}" * 40])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    assert "is not a model file" in refusal(path)


def test_a_foreign_safetensors_file_is_refused(tmp_path):
    assert "of another program" in refusal(write(tmp_path / "m", metadata={}))
    assert "of another program" in refusal(write(tmp_path / "m", metadata={"format": "pt"}))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{", "the header is damaged"),
        ("[" * 100_000, "the header is damaged"),
        ("[]", "is not a model file"),
        (json.dumps(header(format="other")), "is not a model file"),
        (json.dumps(header(version=2)), "model file version 2; this fabula reads up to 1: update fabula"),
        (json.dumps(header(version="1")), "the header is damaged"),
        (json.dumps(header(version=0)), "the header is damaged"),
        (json.dumps(header(kind="ranker")), "is a model of kind 'ranker'"),
        (json.dumps(header(config=None)), '"config" must say'),
        (json.dumps(header(config={})), '"dimensions" must be a whole number'),
        (json.dumps(header(card=[])), '"card" must say'),
        (json.dumps(header(features={"names": "a"})), '"features" must list'),
        (json.dumps(header(features={"names": ["a"], "logged": ["b"], "shape": [1]})), "logged features must be among"),
        (json.dumps(header(features={"names": ["a"], "logged": [[]], "shape": [1]})), "logged"),
        (
            json.dumps(header(features={"names": ["a", "b"], "logged": [], "shape": [2]})),
            "must have the header's shape",
        ),
        (
            json.dumps(header(features={"names": ["a", "b"], "logged": [], "shape": [1]})),
            "must have the header's shape",
        ),
        (json.dumps(header(features={"names": ["a"], "logged": [], "shape": None})), "must have the header's shape"),
    ],
)
def test_a_wrong_header_is_refused(tmp_path, said, message):
    assert message in refusal(write(tmp_path / "m", metadata={"fabula": said}))


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"transform.mean": None}, "tensor 'transform.mean' is missing"),
        ({"transform.mean": np.zeros(2)}, "tensor 'transform.mean' must have the header's shape"),
        ({"transform.mean": np.zeros(1, dtype=np.float32)}, "tensor 'transform.mean' must be float64; got float32"),
        ({"transform.mean": np.array([np.nan])}, "must be finite"),
        ({"transform.deviation": np.array([-1.0])}, "not below 0"),
        ({"spy": np.zeros(1, dtype=np.float32)}, "tensor 'spy' is not one of this model's"),
        ({"spy": np.zeros(1, dtype=np.int64)}, "tensor 'spy' must be float32; got int64"),
    ],
)
def test_wrong_tensors_are_refused(tmp_path, tensors, message):
    assert message in refusal(write(tmp_path / "m", **tensors))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("encoder.0.weight", lambda t: None, "tensor 'encoder.0.weight' is missing"),
        ("encoder.0.weight", lambda t: t[:-1], "tensor 'encoder.0.weight' must have shape (4, 3); got (3, 3)"),
        ("bilstm.out.bias", lambda t: t * np.nan, "tensor 'bilstm.out.bias' must be finite"),
        ("arcs.values", lambda t: t.astype(np.float16), "tensor 'arcs.values' must be float32; got float16"),
        ("arcs.knots", lambda t: t[::-1].copy(), "the arcs of the model break a rule"),
    ],
)
def test_a_model_with_one_wrong_tensor_is_refused(tmp_path, name, change, message):
    tensors = load_file(OLD)
    size = int.from_bytes(OLD.read_bytes()[:8], "little")
    metadata = json.loads(OLD.read_bytes()[8 : 8 + size])["__metadata__"]
    changed = tensors | {name: change(tensors[name])}
    path = tmp_path / "m"
    path.write_bytes(save({k: v for k, v in changed.items() if v is not None}, metadata=metadata))
    assert message in refusal(path)


def test_an_unknown_name_lists_what_there_is(monkeypatch, tmp_path):
    (tmp_path / "shipped").mkdir()
    write(tmp_path / "shipped" / "tiny.safetensors")
    monkeypatch.setattr(model_file, "files", lambda package: tmp_path)
    assert shipped_models() == ["tiny"]
    assert load_model("tiny").dimensions == 1
    with pytest.raises(FileError, match=r"nothing: no such model file.*\(those: tiny\)"):
        load_model("nothing")


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(FileError, match="no such model file"):
        load_model(tmp_path)


def test_every_shipped_model_loads_and_is_small():
    for name in shipped_models():
        assert load_model(name).scorers
        content = files("fabula.models").joinpath("shipped", f"{name}.safetensors").read_bytes()
        assert len(content) < (5_000_000 if name == "music" else 1_000_000)


def test_writing_into_a_missing_folder_is_refused(make_model, tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        save_model(tmp_path / "no" / "m.safetensors", make_model())


# of what is written for each of the shipped models, by 0.4 but for music, trained anew, and cards that say more now
WRITTEN = {
    "albums": "747d0cb524be2d5f",
    "albums-16": "b30fc82df0e483a8",
    "audio": "fe19bed483f74ef5",
    "concerts": "6d32162d1e63cd24",
    "music": "22a59aa550b7e642",
    "pictures": "8390cc2460064439",
    "poems": "6b2d3ed0ea37fe5e",
    "prose": "0ba7cc029646b352",
    "speeches": "004066893c5f96e0",
    "variety": "bfd35b8544c736c8",
}


@pytest.mark.parametrize("name", shipped_models())
def test_a_shipped_model_is_a_model_and_is_written_as_ever(name):
    model = load_model(name)
    assert isinstance(model, Model)
    assert sha256(model_bytes(model)).hexdigest()[:16] == WRITTEN[name]


def test_a_shipped_model_is_read_once_and_changing_its_card_changes_no_other(monkeypatch):
    load_model("albums")
    monkeypatch.setattr(model_file, "model_from_bytes", None)  # not asked again
    first, second = load_model("albums"), load_model("albums")
    first.card["name"] = "mine"
    assert second.card["name"] != "mine"


def test_a_file_of_steps_from_before_there_was_reach_still_loads(tmp_path, rng):
    path, arcs, flow = tmp_path / "old.safetensors", rng.normal(size=(2, 12)), np.array([0.5, -2.0])
    header = {
        "format": "fabula-model", "version": 1, "kind": "steps", "training": {}, "card": {"name": "x"},
        "config": {"steps": ["wording", "join"]}, "features": {"names": ["words", "names"], "logged": []},
    }  # fmt: skip
    content = {"arcs": arcs.astype(np.float32), "flow": flow.astype(np.float32)}
    path.write_bytes(save(content, metadata={"fabula": json.dumps(header)}))
    model = load_model(path)
    assert model.encoder.pair_names == ("wording", "join")
    assert model.tensors["reach.weights"][:, 0].tolist() == flow.tolist()
    assert not model.tensors["reach.weights"][:, 1:].any()
    np.testing.assert_allclose(model.tensors["arcs.template"][:, :2].T, arcs, rtol=1e-6)
    path.write_bytes(save({"arcs": content["arcs"]}, metadata={"fabula": json.dumps(header)}))
    with pytest.raises(ModelError, match="a model of steps has the tensors arcs and flow; got arcs"):
        load_model(path)
