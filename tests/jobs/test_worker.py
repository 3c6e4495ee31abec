"""Whatever befalls the workers, the rerun ends, little is done twice, and the result is the undisturbed one."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fabula.errors import FileError, InputError
from fabula.jobs import store as stores
from fabula.jobs.job import gather, open_job
from fabula.jobs.status import Watch, describe
from fabula.jobs.store import PARTS, rows_digest
from fabula.jobs.worker import FOLDER as LEASES, Owner, attempt, work, work_side_by_side


def test_one_worker_does_all_and_failures_are_rows(place, undisturbed):
    done = work(place.address)
    assert done.complete
    assert sorted(done.done) == [f"000-{i:05d}" for i in range(8)]
    assert place.digest() == undisturbed
    rows = pq.read_table(place.folder / "out.parquet").to_pylist()
    assert [row["square"] for row in rows[:4]] == [0, 1, 4, 9]
    assert rows[13] == {"number": -13.0, "square": None, "failure": "a negative number"}
    assert set(place.begun().values()) == {1}


def test_a_second_call_does_nothing(place):
    work(place.address)
    again = work(place.address)
    assert again.complete
    assert again.done == []


def test_two_workers_on_one_shard_agree_on_one_part(place, undisturbed):
    job = open_job(place.address)
    table, items = job.task.do(job, job.round_of(0), 3)
    from fabula.jobs.store import write_part

    one = write_part(job.store, (0, 3), table, items=items, worker="a", seconds=1.0)
    changed = table.set_column(1, "square", table.column("number"))
    for late in (table, changed):  # a late worker, and one whose rows differ
        other = write_part(job.store, (0, 3), late, items=items, worker="b", seconds=1.0)
        assert other == one
    assert len([name for name in job.store.list(PARTS) if name.startswith("000-00003")]) == 2
    assert work(place.address).complete
    assert place.digest() == undisturbed


@pytest.mark.slow
def test_many_workers_at_once_do_each_shard_once(place, undisturbed):
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: work(place.address), range(4)))
    assert all(one.complete for one in done)
    assert sorted(name for one in done for name in one.done) == [f"000-{i:05d}" for i in range(8)]
    assert place.digest() == undisturbed


def test_a_stale_lease_of_a_lost_machine_is_taken_over(place, undisturbed):
    store = open_job(place.address).store
    about = {"host": "lost", "pid": 1, "token": "x", "begun": 0.0, "beat": time.time() - 3600, "expiry": 60.0}
    store.write(f"{LEASES}/000-00002.0", json.dumps(about).encode())
    assert work(place.address).complete
    assert place.digest() == undisturbed
    assert store.list(LEASES) == []


@pytest.mark.slow
def test_a_live_lease_is_waited_for(place, undisturbed):
    store = open_job(place.address).store
    about = {"host": "elsewhere", "pid": 1, "token": "x", "begun": time.time(), "beat": time.time(), "expiry": 0.3}
    store.write(f"{LEASES}/000-00002.0", json.dumps(about).encode())
    begun = time.time()
    assert work(place.address).complete
    assert time.time() - begun >= 0.25
    assert place.digest() == undisturbed


def test_a_corrupt_input_fails_its_shard_alone_and_is_told(place, undisturbed):
    place.set(5, "fail")
    first = work(place.address)
    assert not first.complete
    assert first.failed == {"000-00005": "ValueError: the input is corrupt"}
    assert len(first.done) == 7
    standing = Watch(place.address).look()
    assert standing.states[5] == "failed"
    assert "shard 000-00005 failed: ValueError: the input is corrupt" in describe(standing)
    with pytest.raises(InputError, match=r"1 of 8 shards are missing .000-00005.; work on it, or take what is there"):
        place.digest()
    partial = gather(place.address, place.folder / "some.csv", partial=True)
    assert (partial["rows"], partial["missing"]) == (35, 1)
    assert work(place.address).complete
    assert Watch(place.address).look().failed == {}
    assert place.digest() == undisturbed


@pytest.mark.parametrize(("room", "twice"), [(9, 0), (10, 1), (11, 1)])  # for a claim, a part, a manifest no more
def test_a_full_disk_ends_the_worker_and_loses_nothing(place, undisturbed, monkeypatch, room, twice):
    whole, writes = stores.FolderStore._aside, []

    def fills_up(self, name, data):
        writes.append(data)
        if len(writes) > room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(self, name, data)

    with monkeypatch.context() as patch:
        patch.setattr(stores.FolderStore, "_aside", fills_up)
        with pytest.raises(FileError, match="No space left on device"):
            work(place.address)
    store = open_job(place.address).store
    assert store.list("temporary") == []
    assert store.list(LEASES) == []
    assert work(place.address).complete
    assert place.digest() == undisturbed
    assert sorted(place.begun().values()) == [1] * (8 - twice) + [2] * twice


def test_a_part_that_is_damaged_is_found_and_named(place):
    work(place.address)
    part = next(Path(place.address).glob("parts/000-00004.*.parquet"))
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"no Parquet file any more; remove 000-00004.json"):
        place.digest()
    other = next(Path(place.address).glob("parts/000-00003.*.parquet"))
    part.write_bytes(other.read_bytes())
    with pytest.raises(FileError, match="its rows are not those of the manifest"):
        place.digest()
    (Path(place.address) / "parts/000-00004.json").unlink()
    assert work(place.address).done == ["000-00004"]


def test_stray_files_of_lost_workers_are_no_parts(place, undisturbed):
    work(place.address)
    (Path(place.address) / "parts/000-00001.0123456789abcdef.parquet").write_bytes(b"half")
    (Path(place.address) / "temporary/abc").write_bytes(b"half")
    assert place.digest() == undisturbed


def test_a_shard_may_be_asked_for_by_name_alone(place):
    job = open_job(place.address)
    assert attempt(job, job.round_of(0), 0, Owner()) == ("done", "")
    assert attempt(job, job.round_of(0), 0, Owner()) == ("was done", "")


def test_digests_depend_on_every_value():
    import pyarrow as pa

    tables = [
        pa.table({"a": [1, 2], "b": ["x", "yz"]}),
        pa.table({"a": [1, 2], "b": ["xy", "z"]}),
        pa.table({"a": [1, None], "b": ["x", "yz"]}),
        pa.table({"a": [1, 0], "b": ["x", "yz"]}),
        pa.table({"a": [1.0, 2.0], "b": ["x", "yz"]}),
        pa.table({"c": [1, 2], "b": ["x", "yz"]}),
        pa.table({"a": [[1], [2]], "b": ["x", "yz"]}),
        pa.table({"a": [[1, 2], []], "b": ["x", "yz"]}),
    ]
    assert len({rows_digest(table) for table in tables}) == len(tables)
    assert rows_digest(tables[0].slice(1)) == rows_digest(pa.table({"a": [2], "b": ["yz"]}))


@pytest.mark.slow
def test_kill_9_of_one_worker(place, undisturbed):
    place.set(4, "kill")
    first = place.start()
    first.wait(90)
    assert first.returncode == -signal.SIGKILL
    again = place.start()
    assert again.wait(90) == 0
    assert place.digest() == undisturbed
    assert sorted(place.begun().values()) == [1] * 7 + [2]


@pytest.mark.slow
def test_kill_9_of_all_workers_and_of_those_who_began_them(place, undisturbed):
    for shard in range(8):
        place.set(shard, "wait 60")
    pool = place.start("--jobs", 2)
    deadline = time.monotonic() + 60
    while len(place.begun()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    children = [int(pid) for pid in Path(f"/proc/{pool.pid}/task/{pool.pid}/children").read_text().split()]
    for pid in [pool.pid, *children]:
        os.kill(pid, signal.SIGKILL)
    pool.wait(60)
    for trap in place.trap.glob("*"):
        trap.unlink()
    lost = set(place.begun())
    assert place.start("--expiry", 1).wait(90) == 0
    assert place.digest() == undisturbed
    assert sorted(place.begun().values()) == [1] * (8 - len(lost)) + [2] * len(lost)


@pytest.mark.slow
def test_a_pool_goes_on_without_one_of_its_processes(place, undisturbed):
    place.set(0, "kill")
    done = work_side_by_side(place.address, 2)
    assert done.complete
    assert place.digest() == undisturbed
    assert max(place.begun().values()) == 2
    assert list(place.begun().values()).count(2) == 1


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_asked_to_leave_gives_its_claim_back(place, undisturbed, sign):
    for shard in range(8):
        place.set(shard, "wait 60")
    worker = place.start()
    deadline = time.monotonic() + 60
    while not place.begun() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    worker.send_signal(sign)
    assert worker.wait(60) == (143 if sign == signal.SIGTERM else 130)
    store = open_job(place.address).store
    assert store.list(LEASES) == store.list("temporary") == store.list(PARTS) == []
    for trap in place.trap.glob("*"):
        trap.unlink()
    assert work(place.address).complete
    assert place.digest() == undisturbed
