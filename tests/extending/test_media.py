"""A medium of another package beside those of the house: whose files are whose, what fails, what is tried out."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest

import fabula
import fabula.media
from fabula.cli import cli, run
from fabula.errors import FileError, InputError
from fabula.media import (
    Collection,
    Cover,
    Fact,
    Item,
    Medium,
    Preview,
    Spec,
    Step,
    Steps,
    Telling,
    Words,
    check,
    run_program,
    write_whole,
)
from fabula.media.children import Stopped
from fabula.session.open import demo_folder

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("tall", "wide")


def measure(path, stop):
    tall, wide = Path(path).read_text().split()
    return np.array([float(tall), float(wide)])


def write_pile(collection, target, sides):
    return write_whole(target, "\n".join(item.title for item in collection.items))


PILES = Medium(
    "piles",
    Words("stone", "stones", "pile", "mason"),
    endings=frozenset({".mp3", ".stone"}),
    specs={"piles": lambda: Spec("piles", 1, NAMES, measure, (2,))},
    columns=("wide",),
    outputs={".pile": write_pile},
)


@pytest.fixture
def stones(tmp_path):
    for name, tall, wide in (("a", 1, 3), ("b", 2, 1), ("c", 3, 2), ("d", 4, 9)):
        (tmp_path / f"{name}.mp3").write_text(f"{tall} {wide}")
    return tmp_path


def fail(*_):
    raise KeyError("moss")


# Whose files they are.


def test_an_ending_that_two_claim_is_told_and_decided(bring, stones):
    bring(PILES)
    session = fabula.open(stones)
    assert session.medium.name == "piles"
    assert session.notes[0] == "opened as piles, though music knows such files, too: say medium music for that"
    assert not any("opened as" in note for note in fabula.open(stones, medium="piles").notes)
    with pytest.raises(FileError, match="is not audio"):
        fabula.open(stones, medium="music")
    with pytest.raises(InputError, match="there is no medium 'pile'; there are: music, text, images, piles, items"):
        fabula.open(stones, medium="pile")


def test_most_files_decide_before_who_claims_them(bring, stones):
    bring(PILES)
    for name in "efghi":
        (stones / f"{name}.flac").write_bytes(b"")
    with pytest.raises(FileError, match="audio"):  # nine files are music's, four the pile's
        fabula.open(stones)


def test_lists_of_such_files_are_opened_alike(bring, stones):
    bring(PILES)
    ordered = fabula.order(stones, by="tall", template="steady-fall")
    assert ordered.titles == ["d", "c", "b", "a"]
    for name in ("list.m3u8", "list.json"):
        again = fabula.open(ordered.save(stones / name), medium="piles", by="tall")
        assert (again.medium.name, len(again.collection)) == ("piles", 4)
    (stones / "list.csv").write_text("title,path\n" + "".join(f"{name},{name}.mp3\n" for name in "abcd"))
    table = fabula.open(stones / "list.csv", by="wide")
    assert table.medium.name == "piles"
    assert "opened as piles, though music knows such files, too: say medium music for that" in table.notes


def test_review_and_extract_take_the_medium_too(bring, stones, capsys):
    bring(PILES)
    assert "order by wide" in fabula.review(stones, medium="piles").notes[0]
    assert run(["extract", str(stones), "--medium", "piles", "-o", str(stones / "x.csv")]) == 0
    assert (stones / "x.csv").read_text().startswith("position,id,title,path,tall,wide,")
    assert run(["review", str(stones), "--medium", "music"]) == 2
    assert "is not audio" in capsys.readouterr().err


def test_two_media_of_one_name_are_refused(bring, stones):
    bring(replace(PILES, name="music"))
    with pytest.raises(InputError, match="two media are called 'music'"):
        fabula.open(stones)


def test_the_help_and_the_list_of_sources_name_it(bring, stones, capsys):
    bring(PILES)
    assert run(["sources"]) == 0
    assert "folders and files of piles (.mp3 .stone): in" in capsys.readouterr().out
    from fabula.cli.order import _name_outputs

    assert _name_outputs().endswith("; of stones .pile")
    order = cli.get_command(click.Context(cli), "order")
    assert any(option.name == "medium" for option in order.params)


# What it goes by where nothing is asked for.


def test_the_first_of_its_columns_is_the_essence(bring, stones):
    bring(PILES)
    session = fabula.open(stones)
    assert session.column == "wide"
    assert session.notes[-1] == "no model knows stones: ordered by wide; another column may be chosen"
    bring(replace(PILES, columns=()))
    assert fabula.open(stones).column == "tall"


def test_where_nothing_is_measured_that_is_said(bring, stones):
    bring(replace(PILES, specs={}, columns=()))
    with pytest.raises(InputError, match="nothing is measured of stones, so there is no number to order them by"):
        fabula.open(stones)


def test_a_model_that_it_brings_has_the_name_of_its_file(bring, stones, tmp_path):
    many = [Collection(str(k), [Item(f"{k}{i}") for i in range(5)], np.random.default_rng(k).random((5, 2)), NAMES)
            for k in range(8)]  # fmt: skip
    from fabula.models.model import Model
    from fabula.models.transform import Transform

    config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": [{"kind": "arcs", "k": 1, "knots": 2}]}
    rise = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
    file = Model(config, rise, Transform(("tall",), (), [0.0], [1.0])).save(tmp_path / "cairn.safetensors")
    bring(replace(PILES, models=(str(file),)))
    session = fabula.open(stones)
    assert session.model_name == "cairn"
    assert session.order().titles == ["a", "b", "c", "d"]
    assert many


# What fails is one line.

BROKEN = {
    "steps": {"steps": fail},
    "lengths": {"lengths": fail},
    "axis": {"axis": fail},
    "facts": {"telling": Telling(facts=fail)},
    "measured": {"steps": lambda collection, essence: Steps((Step("moss", "cm", fail),))},
}


@pytest.mark.parametrize("where", BROKEN)
def test_whatever_it_raises_is_one_line_that_names_it(bring, stones, where):
    bring(replace(PILES, **BROKEN[where]))
    with pytest.raises(FileError, match=rf"medium 'piles', (.*, )?{where} fails \(tests: KeyError: 'moss'\)") as caught:
        fabula.order(stones, smoothness=0.5).to_json()
    assert "\n" not in str(caught.value)


def test_what_cannot_be_written_names_the_file_and_nothing_is_left(bring, stones, capsys):
    bring(replace(PILES, outputs={".pile": fail}))
    assert run(["order", str(stones), "-o", str(stones / "x.pile")]) == 2
    error = capsys.readouterr().err
    assert error == f"fabula: {stones / 'x.pile'}: medium 'piles', outputs fails (tests: KeyError: 'moss')\n"
    assert not (stones / "x.pile").exists()


# A program that is run.


def test_a_program_is_handed_the_files_that_may_be_read(stones):
    file = str(stones / "a.mp3")
    assert run_program(["cat", file], [file]) == b"1 3"
    from fabula.core.files import guard_files

    def guard(path):
        raise PermissionError(13, "Permission denied")

    with guard_files(guard), pytest.raises(FileError, match=r"a\.mp3: cannot be read \(Permission denied\)"):
        run_program(["cat", file], [file])


def test_what_a_program_says_last_is_told(stones):
    file = str(stones / "a.mp3")
    with pytest.raises(FileError, match=r"a\.mp3: sh fails \(worse\)"):
        run_program(["sh", "-c", "echo bad >&2; echo worse >&2; exit 3", file], [file])
    with pytest.raises(FileError, match=r"a\.mp3: needs no-such-program, which is not installed"):
        run_program(["no-such-program", file], [file])
    with pytest.raises(Stopped):
        run_program(["sleep", "60"], stop=lambda: True)


# The test that a package runs.

WRONG = {
    "name": ({"name": "my piles"}, "name: must be a word; got 'my piles'"),
    "ending": ({"endings": frozenset({"mp3"})}, "endings: 'mp3' must be lower case and begin with a dot"),
    "preview": ({"preview": Preview("smell")}, "preview: must be one of .*; got 'smell'"),
    "shape": ({"specs": {"piles": lambda: Spec("piles", 1, NAMES, measure, (3,))}}, "2 names, each once"),
    "place": ({"specs": {"piles": lambda: Spec("piles", 1, NAMES, lambda a, b: None, (2,))}}, "a function of a module"),
    "trait": ({"words": Words(traits={"moss": ("wet", "dry")})}, "words: traits name 'moss', which nothing measures"),
    "item": ({"read_item": lambda path: path}, "read_item: gives an Item with its path; got"),
    "lengths": ({"lengths": lambda collection: np.zeros(1)}, r"lengths: shape \(2,\) is due; got \(1,\)"),
    "steps": ({"steps": lambda c, e: Steps((Step("x", "cm", -np.eye(2)),))}, "steps: x: must be finite, not below 0"),
    "facts": ({"telling": Telling(facts=lambda c: (Fact("x", ("a",)),))}, "facts: x: 2 texts are due, one an item"),
    "cover": ({"preview": Preview("picture", cover=lambda p, s: Cover(b"x", "text/plain"))}, "must be a picture"),
    "raises": ({"steps": fail}, r"steps: tests: KeyError: 'moss' \(raise a FileError where a file is to blame\)"),
    "nothing": ({"outputs": {".pile": lambda c, t, s: t}}, "outputs, .pile: writes nothing to the path it is given"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_medium_is_told(what, stones):
    files = [stones / "a.mp3", stones / "b.mp3"]
    check(PILES, *files)
    changes, words = WRONG[what]
    with pytest.raises(InputError, match=words):
        check(replace(PILES, **changes), *files)


def test_a_file_that_cannot_be_measured_is_told_by_name(stones):
    (stones / "b.mp3").write_text("moss")
    with pytest.raises(InputError, match=r"b\.mp3: cannot be measured"):
        check(PILES, stones / "a.mp3", stones / "b.mp3")


# All that it needs has a public name.


def test_the_example_and_the_page_import_nothing_internal():
    page = (ROOT / "docs" / "extending" / "medium.md").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "fabula-video" / "fabula_video" / "__init__.py").read_text(encoding="utf-8")
    for text in (page, example):
        lines = [line for line in text.splitlines() if line.startswith(("from fabula", "import fabula"))]
        assert all(line.startswith(("from fabula.media import", "import fabula")) for line in lines), lines
        assert not any("fabula.media." in line for line in lines)
    names = {alias.name for node in ast.walk(ast.parse(example)) if isinstance(node, ast.ImportFrom)
             and node.module == "fabula.media" for alias in node.names}  # fmt: skip
    assert names <= set(fabula.media.__all__)
    assert all(getattr(fabula.media, name) is not None for name in fabula.media.__all__)


@pytest.mark.parametrize("name", ["music", "text", "images"])
def test_the_media_of_the_house_pass_it_too(name):
    medium = fabula.media.find_medium(name)
    files = sorted(file for file in demo_folder(name).iterdir() if file.suffix in medium.endings)
    check(medium, *files[:3])
