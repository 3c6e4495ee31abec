"""From a recipe to what can be trained, for each kind of model: collections, settings, and the model's card."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Evidence
from fabula.core.energy import FUNCTIONS
from fabula.core.fingerprints import Fingerprints
from fabula.errors import InputError
from fabula.evaluation.information import Information
from fabula.evaluation.intervals import Interval
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.registry import measure_if_held, medium_of_columns
from fabula.models.config import PAIRS
from fabula.models.encoders.measures import as_measures, closeness, measures_config, neighbour_tensors, stand_out
from fabula.models.encoders.set import as_set
from fabula.models.model import Model, load_model
from fabula.models.transform import log_parts
from fabula.research.recovery import measure_split
from fabula.research.splits import Recipe, Split, gather, is_folder, leak_notes, split_of, usable_features
from fabula.training import step_models
from fabula.training.audit import Trainable
from fabula.training.distributed import join, processes
from fabula.training.item_models import EssenceTraining
from fabula.training.nets.set_net import spec_for
from fabula.training.recipes import NEIGHBOURS, StepRecipe, finetune_recipe, preset, recipe_for
from fabula.training.sets import SetTraining

T = TypeVar("T")
FEWEST = 6  # items of a collection of texts
FEWEST_NEIGHBOURS = 4  # items of a collection whose neighbours are learned from
LEAST = 3  # such collections
FEW = 500  # collections to train on, below which a net learns them by heart, or has too few steps to learn anything
SMALL: dict[str, Any] = {"widths": (), "batch": 16, "learning_rate": 0.02}  # of an essence then, where not said
_SIZES = ("dimensions", "width", "layers", "heads", "inner", "rank", "pair_width", "token_size", "gram_size")


@dataclass(frozen=True, eq=False)
class Gain:
    """What a model gained over the one it went on from, or is held near to, and whether that was kept as it is."""

    start: str
    bits: Interval
    kept: bool = False


@dataclass(frozen=True, eq=False)
class Prepared:
    """A recipe with everything decided."""

    split: Split
    trainable: Trainable  # what can be trained, audited and compared
    settings: Mapping[str, Any] | None = None  # every one, as a recipe takes it; None: as the training decides
    start: str = ""  # the model it goes on from, or is held near to


def prepare(recipe: Recipe, *, measuring: Measuring | None = None, jobs: int = 1, least: int = 0) -> Prepared:
    """Read the collections of a recipe and decide its settings.

    ``jobs``: processes side by side, for steps; ``least``: hold out so many of a small table, if it has them.
    """
    if recipe.kind == "set":
        return _prepare_sets(recipe, measuring, least)
    if recipe.kind == "steps":
        return _prepare_steps(recipe, measuring, jobs)
    if recipe.kind == "neighbours":
        return _prepare_neighbours(recipe, measuring)
    return _prepare_essence(recipe, least)


def read_everywhere(recipe: Recipe, read: Callable[[], T]) -> T:
    """What is read of a recipe's table; of torchrun's processes all get it from the first that has it on its disk."""
    if processes() == 1 or not isinstance(recipe.table, Path):
        return read()
    world = join(recipe.device)
    there = world.gather(recipe.table.exists())
    return read() if all(there) or not any(there) else world.share_from(there.index(True), read)


def _check_logged(logged: Sequence[str], collections: Sequence[Collection]) -> None:
    """Refuse a logarithm of a column that is not there."""
    there = collections[0].feature_names
    for text in logged:
        if log_parts(text, there)[0] not in there:
            raise InputError(f"there is no column {text!r} to take the logarithm of; there are: {', '.join(there)}")


def _check_settings(recipe: Recipe, what: str, changes: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse settings that a kind does not have."""
    unknown = sorted(set(changes) - set(known))
    if unknown or recipe.preset != "default" or recipe.start is not None or recipe.titles:
        named = unknown[0] if unknown else "preset, titles or model to go on from"
        raise InputError(f"{what} takes no {named}; its settings are {', '.join(known)}")


