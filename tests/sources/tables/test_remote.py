"""Tables at an address."""

from __future__ import annotations

import builtins
import importlib
from pathlib import Path

import pytest

from fabula.errors import FabulaError, FileError, InputError
from fabula.sources.registry import open_source
from fabula.sources.tables.read_table import read_table
from fabula.sources.tables.storage import address_of

fsspec = pytest.importorskip("fsspec")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
CSV = b"album,track,title,energy\nA,2,Close,0.9\nA,1,Open,0.2\n"


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    yield files
    for path in files.find("/songs"):
        files.rm(path)


def test_a_file_at_an_address(memory):
    memory.pipe("/songs/a.csv", CSV)
    table = pa.table({"title": ["b", "a"], "position": [2, 1], "energy": [1.0, 2.0]})
    with memory.open("/songs/a.parquet", "wb") as file:
        pq.write_table(table, file)
    for name, titles in {"a.csv": ["Open", "Close"], "a.parquet": ["a", "b"]}.items():
        for path in (f"memory://songs/{name}", Path(f"memory://songs/{name}")):
            (c,) = read_table(path)
            assert [item.title for item in c.items] == titles
    assert open_source(["memory://songs/a.csv"]).collection.column("energy").tolist() == [0.2, 0.9]


def test_a_folder_of_parquet_files_at_an_address(memory):
    for number in range(3):
        with memory.open(f"/songs/parts/{number}.parquet", "wb") as file:
            pq.write_table(pa.table({"collection_id": [number, number], "energy": [1.0, number]}), file)
    memory.pipe("/songs/parts/_SUCCESS", b"")
    assert read_table("memory://songs/parts").ids.tolist() == ["0", "1", "2"]


def test_what_cannot_be_read_is_one_line(memory):
    memory.pipe("/songs/broken.parquet", b"none")
    memory.pipe("/songs/odd.xls", b"none")
    for address, kind, line in [
        ("memory://songs/absent.csv", FileError, "memory://songs/absent.csv: does not exist"),
        ("memory://songs/broken.parquet", FileError, "memory://songs/broken.parquet: is not a Parquet file that"),
        ("memory://songs/odd.xls", InputError, "memory://songs/odd.xls: a table must end in one of"),
        ("nowhere://songs/a.csv", FileError, "nowhere://songs/a.csv: cannot be read (Protocol not known: nowhere"),
    ]:
        with pytest.raises(kind) as error:
            read_table(address)
        assert str(error.value).startswith(line)
        assert "\n" not in str(error.value)


def test_without_fsspec_the_extra_is_named(monkeypatch):
    load = importlib.import_module

    def absent(name, package=None):
        if name == "fsspec":
            raise ImportError(name)
        return load(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(FabulaError, match=r"reading from an address.*pip install.*remote"):
        read_table("s3://bucket/songs.parquet")


def test_what_is_no_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert address_of("songs.csv") is None
    assert address_of(r"C:\songs.csv") is None
    assert address_of("http:/songs.csv") is None
    Path("http:").mkdir()
    Path("http:/songs.csv").touch()
    assert address_of(Path("http:/songs.csv")) is None


def test_nothing_is_opened_for_a_path_of_this_machine(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(CSV)
    kept = builtins.__import__
    monkeypatch.setattr(
        builtins, "__import__", lambda name, *more: pytest.fail(name) if name == "fsspec" else kept(name, *more)
    )
    assert len(read_table(path)) == 1
