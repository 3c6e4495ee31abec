"""Training and auditing what neighbours have in common: the weights of a medium's steps, from a folder of collections.

There are as many weights as a medium has steps. They are held near to those of the model that the medium comes with,
the more firmly the fewer collections there are. What is told of them is told of collections whose makers they have not
seen: each maker's are set aside in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.files.atomic import check_target
from fabula.core.fingerprints import Fingerprints
from fabula.errors import InputError
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.registry import medium_of_columns, medium_of_file
from fabula.models.file import load_model, save_model
from fabula.models.sets.basis import FUNCTIONS
from fabula.models.steps.model import StepModel
from fabula.models.steps.tables import closeness
from fabula.studies.gathering import gather
from fabula.studies.recipe import Recipe
from fabula.studies.splits import split_of
from fabula.training.steps.neighbours import RIDGE, Example, bits_of, noise, shuffled, train_steps

FEWEST = 4  # items of a collection
LEAST = 3  # collections
FOLDS = 10
NEGATIVES = 31  # beside each true order, where bits are told; the ceiling is 5
DRAWS = 8  # of them, whose mean is told
HOLD = 256.0  # by the number of collections: how firmly weights are held near to known ones; chosen on series set aside
SPOILT = {"noise features": noise, "shuffled orders": shuffled}

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class TrainedNeighbours:
    """What training gave.

    Attributes
    ----------
    model
        A step model of flow alone.
    collections, makers
        How many it was trained on, and by how many makers; a folder without a name in it is a maker of its own.
    information
        Bits about the order of collections that were set aside, and their interval over makers.
    beaten
        The share of shuffles that the true order beats there.
    start, gained
        The model that the weights are held near to, None where there is none; and the bits gained over it.
    notes
        What the user should know.
    """

    model: StepModel
    collections: int
    makers: int
    information: Interval
    beaten: Interval
    start: str | None = None
    gained: Interval | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Posed:
    collections: list[Collection]
    medium: Medium
    steps: tuple[str, ...]
    examples: list[Example]
    notes: tuple[str, ...]
    seed: int
    negatives: int
    near: Floats | None  # weights of the model that the medium comes with, (k,)


def train_neighbours_of(
    recipe: Recipe,
    output: str | Path,
    *,
    measuring: Measuring | None = None,
    progress: Report | None = None,
) -> TrainedNeighbours:
    """Train the weights of a medium's steps on a folder of numbered folders, or on a table, and write the model.

    Parameters
    ----------
    recipe
        Whose table is a folder of folders and playlists, or a table with columns of the medium.
    output
        Where the model goes.
    measuring
        How files are measured.
    progress
        Told what is done, how far it is and of how many.

    Raises
    ------
    InputError
        When there are fewer than 3 collections of at least 4 items whose steps are known.
    """
    check_target(output)
    posed = _posed(recipe, measuring)
    weights = _learned(posed.examples, posed)
    groups = [one.group for one in posed.examples]
    told = _crossed(posed.examples, posed, progress, "training")
    info, beaten = (mean_interval(values, np.random.default_rng(0), groups) for values in told[:2])
    start = None if posed.near is None else posed.medium.proposer
    gained = None if start is None else mean_interval(told[0] - told[2], np.random.default_rng(0), groups)
    model = StepModel.of_steps(
        (),
        (),
        posed.steps,
        {"arcs": np.zeros((0, FUNCTIONS)), "flow": weights},
        training={
            "seed": posed.seed,
            "negatives": posed.negatives,
            "seen": Fingerprints.of(posed.collections, _digested(posed)).to_dict(),
        },
        card=_card(recipe, posed, weights, {"bits": info, "beaten": beaten, "gained": gained}),
    )
    save_model(output, model)
    return TrainedNeighbours(model, len(posed.examples), len(set(groups)), info, beaten, start, gained, posed.notes)


def audit_neighbours_of(
    recipe: Recipe, *, controls_only: bool = False, progress: Report | None = None
) -> dict[str, Interval]:
    """Bits of what is set aside in turn, of the real collections and of the controls, by name."""
    posed = _posed(recipe, None)
    found: dict[str, Interval] = {}
    for name in ("real", *SPOILT)[controls_only:]:
        spoil, rng = SPOILT.get(name), np.random.default_rng((posed.seed, len(name)))
        examples = spoil(posed.examples, rng) if spoil else posed.examples
        bits = _crossed(examples, posed, progress, name)[0]
        found[name] = mean_interval(bits, np.random.default_rng(0), [one.group for one in examples])
    return found


def _posed(recipe: Recipe, measuring: Measuring | None) -> _Posed:
    changes = dict(recipe.changes or {})
    seed, negatives = int(changes.pop("seed", 0)), int(changes.pop("negatives", 127))
    if changes or recipe.preset != "default" or recipe.start is not None:
        named = sorted(changes)[0] if changes else "preset and no model to go on from"
        raise InputError(f"a model of neighbours takes no {named}; its settings are seed, negatives")
    collections, medium, notes = _collections(recipe, measuring)
    found = [(c, _closeness(c, medium)) for c in collections if len(c) >= FEWEST]
    known = [(collection, near) for collection, near in found if near]
    if len(known) < LEAST:
        least = f"at least {LEAST} collections of {FEWEST} items whose steps are known"
        raise InputError(f"{recipe.table}: {least} are needed; got {len(known)}")
    steps = tuple(name for name in known[0][1] if all(name in near for _, near in known))
    examples = [
        Example(np.zeros((len(c), 0)), np.stack([near[name] for name in steps]), _maker(c)) for c, near in known
    ]
    return _Posed([c for c, _ in known], medium, steps, examples, notes, seed, negatives, _near(medium, steps))


def _collections(recipe: Recipe, measuring: Measuring | None) -> tuple[list[Collection], Medium, tuple[str, ...]]:
    if isinstance(recipe.table, Path) and recipe.table.is_dir():
        found = gather(recipe.table, measuring)
        medium = medium_of_file(Path(found.collections[0].items[0].path).suffix.lower())
        if medium is None:
            raise InputError(f"{recipe.table}: holds nothing that can be measured")
        return found.collections, medium, found.notes
    split = split_of(recipe)
    return split.training, medium_of_columns(split.training[0].feature_names), split.notes


def _near(medium: Medium, steps: tuple[str, ...]) -> Floats | None:
    """The weights of the medium's own model, where it is of the same steps; shape (k,)."""
    model = None if medium.proposer is None else load_model(medium.proposer)
    if not isinstance(model, StepModel) or model.reaches or set(steps) - set(model.pair_names):
        return None
    return np.asarray([model.tensors["reach"][model.pair_names.index(name), 0] for name in steps])


