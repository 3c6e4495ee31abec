"""Training what follows what from folders: what is planted is found, controls are none, cards say it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.core.fingerprints import fingerprints_of
from fabula.errors import InputError
from fabula.models.model import load_model
from fabula.research.splits import Given, Recipe
from fabula.research.train import audit_recipe, train_recipe

pytest.importorskip("PIL")
NAMES = ("brightness", "contrast", "warmth", "green_red", "colourfulness", "aspect")


def series(count: int, *, by: str = "aspect", n: int = 9) -> list[Collection]:
    """Collections in which neighbours are alike in one measure alone."""
    rng = np.random.default_rng(5)
    found = []
    for number in range(count):
        rows = rng.normal(size=(n, len(NAMES))) * [20, 7, 12, 8, 25, 0.4] + [55, 20, 8, 2, 40, 1.4]
        column = NAMES.index(by)
        rows[:, column] = np.sort(rows[:, column])
        items = [Item(f"{number}/{k}", artist=f"owner {number % 12}") for k in range(n)]
        found.append(Collection(str(number), items, rows, NAMES))
    return found


def recipe(collections: list[Collection], **changes: int) -> Recipe:
    return Recipe(Given(collections, collections[:2]), kind="neighbours", changes=changes)


@pytest.mark.slow
def test_what_was_planted_is_found(tmp_path: Path) -> None:
    found = train_recipe(recipe(series(60)), tmp_path / "m.safetensors")
    weights = found.model.card["weights"]
    assert max(weights, key=lambda name: weights[name]) == "format"
    assert found.information["flow"].low > 0.5
    assert found.more["beaten"].mean > 0.9
    assert found.gained is not None
    assert found.gained.start == "pictures"
    assert found.gained.bits.low > 0
    assert found.more["makers"] == 12


def test_the_file_says_what_it_was_trained_on(tmp_path: Path) -> None:
    own = series(6)
    train_recipe(recipe(own), tmp_path / "m.safetensors")
    seen = fingerprints_of(load_model(tmp_path / "m.safetensors").training)
    assert seen is not None
    assert all(seen.among(own[:3]))
    assert not any(seen.among(series(3, by="warmth")[1:]))


@pytest.mark.slow
def test_controls_are_not_above_zero() -> None:
    found = {row.data: row for row in audit_recipe(recipe(series(60))).rows}
    assert found["real"].low > 0.5
    assert found["noise features"].low <= 0
    assert found["shuffled orders"].low <= 0


def test_too_few_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 3 collections"):
        train_recipe(recipe(series(2)), tmp_path / "m.safetensors")
    with pytest.raises(InputError, match="takes no epochs"):
        train_recipe(recipe(series(5), epochs=3), tmp_path / "m.safetensors")
    assert not (tmp_path / "m.safetensors").exists()


@pytest.mark.slow
def test_a_folder_of_numbered_folders_gives_a_model_that_orders(tmp_path: Path) -> None:
    from click.testing import CliRunner
    from PIL import Image

    from fabula.cli import cli

    rng = np.random.default_rng(0)
    for number in range(4):
        (tmp_path / "shows" / f"show {number}").mkdir(parents=True)
        for k in range(5):
            colour = tuple(int(value) for value in rng.integers(0, 255, 3))
            Image.new("RGB", (30, 20 + 5 * k), colour).save(tmp_path / "shows" / f"show {number}" / f"{k + 1:02d}.png")
    out = tmp_path / "mine.safetensors"
    done = CliRunner().invoke(cli, ["train", str(tmp_path / "shows"), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "trained on 4 collections by 4 makers" in done.output
    assert "over pictures" in done.output
    ordered = fabula.order(tmp_path / "shows" / "show 0", model=out)
    assert sorted(ordered.ordering.tolist()) == [0, 1, 2, 3, 4]
