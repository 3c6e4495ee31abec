"""What to train on and how: recipes, and which collections are held out, with what the user should know of them."""

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from fabula.core.collection import Collection
from fabula.core.files import open_file, write_whole
from fabula.core.fingerprints import find_shared
from fabula.errors import FileError, InputError, shown
from fabula.evaluation.controls import Parts, divide, share_of, spell_makers
from fabula.evaluation.leaks import find_leaks
from fabula.media.extraction import Measuring, extract
from fabula.media.registry import item_endings
from fabula.sources.folders import files_of
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS
from fabula.sources.registry import Opening, Source, open_source
from fabula.sources.tables.read_table import read_table
from fabula.sources.tables.storage import is_table_folder

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
    changes: Mapping[str, Any] = field(
        default_factory=dict
    )  # fields of the preset, or of a set model's recipe, to change
    device: str = "auto"
    held_out: float = 0.1
    kind: Kind = "essence"
    titles: str | None = None  # the column with the titles, "" for the one that is recognised; None: not read
    start: str | None = None  # the set model to go on from: a shipped name or a file


# Recipes as TOML files: what a run writes, a run takes, and gives the same again.

FORMAT = "fabula-recipe"
VERSION = 1

_MOST = 1 << 24  # bytes of a recipe
NOWHERE = Given([])  # in place of the table of a recipe that names none
_KEYS: dict[str, Any] = {
    "format": str, "version": Real, "table": str, "kind": str, "preset": str, "titles": str, "start": str,
    "device": str, "held_out": Real, "where": dict, "settings": dict,
}  # fmt: skip
_WORDS = {str: "text", Real: "a number", dict: "a table of names and values"}
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_recipe(path: str | Path, recipe: Recipe) -> Path:
    """Write a recipe, whole or not at all."""
    return write_whole(path, recipe_text(recipe))


def recipe_text(recipe: Recipe) -> str:
    """A recipe as TOML; :func:`parse_recipe` gives it back."""
    table = None if isinstance(recipe.table, Given) else str(recipe.table)
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "table": table}
    head |= {name: getattr(recipe, name) for name in ("kind", "preset", "titles", "start", "device", "held_out")}
    parts = [_lines({name: value for name, value in head.items() if value is not None})]
    parts += [f"[where]\n{_lines(recipe.where)}"] if recipe.where else []
    parts += [f"[settings]\n{_lines(recipe.changes)}"] if recipe.changes else []
    return "\n".join(parts)


def whole_recipe(recipe: Recipe) -> Recipe:
    """A recipe with every setting of its preset, as far as it does not depend on the data. Needs PyTorch."""
    from fabula.training.recipes import NEIGHBOURS, SetRecipe, StepRecipe, finetune_recipe, preset

    changes = dict(recipe.changes)
    if recipe.kind == "essence":
        found = preset(recipe.preset, **changes).to_dict()
        return replace(recipe, changes={name: value for name, value in found.items() if name != "preset"})
    by_kind: dict[str, Mapping[str, Any]] = {"steps": asdict(StepRecipe()), "neighbours": NEIGHBOURS}
    sets = SetRecipe() if recipe.start is None else finetune_recipe()
    return replace(recipe, changes={**by_kind.get(recipe.kind, sets.to_dict()), **changes})


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe that a run or a person wrote; errors name the file and the key that is unknown or wrong."""
    try:
        with open_file(path) as file:
            text = file.read(_MOST).decode("utf-8-sig")
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
    for key, value in found.items():
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            name = f"[{key}]" if _KEYS[key] is dict else key
            raise FileError(f"{where}: {name} must be {_WORDS[_KEYS[key]]}; got {value!r}")
    if found.get("kind", "essence") not in get_args(Kind):
        raise FileError(f"{where}: kind must be one of {', '.join(get_args(Kind))}; got {found['kind']!r}")
    for name, value in found.get("where", {}).items():
        if not isinstance(value, str):
            raise FileError(f"{where}: [where] {name} must be text; got {value!r}")
    settings = {name: _freeze(value) for name, value in found.get("settings", {}).items()}
    table = Path(found["table"]) if "table" in found else NOWHERE
    said = {key: found[key] for key in ("where", "preset", "device", "kind", "titles", "start") if key in found}
    return Recipe(table, changes=settings, held_out=float(found.get("held_out", 0.1)), **said)


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(
        f"{name if _BARE.fullmatch(name) else _value(name, name)} = {_value(name, value)}\n"
        for name, value in values.items()
    )


def _value(name: str, value: Any) -> str:
    """A value as TOML, which reads most of JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")
        text.encode()
        tomllib.loads(f"value = {text}")
    except UnicodeEncodeError:
        raise InputError(f"{value!r} cannot be written in a recipe: it is no valid text") from None
    except (TypeError, ValueError):
        raise InputError(f"a recipe holds texts, finite numbers and lists of them; {name} is {value!r}") from None
    return text