def _maker(collection: Collection) -> str:
    """Who made a collection: what belongs together when some are set aside."""
    return collection.items[0].creator or collection.id


def _closeness(collection: Collection, medium: Medium) -> dict[str, NDArray[np.floating]]:
    """How close each two items are, by each of the medium's steps; empty where it knows none of these items."""
    steps = medium.steps(collection, np.zeros(len(collection)))
    found = {part.name: closeness(part.distance) for part in steps.parts}
    return found if any(near.any() for near in found.values()) else {}


def _learned(examples: Sequence[Example], posed: _Posed) -> Floats:
    rng = np.random.default_rng(posed.seed)
    hold = RIDGE if posed.near is None else HOLD / len(examples)
    return train_steps(examples, negatives=posed.negatives, penalty=0.0, rng=rng, near=posed.near, hold=hold)


def _crossed(
    examples: Sequence[Example], posed: _Posed, progress: Report | None, name: str
) -> tuple[Floats, Floats, Floats]:
    """Bits, and the share of shuffles beaten, of each under weights learned from other makers; and bits of known ones.

    Shape (c,) each; the last are zero where no weights are known.
    """
    makers = sorted({one.group for one in examples})
    if len(makers) < 2:
        raise InputError("collections of at least two makers are needed, so that some can be set aside")
    np.random.default_rng(posed.seed).shuffle(makers)
    fold = {maker: k % FOLDS for k, maker in enumerate(makers)}
    count = min(FOLDS, len(makers))
    bits, beaten, known = np.zeros((3, len(examples)))
    for k in range(count):
        held = [i for i, one in enumerate(examples) if fold[one.group] == k]
        weights = _learned([one for one in examples if fold[one.group] != k], posed)
        own = [examples[i] for i in held]
        bits[held] = _bits(own, weights, (posed.seed, k))
        known[held] = 0.0 if posed.near is None else _bits(own, posed.near, (posed.seed, k))
        beaten[held] = [_beaten(one, weights, np.random.default_rng((posed.seed, k))) for one in own]
        if progress is not None:
            progress(name, k + 1, count)
    return bits, beaten, known


def _bits(examples: Sequence[Example], weights: Floats, seed: tuple[int, int]) -> Floats:
    """Bits of each, the mean of several draws: shape (c,)."""
    rng = np.random.default_rng(seed)
    drawn = [bits_of(examples, weights, negatives=NEGATIVES, rng=rng) for _ in range(DRAWS)]
    return np.asarray(np.mean(drawn, axis=0))


def _beaten(one: Example, weights: Floats, rng: np.random.Generator, count: int = 400) -> float:
    """The share of shuffles that the true order beats; half of a tie counts."""
    flow, n = np.tensordot(weights, one.near, axes=1), len(one.standing)
    orders = np.argsort(rng.random((count, n)), axis=1)
    scores = flow[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    true = flow[np.arange(n - 1), np.arange(1, n)].sum()
    return float((scores < true - 1e-9).mean() + 0.5 * (np.abs(scores - true) <= 1e-9).mean())


def _digested(posed: _Posed) -> list[str]:
    """The features by which the collections are known again: those that are measures, and that all have."""
    names = posed.collections[0].feature_names
    return [n for n in names if n not in posed.medium.codes and all(n in c.feature_names for c in posed.collections)]


def _card(recipe: Recipe, posed: _Posed, weights: Floats, told: dict[str, Interval | None]) -> dict[str, Any]:
    rule = "set aside maker by maker"
    names = {
        f"bits, {rule}, N = {NEGATIVES + 1}": told["bits"],
        f"share of shuffles that the true order beats, {rule}": told["beaten"],
        f"bits gained over {posed.medium.proposer}, {rule}": told["gained"],
    }
    return {
        "data": recipe.table.name,
        "collections": len(posed.examples),
        "makers": len({one.group for one in posed.examples}),
        **{name: {"bits" if "bits" in name else "mean": one.mean, "low": one.low, "high": one.high}
           for name, one in names.items() if one is not None},
        "weights": dict(zip(posed.steps, weights.round(4).tolist(), strict=True)),
        "limits": "neighbours alone: which item opens or closes, and which way an order runs, is not known",
    }  # fmt: skip
