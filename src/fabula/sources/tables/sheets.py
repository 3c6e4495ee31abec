"""Spreadsheets (.xlsx, extra ``xlsx``): a sheet read as a table, and its rows written in another order.

A workbook is an archive of XML, and is read in a child. Cells move with their formats, notes and links; formulas are
translated to where they go. All other sheets stay as they are, as far as openpyxl keeps them.
"""

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from fabula.core.files import FilePath, open_file
from fabula.errors import FileError, import_extra
from fabula.media.children import Limits, call
from fabula.sources.playlists.text_lines import writable_text
from fabula.sources.tables.source_table import SourceTable, column_of, table_of, text_of

SHEET_ENDING = ".xlsx"
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS = 200_000, 1_000, 1_000_000
_MOST_UNPACKED = 256 << 20  # bytes
_LOOKED = 10  # rows in which headings are looked for
_LIMITS = Limits(14.0)


def read_sheet(path: FilePath) -> SourceTable:
    """Read the first sheet of a workbook that holds a table; headings are its first row of two cells and more."""
    _openpyxl("reading")
    found = call(find_cells, os.fspath(path), limits=_LIMITS)
    headings, rows = [str(name).strip() for name in found["headings"]], found["rows"]
    cells = list(zip(*rows, strict=True)) or [()] * len(headings)
    columns = [column_of(name, column) for name, column in zip(headings, cells, strict=True) if name]
    return table_of(path, columns, len(rows), lines=[found["first"] + k for k in range(len(rows))])


def find_cells(path: str) -> dict[str, Any]:
    """The headings of a sheet, its rows and the number of the first of these: what a child is asked for."""
    with _open_book(path, read_only=True) as book:
        for sheet in book.worksheets:
            rows: list[list[Any]] = []
            cells = 0
            for row in sheet.iter_rows():
                cells += len(row)
                if len(rows) == _MOST_ROWS or len(row) > _MOST_COLUMNS or cells > _MOST_CELLS:
                    told = f"{_MOST_ROWS:,} rows, {_MOST_COLUMNS:,} columns and {_MOST_CELLS:,} cells"
                    raise FileError(f"{path}: has more than a sheet may have here: {told}")
                rows.append([_plain_cell(cell) for cell in row])
            while rows and not any(cell not in (None, "") for cell in rows[-1]):
                rows.pop()
            texts = [sum(isinstance(cell, str) and bool(cell.strip()) for cell in row) for row in rows[:_LOOKED]]
            first = next((k for k, n in enumerate(texts) if n), None)
            at = next((k for k, n in enumerate(texts) if n > 1), first)  # the headings: two texts and more, or one
            if at is not None and len(rows) > at + 1:
                width = max(k + 1 for row in rows for k, cell in enumerate(row) if cell not in (None, ""))
                whole = [[*row, *[None] * width][:width] for row in rows[at:]]
                headings = ["" if name is None else text_of(name) for name in whole[0]]
                return {"headings": headings, "rows": whole[1:], "first": at + 2}
    raise FileError(f"{path}: no sheet of it holds a table (headings, and rows below them)")


def _plain_cell(cell: Any) -> Any:
    """What a cell says, as a person sees it: times as on a clock, dates as text."""
    value = cell.value
    if isinstance(value, (time, timedelta)):
        length = value if isinstance(value, timedelta) else datetime.combine(date.min, value) - datetime.min
        minutes, rest = divmod(round(length.total_seconds()), 60)
        hours, minutes = divmod(minutes, 60)
        if "s" not in str(cell.number_format).lower():  # 3:45 is typed for three minutes, and shown so
            return f"{hours}:{minutes:02d}"
        return f"{hours}:{minutes:02d}:{rest:02d}"
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _openpyxl(purpose: str) -> Any:
    return import_extra("openpyxl", extra="xlsx", purpose=f"{purpose} spreadsheets")


@contextmanager
def _open_book(path: str, *, read_only: bool) -> Iterator[Any]:
    """A workbook, open; one line for what is wrong with it."""
    try:
        with open_file(path) as file:
            if sum(part.file_size for part in ZipFile(file).infolist()) > _MOST_UNPACKED:
                raise FileError(f"{path}: unpacks to more than {_MOST_UNPACKED >> 20} MB")
            with closing(_openpyxl("reading").load_workbook(file, read_only=read_only)) as book:
                yield book
    except (FileError, MemoryError):
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # a broken archive, XML that is none, a part that is missing
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileError(f"{path}: is not a spreadsheet that can be read ({why})") from error


