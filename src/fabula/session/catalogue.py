"""Tables of collections: cut between them, in pieces or by rows for shards, and all of them encoded or ordered.

A table of up to a million rows is one piece, whatever the order of its rows. A larger Parquet file is read in pieces,
so that memory does not grow with it; the rows of each collection must then stand together.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Item
from fabula.core.collections import Cells, Collections, Numbered
from fabula.core.files import check_target, refuse_odd_names, whole_file
from fabula.core.solver import Constraints
from fabula.errors import ConflictError, ConstraintError, FileError, InputError, import_extra
from fabula.media.extraction import Measuring
from fabula.media.medium import Medium
from fabula.media.registry import measure_if_held, media
from fabula.models.config import PAIRS, TITLES
from fabula.models.model import Model, load_essence_model, load_model
from fabula.models.order import OrderedMany
from fabula.session.export import check_ending, relocate
from fabula.session.measure import FAR, find_model, measure, shift_to_training_range
from fabula.session.propose import FLAT, OrderTask, by_likelihood, judge
from fabula.session.request import Request, find_title_wishes
from fabula.session.session import source_session
from fabula.sources.registry import Opening, SeveralCollectionsError, Source, open_source
from fabula.sources.tables.read_table import TableReading, open_table
from fabula.sources.tables.roles import NAMED, columns_named, feature_name, names_by_heading, roles_of
from fabula.sources.tables.source_table import SourceTable, column_of
from fabula.sources.tables.storage import Place, address_of, count_parquet, is_table, read_parquet_file
from fabula.sources.tables.text_tables import guard
from fabula.sources.tables.write_table import write_table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_WHOLE = 1_000_000  # rows up to which a Parquet table is read at once
_PIECE = 200_000  # rows of a piece, about
_SAMPLE = 1000  # rows by which the columns of a large table are recognised
_IDS = 1 << 17  # rows of one column in hand


@dataclass(frozen=True, eq=False)
class Piece:
    """Some collections of a catalogue."""

    collections: Collections  # in one block
    rows: Ints  # shape (rows,): the row of the file that each item came from, from 1
    ids: Cells  # the id of each item; the number of its row where the file has none
    medium: Medium  # what kind of media they are
    total: int  # how many rows the catalogue has

    def part(self, first: int, behind: int) -> Piece:
        """Some of its collections, by their numbers."""
        at = slice(*(int(self.collections.offsets[number]) for number in (first, behind)))
        return replace(self, collections=self.collections[first:behind], rows=self.rows[at], ids=self.ids[at])


def pieces_of(
    path: str | Path, wanted: Sequence[str], opening: Opening | None = None, measuring: Measuring | None = None
) -> Iterator[Piece]:
    """The collections of a table in one piece or more; a folder or a playlist is one collection, and is measured."""
    how = opening or Opening()
    if not is_table(path):
        source = open_source([path], how)
        source = measure(source, measuring or Measuring()) if source.files else source
        count = len(source.collection)
        block = Collections.of([source.collection])
        yield Piece(block, np.arange(1, count + 1), block.texts("id"), source.medium, count)
        return
    columns = columns_named(dict(how.columns))
    rows = 0
    if Path(path).suffix.lower() == ".parquet" and Path(path).is_file():
        with suppress(FileError):  # the reader of tables says what is wrong with it
            rows = count_parquet(str(path))[0]
    if rows > _WHOLE:
        yield from _stream(str(path), columns, wanted, rows)
    else:
        reading = open_table(path, columns)
        yield piece_of(reading, reading.order + 1, reading.table.count)


def piece_of(reading: TableReading, rows: Ints, total: int, *, named: bool = True) -> Piece:
    """What was read of a table as a piece of a catalogue, with the rows (from 1) that its items came from."""
    block = Collections.of(reading.collections)
    medium = measure_if_held(block[0])[1]
    return Piece(block, rows, block.texts("id") if named else Numbered(rows), medium, total)


def open_parquet(path: str, *, stream: bool = False) -> AbstractContextManager[pq.ParquetFile]:
    """A Parquet file on a disk or at an address, to be read in pieces.

    To be streamed from its start to its end, it is not mapped into memory, which that would fill.
    """
    import pyarrow as pa

    opener = partial(pa.OSFile if stream else pa.memory_map, path)
    return read_parquet_file(path, opener if address_of(path) is None else Place(path).open)


def layout_of(
    path: str, file: Any, asked: Mapping[str, str], wanted: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Which column says what, recognised by the first rows of an open Parquet file, and the columns to read."""
    batch = next(file.iter_batches(batch_size=_SAMPLE))
    sample = {name: column_of(name, batch.column(name).to_pylist()) for name in batch.schema.names}
    called = names_by_heading(asked)
    roles = roles_of(SourceTable(path, sample, batch.num_rows), asked, called)
    if "collection" not in roles:
        raise InputError(f"{path}: no column is known to name the collection; say which", field="columns")
    found = {**asked, **{role: roles[role].name if role in roles else "" for role in NAMED}}
    known = {feature_name(name) for name in wanted} | {"duration"}
    busy = {column.name for column in roles.values()} | set(called)
    headings = [name for name in batch.schema.names if name in busy or feature_name(name) in known]
    return found, headings


