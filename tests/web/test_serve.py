"""The command that opens the page."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import click
import httpx
import pytest

from fabula.cli.serve import command
from fabula.errors import FileError, InputError, MissingExtraError


def call(*arguments: str) -> None:
    command.main(list(arguments), standalone_mode=False)


def test_a_port_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"port {port} cannot be used .*; choose another with --port"):
            call("--port", str(port), "--no-browser")


def test_a_root_that_is_no_folder_is_told(tmp_path):
    with pytest.raises(FileError, match="nosuch: does not exist"):
        call(str(tmp_path / "nosuch"), "--no-browser")
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="file: is not a folder"):
        call(str(tmp_path / "file"), "--no-browser")


def test_a_missing_extra_is_told(monkeypatch):
    def without(module, *arguments, **options):
        if module.partition(".")[0] == "fastapi":
            raise ImportError(module)
        return plain(module, *arguments, **options)

    import importlib

    plain = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=re.escape("the page needs fastapi")) as caught:
        call("--no-browser")
    assert "pip install 'fabula[web]'" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_help_shows_an_example():
    with click.Context(command) as context:
        assert "fabula serve ~/Music" in command.get_help(context)


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [False, True], ids=["", "ignored by the parent"])  # as in a background shell
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_ended_and_leaves_nothing(tmp_path, ending, ignored):
    code = "from fabula.cli.serve import command; command.main(['--port', '0', '--no-browser'], standalone_mode=False)"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    first = "import signal; signal.signal(signal.SIGINT, signal.{}); ".format(
        "SIG_IGN" if ignored else "default_int_handler"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", first + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    )
    late = threading.Timer(110, started.kill)  # whatever happens, the test ends
    late.start()
    with started as process, contextlib.ExitStack() as stack:
        stack.callback(late.cancel)
        assert process.stdout is not None
        assert process.stderr is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline()).group()
        for _ in range(200):
            try:
                page = httpx.get(address, timeout=5)
                break
            except httpx.ConnectError:
                time.sleep(0.05)  # it says where it will be before it is there
        assert "fabula" in page.text
        assert any(Path(tmp_path).iterdir())
        process.send_signal(ending)
        out, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode in (0, -ending)
    if ending == signal.SIGINT:
        assert (process.returncode, out.strip()) == (0, "the page is closed")
    assert list(Path(tmp_path).iterdir()) == []
