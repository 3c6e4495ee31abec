"""The options that commands which train have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.studies.recipe import Kind, Recipe

_OPTIONS = [
    click.argument("table", type=click.Path(path_type=Path)),
    click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows that have it; repeatable."),
    click.option("--features", metavar="A,B,...", help="The columns to train on; by default all numbers."),
    click.option("--titles", metavar="COLUMN", help="Read titles too, from this column: trains a set model."),
    click.option("--kind", type=click.Choice(["essence", "set", "steps"]),
                 help="essence: each item by itself; set: among the others; steps: all pairs of texts. "
                      "By default set with --titles or --from."),
    click.option("--log", "logged", metavar="A,...",
                 help="Columns of which the logarithm is taken; by default those of lengths."),
    click.option("--preset", default="default", show_default=True, help="default, or paper for its hyperparameters."),
    click.option("--dimensions", type=int, help="Numbers in an item's essence: 1, 2, 4, 8, 16."),
    click.option("--scorers", metavar="A,B", help="Kinds of scorer: arcs, bilstm, or several."),
    click.option("--epochs", type=int, help="How long to train at most."),
    click.option("--batch", type=int, help="Collections in a step."),
    click.option("--negatives", type=int, help="Shuffled orders beside each true one."),
    click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                 help="Any other setting, such as learning_rate=0.001 or widths=[64,64]; repeatable."),
    click.option("--seed", type=int, default=0, show_default=True, help="For the same result again."),
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1."),
    click.option("--held-out", type=float, default=0.1, show_default=True,
                 help="Share held out for validation where the table has no column split."),
]  # fmt: skip


def recipe_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command gets them as keywords for :func:`as_recipe`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def as_recipe(*, table: Path, where: tuple[str, ...], preset: str, **options: Any) -> Recipe:
    """What the options say; those that are not named here are numbers of the preset to change, None where not given."""
    from fabula.studies.recipe import Recipe

    device, held_out, settings = (options.pop(name) for name in ("device", "held_out", "settings"))
    kind, titles, start = options.pop("kind"), options.pop("titles"), options.pop("start", None)
    implied = titles is not None or start is not None or table.is_dir()
    if kind == "essence" and implied:
        raise InputError("--kind essence reads one table, without --titles and without --from")
    names = {name: options.pop(name) for name in ("features", "logged", "scorers")}
    changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    changes |= {name: tuple(listed(text)) for name, text in names.items() if text is not None}
    changes |= dict(_setting(text) for text in settings)
    chosen: Kind = kind or ("set" if implied else "essence")
    if table.is_dir() and titles is None and chosen == "set":
        titles = ""  # those of the files
    return Recipe(table, as_where(where), preset, changes, device, held_out, chosen, titles, start)


def as_where(where: tuple[str, ...]) -> dict[str, str]:
    """From ``COLUMN=VALUE`` to column and value."""
    kept: dict[str, str] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals or not column:
            raise InputError(f"--where takes COLUMN=VALUE, such as split=train or kind=; got {text!r}")
        kept[column] = value
    return kept


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--set takes NAME=VALUE, such as learning_rate=0.001; got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def listed(text: str) -> list[str]:
    """From ``A,B`` to its parts."""
    return [part.strip() for part in text.split(",") if part.strip()]
