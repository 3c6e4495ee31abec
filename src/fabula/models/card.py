"""What a model says of itself, as lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.models.model import Model
from fabula.models.sets.model import SetModel
from fabula.models.showing import flat, told_of
from fabula.models.steps.model import StepModel


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
