"""The file of a direct sequencer: safetensors, its header says what it is."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fabula.core.files.atomic import write_whole
from fabula.errors import FabulaError, FileError, ModelError
from fabula.models.transform import Transform
from fabula.training.sequencer.sequencer import Sequencer, SequencerConfig, make_net

FORMAT = "fabula-sequencer"
VERSION = 1


def save_sequencer(path: str | Path, model: Sequencer) -> Path:
    """Write a direct sequencer, whole or not at all."""
    from safetensors.torch import save

    transform = model.transform
    document = {
        "format": FORMAT,
        "version": VERSION,
        "config": asdict(model.config),
        "features": {
            "names": list(transform.feature_names), "logged": list(transform.logged),
            "mean": transform.mean.tolist(), "deviation": transform.deviation.tolist(), "bound": transform.bound,
        },
        "bits": model.bits,
        "history": list(model.history),
    }  # fmt: skip
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.net.state_dict().items()}
    return write_whole(path, save(tensors, metadata={"fabula": json.dumps(document)}))


def load_sequencer(path: str | Path, *, device: str = "cpu") -> Sequencer:
    """Read what :func:`save_sequencer` wrote.

    Raises
    ------
    FileError
        When the file cannot be read.
    ModelError
        When it is not a sequencer, is newer than this fabula, or its tensors do not fit its configuration.
    """
    from safetensors.torch import load

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    document = _document(path, content)
    try:
        config = SequencerConfig(**_settings(document["config"]))
        said = document["features"]
        transform = Transform(
            tuple(said["names"]),
            tuple(said["logged"]),
            np.array(said["mean"]),
            np.array(said["deviation"]),
            said["bound"],
        )
        net = make_net(config, transform)
        net.load_state_dict(load(content))
        return Sequencer(
            net.to(torch.device(device)).eval(), transform, config, float(document["bits"]), tuple(document["history"])
        )
    except (FabulaError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"{path}: is a broken sequencer ({' '.join(str(error).split())[:200]})") from error


def _document(path: str | Path, content: bytes) -> dict[str, Any]:
    """The header's own words, checked for kind and version."""
    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        document = json.loads(header["__metadata__"]["fabula"])
        kind, version = document["format"], document["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: is not a sequencer file of fabula") from error
    if kind != FORMAT:
        raise ModelError(f"{path}: is a {kind}, not a {FORMAT}")
    if version != VERSION:
        raise ModelError(f"{path}: sequencer version {version!r}; this fabula reads version {VERSION}")
    return dict(document)


def _settings(values: dict[str, Any]) -> dict[str, Any]:
    known = {each.name for each in fields(SequencerConfig)}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in known}
