"""What the penalty of a step model's recipe does: ``python -m benchmarks.choose_penalty novels.parquet 0.05 0.2 0.5``.

A fifth of the training authors is set aside. For each penalty: the bits of a model of the others on them, N = 1,024,
and those of a model that is trained and measured on noise of the same shape. Nothing of the validation split is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fabula.evaluation.intervals import Interval, mean_interval
from fabula.models.model import load_model
from fabula.research.kinds import prepare
from fabula.research.splits import Recipe
from fabula.training.recipes import StepRecipe
from fabula.training.step_models import LONGEST, Example, StepTraining, bits_of, learn_weights, noise

SIZES = {"windows of 10": (10, 10), "windows of 20": (20, 20), "longer": (21, LONGEST)}


def divided(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Those to learn from, and those of a fifth of the authors."""
    authors = np.random.default_rng(0).permutation(sorted({one.group for one in examples}))
    aside = set(authors[: len(authors) // 5].tolist())
    return [one for one in examples if one.group not in aside], [one for one in examples if one.group in aside]


def learned_bits(learn: Sequence[Example], aside: Sequence[Example], how: StepRecipe) -> dict[str, Interval]:
    """The bits of what was set aside by the number of items, intervals by author."""
    weights, found = learn_weights(learn, how), {}
    for name, (low, high) in SIZES.items():
        some = [one for one in aside if low <= len(one) <= high]
        bits = bits_of(some, weights.score, negatives=1023, rng=np.random.default_rng(0))
        found[name] = mean_interval(bits, [one.group for one in some])
    return found


def show(examples: Sequence[Example], how: StepRecipe) -> None:
    """Print one line for the texts and one for noise."""
    rng = np.random.default_rng(1)
    learn, aside = divided(examples)
    kinds = {"texts": (learn, aside), "noise": (noise(learn, rng), noise(aside, rng))}
    for kind, (own, others) in kinds.items():
        told = [
            f"{name} {one.mean:.2f} ({one.low:.2f} to {one.high:.2f}), {one.n}"
            for name, one in learned_bits(own, others, how).items()
        ]
        print(f"penalty {how.penalty:g}, {kind}: " + "; ".join(told), flush=True)


def main() -> None:
    """Print bits by penalty."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("penalties", type=float, nargs="+")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--model", default="prose", help="whose measures are taken")
    asked = parser.parse_args()
    model = load_model(asked.model)
    if "pairs" not in model.reads:
        parser.error("the model must be a step model, as prose is")
    changes = {"features": model.feature_names, "logged": model.logged}
    steps = prepare(Recipe(asked.table, kind="steps", changes=changes)).trainable
    if not isinstance(steps, StepTraining):
        parser.error("the recipe must be one of steps")
    for penalty in asked.penalties:
        show(steps.examples, replace(steps.config, steps=asked.steps, penalty=penalty))


if __name__ == "__main__":
    main()
