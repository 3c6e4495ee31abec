"""The public names, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import resolve_name

import click
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
TWINS = {  # command: what does the same from Python
    "arcs": "fabula.session.inner_arcs.inner_arcs",
    "audit": "fabula.audit",
    "bench-order": "fabula.research.bench.make_card",
    "cache clear": "fabula.media.extraction.clear_cache",
    "cache info": "fabula.media.extraction.cache_info",
    "compare": "fabula.compare",
    "copy": "fabula.session.ordered.Ordered.copy",
    "demo": "fabula.session.open.order_demo",
    "encode": "fabula.session.catalogue.encode_catalogue",
    "evaluate": "fabula.research.evaluate.evaluate_table",
    "extract": "fabula.session.catalogue.extract_table",
    "fetch fma": "fabula.sources.fma.archive.fetch_fma",
    "info": "fabula.load_model",
    "job gather": "fabula.jobs.job.gather",
    "job plan": "fabula.jobs.job.plan_job",
    "job status": "fabula.jobs.status.Watch",
    "job work": "fabula.jobs.worker.work",
    "order": "fabula.order",
    "reproduce": "fabula.research.reproduce.reproduce",
    "restore": "fabula.session.export.restore",
    "review": "fabula.review",
    "serve": "fabula.web.app.create_app",
    "sources": "fabula.sources.registry.readers",
    "templates compare": "fabula.research.corpus.compare_files",
    "templates cost": "fabula.research.corpus.follow",
    "templates count": "fabula.research.corpus.count_templates",
    "templates genealogy": "fabula.research.corpus.descend",
    "templates learn": "fabula.learn_templates",
    "templates list": "fabula.template_names",
    "templates show": "fabula.template",
    "templates table": "fabula.research.corpus.cost_table",
    "train": "fabula.train",
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


def test_every_command_has_a_twin_in_python():
    from fabula.cli import cli

    def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[str]:
        if not isinstance(command, click.Group):
            return [" ".join(path)]
        context = click.Context(command)
        names = command.list_commands(context)
        return [leaf for name in names for leaf in leaves(command.get_command(context, name), (*path, name))]

    assert sorted(leaves(cli)) == sorted(TWINS)
    for twin in TWINS.values():
        assert callable(resolve_name(twin)), twin


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