def starts_of(path: str, file: Any, column: str) -> Ints:
    """The rows at which collections begin, and the number of rows; reads one column, a batch at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    starts: list[Ints] = []
    firsts: list[Any] = []
    begun, last = 0, None
    for batch in file.iter_batches(batch_size=_IDS, columns=[column]):
        ids = batch.column(0)
        if ids.null_count:
            row = begun + int(np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0])
            raise FileError(f"{path}: row {row + 1}, column {column!r}: must name the collection; it is empty")
        new = np.ones(len(ids), dtype=bool)
        new[1:] = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
        new[0] = last is None or ids[0] != last
        at = np.flatnonzero(new)
        starts.append(at + begun)
        firsts.append(ids.take(pa.array(at)))
        begun, last = begun + len(ids), ids[len(ids) - 1]
    found = pa.chunked_array(firsts)
    if len(found.unique()) < len(found):
        counts = found.value_counts()
        twice = next(one["values"].as_py() for one in counts if one["counts"].as_py() > 1)
        raise FileError(
            f"{path}: the rows of collection {twice!r} do not stand together; sort the table by {column!r} first"
        )
    return np.concatenate([*starts, [begun]]).astype(np.intp)


def read_rows(
    file: Any, rows: tuple[int, int], headings: Sequence[str], where: Mapping[str, str]
) -> tuple[pa.Table, Ints]:
    """Rows (first, behind the last) of an open Parquet file, and their numbers in it from 0; reads their row groups.

    ``where`` (column -> value) keeps the rows that have it; ``""`` is a missing value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = dict.fromkeys([*headings, *where])
    absent = [name for name in wanted if name not in file.schema_arrow.names]
    if absent:
        raise InputError(f"the table lacks the column(s) {', '.join(absent)}")
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    ends = np.cumsum(sizes)
    begins = ends - sizes
    groups = np.flatnonzero((ends > rows[0]) & (begins < rows[1]))
    piece = file.read_row_groups(groups.tolist(), columns=list(wanted), use_threads=False)
    piece = piece.slice(rows[0] - int(begins[groups[0]]), rows[1] - rows[0])
    if not where:
        return piece, np.arange(*rows)
    keep = np.ones(piece.num_rows, dtype=bool)
    for name, value in where.items():
        cells = piece.column(name).cast(pa.string())
        keep &= pc.equal(cells.fill_null(""), pa.scalar(value)).to_numpy()
    found = np.flatnonzero(keep)
    return piece.select(list(headings)).take(found), found + rows[0]


def blank_infinite(table: pa.Table) -> tuple[Any, NDArray[np.bool_]]:
    """The table with infinite numbers as missing ones, and which rows (rows,) have any."""
    import pyarrow as pa

    found = np.zeros(table.num_rows, dtype=bool)
    for at, name in enumerate(table.column_names):
        column = table.column(name)
        if pa.types.is_floating(column.type):
            infinite = np.isinf(column.to_numpy())
            if infinite.any():
                found |= infinite
                table = table.set_column(at, name, pa.array(column.to_numpy(), mask=infinite))
    return table, found


