"""What is measured of a text where its language is known, against counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.errors import InputError
from fabula.media.text.text_measures import FELT, MEASURES, lexicon, measure_text
from fabula.session.session import open_session

GLAD = "She was happy in the garden and loved the wonderful, beautiful morning at Bath with her friend. "
SAD = "He was dead in the mud and they hated the horrible, cruel war at Verdun that killed his friend. "
WORDS = {
    "en": ("happy", "dead"),
    "de": ("schöner", "schlechtes"),
    "fr": ("heureux", "affreux"),
    "nl": ("mooie", "slechte"),
}


def of(text, name):
    return float(measure_text(text)[MEASURES.index(name)])


def test_valence_is_the_mean_of_the_charged_words():
    table = lexicon("en")
    words = ["the", "good", "and", "the", "bad", "and", "the", "ugly", "that", "was", "in", "it"]
    felt = [table[word] for word in words if word in table]
    assert len(felt) == 3
    assert of(" ".join(words), "valence") == pytest.approx(np.mean(felt))
    assert of(" ".join(words), "intensity") == pytest.approx(1000 * np.abs(felt).sum() / len(words))
    assert of(GLAD, "valence") > 0.3 > -0.3 > of(SAD, "valence")


@pytest.mark.parametrize("language", sorted(FELT))
def test_tables_are_bounded_and_know_good_from_bad(language):
    table = lexicon(language)
    assert len(table) > 2500
    assert all(-1 <= value <= 1 and value for value in table.values())
    good, bad = WORDS[language]
    assert table[good] > 0 > table[bad]


def test_a_text_without_a_charged_word_is_neutral():
    assert of("and the of to in a that was he it", "valence") == 0


@pytest.mark.parametrize("text", ["El perro de la casa que no se ve en el campo y la mar", "今日は雨です。"])
def test_where_a_language_has_no_table_the_measure_is_missing(text):
    assert np.isnan(of(text, "valence"))


def test_times_tense_and_places():
    told = "It was night when he came in Rome. He had gone in April, and was at Bath in the morning with Ann."
    assert of(told, "past") == 1
    assert of("He is here and it is late and he has it and says that he can.", "past") == 0
    words = of(told, "words")
    assert of(told, "time_words") * words / 1000 == pytest.approx(3)  # night, when, morning
    assert of(told, "places") * words / 1000 == pytest.approx(2)  # Rome and Bath; neither April nor Ann
    assert np.isnan(of("Und er war in der Stadt und sie ist nicht mit dem Zug in Wien", "places"))


def folder_of(tmp_path, texts):
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text * 3, encoding="utf-8")
    return tmp_path


def test_order_by_valence_and_by_what_people_call_a_measure(tmp_path):
    folder = folder_of(tmp_path, [GLAD, SAD, "It was in the house and he had it, a good thing. "])
    session = open_session(folder, by="valence")
    assert session.order(template="steady-fall").ordering.tolist() == [0, 2, 1]
    assert open_session(folder, by="readability").column == "reading_ease"


def test_a_missing_measure_says_why(tmp_path):
    folder = folder_of(tmp_path, [GLAD, "El perro de la casa que no se ve en el campo y la mar. "])
    with pytest.raises(InputError, match="has no 'valence': no table of feeling for its language"):
        open_session(folder, by="valence")
    ordered = open_session(folder).order()  # and nothing else minds
    assert len(ordered.ordering) == 2


def test_a_few_that_are_missing_are_taken_as_average(tmp_path):
    folder = folder_of(tmp_path, [GLAD, SAD, GLAD + SAD, SAD + GLAD, "El perro de la casa que no se ve en el campo. "])
    session = open_session(folder, by="valence")
    assert session.essence[4] == pytest.approx(0, abs=1e-12)
    assert session.notes[-1].startswith("valence is not known of '4' (no table of feeling")


def test_what_is_not_known_is_kept_in_the_cache(tmp_path, monkeypatch):
    from fabula.media import extraction
    from fabula.media.text.text_measures import SPEC

    monkeypatch.setenv("FABULA_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "a.txt"
    file.write_text("今日は雨です。", encoding="utf-8")
    first = extraction.extract([file], SPEC).features
    monkeypatch.setattr("fabula.media.text.text_measures.measure_text", lambda text: pytest.fail("measured again"))
    assert np.array_equal(extraction.extract([file], SPEC).features, first, equal_nan=True)
