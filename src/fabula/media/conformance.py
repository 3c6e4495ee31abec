"""What the house relies on in a medium, tried out: the test that a package with a medium of its own runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.files import guard_files
from fabula.errors import FabulaError, FileError, InputError, shown
from fabula.media.children import explain, place_of
from fabula.media.extraction import Measuring, extract
from fabula.media.medium import Cutting, Layout, Medium

_SHOWN = ("", "sound", "video", "picture", "text")


def check(medium: Medium, *files: str | Path) -> None:
    """Try all that a medium brings, with some of its files; an InputError tells everything that is wrong, a line each.

    Each file is read and measured, as the command line does it and as a child of the page does; steps, lengths, facts,
    covers and parts are asked for, and every output is written into a folder that goes again. Without files only what
    can be said of the medium itself is looked at.

    >>> check(Medium("blocks", endings=frozenset({".block"})))
    >>> check(Medium("blocks", endings=frozenset({"block"})))
    Traceback (most recent call last):
    fabula.errors.InputError: medium 'blocks': endings: 'block' must be lower case and begin with a dot
    """
    if not isinstance(medium, Medium):
        raise InputError(f"must be a Medium; got {type(medium).__name__}", field="medium")
    told = _look_at(medium)
    if files:
        _try(medium, [str(file) for file in files], told)
    if told:
        raise InputError("\n".join(f"medium {medium.name!r}: {problem}" for problem in dict.fromkeys(told)))


def _look_at(medium: Medium) -> list[str]:
    """What is wrong with a medium whatever its files are."""
    told = [] if medium.name.isidentifier() else [f"name: must be a word; got {medium.name!r}"]
    for name in ("endings", "companions", "bundles", "outputs", "sheets"):
        wrong = (end for end in getattr(medium, name) if not end.startswith(".") or end != end.lower())
        told += [f"{name}: {ending!r} must be lower case and begin with a dot" for ending in wrong]
    if medium.preview.kind not in _SHOWN:
        told.append(f"preview: must be one of {', '.join(map(repr, _SHOWN))}; got {medium.preview.kind!r}")
    known = set(medium.columns)
    for name in medium.specs:
        spec = medium.spec(name)
        known |= set(spec.feature_names)
        if len(set(spec.feature_names)) < len(spec.feature_names) or spec.shape[0] != len(spec.feature_names):
            told.append(f"spec {name}: {len(spec.feature_names)} names, each once, are due for shape {spec.shape}")
        if place_of(spec.measure) is None:
            told.append(f"spec {name}: measure must be a function of a module, so that a child finds it")
    traits = sorted(set(medium.words.traits) - known)
    return told + [f"words: traits name {name!r}, which nothing measures" for name in traits]


def _try(medium: Medium, files: list[str], told: list[str]) -> None:
    """Tell what is wrong with what a medium makes of files."""
    told += [
        f"{shown(file)}: has none of the endings" for file in files if not file.lower().endswith(tuple(medium.endings))
    ]
    for file in files:
        parts = _ask(told, "parts", medium.parts, file, Cutting())
        if isinstance(parts, Collection):
            _check_collection(medium, parts, told)
    items = [_ask(told, "read_item", medium.read_item, file) for file in files]
    odd = [item for item in items if not (isinstance(item, Item) and item.id and item.path)]
    told += [f"read_item: gives an Item with its path; got {item!r}" for item in odd if item is not None]
    if odd or not medium.specs:
        return
    found = extract(files, medium.spec(), Measuring(jobs=1, cache=False))
    with guard_files(lambda path: open(path, "rb")):  # noqa: PTH123 - as on the page, in a child
        again = extract(files, medium.spec(), Measuring(jobs=1, cache=False))
    told += [message for _, message in (*found.problems, *again.problems)]
    if found.kept == again.kept and not np.array_equal(found.features, again.features, equal_nan=True):
        told.append("measure: gives other numbers the second time, or in a child")
    if found.kept and found.features.ndim == 2:
        named = [items[index] for index in found.kept]
        collection = Collection("checked", named, found.features, found.feature_names)
        _check_collection(medium, collection, told)
        _write_outputs(medium, collection, told)


def _check_collection(medium: Medium, collection: Collection, told: list[str]) -> None:
    """Tell what is wrong with what a medium says of items that were measured."""
    n = len(collection)
    for one in (Collection("before", collection.items), collection):
        length = _ask(told, "lengths", medium.lengths, one)
        if length is not None and np.shape(length) != (n,):
            told.append(f"lengths: shape ({n},) is due; got {np.shape(length)}")
    steps = _ask(told, "steps", medium.steps, collection, np.zeros(n))
    for step in () if steps is None else steps.parts:
        table = step.distance
        if table.shape != (n, n) or not np.isfinite(table).all() or (table < 0).any():
            told.append(f"steps: {step.name}: must be finite, not below 0, of shape ({n}, {n})")
    for fact in _ask(told, "facts", medium.telling.facts, collection) or ():
        wrong = {len(fact.texts), *map(len, fact.cells.values())} - {n}
        told += [f"facts: {fact.name}: {n} texts are due, one an item; got {count}" for count in wrong]
    cover = medium.preview.cover
    for item in collection.items:
        found = _ask(told, "cover", cover, item.path, 320) if cover and item.path else None
        if found is not None and (not found.data or not found.type.startswith("image/")):
            told.append(f"cover: {item.label}: must be a picture; got {len(found.data)} bytes of {found.type}")


def _write_outputs(medium: Medium, collection: Collection, told: list[str]) -> None:
    """Tell what is wrong with what a medium writes; one that refuses such items by an InputError is in its right."""
    for ending, write in medium.outputs.items():
        with TemporaryDirectory() as folder:
            target, before = Path(folder) / f"checked{ending}", len(told)
            try:
                _ask(told, f"outputs, {ending}", write, collection, target, Layout(), refuses=InputError)
                if len(told) == before and not target.exists():
                    told.append(f"outputs, {ending}: writes nothing to the path it is given")
            except InputError:
                pass
            beside = [file.name for file in Path(folder).iterdir() if file != target]
            told += [f"outputs, {ending}: leaves {name} beside what it writes" for name in beside]


def _ask(told: list[str], name: str, function: Callable[..., Any], *given: Any, refuses: Any = ()) -> Any:
    """What a function of a medium gives; None where it fails, which is told."""
    try:
        return function(*given)
    except refuses:
        raise
    except FabulaError as error:
        told.append(f"{name}: {error}")
    except Exception as error:
        told.append(f"{name}: {explain(error, function)} (raise a {FileError.__name__} where a file is to blame)")
    return None
