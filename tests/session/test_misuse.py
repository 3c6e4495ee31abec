"""Python used wrongly: every argument of a wrong kind is one true line that names it; none is passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.session.open import demo_folder
from fabula.session.session import Session, session_of

ICARUS = fabula.template("icarus")
ESSENCES = [np.random.default_rng(k).normal(size=6) for k in range(8)]
MANY = [Collection(str(k), [Item("x", "One"), Item("y", "Two")], [[k % 2], [1 - k % 2]], ["energy"]) for k in range(20)]
ORDERED = [Collection("a", [Item("x"), Item("y")], [[1.0], [2.0]], ["energy"])]


@pytest.fixture(scope="module")
def session() -> Session:
    return session_of([Item(name, title=name) for name in ("Dawn", "Noon", "Dusk", "Night")], [3.0, 1.0, 2.0, 0.5])


WISHES: list[tuple[dict[str, Any], str]] = [
    ({"smooth": "x"}, "there is no wish 'smooth'; did you mean 'smoothness'?"),
    ({"smoothness": "x"}, "smoothness: must be a number; got 'x'"),
    ({"smoothness": True}, "smoothness: must be a number; got True"),
    (
        {"first": ["Dawn"]},
        "first: must be an item: its title, or its index, or one for each side by number; got ['Dawn']",
    ),
    ({"last": 1.5}, "last: must be an item: its title, or its index, or one for each side by number; got 1.5"),
    ({"first": {"A": "Dawn"}}, "first: must be items by position, counted from 0; got 'A'"),
    ({"sides": "2"}, "sides: must be a whole number of at least 1; got '2'"),
    ({"sides": 2.5}, "sides: must be a whole number of at least 1; got 2.5"),
    ({"sides": 0}, "sides: must be at least 1; got 0"),
    ({"alternatives": None}, "alternatives: must be a whole number of at least 1; got None"),
    (
        {"smooth_by": "tempo", "smoothness": 1},
        "smooth_by: must be weights by name, such as {'essence': 1}; got 'tempo'",
    ),
    ({"smooth_by": {"tempo": "x"}, "smoothness": 1}, "smooth_by: must be weights by name"),
    ({"smooth_by": {"tempo": 1}, "smoothness": 1}, "smooth_by: no step between these items is called 'tempo'"),
    ({"at": ["Dawn"]}, "at: must be items by position, such as {0: 'Intro'}; got ['Dawn']"),
    ({"at": {"1": "Dawn"}}, "at: must be items by position, counted from 0; got '1'"),
    ({"together": ["Dawn", "Noon"]}, "together: must be lists of items, such as [['Intro', 'Dawn']]; got 'Dawn'"),
    ({"together": None}, "together: must be lists of items"),
    ({"before": ("Dawn", "Noon")}, "before: must be pairs of items; got 'Dawn'"),
    ({"before": [("Dawn", None)]}, "before: must be pairs of items; got None"),
    ({"apart": ["artist"]}, "apart: must be the name of a column; got ['artist']"),
    ({"together_by": 3}, "together_by: must be the name of a column; got 3"),
    ({"limit": [1]}, "limit: must be a length, as a number or as text; got [1]"),
    ({"template": 3}, "template: must be a template, or its name; got 3"),
    ({"like": 3}, "like: must be an open session, or a path; got 3"),
    ({"flip": "no"}, "flip: must be True or False; got 'no'"),
    ({"seconds": "x"}, "seconds: must be a number; got 'x'"),
    ({"keep": "most"}, "keep: must be a number; got 'most'"),
    ({"matter": None}, "matter: must be True or False; got None"),
    ({"series": 1}, "series: must be True or False; got 1"),
    ({"never_worse": "yes"}, "never_worse: must be True or False; got 'yes'"),
    ({"step_limits": {"key": "near"}}, "step_limits: must be weights by name, such as {'essence': 1}; got 'near'"),
    ({"soft": {1: 1}}, "soft: must be weights by name, such as {'essence': 1}; got 1"),
    ({"at": {0: 1.5}}, "at: must be items by position, counted from 0; got 1.5"),
    ({"ordering": 3}, "ordering: must be whole numbers; got 3"),
    ({"ordering": np.zeros((2, 2), dtype=int)}, "ordering: must be whole numbers; got array([0, 0])"),
    ({"ordering": range(4), "sides": 2, "side_sizes": [2.5, 1.5]}, "side_sizes: must be whole numbers; got 2.5"),
    ({"quux": 1}, "there is no wish 'quux'; there are: template, like, "),
    ({"request": "icarus"}, "takes a Request, or wishes by name; got 'icarus'"),
]


@pytest.mark.parametrize(("wishes", "words"), WISHES, ids=[f"{k}-{next(iter(w))}" for k, (w, _) in enumerate(WISHES)])
def test_a_wish_of_a_wrong_kind_is_named(session, wishes, words):
    with pytest.raises(InputError) as caught:
        session.order(**wishes)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


def test_numbers_of_numpy_are_numbers(session):
    ordered = session.order(first=np.int64(2), sides=np.int32(2), smoothness=np.float32(0.5), at={np.int64(-1): 0})
    assert (ordered.titles[0], ordered.titles[-1], len(ordered.sides)) == ("Dusk", "Dawn", 2)
    assert session.order(ordering=np.array([3, 2, 1, 0])).ordering.tolist() == [3, 2, 1, 0]


CALLS = {
    "paths: must be a path, or several; got 3": lambda: fabula.open(3),
    "paths: must be a path, or several; got None": lambda: fabula.order(None),
    "paths: must be a path, or several; got b'x'": lambda: fabula.open([b"x"]),
    "by: must be a name; got 3": lambda: fabula.open(demo_folder(), by=3),
    "model: must be the name of a model, or its file; got 3": lambda: fabula.open(demo_folder(), model=3),
    "recursive: must be True or False; got 'no'": lambda: fabula.order(demo_folder(), recursive="no"),
    "template: must be a Template, such as fabula.template('icarus'); got 'icarus'": lambda: fabula.fit(
        [1, 2], "icarus"
    ),
    "fixed: must be items by position, such as {0: 7}; got [1]": lambda: fabula.fit([1, 2], ICARUS, fixed=[1]),
    "essences: must be a list of arrays in true order; got None": lambda: fabula.learn_templates(None, k=1),
    "k: must be a whole number; got '2'": lambda: fabula.learn_templates(ESSENCES, k="2"),
    "seed: must be a whole number of at least 0; got 'x'": lambda: fabula.learn_templates(ESSENCES, k=2, seed="x"),
    "seed: must be at least 0; got -1": lambda: fabula.learn_templates(ESSENCES, k=2, seed=-1),
    "orderings: must be a list of orderings; got 3": lambda: fabula.evaluate(3),
    "model: must be a model, as fabula.load_model gives one; got 'albums'": (
        lambda: fabula.mutual_information("albums", ORDERED)
    ),
    "collections: must be a list of collections; got None": (
        lambda: fabula.mutual_information(fabula.load_model("albums"), None)
    ),
    "collections: must be a list of collections; got 1": (
        lambda: fabula.mutual_information(fabula.load_model("albums"), [1])
    ),
    "negatives: must be a whole number of at least 1; got 2.5": (
        lambda: fabula.mutual_information(fabula.load_model("albums"), ORDERED, negatives=2.5)
    ),
    "the data must be a table or a list of collections; got None": lambda: fabula.train(None),
    "training setting 'epochs' must be a whole number of at least 1; got 'x'": lambda: fabula.train(
        MANY, kind="set", epochs="x"
    ),
    "model: must be the name of a model, or its file; got None": lambda: fabula.load_model(None),
    "templates: must be a list of templates; got 'icarus'": lambda: fabula.TemplateSet(["icarus"]),
    "items: must be a list of Items; got 'a'": lambda: Collection("c", ["a"]),
    "feature_names: must be a list of names; got 'energy'": lambda: Collection("c", [Item("a")], [[1.0]], "energy"),
    "features: must be numbers; got 'x'": lambda: Collection("c", [Item("a")], "x", ["energy"]),
}


@pytest.mark.parametrize("words", CALLS)
def test_a_call_with_a_wrong_argument_is_one_line(words):
    with pytest.raises(InputError) as caught:
        CALLS[words]()
    assert str(caught.value) == words


def test_what_is_written_needs_a_name(session, tmp_path):
    ordered = session.order()
    with pytest.raises(InputError, match="path: must be the name of a file; got 3"):
        ordered.save(3)
    with pytest.raises(InputError, match="copy_to: must be a folder; got None"):
        ordered.copy(None)
    with pytest.raises(InputError, match="by: must be the name of a column; got 3"):
        session.by(3)
    assert Path(ordered.save(tmp_path / "x.csv")).exists()


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"first": "Midnight"}, "first: no item is called 'Midnight'"),
        ({"last": {1: "Midnight"}, "sides": 2}, "last: no item is called 'Midnight'"),
        ({"at": {2: "Midnight"}}, "at: no item is called 'Midnight'"),
        ({"together": [["Embers", "Midnight"]]}, "together: no item is called 'Midnight'"),
        ({"before": [("Embers", "Midnight")]}, "before: no item is called 'Midnight'"),
        ({"smooth": 1}, "there is no wish 'smooth'"),
    ],
)
def test_a_wish_that_names_nothing_is_told_before_anything_is_measured(
    wishes: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(*_: Any, **__: Any) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr("fabula.session.session.find_essence", measure)
    with pytest.raises(InputError) as error:
        fabula.order(demo_folder(), **wishes)
    assert str(error.value).startswith(words)
    with pytest.raises(AssertionError, match="measured"):
        fabula.order(demo_folder(), first="Embers")


def test_a_title_that_only_one_of_the_wanted_items_has_names_it(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("title,energy\nDawn,0.1\nDawn,0.9\nNoon,0.8\nDusk,0.7\n")
    with pytest.raises(InputError, match="'Dawn' fits 2 items"):
        fabula.order(table, first="Dawn")
    assert fabula.order(table, first="Dawn", only="energy > 0.5").titles[0] == "Dawn"
