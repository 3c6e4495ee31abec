"""The set model in torch, step for step as :mod:`fabula.models.encoders.set` has it in NumPy, with dropout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from fabula.core.collection import Collection
from fabula.core.collections import pick_features
from fabula.core.energy import position_basis
from fabula.errors import InputError, ModelError
from fabula.models.config import Array
from fabula.models.encoders import set as numpy_set
from fabula.models.encoders.set import SetInputs, SetSpec
from fabula.models.model import Model
from fabula.models.titles import Title, Vocabulary, learn_vocabulary, read_titles
from fabula.training.recipes import SetRecipe


class SetBatch(NamedTuple):
    """B collections of n items in true order, as :class:`fabula.models.encoders.set.SetInputs` holds them."""

    values: Tensor
    known: Tensor
    titled: Tensor
    tokens: Tensor
    grams: Tensor
    marks: Tensor
    pairs: Tensor


STILL = SetRecipe(dropout=0.0, title_dropout=0.0, word_dropout=0.0)  # a net that is not trained leaves nothing out


class SetNet(nn.Module):
    """Encoder, arcs and flow; its tensors have the names of the model file."""

    def __init__(self, spec: SetSpec, recipe: SetRecipe = STILL) -> None:
        super().__init__()
        self.spec = spec
        self.recipe = recipe
        generator = torch.Generator().manual_seed(recipe.seed)
        started = {name: _first(name, shape, generator) for name, shape in spec.shapes().items()}
        self.weights = nn.ParameterDict(
            {_key(name): nn.Parameter(t) for name, t in started.items() if not name.startswith("transform.")}
        )

    def tensor(self, name: str) -> Tensor:
        """A weight by its name in the file."""
        weight: Tensor = self.weights[_key(name)]
        return weight

    def forward(self, x: SetBatch) -> tuple[Tensor, Tensor]:
        """How much each item likes each position, and to be followed by each other (0 by itself): (B, n, n) each."""
        essence, pair = self.encode(x)
        basis = torch.from_numpy(position_basis(essence.shape[1]).copy()).to(essence)
        positions = essence @ (self.tensor("arcs.template").T @ basis)
        before, after = essence @ self.tensor("flow.from"), essence @ self.tensor("flow.to")
        flow = before @ after.transpose(1, 2) / math.sqrt(self.spec.rank) + self._linear("flow.pair", pair)[..., 0]
        return positions, flow * (1 - torch.eye(flow.shape[-1], device=flow.device))

    def describe(self, x: SetBatch) -> tuple[Tensor, Tensor]:
        """What is known of the items (B, n, inputs) and of each two of them (B, n, n, inputs)."""
        spec, parts = self.spec, []
        if spec.plain:
            columns = list(spec.plain)
            parts.append(_numbers(x.values[..., columns], x.known[..., columns]))
        if spec.circle:
            parts.append(_keys(x, spec))
        if spec.titles:
            parts.append(self._titles(x))
        size = torch.full_like(x.titled, math.log(x.values.shape[1]) / numpy_set.SIZE)[..., None]
        return torch.cat([*(part[0] for part in parts), size], -1), torch.cat([part[1] for part in parts], -1)

    def encode(self, x: SetBatch) -> tuple[Tensor, Tensor]:
        """The essence (B, n, d), and what the net over pairs makes of each two items (B, n, n, pair width)."""
        items, pairs = self.describe(x)
        pair = self._drop(torch.relu(self._linear("pairs", pairs)))
        hidden = self._drop(self._linear("input", items))
        for layer in range(self.spec.layers):
            at = f"layers.{layer}"
            bias = self._linear(f"{at}.bias", pair).permute(0, 3, 1, 2) if self.spec.biased else None
            hidden = hidden + self._drop(self._attention(at, self._norm(f"{at}.before", hidden), bias))
            inner = self._drop(torch.relu(self._linear(f"{at}.up", self._norm(f"{at}.between", hidden))))
            hidden = hidden + self._drop(self._linear(f"{at}.down", inner))
        return self._linear("essence", self._norm("output", hidden)), pair

    def _titles(self, x: SetBatch) -> tuple[Tensor, Tensor]:
        titled = x.titled[..., None]
        tokens = self._pool("tokens.vectors", x.tokens, self.tensor("tokens.weights")) * titled
        grams = self._pool("grams.vectors", x.grams, None) * titled
        marks = x.marks * titled
        mean = marks.sum(1, keepdim=True) / titled.sum(1, keepdim=True).clamp(min=1)
        both = titled[:, :, None] * titled[:, None]
        pairs = x.pairs * both
        seen = [pairs.amax(1), pairs.mean(1), pairs.amax(2)]
        items = torch.cat([tokens, grams, marks, (marks - mean) * titled, titled, *seen], -1)
        return items, torch.cat([pairs, both], -1)

    def _pool(self, name: str, ids: Tensor, weights: Tensor | None) -> Tensor:
        there = (ids > 0).float()
        if self.training and self.recipe.word_dropout:
            there = there * (torch.rand_like(there) >= self.recipe.word_dropout)
        weight = there if weights is None else weights.exp()[ids] * there
        weight = weight / weight.sum(-1, keepdim=True).clamp(min=1e-6)
        mean = (weight[..., None, :] @ functional.embedding(ids, self.tensor(name)))[..., 0, :]
        return functional.dropout(mean, self.recipe.title_dropout, self.training)

    def _attention(self, at: str, x: Tensor, bias: Tensor | None) -> Tensor:
        count, n, width = x.shape
        split = self._linear(f"{at}.attention", x).view(count, n, 3, self.spec.heads, -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        logits = query @ key.transpose(2, 3) / math.sqrt(width // self.spec.heads)
        weights = self._drop((logits if bias is None else logits + bias).softmax(-1))
        return self._linear(f"{at}.mixed", (weights @ value).transpose(1, 2).reshape(count, n, width))

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        weight = self.tensor(f"{name}.weight")
        return functional.layer_norm(x, weight.shape, weight, self.tensor(f"{name}.bias"))

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.recipe.dropout, self.training)


def _numbers(z: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    count = known.sum(1, keepdim=True)
    mean = (z * known).sum(1, keepdim=True) / count.clamp(min=1)
    centred = (z - mean) * known
    deviation = ((centred**2).sum(1, keepdim=True) / count.clamp(min=1)).sqrt()
    within = centred / deviation.clamp(min=numpy_set.LEAST_DEVIATION)
    both = known[:, :, None] * known[:, None]
    wide = (z[:, None] - z[:, :, None]) * both
    near = (within[:, None] - within[:, :, None]) * both
    rank = wide.sign().sum(1) / (count - 1).clamp(min=1)
    items = torch.cat([z * known, within, rank, known], -1)
    return items, torch.cat([near, near.abs(), wide.abs(), both], -1)


def _keys(x: SetBatch, spec: SetSpec) -> tuple[Tensor, Tensor]:
    column = spec.features.index(spec.circle)
    pitch, known = x.values[..., column], x.known[..., column]
    if spec.mode:
        mode = spec.features.index(spec.mode)
        pitch = pitch + 3 * x.known[..., mode] * (x.values[..., mode] < 0)
    angle = pitch * (7 * 2 * math.pi / 12)
    cos, sin = angle.cos() * known, angle.sin() * known
    along = cos[:, :, None] * cos[:, None] + sin[:, :, None] * sin[:, None]
    across = cos[:, :, None] * sin[:, None] - sin[:, :, None] * cos[:, None]
    both = known[:, :, None] * known[:, None]
    return torch.stack([cos, sin, known], -1), torch.stack([along, across, both], -1)


def _key(name: str) -> str:
    return name.replace(".", "/")  # torch keeps the dot for itself


def _first(name: str, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """First weights: uniform by the number of inputs for layers, small for vectors, none for what corrects."""
    if name.endswith((".bias", "weights")) or name.startswith("flow.pair"):
        return torch.zeros(shape)
    if len(shape) == 1:
        return torch.ones(shape)
    if name.endswith(".vectors"):
        return torch.randn(shape, generator=generator) * 0.1
    scale = 1 / math.sqrt(shape[0] if name.startswith("flow.") else shape[1])
    return (torch.rand(shape, generator=generator) * 2 - 1) * scale * (0.1 if name.startswith("arcs.") else 1.0)


class Reading(NamedTuple):
    """What a set model must know to read items."""

    spec: SetSpec
    mean: Array  # (f,)
    deviation: Array  # (f,)
    vocabulary: Vocabulary


def as_model(
    net: SetNet, read: Reading, *, training: Mapping[str, Any] | None = None, card: Mapping[str, Any] | None = None
) -> Model:
    """The model of a net; vectors of words are rounded to half precision, as they are stored."""
    names = [name for name in net.spec.shapes() if not name.startswith("transform.")]
    tensors: dict[str, Array] = {name: net.tensor(name).detach().cpu().numpy().astype(np.float32) for name in names}
    tensors |= {"transform.mean": read.mean, "transform.deviation": read.deviation}
    return Model(net.spec.config(), tensors, read.vocabulary, training=training, card=card)


def as_net(model: Model, recipe: SetRecipe = STILL) -> SetNet:
    """A net with the weights of a model."""
    spec = numpy_set.as_set(model.encoder).spec
    net = SetNet(spec, recipe)
    with torch.no_grad():
        for name in spec.shapes():
            if not name.startswith("transform."):
                net.tensor(name).copy_(torch.from_numpy(model.tensors[name]))
    if not all(torch.isfinite(weight).all() for weight in net.parameters()):
        raise ModelError("a model's weights must be finite to go on from them")
    return net


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
    raw = np.concatenate([pick_features(c.features, c.feature_names, spec.features) for c in collections])
    raw = raw.astype(np.float64)
    for name in spec.logged:
        column = spec.features.index(name)
        raw[:, column] = np.log(np.maximum(raw[:, column], 0.0) + numpy_set.OFFSET)
    raw = np.where(np.isfinite(raw), raw, np.nan)  # (items, f); NaN are left out
    seen = ~np.isnan(raw).all(axis=0)
    if not seen.all():
        raise InputError(f"feature {spec.features[int(np.argmin(seen))]!r} is missing in all collections")
    mean, deviation = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
    deviation = np.where(deviation > 1e-8, deviation, 1.0)
    vocabulary = Vocabulary((), ())
    if spec.titles:
        named = ((artist_of(collection), titles_of(collection)) for collection in collections)
        vocabulary = learn_vocabulary(named, tokens=tokens, grams=grams)
    spec = replace(spec, tokens=len(vocabulary.tokens), grams=len(vocabulary.grams))
    return Reading(spec, mean.astype(np.float32), deviation.astype(np.float32), vocabulary)


def as_inputs(collection: Collection, read: Reading) -> SetInputs:
    """One collection as inputs of B = 1."""
    spec, mean, deviation, vocabulary = read
    features = pick_features(collection.features, collection.feature_names, spec.features)
    z, known = numpy_set.standardise(features, spec, mean, deviation)
    return numpy_set.set_inputs(z[None], known[None], [titles_of(collection)] if spec.titles else None, vocabulary)


def titles_of(collection: Collection) -> list[Title]:
    """The titles of a collection, taken apart."""
    items = collection.items
    return read_titles([item.title for item in items], collection.title, [item.artist for item in items])


def artist_of(collection: Collection) -> str:
    """Whom a collection is by, for splits and counts: the name of its first artist, however spelt, else its own id."""
    return collection.maker or collection.id
