from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fabula.cli.job import command
from fabula.errors import InputError
from fabula.jobs.status import Watch
from fabula.report.boards import job_page

from .conftest import TASK


def call(*arguments, code=0):
    result = CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_from_plan_to_gather(place, tmp_path):
    address = tmp_path / "job"
    assert "planned: planted_task:Squares, 40 numbers in 4 shards" in call("plan", TASK, place.input, "-o", address)
    assert "planned before" in call("plan", TASK, place.input, "-o", address)
    assert "nobody is at work" in call("status", address)
    assert "done here: 4 shards; the job is complete" in call("work", address)
    assert "4 of 4 shards done (100 %)" in call("status", address)
    standing = json.loads(call("status", address, "--json"))
    assert (standing["done"], standing["done_items"], standing["failed_items"]) == (4, 40, 1)
    assert standing["complete"]
    said = call("gather", address, "-o", tmp_path / "out.csv")
    assert "gathered: 40 rows, 1 failures" in said
    assert json.loads(call("gather", address, "-o", tmp_path / "out.parquet", "--json"))["digest"] in said


def test_a_failed_shard_is_exit_code_1(place):
    place.set(0, "fail")
    assert "1 failed; see fabula job status" in call("work", place.address, code=1)


def test_mistakes(place, tmp_path):
    with pytest.raises(InputError, match="--dask has its own workers"):
        call("work", place.address, "--dask", "local", "--jobs", 2)
    with pytest.raises(InputError, match="takes the options"):
        call("plan", TASK, place.input, "-o", tmp_path / "x", "-k", 3)
    for sweep in ("1,two", ""):
        with pytest.raises(InputError, match=f"--sweep takes whole numbers, such as 1,2,4; got '{sweep}'"):
            call("plan", "compare", place.input, "-o", tmp_path / "x", "--sweep", sweep)
    with pytest.raises(InputError, match="rows are gathered as one of"):
        call("work", place.address) and call("gather", place.address, "-o", tmp_path / "out.txt")


def test_the_page_stands_by_itself(place, tmp_path):
    place.set(5, "fail")
    call("work", place.address, code=1)
    call("status", place.address, "--html", tmp_path / "status.html")
    page = (tmp_path / "status.html").read_text()
    assert page.count('<i class="done"') == 6 + 1  # and one in the key
    assert page.count('<i class="failures"') == 1 + 1
    assert page.count('<i class="failed"') == 1 + 1
    assert "the input is corrupt" in page
    assert "http-equiv" not in page
    assert "src=" not in page
    assert 'content="5"' in job_page(Watch(place.address).look(), every=5)


def test_watching_ends_when_the_job_is_complete(place):
    call("work", place.address)
    assert "complete" in call("status", place.address, "--watch")
