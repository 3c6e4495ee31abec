"""Readers that do what a broken one could: the tests of children call them there."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.core.files import open_file
from fabula.errors import FileError, InputError
from fabula.media import children


def tell_process(path: str) -> int:
    return os.getpid()


def size_of(path: str) -> int:
    with open_file(path) as file:
        return len(file.read())


def size_or_death(path: str) -> int:
    if path.endswith("die.txt"):
        die(path)
    return size_of(path)


def give_all(path: str) -> Any:
    items = (Item("a", "Ä \udcff", path, "B", {"rating": 3, "x": "y"}, 2.5), Item("b"))
    collection = Collection("c", items, np.array([[1.0, np.nan], [2.0, 3.0]]), ("p", "q"), title="T")
    return {"c": collection, "b": b"\0\1", "n": None, "t": (1, [2.5, "x"]), "a": np.zeros((0, 3), np.uint8)}


def give_function(path: str) -> Any:
    return give_function


def count_slowly(path: str, count: int) -> Iterator[int]:
    for k in range(count):
        if k == 3:
            Path(path).touch()
            time.sleep(60)
        yield k


def spin(path: str) -> int:
    return len(str(pow(3, 40_000_000)))  # in C, which nothing but a signal of the system interrupts


def eat(path: str) -> int:
    return len(bytearray(2 << 30))


def die(path: str) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave(path: str) -> None:
    os._exit(7)


def start_program(path: str) -> Iterator[int]:
    process = subprocess.Popen(["sleep", "300"])
    yield process.pid
    process.wait()


def refuse(path: str, kind: str) -> None:
    raise {"file": FileError, "input": InputError, "key": KeyError}[kind]("x: one line")


def write(path: str) -> None:
    Path(path).write_bytes(b"x" * 10_000)


def reserve_by_arrow(path: str) -> int:
    """Bytes of address space that Arrow and threads take, beyond what there was before."""
    before = children._address_space()
    import pyarrow as pa
    from pyarrow import compute

    table = pa.table({"x": range(100_000)})
    compute.sort_indices(table, sort_keys=[("x", "descending")])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: bytes(100), range(64)))
    return children._address_space() - before
