"""librosa's statistics in FMA's features.csv, regrouped by name and kept for the next reading.

The columns are sorted by (feature, statistic, number): a plain reshape would mix neighbouring coefficients of one
statistic, so every column is found by the names in the three header rows.
"""

from __future__ import annotations

import contextlib
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fabula.core.files.writing import write_whole
from fabula.errors import FileError
from fabula.media.music.librosa_features import SIZES, STATISTICS
from fabula.sources.fma.archive import open_table, table_name, table_stamp
from fabula.sources.fma.numbers import parse_regular
from fabula.sources.fma.tables import LARGEST, FeatureTable, columns_of, number_of, whole_of

_NUMBERED = tuple((feature, f"{i:02d}") for feature, size in SIZES.items() for i in range(1, size + 1))
LIBROSA = tuple(f"{feature}_{number}" for feature, number in _NUMBERED)  # 74 names

_BLOCK = 1 << 22  # bytes of features.csv in hand
_LINE = 1 << 20  # no line of it is longer
_KEPT = "fma_features"  # .npy and .json, beside the table they were read from
_VERSION = 1


def read_librosa(source: Path) -> FeatureTable:
    """Librosa's statistics (m, 74, 7) as float32, statistics in the paper's order.

    The first reading is kept beside the table, and used as long as the table is the same.
    """
    folder = source if source.is_dir() else source.parent
    label = {
        "format": "fabula-fma-features",
        "version": _VERSION,
        "features": list(LIBROSA),
        "statistics": list(STATISTICS),
        "table": table_stamp(source, "features.csv"),
    }
    kept = _kept(folder, label)
    if kept is None:
        kept = _parse_librosa(source)
        with contextlib.suppress(FileError, OSError):  # a folder that cannot be written to is read anew each time
            _keep(folder, kept, label)
    return kept


def _parse_librosa(source: Path) -> FeatureTable:
    where = table_name(source, "features.csv")
    wanted = [(feature, statistic, number) for feature, number in _NUMBERED for statistic in STATISTICS]
    parts = [(np.empty(0, dtype=np.int64), np.empty((0, len(wanted)), dtype=np.float32))]
    with open_table(source, "features.csv") as file:
        header = [file.readline(_LINE).decode("utf-8", "replace").rstrip("\r\n").split(",") for _ in range(3)]
        columns = columns_of(header, wanted, where)
        for line, block in _blocks(file, where):
            numbers = _parse_block(block, len(header[0]), f"{where}, line ", line)
            with np.errstate(over="ignore"):  # what float32 cannot hold counts as missing
                values = numbers.take(columns, axis=1).astype(np.float32)
            parts.append((numbers[:, 0].astype(np.int64), values))
    ids, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return FeatureTable.checked(ids, values.reshape(len(ids), len(LIBROSA), len(STATISTICS)), where)


def _blocks(file: BinaryIO, where: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines, many at a time, with the number of the first; the line that names the index is left out."""
    rest, line = file.readline(_LINE), 4
    if rest.startswith(b"track_id"):
        rest, line = b"", 5
    while data := file.read(_BLOCK):
        end = data.rfind(b"\n") + 1
        if end:
            block = rest + data[:end]
            if not block.isspace():
                yield line, block
            line += block.count(b"\n")
            rest = b""
        rest += data[end:]
        if len(rest) > _LINE:
            raise FileError(f"{where}: has a line of more than {_LINE:,} characters; this is not the table")
    if rest.strip():
        yield line, rest


def _parse_block(block: bytes, width: int, at: str, line: int) -> NDArray[np.float64]:
    """Numbers (rows, width); NaN where a cell is empty."""
    quick = parse_regular(block, width)
    if quick is not None:
        return quick
    text = block.decode("ascii", "replace").replace("\r\n", "\n")
    for gap, filled in ((",,", ",nan,"), (",,", ",nan,"), (",\n", ",nan\n")):
        text = text.replace(gap, filled)
    if text.endswith(","):
        text += "nan"
    try:
        numbers = np.loadtxt(io.StringIO(text), delimiter=",", comments=None, ndmin=2)
        whole = np.array_equal(numbers[:, 0], np.floor(numbers[:, 0])) and np.abs(numbers[:, 0]).max() < LARGEST
        if numbers.shape[1] == width and whole:
            return numbers
    except ValueError:
        pass
    for number, row in enumerate(text.split("\n"), start=line):
        cells = row.split(",") if row else []
        if cells and len(cells) != width:
            raise FileError(f"{at}{number}: must have {width} cells; got {len(cells)}")
        for column, cell in enumerate(cells):
            number_of(cell, f"{at}{number}") if column else whole_of(cell, f"{at}{number}")
    raise FileError(f"{at}{line} and after: cannot be read as numbers")


def _kept(folder: Path, label: dict[str, Any]) -> FeatureTable | None:
    """What was kept of the same table, unless it is broken."""
    try:
        said = json.loads((folder / f"{_KEPT}.json").read_text(encoding="utf-8"))
        ids = np.array(said.pop("ids"), dtype=np.int64)
        check = said.pop("crc32")
        if said != label:
            return None
        values = np.load(folder / f"{_KEPT}.npy", mmap_mode="r", allow_pickle=False)
        whole = values.shape == (len(ids), len(LIBROSA), len(STATISTICS)) and values.dtype == np.float32
        return FeatureTable(ids, values) if whole and zlib.crc32(values) == check else None
    except (OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, BufferError):
        return None


def _keep(folder: Path, table: FeatureTable, label: dict[str, Any]) -> None:
    """Write the numbers, then what they are: without the second the first is not looked at."""
    (folder / f"{_KEPT}.json").unlink(missing_ok=True)
    buffer = io.BytesIO()
    np.save(buffer, table.values, allow_pickle=False)
    write_whole(folder / f"{_KEPT}.npy", buffer.getvalue())
    said = {**label, "crc32": zlib.crc32(table.values.tobytes()), "ids": table.ids.tolist()}
    write_whole(folder / f"{_KEPT}.json", json.dumps(said))
