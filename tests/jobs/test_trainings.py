"""Trainings in shards come to what the commands of the same names find."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("torch")

import fabula
from fabula.jobs.job import gather, plan_job
from fabula.jobs.worker import work
from fabula.research import workspace as plans
from fabula.research.reproduce import reproduce

TINY = {"epochs": 2, "draws": 1, "widths": [8], "negatives": 7, "scorers": ["arcs"]}


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["album,position,artist,energy,tempo"]
    for a in range(40):
        n = int(rng.integers(5, 8))
        energy = rng.normal(size=n) + np.linspace(1, -1, n)
        lines += [f"{a},{i},artist {a},{energy[i]:.6f},{rng.normal():.6f}" for i in range(n)]
    path = tmp_path / "albums.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(tmp_path, task, table, output, **options):
    address = str(tmp_path / task)
    plan_job(address, task, [str(table)], options=options)
    done = work(address)
    assert done.complete, done.failed
    return gather(address, tmp_path / output)


@pytest.mark.slow
def test_compare(table, tmp_path):
    run(tmp_path, "compare", table, "c.json", changes=TINY, held_out=0.3, seeds=1, device="cpu")
    config = fabula.training.preset(**{name: tuple(v) if isinstance(v, list) else v for name, v in TINY.items()})
    whole = fabula.compare(table, config, held_out=0.3, seeds=1, device="cpu")
    mine = json.loads((tmp_path / "c.json").read_text())
    assert [row["name"] for row in mine] == [row.name for row in whole]
    for row, other in zip(mine, map(asdict, whole), strict=True):
        assert row["bits"] == pytest.approx(other["bits"], abs=1e-6)
        assert row["seeds"] == pytest.approx(list(other["seeds"]), abs=1e-6)


@pytest.mark.slow
def test_audit(table, tmp_path):
    run(tmp_path, "audit", table, "a.json", changes=TINY, held_out=0.3, device="cpu")
    config = fabula.training.preset(**{name: tuple(v) if isinstance(v, list) else v for name, v in TINY.items()})
    whole = fabula.audit(table, config, held_out=0.3, device="cpu")
    mine = json.loads((tmp_path / "a.json").read_text())
    assert mine["ok"] == whole.ok
    assert [row["data"] for row in mine["rows"]] == [row.data for row in whole.rows]
    assert [row["bits"] for row in mine["rows"]] == pytest.approx([row.bits for row in whole.rows], abs=1e-6)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_reproduce_keeps_every_stage(table, tmp_path, monkeypatch):
    tiny = {"epochs": 1, "draws": 1, "widths": (8,), "negatives": 3}
    small = plans.StudyPlan(
        seeds=1, device="cpu", preset="arcs", changes=tiny, bits_preset="arcs", bits_changes=tiny,
        sequencer={"epochs": 1, "width": 8, "heads": 2, "layers": 1}, dimensions=(1,), counts=(1, 2), searched=2,
        shares=(1.0,), quick=True,
    )  # fmt: skip
    monkeypatch.setattr("fabula.jobs.tasks.reproduce_paper.make_plan", lambda **_: small)
    found = run(tmp_path, "reproduce", table, "study", held_out=0.3)
    assert found["files"] > 10
    told = []
    study = reproduce(table, tmp_path / "study", small, held_out=0.3, progress=lambda *words: told.append(words))
    assert {note for _, note, _, _ in told} == {"kept from before"}
    assert study.table1