def _freeze(value: Any) -> Any:
    return tuple(_freeze(each) for each in value) if isinstance(value, list) else value


Side = Literal["train", "validation", "test"]
SIDES: tuple[Side, ...] = get_args(Side)
_CALLED: dict[str, Side] = {"training": "train", "valid": "validation", "val": "validation", "dev": "validation"}
_COLUMN = "split"
_LARGEST_SHARE = 1 / 3  # of the collections that are held out where few are there


@dataclass(frozen=True)
class Split:
    """Collections to train on, those held out, how they were told apart, and what the user should know."""

    training: Sequence[Collection]
    held_out: Sequence[Collection]
    rule: str
    notes: tuple[str, ...] = ()

    def note(self, notes: Sequence[str]) -> "Split":
        """The same with more to know."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def parts(self) -> Parts:
        """For training: a tenth of the training side is set aside to decide, and what is held out decides nothing."""
        return Parts(self.training, self.held_out).nest()


def read_split(
    path: str | Path,
    *,
    where: Mapping[str, str] | None = None,
    held_out: float = 0.1,
    title: str | None = None,
    side: Side | None = None,
    least: int = 0,
) -> Split:
    """Read a table of ordered collections and split it.

    A column ``split`` is followed: trained on is what it calls train, held out what it calls validation, and test is
    touched only where ``side`` names it; a side chosen by ``where`` is taken as if it were the whole table. Without
    validation, and without the column, ``held_out`` of the collections are held out, more of them, up to a third, until
    there are ``least``: by creator where each has one, so that none is on both sides, and by the text of the id or
    creator alone, so that the split stays the same when the table grows.
    """
    found = read_table(path, where=where, title=title)
    chosen = _COLUMN in (where or {})
    return split_collections(found, held_out=held_out, where=str(path), side=side, least=least, chosen=chosen)


def split_collections(
    found: Sequence[Collection],
    *,
    held_out: float = 0.1,
    where: str = "the data",
    side: Side | None = None,
    least: int = 0,
    chosen: bool = False,
) -> Split:
    """Split ordered collections as :func:`read_split` splits those of a table.

    ``where`` names them in errors; ``chosen`` says that one side of the split was chosen already.
    """
    collections = [c for c in found if len(c) > 1]
    if not collections:
        raise InputError(f"{where}: holds no collection of two items or more")
    if not 0 < held_out < 1:
        raise InputError(f"the share to hold out must lie between 0 and 1; got {held_out}")
    if side is not None and side not in SIDES:
        raise InputError(f"a side of the split is one of {', '.join(SIDES)}; got {side!r}")
    sides = {} if chosen and side is None else sides_of(collections, where, side)
    if not sides:
        return check_split(_by_share(collections, held_out, least), where)
    training, test = sides.get("train", []), sides.get("test", [])
    untouched = f"; {len(test):,} of test not touched" if test and side != "test" else ""
    wanted = side or "validation"
    if wanted in sides or side is not None:
        held = sides.get(wanted, [])
        others = training if wanted != "train" else []
        split = Split(others or held, held, f"column 'split'{f', {side}' if side else ''}{untouched}")
    elif not training:
        told = f"all {len(test):,} collections are of test by the column {_COLUMN!r}: nothing else is there to train on"
        raise InputError(f"{where}: {told}, and `evaluate --split test` measures on them")
    else:
        inner = _by_share(training, held_out, least)
        split = replace(inner, rule=f"column 'split', of train {inner.rule}{untouched}")
    return check_split(split, where)


def split_of(recipe: Recipe, *, measuring: Measuring | None = None, least: int = 0) -> Split:
    """The collections a recipe names, split: those of its table or folder, or those that were given."""
    share = recipe.held_out
    if is_folder(recipe.table):  # split by who made them where many did
        if recipe.where:
            raise InputError(f"{recipe.table}: is a folder; rows can be chosen of a table only")
        found, notes = gather(recipe.table, measuring)
        count = len(found)
        if count < 4:
            raise InputError(f"{recipe.table}: holds {count} ordered collections; at least 4 are needed")
        training, held_out = divide(found, share)
        rule = f"{len(held_out)} of {count} held out"
        return Split(training, held_out, rule, (*notes, *overlap(training, held_out)))
    if isinstance(recipe.table, Path):
        title = recipe.titles or None
        return read_split(recipe.table, where=recipe.where, held_out=share, title=title, least=least)
    if recipe.table.validation is None:
        return split_collections(recipe.table.training, held_out=share, least=least)
    training, validation = ([c for c in p if len(c) > 1] for p in (recipe.table.training, recipe.table.validation))
    return check_split(Split(training, validation, "as given"), "the data")


def is_folder(table: Path | Given) -> TypeGuard[Path]:
    """Whether it is a folder of collections, and not of the files of one table."""
    return isinstance(table, Path) and table.is_dir() and not is_table_folder(table)


def check_split(split: Split, where: str) -> Split:
    """A split of which neither side is empty, with what both share among its notes."""
    if not split.training or not split.held_out:
        raise InputError(
            f"{where}: {len(split.training)} collections to train on and {len(split.held_out)} to hold out "
            f"({split.rule}); both sides need at least one, 20 or more to measure anything"
        )
    return replace(split, notes=(*split.notes, *overlap(split.training, split.held_out)))


def sides_of(collections: Sequence[Collection], where: str, wanted: Side | None = None) -> dict[Side, list[Collection]]:
    """The collections by what their column ``split`` says; empty where none is told or wanted."""
    marks = [_marks(c) for c in collections]
    if not any(mark for own in marks for mark in own):
        if wanted is not None:
            raise InputError(f"{where}: has no column {_COLUMN!r} that says which collections are {wanted}")
        return {}
    sides: dict[Side, list[Collection]] = {}
    for c, own in zip(collections, marks, strict=True):
        named = {_CALLED.get(mark, mark) for mark in own or {""}}
        if len(named) > 1:
            raise InputError(
                f"{where}: collection {c.id!r} is on several sides of the split: {', '.join(sorted(named))}"
            )
        [mark] = named
        if mark not in SIDES:
            said = f"says {mark!r}" if mark else "is empty"
            raise InputError(
                f"{where}: column {_COLUMN!r} {said} for collection {c.id!r}; it must say {', '.join(SIDES)}"
            )
        sides.setdefault(mark, []).append(c)
    return sides


def _marks(collection: Collection) -> set[str]:
    """What the column split says of the items of a collection."""
    name = collection.detail_named(_COLUMN)
    cells = [] if name is None else collection.texts(name)
    if cells and cells[0] != "":
        return {str(cell or "").strip().casefold() for cell in cells}
    number = next((n for n in collection.feature_names if n.casefold() == _COLUMN), None)
    return set() if number is None else {f"{value:g}" for value in collection.column(number).ravel()}


def _by_share(collections: Sequence[Collection], held_out: float, least: int) -> Split:
    """A share of collections held out, by who made them where all say so; of few at least five, or half of them."""
    share = max(held_out, min(_LARGEST_SHARE, least / len(collections)))
    spelt = spell_makers(collections)
    sides: tuple[list[Collection], list[Collection]] = ([], [])
    for collection, name in zip(collections, spelt or [c.id for c in collections], strict=True):
        sides[share_of(name) < share].append(collection)
    if len(sides[1]) >= min(5, len(collections) // 2):
        return Split(*sides, f"{share:.0%} held out, by {'creator' if spelt else 'collection'}")
    training, apart = divide(collections, share)
    return Split(training, apart, f"{len(apart)} of {len(collections)} held out")


def overlap(training: Sequence[Collection], held_out: Sequence[Collection]) -> tuple[str, ...]:
    """What both sides of a split share, for people: the same collections, and the same creators."""
    notes = []
    if training is held_out or not training:
        return ()
    twice = sum(find_shared(training, held_out))
    if twice:
        notes.append(f"LEAK: {twice:,} of {len(held_out):,} held-out collections are also among those trained on")
    known = {c.maker for c in training} - {""}
    both = [c.maker for c in held_out if c.maker in known]
    if both:
        who = f"by {len(set(both)):,} who also made some that are trained on"
        notes.append(f"NOT INDEPENDENT: {len(both):,} of {len(held_out):,} held-out collections are {who}")
    return tuple(notes)


def usable_features(collections: Sequence[Collection]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that may be trained on, at least one, and notes about those left out.

    A column that gives the order away (a running number) would tell the answer; one that is the same for all items
    of a collection can tell nothing.
    """
    there = collections[0].feature_names
    reasons = {name: "it is the same for all items of a collection" for name in there if _same(collections, name)}
    found = find_leaks(collections, [name for name in there if name not in reasons], titles=False)
    for each in found:
        for name in each.columns if each.throughout else ():
            others = ", ".join(repr(other) for other in each.columns if other != name)
            reasons.setdefault(name, f"with {others}, {each.why}" if others else each.why)
    notes = tuple(f"column {name!r} left out: {reasons[name]}" for name in there if name in reasons)
    notes += tuple(str(each) for each in found if not each.throughout)
    names = tuple(name for name in there if name not in reasons)
    if not names:
        raise InputError(f"no column is left to train on; {'; '.join(notes) or 'there is none'}")
    return names, notes


