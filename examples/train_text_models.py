"""Train models of texts at once: ``python examples/train_text_models.py FOLDER novels speeches poems --to OUT``.

Each table of the folder is a kind of text (``novels.parquet``: one row a part in its true order, with
``collection_id``, ``position``, ``text``, ``author``, ``split``). The weights of a kind are those that all have in
common and what the kind has besides; both are held small by the same penalty. Each kind has a lexicon of its own.
Nothing of the validation split is learned from. What ships as `speeches` comes from here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fabula.models.model import Model, load_model
from fabula.research.kinds import prepare
from fabula.research.splits import Recipe
from fabula.training.recipes import StepRecipe
from fabula.training.step_models import StepTraining, bits_of, learn_kinds, summarise

RECIPE = StepRecipe(steps=300, batch=384, penalty=0.5)


def prepare_table(table: Path, like: Model) -> StepTraining:
    """The examples of a table, measured as a model of texts that ships has them measured."""
    changes = {"features": like.feature_names, "logged": like.config["encoder"]["logged"]}
    found = prepare(Recipe(table, kind="steps", changes=changes)).trainable
    if not isinstance(found, StepTraining):
        raise SystemExit(f"{table}: holds no texts")
    return found


def train_kinds(tables: Sequence[Path], recipe: StepRecipe) -> list[Model]:
    """A model of each table, trained together."""
    like = load_model("prose")
    parts = [prepare_table(table, like) for table in tables]
    examples = [replace(one, kind=kind) for kind, part in enumerate(parts) for one in part.examples]
    models = []
    for part, weights in zip(parts, learn_kinds(examples, recipe), strict=True):
        bits = bits_of(part.held_out, weights.score, negatives=part.negatives, rng=np.random.default_rng(0))
        models.append(part.export(weights, summarise(bits, part.held_out, part.negatives)))
    return models


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--to", type=Path, default=Path())
    parser.add_argument("--steps", type=int, default=RECIPE.steps)
    asked = parser.parse_args()
    tables = [asked.folder / f"{kind}.parquet" for kind in asked.kinds]
    for kind, model in zip(asked.kinds, train_kinds(tables, replace(RECIPE, steps=asked.steps)), strict=True):
        model.save(asked.to / f"{kind}.safetensors")
        print(kind, model.card)


if __name__ == "__main__":
    main()
