from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.errors import FabulaError, FileError, InputError
from fabula.jobs import job as opening, job as planning
from fabula.jobs.job import gather, open_job, plan_job, ranges
from fabula.jobs.worker import work
from fabula.models.model import load_model, save_model


@pytest.fixture
def table(tmp_path):
    names = load_model("albums").feature_names
    rows = [f"album,position,{','.join(names)}"]
    for album in range(6):
        rows += [f"{album},{i},{','.join(str((album * i + j) % 5 / 5) for j in range(len(names)))}" for i in range(4)]
    path = tmp_path / "albums.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_the_same_plan_is_found_again(place):
    plan, new = place.plan()
    assert not new
    assert plan.items == 40
    assert [behind - first for first, behind in plan.shards] == [5] * 8


def test_a_plan_refuses_another_model(table, tmp_path):
    job = str(tmp_path / "job")
    plan_job(job, "encode", [table], model="albums")
    with pytest.raises(InputError, match=r"another job is planned there .its model: albums .*, not audio"):
        plan_job(job, "encode", [table], model="audio")
    other = load_model("albums")
    other.card["note"] = "another"
    save_model(Path(job) / "model.safetensors", other)
    with pytest.raises(InputError, match="the model 'albums' of the plan is another one"):
        work(job)


def test_a_plan_refuses_a_version_that_it_is_not_gone_on_with(place, monkeypatch):
    for module in (planning, opening):
        monkeypatch.setattr(module, "__version__", "0.3.9")
    with pytest.raises(InputError, match=r"was planned by fabula .*, this is 0.3.9"):
        work(place.address)
    with pytest.raises(InputError, match=r"another job is planned there .its version: .*, not 0.3.9"):
        place.plan()


PLAN_OF_0_4 = """{"format": "fabula-job", "format_version": 1, "task": "planted_task:Squares", "version": "0.4.0", \
"key": "7d95f0b36c959fd65911cb2a2c8df01e229949498ab20521956ae85e5f86ff58", "model": {}, "inputs": \
[{"path": "/numbers.txt", "size": 110, "digest": "323259ff6fbc0afa0ae85fe9b6d97ca3a24209ce6f6a47a91589fb44d36c1708"}], \
"options": {"trap": "", "pause": 0.0}, "items": 40, "shards": [[0, 20], [20, 40]]}
"""
DIGEST_OF_0_4 = "7641e020822a84617b55b40c6acf2e36b582567aa3ad939ace59d017c4490504"


@pytest.mark.parametrize("version", [planning.__version__, "0.5.0", "99.0"])
def test_a_plan_of_0_4_is_gone_on_with_for_ever(tmp_path, monkeypatch, version):
    for module in (planning, opening):
        monkeypatch.setattr(module, "__version__", version)
    numbers, job = tmp_path / "numbers.txt", tmp_path / "job"
    numbers.write_text(" ".join(str(i if i != 13 else -i) for i in range(40)))
    job.mkdir()
    (job / "plan.json").write_text(PLAN_OF_0_4)
    _, new = plan_job(str(job), "planted_task:Squares", [str(numbers)], shards=2)
    assert not new
    assert work(str(job), inputs=[str(numbers)]).complete
    assert gather(str(job), tmp_path / "out.parquet")["digest"] == DIGEST_OF_0_4
    assert (job / "plan.json").read_text() == PLAN_OF_0_4


def test_a_plan_refuses_another_input_and_takes_the_same_one_elsewhere(place, tmp_path):
    moved = tmp_path / "elsewhere.txt"
    moved.write_text(place.input.read_text())
    place.input.write_text(place.input.read_text().replace("7", "8"))
    with pytest.raises(InputError, match="is not the file that the job was planned with"):
        work(place.address)
    assert work(place.address, inputs=[str(moved)]).complete


def test_an_input_that_changes_under_way_fails_the_shard(place):
    job = open_job(place.address)
    place.input.write_text("1 2 3")
    with pytest.raises(InputError, match="changed while the job was under way"):
        job.check_inputs()


def test_what_is_wrong_with_a_plan_is_told(place, tmp_path):
    with pytest.raises(FileError, match="no job is planned there"):
        work(str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="there is no task 'paint'; there are: extract, encode"):
        plan_job(str(tmp_path / "x"), "paint", ["a.csv"])
    with pytest.raises(InputError, match="takes the options trap, pause; got k"):
        place.plan(k=3)
    with pytest.raises(InputError, match="encode needs a model"):
        plan_job(str(tmp_path / "x"), "encode", ["a.csv"])
    file = Path(place.address) / "plan.json"
    document = json.loads(file.read_text())
    document["shards"].pop()
    file.write_text(json.dumps(document))
    with pytest.raises(FileError, match="was changed after the job was planned"):
        work(place.address)
    file.write_text("{")
    with pytest.raises(FileError, match="is broken"):
        work(place.address)


def test_ranges_cover_all_and_none_twice():
    for count, shards in [(1, 5), (10, 3), (7, 7), (100, 64)]:
        cut = ranges(count, shards)
        assert [i for a, b in cut for i in range(a, b)] == list(range(count))
        assert all(b > a for a, b in cut)


def test_errors_are_one_line(place):
    with pytest.raises(FabulaError) as caught:
        plan_job(place.address, "encode", ["none.csv"], model="albums")
    assert "\n" not in str(caught.value)
