"""What the commands print and write, as version 0.4 did (``tests/goldens/make.py commands`` wrote it)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("PIL")
pytest.importorskip("matplotlib")
pytest.importorskip("torch")

from golden_cases import differences
from golden_commands import SCENES, SLOW, play
from golden_files import stored
from golden_made import make_all


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_all(tmp_path_factory.mktemp("made"))


_SLOW = {*SLOW, "arcs", "plots"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in _SLOW)) for n in SCENES | SLOW])
def test_command(made, name, tmp_path):
    expected, found = stored("commands")[name], play((SCENES | SLOW)[name], made, tmp_path / "scene")
    wrong = differences(expected, found, single=True)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:20])
