"""The simplest tables: titles alone, lengths in any unit and any heading's case, one cell that is wrong."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import fabula
from fabula.errors import InputError
from fabula.session.measure import find_essence
from fabula.sources.registry import open_source
from fabula.sources.tables.read_table import open_table

TITLES = ("Intro", "Rain", "Heavy Heart", "Night Drive", "Outro")


def write(path, headings, *columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([headings, *zip(*columns, strict=True)])
    return path


def test_titles_alone_are_ordered_by_the_model_that_knows_them(tmp_path):
    path = write(tmp_path / "a.csv", ["title"], TITLES)
    ordered = fabula.order(path)
    assert ordered.session.medium.name == "music"
    assert ordered.titles[0] == "Intro"
    assert ordered.titles[-1] == "Outro"
    assert sorted(ordered.titles) == sorted(TITLES)


@pytest.mark.parametrize(
    ("heading", "cells", "note"),
    [
        ("length", ("60", "200", "240", "300", "100"), ""),
        ("Length", ("1.0", "3.33333", "4", "5", "1.66667"), "is read as minutes"),
        ("length (min)", ("1", "3.33333", "4", "5", "1.66667"), ""),
        ("DURATION", ("60", "200", "240", "300", "100"), ""),
        ("Time", ("1:00", "3:20", "4:00", "5:00", "1:40"), ""),
        ("Duration (ms)", ("60000", "200000", "240000", "300000", "100000"), ""),
        ("duration", ("60000", "200000", "240000", "300000", "100000"), ""),
    ],
)
def test_lengths_in_any_unit(tmp_path, heading, cells, note):
    path = write(tmp_path / "a.csv", ["Title", "ARTIST", heading], TITLES, "ABABA", cells)
    source = open_source([path]).with_lengths()
    assert source.medium.name == "music"
    assert [item.length for item in source.collection.items] == pytest.approx([60, 200, 240, 300, 100], abs=0.01)
    assert all(note in one for one in source.notes)
    assert bool(source.notes) == bool(note)
    assert len(fabula.order(path).titles) == 5


def test_our_own_seconds_are_never_minutes(tmp_path):
    """What fabula writes as ``duration`` is seconds, however short."""
    path = write(tmp_path / "a.csv", ["title", "artist", "duration"], TITLES, "ABABA", (9.5, 10.25, 3.5, 8.0, 7.75))
    assert open_source([path]).with_lengths().collection.items[0].length == 9.5


def test_one_wrong_cell_is_named_and_it_alone_is_void(tmp_path):
    cells = ("1:00", "99:99", "4:00", "5:00", "1:40")
    reading = open_table(write(tmp_path / "a.csv", ["title", "artist", "Duration"], TITLES, "ABABA", cells))
    found = reading.collections[0].column("duration")
    assert np.isnan(found).tolist() == [False, True, False, False, False]
    assert reading.notes == ("line 3, column 'Duration': '99:99' is no duration, such as 3:20, and counts as missing",)


def test_many_wrong_cells_are_no_durations(tmp_path):
    reading = open_table(
        write(tmp_path / "a.csv", ["title", "artist", "Duration"], TITLES, "ABABA", ("1:00", "x", "y", "z", "1:40"))
    )
    assert "duration" not in reading.collections[0].feature_names


def test_a_number_of_a_feature_that_is_none_is_named(tmp_path):
    path = write(tmp_path / "a.csv", ["title", "artist", "BPM"], TITLES, "ABABA", ("120", "fast", "90", "100", "110"))
    reading = open_table(path)
    assert np.isnan(reading.collections[0].column("tempo")[1])
    assert reading.notes == ("line 3, column 'BPM': 'fast' is no number, and counts as missing",)


def test_tables_of_other_things_still_ask(tmp_path):
    path = write(tmp_path / "a.csv", ["name", "weight", "length"], "abc", (1, 2, 3), (4, 5, 6))
    source = open_source([path])
    assert source.medium.name == "items"
    assert source.collection.feature_names == ("weight", "length")
    with pytest.raises(InputError, match="say which column is the essence; there are: weight, length"):
        fabula.order(path)


@pytest.mark.parametrize(
    "text",
    [
        "title;artist;album;isrc\nIntro;A;X;US1\nRain;A;Y;US2\nOutro;B;X;US3\n",
        "Track name,Artist name,Album,Playlist name,Type,ISRC,Spotify - id\nIntro,A,X,P,Playlist,US1,1\n"
        "Rain,A,Y,P,Playlist,,2\nOutro,B,X,P,Playlist,US3,3\n",
    ],
    ids=["soundiiz", "tunemymusic"],
)
def test_services_without_durations(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    ordered = fabula.order(tmp_path / "a.csv", apart="artist", apart_soft=True)
    assert sorted(ordered.titles) == ["Intro", "Outro", "Rain"]
    assert {item.artist for item in ordered.collection.items} == {"A", "B"}


def test_the_page_takes_the_model_where_lengths_alone_are_known(tmp_path):
    from fabula.media.extraction import Measuring

    path = write(tmp_path / "a.csv", ["title", "artist", "length"], TITLES, "ABABA", (60, 200, 240, 300, 100))
    found = find_essence(open_source([path]).with_lengths(), Measuring(), guess=True)
    assert found.likelihood is not None


def test_tab_separated_goes_out_as_it_comes_in(tmp_path):
    (tmp_path / "a.tsv").write_text('title\tartist\tx\n"In\ttro"\tA\t0,5\nRain\tB\t007\nOutro\tA\t\n')
    ordered = fabula.order(tmp_path / "a.tsv")
    lines = ordered.save(tmp_path / "b.tsv").read_text().splitlines()
    assert lines[0].split("\t")[:3] == ["title", "artist", "x"]
    assert sorted(line.rsplit("\t", 2)[0] for line in lines[1:]) == ['"In\ttro"\tA\t0,5', "Outro\tA\t", "Rain\tB\t007"]
    again = fabula.order(tmp_path / "b.tsv", ordering=range(3))
    assert again.titles == ordered.titles
    made = fabula.order(tmp_path / "a.tsv").save(tmp_path / "c.csv")
    assert fabula.order(made, ordering=range(3)).titles == ordered.titles
