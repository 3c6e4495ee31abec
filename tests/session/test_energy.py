"""The energy that music is laid along: where it comes from, what is laid along it, and what is drawn."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.media.music.tracks import bound_share, energy_axis
from fabula.report.pictures import write_picture

DEMO = Path(fabula.__file__).parent / "demo"


def tracks(names: tuple[str, ...], rows: list[list[float]]) -> Collection:
    return Collection("c", [Item(str(i)) for i in range(len(rows))], np.array(rows), names)


def write_album(path: Path, names: tuple[str, ...], rows: list[list[float]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("title", *names))
        writer.writerows((f"song {i}", *row) for i, row in enumerate(rows))
    return path


def test_the_tables_own_energy_comes_before_what_is_heard() -> None:
    found = energy_axis(tracks(("energy", "heard_energy", "loudness"), [[0.2, 0.9, -5.0], [0.7, 0.1, -20.0]]))
    assert found is not None
    assert (found.values.tolist(), found.source) == ([20.0, 70.0], "")


def test_what_is_heard_counts_where_the_table_has_no_energy() -> None:
    names = ("heard_energy", "loudness", "tempo")
    found = energy_axis(tracks(names, [[0.2, -12.0, 120.0], [0.7, -12.0, 120.0], [0.7, -8.0, 120.0]]))
    assert found is not None
    low, high, louder = found.values
    assert low + 30 < high < louder  # half as much again is heard; and louder is more
    assert "heard" in found.source


def test_loudness_and_tempo_serve_where_nothing_is_heard() -> None:
    found = energy_axis(tracks(("loudness", "tempo"), [[-6.0, 120.0], [-14.0, 70.0], [-6.0, 0.0]]))
    assert found is not None
    assert found.values[0] > found.values[1] + 20
    assert "heard" not in found.source


def test_nothing_is_made_up_where_one_track_is_not_known() -> None:
    assert energy_axis(tracks(("energy", "duration_ms"), [[0.2, 1e5], [np.nan, 1e5]])) is None


def test_estimates_are_bounded_and_keep_their_order() -> None:
    wild = np.linspace(-3, 4, 141)
    found = bound_share(wild)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[20:100]) > 0).all()
    inside = (wild >= 0.1) & (wild <= 0.9)
    np.testing.assert_allclose(found[inside], wild[inside])


def test_a_template_is_laid_along_energy(tmp_path: Path) -> None:
    """Length falls while energy rises, so that an essence of shortness would turn the order round."""
    rows = [[0.1 * i, 60_000.0 + 40_000 * i, -10.0] for i in (3, 9, 1, 5, 7)]
    path = write_album(tmp_path / "a.csv", ("energy", "duration_ms", "loudness"), rows)
    ordered = fabula.order(path, template="steady-rise")
    assert ordered.ordering.tolist() == [2, 0, 3, 4, 1]
    assert ordered.session.model is None
    told = ordered.to_json()
    assert (told["axis"]["name"], told["axis"]["unit"]) == ("energy", "0 to 100")
    assert told["axis"]["values"] == pytest.approx([10, 30, 50, 70, 90])


def test_another_column_and_the_learned_essence_stay(tmp_path: Path) -> None:
    rows = [[0.1 * i, 60_000.0 + 40_000 * i, -10.0 - (i % 4)] for i in (3, 9, 1, 5, 7)]
    path = write_album(tmp_path / "a.csv", ("energy", "duration_ms", "loudness"), rows)
    assert fabula.order(path, by="loudness", template="steady-rise").session.axis is None
    learned = fabula.open(path, model="audio")
    assert learned.axis is None
    assert learned.model is not None


def test_what_a_model_proposes_is_drawn_along_energy(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [[float(rng.random()), 2e5 + 1e4 * float(rng.random()), -9.0 - float(rng.random())] for _ in range(10)]
    session = fabula.open(write_album(tmp_path / "a.csv", ("energy", "duration_ms", "loudness"), rows))
    ordered = session.order()
    energy = np.array(rows)[:, 0]
    np.testing.assert_allclose(session.essence, (energy - energy.mean()) / energy.std())
    assert ordered.to_json()["axis"]["values"] == pytest.approx(100 * energy[ordered.ordering], abs=0.01)
    drawn = write_picture(ordered, tmp_path / "a.svg").read_text()
    heights = dict(
        zip(ordered.ordering.tolist(), re.findall(r'class="(?:dot|pin)" cx="[\d.]+" cy="([\d.]+)"', drawn), strict=True)
    )
    marks = {int(k): float(y) - 4 for y, k in re.findall(r'y="([\d.]+)"[^>]*text-anchor="end"[^>]*>(\d+)<', drawn)}
    assert "energy" in drawn
    low, high = min(marks), max(marks)
    for item, y in heights.items():  # points stand at their own energy between the numbers beside
        at = low + (high - low) * (float(y) - marks[low]) / (marks[high] - marks[low])
        assert at == pytest.approx(100 * energy[item], abs=0.5)


def test_a_table_of_what_was_heard_is_read_as_the_folder(tmp_path: Path) -> None:
    from fabula.cli import run

    assert run(["extract", str(DEMO), "-o", str(tmp_path / "demo.csv")]) == 0
    header = (tmp_path / "demo.csv").read_text().splitlines()[0].split(",")
    assert {"heard_energy", "heard_instrumentalness"} <= set(header)
    assert "energy" not in header
    folder, table = fabula.open(DEMO), fabula.open(tmp_path / "demo.csv")
    np.testing.assert_allclose(table.essence, folder.essence, atol=1e-6)
    assert table.order().titles == folder.order().titles
    assert table.order(template="icarus").titles == folder.order(template="icarus").titles


def test_energy_is_a_name_for_by_in_a_folder() -> None:
    found = fabula.open(DEMO, by="energy")
    assert found.axis is not None
    np.testing.assert_allclose(found.essence, fabula.open(DEMO).essence)
    assert json.dumps(found.order().to_json())
