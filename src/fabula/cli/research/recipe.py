"""The options that commands which train have in common."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.research.splits import Recipe


RECIPE = {
    "Data": ("recipe_file", "where", "features", "titles", "logged", "held_out"),
    "The model": ("kind", "preset", "dimensions", "scorers", "settings"),
    "Training": ("epochs", "batch", "negatives", "seed", "device"),
}  # heading -> options, for the help


def _options() -> list[Callable[..., Any]]:
    from fabula.models.config import PRESETS
    from fabula.models.scorers import sequence_scorers

    scorers, presets = ", ".join(sequence_scorers()), ", ".join(PRESETS)
    return [
        click.argument("table", required=False, type=click.Path(path_type=Path)),
        click.option("--recipe", "recipe_file", metavar="FILE.toml", type=click.Path(path_type=Path),
                     help="Take everything from this file; what else is given here counts before it."),
        click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows that have it; repeatable."),
        click.option("--features", metavar="A,B,...", help="The columns to train on; by default all numbers."),
        click.option("--titles", metavar="COLUMN", help="Read titles too, from this column: trains a set model."),
        click.option("--kind", type=click.Choice(["essence", "set", "steps", "neighbours"]),
                     help="essence: each item by itself; set: among the others; steps: all pairs of texts; neighbours: "
                          "what follows what. By default set with --titles or --from; of a folder as its files are."),
        click.option("--log", "logged", metavar="A,...",
                     help="Columns of which the logarithm is taken; by default those of lengths."),
        click.option("--preset", help=f"Settings to start from: {presets}.", show_default="default"),
        click.option("--dimensions", type=int, help="Numbers in an item's essence: 1, 2, 4, 8, 16."),
        click.option("--scorers", metavar="A,B", help=f"Kinds of scorer: {scorers}, or several."),
        click.option("--epochs", type=int, help="How long to train at most."),
        click.option("--batch", type=int, help="Collections in a step."),
        click.option("--negatives", type=int, help="Shuffled orders beside each true one."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     help="Any other setting, such as learning_rate=0.001 or widths=[64,64]; repeatable."),
        click.option("--seed", type=int, show_default="0", help="For the same result again."),
        click.option("--device", show_default="auto", help="auto, cpu, cuda or cuda:1."),
        click.option("--held-out", type=float, show_default="0.1",
                     help="Share held out for validation where the table has no column split."),
    ]  # fmt: skip


def recipe_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command gets them as keywords for :func:`as_recipe`."""
    for option in reversed(_options()):
        command = option(command)
    return command


def as_recipe(
    *, table: Path | None, recipe_file: Path | None = None, where: tuple[str, ...] = (), **options: Any
) -> "Recipe":
    """What the options say; those that are not named here are numbers of the preset to change, None where not given."""
    from fabula.research.splits import NOWHERE, Recipe, is_folder, read_recipe
    from fabula.research.train import choose_kind

    base = Recipe(NOWHERE) if recipe_file is None else read_recipe(recipe_file)
    kind, settings = options.pop("kind"), options.pop("settings")
    said = {name: options.pop(name, None) for name in ("preset", "device", "held_out", "titles", "start")}
    said = {name: value for name, value in said.items() if value is not None}
    if recipe_file is not None and "preset" in said:
        raise InputError(f"{recipe_file} has its preset: leave --preset out")
    source, sets = base.table if table is None else table, "titles" in said or "start" in said
    if kind == "essence" and (sets or is_folder(source)):
        raise InputError("--kind essence reads one table, without --titles and without --from")
    chosen = choose_kind(kind, source, sets=sets, usual=base.kind)
    if is_folder(source):
        said.setdefault("titles", "")  # those of the files
    changes, before = _changes(settings, options), dict(base.changes)
    if "scorers" in changes:  # others have other weights
        before.pop("scorer_weights", None)
    kept = {**base.where, **as_where(where)}
    return replace(base, table=source, where=kept, changes=before | changes, kind=chosen, **said)


def require_recipe(**options: Any) -> "Recipe":
    """What the options say, which must name what to train on."""
    from fabula.research.splits import NOWHERE

    recipe = as_recipe(**options)
    if recipe.table is NOWHERE:
        raise InputError("what is to be trained on? give a TABLE, or a --recipe that names one")
    return recipe


def _changes(settings: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    names = {name: options.pop(name) for name in ("features", "logged", "scorers")}
    changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    changes |= {name: tuple(split_list(text)) for name, text in names.items() if text is not None}
    return changes | dict(as_setting(text) for text in settings)


def as_where(where: tuple[str, ...]) -> dict[str, str]:
    """From ``COLUMN=VALUE`` to column and value."""
    kept: dict[str, str] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals or not column:
            raise InputError(f"--where takes COLUMN=VALUE, such as split=train or kind=; got {text!r}")
        kept[column] = value
    return kept


def as_setting(text: str) -> tuple[str, Any]:
    """From ``NAME=VALUE`` to name and value, which is JSON or text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--set takes NAME=VALUE, such as learning_rate=0.001; got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def as_dimensions(sweep: str) -> tuple[int, ...]:
    """From ``1,2,4`` to its numbers."""
    numbers = split_list(sweep)
    if not numbers or not all(part.isdecimal() for part in numbers):
        raise InputError(f"--sweep takes whole numbers, such as 1,2,4; got {sweep!r}")
    return tuple(map(int, numbers))


def split_list(text: str) -> list[str]:
    """From ``A,B`` to its parts."""
    return [part.strip() for part in text.split(",") if part.strip()]
