from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.errors import InputError
from fabula.media.extraction import (
    Database,
    cache_file,
    cache_folder,
    cache_info,
    clear_cache,
    content_key,
    count_bytes,
    database,
    keep,
    most_bytes,
    recall,
    shrink,
)
from fabula.media.medium import Spec

SPEC = Spec("audio", 1, ("duration_ms", "loudness"), lambda path, stop: np.zeros(2), (2,))
KEY = "ab" * 32
ROW = np.linspace(-12.25, 1234.5, len(SPEC.feature_names))


def _spoil(statement: str, *values: object) -> None:
    with closing(sqlite3.connect(cache_file())) as cache, cache:
        cache.execute(statement, values)


def test_what_is_kept_is_recalled() -> None:
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    np.testing.assert_array_equal(recall(KEY, SPEC), ROW)
    assert keep(KEY, SPEC, 2 * ROW)
    np.testing.assert_array_equal(recall(KEY, SPEC), 2 * ROW)
    assert recall("cd" * 32, SPEC) is None
    assert recall(KEY, Spec("audio", 2, SPEC.feature_names, SPEC.measure, (2,))) is None


def test_arrays_and_what_is_not_known_come_back_as_they_were() -> None:
    spec = Spec("fma", 1, ("a", "b"), SPEC.measure, (2, 3))
    row = np.array([[1.0, np.nan, 3], [4, 5, 1e-300]])
    assert keep(KEY, spec, row)
    np.testing.assert_array_equal(recall(KEY, spec), row)


@pytest.mark.parametrize("numbers", [b"", b"\0" * 8, b"\0" * 24, np.array([1.0, np.inf]).tobytes(), "text", 3, None])
def test_a_broken_entry_is_none_and_is_kept_anew(numbers: object) -> None:
    assert keep(KEY, SPEC, ROW)
    if numbers is None:
        _spoil("DELETE FROM features")
    else:
        _spoil("UPDATE features SET numbers = ?", numbers)
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    np.testing.assert_array_equal(recall(KEY, SPEC), ROW)


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_database_is_made_anew(content: bytes) -> None:
    cache_file().parent.mkdir(parents=True, exist_ok=True)
    cache_file().write_bytes(content)
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    np.testing.assert_array_equal(recall(KEY, SPEC), ROW)


def test_a_database_that_breaks_while_it_is_open_is_made_anew() -> None:
    assert keep(KEY, SPEC, ROW)
    _spoil("DROP TABLE features")
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    assert recall(KEY, SPEC) is not None


def test_a_database_that_is_removed_while_it_is_open_is_made_anew() -> None:
    assert keep(KEY, SPEC, ROW)
    for end in ("", "-wal", "-shm"):
        cache_file().with_name(cache_file().name + end).unlink(missing_ok=True)
    assert recall(KEY, SPEC) is None
    assert keep(KEY, SPEC, ROW)
    assert cache_file().exists()


def test_clearing_takes_what_early_versions_kept_one_file_each() -> None:
    old = cache_folder() / "features" / "audio-1" / KEY[:2] / f"{KEY[2:]}.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    assert recall(KEY, SPEC) is None
    clear_cache("audio")
    assert old.exists()
    clear_cache()
    assert not (cache_folder() / "features").exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "file"))
    assert not keep(KEY, SPEC, ROW)
    assert recall(KEY, SPEC) is None
    assert (cache_info().entries, clear_cache()) == ((), 0)


_WRITER = """
import sys
import numpy as np
from fabula.media.extraction import keep, recall
from fabula.media.medium import Spec
spec = Spec("audio", 1, ("a", "b"), None, (2,))
for number in range(150):
    key = f"{number:064x}"
    assert keep(key, spec, np.array([number, 1.0])), number
    assert recall(key, spec)[0] == number
"""


