"""Between nets and models that need no PyTorch: weights to models of every kind and back, what they read, ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.core.files import write_whole
from fabula.errors import InputError, ModelError, import_extra
from fabula.media.music.tracks import ORIENTED_BY
from fabula.models.config import PAIRS
from fabula.models.encoders.measures import as_measures
from fabula.models.encoders.set import OFFSET, Array, SetInputs, SetSpec, as_set, set_inputs, standardise
from fabula.models.model import Model
from fabula.models.titles import Title, Vocabulary, fold_artist, learn_vocabulary, read_titles
from fabula.models.transform import Transform, log_parts
from fabula.training.nets.kinds import Weights
from fabula.training.nets.networks import trainable_encoder, trainable_scorer, zscore
from fabula.training.nets.set_net import Dropout, SetNet
from fabula.training.recipes import TrainingConfig


def model_config(config: TrainingConfig, weights: Mapping[str, NDArray[Any]] | None = None) -> dict[str, Any]:
    """What the model file says of the nets; ``config`` with its encoder decided, the weights where they are known."""
    known = weights or {}
    encoder = trainable_encoder(config.encoder)
    scorers = [trainable_scorer(name) for name in config.scorers]
    return {
        "dimensions": config.dimensions,
        "encoder": encoder.describe(encoder.settings(config), known),
        "scorers": [scorer.describe(scorer.settings(config), known) for scorer in scorers],
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
    """The model of a trained net, with dimensions of its essence turned upside down where ``signs`` (d,) says -1."""
    weights = {name: tensor.detach().float().cpu().numpy() for name, tensor in state.items()}
    for name in config.scorers:
        weights |= trainable_scorer(name).constants(config)
    if signs is not None:
        weights = flip(weights, config, signs)
    return Model(model_config(config, weights), weights, transform, training=training, card=card)


def essence_signs(essences: Sequence[Floats], collections: Sequence[Collection]) -> NDArray[np.float32]:
    """Shape (d,): -1 where the essences (n, d) of collections fall with :data:`ORIENTED_BY`, else 1."""
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


# From a net to a model without torch, and back to go on training.


def as_model(
    net: SetNet,
    mean: Array,
    deviation: Array,
    vocabulary: Vocabulary,
    *,
    training: Mapping[str, Any] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Model:
    """The model of a net; vectors of words are rounded to half precision, as they are stored."""
    shapes = net.spec.shapes()
    names = [name for name in shapes if not name.startswith("transform.")]
    tensors: dict[str, Array] = {name: net.tensor(name).detach().cpu().numpy().astype(np.float32) for name in names}
    tensors |= {"transform.mean": mean, "transform.deviation": deviation}
    return Model(net.spec.config(), tensors, vocabulary, training=training, card=card)


def as_net(model: Model, dropout: Dropout | None = None) -> SetNet:
    """A net with the weights of a model."""
    spec = as_set(model.encoder).spec
    net = SetNet(spec, dropout=dropout)
    with torch.no_grad():
        for name in spec.shapes():
            if not name.startswith("transform."):
                net.tensor(name).copy_(torch.from_numpy(model.tensors[name]))
    if not all(torch.isfinite(weight).all() for weight in net.parameters()):
        raise ModelError("a model's weights must be finite to go on from them")
    return net


def neighbour_weights(model: Model, pairs: Sequence[str]) -> Floats | None:
    """The weights of flow between neighbours of a model, (k,); None where it is of other pairs, or of more."""
    if PAIRS not in model.reads or model.reaches:
        return None
    known = as_measures(model.encoder).pair_names
    if set(pairs) - set(known):
        return None
    return np.asarray([model.tensors["reach.weights"][known.index(name), 0] for name in pairs])


# How a set model reads collections.

Reading = tuple[SetSpec, Array, Array, Vocabulary]  # what a set model must know to read items


def spec_for(features: Sequence[str], *, titles: bool, logged: Sequence[str] = (), **sizes: int) -> SetSpec:
    """A specification for columns of any names: where there is a key with its mode, it stands on the circle of fifths.

    >>> spec_for(("key", "mode", "weight"), titles=False).circle
    'key'
    """
    musical = {"key", "mode"} <= set(features)
    kept = tuple(name for name in logged if name in features)
    plain = {"features": tuple(features), "logged": kept, "titles": titles, **sizes}
    return SetSpec.from_dict({**plain, **({"circle": "key", "mode": "mode"} if musical else {})})


def learn_inputs(collections: Sequence[Collection], spec: SetSpec, *, tokens: int, grams: int) -> Reading:
    """What a set model must know to read items, from those to train on; with its vocabulary's sizes in the spec.

    ``tokens``, ``grams``: by how many artists a token or gram must be used.
    """
    features = np.concatenate([pick(collection, spec.features) for collection in collections])
    mean, deviation = _learn_transform(features, spec) if spec.features else (np.zeros(0, np.float32),) * 2
    vocabulary = Vocabulary((), ())
    if spec.titles:
        named = ((artist_of(collection), titles_of(collection)) for collection in collections)
        vocabulary = learn_vocabulary(named, tokens=tokens, grams=grams)
    spec = replace(spec, tokens=len(vocabulary.tokens), grams=len(vocabulary.grams))
    return spec, mean, deviation, vocabulary


def _learn_transform(features: Floats, spec: SetSpec) -> tuple[Array, Array]:
    """Mean and deviation (f,) of the training items' features (items, f), after the logarithms; NaN are left out."""
    raw = features.astype(np.float64)
    for name in spec.logged:
        column = spec.features.index(name)
        raw[:, column] = np.log(np.maximum(raw[:, column], 0.0) + OFFSET)
    raw = np.where(np.isfinite(raw), raw, np.nan)
    seen = ~np.isnan(raw).all(axis=0)
    if not seen.all():
        raise InputError(f"feature {spec.features[int(np.argmin(seen))]!r} is missing in all collections")
    mean, deviation = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
    return mean.astype(np.float32), np.where(deviation > 1e-8, deviation, 1.0).astype(np.float32)


def as_inputs(
    collection: Collection, spec: SetSpec, mean: Array, deviation: Array, vocabulary: Vocabulary
) -> SetInputs:
    """One collection as inputs of B = 1."""
    z, known = standardise(pick(collection, spec.features), spec, mean, deviation)
    return set_inputs(z[None], known[None], [titles_of(collection)] if spec.titles else None, vocabulary)


def pick(collection: Collection, names: Sequence[str]) -> Floats:
    """Features of a collection by name, (n, f); NaN where it has none of that name."""
    there = [name in collection.feature_names for name in names]
    features = np.full((len(collection), len(names)), np.nan)
    if any(there):
        features[:, there] = collection.columns(list(compress(names, there)))
    return features


def titles_of(collection: Collection) -> list[Title]:
    """The titles of a collection, taken apart."""
    items = collection.items
    return read_titles([item.title for item in items], collection.title, [item.artist for item in items])


def artist_of(collection: Collection) -> str:
    """Whom a collection is by, for splits and counts: the name of its first artist, however spelt, else its own id."""
    return next((fold_artist(item.artist) for item in collection.items if item.artist), collection.id)
