"""From trained nets to a model that needs no PyTorch, and to ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.files.atomic import write_whole
from fabula.errors import import_extra
from fabula.media.music.tracks import ORIENTED_BY
from fabula.models.model import Model
from fabula.models.transform import Transform, log_parts
from fabula.training.config import TrainingConfig
from fabula.training.nets.encoders import trainable_encoder
from fabula.training.nets.networks import zscore
from fabula.training.nets.scorers import trainable_scorer
from fabula.training.nets.scorers.kind import Weights


def model_config(config: TrainingConfig, weights: Mapping[str, NDArray[Any]] | None = None) -> dict[str, Any]:
    """What the model file says of the nets; ``config`` with its encoder decided, the weights where they are known."""
    known = weights or {}
    encoder = trainable_encoder(config.encoder)
    scorers = [trainable_scorer(name) for name in config.scorers]
    return {
        "dimensions": config.dimensions,
        "encoder": encoder.described(encoder.settings(config), known),
        "scorers": [scorer.described(scorer.settings(config), known) for scorer in scorers],
    }


def build_model(
    state: Mapping[str, Tensor],
    config: TrainingConfig,
    transform: Transform,
    *,
    signs: NDArray[np.float32] | None = None,
    training: Mapping[str, Any] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Model:
    """The model of a trained net, with dimensions of its essence turned upside down where ``signs`` (d,) says -1.

    Parameters
    ----------
    state
        The net's tensors by name.
    config
        How it was trained, its encoder decided.
    transform
        Fitted on the training split.
    signs
        As :func:`essence_signs` gives them; frozen features keep theirs.
    training, card
        For the model file.
    """
    weights = {name: tensor.detach().float().cpu().numpy() for name, tensor in state.items()}
    for name in config.scorers:
        weights |= trainable_scorer(name).constants(config)
    if signs is not None:
        weights = flip(weights, config, signs)
    return Model(model_config(config, weights), weights, transform, training=training, card=card)


def essence_signs(essences: Sequence[Floats], collections: Sequence[Collection]) -> NDArray[np.float32]:
    """Shape (d,): -1 for each dimension of the essence that falls with :data:`ORIENTED_BY`, else 1.

    Parameters
    ----------
    essences
        Shape (n, d) for each collection, z-scored.
    collections
        The same ones; those without that feature say nothing.
    """
    total = np.zeros(essences[0].shape[1])
    for essence, collection in zip(essences, collections, strict=True):
        if ORIENTED_BY in collection.feature_names:
            guide = collection.column(ORIENTED_BY).reshape(len(collection), -1).mean(axis=1)
            known = np.isfinite(guide)
            if known.any():
                total += (guide - guide[known].mean())[known] @ essence[known]
    return np.where(total < 0, -1.0, 1.0).astype(np.float32)


def flip(weights: Mapping[str, NDArray[Any]], config: TrainingConfig, signs: NDArray[np.float32]) -> Weights:
    """Turn dimensions of the essence upside down and let the scorers expect that: every score stays."""
    out: Weights = {name: np.array(tensor) for name, tensor in weights.items()}
    encoder = trainable_encoder(config.encoder)
    if encoder.outputs is None:
        return out
    for name in encoder.outputs(encoder.settings(config)):
        out[name] = (out[name].T * signs).T  # (d, ...)
    for name in config.scorers:
        trainable_scorer(name).flip(out, signs)
    return out


def export_onnx(model: Model, path: str | Path) -> Path:
    """Write a model's encoder as ONNX: ``features`` (n, f[, s]) of one collection -> ``essence`` (n, d), z-scored.

    The input transform is inside. Needs the package ``onnx``.

    Returns
    -------
    The path written.
    """
    import io

    import_extra("onnx", extra="onnx", purpose="writing ONNX")
    encoder = _Essence(model).eval()
    example = torch.ones(3, *model.transform.item_shape)
    content = io.BytesIO()
    with warnings.catch_warnings():  # the exporter that needs no more packages is called old
        warnings.simplefilter("ignore")
        torch.onnx.export(
            encoder,
            (example,),
            content,  # type: ignore[arg-type]
            dynamo=False,
            input_names=["features"],
            output_names=["essence"],
            dynamic_axes={"features": {0: "items"}, "essence": {0: "items"}},
            opset_version=17,
        )
    return write_whole(path, content.getvalue())


class _Essence(nn.Module):
    """A model's transform and encoder as one net over the items of one collection."""

    mean: Tensor
    deviation: Tensor
    logged: Tensor
    offset: Tensor

    def __init__(self, model: Model) -> None:
        super().__init__()
        transform = model.transform
        deviation = np.where(transform.deviation > 0, transform.deviation, 1.0)
        constants = dict(log_parts(text, transform.feature_names) for text in transform.logged)
        logged = np.isin(transform.feature_names, list(constants))
        offset = np.array([constants.get(name, 0.0) for name in transform.feature_names])
        self.bound = transform.bound
        shape = (-1,) + (1,) * (transform.mean.ndim - 1)
        self.register_buffer("mean", torch.tensor(transform.mean))
        self.register_buffer("deviation", torch.tensor(deviation))
        self.register_buffer("logged", torch.tensor(logged).reshape(shape))
        self.register_buffer("offset", torch.tensor(offset).reshape(shape))
        settings = model.config["encoder"]
        encoder = trainable_encoder(settings["kind"])
        self.encoder = encoder.make(settings, transform.item_shape, model.dimensions, 0.0)
        state = {
            n.removeprefix("encoder."): torch.tensor(t) for n, t in model.tensors.items() if n.startswith("encoder.")
        }
        self.encoder.load_state_dict(state)

    def forward(self, features: Tensor) -> Tensor:
        values = features.double()
        values = torch.where(self.logged, torch.where(self.logged, values + self.offset, 1.0).log(), values)
        values = (values - self.mean) / self.deviation
        values = self.bound * torch.tanh(values / self.bound) if self.bound else values
        values = torch.where(values.isnan(), 0.0, values).float()
        return zscore(self.encoder(values).unsqueeze(0)).squeeze(0)