@pytest.mark.slow
def test_processes_write_at_once() -> None:
    """Three processes keep the same entries while this one reads: none fails, none is lost."""
    command = [sys.executable, "-c", _WRITER]
    running = [subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.PIPE) for _ in range(3)]
    keep(KEY, SPEC, ROW)
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0, 0], ended
    assert cache_info().entries == (("audio", 1, 151),)
    np.testing.assert_array_equal(recall(f"{149:064x}", SPEC), [149, 1])


def test_threads_write_at_once() -> None:
    def write(start: int) -> None:
        for number in range(start, start + 40):
            assert any(keep(f"{number:064x}", SPEC, ROW) for _ in range(5))  # a stalled disk may refuse one

    threads = [threading.Thread(target=write, args=(40 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache_info().entries == (("audio", 1, 160),)


def test_beyond_its_limit_what_was_used_least_lately_goes() -> None:
    spec, row = Spec("audio", 1, ("a",), SPEC.measure, (250,)), np.zeros(250)
    for number in range(200):
        assert keep(f"{number:04d}".encode().hex(), spec, row)
    _spoil("UPDATE features SET used = CAST(CAST(key AS TEXT) AS INTEGER)")  # the first were used longest ago
    shrink(100 * 2000)
    with closing(sqlite3.connect(cache_file())) as cache:
        kept = [int(key) for (key,) in cache.execute("SELECT key FROM features ORDER BY key")]
    assert kept == list(range(200 - len(kept), 200))
    assert 20 <= len(kept) <= 100
    assert count_bytes() <= 100 * 2000
    shrink(100 * 2000)
    assert cache_info().entries == (("audio", 1, len(kept)),)


def test_the_limit_is_read_and_a_wrong_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, wanted in (("", 4 * 2**30), ("500", 500), ("3k", 3072), ("500M", 500 * 2**20), ("2 G", 2 * 2**30)):
        monkeypatch.setenv("FABULA_CACHE_LIMIT", text)
        assert most_bytes() == wanted
    for text in ("much", "-3", "0", "M"):
        monkeypatch.setenv("FABULA_CACHE_LIMIT", text)
        with pytest.raises(InputError, match="FABULA_CACHE_LIMIT must be a number of bytes"):
            most_bytes()


def test_the_command_tells_and_forgets() -> None:
    keep(KEY, SPEC, ROW)
    keep(KEY, Spec("text", 3, ("a",), SPEC.measure, (1,)), ROW[:1])
    run = CliRunner().invoke
    told = run(cli, ["cache", "info"])
    assert "audio, version 1: 1 files" in told.output
    assert json.loads(run(cli, ["cache", "info", "--json"]).output)["entries"] == [
        {"spec": "audio", "version": 1, "files": 1},
        {"spec": "text", "version": 3, "files": 1},
    ]
    assert run(cli, ["cache", "clear", "--spec", "audio"]).output == "forgotten: 1 files\n"
    assert (recall(KEY, SPEC), cache_info().entries) == (None, (("text", 3, 1),))
    assert run(cli, ["cache", "clear"]).output == "forgotten: 1 files\n"


def test_a_process_that_was_forked_opens_its_own() -> None:
    assert keep(KEY, SPEC, ROW)
    first = database()
    assert database() is first
    read, write = os.pipe()
    child = os.fork() if hasattr(os, "fork") else pytest.skip("no fork here")
    if child == 0:
        os.write(write, b"1" if database() is not first else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"1"


def test_no_place_for_a_database(tmp_path: Path) -> None:
    assert Database(tmp_path).run("SELECT 1") is None


def test_the_key_is_the_content(sound: Callable[..., Path]) -> None:
    first, other = sound("a.wav"), sound("b.wav", level=-21)
    key = content_key(first)
    assert key == content_key(first.rename(first.with_name("moved.wav")))
    assert key != content_key(other)
    assert content_key(first.parent) is None
    assert content_key("missing") is None
    assert content_key("a\0b") is None


def test_without_the_variable_the_platform_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FABULA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name.lower() in {"fabula", "cache"}
