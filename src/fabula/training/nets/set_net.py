"""The set model in torch, step for step as :mod:`fabula.models.encoders.set` has it in NumPy, with dropout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from fabula.models.encoders.set import SetEncoder, SetInputs, SetSpec
from fabula.models.file import tensor_shapes
from fabula.models.model import Model
from fabula.models.scorers import MEASURED
from fabula.models.titles import Vocabulary, learn_vocabulary, read_titles
from fabula.training.recipes import SetRecipe

STILL = SetRecipe(dropout=0.0, title_dropout=0.0, word_dropout=0.0)  # a net that is not trained leaves nothing out


class SetNet(nn.Module):
    """Encoder, arcs and flow; its tensors have the names of the model file."""

    def __init__(self, spec: SetSpec, recipe: SetRecipe = STILL) -> None:
        super().__init__()
        self.spec = spec
        self.recipe = recipe
        generator = torch.Generator().manual_seed(recipe.seed)
        shapes = {name: shape for name, shape in tensor_shapes(spec.config(), ()).items() if name not in MEASURED}
        self.names = list(shapes)
        self.weights = nn.ParameterDict({_key(n): nn.Parameter(_first(n, s, generator)) for n, s in shapes.items()})

    def tensor(self, name: str) -> Tensor:
        """A weight by its name in the file."""
        weight: Tensor = self.weights[_key(name)]
        return weight

    def forward(self, x: SetInputs) -> tuple[Tensor, Tensor]:
        """How much each item likes each position, and to be followed by each other (0 by itself): (B, n, n) each."""
        essence, pair = self.encode(x)
        basis = torch.from_numpy(position_basis(essence.shape[1]).copy()).to(essence)
        positions = essence @ (self.tensor("arcs.template").T @ basis)
        before, after = essence @ self.tensor("flow.from"), essence @ self.tensor("flow.to")
        flow = before @ after.transpose(1, 2) / math.sqrt(self.spec.rank) + self._linear("flow.pair", pair)[..., 0]
        return positions, flow * (1 - torch.eye(flow.shape[-1], device=flow.device))

    def encode(self, x: SetInputs) -> tuple[Tensor, Tensor]:
        """The essence (B, n, d), and what the net over pairs makes of each two items (B, n, n, pair width)."""
        known, tokens, grams = numpy_set.Description(x, self.spec, torch), None, None
        if self.spec.titles:
            tokens = self._pool("tokens.vectors", x.tokens, self.tensor("tokens.weights"))
            grams = self._pool("grams.vectors", x.grams, None)
        items = known.items(tokens, grams)
        pair = self._drop(torch.relu(self._linear("pairs", known.pairs())))
        hidden = self._drop(self._linear("input", items))
        for layer in range(self.spec.layers):
            at = f"layers.{layer}"
            bias = self._linear(f"{at}.bias", pair).permute(0, 3, 1, 2) if self.spec.biased else None
            hidden = hidden + self._drop(self._attention(at, self._norm(f"{at}.before", hidden), bias))
            inner = self._drop(torch.relu(self._linear(f"{at}.up", self._norm(f"{at}.between", hidden))))
            hidden = hidden + self._drop(self._linear(f"{at}.down", inner))
        return self._linear("essence", self._norm("output", hidden)), pair

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


def as_model(
    net: SetNet, read: SetEncoder, *, training: Mapping[str, Any] | None = None, card: Mapping[str, Any] | None = None
) -> Model:
    """The model of a net; vectors of words are rounded to half precision, as they are stored."""
    tensors: dict[str, Array] = {name: read.tensors[name] for name in MEASURED}
    tensors |= {name: net.tensor(name).detach().cpu().numpy().astype(np.float32) for name in net.names}
    return Model(net.spec.config(), tensors, read.vocabulary, training=training, card=card)


def as_net(model: Model, recipe: SetRecipe = STILL) -> SetNet:
    """A net with the weights of a model."""
    net = SetNet(numpy_set.as_set(model.encoder).spec, recipe)
    with torch.no_grad():
        for name in net.names:
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


def learn_inputs(collections: Sequence[Collection], spec: SetSpec, *, tokens: int, grams: int) -> SetEncoder:
    """An encoder that can read items, learned from those to train on; with its vocabulary's sizes in the spec.

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
        named = ((c.maker or c.id, read_titles(c.texts("title"), c.title, c.texts("artist"))) for c in collections)
        vocabulary = learn_vocabulary(named, tokens=tokens, grams=grams)
    spec = replace(spec, tokens=len(vocabulary.tokens), grams=len(vocabulary.grams))
    scale = np.stack([mean, deviation]).astype(np.float32)
    return SetEncoder(spec, dict(zip(MEASURED, scale, strict=True)), vocabulary)
