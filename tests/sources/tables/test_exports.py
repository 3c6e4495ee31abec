"""Tables that streaming services and their users make: one playlist in row order, headings of many kinds, odd cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.collection import Collection
from fabula.errors import InputError
from fabula.sources.tables.read_table import open_table, read_table

EXPORTIFY_OLD = """Spotify URI,Track Name,Artist Name,Album Name,Disc Number,Track Number,Track Duration (ms),\
Added By,Added At
spotify:track:3,Vitamin C,Can,Ege Bamyasi,1,4,211000,anna,2020-01-01T00:00:00Z
spotify:track:1,Hallogallo,Neu!,Neu!,1,1,607000,anna,2020-01-02T00:00:00Z
spotify:track:2,Spoon,Can,Ege Bamyasi,1,7,183000,anna,2020-01-03T00:00:00Z
spotify:track:4,Negativland,Neu!,Neu!,1,4,587000,anna,2020-01-04T00:00:00Z
"""
EXPORTIFY = (
    "Track URI,Track Name,Album Name,Artist Name(s),Release Date,Duration (ms),Popularity,Explicit,Added By,Added At,"
    "Genres,Record Label,Danceability,Energy,Key,Loudness,Mode,Speechiness,Acousticness,Instrumentalness,Liveness,"
    "Valence,Tempo,Time Signature\n"
    "spotify:track:3,Vitamin C,Ege Bamyasi,Can,1972,211000,50,false,anna,2020-01-01T00:00:00Z,krautrock,Spoon,"
    "0.6,0.7,2,-9.5,1,0.05,0.1,0.2,0.3,0.8,121.5,4\n"
    'spotify:track:1,Hallogallo,Neu!,"Neu!;Conny Plank",1972,607000,40,false,anna,2020-01-02T00:00:00Z,,Brain,'
    "0.5,0.6,9,-11.25,0,0.04,0.2,0.9,0.1,0.5,158,4\n"
)
SOUNDIIZ = "title;artist;album;isrc;addedDate\nVitamin C;Can;Ege Bamyasi;DE1;2020\nHallogallo;Neu!;Neu!;DE2;2020\n"
TUNEMYMUSIC = """Track name,Artist name,Album,Playlist name,Type,ISRC,Spotify - id
Vitamin C,Can,Ege Bamyasi,Abends,Playlist,DE1,3
Hallogallo,Neu!,,Abends,Playlist,DE2,1
Spoon,Can,Ege Bamyasi,Abends,Playlist,DE3,2
"""
ALBUMS = """Album,Track Number,Title
Neu!,2,Sonderangebot
Ege Bamyasi,1,Pinch
Neu!,1,Hallogallo
Ege Bamyasi,2,Sing Swan Song
Ege Bamyasi,3,One More Night
"""


def _write(folder: Path, text: str, name: str = "Abends.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def _titles(collection: Collection) -> list[str]:
    return [item.title for item in collection.items]


def test_exportifys_old_form_is_one_collection_in_row_order(tmp_path):
    (c,) = read_table(_write(tmp_path, EXPORTIFY_OLD))
    assert (c.id, c.title, _titles(c)) == ("Abends", "", ["Vitamin C", "Hallogallo", "Spoon", "Negativland"])
    assert [item.artist for item in c.items] == ["Can", "Neu!", "Can", "Neu!"]
    np.testing.assert_array_equal(c.column("duration_ms"), [211000, 607000, 183000, 587000])
    assert (c.items[0].id, c.items[0].path) == ("spotify:track:3", "")  # an address is no file
    assert c.items[0].details["album"] == "Ege Bamyasi"


def test_exportifys_new_form_has_the_usual_features(tmp_path):
    (c,) = read_table(_write(tmp_path, EXPORTIFY))
    assert _titles(c) == ["Vitamin C", "Hallogallo"]
    assert set(c.feature_names) >= {
        "duration_ms", "danceability", "energy", "key", "loudness", "mode", "speechiness", "acousticness",
        "instrumentalness", "liveness", "valence", "tempo", "time_signature",
    }  # fmt: skip
    np.testing.assert_array_equal(c.column("loudness"), [-9.5, -11.25])
    assert c.items[1].artist == "Neu!;Conny Plank"


@pytest.mark.parametrize("text", [SOUNDIIZ, SOUNDIIZ.replace(";", ",")])
def test_soundiiz(tmp_path, text):
    (c,) = read_table(_write(tmp_path, text))
    assert (_titles(c), c.id) == (["Vitamin C", "Hallogallo"], "Abends")
    assert [item.id for item in c.items] == ["DE1", "DE2"]
    assert c.items[1].details["album"] == "Neu!"


def test_tunemymusic_is_called_by_its_playlist(tmp_path):
    (c,) = read_table(_write(tmp_path, TUNEMYMUSIC, "export.csv"))
    assert (c.id, _titles(c)) == ("Abends", ["Vitamin C", "Hallogallo", "Spoon"])
    two = read_table(_write(tmp_path, TUNEMYMUSIC + "Isi,Neu!,Neu! 75,Morgens,Playlist,DE4,9\n", "two.csv"))
    assert [c.id for c in two] == ["Abends", "Morgens"]


def test_a_table_of_albums_stays_one(tmp_path):
    assert [(c.id, _titles(c)) for c in read_table(_write(tmp_path, ALBUMS))] == [
        ("Neu!", ["Hallogallo", "Sonderangebot"]),
        ("Ege Bamyasi", ["Pinch", "Sing Swan Song", "One More Night"]),
    ]
    in_runs = "album,title\n" + "".join(f"{a},{t}\n" for a in "XY" for t in "abc")
    assert [c.id for c in read_table(_write(tmp_path, in_runs))] == ["X", "Y"]
    ids = "album_id,title\n1,a\n2,b\n3,c\n"
    assert len(read_table(_write(tmp_path, ids))) == 3


@pytest.mark.parametrize(
    "rows",
    [
        "X,a\nY,b\nZ,c\n",  # one row each
        "X,a\nX,b\nY,c\nZ,d\nW,e\n",  # few rows each
        "X,a\nY,b\nX,c\nY,d\nX,e\nY,f\n",  # in turn
    ],
)
def test_albums_that_do_not_stand_together_are_a_playlist(tmp_path, rows):
    (c,) = read_table(_write(tmp_path, "album,title\n" + rows))
    assert _titles(c) == [row.split(",")[1] for row in rows.split()]
    named = read_table(_write(tmp_path, "album,title\n" + rows), collection="album")
    assert len(named) > 1  # whoever names the column means it


def test_positions_in_the_playlist_count_and_those_on_the_album_do_not(tmp_path):
    (c,) = read_table(_write(tmp_path, "album,position,title\nX,3,c\nY,1,a\nZ,2,b\n"))
    assert _titles(c) == ["a", "b", "c"]
    (c,) = read_table(_write(tmp_path, "album,track number,title\nX,3,c\nY,1,a\nZ,2,b\n"))
    assert _titles(c) == ["c", "a", "b"]
    assert c.feature_names == ("track number",)


def test_discs_count_where_track_numbers_start_again(tmp_path):
    text = "album,disc,track,title\nX,2,1,c\nX,1,2,b\nX,1,1,a\nY,1,1,d\nY,1,2,e\n"
    assert [_titles(c) for c in read_table(_write(tmp_path, text))] == [["a", "b", "c"], ["d", "e"]]


@pytest.mark.parametrize(
    "header",
    [
        "Nr.,Titel,Künstler,Album,Dauer",
        "Numéro,Titre,Artiste,Album,Durée",
        "Posición,Título,Artista,Álbum,Duración",
        "Posição,Título,Artista,Álbum,Duração",
        "Posizione,Titolo,Artista,Album,Durata",
        "Track-Nummer,Track-Name,Künstlername(n),Album,Track-Dauer",  # Exportify speaks these
        "Track,Nom du titre,Nom(s) de l'artiste,Album,Durée du titre",
        "Track,Nombre de la canción,Nombre(s) del artista,Album,Duración de la canción",
        "Track,Nome della traccia,Nome dell'artista,Album,Durata della traccia",
        "Track,Nummernaam,Naam van artiest,Album,Nummerduur",
        "Track,Nome da faixa,Nome(s) do artista,Album,Duração da faixa",
        "Track,Låtens namn,Artistens namn,Album,Låtlängd",
    ],
)
def test_headings_in_other_languages(tmp_path, header):
    (c,) = read_table(_write(tmp_path, f"{header}\n2,B,Q,X,3:20\n1,A,P,X,1:02:03\n"))
    assert (c.id, _titles(c), [item.artist for item in c.items]) == ("X", ["A", "B"], ["P", "Q"])
    assert c.feature_names == ("duration",)
    np.testing.assert_array_equal(c.column("duration"), [3723, 200])


def test_columns_by_name(tmp_path):
    path = _write(tmp_path, "Lied,Wer,Zeit,Wucht,Stimmung\nB,Q,3:20,0.5,froh\nA,P,0:59.5,0.25,\n")
    columns = {"title": "Lied", "artist": "Wer", "duration": "Zeit", "energy": "Wucht", "mood": "Stimmung"}
    (c,) = read_table(path, columns=columns)
    assert (_titles(c), c.feature_names) == (["B", "A"], ("duration", "energy"))
    np.testing.assert_array_equal(c.features, [[200, 0.5], [59.5, 0.25]])
    assert dict(c.items[0].details) == {"mood": "froh"}
    (again,) = open_table(path, {"title": "Lied", "artist": "Wer"}).collections
    assert _titles(again) == ["B", "A"]
    with pytest.raises(InputError, match="the title cannot be two columns: 'Wer' and 'Lied'"):
        read_table(path, title="Wer", columns={"title": "Lied"})


def test_features_by_either_name(tmp_path):
    path = _write(tmp_path, EXPORTIFY)
    (c,) = read_table(path, features=["loudness", "Duration (ms)"])
    assert c.feature_names == ("loudness", "Duration (ms)")
    np.testing.assert_array_equal(c.features, [[-9.5, 211000], [-11.25, 607000]])


@pytest.mark.parametrize("cell", ["NA", "N/A", "n/a", "null", "-", "nan", "NaN", "None", "—"])
def test_cells_that_say_in_words_that_there_is_nothing(tmp_path, cell):
    reading = open_table(_write(tmp_path, f"title,x\na,1\nb,{cell}\nc,2.5\n"))
    np.testing.assert_array_equal(reading.collections[0].column("x"), [1, np.nan, 2.5])
    assert reading.notes == (f"column 'x': 1 cell(s) such as {cell!r} count as missing",)


def test_json_cells_that_say_in_words_that_there_is_nothing(tmp_path):
    (c,) = read_table(_write(tmp_path, '[{"title": "a", "x": 1}, {"title": "b", "x": "NA"}]', "x.json"))
    np.testing.assert_array_equal(c.column("x"), [1, np.nan])


def test_a_column_that_is_text_stays_text(tmp_path):
    (c,) = read_table(_write(tmp_path, "title,grade,length\nNA,A,tall\nnull,-,3:20\n"))
    assert c.feature_names == ()
    assert _titles(c) == ["NA", "null"]
    assert [dict(item.details) for item in c.items] == [
        {"grade": "A", "length": "tall"},
        {"grade": "-", "length": "3:20"},
    ]


def test_a_constant_column_is_read(tmp_path):
    (c,) = read_table(_write(tmp_path, "title,x\na,1\nb,1\n"))
    np.testing.assert_array_equal(c.column("x"), [1, 1])


@pytest.mark.parametrize(
    ("header", "cells", "name", "values"),
    [
        ("duration", ("3:20", "200"), "duration", (200, 200)),
        ("Length", ("3:20", ""), "duration", (200, np.nan)),
        ("Time", ("62:03", "NA"), "duration", (3723, np.nan)),
        ("Dauer", ("200", "100"), "duration", (200, 100)),
        ("Dauer (ms)", ("200000", "100000"), "duration_ms", (200000, 100000)),
        ("duration", ("200000", "100000"), "duration_ms", (200000, 100000)),
        ("duration (s)", ("200", "100"), "duration", (200, 100)),
        ("length", ("200", "100"), "length", (200, 100)),
        ("BPM", ("120", "90"), "tempo", (120, 90)),
    ],
)
def test_durations_and_units(tmp_path, header, cells, name, values):
    (c,) = read_table(_write(tmp_path, f"title,{header}\na,{cells[0]}\nb,{cells[1]}\n"))
    assert c.feature_names == (name,)
    np.testing.assert_array_equal(c.column(name), values)


def test_what_stands_there_by_its_own_name_keeps_it(tmp_path):
    (c,) = read_table(_write(tmp_path, "title,Loudness,loudness,LOUDNESS\na,1,2,3\n"))
    assert c.feature_names == ("Loudness", "loudness", "LOUDNESS")
    np.testing.assert_array_equal(c.features, [[1, 2, 3]])


@pytest.mark.parametrize(("units", "note"), [(1, ()), (10, ("read as 1 to 10: energy",)),
                                             (100, ("read as per cent: energy",))])  # fmt: skip
def test_energy_may_be_told_to_1_to_10_or_in_per_cent(tmp_path, units, note):
    rows = "".join(f"{title},{units * energy:g},120\n" for title, energy in (("a", 0.7), ("b", 0.2), ("c", 1.0)))
    path = _write(tmp_path, f"title,energy,bpm\n{rows}")
    reading = open_table(path)
    np.testing.assert_allclose(reading.collections[0].column("energy"), [0.7, 0.2, 1.0])
    assert reading.notes == note


def test_what_is_no_list_of_tracks_keeps_its_units(tmp_path):
    path = _write(tmp_path, "title,energy,fat\na,350,7\nb,120,1\n")
    assert open_table(path).collections[0].column("energy").tolist() == [350.0, 120.0]


def test_one_share_that_is_too_large_scales_no_others(tmp_path):
    reading = open_table(_write(tmp_path, "title,energy,bpm\na,0.7,120\nb,4,110\nc,0.5,100\n"))
    assert reading.collections[0].column("energy").tolist() == [0.7, 4.0, 0.5]
    assert reading.notes == ()
