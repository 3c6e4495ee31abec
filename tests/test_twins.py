"""Every command has its twin in Python: a function that does the same, or a reason why there is none."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_args

import click
import numpy as np
import pytest

import fabula
from fabula.cli import cli

NOT_OF_USE = {
    "demo": "it is fabula.order on a folder that comes with the package, printed",
    "sources": "it lists what can be opened, printed",
    "doctor": "it looks at what is installed on this machine",
    "cache info": "it looks at a folder of this machine",
    "cache clear": "it empties a folder of this machine",
}


def twins() -> dict[str, Callable[..., Any]]:
    """Command -> the function that does it."""
    from fabula.jobs.job import gather, plan_job
    from fabula.jobs.status import Watch
    from fabula.jobs.worker import work
    from fabula.research.bench_programs import run_program
    from fabula.research.corpus import compare_files, cost_table, count_templates, descend, follow
    from fabula.research.evaluate import evaluate_table
    from fabula.research.reproduce import reproduce
    from fabula.session.catalogue import extract_table
    from fabula.session.export import copy_numbered, restore
    from fabula.session.inner_arcs import inner_arcs
    from fabula.sources.fma.archive import fetch_fma
    from fabula.web.app import create_app

    return {
        "order": fabula.order,
        "review": fabula.review,
        "arcs": inner_arcs,
        "copy": copy_numbered,
        "restore": restore,
        "serve": create_app,
        "templates list": fabula.template_names,
        "templates show": fabula.template,
        "templates learn": fabula.learn_templates,
        "templates compare": compare_files,
        "templates cost": follow,
        "templates count": count_templates,
        "templates genealogy": descend,
        "templates table": cost_table,
        "extract": extract_table,
        "encode": fabula.Model.encode_many,
        "job plan": plan_job,
        "job work": work,
        "job status": Watch,
        "job gather": gather,
        "fetch fma": fetch_fma,
        "info": fabula.load_model,
        "train": fabula.train,
        "audit": fabula.audit,
        "compare": fabula.compare,
        "evaluate": evaluate_table,
        "reproduce": reproduce,
        "bench-order": run_program,
    }


def commands(group: click.Command = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that can be given, by its whole name."""
    if not isinstance(group, click.Group):
        yield path, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command, f"{path} {name}".strip())


def test_every_command_has_its_twin_or_a_reason():
    names, known = [name for name, _ in commands()], twins()
    assert sorted(names) == sorted([*known, *NOT_OF_USE])
    for name, function in known.items():
        assert callable(function), name
        assert inspect.getdoc(function), name


# Options of a command that are arguments of its twin by another name, or print or write what the twin gives back.
RENAMED = {"table": "data", "preset": "config", "sweep": "dimensions", "logged": "settings", "write_recipe": "output"}
SETTINGS = {"settings", "features", "scorers", "dimensions", "epochs", "batch", "negatives", "seed"}
PRINTED = {"as_json", "help", "help_all", "show_recipe", "recipe_file", "history", "tensorboard", "onnx", "checkpoint"}
ROWS = {"where": "read_table(path, where=...) chooses rows"}


@pytest.mark.parametrize("name", ["train", "audit", "compare"])
def test_a_training_takes_what_its_command_takes(name):
    parameters = set(inspect.signature(twins()[name]).parameters)
    options = {parameter.name or "" for parameter in dict(commands())[name].params}
    told = options - PRINTED - SETTINGS - set(ROWS) - {"output"} if name == "compare" else options - PRINTED - SETTINGS
    missing = {each for each in told - set(ROWS) if RENAMED.get(each, each) not in parameters}
    assert not missing
    assert "settings" in parameters


SMALL = {
    "essence": {"epochs": 2, "widths": (8,), "scorers": ("arcs",)},
    "mlp": {"epochs": 2, "widths": (8,), "scorers": ("arcs",)},
    "identity": {"epochs": 2, "scorers": ("arcs",)},
    "set": {"epochs": 1, "width": 16, "layers": 1, "heads": 2, "negatives": 8},
    "neighbours": {"negatives": 15},
    "pictures": {"negatives": 15},
    "steps": {"steps": 2, "batch": 8},
}


def collections(kind: str) -> list[fabula.Collection]:
    """Collections that rise in one measure: of pictures, of texts, or of numbers."""
    rng, found = np.random.default_rng(0), []
    pictures = ("brightness", "contrast", "warmth", "green_red", "colourfulness", "aspect")
    names = pictures if kind in ("neighbours", "pictures") else ("a", "b")
    for number in range(24):
        rows = rng.normal(size=(7, len(names))) + np.linspace(0, 3, 7)[:, np.newaxis]
        items = [fabula.Item(f"{number}/{k}", f"song {k}", artist=f"owner {number}") for k in range(7)]
        found.append(fabula.Collection(str(number), items, rows, names))
    return found


@pytest.mark.parametrize("kind", [kind for kind in SMALL if kind != "steps"])
def test_every_kind_is_trained_from_python(kind, tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "m.safetensors"
    done = fabula.train(collections(kind), kind=kind, device="cpu", output=out, **SMALL[kind])
    assert all(info.low <= info.bits <= info.high for info in done.information.values())
    assert isinstance(done, fabula.Model)
    assert isinstance(fabula.load_model(out), fabula.Model)
    assert done.config == done.model.config == fabula.load_model(out).config
    report = fabula.audit(collections(kind), kind=kind, device="cpu", controls_only=True, **SMALL[kind])
    assert {row.data for row in report.rows} >= {"noise features", "shuffled orders"}


@pytest.mark.slow
def test_texts_are_trained_from_python(tmp_path):
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for book in range(8):
        folder = tmp_path / "books" / f"book {book}"
        folder.mkdir(parents=True)
        for number in range(7):
            people = [f"Name{chr(97 + number + k)}{book}" for k in range(3)]
            lines = [f"Then {who} saw {rng.choice(people)} {number * 'very '}well." for who in 4 * people]
            (folder / f"{number + 1:02}.txt").write_text(" ".join(lines))
    done = fabula.train(tmp_path / "books", kind="steps", **SMALL["steps"])
    assert set(done.information) == {"arcs + flow + reach"}
    assert done.model.card["collections"] > 0


def test_the_kinds_of_the_command_are_those_of_python():
    from fabula.research.splits import Kind

    option = next(each for each in dict(commands())["train"].params if each.name == "kind")
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == set(get_args(Kind)) <= set(SMALL)
    with pytest.raises(fabula.FabulaError, match="a kind of model is one of essence, set, steps, neighbours"):
        fabula.train(collections("set"), kind="songs")
