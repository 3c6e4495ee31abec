"""Products of matrices stay on one thread: two that wait for each other are slow wherever a core is busy."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fabula.core.arrays import one_thread

# What other threads than this one computed, as a part of what it did, of each job.
JOBS = """
import json, time
import numpy as np
import fabula

rng = np.random.default_rng(0)
albums, music = fabula.load_model("albums"), fabula.load_model("music")
features, offsets = rng.random((6000, 12)) + 0.1, np.arange(0, 6001, 12)
heard = np.full((6000, len(music.feature_names)), np.nan)
heard[:, :4] = rng.random((6000, 4)) + 0.1
essences = [rng.normal(size=12) for _ in range(1500)]
sequences = albums.encode(features[:12])[np.array([rng.permutation(12) for _ in range(512)])]
jobs = {
    "score": lambda: albums.score(sequences),
    "encode_many": lambda: music.encode_many(heard, offsets),
    "order": lambda: [music.order(heard[at : at + 12]) for at in range(0, 240, 12)],
    "templates": lambda: fabula.learn_templates(essences, k=3),
}
found = {}
for name, job in jobs.items():
    shares = []
    for _ in range(4):  # the first starts threads, whose end may be seen in the next
        whole, own = time.process_time(), time.thread_time()
        job()
        own = time.thread_time() - own
        shares.append((time.process_time() - whole - own) / own)
    found[name] = min(shares[1:])
print(json.dumps(found))
"""


def count_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_a_block_and_a_function_have_one_thread_and_leave_as_many_as_there_were():
    with threadpool_limits(2, user_api="blas"):
        before = count_threads()
        with one_thread(), one_thread():
            assert set(count_threads()) == {1}
        assert count_threads() == before
        with pytest.raises(ValueError, match="spoilt"), one_thread():
            raise ValueError("spoilt")
        assert count_threads() == before
        assert one_thread()(lambda: set(count_threads()))() == {1}
        assert count_threads() == before


def test_two_at_a_time_leave_as_many_as_there_were():
    first, second = Barrier(2), Barrier(2)

    def late(*, leaves_first: bool) -> None:
        if not leaves_first:
            first.wait(10)  # the other is inside
        with one_thread():
            if leaves_first:
                first.wait(10)
            second.wait(10)  # both are

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(2) as pool:
        before = count_threads()
        for done in [pool.submit(late, leaves_first=some) for some in (True, False)]:
            done.result(20)
        assert count_threads() == before


@pytest.mark.slow
def test_no_job_is_shared_out_to_threads():
    environment = os.environ | {f"{name}_NUM_THREADS": "2" for name in ("OPENBLAS", "MKL", "OMP")}
    done = subprocess.run(
        [sys.executable, "-c", JOBS], env=environment, capture_output=True, text=True, timeout=100, check=True
    )
    shares = json.loads(done.stdout)
    assert max(shares.values()) < 0.1, shares


def test_the_arrays_are_what_they_are_without():
    rows = np.random.default_rng(0).normal(size=(50, 40))
    with one_thread():
        found = rows @ rows.T
    np.testing.assert_allclose(found, rows @ rows.T, rtol=1e-12, atol=1e-12)
