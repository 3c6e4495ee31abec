"""A medium and a source from another package: installed by pip, found by entry points, with no change to fabula."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOYS = Path(__file__).with_name("toys")


@pytest.fixture(scope="module")
def toys(tmp_path_factory) -> Path:
    """Where the package of toys is installed."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(target), str(TOYS)], check=True, timeout=100)
    return target


@pytest.fixture
def fabula(toys, tmp_path):
    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        paths = [str(toys), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "FABULA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "fabula", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=tmp_path)

    return call


@pytest.fixture
def tower(tmp_path) -> Path:
    folder = tmp_path / "my tower é"
    folder.mkdir()
    for name, weight, height in (("red", 3, 10), ("green", 1, 20), ("blue", 2, 5), ("oak", 9, 12)):
        (folder / f"{name}.block").write_text(f"{weight} {height}\n")
    return folder


@pytest.mark.slow
def test_a_folder_of_another_medium_is_measured_and_ordered(fabula, tower):
    done = fabula("order", tower, "--by", "weight", "--template", "steady-rise", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [item["title"] for item in told["items"]] == ["green", "blue", "red", "oak"]
    assert told["unit"] == "centimetres"
    assert told["lengths"] == [47.0]
    assert told["items"][0]["builder"] == ""
    assert told["items"][-1]["why"].startswith("heavy: ")


@pytest.mark.slow
def test_limits_and_sides_count_its_own_unit(fabula, tower):
    done = fabula("order", tower, "--by", "weight", "--template", "steady-rise", "--limit", "30", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["lengths"] == [27.0]
    assert [item["title"] for item in told["items"]] == ["blue", "red", "oak"]
    wrong = fabula("order", tower, "--by", "weight", "--limit", "tall")
    assert wrong.returncode == 2
    assert wrong.stderr == "fabula: --limit: takes a number above 0, such as 12; got 'tall'\n"


@pytest.mark.slow
def test_an_address_of_another_source_is_opened(fabula):
    done = fabula("order", "box://3,1,2", "--by", "weight", "--template", "steady-fall", "--json")
    assert done.returncode == 0, done.stderr
    assert [item["title"] for item in json.loads(done.stdout)["items"]] == ["block 3", "block 2", "block 1"]
    unknown = fabula("order", "crate://1,2", "--by", "weight")
    assert unknown.stderr.startswith("fabula: crate://1,2: nothing here opens crate:// addresses; there are: ")
    assert ", box, " in unknown.stderr


@pytest.mark.slow
def test_without_the_package_its_files_are_no_items(tower, tmp_path):
    command = [sys.executable, "-m", "fabula", "order", str(tower)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert ".block" in done.stderr
