"""The collections of a study: what to train on, what decides, what is measured; and which columns may be used."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.evaluation.parts import Parts
from fabula.media.music.tracks import FEATURES, KEPT_ROWS
from fabula.sources.fma.collections import read_fma
from fabula.sources.tables.files import TABLE_ENDINGS, is_table_folder, read_columns
from fabula.studies.splits import read_split, usable_features

_DEVELOPMENT = 10  # one part in so many of a training side decides which epoch is kept


@dataclass(frozen=True, eq=False)
class StudyData:
    """Ordered collections of one source in their parts.

    Attributes
    ----------
    name
        What to call the source.
    training, development, evaluation
        Trained on; decides which epoch is kept; measured, and never looked at before.
    plain
        The same three with features that are single numbers, for what each tells alone.
    features
        Names to train on.
    rule, notes
        How the parts were told apart, and what was left out.
    """

    name: str
    training: list[Collection] = field(repr=False)
    development: list[Collection] = field(repr=False)
    evaluation: list[Collection] = field(repr=False)
    plain: Parts | None = field(repr=False)
    features: tuple[str, ...]
    rule: str
    notes: tuple[str, ...] = ()

    @property
    def parts(self) -> Parts:
        """For training: the development collections decide, the evaluation collections are measured."""
        return Parts(self.training, self.development, self.evaluation)

    @property
    def fingerprint(self) -> str:
        """Depends on ids, sizes and feature values of all parts."""
        digest = hashlib.sha256("\0".join(self.features).encode())
        for part in (self.training, self.development, self.evaluation):
            digest.update(b"\1")
            for c in part:
                digest.update(f"\0{c.id}\0{len(c)}\0".encode("utf-8", "surrogateescape"))
                digest.update(np.ascontiguousarray(c.features, dtype="<f4").tobytes())
        return digest.hexdigest()


def read_study_data(path: str | Path, *, features: Sequence[str] | None = None, held_out: float = 0.1) -> StudyData:
    """Read a table of ordered collections, or FMA: a folder or an archive.

    Parameters
    ----------
    path
        A table with one row an item, or what ``fabula fetch fma`` fetched.
    features
        Columns of the table to train on; by default the usual ones of its medium where all are there, else every number
        that neither gives the order away nor is the same for a whole collection.
    held_out
        The share of a table to hold out where it has no column split.
    """
    source = Path(path)
    if source.suffix.lower() in TABLE_ENDINGS or is_table_folder(source):
        return _from_table(source, features, held_out)
    if source.is_dir() or source.suffix.lower() == ".zip":
        return _from_fma(source)
    raise InputError(f"{source}: must be a table ({', '.join(TABLE_ENDINGS)}), or a folder or .zip archive of FMA")


def _from_table(path: Path, features: Sequence[str] | None, held_out: float) -> StudyData:
    there = read_columns(path).columns
    where = {name: value for name, value in KEPT_ROWS.items() if name in there}
    split = read_split(path, where=where, held_out=held_out)
    names, notes = _usable(split.training, features)
    narrow = [_only(part, names) for part in (split.training, split.held_out)]
    kept, development = _set_aside(narrow[0])
    if where:
        notes = (f"kept: {', '.join(f'{name} = {value!r}' for name, value in where.items())}", *notes)
    plain = Parts(kept, development, narrow[1])
    return StudyData(path.name, kept, development, narrow[1], plain, names, split.rule, notes)


def _from_fma(path: Path) -> StudyData:
    reading = read_fma(path)
    parts = {name: reading.of(name) for name in ("training", "validation", "test")}
    empty = [name for name, part in parts.items() if not part]
    if empty:
        raise InputError(f"{path}: no usable collection in the split {', '.join(empty)}")
    few = read_fma(path, features="echonest")
    sides = [few.of(name) for name in parts]
    return StudyData(
        "FMA",
        parts["training"],
        parts["validation"],
        parts["test"],
        Parts(*sides) if all(sides) else None,
        reading.collections[0].feature_names,
        "the splits of FMA",
        reading.notes,
    )


def _usable(
    collections: Sequence[Collection], features: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names to train on, and notes about those left out."""
    there = collections[0].feature_names
    if features:
        collections[0].columns(tuple(features))  # says which is missing
        return tuple(features), ()
    if set(FEATURES) <= set(there):
        return FEATURES, ()
    return usable_features(collections)


def _only(collections: Sequence[Collection], names: tuple[str, ...]) -> list[Collection]:
    return [Collection(c.id, c.items, c.columns(names), names, ordered=c.ordered, title=c.title) for c in collections]


def _set_aside(training: Sequence[Collection]) -> tuple[list[Collection], list[Collection]]:
    """The training side without a tenth of its creators (or collections), and that tenth."""
    keys = [(c.items[0].creator or c.id).encode("utf-8", "surrogateescape") for c in training]
    aside = [zlib.crc32(key) % _DEVELOPMENT == 0 for key in keys]
    if all(aside) or not any(aside):
        aside = [number % _DEVELOPMENT == 0 for number in range(len(training))]
    kept = [c for c, out in zip(training, aside, strict=True) if not out]
    return kept or list(training), [c for c, out in zip(training, aside, strict=True) if out]
