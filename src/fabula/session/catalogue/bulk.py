"""A whole catalogue encoded, or ordered, into a table with one row an item."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fabula.core.collections import Collections
from fabula.core.files import check_target, whole_file
from fabula.errors import InputError, import_extra
from fabula.media.extraction import Measuring
from fabula.media.registry import media
from fabula.models.model import Model, load_model
from fabula.session.catalogue import models
from fabula.session.catalogue.cut import Piece, pieces_of
from fabula.sources.registry import Opening
from fabula.sources.tables.text_tables import guard

ESSENCE_ENDINGS, ORDER_ENDINGS = (".parquet", ".csv", ".npz"), (".parquet", ".csv")
_PART = 2000  # collections between two reports

Report = Callable[[int, int, str], None]  # rows done, rows in all, the last collection
Rows = Mapping[str, Any]  # name -> one value per row: an array (rows,), or a list of texts
_Write = Callable[[Rows], None]
_Make = Callable[[Model, Piece, Collections, slice], tuple[Rows, int]]  # the rows, and how many are surely best


@dataclass(frozen=True)
class CatalogueRequest:
    """What to read and with what: the catalogue, a model by name or file (None: the medium's), and how it is opened."""

    path: str | Path
    model: str | None = None
    opening: Opening | None = None
    measuring: Measuring | None = None
    report: Report | None = None


@dataclass(frozen=True)
class Done:
    """What was done: how many collections and items, and the table they went into.

    Of orderings also how many are surely the best.
    """

    collections: int
    items: int
    path: Path
    exact: int = 0


def encode_catalogue(asked: CatalogueRequest, output: str | Path, *, raw: bool = False) -> Done:
    """Write the essence of every item of a catalogue.

    Columns: collection, row of the file from 1, id of the item, and ``essence``, or ``essence.1`` and so on where the
    model has several dimensions. A .npz file holds the same as arrays, ``essence`` of shape (rows, d). By default the
    medium's model of one number an item encodes it; ``raw`` is not z-scored within each collection.
    """

    def choose(piece: Piece) -> Model:
        return models.encoder_of(piece.medium, models.complete(piece.collections, piece.medium).feature_names)

    def rows(model: Model, piece: Piece, part: Collections, at: slice) -> tuple[Rows, int]:
        return essence_rows(model, piece, part, at, raw=raw), 0

    return _go_through(asked, _check_ending(output, ESSENCE_ENDINGS), choose, rows)


def order_catalogue(asked: CatalogueRequest, output: str | Path, *, likeliest: bool = False) -> Done:
    """Write one ordering of every collection of a catalogue.

    Columns: collection, position from 1, row of the file from 1, id and title of the item there, and, the same for a
    whole collection, score and gap. What is proposed is what ``fabula order`` puts first for each, or the likeliest
    ordering, not the one expected to agree best with the true one.
    """

    def choose(piece: Piece) -> Model:
        return models.proposer_of(piece.medium, piece.collections.feature_names)

    return _go_through(asked, _check_ending(output, ORDER_ENDINGS), choose, partial(order_rows, likeliest=likeliest))


def _go_through(asked: CatalogueRequest, target: Path, choose: Callable[[Piece], Model], make: _Make) -> Done:
    """Write what is made of the collections of a catalogue, some at a time; a model is chosen where none is named."""
    model = None if asked.model is None else models.check_arrays(load_model(asked.model), asked.model)
    collections = items = exact = 0
    kinds = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}
    with whole_file(target) as file, kinds[target.suffix.lower()](file) as write:
        for piece in pieces_of(asked.path, _features_to_read(model), asked.opening, asked.measuring):
            model = model or choose(piece)
            for part, at in parts_of(piece):
                columns, sure = make(model, piece, part, at)
                write(columns)
                collections, items, exact = collections + len(part), items + len(part.features), exact + sure
                if asked.report is not None:
                    asked.report(items, piece.total, str(part.ids[-1]))
    return Done(collections, items, target, exact)


def essence_rows(model: Model, piece: Piece, part: Collections, at: slice, *, raw: bool = False) -> dict[str, Any]:
    """The essence of some collections of a piece, which have these rows of it: the columns of a table."""
    essence = model.encode_many(models.complete(part, piece.medium), raw=raw)
    d = essence.shape[1]
    names = ["essence"] if d == 1 else [f"essence.{i + 1}" for i in range(d)]
    return _about_items(piece, part, at) | {name: essence[:, i] for i, name in enumerate(names)}


