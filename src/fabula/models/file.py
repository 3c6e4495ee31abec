"""Models as files: loading one by name or path, those that come with the package, and saving one."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from fabula.errors import FabulaError, FileError, ModelError
from fabula.models.format import read_parts
from fabula.models.model import Model

_ENDING = ".safetensors"


def load_model(name: str | Path) -> Model:
    """Load a model of any kind: a shipped one by name, or a file; it is an error if there is none, or it is damaged."""
    if isinstance(name, str) and name in shipped_models():
        model = copy(_load_shipped(name))  # the same weights with a card and a record of their own
        model.card, model.training = dict(model.card), dict(model.training)
        return model
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
    """Load a model that gives each item an essence by itself, as templates and arcs need it; another is an error."""
    model = load_model(name)
    if "pairs" in model.reads:
        raise ModelError(f"{name}: looks into items and has no essence for a template; name a column (by)")
    if not model.by_item:
        raise ModelError(f"{name}: sees whole collections: no template is laid on its essence; take albums or audio")
    return model


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    folder = files(__package__).joinpath("shipped")
    if not folder.is_dir():
        return []
    return sorted(entry.name.removesuffix(_ENDING) for entry in folder.iterdir() if entry.name.endswith(_ENDING))


@lru_cache(maxsize=8)
def _load_shipped(name: str) -> Model:
    return model_from_bytes(files(__package__).joinpath("shipped", name + _ENDING).read_bytes(), name)


def save_model(path: str | Path, model: Model) -> Path:
    """Write a model, whole or not at all; returns the path written."""
    return model.save(path)


def model_from_bytes(data: bytes, where: str) -> Model:
    """A model from the content of its file; ``where`` names it in errors."""
    header, parts = read_parts(data, where)
    try:
        return Model(*parts, training=header["training"], card=header["card"])
    except FabulaError as error:
        raise ModelError(f"{where}: {error}") from error