def narrow(collections: Sequence[Collection], names: Sequence[str]) -> list[Collection]:
    """The same collections with some of their features alone."""
    return [replace(c, features=c.columns(list(names)), feature_names=tuple(names)) for c in collections]


def leak_notes(collections: Sequence[Collection], features: Sequence[str], *, titles: bool = False) -> tuple[str, ...]:
    """Notes about what a user asked for by name and what gives the order away."""
    return tuple(f"LEAK: {each}; what is measured with it is no finding" if each.throughout else str(each)
                 for each in find_leaks(collections, features, titles=titles))  # fmt: skip


def _same(collections: Sequence[Collection], name: str) -> bool:
    """Whether a feature never differs within a collection."""
    if collections[0].features.ndim > 2:
        return False
    columns = (c.column(name) for c in collections)
    return not any(np.ptp(known) > 0 for column in columns if (known := column[np.isfinite(column)]).size)


# Ordered collections from a folder of folders and playlists: each is a collection in its own order, measured.

_NUMBER = re.compile(r"\s*(\d+)", re.ASCII)
FEWEST = 3  # items: two have but one other order


def gather(folder: str | Path, measuring: Measuring | None = None) -> tuple[list[Collection], tuple[str, ...]]:
    """Each folder of files and each playlist below a folder, as a collection in its order; and notes for the user.

    A playlist stands for the folder whose files it lists. A folder whose files are numbered neither in their tags
    nor in their names has no order of its own, and is left out; so is what has fewer than 3 items that can be measured.
    """
    root = Path(folder)
    if not root.is_dir():
        raise FileError(f"{shown(str(folder))}: is not a folder")
    playlists: list[str] = []
    folders: dict[str, None] = {}
    endings = item_endings()
    for file in files_of([str(root)]):
        ending = Path(file).suffix.lower()
        if ending in PLAYLIST_ENDINGS:
            playlists.append(file)
        elif ending in endings:
            folders[str(Path(file).parent)] = None
    opened, notes = list[Source](), list[str]()
    for name in (*playlists, *folders):
        try:
            opened.append(open_source([name], Opening(recursive=False)))
        except (FileError, InputError) as error:
            notes.append(f"left out: {error}")
    sources = _distinct(opened, notes)
    if not sources:
        more = f"; {notes[0]}" if notes else ""
        raise InputError(f"{shown(str(folder))}: holds no numbered folder and no playlist of {FEWEST} files{more}")
    medium = sources[0].medium
    paths = list(dict.fromkeys(item.path for source in sources for item in source.collection.items if item.path))
    found = extract(paths, medium.spec(), measuring)
    notes += [f"left out: {why}" for _, why in found.problems]
    rows = {paths[index]: row for row, index in enumerate(found.kept)}
    whole = []
    for source in (source for source in sources if source.medium.name == medium.name):
        items = [item for item in source.collection.items if item.path in rows]
        if len(items) >= FEWEST:
            features = np.stack([found.features[rows[item.path]] for item in items])
            name = os.path.relpath(source.path, root)
            whole.append(Collection(name, items, features, found.feature_names, title=source.title))
    if not whole:
        raise InputError(f"{shown(str(folder))}: nothing in it has {FEWEST} items that can be measured")
    return whole, tuple(notes)


def _distinct(sources: list[Source], notes: list[str]) -> list[Source]:
    """Those with an order of their own, each set of files once."""
    kept: list[Source] = []
    seen: set[frozenset[str]] = set()
    for source in sources:
        files = frozenset(os.path.realpath(item.path) for item in source.collection.items if item.path)
        if len(files) < FEWEST or files in seen:
            continue
        numbers = [_NUMBER.match(Path(item.path).name) for item in source.collection.items]
        rising = all(numbers) and all(int(a[1]) < int(b[1]) for a, b in pairwise(numbers) if a and b)
        if not source.collection.ordered and not rising:
            notes.append(f"left out: {shown(str(source.path))}: its files are not numbered, so it has no order")
            continue
        seen.add(files)
        kept.append(source)
    return kept
