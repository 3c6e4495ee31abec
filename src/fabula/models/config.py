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
from fabula.models.encoders import encoder_kind
from fabula.models.layers import Shape
from fabula.models.scorers import SCORERS, scorer_kind

# Checks of what a model's configuration says; each error names the part, the key and what came.


def as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A part of the configuration, which must be names with values."""
    if not isinstance(value, Mapping):
        raise ModelError(f'the configuration\'s "{what}" must say what it is by name; got {value!r}')
    return value


def as_whole(config: Mapping[str, Any], key: str, what: str) -> int:
    """A whole number from 1."""
    value = config.get(key)
    if type(value) is not int or not 1 <= value <= 1_000_000:
        raise ModelError(f'{what}\'s "{key}" must be a whole number from 1; got {value!r}')
    return value


def as_flag(config: Mapping[str, Any], key: str, what: str) -> bool:
    """True or false; false where it is not said."""
    value = config.get(key, False)
    if not isinstance(value, bool):
        raise ModelError(f'{what}\'s "{key}" must be true or false; got {value!r}')
    return value


def check_choice(config: Mapping[str, Any], key: str, choices: tuple[str, ...], what: str) -> None:
    """One of a few words."""
    if config.get(key) not in choices:
        raise ModelError(f'{what}\'s "{key}" must be one of {", ".join(choices)}; got {config.get(key)!r}')


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


# The presets of training by name, as plain values: what each changes of the default settings.

# Appendix A of the paper. The mlp stands in for its encoder where the features are plain numbers.
_PAPER: dict[str, Any] = {
    "bound": 0.0,
    "encoder": "auto",
    "widths": (64, 64),
    "skip": False,
    "dropout": 0.1,
    "feature_dropout": 0.0,
    "feature_noise": 0.0,
    "scorers": ("bilstm",),
    "scorer_positions": False,
    "readout_dropout": 0.0,
    "essence_noise": 0.0,
    "negatives": 31,
    "batch": 16,
    "optimizer": "adam",
    "learning_rate": 1e-4,
    "encoder_decay": 0.0,
    "scorer_decay": 1e-5,
    "schedule": "constant",
    "warmup": 0.0,
    "clip": 0.0,
    "ema": 0.0,
    "epochs": 100,
    "patience": 10,
    "subsequences": 0.0,
    "calibrate": False,
}
# A mixture of arcs alone, light enough for a CPU.
_ARCS: dict[str, Any] = {"scorers": ("arcs",), "widths": (64, 64), "epochs": 50}
PRESETS: dict[str, dict[str, Any]] = {"default": {}, "arcs": _ARCS, "paper": _PAPER}
