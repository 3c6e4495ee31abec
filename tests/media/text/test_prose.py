"""Orders that the model `prose` proposes."""

import numpy as np
import pytest

import fabula
from fabula.errors import InputError
from fabula.media.registry import find_medium
from fabula.media.text.pairs import PAIRS
from fabula.models.model import load_model

PEOPLE = ["Ann", "Bob", "Carl", "Dora", "Eve", "Fred", "Gina", "Hugo", "Iris", "John"]


@pytest.fixture
def chain(tmp_path):
    """Eight chapters, each of which takes up two of the people of the one before it."""
    folder = tmp_path / "chain"
    folder.mkdir()
    for number, name in enumerate(["delta", "alpha", "golf", "beta", "echo", "hotel", "foxtrot", "charlie"]):
        place = sorted(["alpha", "beta", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]).index(name)
        people = PEOPLE[place : place + 3]
        lines = [f"In the morning {who} met {other} by the {who.lower()}gate." for who in people for other in people]
        (folder / f"{number}.txt").write_text("\n\n".join([name.title(), *lines]))
    return folder


@pytest.mark.parametrize("name", ["prose", "poems"])
def test_the_model_takes_what_the_medium_gives(name):
    model, medium = load_model(name), find_medium("text")
    assert "pairs" in model.reads
    assert set(model.feature_names) <= set(medium.measured)
    assert set(model.encoder.pair_names) <= set(PAIRS)
    assert (
        model.tensors["reach.weights"][model.encoder.pair_names.index("wording"), 0] > 0
    )  # close texts follow each other
    assert model.card["name"] == name


def test_a_folder_is_ordered_without_a_template(chain):
    ordered = fabula.order(chain)
    assert ordered.fit.exact
    assert ordered.to_json()["model"] == "prose"
    along = [title[0] for title in ordered.titles]
    assert along in (sorted(along), sorted(along, reverse=True))  # the chain; which end begins is for arcs to say
    assert any("follows" in reason and "by its" in reason for reason in ordered.reasons)


def test_another_model_may_be_asked(chain):
    assert fabula.order(chain, model="poems").to_json()["model"] == "poems"


def test_wishes_hold(chain):
    assert fabula.order(chain, first="Delta").titles[0] == "Delta"
    two = fabula.order(chain, sides=2)
    assert len(two.sides) == 2
    assert two.fit.score == pytest.approx(two.session.likelihood.score(two.ordering, two.sides))


def test_the_order_of_the_files_has_no_say(chain, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for number, file in enumerate(sorted(chain.iterdir(), reverse=True)):
        (other / f"{number}.txt").write_text(file.read_text())
    assert fabula.order(other).titles == fabula.order(chain).titles


def test_a_file_in_parts_is_ordered_as_well(chain, tmp_path):
    book = tmp_path / "book.md"
    parts = [file.read_text().partition("\n\n") for file in sorted(chain.iterdir())]
    book.write_text("\n\n".join(f"# {title}\n\n{body}" for title, _, body in parts))
    assert fabula.order(book).titles == fabula.order(chain).titles


@pytest.mark.parametrize("count", [1, 2])
def test_one_text_and_two(chain, count):
    for file in sorted(chain.iterdir())[count:]:
        file.unlink()
    assert len(fabula.order(chain).ordering) == count


def test_numbers_of_texts_that_are_not_there_want_a_column(tmp_path):
    (tmp_path / "x.csv").write_text("title,words,dialogue\na,10,0.5\nb,20,0.25\nc,30,0\n")
    with pytest.raises(InputError, match="say which column is the essence; there are: words, dialogue"):
        fabula.order(tmp_path / "x.csv")


def test_texts_all_alike_are_ordered_somehow(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("It rained. " * 20)
    ordered = fabula.order(tmp_path)
    assert sorted(ordered.ordering) == list(range(5))
    assert np.isfinite(ordered.fit.score)
