"""Training and auditing step models, from a table or a folder of collections to what is worth keeping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.files.atomic import check_target
from fabula.core.fingerprints import Fingerprints
from fabula.errors import InputError
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.registry import measure_if_held, medium_of_file
from fabula.models.file import save_model
from fabula.models.steps.evidence import Evidence
from fabula.models.steps.model import StepModel
from fabula.models.steps.tables import standing
from fabula.sources.tables.storage import is_table_folder
from fabula.studies.gathering import gather
from fabula.studies.recipe import Recipe
from fabula.studies.splits import Split, divide, split_of
from fabula.training.ranks import processes
from fabula.training.steps.examples import Example, noise, shuffled, spans
from fabula.training.steps.learning import StepRecipe, Weights, bits_of, learn_weights
from fabula.training.steps.lexicon import Lexicon, learn_lexicon

FEWEST = 6  # items of a collection
NEGATIVES = 1023
SPOILT = {"noise features": noise, "shuffled orders": shuffled}

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class TrainedSteps:
    """What training a step model gave: the model, from which collections, and its bits on those held out."""

    model: StepModel
    split: Split
    information: Interval


@dataclass(frozen=True, eq=False)
class _Looked:
    """A collection that was looked at: who made it, its features, and its evidence by rows."""

    group: str
    features: Floats
    look: Callable[[Sequence[int]], Evidence]
    whole: Evidence


@dataclass(frozen=True, eq=False)
class PosedSteps:
    """What a recipe comes to: examples to train on, with windows, and whole collections held out."""

    split: Split
    names: tuple[str, ...]
    logged: tuple[str, ...]
    pairs: tuple[str, ...]
    lexicon: Lexicon
    examples: list[Example]
    held_out: list[Example]
    how: StepRecipe


def train_steps_of(
    recipe: Recipe,
    output: str | Path,
    *,
    measuring: Measuring | None = None,
    jobs: int = 1,
    progress: Report | None = None,
) -> TrainedSteps:
    """Train a step model on a table with a column of texts, or on a folder of numbered folders, and write it.

    What is held out decides nothing.
    """
    check_target(output)
    posed = pose_steps(recipe, measuring, progress)
    weights = learn_weights(posed.examples, posed.how, jobs=jobs, report=_named(progress, "training"))
    info = _information(posed.held_out, weights)
    bits = {"bits": info.mean, "low": info.low, "high": info.high, "collections": info.n}
    rule = f"whole collections held out, N = {NEGATIVES + 1}"
    card: dict[str, Any] = {"data": recipe.table.name, "collections": len(posed.split.training), rule: bits}
    tensors = {"arcs": weights.arcs, "reach": weights.reach, "lexicon": posed.lexicon.tensor}
    settings = {one.name: getattr(posed.how, one.name) for one in fields(posed.how)}
    seen = Fingerprints.of(posed.split.training, posed.names)
    model = StepModel(
        posed.names,
        posed.logged,
        posed.pairs,
        {name: tensor.astype(np.float32) for name, tensor in tensors.items()},
        words=posed.lexicon.words,
        training={
            "collections": len(posed.split.training),
            "examples": len(posed.examples),
            "settings": settings,
            "seen": seen.to_dict(),
        },
        card=card,
    )
    save_model(output, model)
    return TrainedSteps(model, posed.split, info)


def audit_steps_of(
    recipe: Recipe, *, jobs: int = 1, controls_only: bool = False, progress: Report | None = None
) -> dict[str, Interval]:
    """Train on the real collections and on the controls; the bits of each on what is held out, by name."""
    posed = pose_steps(recipe, progress=progress)
    found: dict[str, Interval] = {}
    for name in ("real", *SPOILT)[controls_only:]:
        rng = np.random.default_rng((posed.how.seed, len(name)))
        spoil = SPOILT.get(name)
        train, held = (spoil(part, rng) if spoil else part for part in (posed.examples, posed.held_out))
        found[name] = _information(held, learn_weights(train, posed.how, jobs=jobs, report=_named(progress, name)))
    return found


def _information(held_out: Sequence[Example], weights: Weights) -> Interval:
    bits = bits_of(held_out, weights, negatives=NEGATIVES, rng=np.random.default_rng(0))
    return mean_interval(bits, np.random.default_rng(0), [one.group for one in held_out])


def pose_steps(recipe: Recipe, measuring: Measuring | None = None, progress: Report | None = None) -> PosedSteps:
    """Look at the collections of a recipe, learn the lexicon, and make examples."""
    if processes() > 1:
        raise InputError("a step model is trained by processes of its own (jobs): start it without torchrun")
    changes = dict(recipe.changes or {})
    wanted, logged = changes.pop("features", ()), changes.pop("logged", None)
    unknown = set(changes) - {one.name for one in fields(StepRecipe)}
    if unknown or recipe.preset != "default" or recipe.start is not None or recipe.titles:
        named = sorted(unknown)[0] if unknown else "a preset, titles or a model to go on from"
        known = ", ".join(one.name for one in fields(StepRecipe))
        raise InputError(f"a step model takes no {named}; its settings are {known}")
    split, medium = _split(recipe, measuring)
    names = tuple(wanted) or tuple(n for n in medium.measured if n in split.training[0].feature_names)
    looked = {part: _looked(getattr(split, part), names, medium, progress) for part in ("training", "held_out")}
    learned, held = looked["training"], looked["held_out"]
    if not learned or not held:
        raise InputError(f"{recipe.table}: too few collections of at least {FEWEST} items that can be looked at")
    taken = tuple(logged) if logged is not None else _logged(learned, names)
    lexicon = learn_lexicon([(one.group, one.whole.terms) for one in learned if one.whole.terms is not None])
    pairs, rng = tuple(learned[0].whole.pairs), np.random.default_rng(changes.get("seed", 0))
    take = np.isin(names, taken)
    examples = [_example(one, rows, lexicon, take, pairs) for one in learned for rows in spans(len(one.features), rng)]
    whole = [_example(one, range(len(one.features)), lexicon, take, pairs) for one in held]
    return PosedSteps(split, names, taken, pairs, lexicon, examples, whole, StepRecipe(**changes))


def _split(recipe: Recipe, measuring: Measuring | None) -> tuple[Split, Medium]:
    if isinstance(recipe.table, Path) and recipe.table.is_dir() and not is_table_folder(recipe.table):
        found = gather(recipe.table, measuring)
        medium = medium_of_file(Path(found.collections[0].items[0].path).suffix.lower())
        training, held_out = divide(found.collections, recipe.held_out)
        split = Split(training, held_out, f"{len(held_out)} of {len(found.collections)} held out", found.notes)
    else:
        plain = split_of(recipe)
        medium = measure_if_held(plain.training[0])[1]
        split = Split(_measured(plain.training), _measured(plain.held_out), plain.rule, plain.notes)
    if medium is None:
        raise InputError(f"{recipe.table}: a step model needs items that can be looked at, such as texts")
    return split, medium


def _measured(collections: Sequence[Collection]) -> list[Collection]:
    return [measure_if_held(collection)[0] for collection in collections if len(collection) >= FEWEST]


def _looked(
    collections: Sequence[Collection], names: Sequence[str], medium: Medium, progress: Report | None
) -> list[_Looked]:
    """Those collections whose items tell something, looked at."""
    found = []
    for number, collection in enumerate(collections, start=1):
        if len(collection) >= FEWEST and all(name in collection.feature_names for name in names):
            look = medium.look(collection)
            whole = look(range(len(collection)))
            group = collection.items[0].creator or collection.id
            if whole.pairs:
                found.append(_Looked(group, collection.columns(list(names)), look, whole))
        if progress is not None:
            progress("looking", number, len(collections))
    return found


def _logged(looked: Sequence[_Looked], names: Sequence[str]) -> tuple[str, ...]:
    """Features that are no shares: never below zero, and above 2 somewhere."""
    values = np.nan_to_num(np.concatenate([one.features for one in looked]))  # what is not known is neither
    kept = (values.min(axis=0) >= 0) & (values.max(axis=0) > 2)
    return tuple(name for name, taken in zip(names, kept, strict=True) if taken)


def _example(one: _Looked, rows: Sequence[int], lexicon: Lexicon, logged: np.ndarray, pairs: Sequence[str]) -> Example:
    evidence = one.whole if len(rows) == len(one.features) else one.look(rows)
    leanings = lexicon.leanings(evidence.terms, len(rows), one.group)
    measured = standing(one.features[list(rows)], logged)
    tables = np.stack([evidence.pairs[name] for name in pairs]).astype(np.float32)
    return Example(np.concatenate([measured, leanings], axis=1), tables, one.group)


def _named(progress: Report | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
