"""A whole catalogue encoded, or ordered, into a table with one row an item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collections import Collections
from fabula.media.extraction import Measuring
from fabula.models.file import load_model
from fabula.models.model import Model
from fabula.models.order import OrderedMany
from fabula.session.catalogue.models import (
    check_arrays,
    complete,
    encoder_of,
    proposer_of,
    shift_each_to_training_range,
)
from fabula.session.catalogue.reading import Piece, pieces_of
from fabula.session.catalogue.tables import check_ending, rows_file
from fabula.sources.registry import Opening

ESSENCE_ENDINGS, ORDER_ENDINGS = (".parquet", ".csv", ".npz"), (".parquet", ".csv")
_PART = 2000  # collections between two reports
Report = Callable[[int, int, str], None]  # rows done, rows in all, the last collection


@dataclass(frozen=True)
class Done:
    """What was done: how many collections and items, and the table they went into.

    Of orderings also how many are surely the best.
    """

    collections: int
    items: int
    path: Path
    exact: int = 0


@dataclass(frozen=True)
class Asked:
    """What to read and with what: the catalogue, a model by name or file (None: the medium's), and how it is opened."""

    path: str | Path
    model: str | None = None
    opening: Opening | None = None
    measuring: Measuring | None = None
    report: Report | None = None

    def loaded(self) -> Model | None:
        """The model that is named, before anything is read."""
        return None if self.model is None else check_arrays(load_model(self.model), self.model)


def encode_catalogue(asked: Asked, output: str | Path, *, raw: bool = False) -> Done:
    """Write the essence of every item of a catalogue.

    Columns: collection, row of the file from 1, id of the item, and ``essence``, or ``essence.1`` and so on where the
    model has several dimensions. A .npz file holds the same as arrays, ``essence`` of shape (rows, d).

    Parameters
    ----------
    asked
        What to read. By default the medium's model of one number an item encodes it.
    output
        A .parquet, .csv or .npz file, written whole or not at all.
    raw
        As the encoder gives it, not z-scored within each collection.
    """
    target, model = check_ending(output, ESSENCE_ENDINGS), asked.loaded()
    collections = items = 0
    with rows_file(target) as write:
        for piece in pieces_of(asked.path, _wanted(model), asked.opening, asked.measuring):
            model = model or encoder_of(piece.medium, complete(piece.collections, piece.medium).feature_names)
            for part, at in parts_of(piece):
                write(essence_rows(model, piece, part, at, raw=raw))
                collections, items = collections + len(part), items + len(part.features)
                _tell(asked, items, piece.total, part)
    return Done(collections, items, target)


def order_catalogue(asked: Asked, output: str | Path, *, likeliest: bool = False) -> Done:
    """Write one ordering of every collection of a catalogue.

    Columns: collection, position from 1, row of the file from 1, id and title of the item there, and, the same for a
    whole collection, score and gap. What is proposed is what ``fabula order`` puts first for each.

    Parameters
    ----------
    asked
        What to read. By default the medium's model that proposes orders.
    output
        A .parquet or .csv file, written whole or not at all.
    likeliest
        The likeliest ordering, not the one expected to agree best with the true one; the same for models of arcs.
    """
    target, model = check_ending(output, ORDER_ENDINGS), asked.loaded()
    collections = items = exact = 0
    with rows_file(target) as write:
        for piece in pieces_of(asked.path, _wanted(model), asked.opening, asked.measuring):
            model = model or proposer_of(piece.medium, piece.collections.feature_names)
            for part, at in parts_of(piece):
                columns, sure = order_rows(model, piece, part, at, likeliest=likeliest)
                write(columns)
                exact += sure
                collections, items = collections + len(part), items + len(part.features)
                _tell(asked, items, piece.total, part)
    return Done(collections, items, target, exact)


def essence_rows(model: Model, piece: Piece, part: Collections, at: slice, *, raw: bool = False) -> dict[str, Any]:
    """The essence of some collections of a piece, which have these rows of it: the columns of a table."""
    essence = model.encode_many(complete(part, piece.medium), raw=raw)
    d = essence.shape[1]
    names = ["essence"] if d == 1 else [f"essence.{i + 1}" for i in range(d)]
    return _known(piece, part, at) | {name: essence[:, i] for i, name in enumerate(names)}


def order_rows(
    model: Model, piece: Piece, part: Collections, at: slice, *, likeliest: bool = False
) -> tuple[dict[str, Any], int]:
    """An ordering of each of some collections of a piece: the columns of a table, and how many are surely the best."""
    many = shift_each_to_training_range(complete(part, piece.medium), piece.medium, model)
    found = model.order_many(many, rule="likeliest" if likeliest else "agreeing")
    return _in_order(_known(piece, part, at), part, found), int(found.exact.sum())


def parts_of(piece: Piece) -> Iterator[tuple[Collections, slice]]:
    """A piece some collections at a time, and where their rows stand in it."""
    for at in range(0, len(piece.collections), _PART):
        part = piece.collections[at : at + _PART]
        begun = int(piece.collections.offsets[at])
        yield part, slice(begun, begun + len(part.features))


def _wanted(model: Model | None) -> tuple[str, ...]:
    """The features to read; where no model is named yet, those of all that may be asked."""
    if model is not None:
        return model.feature_names
    from fabula.media.registry import media

    names = (name for medium in media().values() for name in (*medium.columns, *medium.measured))
    return tuple(dict.fromkeys(names))


def _known(piece: Piece, part: Collections, at: slice) -> dict[str, Any]:
    """What is known of every item: its collection, its row of the file, its id."""
    owner = np.repeat(np.arange(len(part)), part.sizes)
    return {"collection": part.ids[owner], "row": piece.rows[at], "id": np.array(piece.ids[at].tolist(), dtype=object)}


def _in_order(known: dict[str, Any], part: Collections, found: OrderedMany) -> dict[str, Any]:
    order, sizes = found.rows, part.sizes
    position = np.arange(len(order)) - np.repeat(part.offsets[:-1], sizes) + 1
    columns = {"collection": known["collection"], "position": position, "row": known["row"][order]}
    columns |= {"id": known["id"][order], "title": part.texts("title")[order].tolist()}
    return columns | {"score": np.repeat(found.scores, sizes), "gap": np.repeat(found.gap, sizes)}


def _tell(asked: Asked, done: int, total: int, part: Collections) -> None:
    if asked.report is not None:
        asked.report(done, total, str(part.ids[-1]))
