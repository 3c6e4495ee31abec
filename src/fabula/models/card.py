"""What a model says of itself, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabula.models.model import Model


def card_lines(model: Model) -> list[tuple[str, str]]:
    """Label and value of what a model's user may want to know, from what it takes to how it did.

    The settings of its training are in ``model.training``.

    Examples
    --------
    >>> from fabula.models.transform import Transform
    >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}
    >>> model = Model(config, {}, Transform(("energy",), (), [0.0], [1.0]), card={"bits": {"arcs": 0.25}})
    >>> card_lines(model)[-1]
    ('bits, arcs', '0.25')
    """
    logged = f" (logarithm of {', '.join(model.transform.logged)})" if model.transform.logged else ""
    size = sum(tensor.size for tensor in model.tensors.values())
    lines = [
        ("features", ", ".join(model.feature_names) + logged),
        ("dimensions", str(model.dimensions)),
        ("encoder", str(model.config["encoder"]["kind"])),
        ("scorers", ", ".join(model.scorers) or "none"),
        ("numbers inside", f"{size:,}"),
    ]
    training = {key: value for key, value in model.training.items() if key != "settings"}
    return [*lines, *_flat(model.card, ""), *_flat(training, "training")]


def _flat(value: Any, label: str) -> Iterator[tuple[str, str]]:
    """Nested names as one label: ("bits, arcs", "0.25")."""
    if isinstance(value, Mapping) and {"bits", "low", "high"} <= set(value):
        yield label, f"{value['bits']:.3f} (95 % interval {value['low']:.3f} to {value['high']:.3f})"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{label}, {key}" if label else str(key))
    elif isinstance(value, list):
        yield label, ", ".join(map(_shown, value))
    else:
        yield label, _shown(value)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
