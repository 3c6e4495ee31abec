"""Training, auditing and comparing set models, from a table or a folder of collections to what is worth keeping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.files.atomic import check_target
from fabula.errors import InputError, import_extra
from fabula.evaluation.information import Information, information_gain, mutual_information, suppress_seen_warning
from fabula.evaluation.intervals import Interval
from fabula.evaluation.parts import Parts
from fabula.media.extraction import Measuring
from fabula.models.file import load_model, save_model
from fabula.models.sets.model import SetModel
from fabula.sources.tables.storage import is_table_folder
from fabula.studies.gathering import gather
from fabula.studies.logs import compact
from fabula.studies.recipe import Recipe
from fabula.studies.splits import Split, asked_for, divide, overlap, split_of, usable_features
from fabula.studies.train import MEASURED, check_logged, read_everywhere, tell_all

if TYPE_CHECKING:
    from fabula.models.sets.spec import SetSpec
    from fabula.training.audit import AuditReport
    from fabula.training.comparison import Compared
    from fabula.training.sets.loop import Epoch
    from fabula.training.sets.recipe import SetRecipe

_SIZES = ("dimensions", "width", "layers", "heads", "inner", "rank", "pair_width", "token_size", "gram_size")


@dataclass(frozen=True, eq=False)
class TrainedSets:
    """What training a set model gave.

    Attributes
    ----------
    model
        What was learned, or the model it went on from where that did no worse.
    split
        From which collections.
    information
        What it tells about the order of those held out.
    gained
        How many bits it has there more than the model it went on from; None where it began anew.
    kept
        Whether nothing better was found than the model it went on from.
    first
        Whether this process is the one that wrote the model and may print; all but one of torchrun's are not.
    settings
        Every setting, as a recipe takes it.
    """

    model: SetModel
    split: Split
    information: Information
    gained: Interval | None = None
    kept: bool = False
    first: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class _Posed:
    """What a recipe comes to: collections, what is made of them and how, and the model to go on from."""

    split: Split
    parts: Parts
    spec: SetSpec
    how: SetRecipe
    start: SetModel | None


def train_sets_of(
    recipe: Recipe,
    output: str | Path,
    *,
    measuring: Measuring | None = None,
    progress: Callable[[Epoch], None] | None = None,
) -> TrainedSets:
    """Train a set model on a table or a folder of collections, and write it.

    What is held out decides nothing: when to stop is decided on others, which are set aside from training.
    """
    from fabula.training.ranks import is_first

    if is_first():
        check_target(output)
    posed = _posed(recipe, measuring)
    from fabula.training.sets.training import train_sets

    done = train_sets(
        posed.parts.training,
        posed.parts.validation,
        posed.spec,
        posed.how,
        start=posed.start,
        device=recipe.device,
        report=progress,
    )
    kept = posed.start is not None and done.gained == 0.0
    held_out, model = posed.split.held_out, done.model
    with suppress_seen_warning():
        info = mutual_information(model, held_out, draws=16)
    gained = None if posed.start is None else information_gain(model, posed.start, held_out)
    model.card = _card(recipe, posed.split, info, gained)
    model.training["history"] = compact(done.epochs)
    if is_first():
        save_model(output, model)
    return TrainedSets(model, posed.split, info, gained, kept, is_first(), _settings(posed))


def audit_sets_of(
    recipe: Recipe, *, controls_only: bool = False, progress: Callable[[str, Epoch], None] | None = None
) -> AuditReport:
    """Train a set model on the real collections and on the controls; report the bits of each."""
    posed = _posed(recipe, least=MEASURED)
    from fabula.training.sets.audit import audit_sets

    report = audit_sets(
        posed.parts, posed.spec, posed.how, device=recipe.device, controls_only=controls_only, progress=progress
    )
    return replace(report, notes=posed.split.notes)


def compare_sets_of(
    recipe: Recipe,
    *,
    seeds: int = 5,
    dimensions: Sequence[int] = (),
    progress: Callable[[str, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Compared]:
    """Bits of a set model by what it may see, titles among it; with ``dimensions``, by the number of dimensions."""
    posed = _posed(recipe)
    from fabula.training.sets.comparison import compare_inputs, compare_set_dimensions

    tell_all(posed.split, tell)
    options: dict[str, Any] = {"seeds": seeds, "device": recipe.device, "progress": progress}
    if dimensions:
        return compare_set_dimensions(posed.parts, posed.spec, posed.how, dimensions=dimensions, **options)
    return compare_inputs(posed.parts, posed.spec, posed.how, **options)


def _posed(recipe: Recipe, measuring: Measuring | None = None, *, least: int = 0) -> _Posed:
    import_extra("torch", extra="train", purpose="training")
    from fabula.training.sets.preparing import spec_for
    from fabula.training.sets.recipe import going_on, recipe_for

    if recipe.preset != "default":
        raise InputError(f"a set model has one preset, default; got {recipe.preset!r}")
    changes = dict(recipe.changes or {})
    if "scorers" in changes:
        raise InputError("a set model always has the scorers arcs and flow: they cannot be chosen")
    start = _start(recipe.start)
    split = read_everywhere(recipe, lambda: _split(recipe, measuring, least))
    names, logged = changes.pop("features", ()), changes.pop("logged", None)
    sizes = {name: changes.pop(name) for name in _SIZES if name in changes}
    parts = split.parts
    if start is not None:
        if names or logged or sizes:
            raise InputError("features, logarithms and sizes are those of the model it goes on from")
        notes = asked_for(split.training, _there(start.spec.features, split), titles=start.spec.titles)
        return _Posed(replace(split, notes=(*split.notes, *notes)), parts, start.spec, going_on(**changes), start)
    check_logged(logged or (), split.training)
    features, notes = _features(split, names, titles=recipe.titles is not None)
    spec = spec_for(features, titles=recipe.titles is not None, logged=_logged(logged), **sizes)
    how = recipe_for(len(parts.training), features, **changes)
    return _Posed(replace(split, notes=(*split.notes, *notes)), parts, spec, how, None)


def _settings(posed: _Posed) -> dict[str, Any]:
    """Every setting as a recipe takes it; where it went on from a model, features and sizes are that model's."""
    how = posed.how.to_dict()
    if posed.start is not None:
        return how
    spec = posed.spec
    sizes = {name: getattr(spec, name) for name in _SIZES}
    return {"features": list(spec.features), "logged": list(spec.logged), **sizes, **how}