def order_rows(
    model: Model, piece: Piece, part: Collections, at: slice, *, likeliest: bool = False
) -> tuple[dict[str, Any], int]:
    """An ordering of each of some collections of a piece: the columns of a table, and how many are surely the best."""
    many = models.shift_each_to_training_range(models.complete(part, piece.medium), piece.medium, model)
    found = model.order_many(many, rule="likeliest" if likeliest else "agreeing")
    known, order, sizes = _about_items(piece, part, at), found.rows, part.sizes
    position = np.arange(len(order)) - np.repeat(part.offsets[:-1], sizes) + 1
    columns = {"collection": known["collection"], "position": position, "row": known["row"][order]}
    columns |= {"id": known["id"][order], "title": part.texts("title")[order].tolist()}
    columns |= {"score": np.repeat(found.scores, sizes), "gap": np.repeat(found.gap, sizes)}
    return columns, int(found.exact.sum())


def parts_of(piece: Piece) -> Iterator[tuple[Collections, slice]]:
    """A piece some collections at a time, and where their rows stand in it."""
    for at in range(0, len(piece.collections), _PART):
        part = piece.collections[at : at + _PART]
        begun = int(piece.collections.offsets[at])
        yield part, slice(begun, begun + len(part.features))


def _features_to_read(model: Model | None) -> tuple[str, ...]:
    """Those of the model; where none is named yet, those of all that may be asked."""
    if model is not None:
        return model.feature_names
    names = (name for medium in media().values() for name in (*medium.columns, *medium.measured))
    return tuple(dict.fromkeys(names))


def _about_items(piece: Piece, part: Collections, at: slice) -> dict[str, Any]:
    """What is known of every item: its collection, its row of the file, its id."""
    owner = np.repeat(np.arange(len(part)), part.sizes)
    return {"collection": part.ids[owner], "row": piece.rows[at], "id": np.array(piece.ids[at].tolist(), dtype=object)}


def _check_ending(path: str | Path, endings: tuple[str, ...]) -> Path:
    """Refuse a place or an ending that no table can be written to, before any work is done."""
    target = check_target(path)
    if target.suffix.lower() not in endings:
        raise InputError(f"{target}: the ending must be one of {', '.join(endings)}", field="output")
    return target


# Functions that write some rows, each time with the same columns.


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[_Write]:
    pa = import_extra("pyarrow", extra="tables", purpose="writing Parquet tables")
    pq = import_extra("pyarrow.parquet", extra="tables", purpose="writing Parquet tables")
    writer: Any = None

    def write(columns: Rows) -> None:
        nonlocal writer
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        writer = pq.ParquetWriter(file, table.schema) if writer is None else writer
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _csv(file: BinaryIO) -> Iterator[_Write]:
    header: list[str] = []

    def write(columns: Rows) -> None:
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        if not header:
            header.extend(columns)
            out.writerow(header)
        out.writerows(zip(*map(_cells, columns.values()), strict=True))
        file.write(text.getvalue().encode())

    yield write


def _cells(values: Any) -> list[Any]:
    """Values as CSV has them: a missing number is empty, a text never a formula."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return ["" if value != value else value for value in values.tolist()]
    return [guard(value) if isinstance(value, str) else value for value in values]


@contextmanager
def _npz(file: BinaryIO) -> Iterator[_Write]:
    """One array per column; numbers with a dot in their name, such as ``essence.1``, go together into one (rows, d)."""
    parts: dict[str, list[Any]] = {}

    def write(columns: Rows) -> None:
        for name, values in columns.items():
            array = np.asarray(values)  # of text, so that it can be read without unpickling
            parts.setdefault(name, []).append(array.astype(np.str_) if array.dtype == object else array)

    yield write
    several: dict[str, list[Any]] = {}
    for name, arrays in parts.items():
        several.setdefault(name.partition(".")[0], []).append(np.concatenate(arrays))
    grouped: dict[str, Any] = {
        name: each[0] if len(each) == 1 else np.stack(each, axis=1) for name, each in several.items()
    }
    np.savez(file, **grouped)
