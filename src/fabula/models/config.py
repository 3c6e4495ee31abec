"""What a model's configuration may say, and the tensors it then must have.

::

    {"dimensions": d,                          # of the essence
     "encoder": {"kind": "mlp", ...},          # one of fabula.models.encoders.ENCODERS
     "scorers": [{"kind": "arcs", ...}, ...]}  # of fabula.models.scorers.SCORERS, each kind at most once

The file of each kind says what else it may say, and which tensors it has. Tensors are float32 if not said otherwise;
beside those of the encoder and the scorers there are ``transform.mean`` and ``transform.deviation``, float64, in the
shape of one item's features: (f,), or (f, s).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.errors import ModelError
from fabula.models.checks import as_mapping, as_whole
from fabula.models.encoders import encoder_kind
from fabula.models.layers import Shape
from fabula.models.scorers import SCORERS, scorer_kind

_MEASURED = ("transform.mean", "transform.deviation")


def dtype_of(name: str) -> str:
    """The dtype a tensor is stored in: float64 for what was measured exactly, float32 for weights."""
    double = name in _MEASURED or any(name in kind.doubles for kind in SCORERS.values())
    return "float64" if double else "float32"


def tensor_shapes(config: Mapping[str, Any], item_shape: Shape) -> dict[str, Shape]:
    """Name and shape of every tensor that a model with this configuration has.

    Parameters
    ----------
    config
        As the module says.
    item_shape
        Shape of one item's features, (f,) or (f, s).

    Raises
    ------
    ModelError
        When the configuration breaks a rule.

    Examples
    --------
    >>> tensor_shapes({"dimensions": 2, "encoder": {"kind": "identity"}, "scorers": []}, (2,))
    {'transform.mean': (2,), 'transform.deviation': (2,)}
    """
    d = as_whole(config, "dimensions", "the configuration")
    shapes: dict[str, Shape] = dict.fromkeys(_MEASURED, item_shape)
    shapes |= _encoder_shapes(as_mapping(config.get("encoder"), "encoder"), item_shape, d)
    return shapes | _scorer_shapes(config.get("scorers"), d)


def _encoder_shapes(settings: Mapping[str, Any], item_shape: Shape, d: int) -> dict[str, Shape]:
    kind = encoder_kind(settings.get("kind"))
    if len(item_shape) != kind.axes or min(item_shape, default=0) < 1:
        name = settings["kind"]
        raise ModelError(f"{name} encoder needs features with {kind.axes} axes per item; got shape {item_shape}")
    return kind.shapes(settings, item_shape, d)


def _scorer_shapes(scorers: Any, d: int) -> dict[str, Shape]:
    if not isinstance(scorers, list):
        raise ModelError(f'the configuration\'s "scorers" must be a list; got {scorers!r}')
    shapes: dict[str, Shape] = {}
    seen: set[Any] = set()
    for settings in scorers:
        kind = as_mapping(settings, "scorers").get("kind")
        shapes |= scorer_kind(kind).shapes(settings, d)
        if kind in seen:
            raise ModelError(f"a model has a scorer of each kind at most once; got {kind!r} twice")
        seen.add(kind)
    return shapes
