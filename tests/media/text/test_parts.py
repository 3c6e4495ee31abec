import pytest

import fabula
from fabula.errors import InputError
from fabula.media.text.passages import text_of
from fabula.sources.registry import open_source

BOOK = """---
title: The Sea
author: Ann Lee
---
# The Sea

## Rain

It *rained* all day on old Tom.

## The Boat

The boat came in. It came in late, and nobody saw it come.

## Night

Night fell.
"""


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "sea.md"
    path.write_text(BOOK)
    return path


def test_one_file_is_cut_at_its_headings(book):
    source = open_source([book])
    items = source.collection.items
    assert [item.title for item in items] == ["Rain", "The Boat", "Night"]
    assert text_of(items[0]) == "It rained all day on old Tom."
    assert (source.title, items[0].creator) == ("The Sea", "Ann Lee")
    assert source.collection.column("words").tolist() == [7, 13, 2]
    assert "was cut into 3 texts" in source.notes[0]


def test_the_parts_are_joined_in_their_new_order(book, tmp_path):
    ordered = fabula.order(book, by="words", template="steady-rise")
    assert ordered.titles == ["Night", "Rain", "The Boat"]
    written = ordered.save(tmp_path / "new.md").read_text()
    head, *parts = BOOK.split("## ")
    assert written == head + "## " + "\n\n## ".join(parts[k].strip() for k in (2, 0, 1)) + "\n"
    assert book.read_text() == BOOK
    assert [item.title for item in open_source([tmp_path / "new.md"]).collection.items] == ordered.titles


def test_sides_become_parts_of_the_book(book, tmp_path):
    written = fabula.order(book, by="words", template="steady-rise", sides=2).save(tmp_path / "new.md").read_text()
    assert written.count("# Part 1\n") == written.count("# Part 2\n") == 1


def test_scenes_without_headings_are_called_by_their_first_words(tmp_path):
    path = tmp_path / "scenes.txt"
    path.write_text("It rained for many a long day and nobody knew how to make it stop.\n\n***\n\nIt stopped.\n")
    ordered = fabula.order(path, by="words", template="steady-rise")
    assert ordered.titles == ["It stopped.", "It rained for many a long day and nobody knew…"]
    assert ordered.save(tmp_path / "new.md").read_text().count("* * *") == 1


def test_a_folder_of_files_is_joined_too(chapters, tmp_path):
    ordered = fabula.order(chapters, by="words", template="steady-fall")
    written = ordered.save(tmp_path / "new.md").read_text()
    assert written.startswith("# Home\n\nAnn walked to the sea.")
    assert written.count("\n# ") == 4


def test_a_file_that_cannot_be_cut_is_one_item(tmp_path):
    (tmp_path / "one.txt").write_text("It rained.\n\nIt stopped.")
    assert len(open_source([tmp_path / "one.txt"]).collection) == 1


def test_what_cannot_be_written_as_text_says_why(tmp_path, chapters):
    source = tmp_path / "one.txt"
    source.write_text("Chapter 1\n\n" + "It rained on and on. " * 50)
    with pytest.raises(InputError, match=r"b\.txt: its source has one part alone; write \.md"):
        fabula.order(source).save(tmp_path / "b.txt")
    for given in (source, chapters):
        with pytest.raises(InputError, match=r"b\.rst: is written of one \.rst file with its parts moved"):
            fabula.order(given).save(tmp_path / "b.rst")


def test_music_is_not_written_as_markdown(tmp_path):
    (tmp_path / "x.csv").write_text("title,energy\na,1\nb,2\n")
    with pytest.raises(InputError, match="the ending must be one of"):
        fabula.order(tmp_path / "x.csv", by="energy", template="icarus").save(tmp_path / "x.md")


def test_a_table_with_a_column_of_texts_is_a_collection_of_texts(tmp_path):
    path = tmp_path / "poems.csv"
    rows = [f"{name},It rained on {name} and then {'again and ' * n}it stopped" for n, name in enumerate("ABCDE")]
    path.write_text("title,text\n" + "\n".join(rows) + "\n")
    ordered = fabula.order(path, by="words", template="steady-fall")
    assert ordered.titles == list("EDCBA")
    assert ordered.session.medium.name == "text"
    assert ordered.save(tmp_path / "new.md").read_text().startswith("It rained on E")
    header = ordered.save(tmp_path / "new.csv").read_text().splitlines()[0]
    assert header.startswith("title,text")


def test_a_column_of_short_cells_makes_no_texts(tmp_path):
    (tmp_path / "x.csv").write_text("title,text,weight\na,red,1\nb,blue,2\n")
    assert open_source([tmp_path / "x.csv"]).medium.name == "items"


def test_a_table_of_texts_with_a_column_that_music_knows_too(tmp_path):
    path = tmp_path / "poems.csv"
    rows = [f"{name},0.{n},It rained on {name} and then {'again and ' * n}it stopped" for n, name in enumerate("ABCDE")]
    path.write_text("title,valence,text\n" + "\n".join(rows) + "\n")
    ordered = fabula.order(path)  # the model proposes; nobody need name a column
    assert (ordered.session.medium.name, ordered.session.model_name) == ("text", "prose")
    assert fabula.order(path, by="valence", template="steady-fall").titles == list("EDCBA")  # the table's own
