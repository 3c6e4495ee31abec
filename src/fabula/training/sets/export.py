"""From a net to a model without torch, and back to go on training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from fabula.errors import ModelError
from fabula.models.encoders.set import Array, as_set
from fabula.models.model import Model
from fabula.models.titles import Vocabulary
from fabula.training.sets.nets import Dropout, SetNet


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
