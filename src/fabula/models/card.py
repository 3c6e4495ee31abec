"""What a model says of itself: its card in one line, as lines for people, and as a small table in a notebook."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fabula.core.display import name_some, table_html
from fabula.core.fingerprints import fingerprints_of

if TYPE_CHECKING:
    from fabula.models.model import Model

HISTORY = "history"  # what the epochs brought: too long for a card
_HIDDEN = ("settings", "seen", HISTORY)


def card_lines(model: "Model") -> list[tuple[str, str]]:
    """Label and value of what a model's user may want to know, from what it takes to how it did.

    >>> from fabula.models.model import Model
    >>> from fabula.models.transform import Transform
    >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}
    >>> model = Model(config, {}, Transform(("energy",), (), [0.0], [1.0]), card={"bits": {"arcs": 0.25}})
    >>> card_lines(model)[-2:]
    [('bits, arcs', '0.25'), ('training, seen', 'not recorded')]
    """
    size = sum(tensor.size for tensor in model.tensors.values())
    made_of = [
        *model.encoder.describe(),
        ("scorers", ", ".join(model.scorers) or "none"),
        ("numbers inside", f"{size:,}"),
    ]
    return [*made_of, *flat(model.card, ""), *flat(describe_training(model.training), "training")]


def card_brief(model: "Model") -> str:
    """A model in one line: its features, its scorers and its first bits."""
    found = [(label, value.partition(" (")[0]) for label, value in flat(model.card, "") if label.startswith("bits")]
    bits = "".join(f"; {label} {value}" for label, value in found[:2])
    return (
        f"<{type(model).__name__}: {name_some(model.feature_names, 4) or 'no features'}; "
        f"scorers {', '.join(model.scorers) or 'none'}{bits}>"
    )


def card_html(model: "Model") -> str:
    """A model as a small table."""
    rows = [
        ("features", name_some(model.feature_names, 16) or "none"),
        ("dimensions", str(model.dimensions)),
        ("scorers", ", ".join(model.scorers) or "none"),
        *flat(model.card, ""),
        *flat(describe_training(model.training), "training"),
    ]
    return table_html(["", ""], rows, caption=type(model).__name__)


def describe_training(training: Mapping[str, Any]) -> dict[str, Any]:
    """What a card tells of the training: all but its settings, its epochs and the digests of what it has seen."""
    seen = fingerprints_of(training)
    known = "not recorded" if seen is None else f"digests of {len(seen):,} collections, by which they are known again"
    return {**{key: value for key, value in training.items() if key not in _HIDDEN}, "seen": known}


def flat(value: Any, label: str) -> Iterator[tuple[str, str]]:
    """Nested names as one label: ("bits, arcs", "0.25")."""
    if isinstance(value, Mapping) and {"bits", "low", "high"} <= set(value):
        bits, low, high = (f"{round(value[key], 3) + 0.0:.3f}" for key in ("bits", "low", "high"))  # no "-0.000"
        count = f", {value['collections']:,} collections" if "collections" in value else ""
        yield label, f"{bits} (95 % interval {low} to {high}{count})"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{label}, {key}" if label else str(key))
    elif isinstance(value, list):
        yield label, ", ".join(map(_show, value))
    else:
        yield label, _show(value)


def _show(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