# Essence: each item by itself.


def _prepare_essence(recipe: Recipe, least: int) -> Prepared:
    config = preset(recipe.preset, **recipe.changes)
    split = read_everywhere(recipe, lambda: split_of(recipe, least=least))
    if len(split.training) < FEW and recipe.preset != "paper":
        usual = preset(recipe.preset)
        config = replace(config, **{k: v for k, v in SMALL.items() if getattr(config, k) == getattr(usual, k)})
    if config.logged != preset(recipe.preset).logged:
        _check_logged(config.logged, split.training)
    names, notes = _choose_columns(split, config.features, titles=False)
    config, split = replace(config, features=names), split.note(notes)
    about = {"data": recipe.table.name, "where": dict(recipe.where), "held out": split.rule}
    return Prepared(split, EssenceTraining(split.parts, config, recipe.device, card=about))


# Sets: each item among the others, with titles.


def _prepare_sets(recipe: Recipe, measuring: Measuring | None, least: int) -> Prepared:
    if recipe.preset != "default":
        raise InputError(f"a set model has one preset, default; got {recipe.preset!r}")
    changes = dict(recipe.changes)
    if "scorers" in changes:
        raise InputError("a set model always has the scorers arcs and flow: they cannot be chosen")
    start = None if recipe.start is None else load_model(recipe.start)
    if start is not None and (start.by_item or PAIRS in start.reads):
        raise InputError(f"{recipe.start}: only a set model can be gone on from, such as music")
    split = read_everywhere(recipe, lambda: split_of(recipe, measuring=measuring, least=least))
    names, logged = changes.pop("features", ()), changes.pop("logged", None)
    sizes = {name: changes.pop(name) for name in _SIZES if name in changes}
    about = {"data": recipe.table.name, "held out": split.rule}
    if start is not None:
        if names or logged or sizes:
            raise InputError("features, logarithms and sizes are those of the model it goes on from")
        spec = as_set(start.encoder).spec
        there = [name for name in spec.features if name in split.training[0].feature_names]
        split = split.note(leak_notes(split.training, there, titles=spec.titles))
        how = finetune_recipe(**changes)
        sets = SetTraining(split.parts, spec, how, recipe.device, start, card=about, origin=str(recipe.start))
        return Prepared(split, sets, how.to_dict(), str(recipe.start))
    _check_logged(logged or (), split.training)
    features, notes = _choose_columns(split, names, titles=recipe.titles is not None)
    split, taken = split.note(notes), preset("default").logged if logged is None else tuple(logged)
    spec = spec_for(features, titles=recipe.titles is not None, logged=taken, **sizes)
    how = recipe_for(len(split.parts.training), features, **changes)
    sets = SetTraining(split.parts, spec, how, recipe.device, card=about)
    settings = {"features": list(spec.features), "logged": list(spec.logged)}
    settings |= {**{name: getattr(spec, name) for name in _SIZES}, **how.to_dict()}
    return Prepared(split, sets, settings)


