"""Front and back matter: what is known by its title to stand at an end, and is kept there."""

from __future__ import annotations

import pytest

import fabula
from fabula.core.collection import Collection, Item
from fabula.media.registry import find_medium
from fabula.media.text.documents import plain_document
from fabula.media.text.manuscripts import find_parts
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
        "kept where their titles belong: Contents, Epilogue, Index (--no-matter lets them move)"
    ]
    assert not [note for note in session.order(matter=False).notes if "titles belong" in note]
    assert session.order(first="Home").titles[0] == "Home"


WAITED = "For my mother, who waited."
NOTES = ["Chapter 1", "Notes", "Chapter 2", "Notes"]


def _book(heads, **story):
    return "\n\n".join(f"{head}\n\n{story.get('text', 'It rained.')} {k}." for k, head in enumerate(heads))


@pytest.mark.parametrize("ending", [".txt", ".docx"])
def test_what_stands_around_the_chapters_of_a_file_without_styles_is_known_by_its_title(ending, tmp_path):
    import docx

    heads = ["Prologue", *(f"Chapter {k}" for k in range(1, 5)), "Epilogue: At Sea"]
    lines = ["The Tide", WAITED, *_book(heads, text=PROSE).split("\n\n"), "THE END"]
    source = tmp_path / f"a{ending}"
    if ending == ".docx":
        made = docx.Document()
        for line in lines:
            made.add_paragraph(line)
        made.save(str(source))
    else:
        source.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    ordered = fabula.order(source, by="words", template="steady-rise")
    assert sorted(ordered.titles) == sorted(heads)
    assert (ordered.titles[0], ordered.titles[-1]) == (heads[0], heads[-1])
    assert any("'THE END'" in note for note in ordered.notes)
    new = fabula.order(source, first="Prologue", at={1: "Chapter 4"}, last="Epilogue: At Sea").save(
        tmp_path / f"b{ending}"
    )
    found = (
        [one.text for one in docx.Document(str(new)).paragraphs] if ending == ".docx" else new.read_text().split("\n\n")
    )
    said = [line.strip() for line in found]
    assert said[:3] == ["The Tide", WAITED, "Prologue"]
    assert said[4] == "Chapter 4"
    assert said[-3] == "Epilogue: At Sea"
    assert said[-1] == "THE END"
    assert sorted(said) == sorted(lines)
    anew = fabula.order(source, first="Chapter 4").save(tmp_path / "c.md").read_text()
    assert anew.rstrip().endswith("THE END")
    assert anew.index(WAITED) < anew.index("Chapter 4")


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        (_book(["Prologue", "Rain", "Epilogue"]), ["Prologue"]),  # no chapters are named
        (_book(NOTES), NOTES[::2]),  # each chapter has notes
        (_book(["Chapter 1", "Prologue", "Epilogue", "Chapter 2"]), ["Chapter 1", "Chapter 2"]),  # within a chapter
        (_book(["Chapter 1", "Chapter 2", "notes", "Index, he said."]), ["Chapter 1", "Chapter 2"]),
        (_book(["PREFACE.", "Chapter 1", "Chapter 2", "Notes"]), ["PREFACE.", "Chapter 1", "Chapter 2", "Notes"]),
    ],
)
def test_what_is_called_so_within_is_no_part(text, heads):
    assert [block.text for block in plain_document(text).blocks if block.level > 0] == heads


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("THE END", True),
        ("* Fin *", True),
        ("The End.", True),
        ("“Fine.”", False),
        ("Fine.", False),
        ("END OF BOOK ONE", False),
    ],
)
def test_what_says_that_it_ends_is_of_no_chapter(line, ends):
    for behind in ("", "\n\n* * *"):
        found = find_parts(plain_document(_book(["Chapter 1", "Chapter 2"]) + f"\n\n{line}{behind}"))
        assert (found.part(1).blocks[-1].text == line) is not ends
