"""Dask does the same shards; what its scheduler takes with it is done again by the next command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed")

from fabula.errors import FabulaError
from fabula.jobs.worker import work, work_on_cluster

from .conftest import own_path

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

CLUSTER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50)
    print(cluster.scheduler_address, flush=True)
    time.sleep(300)
"""


def started(*command):
    return subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | own_path() | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and one worker, each a process of its own: (scheduler, worker, address)."""
    script = tmp_path / "scheduler.py"
    script.write_text(CLUSTER)
    scheduler = started(script)
    address = scheduler.stdout.readline().strip()
    worker = started("-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    yield scheduler, worker, address
    for process in (scheduler, worker):
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_cluster_does_the_shards_and_tells_its_dashboard(place, undisturbed, cluster):
    told = []
    done = work_on_cluster(place.address, cluster[2], tell=told.append)
    assert done.complete
    assert sorted(done.done) == [f"000-{i:05d}" for i in range(8)]
    assert place.digest() == undisturbed
    assert re.match(r"dashboard: http://.*/status", told[0])


def test_kill_9_of_the_scheduler(place, undisturbed, cluster, monkeypatch):
    scheduler, _, address = cluster
    place.set(3, "wait 1.5")

    def report(done, total, note):
        if done >= 3 and scheduler.poll() is None:
            os.kill(scheduler.pid, signal.SIGKILL)

    monkeypatch.setattr("fabula.jobs.worker._ANSWER", "1s")
    with pytest.raises(FabulaError, match="the Dask scheduler is lost; what is done is kept"):
        work_on_cluster(place.address, address, report=report)
    time.sleep(0.1)
    assert work(place.address, expiry=1.0).complete
    assert place.digest() == undisturbed
    assert max(place.begun().values()) <= 2
    assert list(place.begun().values()).count(2) <= 1


def test_nobody_there_is_told(place, monkeypatch):
    monkeypatch.setattr("fabula.jobs.worker._ANSWER", "1s")
    with pytest.raises(FabulaError, match="no Dask scheduler answers there"):
        work_on_cluster(place.address, "tcp://127.0.0.1:1")


def test_of_a_scheduler_that_is_lost_nothing_is_printed_but_one_line(place, cluster):
    scheduler, _, address = cluster
    place.set(3, "wait 1.5")
    command = [sys.executable, "-m", "fabula", "job", "work", place.address, "--dask", address]
    patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    client = subprocess.Popen(command, env=os.environ | own_path() | patience, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while place.begun()[3] < 1 and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(scheduler.pid, signal.SIGKILL)
    told = client.communicate(timeout=50)[1].splitlines()
    told = [line for line in told if not line.startswith("working: ")]  # of a busy machine that takes its time
    assert client.returncode == 2
    assert told[0].startswith("dashboard: ")
    assert told[1:] == [f"fabula: {address}: the Dask scheduler is lost; what is done is kept: give the command again"]
