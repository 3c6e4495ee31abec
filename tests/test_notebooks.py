"""The notebooks run from top to bottom, and hold no outputs that could be out of date."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from unittest.mock import patch

import pytest

from fabula.models.encoders import ENCODERS
from fabula.models.own import OWN_ENCODERS, OWN_SCORERS
from fabula.models.scorers import SCORERS

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def shown(cell, namespace):
    """Run a cell as a notebook does; what its last line shows."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), namespace)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)


def test_there_are_some():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.read(path, as_version=4))
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells(path))


@pytest.mark.slow
@patch.dict(OWN_SCORERS)  # it makes parts of its own known
@patch.dict(SCORERS)
@patch.dict(OWN_ENCODERS)
@patch.dict(ENCODERS)
def test_the_notebook_on_learning_runs_and_shows_what_it_says(capsys):
    [path] = [path for path in NOTEBOOKS if path.stem == "learning"]
    namespace: dict = {}
    results = [shown(cell, namespace) for cell in cells(path)]
    html = [result._repr_html_() for result in results if hasattr(result, "_repr_html_")]
    assert len(html) == 6  # a collection, what was trained, the information, the model, its arcs, the templates
    assert namespace["done"].information["arcs"].low > 0.2
    assert len(namespace["bits"]) == 25
    assert namespace["report"].ok
    assert all(low < 0.02 for _, _, (low, _), _ in results[3])  # the controls
    assert set(results[-1]) == {"arcs", "ends"}
    assert min(results[-1].values()) > 0
    assert namespace["templates"].cost(namespace["essences"]) < 0.6
