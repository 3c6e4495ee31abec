from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from fabula.jobs.job import gather, plan_job
from fabula.jobs.worker import work

HERE = Path(__file__).parent
TASK = "planted_task:Squares"


class Place:
    """A job of squares in a folder, and what tests do with it."""

    def __init__(self, folder, shards=8):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.input = folder / "numbers.txt"
        self.input.write_text(" ".join(str(i if i != 13 else -i) for i in range(40)))
        self.trap = folder / "traps"
        self.trap.mkdir()
        self.shards = shards
        self.address = str(folder / "job")

    def plan(self, **options):
        options = {"trap": str(self.trap), **options}
        return plan_job(self.address, TASK, [str(self.input)], options=options, shards=self.shards)

    def set(self, shard, what):
        (self.trap / str(shard)).write_text(what)

    def begun(self):
        """How often each shard was begun."""
        return Counter(int(name.name.split(".")[0]) for name in (self.folder / "begun").glob("*"))

    def digest(self):
        return gather(self.address, self.folder / "out.parquet")["digest"]

    def start(self, *arguments, **environment):
        """A worker in a process of its own."""
        command = [sys.executable, "-m", "fabula", "job", "work", self.address, *map(str, arguments)]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, env=os.environ | own_path() | environment, **silent)


def own_path():
    """Processes that are started find the task of the tests."""
    return {"PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)])}


@pytest.fixture(autouse=True)
def _task_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))


@pytest.fixture
def place(tmp_path):
    found = Place(tmp_path / "place")
    found.plan()
    return found


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The digest of the same job, done by one worker whom nothing befalls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        calm = Place(tmp_path_factory.mktemp("calm") / "place")
        calm.plan(trap="")
        assert work(calm.address).complete
        return calm.digest()
