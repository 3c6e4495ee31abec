"""The public names, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fabula

PUBLIC = [
    "Batch",
    "Collection",
    "Collections",
    "Encoder",
    "EpochLog",
    "FabulaError",
    "Fit",
    "Item",
    "Model",
    "Ordered",
    "Request",
    "Scorer",
    "Session",
    "Template",
    "TemplateSet",
    "TensorBoardLog",
    "audit",
    "compare",
    "evaluate",
    "fit",
    "information_of",
    "learn_templates",
    "load_model",
    "mutual_information",
    "normalise",
    "open",
    "order",
    "preset",
    "read_table",
    "register",
    "save_model",
    "template",
    "template_names",
    "train",
]
HEAVY = ["torch", "scipy.optimize", "librosa", "pandas", "pyarrow", "matplotlib", "click", "rich", "fastapi"]


def test_the_public_names_are_these():
    assert sorted(fabula.__all__) == PUBLIC
    assert set(fabula.__all__) <= set(dir(fabula))


@pytest.mark.parametrize("name", PUBLIC)
def test_each_has_a_docstring_and_a_home(name):
    value = getattr(fabula, name)
    assert value.__doc__
    assert value.__module__.startswith("fabula.")


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'fabula' has no attribute 'nonsense'"):
        _ = fabula.nonsense


@pytest.mark.parametrize(
    "code",
    [
        "import fabula",
        "import fabula; [getattr(fabula, name) for name in fabula.__all__]",
        "import fabula; fabula.fit([1, 2, 3], fabula.template('icarus'), fixed={0: 1})",
    ],
)
def test_nothing_heavy_is_loaded(code):
    check = f"{code}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == "[]\n"


def test_help_loads_nothing_heavy():
    check = (
        f"from fabula.cli import run; run(['--help']); import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.splitlines()[-1] == "['click']"
