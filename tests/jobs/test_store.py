from __future__ import annotations

import errno
import os
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from fabula.core.files import make_part
from fabula.errors import FileError, MissingExtraError
from fabula.jobs.store import FolderStore, open_store


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    if request.param == "memory":
        pytest.importorskip("fsspec")
        return open_store(f"memory://{uuid.uuid4().hex}/job")
    return open_store(tmp_path / "job")


def test_the_five_operations(store):
    assert store.read("a/x") is None
    assert store.list("a") == []
    store.write("a/x", b"1")
    store.write("a/x", b"2")
    assert store.create("a/y", b"3")
    assert not store.create("a/y", b"4")
    assert (store.read("a/x"), store.read("a/y")) == (b"2", b"3")
    assert store.list("a") == ["x", "y"]
    store.delete("a/x")
    store.delete("a/x")
    assert store.list("a") == ["y"]


def race(store, name, racers=4):
    """How many of some who create the same name at once succeed."""
    ready = threading.Barrier(racers)

    def run(number):
        ready.wait()
        return store.create(name, f"racer {number}".encode())

    with ThreadPoolExecutor(racers) as pool:
        return sum(pool.map(run, range(racers)))


@pytest.mark.slow
def test_one_winner_of_every_race_in_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("fabula.jobs.store.os.fsync", lambda _: None)  # the race is for the name
    store = open_store(tmp_path)
    assert [race(store, f"claims/{i}") for i in range(200)] == [1] * 200


def test_where_links_are_not_known_one_wins_as_well(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr("fabula.jobs.store.os.link", refuse)
    store = open_store(tmp_path)
    assert [race(store, f"claims/{i}") for i in range(20)] == [1] * 20


def test_what_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    store = FolderStore(tmp_path)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("fabula.jobs.store.os.fsync", full)
    for action in (store.write, store.create):
        with pytest.raises(FileError, match=r"cannot be written .No space left on device"):
            action("parts/x", b"data")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_address_without_its_library_is_told_in_one_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fabula\[remote\]'"):
        open_store("s3://bucket/job")


def test_an_address_of_no_kind_is_told():
    pytest.importorskip("fsspec")
    with pytest.raises(FileError, match="no such kind of address"):
        open_store("nowhere://x")


def test_what_killed_workers_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    aside = tmp_path / "temporary"
    aside.mkdir()
    for k in range(20):
        (aside / f"left {k}").write_bytes(b"half")
    handle, held = make_part("", aside)
    store = FolderStore(tmp_path)
    store.write("parts/x", b"data")
    assert list(aside.iterdir()) == [held]
    assert store.read("parts/x") == b"data"
    os.close(handle)
    FolderStore(tmp_path).create("parts/y", b"data")
    assert list(aside.iterdir()) == []
    mask = os.umask(0o022)
    os.umask(mask)
    assert (tmp_path / "parts" / "y").stat().st_mode & 0o777 == 0o666 & ~mask  # others who work on it can read it