def _start(name: str | None) -> SetModel | None:
    if name is None:
        return None
    model = load_model(name)
    if not isinstance(model, SetModel):
        raise InputError(f"{name}: only a set model can be gone on from, such as music")
    return model


def _there(names: Sequence[str], split: Split) -> list[str]:
    """Those features that the collections have."""
    return [name for name in names if name in split.training[0].feature_names]


def _split(recipe: Recipe, measuring: Measuring | None, least: int) -> Split:
    """The collections of a table, split as it says; of a folder, split by who made them where many did."""
    if not isinstance(recipe.table, Path) or not recipe.table.is_dir() or is_table_folder(recipe.table):
        return split_of(recipe, least=least)
    if recipe.where:
        raise InputError(f"{recipe.table}: is a folder; rows can be chosen of a table only")
    found = gather(recipe.table, measuring)
    if len(found.collections) < 4:
        raise InputError(f"{recipe.table}: holds {len(found.collections)} ordered collections; at least 4 are needed")
    training, held_out = divide(found.collections, recipe.held_out)
    notes = (*found.notes, *overlap(training, held_out))
    return Split(training, held_out, f"{len(held_out)} of {len(found.collections)} held out", notes)


def _features(split: Split, names: Sequence[str], *, titles: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if names:
        there = split.training[0].feature_names
        missing = [name for name in names if name not in there]
        if missing:
            raise InputError(f"there is no column {missing[0]!r} of numbers; there are: {', '.join(there) or 'none'}")
        return tuple(names), asked_for(split.training, names, titles=titles)
    by_title = asked_for(split.training, (), titles=True) if titles else ()
    if titles and not split.training[0].feature_names:
        return (), by_title
    features, notes = usable_features(split.training)
    return features, (*notes, *by_title)


def _logged(given: Sequence[str] | None) -> tuple[str, ...]:
    from fabula.training.config import preset

    return tuple(given) if given is not None else preset("default").logged


def _card(recipe: Recipe, split: Split, info: Information, gained: Interval | None) -> dict[str, Any]:
    bits = {"bits": round(info.bits, 4), "low": round(info.low, 4), "high": round(info.high, 4)}
    card: dict[str, Any] = {
        "data": recipe.table.name,
        "held out": split.rule,
        "bits": {**bits, "collections": info.collections},
    }
    if gained is not None:
        more = {"bits": round(gained.mean, 4), "low": round(gained.low, 4), "high": round(gained.high, 4)}
        card |= {"from": str(recipe.start), "gained": {**more, "collections": gained.n}}
    return card
