"""The tale that comes with the package, and the arcs command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.cli import run
from fabula.session.open import demo_folder, order_demo


def test_the_tale_is_ordered_along_its_arc(tmp_path, capsys):
    assert run(["demo", "text", "--to", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "The Tide Clock: 9 texts" in told
    assert (
        "as it was written: The Ferry, The Tower, Brass and Salt, What the Paper Said, Glass Falling, The Well" in told
    )
    book = (tmp_path / "fabula-demo.md").read_text(encoding="utf-8")
    assert book.count("\n# ") + book.startswith("# ") == 9
    assert "<h2>Threads</h2>" in (tmp_path / "fabula-demo.html").read_text(encoding="utf-8")


def test_most_of_the_tale_is_found_again(tmp_path):
    ordered, _ = order_demo(tmp_path, "text")
    chapters = np.array([int(item.details["chapter"]) for item in ordered.collection.items])
    assert np.corrcoef(chapters, np.arange(9))[0, 1] > 0.9


def test_no_such_demo(tmp_path, capsys):
    assert run(["demo", "sculpture", "--to", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "fabula: there is no demo 'sculpture'; there are: music, text, images\n"


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "tale.txt"
    path.write_text("\n\n".join(file.read_text(encoding="utf-8") for file in sorted(demo_folder("text").iterdir())))
    return path


def test_arcs(book, tmp_path, capsys):
    assert run(["arcs", str(book), "-o", str(tmp_path / "a.svg"), "-o", str(tmp_path / "a.csv")]) == 0
    told = capsys.readouterr().out
    assert "in windows of 4" in told
    assert ("of the six: " in told) != ("no shape beyond chance" in told)
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert run(["arcs", str(book), "--by", "dialogue", "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["column"], len(found["six"])) == ("dialogue", 6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--by", "colour"], "--by: there is no 'colour'"),
        (["--window", "0"], "--window: must be above 0"),
        (["-o", "x.doc"], "the ending must be one of .html"),
    ],
)
def test_bad_options(book, arguments, words, capsys):
    assert run(["arcs", str(book), *arguments]) == 2
    assert words in capsys.readouterr().err
