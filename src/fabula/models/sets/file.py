"""The file of a set model: one safetensors file whose header holds what it is, its vocabulary included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.files.atomic import write_whole
from fabula.errors import FabulaError, FileError, ModelError
from fabula.models.header import FORMAT, VERSION, read_header
from fabula.models.sets.checking import stored_dtype
from fabula.models.sets.model import SetModel
from fabula.models.sets.spec import SetSpec
from fabula.models.sets.vocabulary import Vocabulary

KIND = "set"


def save_set_model(path: str | Path, model: SetModel) -> Path:
    """Write a set model, whole or not at all; returns the path written."""
    return write_whole(path, set_model_bytes(model))


def set_model_bytes(model: SetModel) -> bytes:
    """The content of a set model's file."""
    from safetensors.numpy import save

    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "config": model.config,
        "features": {"names": list(model.spec.features), "logged": list(model.spec.logged)},
        "vocabulary": {"tokens": list(model.vocabulary.tokens), "grams": list(model.vocabulary.grams)},
        "training": model.training,
        "card": model.card,
    }
    content = {name: tensor.astype(stored_dtype(name)) for name, tensor in model.tensors.items()}
    return save(content, metadata={"fabula": json.dumps(document, ensure_ascii=False)})


def load_set_model(path: str | Path) -> SetModel:
    """Load a set model from its file.

    Raises
    ------
    FileError
        When the file cannot be read.
    ModelError
        When it is not a set model, is damaged, or needs a newer version of this package.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    return set_model_from_bytes(data, str(path))


def set_model_from_bytes(data: bytes, where: str) -> SetModel:
    """A set model from the content of its file; ``where`` names it in errors."""
    document, tensors = read_header(data, where, (KIND,))
    try:
        for name, tensor in tensors.items():
            if tensor.dtype != stored_dtype(name):
                raise ModelError(f"tensor {name!r} must be {stored_dtype(name)}; got {tensor.dtype}")
        return _as_model(document, tensors)
    except FabulaError as error:
        raise ModelError(f"{where}: {error}") from error


def _as_model(document: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> SetModel:
    for key in ("config", "vocabulary", "training", "card"):
        if not isinstance(document.get(key), dict):
            raise ModelError(f'the header\'s "{key}" must say what it is by name; got {document.get(key)!r}')
    known = {key: document["vocabulary"].get(key) for key in ("tokens", "grams")}
    if not all(isinstance(entries, list) for entries in known.values()):
        raise ModelError('the header\'s "vocabulary" must list "tokens" and "grams"')
    spec = SetSpec.from_dict(document["config"])
    if [document.get("features", {}).get("names")] != [list(spec.features)]:
        raise ModelError('the header\'s "features" must be those of its "config"')
    vocabulary = Vocabulary(tuple(known["tokens"]), tuple(known["grams"]))
    arrays = {name: np.asarray(tensor) for name, tensor in tensors.items()}
    return SetModel(spec, arrays, vocabulary, training=document["training"], card=document["card"])
