"""Inner arcs: sliding windows, which template is likest, and how sure that is."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from fabula.core.template import template
from fabula.errors import FileError, InputError
from fabula.report.figures import inner_limits
from fabula.report.pictures import write_inner
from fabula.session.inner_arcs import SIX, fit_shapes, inner_arcs, smooth
from fabula.session.open import demo_folder

GLAD, SAD = ["happy", "good", "love", "joy"], ["dead", "bad", "hate", "grief"]


def novel(name, words, rng):
    """A text whose charged words follow a template."""
    heights = template(name).normalised().samples(words // 10)
    parts = []
    for height in heights:
        glad = rng.random() < 1 / (1 + np.exp(-1.5 * height))
        parts.append(f"and it was in the {rng.choice(GLAD if glad else SAD)} of the day.")
    return " ".join(parts)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    file = tmp_path_factory.mktemp("books") / "A <b>tale.txt"
    file.write_text(novel("oedipus", 9000, np.random.default_rng(3)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def arc(book):
    return inner_arcs([book])[0]


def test_smoothing_is_the_mean_of_each_window():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(50)
    values[::7] = np.nan
    expected = [np.nanmean(values[start : start + 9]) for start in range(42)]
    assert np.allclose(smooth(values, 9), expected)
    both = smooth(np.stack([values, -values]), 9)
    assert np.allclose(both, [expected, np.negative(expected)])


@pytest.mark.parametrize("name", SIX)
def test_each_of_the_six_is_found(name):
    rng = np.random.default_rng(1)
    values = template(name).samples(300) + 0.5 * rng.standard_normal(300)
    found = fit_shapes(values, [template(one) for one in SIX], span=30, rng=rng, draws=100)
    assert found.templates[0].name == name
    assert found.shares[0] > 0.9
    assert found.chance < 0.05


def test_noise_has_no_shape_more_often_than_chance_says():
    rng = np.random.default_rng(2)
    six = [template(one) for one in SIX]
    chances = [fit_shapes(rng.standard_normal(120), six, span=24, rng=rng, draws=60).chance for _ in range(60)]
    assert np.mean(np.array(chances) <= 0.1) < 0.25
    assert 0.3 < np.mean(chances) < 0.7


def test_the_arc_of_a_file(arc):
    assert (arc.column, arc.shape.name) == ("valence", "oedipus")
    assert (arc.length, round(arc.window)) == (8100, 1620)
    assert arc.six.chance < 0.05
    assert "oedipus" in arc.describe()
    assert (arc.low <= arc.high).all()
    assert len(arc.essence) == 24


def test_the_same_seed_gives_the_same(book, arc):
    again = inner_arcs([book], seed=0)[0]
    assert again.to_json() == arc.to_json()


def test_it_is_written_by_its_ending(arc, tmp_path):
    page = write_inner([arc, arc], tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<b>tale" not in page
    assert page.count("<svg") == 2
    rows = list(csv.DictReader(write_inner([arc], tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(arc.at)
    assert float(rows[0]["value"]) == pytest.approx(arc.values[0], abs=1e-5)
    assert json.loads(write_inner([arc], tmp_path / "a.json").read_text())[0]["shape"] == "oedipus"
    with pytest.raises(InputError, match=r"must be one of \.html"):
        write_inner([arc], tmp_path / "a.doc")


def test_bad_input(tmp_path):
    (tmp_path / "short.txt").write_text("Too short.")
    (tmp_path / "binary.txt").write_bytes(bytes(range(32)) * 99)
    for name, words in (
        ("short.txt", "too short for an arc"),
        ("binary.txt", "is no text"),
        ("no.txt", "no such file"),
    ):
        with pytest.raises(FileError, match=words):
            inner_arcs([tmp_path / name])
    with pytest.raises(InputError, match="has no inner arc"):
        inner_arcs([tmp_path / "x.mp3"])
    with pytest.raises(InputError, match="have no inner arc"):
        inner_arcs([demo_folder()])


def test_one_without_an_arc_is_told_and_the_others_go_on(book, arc, tmp_path):
    (tmp_path / "short.txt").write_text("Too short.")
    problems: list[str] = []
    found = inner_arcs([tmp_path / "short.txt", book, tmp_path / "no.txt"], problems=problems)
    assert [one.to_json() for one in found] == [arc.to_json()]
    assert [problem.rpartition(": ")[2] for problem in problems] == ["is too short for an arc", "no such file"]
    with pytest.raises(FileError, match=r"too short for an arc; .*no such file"):
        inner_arcs([tmp_path / "short.txt", tmp_path / "no.txt"], problems=[])


def test_arcs_side_by_side_have_one_scale_and_marks_where_chapters_begin(arc, tmp_path):
    import re

    text = novel("icarus", 9000, np.random.default_rng(4))
    chapters = [text[: len(text) // 4], text[len(text) // 4 :]]
    (tmp_path / "b.md").write_text("".join(f"# Chapter {k}\n\n{part}\n\n" for k, part in enumerate(chapters)))
    [other] = inner_arcs([tmp_path / "b.md"])
    assert other.starts.tolist() == pytest.approx([0, 0.25], abs=0.01)
    assert not len(arc.starts)
    low, high = inner_limits([arc, other])
    for one in (arc, other):
        assert low < one.low.min() <= one.high.max() < high
    drawn = write_inner([arc, other], tmp_path / "both.svg").read_text(encoding="utf-8")
    ticks = re.findall(r">(-?0\.\d+|0)</text>", drawn)
    assert ticks[: len(ticks) // 2] == ticks[len(ticks) // 2 :]
    assert "a line where each of its 2 parts begins" in drawn


def test_a_folder_is_taken_as_one(book, arc, tmp_path):
    words = book.read_text(encoding="utf-8").split(". ")
    for number in range(9):
        part = ". ".join(words[number * 100 : number * 100 + 100])
        (tmp_path / f"{number}.txt").write_text(part + ".", encoding="utf-8")
    [found] = inner_arcs([tmp_path])
    assert found.length == pytest.approx(arc.length, rel=0.01)
    assert found.shape.name == arc.shape.name
    assert np.corrcoef(found.values, arc.values)[0, 1] > 0.99
    assert len(found.essence) >= 12


def test_a_feature_that_is_not_there(book):
    with pytest.raises(InputError, match="there is no 'colour'"):
        inner_arcs([book], by="colour")
