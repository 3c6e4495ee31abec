from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from fabula.core.files import write_whole
from fabula.errors import FileError


def test_text_and_bytes(tmp_path):
    assert write_whole(tmp_path / "ä b.txt", "é\r\n").read_bytes() == "é\r\n".encode()
    assert write_whole(tmp_path / "ä b.txt", b"\xff").read_bytes() == b"\xff"
    assert [p.name for p in tmp_path.iterdir()] == ["ä b.txt"]


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(FileError, match=r"x: cannot be written \(No space left on device\)"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(FileError, match="is a folder; give the name of a file"):
        write_whole(tmp_path, "x")
    with pytest.raises(FileError, match="does not exist"):
        write_whole(tmp_path / "no" / "x", "x")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_killed_while_writing_the_old_file_is_whole(tmp_path, stop):
    """A writer killed at any moment leaves the old content or the new, never a part."""
    path = tmp_path / "out.m3u8"
    old, size = b"old" * 1000, 3_000_000
    script = (
        "import sys; from fabula.core.files import write_whole\n"
        f"for i in range(10**6): print(i, flush=True); write_whole(sys.argv[1], bytes([65 + i % 26]) * {size})"
    )
    for writes in (1, 2, 4):
        path.write_bytes(old)
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        for _ in range(writes):  # it is told just before each write
            process.stdout.readline()
        process.send_signal(stop)
        process.wait(timeout=60)
        process.stdout.close()
        content = path.read_bytes()
        assert content == old or (len(content) == size and len(set(content)) == 1)
        if stop == signal.SIGINT:
            assert [p.name for p in tmp_path.iterdir()] == ["out.m3u8"]


def test_what_a_killed_writer_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    path = tmp_path / "run.checkpoint"
    script = (
        "import sys; from fabula.core.files import whole_file\n"
        "with whole_file(sys.argv[1]) as file: file.write(b'half'); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(path)]
    killed, alive = (subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2))
    for process in (killed, alive):
        assert process.stdout is not None
        process.stdout.readline()
    killed.kill()
    killed.wait(timeout=60)
    other = tmp_path / ".run.checkpoint.of somebody else.part"
    other.write_text("not ours")
    write_whole(path, "whole")
    assert len([p for p in tmp_path.glob(".run.checkpoint.*.part") if p != other]) == 1  # that of the one who writes
    assert other.exists()
    alive.communicate(timeout=60)
    assert path.read_text() == "half"
    assert sorted(p.name for p in tmp_path.iterdir()) == [other.name, "run.checkpoint"]
    for process in (killed, alive):
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
