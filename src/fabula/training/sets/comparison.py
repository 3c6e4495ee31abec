"""What each input, and each scorer, of a set model tells about the order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection
from fabula.evaluation.controls import keep_only
from fabula.evaluation.information import Information, mutual_information, suppress_seen_warning
from fabula.evaluation.parts import Parts
from fabula.models.sets.model import SetModel
from fabula.models.sets.spec import SetSpec
from fabula.training.comparison import Compared
from fabula.training.sets.recipe import SetRecipe
from fabula.training.sets.training import train_sets

ALL = "all inputs"


def compare_inputs(
    parts: Parts,
    spec: SetSpec,
    recipe: SetRecipe,
    *,
    seeds: int = 5,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits of a set model by what it may see, and of its scorers alone.

    One model is trained for each seed, and asked with all but some inputs hidden: it was trained to do without.

    Returns
    -------
    All inputs first, then the scorers alone and the inputs, most bits first.
    """
    found: dict[str, list[Information]] = {}
    for seed in range(seeds):
        if progress is not None:
            progress(ALL, seed)
        how = replace(recipe, seed=recipe.seed + seed)
        model = train_sets(parts.training, parts.validation, spec, how, device=device).model
        with suppress_seen_warning():
            for name, info in _measured(model, parts.test):
                found.setdefault(name, []).append(info)
    rows = [_row(name, spec.dimensions, runs) for name, runs in found.items()]
    return [rows[0], *sorted(rows[1:], key=lambda row: -row.bits)]


def compare_set_dimensions(
    parts: Parts,
    spec: SetSpec,
    recipe: SetRecipe,
    *,
    dimensions: Sequence[int],
    seeds: int = 5,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> list[Compared]:
    """Bits of a set model by the number of dimensions of its essence."""
    rows = []
    for d in dimensions:
        runs = []
        for seed in range(seeds):
            if progress is not None:
                progress(f"d = {d}", seed)
            how = replace(recipe, seed=recipe.seed + seed)
            sized = replace(spec, dimensions=d)
            done = train_sets(parts.training, parts.validation, sized, how, device=device)
            with suppress_seen_warning():
                runs.append(mutual_information(done.model, parts.test, draws=16))
        rows.append(_row("essence", d, runs))
    return rows


def _measured(model: SetModel, collections: Sequence[Collection]) -> Iterator[tuple[str, Information]]:
    """Bits of each case by name, all inputs first."""
    spec = model.spec
    yield ALL, mutual_information(model, collections, draws=16)
    for scorer in model.scorers:
        yield f"{ALL}, {scorer} alone", mutual_information(model, collections, draws=16, scorer=scorer)
    cases: list[tuple[str, tuple[str, ...], bool]] = []
    if spec.titles and spec.features:
        cases += [("without titles", spec.features, False), ("titles alone", (), True)]
    if len(spec.features) > 1 or spec.titles:
        cases += [(name, (name,), False) for name in spec.features]
    for name, features, titles in cases:
        yield name, mutual_information(model, keep_only(collections, features, titles=titles), draws=16)


def _row(name: str, dimensions: int, runs: Sequence[Information]) -> Compared:
    bits, low, high = np.mean([(run.bits, run.low, run.high) for run in runs], axis=0).tolist()
    return Compared(name, dimensions, bits, low, high, tuple(run.bits for run in runs))
