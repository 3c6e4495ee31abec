"""The file of a step model: one safetensors file whose header holds what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.files.atomic import write_whole
from fabula.errors import ModelError
from fabula.models.header import FORMAT, VERSION
from fabula.models.steps.model import StepModel

KIND = "steps"


def save_step_model(path: str | Path, model: StepModel) -> Path:
    """Write a step model, whole or not at all; returns the path written."""
    from safetensors.numpy import save

    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "config": model.config,
        "features": {"names": list(model.feature_names), "logged": list(model.logged)},
        "training": model.training,
        "card": model.card,
    }
    content = {name: np.ascontiguousarray(tensor, dtype=np.float32) for name, tensor in model.tensors.items()}
    return write_whole(path, save(content, metadata={"fabula": json.dumps(document, ensure_ascii=False)}))


def step_model(document: Mapping[str, Any], tensors: Mapping[str, ArrayLike]) -> StepModel:
    """A step model from the document in the header of its file, and its tensors.

    Raises
    ------
    ModelError
        When the document lacks something, or a tensor is not what it must be.
    """
    for key in ("config", "features", "training", "card"):
        if not isinstance(document.get(key), dict):
            raise ModelError(f'the header\'s "{key}" must say what it is by name; got {document.get(key)!r}')
    features, logged = (document["features"].get(key) for key in ("names", "logged"))
    if "steps" in document["config"]:  # written before there was reach
        steps = document["config"]["steps"]
        if not all(isinstance(n, list) and all(isinstance(name, str) for name in n) for n in (features, logged, steps)):
            raise ModelError('the header must list "names" and "logged" of the features, and "steps"')
        more = {"training": document["training"], "card": document["card"]}
        return StepModel.of_steps(features, logged, steps, tensors, **more)
    pairs, words = (document["config"].get(key) for key in ("pairs", "words"))
    if not isinstance(words, dict):
        raise ModelError('the header must list the "words" of each language')
    for names in (features, logged, pairs, *words.values()):
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            continue
        raise ModelError('the header must list "names" and "logged" of the features, "pairs" and "words"')
    return StepModel(
        features, logged, pairs, tensors, words=words, training=document["training"], card=document["card"]
    )
