"""The header of a model file: what it says of the model, checked as far as format, version and kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from fabula.errors import ModelError

FORMAT = "fabula-model"
VERSION = 1


def read_header(data: bytes, where: str, kinds: Sequence[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document in the header of a model file, and its tensors.

    Parameters
    ----------
    data
        The content of the file.
    where
        What to call it in errors.
    kinds
        The kinds of model that are expected.

    Raises
    ------
    ModelError
        When it is no model file, is damaged, comes from a newer version, or is of another kind.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(data)
        size = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + size]).get("__metadata__") or {}
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{where}: is not a model file, or is cut short (safetensors expected: {error})") from error
    if "fabula" not in metadata:
        raise ModelError(f"{where}: is a safetensors file of another program (its header does not mention fabula)")
    try:
        document = json.loads(metadata["fabula"])
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{where}: the header is damaged (JSON expected: {error})") from error
    _check(document, where, kinds)
    return document, tensors


def _check(document: Any, where: str, kinds: Sequence[str]) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(f'{where}: is not a model file (its header must say "format": "{FORMAT}")')
    version, kind = document.get("version"), document.get("kind")
    if type(version) is not int or version < 1:
        raise ModelError(f"{where}: the header is damaged (version {version!r})")
    if version > VERSION:
        raise ModelError(f"{where}: model file version {version}; this fabula reads up to {VERSION}: update fabula")
    if kind not in kinds:
        known = " and ".join(map(repr, kinds)) if len(kinds) < 3 else ", ".join(map(repr, kinds))
        raise ModelError(f"{where}: is a model of kind {kind!r}; expected: {known}")
