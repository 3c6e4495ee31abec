from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from fabula.errors import FileError, InputError
from fabula.jobs.job import gather, plan_job
from fabula.jobs.worker import work
from fabula.media.extraction import Measuring, extract
from fabula.media.registry import find_medium


@pytest.fixture
def music(tmp_path):
    root = tmp_path / "music"
    for album in ("one", "two"):
        (root / album).mkdir(parents=True)
        for number in range(3):
            wave = 0.1 * (number + 1) * np.sin(np.arange(8000) * (0.1 + 0.1 * number))
            soundfile.write(root / album / f"{number + 1:02d} Song.wav", wave, 8000)
    (root / "two" / "02 Song.wav").write_bytes(b"no sound at all")
    (root / "cover.txt").write_text("not an item")
    (root / "again.wav").symlink_to(root / "one" / "01 Song.wav")
    return root


@pytest.mark.slow
def test_files_are_measured_and_what_cannot_be_is_a_row(music, tmp_path):
    job = str(tmp_path / "job")
    plan, _ = plan_job(job, "extract", [str(music)], shards=3)
    assert plan.items == 6
    (music / "two" / "03 Song.wav").write_bytes(b"changed")
    assert work(job).complete
    found = gather(job, tmp_path / "out.parquet")
    assert (found["rows"], found["failures"]) == (6, 2)
    rows = {row["path"]: row for row in pq.read_table(tmp_path / "out.parquet").to_pylist()}
    assert rows["two/03 Song.wav"]["failure"] == "changed since the job was planned"
    assert "two/02 Song.wav" in rows["two/02 Song.wav"]["failure"]
    spec = find_medium("music").spec()
    known = extract([music / "one" / "02 Song.wav"], spec, Measuring(cache=False))
    for name, value in zip(known.feature_names, known.features[0], strict=True):
        mine = rows["one/02 Song.wav"][name]
        assert mine is None if np.isnan(value) else mine == pytest.approx(value)
    assert rows["one/02 Song.wav"]["collection"] == "one"
    assert rows["one/02 Song.wav"]["failure"] is None


@pytest.mark.slow
def test_a_folder_may_lie_elsewhere_for_another_worker(music, tmp_path):
    job = str(tmp_path / "job")
    plan_job(job, "extract", [str(music)], shards=2)
    music.rename(tmp_path / "moved")
    with pytest.raises(InputError, match="the folder that the job reads is not there"):
        work(job)
    assert work(job, inputs=[str(tmp_path / "moved")]).complete


def test_nothing_to_measure_is_told(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="holds no"):
        plan_job(str(tmp_path / "job"), "extract", [str(tmp_path / "empty")])
