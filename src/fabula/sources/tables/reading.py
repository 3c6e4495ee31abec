"""Tables with one row an item, read into collections.

CSV (separated by commas, semicolons or tabs), TSV, JSON, JSON lines; with the extra ``tables`` Parquet, in one file or
a folder of them, and frames in memory; with the extra ``remote`` any of these files at an address.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collections import Collections
from fabula.core.ordering import Ints
from fabula.sources.playlists.locations import is_address
from fabula.sources.tables.columns import Column, SourceTable, numbers_of
from fabula.sources.tables.contents import Contents, choose_features, contents_of, items_of
from fabula.sources.tables.files import TABLE_ENDINGS, read_columns
from fabula.sources.tables.grouping import is_one_playlist, lay_out, rows_where
from fabula.sources.tables.headings import ALBUMS, LIST_POSITIONS, plain
from fabula.sources.tables.numbers import features_of
from fabula.sources.tables.roles import Columns, columns_named, find_column, roles_of
from fabula.sources.tables.rows import write_rows
from fabula.sources.tables.writing import write_table

_FEW = 100  # cells that are looked at before all are

__all__ = ["TABLE_ENDINGS", "Columns", "TableReading", "open_table", "read_table", "write_rows", "write_table"]


@dataclass(frozen=True, eq=False)
class TableReading:
    """The collections of a table, and the table itself to write their rows back.

    Attributes
    ----------
    table
        The file with all its columns, as :func:`write_rows` takes it.
    collections
        In the order in which the file first names them.
    order
        Shape (rows,): the row of the table that each row of the collections came from.
    notes
        What a person should know of the reading.
    """

    table: SourceTable
    collections: Collections
    order: Ints
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Ints]:
        """One array (n,) per collection: the row of the table that each of its items came from."""
        return np.split(self.order, self.collections.offsets[1:-1])


def read_table(
    path: str | os.PathLike[str] | Any,
    *,
    collection: str | None = None,
    position: str | None = None,
    title: str | None = None,
    artist: str | None = None,
    item_path: str | None = None,
    item_id: str | None = None,
    features: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Collections:
    """Read the collections of a table that has one row an item.

    A column that is not named is recognised by its heading (``album_id``, ``Track Number``, ``Künstler``, ...); name
    it ``""`` to say that no column has this role. Numeric columns without a role become features, booleans as 0 and 1
    and ``Duration (ms)`` as ``duration_ms``; text columns become the details of the items. Columns without a name,
    and columns without a value, are left out. A column of lists with as many numbers in every row, such as embeddings,
    is a feature per number, ``embedding_0``, ``embedding_1``, ..., as models take them. A playlist that a
    streaming service exported is one collection, in the
    order of its rows, though its tracks come from several albums.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl or .parquet file; JSON is a list of objects, or an object with such a list as
        ``items``. Or a folder: the Parquet files that lie in it are one table, in the order of their names. Or an
        address of either, such as ``s3://bucket/songs.parquet`` (extra ``remote``). Or a table in memory (extra
        ``tables``): an Arrow table or reader of batches, a frame of pandas or polars, a Hugging Face dataset.
    collection
        The column that tells the collections apart; without one the file is one collection, called by its name.
    position
        The column that gives the true order within a collection; without one it is the order of the rows.
    title, artist, item_path, item_id
        The columns for the items. An item without an id is called by its path, else by the number of its row.
    features
        The columns that become features, no others; every cell must be a number.
    where
        Column -> value: keep the rows that have it; ``""`` is a missing value.
    columns
        Role or name -> heading, in place of the arguments above or beside them: ``{"title": "Titel", "duration":
        "Spielzeit", "energy": "Energie"}``. A name that is no role is what the column is called as a feature or
        a detail.

    Returns
    -------
    Collections in the order in which the file first names them: features (n, f) as float64, NaN where missing. They
    are a sequence in which each collection, and each of its items, is made when asked for; ``features`` (rows, f),
    ``offsets`` (number + 1,), ``ids``, ``column`` and ``texts`` are all of them at once.

    Raises
    ------
    FileError
        Naming file, row, column and value.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "songs.csv"
    >>> _ = file.write_text("album,track,title,energy\\nA,2,Close,0.9\\nA,1,Open,0.2\\n")
    >>> [c] = read_table(file)
    >>> c.id, [item.title for item in c.items], c.column("energy")
    ('A', ['Open', 'Close'], array([0.2, 0.9]))
    >>> read_table(file).features
    array([[0.2],
           [0.9]])
    >>> folder.cleanup()
    """
    given = {"collection": collection, "position": position, "title": title}
    given |= {"artist": artist, "path": item_path, "id": item_id}
    return open_table(path, columns_named(given, columns or {}), features=features, where=where).collections


def open_table(
    path: str | os.PathLike[str] | Any,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> TableReading:
    """Read the collections of a table as :func:`read_table` does, and keep the table to write its rows back.

    Parameters
    ----------
    path
        What :func:`read_table` takes.
    columns
        Which columns say what; by default all are recognised by their headings.
    features, where
        As for :func:`read_table`.
    """
    asked = columns or Columns()
    table = read_columns(path)
    for heading in asked.renamed:
        find_column(table, heading)
    roles = roles_of(table, asked.roles, {*(features or ()), *asked.renamed})
    kept = rows_where(table, where or {})
    renamed = dict(asked.renamed) | _settle(table, roles, asked, kept)
    order, offsets = lay_out(table, roles, kept)
    called = roles.get("collection title")
    if called and not ("collection" in roles and _is_constant(called, order, offsets)):
        del roles["collection title"]
    busy = {column.name for column in roles.values()} | set(features or ())
    contents = contents_of(table, busy, renamed)
    if features is not None:
        contents.features = choose_features(table, features, kept, asked.renamed)
    collections = _collections(table, roles, contents, order, offsets)
    return TableReading(table, collections, order, tuple(contents.notes))


def _settle(table: SourceTable, roles: dict[str, Column], asked: Columns, kept: Ints) -> dict[str, str]:
    """Take away the roles that the table as a whole speaks against; returns heading -> name where that is another."""
    renamed = {}
    if "collection" in roles and asked.collection is None and is_one_playlist(table, roles, kept):
        album = roles.pop("collection")
        roles.pop("collection title", None)
        if plain(album.name) in ALBUMS and "album" not in table.columns:
            renamed[album.name] = "album"
        if "position" in roles and asked.position is None and not _is_list_position(table, roles["position"], kept):
            del roles["position"]
    if "path" in roles and asked.path is None and asked.id is None and _all_addresses(roles["path"]):
        other = roles.get("id")
        if other is None or plain(other.name) == "isrc":
            roles["id"] = roles.pop("path")
    return renamed


def _is_list_position(table: SourceTable, column: Column, kept: Ints) -> bool:
    numbers = numbers_of(table, column)
    distinct = numbers is not None and len(np.unique(numbers[kept])) == len(kept)
    return distinct and plain(column.name) in LIST_POSITIONS


def _all_addresses(column: Column) -> bool:
    cells = column.texts()
    return all(not cell or is_address(cell) for part in (slice(_FEW), slice(None)) for cell in cells[part].tolist())


def _collections(
    table: SourceTable, roles: Mapping[str, Column], contents: Contents, order: Ints, offsets: Ints
) -> Collections:
    items = items_of(table, roles, contents.texts)
    firsts = order[offsets[:-1]]
    as_they_stand = len(order) == table.count and bool((order == np.arange(table.count)).all())
    ids = roles["collection"].texts(identity=True)[firsts].tolist() if "collection" in roles else None
    titles = roles["collection title"].texts()[firsts].tolist() if "collection title" in roles else None
    return Collections(
        features_of(list(contents.features.values()), None if as_they_stand else order, table.count),
        offsets,
        contents.names,
        ids=ids or [Path(table.path).stem],
        titles=titles,
        items=items if as_they_stand else items.part(order),
    )


def _is_constant(column: Column, order: Ints, offsets: Ints) -> bool:
    """Whether every collection has one value: a playlist whose items come from many albums is called by none."""
    codes = column.distinct[0][order]
    return bool((codes == np.repeat(codes[offsets[:-1]], np.diff(offsets))).all())