def _stream(path: str, asked: Mapping[str, str], wanted: Sequence[str], total: int) -> Iterator[Piece]:
    """A large Parquet file in pieces of whole collections."""
    import pyarrow as pa

    with open_parquet(path, stream=True) as file:
        columns, headings = layout_of(path, file, asked, wanted)
        starts = starts_of(path, file, columns["collection"])
        begun, left = 0, None
        for batch in file.iter_batches(batch_size=_PIECE, columns=headings):
            table = pa.Table.from_batches([batch])
            table = table if left is None else pa.concat_tables([left, table])
            end = int(starts[np.searchsorted(starts, begun + table.num_rows) - 1]) - begun  # where the last one begins
            left = table.slice(end)
            if end:
                yield _read_piece(table.slice(0, end), columns, begun, total)
                begun += end
        if left is not None and left.num_rows:
            yield _read_piece(left, columns, begun, total)


def _read_piece(table: pa.Table, columns: Mapping[str, str], begun: int, total: int) -> Piece:
    held: Any = table
    reading = open_table(held, columns)
    return piece_of(reading, reading.order + 1 + begun, total, named=bool(columns["id"] or columns["path"]))


# The model of a catalogue, and its collections as that model takes them.

_NOTHING = Item("")


def check_arrays(model: Model, name: str) -> Model:
    """The model, where it works on arrays."""
    if PAIRS in model.reads:
        raise InputError(f"{name} looks into the items themselves: order one collection at a time", field="model")
    return model


def _load(name: str | None) -> Model:
    if name is None:
        raise InputError("no model is known for these columns; name one", field="model")
    return load_model(name)


def complete(collections: Collections, medium: Medium) -> Collections:
    """The collections with the features that follow from those there are."""
    names = collections.feature_names
    whole = Collection("", (_NOTHING,) * len(collections.features), collections.features, names)
    full = medium.complete(whole)
    return collections if full is whole else collections.under(np.asarray(full.features), full.feature_names)


def shift_each_to_training_range(many: Collections, medium: Medium, model: Model) -> Collections:
    """The collections as a model can judge them: those far from all it has learned from are shifted, as one is."""
    name = find_model(medium, many.feature_names)
    near = model if model.by_item else load_essence_model(name) if name else None
    if near is None or many.features.ndim != 2 or not set(near.feature_names) <= set(many.feature_names):
        return many
    columns = [many.feature_names.index(each) for each in near.feature_names]
    features = np.array(many.features, dtype=np.float64)
    far = np.abs(replace(near.transform, bound=0.0).apply(features[:, columns])) > FAR
    share = np.add.reduceat(far, many.offsets[:-1], dtype=np.float64) / many.sizes[:, np.newaxis]
    for number in np.flatnonzero((share >= 0.5).any(axis=1)):  # most of its items are far out in a feature
        rows = slice(int(many.offsets[number]), int(many.offsets[number + 1]))
        features[rows, columns] = shift_to_training_range(features[rows, columns], near.transform)[0]
    return many.under(features, many.feature_names)


# A whole catalogue encoded, or ordered, into a table with one row an item.

ESSENCE_ENDINGS, ORDER_ENDINGS = (".parquet", ".csv", ".npz"), (".parquet", ".csv")
_PART = 2000  # collections between two reports
_SECONDS = 0.3  # to search in for one of many items whose titles ask for something

Report = Callable[[int, int, str], None]  # rows done, rows in all, the last collection
Rows = Mapping[str, Any]  # name -> one value per row: an array (rows,), or a list of texts
_Write = Callable[[Rows], None]
_Choose = Callable[[Piece], Model | None]
# From a model, or None, to rows, how many of their orderings are surely the best, and in how many titles had a say
_Make = Callable[[Any, Piece], tuple[Rows, int, int]]


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
    """What was done: how many collections and items, and the table they went into; of orderings also what is told."""

    collections: int
    items: int
    path: Path
    exact: int = 0  # orderings that are surely the best
    counted: int = 0  # those in which titles had a say


def encode_catalogue(asked: CatalogueRequest, output: str | Path, *, raw: bool = False) -> Done:
    """Write the essence of every item of a catalogue.

    Columns: collection, row of the file from 1, id of the item, and ``essence``, or ``essence.1`` and so on where the
    model has several dimensions. A .npz file holds the same as arrays, ``essence`` of shape (rows, d). By default the
    medium's model of one number an item encodes it; ``raw`` is not z-scored within each collection.
    """

    def choose(piece: Piece) -> Model:
        known = complete(piece.collections, piece.medium).feature_names
        model = _load(find_model(piece.medium, known) or piece.medium.proposer)
        return check_arrays(model, str(model.card.get("name")))

    if asked.model is not None:
        check_arrays(load_model(asked.model), asked.model)

    return _go_through(
        asked, output, ESSENCE_ENDINGS, choose, lambda model, piece: (essence_rows(model, piece, raw=raw), 0, 0)
    )


