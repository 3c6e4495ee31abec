"""What a request names, and strands: what shares a column stands in one run."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

import fabula
from fabula.core.collection import Item
from fabula.core.template import Template, TemplateSet
from fabula.errors import InputError
from fabula.session.request import find_item, find_template, strands_apart
from fabula.session.session import open_session, session_of

STRANDS = ["x", "y", "x", "y", "x", None]
ITEMS = (
    Item("1", title="Billie Jean", artist="Michael Jackson"),
    Item("2", title="Beat It"),
    Item("3", title="Thriller", path="/music/Thriller/04 Thriller.flac"),
    Item("4", title="Human Nature"),
    Item("5", title="Ça ira"),
    Item("6", title="Human Touch"),
)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Billie Jean", 0),
        ("billie  jean", 0),
        ("Michael Jackson - Billie Jean", 0),
        ("3", 2),
        ("04 Thriller.flac", 2),
        ("04 thriller", 2),
        ("/music/Thriller/04 Thriller.flac", 2),
        ("ÇA IRA", 4),
        ("touch", 5),
    ],
)
def test_an_item_is_found_by_what_a_person_types(text, item):
    assert find_item(ITEMS, text, "first") == item


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("human", "first: 'human' fits 2 items: 'Human Nature' (item 4), 'Human Touch' (item 6); give the whole"),
        ("Bohemian Rhapsody", "first: no item is called 'Bohemian Rhapsody'; the nearest are "),
        ("bilie jean", "first: no item is called 'bilie jean'; did you mean 'Billie Jean'?"),
        ("Human Natur No. 2", "first: no item is called 'Human Natur No. 2'; the nearest are 'Human Nature'"),
        ("", "first: no item is called ''; the nearest are "),
    ],
)
def test_an_item_that_is_not_clear(text, message):
    with pytest.raises(InputError) as caught:
        find_item(ITEMS, text, "first")
    assert str(caught.value).startswith(message)


def test_an_item_by_its_index():
    assert find_item(ITEMS, 3, "first") == 3
    with pytest.raises(InputError, match=r"^first: there is no item 6; items count from 0 to 5$"):
        find_item(ITEMS, 6, "first")


def test_the_arcs_of_a_model_have_names_too():
    own = [Template([0, 1], [0, 1], "Late Peak 2")]
    assert find_template("late peak 2", own) is own[0]


def test_a_name_is_no_file_where_files_may_not_be_read(tmp_path):
    path = TemplateSet([Template([0, 1], [0, 1], "up")]).save(tmp_path / "t.json")
    with pytest.raises(InputError, match="no built-in template is called"):
        find_template(str(path), files=False)


def test_templates_by_name_points_and_file(tmp_path):
    path = tmp_path / "mine#1.json"
    TemplateSet([Template([0, 1], [0, 1], "up"), Template([0, 1], [1, 0])]).save(path)
    assert find_template("Man in a Hole").name == "man-in-a-hole"
    assert find_template(f"{path}#1").name == "up"
    assert find_template(f"{path}#2").name == "mine#1.json#2"
    drawn = find_template("1:0, 0:0.2,0.5:1")
    assert np.allclose(drawn.at([0, 0.5, 1]), [0.2, 1, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:1,0.5:2", "template knots must rise from 0 to 1; got [0. , 0.5]"),
        ("0:1,e:2,1:0", "the points of a template must be numbers; got '0:1,e:2,1:0'"),
        ("0:1,x:2,1:0", "a drawn template is a list of position:height, such as '0:0.2,0.5:1,1:0'; got '0:1,x:2,1:0'"),
        ("ikarus", "no built-in template is called 'ikarus'; did you mean icarus? (a template file or points"),
        ("none.json", "none.json: cannot be read (No such file or directory)"),
    ],
)
def test_templates_that_are_not_clear(text, message):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the words are checked below
        find_template(text)
    assert str(caught.value).startswith(message)


def test_a_file_of_several_templates_wants_a_number(tmp_path):
    path = TemplateSet([Template([0, 1], [0, 1]), Template([0, 1], [1, 0])]).save(tmp_path / "t.json")
    with pytest.raises(InputError, match="holds 2 templates: say which, as "):
        find_template(str(path))
    with pytest.raises(InputError, match=r"holds 2 template\(s\); there is no #3"):
        find_template(f"{path}#3")


@pytest.fixture
def session():
    items = [Item(str(k), details={"strand": strand} if strand else {}) for k, strand in enumerate(STRANDS)]
    return session_of(items, [3.0, 1.0, -2.0, 0.5, 2.0, -1.0])


def test_the_best_order_that_tears_no_strand(session):
    found = session.order(template="steady-rise", together_by="strand")
    target = found.fit.targets

    def off(order):
        return float(((session.essence[list(order)] - target) ** 2).sum())

    whole = [order for order in permutations(range(6)) if not strands_apart(np.array(order), STRANDS)]
    assert off(found.ordering) == pytest.approx(min(map(off, whole)))
    assert found.gap == 0
    assert not found.notes


def test_where_it_cannot_hold_a_note_says_so(session):
    found = session.order(template="steady-rise", together_by="strand", at={0: 0, 1: 1, 2: 2})
    assert found.ordering[:3].tolist() == [0, 1, 2]
    assert any("keep these from standing together by strand: x" in note for note in found.notes)


def test_bad_columns(session):
    with pytest.raises(InputError, match="no item has 'colour'; there are:"):
        session.order(template="steady-rise", together_by="colour")
    with pytest.raises(InputError, match="cannot be kept together and apart"):
        session.order(template="steady-rise", together_by="strand", apart="strand")


@pytest.fixture
def chapters(tmp_path):
    for number, strand in enumerate("abababab"):
        text = f"---\ntitle: Ch {number}\nstrand: {strand}\n---\nThen old Tom and Ann met in the rain {number} times. "
        (tmp_path / f"{number}.md").write_text(text + "It was so. " * number, encoding="utf-8")
    return tmp_path


def test_front_matter_says_which_strand(chapters):
    session = open_session(chapters)  # the model proposes
    runs = session.order(together_by="strand")
    assert not strands_apart(runs.ordering, list("abababab"))
    mixed = [session.collection.items[i].details["strand"] for i in session.order(apart="strand").ordering]
    assert all(one != other for one, other in pairwise(mixed))


@pytest.mark.slow
def test_more_than_the_exact_solver_takes(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"t{k},{rng.random():.3f},{'abcd'[k % 4]}" for k in range(40)]
    (tmp_path / "x.csv").write_text("title,height,strand\n" + "\n".join(rows) + "\n")
    ordered = fabula.order(tmp_path / "x.csv", by="height", template="icarus", together_by="strand")
    assert not strands_apart(ordered.ordering, list("abcd" * 10))


def test_smoothness_turns_to_variety(chapters):
    session = open_session(chapters, by="words")
    near, far = (session.order(template="steady-rise", smoothness=weight).changes[0].mean[1] for weight in (5, -5))
    assert near < far


def test_a_column_that_is_to_rise_is_named_in_any_case(tmp_path):
    rows = [("A", 0.1, 3), ("B", 0.5, 1), ("C", 0.9, 2), ("D", 0.3, 4)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["title,energy,Added On", *(f"{t},{e},{a}" for t, e, a in rows)]))
    session = fabula.open(path)
    for name in ("Added On", "ADDED ON", "added on"):
        assert session.order(soft={name: 50}).titles == ["B", "C", "A", "D"]
