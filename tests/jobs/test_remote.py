"""A job in a bucket: S3 as moto plays it, claims that are raced, a job from plan to gather."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")

from fabula.errors import FileError, InputError
from fabula.jobs.job import gather, plan_job
from fabula.jobs.status import Watch
from fabula.jobs.store import open_store
from fabula.jobs.worker import Lease, Owner, claims, work

from .conftest import TASK

BUCKET = "fabula-jobs"


@pytest.fixture(scope="module")
def bucket():
    """A bucket on this machine.

    S3 answers conditional puts one after the other; moto looks and then puts, which two threads of its server can do
    at once. So its puts are taken in turn here, as S3 takes them.
    """
    import boto3
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    turn, put = threading.Lock(), S3Response.put_object

    def in_turn(self):
        with turn:
            return put(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(S3Response, "put_object", in_turn)
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]).create_bucket(Bucket=BUCKET)
        yield f"s3://{BUCKET}"
        server.stop()


@pytest.mark.slow
def test_claims_raced_50_times_have_one_winner_each(bucket):
    owners = [Owner(), Owner()]
    ready = threading.Barrier(2)
    stores = [open_store(f"{bucket}/raced") for _ in owners]

    def run(number):
        won = []
        for shard in range(50):
            ready.wait()
            won.append(stores[number].create(f"leases/000-{shard:05d}.0", owners[number].token.encode()))
        return won

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert [a + b for a, b in zip(first, second, strict=True)] == [1] * 50
    assert 0 < sum(first) < 50


@pytest.mark.slow
def test_a_job_in_a_bucket(bucket, place, undisturbed, tmp_path):
    address = f"{bucket}/job"
    plan_job(address, TASK, [str(place.input)], options={"trap": str(place.trap)}, shards=8)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: work(address), range(2)))
    assert sorted(name for one in done for name in one.done) == [f"000-{i:05d}" for i in range(8)]
    assert gather(address, tmp_path / "out.parquet")["digest"]
    plain = gather(address, tmp_path / "out.csv")
    assert (plain["rows"], plain["failures"]) == (40, 1)
    assert Watch(address).look().complete
    work(place.address)
    assert plain["digest"] == place.digest()


@pytest.mark.slow
def test_leases_and_listings_in_a_bucket(bucket):
    store = open_store(f"{bucket}/leases-of-one")
    lease = Lease(store, "000-00000", Owner())
    assert lease.take()
    assert not Lease(store, "000-00000", Owner()).take()
    with lease:
        assert list(claims(store)) == ["000-00000"]
    assert claims(store) == {}
    assert store.read("nothing") is None
    store.delete("nothing")
    with pytest.raises(FileError, match="cannot be"):
        open_store("s3://no-such-bucket-here/job").write("x", b"")


@pytest.mark.slow
def test_a_table_in_a_bucket_is_read_in_pieces_and_known_again(bucket, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = [i // 3 for i in range(60)]
    table = pa.table(
        {"album_id": ids, "track_number": [i % 3 for i in range(60)], "energy": [i % 7 / 7 for i in range(60)]}
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    store = open_store(f"{bucket}/tables")
    store.write("t.parquet", (tmp_path / "t.parquet").read_bytes())
    digests = []
    for address, source in (
        (f"{bucket}/there", f"{bucket}/tables/t.parquet"),
        (str(tmp_path), str(tmp_path / "t.parquet")),
    ):
        plan_job(address, "templates-learn", [source], options={"by": "energy", "k": 2}, shards=2)
        assert work(address).complete
        digests.append(gather(address, tmp_path / "t.json")["digest"])
    assert digests[0] == digests[1]
    store.write("t.parquet", b"other")
    with pytest.raises(InputError, match="is not the file that the job was planned with"):
        work(f"{bucket}/there")