def order_catalogue(
    asked: CatalogueRequest, output: str | Path, *, by: str | None = None, request: Request | None = None
) -> Done:
    """Write one ordering of every collection of a catalogue.

    Columns: collection, position from 1, row of the file from 1, id and title of the item there, and, the same for a
    whole collection, score and gap. What is proposed is what ``fabula order`` puts first for each. Where a column is
    asked for, a wish other than ``likeliest`` and ``series``, or a model that looks into the items, as those of texts
    and pictures do, collections are ordered one by one, each as if it were alone.
    """
    wishes = replace(request or Request(), alternatives=1)
    together = wishes == Request(likeliest=wishes.likeliest, series=wishes.series, alternatives=1)

    def choose(piece: Piece) -> Model | None:
        names = piece.collections.feature_names
        return None if by is not None else _load(piece.medium.proposer or find_model(piece.medium, names))

    def make(model: Model | None, piece: Piece) -> tuple[Rows, int, int]:
        if model is None or not together or PAIRS in model.reads:
            return _order_each(asked, by, wishes, piece)
        return order_rows(model, piece, likeliest=wishes.likeliest, series=wishes.series)

    return _go_through(asked, output, ORDER_ENDINGS, choose, make)


def _order_each(asked: CatalogueRequest, by: str | None, wishes: Request, piece: Piece) -> tuple[Rows, int, int]:
    """An ordering of each collection of a piece, one session each."""
    measuring, many, rows, exact = asked.measuring or Measuring(), piece.collections, [], 0
    scores, gaps = np.full(len(many), np.nan), np.full(len(many), np.nan)
    for number, collection in enumerate(many):
        source = Source(Path(asked.path), measure_if_held(collection)[0], piece.medium)
        try:
            best = source_session(source, measuring, by, asked.model).order(wishes)
        except InputError as error:
            raise InputError(f"collection {collection.id!r}: {error.message}", field=error.field) from error
        rows.append(best.ordering + many.offsets[number])
        exact += best.fit.exact
        scores[number] = np.nan if best.fit.score is None else best.fit.score
        gaps[number] = np.nan if best.gap is None else best.gap
    return _order_columns(piece, np.concatenate(rows), scores, gaps), exact, 0


def _go_through(
    asked: CatalogueRequest, output: str | Path, endings: Sequence[str], choose: _Choose, make: _Make
) -> Done:
    """Write what is made of the collections of a catalogue, some at a time; a model is chosen where none is named."""
    target = check_target(output)
    if target.suffix.lower() not in endings:  # told before any work is done
        raise InputError(f"{target}: the ending must be one of {', '.join(endings)}", field="output")
    model = None if asked.model is None else load_model(asked.model)
    collections = items = exact = counted = 0
    kinds = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}
    with refuse_odd_names(target), whole_file(target) as file, kinds[target.suffix.lower()](file) as write:
        # those of the model; where none is named yet, those of all that may be asked
        names = (name for medium in media().values() for name in (*medium.columns, *medium.measured))
        wanted = tuple(dict.fromkeys(names)) if model is None else model.feature_names
        for piece in pieces_of(asked.path, wanted, asked.opening, asked.measuring):
            model = model or choose(piece)
            for part in parts_of(piece):
                columns, sure, said = make(model, part)
                write(columns)
                collections, items = collections + len(part.collections), items + len(part.rows)
                exact, counted = exact + sure, counted + said
                if asked.report is not None:
                    asked.report(items, piece.total, str(part.collections.ids[-1]))
    return Done(collections, items, target, exact, counted)


def essence_rows(model: Model, piece: Piece, *, raw: bool = False) -> dict[str, Any]:
    """The essence of the collections of a piece: the columns of a table."""
    essence = model.encode_many(complete(piece.collections, piece.medium), raw=raw)
    d = essence.shape[1]
    names = ["essence"] if d == 1 else [f"essence.{i + 1}" for i in range(d)]
    return _about_items(piece) | {name: essence[:, i] for i, name in enumerate(names)}


