"""The model file: one safetensors file whose header says what it is.

The header's metadata holds one text, ``fabula``: JSON with ``format``, ``version``, ``kind``, ``config``,
``features`` (names, logged, shape), ``training`` and ``card``. Names, shapes and dtypes of the tensors follow from
the configuration, as :mod:`fabula.models.config` says, and all are checked on loading.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.files.atomic import write_whole
from fabula.errors import FabulaError, FileError, ModelError
from fabula.models.config import dtype_of
from fabula.models.header import FORMAT, VERSION, read_header
from fabula.models.model import Model
from fabula.models.sets.file import KIND as SET_KIND
from fabula.models.sets.file import save_set_model, set_model_from_bytes
from fabula.models.sets.model import SetModel
from fabula.models.steps.file import KIND as STEP_KIND
from fabula.models.steps.file import save_step_model, step_model
from fabula.models.steps.model import StepModel
from fabula.models.transform import Transform

KIND = "essence"  # an encoder that sees each item by itself, with scorers; beside it there are set and step models
_ENDING = ".safetensors"

AnyModel = Model | SetModel | StepModel


def save_model(path: str | Path, model: AnyModel) -> Path:
    """Write a model, whole or not at all.

    Returns
    -------
    The path written.
    """
    from safetensors.numpy import save

    if isinstance(model, SetModel):
        return save_set_model(path, model)
    if isinstance(model, StepModel):
        return save_step_model(path, model)
    transform = model.transform
    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "config": model.config,
        "features": {
            "names": list(transform.feature_names),
            "logged": list(transform.logged),
            "bound": transform.bound,
            "shape": list(transform.item_shape),
        },
        "training": model.training,
        "card": model.card,
    }
    tensors = {"transform.mean": transform.mean, "transform.deviation": transform.deviation, **model.tensors}
    content = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    return write_whole(path, save(content, metadata={"fabula": json.dumps(document, ensure_ascii=False)}))


def load_model(name: str | Path) -> AnyModel:
    """Load a model of any kind: a shipped one by name, or a file.

    Parameters
    ----------
    name
        One of :func:`shipped_models`, or the path of a file.

    Raises
    ------
    FileError
        When there is no such model.
    ModelError
        When the file is not a model, is damaged, or needs a newer version of this package.
    """
    if isinstance(name, str) and name in shipped_models():
        return model_from_bytes(files(__package__).joinpath("shipped", name + _ENDING).read_bytes(), name)
    path = Path(name)
    if not path.is_file():
        shipped = ", ".join(shipped_models()) or "none"
        raise FileError(f"{name}: no such model file, and no model of that name comes with fabula (those: {shipped})")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{name}: cannot be read ({error.strerror or error})") from error
    return model_from_bytes(data, str(name))


def load_essence_model(name: str | Path) -> Model:
    """Load a model that gives each item an essence by itself, as templates and arcs need it.

    Raises
    ------
    ModelError
        When it is a set model, or anything :func:`load_model` raises.
    """
    model = load_model(name)
    if isinstance(model, StepModel):
        raise ModelError(
            f"{name}: is a step model, which has no essence that a template is laid on; name a column (by)"
        )
    if isinstance(model, SetModel):
        raise ModelError(f"{name}: is a set model, whose essence no template is laid on; take albums or audio")
    return model


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    folder = files(__package__).joinpath("shipped")
    if not folder.is_dir():
        return []
    return sorted(entry.name.removesuffix(_ENDING) for entry in folder.iterdir() if entry.name.endswith(_ENDING))


def model_from_bytes(data: bytes, where: str) -> AnyModel:
    """A model from the content of its file; ``where`` names it in errors."""
    document, tensors = read_header(data, where, (KIND, SET_KIND, STEP_KIND))
    if document["kind"] == SET_KIND:
        return set_model_from_bytes(data, where)
    try:
        if document["kind"] == STEP_KIND:
            return step_model(document, tensors)
        for tensor, array in tensors.items():
            if array.dtype != dtype_of(tensor):
                raise ModelError(f"tensor {tensor!r} must be {dtype_of(tensor)}; got {array.dtype}")
        return _as_model(document, tensors)
    except FabulaError as error:
        raise ModelError(f"{where}: {error}") from error


def _as_model(document: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Model:
    parts = {key: document.get(key) for key in ("config", "features", "training", "card")}
    for key, value in parts.items():
        if not isinstance(value, dict):
            raise ModelError(f'the header\'s "{key}" must say what it is by name; got {value!r}')
    names, logged, shape = (document["features"].get(key) for key in ("names", "logged", "shape"))
    if not all(isinstance(part, list) and all(isinstance(n, str) for n in part) for part in (names, logged)):
        raise ModelError('the header\'s "features" must list "names" and "logged"')
    bound = document["features"].get("bound", 0.0)
    if not isinstance(bound, int | float):
        raise ModelError(f'the header\'s "bound" must be a number; got {bound!r}')
    for name in ("transform.mean", "transform.deviation"):
        if name not in tensors:
            raise ModelError(f"tensor {name!r} is missing")
        if list(tensors[name].shape) != shape or len(names) != shape[0]:
            raise ModelError(f"tensor {name!r} must have the header's shape {shape}; got {tensors[name].shape}")
    transform = Transform(names, logged, tensors.pop("transform.mean"), tensors.pop("transform.deviation"), bound)
    return Model(document["config"], tensors, transform, training=document["training"], card=document["card"])