# Writing.


def reorder_sheet(table: SourceTable, order: Sequence[int], extra: Mapping[str, Sequence[Any]]) -> bytes:
    """The workbook that a table came from, its rows in another order, with columns of ours at their end."""
    more = {name: list(values) for name, values in extra.items()}
    try:
        made: bytes = call(fill_book, str(table.path), list(table.lines), list(map(int, order)), more)
    except FileError as error:
        raise FileError(f"{error}; write .csv") from error
    return made


def fill_book(path: str, lines: list[int], order: list[int], extra: dict[str, list[Any]]) -> bytes:
    """The same by the lines that its rows stand in: what a child is asked for, which writes no files."""
    translate = import_extra("openpyxl.formula.translate", extra="xlsx", purpose="writing spreadsheets").Translator
    with _open_book(path, read_only=False) as book:
        sheet = next(one for one in book.worksheets if one.max_row >= lines[-1])
        heads = {text_of(cell.value): cell.column for cell in sheet[lines[0] - 1] if cell.value is not None}
        width = sheet.max_column
        held = {line: [_take(sheet.cell(line, column)) for column in range(1, width + 1)] for line in lines}
        heights = {line: sheet.row_dimensions[line].height for line in lines}
        for place, row in zip(lines, order, strict=False):
            sheet.row_dimensions[place].height = heights[lines[row]]
            for column, taken in enumerate(held[lines[row]], start=1):
                _put(sheet.cell(place, column), taken, translate)
        for name, values in extra.items():
            column = heads.setdefault(name, max(heads.values(), default=0) + 1)
            sheet.cell(lines[0] - 1, column).value = name
            for place, value in zip(lines, values, strict=False):
                sheet.cell(place, column).value = writable_text(value) if isinstance(value, str) else value
        for line in reversed(lines[len(order) :]):
            sheet.delete_rows(line)
        return _pack_book(book)


def _pack_book(book: Any) -> bytes:
    """A workbook as a file; openpyxl's own writer has each sheet on the disk first, where a child may write nothing."""
    excel = import_module("openpyxl.writer.excel")

    class Writer(excel.ExcelWriter):  # type: ignore[misc, name-defined]
        def write_worksheet(self, sheet: Any) -> None:
            sheet._drawing = excel.SpreadsheetDrawing()
            sheet._drawing.charts, sheet._drawing.images = sheet._charts, sheet._images
            writer = excel.WorksheetWriter(sheet, io.BytesIO())
            writer.write()
            sheet._rels = writer._rels
            self._archive.writestr(sheet.path[1:], writer.out.getvalue())
            self.manifest.append(sheet)

    book.properties.modified = datetime.now(UTC).replace(tzinfo=None)
    out = io.BytesIO()
    Writer(book, ZipFile(out, "w", ZIP_DEFLATED)).save()
    return out.getvalue()


def _take(cell: Any) -> tuple[Any, ...]:
    """What a cell holds, to be put elsewhere."""
    return cell.coordinate, cell.value, cell.data_type, copy(cell._style), cell.hyperlink, cell.comment


def _put(cell: Any, taken: tuple[Any, ...], translate: Any) -> None:
    origin, value, kind, style, link, note = taken
    formula = kind == "f" and isinstance(value, str)
    cell.value = translate(value, origin=origin).translate_formula(cell.coordinate) if formula else value
    cell.data_type = kind
    cell._style = style
    cell.hyperlink = copy(link) if link is not None else None
    cell.comment = copy(note) if note is not None else None
    if link is not None:
        cell.hyperlink.ref = cell.coordinate


def sheet_of(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Columns as a new workbook; no text in it is a formula."""
    book = _openpyxl("writing").Workbook()
    sheet = book.active
    for k, (name, values) in enumerate(columns.items(), start=1):
        for line, value in enumerate([name, *values], start=1):
            plain = value if value is None or isinstance(value, (int, float)) else writable_text(text_of(value))
            cell = sheet.cell(line, k, plain)
            if isinstance(plain, str):
                cell.data_type = "s"
    return _pack_book(book)
