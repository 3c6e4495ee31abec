import pytest

from fabula.core.collection import fold_creator
from fabula.models.titles import (
    MARKS,
    clean_titles,
    find_closers,
    find_series,
    grams_of,
    numbers,
    read_titles,
    roman,
    tokens_of,
    words_of,
)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (["01 - Intro", "02 - Rain"], ["Intro", "Rain"]),
        (["1. Intro", "2. Rain"], ["Intro", "Rain"]),
        (["1-01 Intro", "1-02 Rain"], ["Intro", "Rain"]),
        (["A1 Intro", "A2 Rain", "B1 Sun"], ["Intro", "Rain", "Sun"]),
        (["1 Intro", "2 Rain", "3 Sun"], ["Intro", "Rain", "Sun"]),
        (["Track 01", "Pista 2", "AudioTrack 03"], ["", "", ""]),
        (["1", "2", "3"], ["", "", ""]),
        (["III", "I", "II"], ["", "", ""]),
        (["One", "Two", "Three"], ["", "", ""]),
        (
            ["Suite: I. Air", "Suite: II. Gavotte", "Suite: III. Gigue"],
            ["Suite: Air", "Suite: Gavotte", "Suite: Gigue"],
        ),
        (["Variation 1", "Variation 2", "Variation 3"], ["Variation", "Variation", "Variation"]),
    ],
)
def test_numbering_is_cut(given, left):
    assert clean_titles(given) == left


@pytest.mark.parametrize(
    "kept",
    [
        ["7 Rings", "99 Problems", "Rain"],
        ["1979", "Zero", "Rain"],
        ["Hope, Part 1", "Hope, Part 2", "Rain"],
        ["Part 1", "Part 2", "Part 3"],
        ["I Love You", "I Want You", "I"],
        ["Interlude 1", "Rain", "Sun", "Interlude 2", "Moon"],
        ["...", "?", "50% Off"],
    ],
)
def test_what_belongs_to_the_song_stays(kept):
    assert clean_titles(kept) == kept


def test_roman_numerals():
    assert [roman(word) for word in ("i", "iv", "ix", "xiv", "xxxix", "mix", "civil", "")] == [1, 4, 9, 14, 39, 0, 0, 0]
    assert [number.value for number in numbers("hope pt. ii")] == [2]
    assert numbers("i love you") == ()


def test_words_are_folded_and_digits_hidden():
    assert words_of("Canción №42 (Don’t)") == ("cancion", "no#", "don't")
    assert words_of("2001") == words_of("1999")
    assert words_of("さくら") == ("さくら",)


def test_tokens_and_grams():
    assert tokens_of(()) == []
    assert tokens_of(("intro",)) == ["intro", "=intro"]
    assert grams_of(("go",)) == ["<go", "go>", "<go>"]


def test_parts_and_marks():
    first, second, other = read_titles(["Hope", "Hope II", "HOPE (feat. Rain)"], album="Hope", artists=["Rain"] * 3)
    assert (first.part, second.part, second.base) == (0, 2, "hope")
    marks = dict(zip(MARKS, other.marks, strict=True))
    assert marks["guest"] == marks["brackets"] == marks["artist"] == marks["album_title"] == 1
    assert marks["part"] == 0
    assert first.marks[MARKS.index("album_words")] == 1


def test_rare_words_for_beginnings_and_ends_are_read_as_common_ones():
    assert words_of("Obertura") == words_of("Ouverture") == ("overture",)
    assert words_of("Epílogo: Prólogo") == ("epilogue", "prologue")
    assert words_of("イントロ") == ("intro",)


@pytest.mark.parametrize(
    ("titles", "found"),
    [
        (["Symphony No. 5: IV. Allegro", "Symphony No. 5: I. Allegro", "Symphony No. 5: II. Andante"], [(1, 2, 0)]),
        (["Prelude No. 2 in C", "Prelude No. 1 in D", "Prelude No. 3 in A"], [(1, 0, 2)]),
        (["2. Satz: Adagio", "1. Satz: Allegro", "3. Satz: Presto"], [(1, 0, 2)]),
        (["Sonata: 2nd Movement", "Sonata: 1st Movement"], [(1, 0)]),
        (["Suite: Segunda parte", "Suite: Primera parte"], [(1, 0)]),
        (["Metamorphosis Two", "Metamorphosis One", "Rush"], [(1, 0)]),
        (["The Crane Wife 3", "The Crane Wife 1 & 2", "The Island"], [(1, 0)]),
        (["Shine On (Parts VI-IX)", "Have a Cigar", "Shine On (Parts I-V)"], []),  # not hardly any left out
        (["Neighborhood #4 (7 Kettles)", "Neighborhood #3 (Power Out)", "Wake Up"], [(1, 0)]),
        (["Side Two", "Side One", "Rain"], [(1, 0)]),
        (["Damaged II", "Damaged I", "Rise"], [(1, 0)]),
        (["III", "I", "II"], [(1, 2, 0)]),
        (["Song 1", "Song 3", "Song 2", "Song 4"], []),  # a numbering of all tracks
        (["Track 1", "Track 2", "Track 3"], []),
        (["1. Rain", "2. Sun", "3. Moon"], []),
        (["1979", "1984", "99 Problems"], []),
        (["Part 1", "Part 1 (live)", "Part 2"], []),  # one number twice
        (["Theme 2", "Rain", "Theme 9"], []),  # far apart
        (["I", "You", "We"], []),
        ([f"{k:02d} page {k}" for k in range(1, 16)], []),  # a numbering of all, as files have it
        (["1 Prelude No. 2", "2 Rain", "3 Prelude No. 1"], [(2, 0)]),
    ],
)
def test_series_are_what_titles_count(titles, found):
    assert [one.items for one in find_series(titles)] == found


def test_only_movements_stand_in_a_row():
    movements, interludes = (
        find_series([f"Suite: {n}. Air" for n in ("I", "II", "III")]),
        find_series([f"Skit #{n}" for n in (1, 2, 3)] + ["Rain", "Sun", "Moon", "Sea"]),
    )
    assert [one.follows for one in movements + interludes] == [True, False]


def test_ends_that_titles_say():
    assert words_of("Coda") == words_of("Epílogo") == ("epilogue",)
    assert words_of("Salida") == ("outro",)
    assert words_of("Salida del sol")[0] == "salida"
    assert find_closers(["Coda", "Salida", "Ausklang", "Finale", "Closing: Us", "Closing Time", "Rain"]) == [
        0,
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("SIMON & GARFUNKEL", "Simon y Garfunkel"),
        ("The Beat", "Beat feat. Ranking Roger"),
        ("Jay-Z", "JAY Z ft. Rihanna & Kanye West"),
        ("Beyoncé", "Beyonce (featuring Sean Paul)"),
        ("Nick Cave & The Bad Seeds", "Nick Cave and the Bad Seeds"),
    ],
)
def test_spellings_of_one_artist_fall_together(one, other):
    assert fold_creator(one) == fold_creator(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("And One", "One"), ("Generation Y", "Generation"), ("Simon", "Simon & Garfunkel"), ("Feat", ""), ("Y", "And")],
)
def test_other_artists_stay_apart(one, other):
    assert fold_creator(one) != fold_creator(other)
