"""Recipes as files: what is written is what is read, and nothing is passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from fabula.cli import run
from fabula.errors import FileError, InputError
from fabula.research.splits import Recipe, parse_recipe, read_recipe, recipe_text, whole_recipe, write_recipe
from fabula.training.recipes import PRESETS, preset

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUE = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)
HEAD = 'format = "fabula-recipe"\nversion = 1\n'


@pytest.mark.slow
@given(
    table=TEXT.filter(lambda text: str(Path(text)) == text and text != "."),
    where=st.dictionaries(TEXT, TEXT, max_size=3),
    settings=st.dictionaries(TEXT, VALUE, max_size=4),
    held_out=st.floats(0.01, 0.9),
    titles=st.none() | TEXT,
)
def test_every_recipe_comes_back_exactly(table, where, settings, held_out, titles):
    recipe = Recipe(Path(table), where, "arcs", settings, "cpu", held_out, "set", titles, None)
    again = parse_recipe(recipe_text(recipe), "here")
    assert again == recipe
    assert [type(value) for value in again.changes.values()] == [type(value) for value in settings.values()]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_printed_and_read_is_that_preset(name, capsys):
    assert run(["train", "--preset", name, "--show-recipe"]) == 0
    recipe = parse_recipe(capsys.readouterr().out, "printed")
    assert preset(recipe.preset, **recipe.changes) == preset(name)


def test_a_set_recipe_is_shown_whole():
    found = whole_recipe(Recipe(Path("x.csv"), kind="set", titles="name", changes={"epochs": 3, "width": 32}))
    assert found.changes["epochs"] == 3
    assert found.changes["width"] == 32
    assert found.changes["negatives"] == 1024


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "epoch = 3", "a recipe has no key 'epoch'; it has: format, version, table"),
        (HEAD + 'kind = "sets"', "kind must be one of essence, set, .*; got 'sets'"),
        (HEAD + 'held_out = "a tenth"', "held_out must be a number; got 'a tenth'"),
        (HEAD + "table = 3", "table must be text; got 3"),
        (HEAD + "[where]\nkind = 3", r"\[where\] kind must be text; got 3"),
        (HEAD + "where = 3", r"\[where\] must be a table of names and values; got 3"),
        ('format = "fabula-recipe"\nversion = 2', "recipe version 2; this fabula reads version 1"),
        ("a = 1", 'must say format = "fabula-recipe"'),
        ("a = ", "TOML expected"),
    ],
)
def test_what_is_wrong_is_one_line(text, words):
    with pytest.raises(FileError, match=rf"^x\.toml: .*{words}") as caught:
        parse_recipe(text, "x.toml")
    assert "\n" not in str(caught.value)


def test_an_unknown_setting_is_one_line(tmp_path, capsys):
    file = tmp_path / "r.toml"
    file.write_text(HEAD + "[settings]\nepoch = 3\n")
    (tmp_path / "t.csv").write_text("collection,position,a\n" + "".join(f"{c},{p},{p}\n" for c in "xyz" for p in "123"))
    command = ["train", str(tmp_path / "t.csv"), "--recipe", str(file), "-o", str(tmp_path / "m.safetensors")]
    assert run(command) == 2
    error = capsys.readouterr().err
    assert "training has no setting 'epoch'" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "m.safetensors").exists()


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(InputError, match="a recipe holds texts, finite numbers and lists"):
        recipe_text(Recipe(Path("x"), changes={"x": {"y": 1}}))
    with pytest.raises(InputError, match="no valid text"):
        write_recipe(tmp_path / "r.toml", Recipe(Path("x\udcff")))
    with pytest.raises(FileError, match="cannot be read as a recipe"):
        read_recipe(tmp_path / "none.toml")


def test_a_table_must_be_named_somewhere(tmp_path, capsys):
    assert run(["audit", "--preset", "arcs"]) == 2
    assert "give a TABLE, or a --recipe that names one" in capsys.readouterr().err
    assert run(["train", "t.csv"]) == 2
    assert "where does the model go? give -o FILE.safetensors" in capsys.readouterr().err
