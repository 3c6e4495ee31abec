"""What to train on and how, as a user says it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from fabula.core.collection import Collection
from fabula.core.files import write_whole
from fabula.errors import FileError, InputError, import_extra

# essence: an encoder sees each item by itself; set: the whole collection, with titles where there are any; steps: it
# looks into the items, as into texts, and at all pairs; neighbours: the weights of a medium's steps to the next item.
Kind = Literal["essence", "set", "steps", "neighbours"]


@dataclass(frozen=True, eq=False)
class Given:
    """Ordered collections that were read before, in place of a table."""

    training: list[Collection]  # of which a share is held out where there is no ``validation``
    validation: list[Collection] | None = None  # to hold out

    @property
    def name(self) -> str:
        """What a model's card calls them."""
        return f"{len(self.training)} collections"


@dataclass(frozen=True)
class Recipe:
    """What to train on and how, as a user says it."""

    table: Path | Given  # one row an item; a folder of folders and playlists; or collections read before
    where: Mapping[str, str] = field(default_factory=dict)  # column -> value: keep only the rows that have it
    preset: str = "default"
    changes: Mapping[str, Any] | None = None  # fields of the preset, or of a set model's recipe, to change
    device: str = "auto"
    held_out: float = 0.1
    kind: Kind = "essence"
    titles: str | None = None  # the column with the titles, "" for the one that is recognised; None: not read
    start: str | None = None  # the set model to go on from: a shipped name or a file


# Recipes as TOML files: what a run writes, a run takes, and gives the same again.

FORMAT = "fabula-recipe"
VERSION = 1

NOWHERE = Path()  # of a recipe that names no table
_TEXTS = ("table", "kind", "preset", "titles", "start", "device")
_KEYS = ("format", "version", *_TEXTS, "held_out", "where", "settings")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_recipe(path: str | Path, recipe: Recipe) -> Path:
    """Write a recipe, whole or not at all."""
    return write_whole(path, recipe_text(recipe))


def recipe_text(recipe: Recipe) -> str:
    """A recipe as TOML; :func:`parse_recipe` gives it back."""
    table = None if isinstance(recipe.table, Given) or recipe.table == NOWHERE else str(recipe.table)
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "table": table, "kind": recipe.kind}
    head |= {"preset": recipe.preset, "titles": recipe.titles, "start": recipe.start, "device": recipe.device}
    head |= {"held_out": recipe.held_out}
    parts = [_lines({name: value for name, value in head.items() if value is not None})]
    parts += [f"[where]\n{_lines(recipe.where)}"] if recipe.where else []
    parts += [f"[settings]\n{_lines(recipe.changes)}"] if recipe.changes else []
    return "\n".join(parts)


def whole_recipe(recipe: Recipe) -> Recipe:
    """A recipe with every setting of its preset, as far as it does not depend on the data. Needs PyTorch."""
    import_extra("torch", extra="train", purpose="training")
    from fabula.training.recipes import NEIGHBOURS, SetRecipe, StepRecipe, finetune_recipe, preset

    changes = dict(recipe.changes or {})
    if recipe.kind == "essence":
        found = preset(recipe.preset, **changes).to_dict()
        return replace(recipe, changes={name: value for name, value in found.items() if name != "preset"})
    by_kind: dict[str, Mapping[str, Any]] = {"steps": asdict(StepRecipe()), "neighbours": NEIGHBOURS}
    sets = SetRecipe() if recipe.start is None else finetune_recipe()
    return replace(recipe, changes={**by_kind.get(recipe.kind, sets.to_dict()), **changes})


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe that a run or a person wrote; errors name the file and the key that is unknown or wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read as a recipe ({error})") from error
    return parse_recipe(text, str(path))


def parse_recipe(text: str, where: str) -> Recipe:
    """A recipe from TOML; ``where`` names it in errors."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{where}: is not a recipe (TOML expected: {error})") from error
    if found.get("format") != FORMAT:
        raise FileError(f'{where}: is not a recipe (it must say format = "{FORMAT}")')
    if found.get("version") != VERSION:
        raise FileError(f"{where}: recipe version {found.get('version')!r}; this fabula reads version {VERSION}")
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise FileError(f"{where}: a recipe has no key {unknown[0]!r}; it has: {', '.join(_KEYS)}")
    _check_kinds(found, where)
    settings = {name: _freeze(value) for name, value in found.get("settings", {}).items()}
    table = Path(found["table"]) if "table" in found else NOWHERE
    said = {key: found[key] for key in ("where", "preset", "device", "kind", "titles", "start") if key in found}
    return Recipe(table, changes=settings, held_out=float(found.get("held_out", 0.1)), **said)


def _check_kinds(found: Mapping[str, Any], where: str) -> None:
    for key in _TEXTS:
        if key in found and not isinstance(found[key], str):
            raise FileError(f"{where}: {key} must be text; got {found[key]!r}")
    if found.get("kind", "essence") not in get_args(Kind):
        raise FileError(f"{where}: kind must be one of {', '.join(get_args(Kind))}; got {found['kind']!r}")
    share = found.get("held_out", 0.1)
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise FileError(f"{where}: held_out must be a number; got {share!r}")
    for key in ("where", "settings"):
        if not isinstance(found.get(key, {}), dict):
            raise FileError(f"{where}: [{key}] must be a table of names and values; got {found[key]!r}")
    wrong = [name for name, value in found.get("where", {}).items() if not isinstance(value, str)]
    if wrong:
        raise FileError(f"{where}: [where] {wrong[0]} must be text; got {found['where'][wrong[0]]!r}")


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_value(name, value)}\n" for name, value in values.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quote(name)


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int | float) and value == value and abs(value) != float("inf"):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(name, each) for each in value)}]"
    raise InputError(f"a recipe holds texts, finite numbers and lists of them; {name} is {value!r}")


def _quote(text: str) -> str:
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in text):
        raise InputError(f"{text!r} cannot be written in a recipe: it is no valid text")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _freeze(value: Any) -> Any:
    return tuple(_freeze(each) for each in value) if isinstance(value, list) else value
