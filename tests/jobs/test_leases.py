from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fabula.jobs.store import open_store
from fabula.jobs.worker import FOLDER, Lease, Owner, claims


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path)


def plant(store, name, **changes):
    about = {"host": "elsewhere", "pid": 1, "token": "x", "begun": 0.0, "beat": time.time(), "expiry": 60.0}
    store.write(f"{FOLDER}/{name}", json.dumps(about | changes).encode())


def test_a_shard_has_one_owner_until_it_is_released(store):
    first, second = Lease(store, "000-00001", Owner()), Lease(store, "000-00001", Owner())
    assert first.take()
    assert not second.take()
    with first:
        assert claims(store)["000-00001"].owner.pid == Owner().pid
    assert store.list(FOLDER) == []
    assert second.take()


def test_a_silent_owner_is_superseded_and_one_alone_takes_over(store):
    plant(store, "000-00001.0", beat=time.time() - 61)
    ready = threading.Barrier(4)

    def run(_):
        lease = Lease(store, "000-00001", Owner())
        ready.wait()
        return lease.take()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(run, range(4))) == 1
    assert store.list(FOLDER) == ["000-00001.0", "000-00001.1"]


def test_a_live_owner_elsewhere_is_left_alone(store):
    plant(store, "000-00001.0", beat=time.time() - 30)
    assert not Lease(store, "000-00001", Owner()).take()


def test_a_process_that_is_gone_from_this_machine_is_lost_at_once(store):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    plant(store, "000-00001.0", host=Owner().host, pid=process.pid)
    assert Lease(store, "000-00001", Owner()).take()


def test_a_broken_claim_is_stale(store):
    store.write(f"{FOLDER}/000-00001.0", b"{")
    assert Lease(store, "000-00001", Owner()).take()


def test_a_claim_is_renewed_while_it_is_held(store):
    lease = Lease(store, "000-00001", Owner(), expiry=0.04)
    assert lease.take()
    before = claims(store)["000-00001"].beat
    with lease:
        deadline = time.monotonic() + 30
        while claims(store)["000-00001"].beat == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert claims(store)["000-00001"].beat > before
