"""Splitting the units of a collection into sides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from fabula.core.arranging.bounds import place_bound
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.units import Units
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.core.template import Template

MOST_SPLITS = 5000  # so many are all looked at
RESTARTS, STEPS = 3, 1200
ALTERNATIVES = 8


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be split: essence (n, d), template, durations (n,), number of sides, limit, constraints, units."""

    rows: Floats
    template: Template
    durations: Floats
    sides: int
    limit: float
    kept: Constraints
    parts: Units


def splits(task: Task, rng: np.random.Generator) -> tuple[list[Ints], bool]:
    """The best splits, best first, as the side of each unit (m,); and whether every split was looked at."""
    m = len(task.parts.members)
    if task.sides**m <= MOST_SPLITS:
        every = (np.array(split, dtype=np.intp) for split in product(range(task.sides), repeat=m))
        scored = [(rate(task, split), k, split) for k, split in enumerate(every) if fault(task, split) == 0]
        return [split for _, _, split in sorted(scored, key=lambda s: s[:2])[:ALTERNATIVES]], True
    found = [_improved(task, _start(task, rng), rng) for _ in range(RESTARTS)]
    scored = [(rate(task, split), k, split) for k, split in enumerate(found) if fault(task, split) == 0]
    return [split for _, _, split in sorted(scored, key=lambda s: s[:2])], False


def rate(task: Task, split: Ints) -> float:
    """Mean deviation of the sides laid on the template, plus their difference in time as a part of the mean."""
    side = split[task.parts.of]
    total = 0.0
    for number in range(task.sides):
        rows = task.rows[side == number]
        goals = task.template.samples(len(rows)).reshape(rows.shape)
        if rows.shape[1] == 1:
            total += float(np.abs(np.sort(rows[:, 0]) - np.sort(goals[:, 0])).sum())
        else:
            total += place_bound(np.sqrt(((rows[:, np.newaxis] - goals) ** 2).sum(axis=-1)))[0]
    times = np.bincount(side, task.durations, task.sides)
    return total / len(side) + float(np.ptp(times)) / (float(times.mean()) or 1.0)


def fault(task: Task, split: Ints) -> float:
    """How far a split is from keeping the limit, ``before`` and ``fixed``, with no side empty; 0 when it does."""
    side = split[task.parts.of]
    sizes = np.bincount(side, minlength=task.sides)
    times = np.bincount(side, task.durations, task.sides)
    over = np.maximum(times - task.limit * (1 + 1e-12), 0.0).sum() / (float(times.mean()) or 1.0)
    wrong = sum(side[a] > side[b] for a, b in task.kept.before) + (sizes == 0).sum()
    ends = np.cumsum(sizes)
    wrong += sum(abs(int(np.searchsorted(ends, p, side="right")) - side[item]) for p, item in task.kept.fixed.items())
    return float(over + wrong)


def _start(task: Task, rng: np.random.Generator) -> Ints:
    """Units shared out evenly in time: the longest first, each to the side with the least so far."""
    lengths = np.array([task.durations[list(run)].sum() for run in task.parts.members])
    split = np.empty(len(lengths), dtype=np.intp)
    times = np.zeros(task.sides)
    for unit in np.argsort(-lengths * rng.uniform(0.9, 1.1, size=len(lengths))):
        split[unit] = times.argmin()
        times[split[unit]] += lengths[unit] or 1e-9
    for position, item in task.kept.fixed.items():
        split[task.parts.of[item]] = position * task.sides // task.kept.n
    return split


def _improved(task: Task, split: Ints, rng: np.random.Generator) -> Ints:
    """Move a unit to another side, or exchange two, as long as that helps: the faults first, the rating second."""
    m = len(split)
    wrong, value = fault(task, split), rate(task, split) if fault(task, split) == 0 else np.inf
    for _ in range(STEPS):
        trial = split.copy()
        a, b = rng.integers(0, m, size=2)
        if rng.random() < 0.5:
            trial[a], trial[b] = split[b], split[a]
        else:
            trial[a] = rng.integers(0, task.sides)
        if (trial == split).all():
            continue
        faults = fault(task, trial)
        if faults > wrong:
            continue
        reached = rate(task, trial) if faults == 0 else np.inf
        if faults < wrong or reached <= value:
            split, wrong, value = trial, faults, reached
    return split
