from __future__ import annotations

import numpy as np
import pytest

from fabula.core.collection import Item
from fabula.core.template import Template
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError
from fabula.session.choosing import choose_item, choose_places, choose_template

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
        ("bilie jean", 0),
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
    assert choose_item(ITEMS, text, "--first") == item


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("human", "--first: 'human' fits 2 items: 'Human Nature' (item 4), 'Human Touch' (item 6); give the whole"),
        ("Bohemian Rhapsody", "--first: no item is called 'Bohemian Rhapsody'; the nearest are "),
        ("", "--first: no item is called ''; the nearest are "),
    ],
)
def test_an_item_that_is_not_clear(text, message):
    with pytest.raises(InputError) as caught:
        choose_item(ITEMS, text, "--first")
    assert str(caught.value).startswith(message)


def test_places_count_from_one_and_from_the_end():
    fixed = choose_places(ITEMS, first="Thriller", last="Beat It", at={2: "Human Nature", -2: "Human Touch"})
    assert fixed == {0: 2, 5: 1, 1: 3, 4: 5}
    assert choose_places(ITEMS, first="Thriller", at={1: "thriller"}) == {0: 2}


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"at": {0: "Thriller"}}, "--at 0: places go from 1 to 6 (or -1 from the end); got 0"),
        ({"at": {7: "Thriller"}}, "--at 7: places go from 1 to 6 (or -1 from the end); got 7"),
        ({"first": "Thriller", "at": {1: "Beat It"}}, "--at 1: place 1 is already taken by --first"),
        ({"first": "Thriller", "last": "thriller"}, "--last: 'Thriller' is already at place 1 by --first"),
    ],
)
def test_wishes_that_collide(wishes, message):
    with pytest.raises(InputError) as caught:
        choose_places(ITEMS, **wishes)
    assert str(caught.value) == message


def test_templates_by_name_points_and_file(tmp_path):
    path = tmp_path / "mine#1.json"
    TemplateSet([Template([0, 1], [0, 1], "up"), Template([0, 1], [1, 0])]).save(path)
    assert choose_template("Man in a Hole").name == "man-in-a-hole"
    assert choose_template(f"{path}#1").name == "up"
    assert choose_template(f"{path}#2").name == "mine#1.json#2"
    drawn = choose_template("1:0, 0:0.2,0.5:1")
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
        choose_template(text)
    assert str(caught.value).startswith(message)


def test_a_file_of_several_templates_wants_a_number(tmp_path):
    path = TemplateSet([Template([0, 1], [0, 1]), Template([0, 1], [1, 0])]).save(tmp_path / "t.json")
    with pytest.raises(InputError, match="holds 2 templates: say which, as "):
        choose_template(str(path))
    with pytest.raises(InputError, match=r"holds 2 template\(s\); there is no #3"):
        choose_template(f"{path}#3")
