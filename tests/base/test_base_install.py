"""What a plain ``pip install fabula`` must do: these tests run where only the base dependencies are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FABULA = str(Path(sys.executable).with_name("fabula"))
HEAVY = ("torch", "librosa", "pandas", "pyarrow", "matplotlib", "fastapi")


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FABULA, *arguments], capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mon été.csv"
    path.write_text("title,energy\nUn,0.2\nDeux,0.9\nTrois,0.5\nQuatre,0.4\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("module", HEAVY)
def test_no_heavy_dependency_is_installed(module):
    assert find_spec(module) is None


def test_import_loads_nothing_heavy():
    code = "import sys, fabula; fabula.Template; fabula.fit; print([m for m in sys.argv[1:] if m in sys.modules])"
    watched = [*HEAVY, "scipy.optimize", "rich", "click"]
    result = subprocess.run(
        [sys.executable, "-c", code, *watched], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"


def test_every_public_name_loads():
    code = "import fabula; [getattr(fabula, name) for name in fabula.__all__]; print(len(fabula.__all__))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert int(result.stdout) >= 20


def test_training_names_its_extra_and_what_loads_a_model_needs_none():
    code = "from fabula.models.own import register; import fabula; register(); fabula.training.preset"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "training needs torch" in result.stderr.splitlines()[-1]
    assert "pip install 'fabula[train]'" in result.stderr.splitlines()[-1]


def test_order_a_table(table):
    result = run("order", str(table), "--by", "energy", "--template", "steady-rise", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["ordering"] == [0, 3, 2, 1]


@pytest.mark.skipif(not __file__.isascii(), reason="in the locale C Python itself does not start from such a path")
def test_the_terminal_table_in_any_locale(table):
    for locale in ("C", "C.UTF-8"):
        environment = {**os.environ, "LC_ALL": locale, "PYTHONIOENCODING": ""}
        result = run("order", str(table), "--by", "energy", env=environment)
        assert result.returncode == 0, result.stderr
        assert "Quatre" in result.stdout


def test_a_missing_extra_is_one_line_with_the_pip_command(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    result = run("order", str(path), "--by", "x")
    assert result.returncode == 2
    assert result.stderr == (
        "fabula: reading Parquet tables needs pyarrow, which is not installed: pip install 'fabula[tables]'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("serve",), "the page needs fastapi, which is not installed: pip install 'fabula[web]'"),
        (("train", "t.csv", "-o", "m"), "training needs torch, which is not installed: pip install 'fabula[train]'"),
        (
            ("order", "t.csv", "--by", "energy", "--plot", "x.png"),
            "a picture as .png needs matplotlib, which is not installed: pip install 'fabula[plot]'",
        ),
    ],
)
def test_every_missing_extra_names_its_pip_command(arguments, line, table, tmp_path):
    table.rename(tmp_path / "t.csv")
    result = run(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (2, f"fabula: {line}\n")


def test_demo(tmp_path):
    result = run("demo", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "#" in result.stdout
