"""Small Parquet files that unpack to very much: refused in one line, in little memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fabula.sources.tables import storage


def text_bomb(path: Path, rows: int, size: int = 1 << 20) -> Path:
    """One long text, so many times: Parquet writes it once."""
    content = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * size])
    table = pa.table({"title": content, "energy": pa.array(range(rows), pa.float64())})
    pq.write_table(table, path, compression="zstd", store_schema=False)  # which does not say that it is a dictionary
    return path


def number_bomb(path: Path, times: int = 60) -> Path:
    """Zeros, which are written as how many there are."""
    table = pa.table({"energy": np.zeros(1_000_000)})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(table)
    return path


PROGRAM = """
import resource, sys
from fabula.errors import FileError
from fabula.media import children
from fabula.sources.registry import open_source
try:
    open_source([sys.argv[1]])
except FileError as error:
    print(error)
children._pool.close()
own = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def refused(path: Path) -> str:
    """What is said of it; in little time and memory, of children too."""
    assert path.stat().st_size < 1 << 20
    command = [sys.executable, "-c", PROGRAM, str(path)]
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start < 10
    message, memory = done.stdout.splitlines()
    assert max(map(int, memory.split())) < 800 << 10  # kB
    return message


@pytest.mark.parametrize("rows", [600, *(pytest.param(many, marks=pytest.mark.slow) for many in (2200, 150_000))])
def test_a_long_text_that_is_written_once_for_many_rows(tmp_path, rows):
    path = text_bomb(tmp_path / "a.parquet", rows)
    assert refused(path) in (
        f"{path}: needs more memory to be unpacked than it may take",
        f"{path}: unpacks to {rows} MB and more, and may to 384 MB",
    )


def test_numbers_are_counted_before_they_are_decoded(tmp_path):
    path = number_bomb(tmp_path / "a.parquet")
    assert refused(path) == f"{path}: unpacks to 457 MB and more, and may to 384 MB"


def test_what_is_large_and_honest_is_read(tmp_path, rng):
    numbers = rng.normal(size=400_000)
    names = [f"song {k}" for k in range(400_000)]
    pq.write_table(pa.table({"title": names, "energy": numbers}), tmp_path / "a.parquet", row_group_size=150_000)
    found = storage.read_columns(tmp_path / "a.parquet")
    assert found.count == 400_000
    assert found.columns["energy"].values[399_999] == numbers[-1]
    assert storage._read_parquet(str(tmp_path / "a.parquet"), None).equals(pq.read_table(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": pa.array([], pa.int64())}),
        pa.table({"a": pa.array(["x", None, "y"]).dictionary_encode(), "b": [[1.0], None, [2.0, 3.0]]}),
        pa.table({"a": [{"b": 1, "c": "x"}, None], "d": pa.array([1, 2], pa.timestamp("us", "UTC"))}),
    ],
    ids=["empty", "dictionary and lists", "struct and time"],
)
def test_what_comes_through_a_child_is_what_arrow_reads(tmp_path, table):
    pq.write_table(table, tmp_path / "a.parquet")
    found = storage._read_parquet(str(tmp_path / "a.parquet"), None)
    assert found.schema.equals(pq.read_table(tmp_path / "a.parquet").schema, check_metadata=True)
    assert found.to_pylist() == table.to_pylist()


def test_rows_of_long_texts_are_unpacked_few_at_a_time(tmp_path):
    texts = [f"{k} " * 500_000 for k in range(24)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "long.parquet", compression="none", use_dictionary=False)
    parts = [
        pa.ipc.open_stream(part).read_all() for part in storage.unpack_parquet(str(tmp_path / "long.parquet"), 1 << 30)
    ]
    assert max(part.nbytes for part in parts) <= 10 << 20
    assert [cell for part in parts for cell in part["text"].to_pylist()] == texts
