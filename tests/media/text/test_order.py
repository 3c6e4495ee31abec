import csv

import pytest

import fabula
from fabula.errors import InputError


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "cache"))


def test_a_folder_is_ordered_by_a_measure(chapters, tmp_path):
    ordered = fabula.order(chapters, by="words", template="icarus")
    assert ordered.session.medium.name == "text"
    assert sorted(ordered.titles) == ["A Letter", "Home", "Night", "Rain", "The Boat"]
    assert str(ordered).startswith("book: 5 texts, ")
    assert ordered.titles[2] == "Home"  # the longest stands where the arc is highest
    with ordered.save(tmp_path / "x.csv").open() as file:
        assert [row["title"] for row in csv.DictReader(file)] == ordered.titles


def test_sides_and_limits_count_words(chapters):
    ordered = fabula.order(chapters, by="words", template="icarus", limit="200 words")
    assert sum(item.length for item in ordered.collection.items) <= 200
    assert ordered.left_out
    assert ordered.lengths[0] == sum(item.length for item in ordered.collection.items)
    assert "left out to keep within 200 words" in " ".join(ordered.notes)
    assert len(fabula.order(chapters, by="words", template="icarus", sides=2).sides) == 2
    with pytest.raises(InputError, match="takes a number of words, such as 80000; got '3:20'"):
        fabula.order(chapters, by="words", template="icarus", limit="3:20")


def test_reasons_speak_of_texts(chapters):
    reasons = fabula.order(chapters, by="words", template="icarus").reasons
    assert any(reason.startswith("long:") for reason in reasons)


def test_a_file_that_is_no_text_is_left_out(chapters):
    (chapters / "6.txt").write_bytes(bytes(range(256)) * 9)
    ordered = fabula.order(chapters, by="words", template="icarus")
    assert len(ordered.ordering) == 5
    assert "is no text" in " ".join(ordered.notes)


def test_lyrics_beside_music_make_no_book(tmp_path):
    from fabula.sources.registry import open_source

    for number in range(3):
        (tmp_path / f"{number}.mp3").write_bytes(b"ID3")
        (tmp_path / f"{number}.txt").write_text("la la")
    (tmp_path / "notes.md").write_text("made at home")
    source = open_source([tmp_path])
    assert (source.medium.name, len(source.collection), source.notes) == ("music", 3, ())


def test_a_sound_beside_many_texts_is_no_album(chapters):
    from fabula.sources.registry import open_source

    (chapters / "reading.mp3").write_bytes(b"ID3")
    assert open_source([chapters]).medium.name == "text"


@pytest.mark.parametrize("ending", [".html", ".htm", ".xhtml", ".md", ".txt"])
def test_a_page_is_shown_as_it_is_written(ending):
    from fabula.media.registry import find_medium

    assert find_medium("text").preview.types[ending] == "text/plain"  # a script in it must not run on fabula's page
