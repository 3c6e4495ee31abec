"""The whole path on an archive of FMA's form."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fabula.errors import InputError
from fabula.report.study import write_report
from fabula.research.reproduce import reproduce
from fabula.research.workspace import StudyPlan, read_study_data

TINY = {"epochs": 1, "draws": 1, "negatives": 3, "encoder_hidden": 4, "encoder_layers": 1}
PLAN = StudyPlan(
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
)


@pytest.fixture
def archive():
    path = Path(__file__).resolve().parents[1] / "sources" / "fma" / "conftest.py"
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
    assert [len(part) for part in (study.parts.training, study.parts.validation, study.parts.test)] == [12, 6, 6]
    assert study.plain is None
    assert study.parts.training[0].features.shape == (4, 75, 7)
    assert any("fewer than 3" in note for note in study.notes)


@pytest.mark.slow
def test_the_whole_path_without_plain_features(archive, tmp_path):
    (tmp_path / "fma_metadata.zip").write_bytes(archive.zipped())
    study = reproduce(tmp_path / "fma_metadata.zip", tmp_path / "out", plan=PLAN)
    assert study.figure1 is None
    assert study.data["rule"] == "the splits of FMA"
    assert [row["method"] for row in study.recovery["rows"]][-1] == "direct transformer"
    page = write_report(study, tmp_path / "out").read_text(encoding="utf-8")
    assert "Figure 1" not in page
    assert "Figure 2" in page


@pytest.mark.slow
def test_plain_features_where_echonest_has_them(archive, tmp_path):
    archive.with_echonest = {track["id"] for track in archive.tracks}
    study = reproduce(archive.write(tmp_path), tmp_path / "out", plan=replace(PLAN, counts=(1,)))
    assert {row["name"] for row in study.figure1} >= {"essence", "valence", "tempo"}


def test_an_empty_split_is_named(archive, tmp_path):
    archive.tracks = [track for track in archive.tracks if track["set", "split"] != "test"]
    with pytest.raises(InputError, match="no usable collection in the split test"):
        read_study_data(archive.write(tmp_path))


def test_the_essence_of_figure_1_is_the_frozen_one_of_the_arrays(archive, tmp_path, monkeypatch):
    """One number an item that the 75 x 7 model gave: no encoder is trained on the plain features."""
    from fabula.research import reproduce as figure1
    from fabula.research.workspace import Workspace
    from fabula.training import compare
    from fabula.training.item_models import EssenceTraining

    archive.with_echonest = {track["id"] for track in archive.tracks}
    study = read_study_data(archive.write(tmp_path))
    for folder in ("stages", "models"):
        (tmp_path / "out" / folder).mkdir(parents=True)
    trained = []

    class Watched(EssenceTraining):
        def train(self, **options):
            trained.append(self.config)
            return super().train(**options)

    monkeypatch.setattr(compare, "EssenceTraining", Watched)
    workspace = Workspace(tmp_path / "out", study, PLAN)
    found = figure1.essence_run(workspace, 0)
    assert [(c.encoder, c.features) for c in trained] == [("identity", (figure1.FROZEN,))]
    assert {"valence", "tempo"} <= set(found.correlations)
    parts = figure1.frozen(figure1.essence(workspace, 0)[0], study.parts, study.plain)
    assert [c.id for c in parts.test] == [c.id for c in study.plain.test]
    assert parts.training[0].features.shape == (4, 1)
