"""What a model says of itself, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabula.core.display import named, table_html
from fabula.core.seen import seen_by
from fabula.models.model import Model
from fabula.models.sets.model import SetModel
from fabula.models.steps.model import StepModel

# How a model shows itself: its card in one line, and as a small table in a notebook.

HISTORY = "history"  # what the epochs brought: too long for a card
_HIDDEN = ("settings", "seen", HISTORY)


class CardShown:
    """What every kind of model shows of itself: features, dimensions, scorers, card."""

    feature_names: Any
    dimensions: Any
    scorers: Any
    card: dict[str, Any]
    training: dict[str, Any]

    def __repr__(self) -> str:
        found = [(label, value.partition(" (")[0]) for label, value in flat(self.card, "") if label.startswith("bits")]
        told = "".join(f"; {label} {value}" for label, value in found[:2])
        return (
            f"<{type(self).__name__}: {named(self.feature_names, 4) or 'no features'}; "
            f"scorers {', '.join(self.scorers) or 'none'}{told}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("features", named(self.feature_names, 16) or "none"),
            ("dimensions", str(self.dimensions)),
            ("scorers", ", ".join(self.scorers) or "none"),
            *flat(self.card, ""),
            *flat(told_of(self.training), "training"),
        ]
        return table_html(["", ""], rows, caption=type(self).__name__)


def told_of(training: Mapping[str, Any]) -> dict[str, Any]:
    """What a card tells of the training: all but its settings, its epochs and the digests of what it has seen."""
    seen = seen_by(training)
    known = "not recorded" if seen is None else f"digests of {len(seen):,} collections, by which they are known again"
    return {**{key: value for key, value in training.items() if key not in _HIDDEN}, "seen": known}


def flat(value: Any, label: str) -> Iterator[tuple[str, str]]:
    """Nested names as one label: ("bits, arcs", "0.25").

    Examples
    --------
    >>> list(flat({"bits": {"arcs": 0.25}}, ""))
    [('bits, arcs', '0.25')]
    """
    if isinstance(value, Mapping) and {"bits", "low", "high"} <= set(value):
        bits, low, high = (f"{round(value[key], 3) + 0.0:.3f}" for key in ("bits", "low", "high"))  # no "-0.000"
        count = f", {value['collections']:,} collections" if "collections" in value else ""
        yield label, f"{bits} (95 % interval {low} to {high}{count})"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{label}, {key}" if label else str(key))
    elif isinstance(value, list):
        yield label, ", ".join(map(_shown, value))
    else:
        yield label, _shown(value)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def card_lines(model: Model | SetModel | StepModel) -> list[tuple[str, str]]:
    """Label and value of what a model's user may want to know, from what it takes to how it did.

    The settings of its training are in ``model.training``.

    Examples
    --------
    >>> from fabula.models.transform import Transform
    >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}
    >>> model = Model(config, {}, Transform(("energy",), (), [0.0], [1.0]), card={"bits": {"arcs": 0.25}})
    >>> card_lines(model)[-2:]
    [('bits, arcs', '0.25'), ('training, seen', 'not recorded')]
    """
    if isinstance(model, StepModel):
        lines = _made_of_steps(model)
    else:
        lines = _made_of_sets(model) if isinstance(model, SetModel) else _made_of(model)
    size = sum(tensor.size for tensor in model.tensors.values())
    lines += [("scorers", ", ".join(model.scorers) or "none"), ("numbers inside", f"{size:,}")]
    return [*lines, *flat(model.card, ""), *flat(told_of(model.training), "training")]


def _made_of(model: Model) -> list[tuple[str, str]]:
    return [
        ("features", _features(model.feature_names, model.transform.logged)),
        ("dimensions", str(model.dimensions)),
        ("encoder", str(model.config["encoder"]["kind"])),
    ]


def _made_of_sets(model: SetModel) -> list[tuple[str, str]]:
    spec = model.spec
    known = f"{spec.tokens:,} words and groups of words, {spec.grams:,} pieces of words"
    return [
        ("features", _features(spec.features, spec.logged) + "; any may be missing"),
        *([("titles", f"of items and collection, and artists; it knows {known}")] if spec.titles else []),
        ("dimensions", str(spec.dimensions)),
        ("encoder", f"set, {spec.width} wide, {spec.layers} layers: sees the whole collection, never its order"),
    ]


def _made_of_steps(model: StepModel) -> list[tuple[str, str]]:
    return [
        ("features", _features(model.feature_names, model.logged) + "; any may be missing"),
        ("pairs", ", ".join(model.pair_names)),
        ("words", ", ".join(f"{len(words):,} of {language}" for language, words in model.words.items()) or "none"),
    ]


def _features(names: Sequence[str], logged: Sequence[str]) -> str:
    return (", ".join(names) or "none") + (f" (logarithm of {', '.join(logged)})" if logged else "")