def order_rows(
    model: Model, piece: Piece, *, likeliest: bool = False, series: bool = True
) -> tuple[dict[str, Any], int, int]:
    """An ordering of each collection of a piece: the columns of a table, and what is told of them."""
    many = shift_each_to_training_range(complete(piece.collections, piece.medium), piece.medium, model)
    found = model.order_many(many, rule="likeliest" if likeliest else "agreeing")
    counted = _ask_titles(model, many, piece.medium, found, likeliest=likeliest) if series else 0
    return _order_columns(piece, found.rows, found.scores, found.gap), int(found.exact.sum()), counted


def _order_columns(piece: Piece, order: Ints, scores: Floats, gaps: Floats) -> dict[str, Any]:
    """The columns of a table of orderings: rows (rows,) of the collections in their order, scores and gaps of each."""
    known, sizes = _about_items(piece), piece.collections.sizes
    position = np.arange(len(order)) - np.repeat(piece.collections.offsets[:-1], sizes) + 1
    columns = {"collection": known["collection"], "position": position, "row": known["row"][order]}
    columns |= {"id": known["id"][order], "title": piece.collections.texts("title")[order].tolist()}
    return columns | {"score": np.repeat(scores, sizes), "gap": np.repeat(gaps, sizes)}


def _ask_titles(model: Model, many: Collections, medium: Medium, found: OrderedMany, *, likeliest: bool) -> int:
    """Order those anew, into ``found``, whose titles ask for what it has not; how many ask for anything."""
    titles, offsets, counted = many.texts("title").tolist(), many.offsets.tolist(), 0
    for number, (start, stop) in enumerate(pairwise(offsets) if TITLES in model.reads else ()):
        wishes = find_title_wishes(titles[start:stop], Request())
        counted += wishes is not None
        if wishes is None or wishes.hold(found[number]):
            continue
        n = stop - start
        judged = judge(model, many[number], medium)
        task = OrderTask(np.zeros(n), Constraints(n), None, None, judged, likeliest, _SECONDS)
        with suppress(ConflictError, ConstraintError):  # titles that contradict each other have no say
            best = by_likelihood(task.under(wishes), [FLAT], 1)[0]
            found.orderings[start:stop], found.exact[number] = best.fit.ordering, best.fit.exact
            found.scores[number], found.gap[number] = best.fit.score, np.nan if best.gap is None else best.gap
    return counted


def parts_of(piece: Piece) -> Iterator[Piece]:
    """A piece some collections at a time."""
    count = len(piece.collections)
    return (piece.part(first, min(first + _PART, count)) for first in range(0, count, _PART))


def _about_items(piece: Piece) -> dict[str, Any]:
    """What is known of every item: its collection, its row of the file, its id."""
    owners = np.repeat(np.arange(len(piece.collections)), piece.collections.sizes)
    ids = np.array(piece.ids.tolist(), dtype=object)
    return {"collection": piece.collections.ids[owners], "row": piece.rows, "id": ids}


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
        for name in dict.fromkeys(name.partition(".")[0] for name in columns):
            arrays = [np.asarray(columns[each]) for each in columns if each.partition(".")[0] == name]
            array = arrays[0] if name in columns else np.stack(arrays, axis=1)
            # of text, so that it can be read without unpickling
            parts.setdefault(name, []).append(array.astype(np.str_) if array.dtype == object else array)

    yield write
    whole: dict[str, Any] = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    np.savez(file, **whole)


# What was measured, as a table.


def extract_table(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    spec: str | None = None,
    opening: Opening | None = None,
    measuring: Measuring | None = None,
) -> tuple[Source, Path]:
    """Measure folders, files or the files of a playlist, and write a table with one row a file: both come back."""
    target = check_target(output)
    check_ending(target, (".csv", ".json", ".parquet"))
    try:
        source = open_source(paths, opening)
    except SeveralCollectionsError:
        source = None
    if source is None or not source.files:
        raise InputError(f"{paths[0]}: is a table; features are extracted from folders, files and playlists")
    done = measure(source, measuring or Measuring(), spec=spec)
    title = done.collection.title or done.path.stem
    items = tuple(
        replace(item, details={name: value for name, value in item.details.items() if name != "number"})
        for item in done.collection.items
    )
    kept = replace(done.collection, items=items)  # the number of a heading tells the order: no column to learn from
    placed = relocate(kept, done.folder, target.parent)
    return done, write_table(target, placed, {"collection": [title] * len(placed)}, done.medium.words.creator)