def _choose_columns(split: Split, names: Sequence[str], *, titles: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features to train on, and notes about what gives the order away."""
    if names:
        split.training[0].columns(list(names))  # says which is missing
        return tuple(names), leak_notes(split.training, names, titles=titles)
    by_title = leak_notes(split.training, (), titles=True) if titles else ()
    if titles and not split.training[0].feature_names:
        return (), by_title
    features, notes = usable_features(split.training)
    return features, (*notes, *by_title)


# Steps: texts, looked into, and all pairs of them.


@dataclass(frozen=True, eq=False)
class _Look:
    """A collection that was looked at: who made it, its features, and its evidence by rows."""

    group: str
    features: Floats
    look: Callable[[Sequence[int]], Evidence]
    whole: Evidence


def _prepare_steps(recipe: Recipe, measuring: Measuring | None, jobs: int) -> Prepared:
    if processes() > 1:
        raise InputError("a step model is trained by processes of its own (jobs): start it without torchrun")
    changes = dict(recipe.changes)
    wanted, logged = changes.pop("features", ()), changes.pop("logged", None)
    _check_settings(recipe, "a step model", changes, [one.name for one in fields(StepRecipe)])
    split = split_of(recipe, measuring=measuring)
    medium = measure_if_held(split.training[0])[1]
    long = [[c for c in part if len(c) >= FEWEST] for part in (split.training, split.held_out)]
    split = measure_split(replace(split, training=long[0], held_out=long[1]))
    there = next((c.feature_names for c in split.training), ())
    names = tuple(wanted) or tuple(name for name in medium.measured if name in there)
    learned, held = (_look(part, names, medium, measuring) for part in (split.training, split.held_out))
    if not learned or not held:
        raise InputError(f"{recipe.table}: too few collections of at least {FEWEST} items that can be looked at")
    taken = tuple(logged) if logged is not None else _guess_logged(learned, names)
    terms = [(one.group, one.whole.terms) for one in learned if one.whole.terms is not None]
    lexicon = step_models.learn_lexicon(terms)
    pairs, rng = tuple(learned[0].whole.pairs), np.random.default_rng(changes.get("seed", 0))
    take, how = np.isin(names, taken), StepRecipe(**changes)
    spans = ((one, rows) for one in learned for rows in step_models.spans(len(one.features), rng))
    examples = [_example(one, rows, lexicon, take, pairs) for one, rows in spans]
    whole = [_example(one, range(len(one.features)), lexicon, take, pairs) for one in held]

    def export(weights: step_models.Weights, info: Information) -> Model:
        bits = {"bits": info.bits, "low": info.low, "high": info.high, "collections": info.collections}
        rule = f"whole collections held out, N = {info.negatives + 1}"
        training = {"collections": len(split.training), "examples": len(examples), "settings": asdict(how)}
        training["seen"] = Fingerprints.of(split.training, names).to_dict()
        card = {"data": recipe.table.name, "collections": len(split.training), rule: bits}
        tensors = {"arcs.template": weights.arcs.T, "reach.weights": weights.reach, "lexicon.weights": lexicon.tensor}
        single = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
        config = measures_config(names, taken, pairs, lexicon.words)
        return Model(config, single, training=training, card=card)

    settings = {"features": list(names), "logged": list(taken), **asdict(how)}
    return Prepared(split, step_models.StepTraining(examples, whole, how, export, jobs=jobs), settings)


def _look(
    collections: Sequence[Collection], names: Sequence[str], medium: Medium, measuring: Measuring | None
) -> list[_Look]:
    """Those collections whose items tell something, looked at."""
    found = []
    for number, collection in enumerate(collections, start=1):
        if all(name in collection.feature_names for name in names):
            look = medium.look(collection)
            whole = look(range(len(collection)))
            if whole.pairs:
                found.append(_Look(collection.maker or collection.id, collection.columns(list(names)), look, whole))
        if measuring is not None and measuring.progress is not None:
            measuring.progress(number, len(collections), collection.id)
    return found


def _guess_logged(looks: Sequence[_Look], names: Sequence[str]) -> tuple[str, ...]:
    """Features that are no shares: never below zero, and above 2 somewhere."""
    values = np.nan_to_num(np.concatenate([one.features for one in looks]))  # what is not known is neither
    kept = (values.min(axis=0) >= 0) & (values.max(axis=0) > 2)
    return tuple(name for name, taken in zip(names, kept, strict=True) if taken)


def _example(
    one: _Look, rows: Sequence[int], lexicon: step_models.Lexicon, logged: np.ndarray, pairs: Sequence[str]
) -> step_models.Example:
    evidence = one.whole if len(rows) == len(one.features) else one.look(rows)
    leanings = lexicon.leanings(evidence.terms, len(rows), one.group)
    measured = stand_out(one.features[list(rows)], logged)
    tables = np.stack([evidence.pairs[name] for name in pairs]).astype(np.float32)
    return step_models.Example(np.concatenate([measured, leanings], axis=1), tables, one.group)


# Neighbours: the weights of a medium's steps, held near to those of the model that the medium comes with.


def _prepare_neighbours(recipe: Recipe, measuring: Measuring | None) -> Prepared:
    _check_settings(recipe, "a model of neighbours", recipe.changes, list(NEIGHBOURS))
    seed, negatives = (int(value) for value in {**NEIGHBOURS, **recipe.changes}.values())
    if is_folder(recipe.table):
        collections, notes = gather(recipe.table, measuring)
    else:
        split = split_of(recipe)
        collections, notes = list(split.training), split.notes
    medium = medium_of_columns(collections[0].feature_names)
    found = [(c, _measure_closeness(c, medium)) for c in collections if len(c) >= FEWEST_NEIGHBOURS]
    known = [(collection, near) for collection, near in found if near]
    if len(known) < LEAST:
        least = f"at least {LEAST} collections of {FEWEST_NEIGHBOURS} items whose steps are known"
        raise InputError(f"{recipe.table}: {least} are needed; got {len(known)}")
    own, steps = [c for c, _ in known], tuple(n for n in known[0][1] if all(n in near for _, near in known))
    examples = [
        step_models.Example(np.zeros((len(c), 0)), np.stack([near[name] for name in steps]), c.maker or c.id)
        for c, near in known
    ]
    near = None if medium.proposer is None else neighbour_weights(load_model(medium.proposer), steps)

    def export(weights: Floats, told: Mapping[str, Any]) -> Model:
        names = [n for n in own[0].feature_names if n not in medium.codes and all(n in c.feature_names for c in own)]
        card = {
            "data": recipe.table.name,
            "collections": len(own),
            "makers": told["makers"],
            **_card_lines(told, medium),
            "weights": dict(zip(steps, weights.round(4).tolist(), strict=True)),
            "limits": "neighbours alone: which item opens or closes, and which way an order runs, is not known",
        }
        training = {"seed": seed, "negatives": negatives, "seen": Fingerprints.of(own, names).to_dict()}
        tensors = neighbour_tensors(np.zeros((0, FUNCTIONS)), weights)
        return Model(measures_config((), (), steps), tensors, training=training, card=card)

    split = Split(own, own, "each maker set aside in turn", notes)
    trainable = step_models.NeighbourTraining(examples, export, negatives, seed, near)
    return Prepared(split, trainable, {"seed": seed, "negatives": negatives}, str(medium.proposer))


def _measure_closeness(collection: Collection, medium: Medium) -> dict[str, NDArray[np.floating]]:
    """How close each two items are, by each of the medium's steps; empty where it knows none of these items."""
    steps = medium.steps(collection, np.zeros(len(collection)))
    found = {part.name: closeness(part.distance) for part in steps.parts}
    return found if any(near.any() for near in found.values()) else {}


def _card_lines(told: Mapping[str, Any], medium: Medium) -> dict[str, Any]:
    rule = "set aside maker by maker"
    names = {
        f"bits, {rule}, N = 32": told["bits"],
        f"share of shuffles that the true order beats, {rule}": told["beaten"],
        f"bits gained over {medium.proposer}, {rule}": told["gained"],
    }
    return {
        name: {"bits" if "bits" in name else "mean": one.mean, "low": one.low, "high": one.high}
        for name, one in names.items()
        if one is not None
    }


def neighbour_weights(model: Model, pairs: Sequence[str]) -> Floats | None:
    """The weights of flow between neighbours of a model, (k,); None where it is of other pairs, or of more."""
    if PAIRS not in model.reads or model.reaches:
        return None
    known = as_measures(model.encoder).pair_names
    if set(pairs) - set(known):
        return None
    return np.asarray([model.tensors["reach.weights"][known.index(name), 0] for name in pairs])
