"""What attackers have at hand: raw sockets, and a server that runs as a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

COMMAND = "from fabula.cli.serve import command; command.main({!r}, standalone_mode=False)"


@dataclass
class Running:
    """A server that runs as a process."""

    process: subprocess.Popen[str]
    address: str
    token: str | None
    said: list[str]

    def client(self) -> httpx.Client:
        """As that of a server in this process."""
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        alone = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(base_url=self.address, headers=headers, timeout=60, limits=alone)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start `fabula serve`; whatever happens it ends."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, temporary: Path | None = None, seconds: float = 60) -> Running:
            kept = temporary or tmp_path
            environment = {**os.environ, "TMPDIR": str(kept), "PYTHONUNBUFFERED": "1"}
            code = COMMAND.format(["--port", "0", "--no-browser", *arguments])
            process = subprocess.Popen(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
            )
            late = threading.Timer(seconds, process.kill)
            late.start()
            stack.callback(process.communicate)
            stack.callback(process.kill)
            stack.callback(late.cancel)
            said: list[str] = []
            while not said or "the page is at" not in said[-1]:
                line = process.stdout.readline() if process.stdout else ""
                assert line, "it did not start"
                said.append(line)
            found = re.search(r"(http://127\.0\.0\.1:\d+/)(?:\?token=(\S+))?", said[-1])
            assert found
            running = Running(process, found[1], found[2], said)
            for _ in range(400):
                with contextlib.suppress(httpx.TransportError):
                    httpx.get(running.address, timeout=5)
                    break
            return running

        yield start
