"""The whole path on an archive of FMA's form."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fabula.errors import InputError
from fabula.report.study.page import write_report
from fabula.studies.reproduce.collections import read_study_data
from fabula.studies.reproduce.plan import Plan
from fabula.studies.reproduce.run import reproduce

TINY = {"epochs": 1, "draws": 1, "negatives": 3, "encoder_hidden": 4, "encoder_layers": 1}
PLAN = Plan(
    seeds=1,
    device="cpu",
    preset="arcs",
    changes=TINY,
    bits_preset="arcs",
    bits_changes=TINY,
    sequencer={"epochs": 1, "width": 8, "heads": 2, "layers": 1},
    dimensions=(1,),
    counts=(1, 2),
    searched=0,
    shares=(1.0,),
    resamples=10,
)


@pytest.fixture
def archive():
    path = Path(__file__).resolve().parents[2] / "sources" / "fma" / "conftest.py"
    spec = importlib.util.spec_from_file_location("fma_archive_for_tests", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    made = module.Archive()
    for number in range(24):
        split = ("training", "training", "validation", "test")[number % 4]
        made.album(10 + number, [1, 2, 3, 4], split=split, artist=f"Artist {number}")
    made.with_echonest = set(made.album(90, [1, 3], split="training"))
    yield made
    del sys.modules[spec.name]


def test_fma_keeps_its_own_splits(archive, tmp_path):
    study = read_study_data(archive.write(tmp_path))
    assert [len(part) for part in (study.training, study.development, study.evaluation)] == [12, 6, 6]
    assert study.plain is None
    assert study.training[0].features.shape == (4, 75, 7)
    assert any("fewer than 3" in note for note in study.notes)


def test_the_whole_path_without_plain_features(archive, tmp_path):
    (tmp_path / "fma_metadata.zip").write_bytes(archive.zipped())
    study = reproduce(tmp_path / "fma_metadata.zip", tmp_path / "out", plan=PLAN)
    assert study.figure1 is None
    assert study.data["rule"] == "the splits of FMA"
    assert [row["method"] for row in study.recovery["rows"]][-1] == "direct transformer"
    page = write_report(study, tmp_path / "out").read_text(encoding="utf-8")
    assert "Figure 1" not in page
    assert "Figure 2" in page


def test_plain_features_where_echonest_has_them(archive, tmp_path):
    archive.with_echonest = {track["id"] for track in archive.tracks}
    study = reproduce(archive.write(tmp_path), tmp_path / "out", plan=replace(PLAN, counts=(1,)))
    assert {row["name"] for row in study.figure1} >= {"essence", "valence", "tempo"}


def test_an_empty_split_is_named(archive, tmp_path):
    archive.tracks = [track for track in archive.tracks if track["set", "split"] != "test"]
    with pytest.raises(InputError, match="no usable collection in the split test"):
        read_study_data(archive.write(tmp_path))
