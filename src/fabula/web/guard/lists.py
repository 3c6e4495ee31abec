"""How large a list may be that the page opens: counted before it is read, which takes a hundred times its size."""

from __future__ import annotations

import re
from pathlib import Path

from fabula.errors import FabulaError, FileError, import_extra, shown

MOST_BYTES = 32 << 20
MOST_ROWS, MOST_CELLS = 200_000, 4_000_000

_ROW = re.compile(rb"[\n\r{]")
_CELL = re.compile(rb"[,;\t:]")
_BLOCK = 1 << 20


def check_list(path: Path) -> None:
    """Refuse a table or a playlist that is too large for a page.

    Raises
    ------
    FileError
        In one line, with the limit.
    """
    if not path.is_file():
        return
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise _too_large(path, f"it has {size:,} bytes", f"{MOST_BYTES:,} bytes")
    rows, cells = _packed(path) if path.suffix.lower() == ".parquet" else _counted(path)
    if rows > MOST_ROWS:
        raise _too_large(path, f"it has more than {MOST_ROWS:,} rows", f"{MOST_ROWS:,} rows")
    if cells > MOST_CELLS:
        raise _too_large(path, f"it has more than {MOST_CELLS:,} cells", f"{MOST_CELLS:,} cells")


def _too_large(path: Path, has: str, may: str) -> FileError:
    return FileError(f"{shown(path)}: is too large for the page: {has}, and may have {may} (`fabula order` takes it)")


def _counted(path: Path) -> tuple[int, int]:
    """About how many rows and cells a text has: ends of lines or objects, and separators."""
    rows = cells = 0
    with path.open("rb") as file:
        while (block := file.read(_BLOCK)) and rows <= MOST_ROWS and cells <= MOST_CELLS:
            rows += len(_ROW.findall(block.replace(b"\r\n", b"\n")))
            cells += len(_CELL.findall(block))
    return rows, cells


def _packed(path: Path) -> tuple[int, int]:
    """Rows and cells as a Parquet file says them; what it says of a broken one is for its reader to tell."""
    try:
        parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading Parquet tables")
        told = parquet.ParquetFile(path).metadata
        unpacked = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
    except FabulaError:
        raise
    except Exception:
        return 0, 0
    if unpacked > 8 * MOST_BYTES:
        raise _too_large(path, f"it unpacks to {unpacked:,} bytes", f"{8 * MOST_BYTES:,} bytes")
    return int(told.num_rows), int(told.num_rows) * int(told.num_columns)
