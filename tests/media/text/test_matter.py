"""Front and back matter: what is known by its title to stand at an end, and is kept there."""

from __future__ import annotations

import pytest

from fabula.core.collection import Collection, Item
from fabula.media.registry import find_medium
from fabula.media.text.passages import matter_of
from fabula.session.open import open as open_folder
from fabula.session.request import Request, with_matter

PROSE = (
    "It was a long way to the town, and he went on through the rain until the lights came up before him, and then " * 3
)
VERSE = "The rain came down\nupon the town\nand all the night\nthere was no light\n" * 4


def book(*titles: str, text: str = PROSE) -> Collection:
    return Collection("c", [Item(str(k), title, details={"text": text}) for k, title in enumerate(titles)])


@pytest.mark.parametrize(
    ("titles", "front", "back"),
    [
        (("Index", "One", "Contents", "Two", "Title Page"), [4, 2], [0]),
        (("Epilogue: At Sea", "PREFACE.", "A", "B", "Acknowledgements"), [1], [0, 4]),
        (("Kapitel 1", "Nachwort", "Widmung", "Inhaltsverzeichnis", "Über den Autor"), [2, 3], [1, 4]),
        (("Avant-propos", "I", "II", "Table des matières", "Épilogue"), [3, 0], [4]),
        (("Prólogo", "Uno", "Dos", "Epílogo. En que el autor da cuenta", "Notas"), [0], [3, 4]),
        (("Předmluva", "Jedna", "Obsah", "Rejstřík"), [2, 0], [3]),
        (("01 - Title Page", "02 - Start", "03 - Index"), [0], [2]),
        (("Prologue", "One", "Prologue", "Two"), [], []),  # of two parts: they may stand anywhere
        (("The Index of Lies", "In Which the Reader Is Introduced", "Bank-note"), [], []),
    ],
)
def test_titles_say_what_stands_at_an_end(titles, front, back):
    assert matter_of(book(*titles)) == (front, back)


def test_a_poem_may_be_called_epilogue():
    titles = ("Epilogue", "Rain", "Dedication", "Contents", "Night", "Index")
    assert matter_of(book(*titles, text=VERSE)) == ([3], [5])
    assert matter_of(book(*titles)) == ([2, 3], [0, 5])


def test_what_a_person_fixes_goes_first():
    titles, text = ("Index", "One", "Contents", "Two", "Three"), find_medium("text")
    found = book(*titles)
    assert dict(with_matter(Request(), found, text).at) == {0: 2, -1: 0}
    assert dict(with_matter(Request(first="Two"), found, text).at) == {-1: 0}
    assert dict(with_matter(Request(first="Two", last="One"), found, text).at) == {}
    for request in (Request(matter=False), Request(at={1: "One"}), Request(sides=2), Request(ordering=[0, 1])):
        assert with_matter(request, found, text) is request
    assert with_matter(Request(), book("Contents", "One", "Index"), text).at == {}  # nothing left to order


def test_what_stands_at_the_end_stays_there_where_a_limit_leaves_some_out(tmp_path):
    titles = ("Dedication", "One", "Two", "Three", "Acknowledgements", "About the Author")
    (tmp_path / "a.md").write_text("".join(f"# {title}\n\n{PROSE}\n\n" for title in titles))
    session = open_folder(tmp_path / "a.md")
    ordered = session.order(limit=4.5 * session.collection.items[0].length)
    assert (len(ordered.titles), ordered.titles[0], ordered.titles[-2:]) == (4, titles[0], list(titles[-2:]))
    assert any(
        "kept where their titles belong: Dedication, Acknowledgements, About the Author" in note
        for note in ordered.notes
    )


def test_a_folder_keeps_them_and_says_so(tmp_path):
    words = ("rain", "town", "road", "night", "ship", "home", "storm")
    for title, word in zip(("Index", "Home", "Contents", "Road", "Storm", "Epilogue", "Ship"), words, strict=True):
        (tmp_path / f"{title}.txt").write_text(f"{PROSE} {word}. " * 3)
    session = open_folder(tmp_path)
    ordered = session.order()
    assert (ordered.titles[0], *ordered.titles[-2:]) == ("Contents", "Epilogue", "Index")
    assert [note for note in ordered.notes if "titles belong" in note] == [
        "kept where their titles belong: Contents, Epilogue, Index (matter off: they move like the others)"
    ]
    assert not [note for note in session.order(matter=False).notes if "titles belong" in note]
    assert session.order(first="Home").titles[0] == "Home"
