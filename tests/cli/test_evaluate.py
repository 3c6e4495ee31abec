from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from fabula.cli.research.evaluate import command as evaluate
from fabula.errors import FileError, InputError


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["album,track,energy,tempo,kind"]
    for a in range(60):
        values = rng.normal(size=6) + np.linspace(2, -2, 6)
        lines += [f"{a},{i + 1},{values[i]},{rng.normal()},{'live' if a < 5 else ''}" for i in range(6)]
    path = tmp_path / "albums.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def call(*arguments):
    return CliRunner().invoke(evaluate, [str(a) for a in arguments], catch_exceptions=False)


def test_it_prints_every_method_and_no_p_without_effect_and_n(table):
    result = call(table, "--by", "energy", "--held-out", "0.4", "--where", "kind=")
    assert result.exit_code == 0
    for method in ("chance", "energy down", "squared-error templates", "mixture of arcs"):
        assert method in result.output
    headers = [line for line in result.output.splitlines() if line.rstrip().endswith("p adj.")]
    assert len(headers) == 3
    assert all(word in line for line in headers for word in (" n ", "gain", "95 % interval", "effect"))
    assert "Holm-Bonferroni over all 24 tests" in result.output
    tables, sentences = result.output.split("paired t-tests")
    assert max(map(len, tables.splitlines())) <= 100
    assert "LEAK: column 'energy'" in sentences  # it rises in every collection


def test_json_and_files_say_the_same(table, tmp_path):
    shown = json.loads(call(table, "--by", "energy", "--json", "-o", tmp_path / "r.json").output)
    assert shown == json.loads((tmp_path / "r.json").read_text())
    call(table, "--by", "energy", "-o", tmp_path / "r.csv")
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [row["method"] for row in rows] == [row["method"] for row in shown["rows"]]
    best = next(row for row in rows if row["method"] == "energy down")
    assert float(best["spearman"]) > 0.7
    assert float(best["spearman low"]) < float(best["spearman"]) < float(best["spearman high"])


def test_what_is_endless_is_null_in_json(tmp_path):
    path = tmp_path / "few.csv"  # two collections are measured, which every method that learns orders alike
    rows = [f"{c},{i},{(i * 7 + c * 3) % 5},{'test' if c > 5 else 'train'}" for c in range(8) for i in range(5)]
    path.write_text("\n".join(["album,track,energy,split", *rows]) + "\n")
    arguments = (path, "--by", "energy", "--split", "test", "-o", tmp_path / "few.json", "--json")
    shown = json.loads(call(*arguments).output, parse_constant=pytest.fail)
    assert shown == json.loads((tmp_path / "few.json").read_text(), parse_constant=pytest.fail)
    assert None in [each["effect"] for each in shown["tests"]]


def test_the_same_seed_gives_the_same(table):
    one, two = (call(table, "--by", "energy", "--json", "--seed", "3").output for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((), InputError, "give a model or a column"),
        (("--by", "energy", "--model", "audio"), InputError, "one of the two"),
        (("--by", "volume"), InputError, "no feature 'volume'"),
        (("--by", "energy", "-o", "out.txt"), InputError, "must be one of .json, .csv"),
        (("--by", "energy", "--templates", "nowhere.json"), FileError, "nowhere.json"),
        (("--by", "energy", "--where", "kind"), InputError, "COLUMN=VALUE"),
    ],
)
def test_a_mistake_is_told(table, arguments, error, words):
    with pytest.raises(error, match=words):
        call(table, *arguments)
