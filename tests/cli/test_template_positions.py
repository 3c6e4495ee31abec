"""Templates from the command line where the positions of the items are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.cli import run
from fabula.core.arrays import normalise
from fabula.core.template import TemplateSet


@pytest.fixture(params=["lists", "rows"])
def films(request, tmp_path, rng):
    """Essences that follow one curve, seen at uneven positions: as a row per film, and as a row per shot."""
    made = []
    for number in range(12):
        at = np.sort(rng.choice(100, size=9, replace=False)) + 7 * number
        u = (at - at[0]) / (at[-1] - at[0])
        made.append((f"f{number}", at.tolist(), ((u - 0.3) ** 2 + 0.02 * rng.normal(size=9)).tolist()))
    if request.param == "lists":
        path = tmp_path / "films.json"
        path.write_text(json.dumps([{"film": n, "at": at, "essence": e} for n, at, e in made]))
        return path, made
    path = tmp_path / "films.csv"
    lines = [f"{n},{j + 1},{a},{v!r}" for n, at, e in made for j, (a, v) in enumerate(zip(at, e, strict=True))]
    path.write_text("\n".join(["collection,position,at,essence", *lines]) + "\n")
    return path, made


def reference(templates, made):
    """The cost, written out."""
    costs = []
    for _, at, essence in made:
        u = (np.array(at) - at[0]) / (at[-1] - at[0])
        values = normalise(essence)
        costs.append(min(np.mean((values - t.at(u)) ** 2) for t in templates))
    return float(np.mean(costs))


def test_positions_count_in_learning_and_in_costs(films, tmp_path, capsys):
    path, made = films
    target, even = tmp_path / "t.json", tmp_path / "even.json"
    options = [str(path), "--by", "essence", "-k", "1"]
    assert run(["templates", "learn", *options, "--positions", "at", "-o", str(target)]) == 0
    assert run(["templates", "learn", *options, "-o", str(even)]) == 0
    capsys.readouterr()
    learned, blind = TemplateSet.load(target), TemplateSet.load(even)
    assert reference(learned, made) < 0.9 * reference(blind, made)
    assert run(["templates", "cost", str(target), str(path), "--by", "essence", "--positions", "at"]) == 0
    out = capsys.readouterr().out
    assert f"12 collections; mean squared error {reference(learned, made):.4f}" in out
    assert "the templates were learned from 12 of these collections" in out
    table = ["templates", "table", *options, "--positions", "at", "--on", str(path), "--json"]
    assert run(table) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["cost"] == pytest.approx(reference(learned, made), abs=1e-9)
    assert row["other"] == row["cost"]


def test_positions_that_do_not_rise_are_one_line(tmp_path, capsys):
    path = tmp_path / "films.json"
    path.write_text(json.dumps([{"film": "a", "at": [3, 1, 2], "essence": [1, 2, 3]}]))
    assert run(["templates", "learn", str(path), "--by", "essence", "--positions", "at", "-k", "1"]) == 2
    error = capsys.readouterr().err
    assert "collection 'a': its positions, column 'at', must be numbers that rise" in error
    assert error.count("\n") == 1


@pytest.mark.slow
@pytest.mark.data
def test_the_films_table_is_one_command(data, capsys):
    films = data / "movies"
    options = ["--by", "narrative_essence", "--positions", "indices", "--on", str(films / "validation.json")]
    assert run(["templates", "table", str(films / "training.json"), *options, "-k", "2", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["rows"]
    assert (first["cost"], first["other"]) == pytest.approx((0.9312, 0.9468), abs=5e-5)
    assert (second["cost"], second["other"]) == pytest.approx((0.8806, 0.8906), abs=2e-4)
