"""Two downloads into one folder: the second stops, and neither loses anything."""

from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
import threading

import pytest

from fabula.core import files as locks
from fabula.errors import FileError
from fabula.sources.fma import archive as fma_download
from fabula.sources.fma.archive import _alone, fetch_fma

TAKEN = r"fma_metadata.zip.part: another download is writing it; wait until that one ends, or fetch into another"
HOLD = """
import sys
from pathlib import Path
from fabula.sources.fma.archive import _alone
with _alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def archive(usual, tmp_path, monkeypatch):
    """An archive that comes in pieces of 500 bytes, without a server."""
    data = usual.zipped()
    monkeypatch.setattr(fma_download, "_BLOCK", 500)
    monkeypatch.setattr(fma_download.urllib.request, "urlopen", lambda request, timeout: Response(data, request))
    return data


class Response:
    def __init__(self, data, request):
        start = int((request.get_header("Range") or "bytes=0-")[6:-1])
        self.rest, self.status = data[start:], 206 if start else 200
        self.headers = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}

    def read(self, size):
        block, self.rest = self.rest[:size], self.rest[size:]
        return block

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


def fetch(folder, data, **more):
    return fetch_fma(folder, url="http://127.0.0.1/x", sha1=hashlib.sha1(data).hexdigest(), **more)


def test_a_second_download_stops_and_the_first_loses_nothing(archive, tmp_path):
    refused = []

    def second(done, total):
        if len(refused) < 3:
            with pytest.raises(FileError, match=TAKEN) as error:
                fetch(tmp_path, archive)
            refused.append(str(error.value))

    assert fetch(tmp_path, archive, progress=second).read_bytes() == archive
    assert len(refused) == 3
    assert "\n" not in refused[0]
    assert [path.name for path in tmp_path.iterdir()] == ["fma_metadata.zip"]
    assert fetch(tmp_path, archive).read_bytes() == archive


def test_many_at_once_bring_one_whole_archive(archive, tmp_path):
    begin, ends = threading.Barrier(8), []

    def one():
        begin.wait()
        try:
            ends.append(fetch(tmp_path, archive).read_bytes() == archive)
        except FileError as error:
            ends.append(str(error))

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert True in ends
    assert all(end is True or "another download is writing it" in end for end in ends), ends
    assert [path.name for path in tmp_path.iterdir()] == ["fma_metadata.zip"]


def test_what_fails_lets_go_of_the_lock(archive, tmp_path):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(tmp_path, archive, progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["fma_metadata.zip.part"]
    assert (tmp_path / "fma_metadata.zip.part").read_bytes() == archive[:500]
    assert fetch(tmp_path, archive).read_bytes() == archive


@pytest.mark.slow
def test_a_process_that_crashes_leaves_nothing_in_the_way(archive, tmp_path):
    part = tmp_path / "fma_metadata.zip.part"
    part.write_bytes(archive[:700])
    command = [sys.executable, "-c", HOLD, str(part)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"held"
        with pytest.raises(FileError, match=TAKEN):
            fetch(tmp_path, archive)
        assert part.read_bytes() == archive[:700]
        other.kill()
        other.wait(timeout=60)
    assert (tmp_path / "fma_metadata.zip.part.lock").exists()  # a crash tidies nothing up
    assert fetch(tmp_path, archive).read_bytes() == archive
    assert [path.name for path in tmp_path.iterdir()] == ["fma_metadata.zip"]


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    part, plain, tries = tmp_path / "x.part", locks._lock, []

    def lock(file):
        if not tries:
            (tmp_path / "x.part.lock").unlink()  # the one who held it has ended
        tries.append(file)
        plain(file)

    monkeypatch.setattr(locks, "_lock", lock)
    with _alone(part):
        assert len(tries) == 2
        with pytest.raises(FileError, match="another download"), _alone(part):
            pass


def test_without_locks_a_download_still_works(archive, tmp_path, monkeypatch):
    def none(file):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "_lock", none)
    assert fetch(tmp_path, archive).read_bytes() == archive
    assert [path.name for path in tmp_path.iterdir()] == ["fma_metadata.zip"]


def test_a_lock_that_cannot_be_written_is_one_line(archive, tmp_path):
    (tmp_path / "fma_metadata.zip.part.lock").mkdir()
    with pytest.raises(FileError, match=r"fma_metadata.zip.part: cannot be written \("):
        fetch(tmp_path, archive)
