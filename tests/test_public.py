"""The public names, and what importing them costs."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import fabula

PUBLIC = [
    "Collection",
    "Collections",
    "FabulaError",
    "Item",
    "Model",
    "Template",
    "TemplateSet",
    "audit",
    "compare",
    "evaluate",
    "fit",
    "learn_templates",
    "load_model",
    "mutual_information",
    "normalise",
    "open",
    "order",
    "read_table",
    "review",
    "template",
    "template_names",
    "train",
]
MOVED = {
    "Encoder": "fabula.training",
    "EpochLog": "fabula.training",
    "Fit": "fabula.core.fit",
    "Ordered": "fabula.session.ordered",
    "Request": "fabula.session.request",
    "Scorer": "fabula.training",
    "Session": "fabula.session.session",
    "TensorBoardLog": "fabula.training",
    "information_of": "fabula.evaluation.information",
    "preset": "fabula.training",
    "register": "fabula.models.own",
    "save_model": "fabula.models.model",
}
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


@pytest.mark.parametrize("name", MOVED)
def test_a_name_that_moved_works_and_says_where_it_is(name):
    with pytest.warns(DeprecationWarning, match=rf"^fabula\.{name} is now {MOVED[name]}\.{name}$"):
        value = getattr(fabula, name)
    assert value is getattr(import_module(MOVED[name]), name)


@pytest.mark.parametrize("package", ["fabula.media", "fabula.training"])
def test_what_packages_offer_is_there(package):
    found = import_module(package)
    assert found is getattr(fabula, package.partition(".")[2])
    assert all(getattr(found, name).__doc__ for name in found.__all__)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = found.nonsense


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


def test_ordering_sound_for_the_first_time_loads_of_scipy_what_it_needs(tmp_path):
    check = "import fabula, sys; fabula.order(sys.argv[1]); print([m for m in sys.argv[2:] if m in sys.modules])"
    demo, own = Path(fabula.__file__).parent / "demo", {**os.environ, "FABULA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", check, str(demo), "scipy.signal", "scipy.stats", "scipy.sparse.csgraph"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, env=own)
    assert result.stdout == "[]\n"


def test_help_loads_nothing_heavy():
    check = (
        f"from fabula.cli import run; run(['--help']); import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.splitlines()[-1] == "['click']"
