import numpy as np
import pytest

from fabula.media.text.documents import plain_document
from fabula.media.text.language import language_of, names_after, paragraphs_of, sentences_of, without_spaces, words_of
from fabula.media.text.text_measures import MEASURES, measure_text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("It's a well-kept house.", 4),
        ("今日は雨です。", 6),
        ("שלום עולם", 2),
        ("مَرْحَبًا بالعالم", 2),
        ("नमस्ते दुनिया", 2),
        ("Ωραία μέρα, 2024!", 2),
        ("e\u0301te\u0301 chaud", 2),
    ],
)
def test_words_of_any_script_are_counted(text, count):
    assert len(words_of(text)) == count


def test_marks_of_any_script_end_a_sentence():
    assert len(sentences_of("雨。雪！風？")) == 3
    assert len(sentences_of("“Who?” she said. “I.”\n\nNo mark here")) == 4


def test_lines_are_paragraphs_where_nothing_is_between_them():
    assert paragraphs_of("one\ntwo") == ["one", "two"]
    assert paragraphs_of("one\ntwo\n\nthree") == ["one\ntwo", "three"]


def test_a_name_at_the_start_of_a_sentence_is_not_counted():
    assert [name for _, name in names_after("Mary came. Then Tom and Éva left.")] == ["Tom", "Éva"]


def test_scripts_without_spaces_are_known():
    assert without_spaces("今日は雨です。")
    assert not without_spaces("It rains.")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It was the best of times and it was the worst of times", "en"),
        ("Er war in den Garten gegangen und sie sah ihn nicht", "de"),
        ("Il était dans la maison et elle ne le savait pas", "fr"),
        ("No se sabe lo que pasó en la casa de su padre", "es"),
        ("Já jsem byl v tom lese a už se mi to zdá jak sen", "cs"),
        ("Jeg gik til stranden og det var en aften som ingen", "no"),
        ("Hij was niet thuis en het regende op de straat van zijn dorp", "nl"),
        ("Lorem ipsum dolor sit amet consectetur", ""),
    ],
)
def test_languages_are_told_by_their_commonest_words(text, language):
    assert language_of(text.casefold().split()) == language


def measured(text):
    return dict(zip(MEASURES, measure_text(text).tolist(), strict=True))


def test_measures_of_a_short_text():
    found = measured('"Is it you?" said Ann. I saw a man, and you saw a boat; it was the end of it!\n\nThe rain fell.')
    assert found["words"] == 23
    assert found["questions"] == pytest.approx(1 / 4)
    assert found["exclamations"] == pytest.approx(1 / 4)
    assert found["paragraph_length"] == pytest.approx(23 / 2)
    assert found["first_person"] == pytest.approx(1000 / 23)
    assert found["second_person"] == pytest.approx(2000 / 23)
    assert found["indefinite"] == pytest.approx(2000 / 23)
    assert 0.1 < found["dialogue"] < 0.2


@pytest.mark.parametrize("text", ["a", "今日は雨です。" * 50, "שלום " * 400, "word " * 5000, "!?" * 30 + " x"])
def test_every_measure_is_a_number(text):
    measured = measure_text(text)
    assert np.isfinite(measured[: MEASURES.index("valence")]).all()  # what knows no language
    assert not np.isinf(measured).any()


def test_numbers_and_headings_that_are_planted_change_nothing():
    body = [f"Ann walked on the {word} day. It rained." for word in ("first", "second", "third", "fourth")]
    planted = [f"{line}\n\n{page}\n\nTHE SEA. {page}" for page, line in enumerate(body, start=17)]
    whole = "\n\n".join(["CHAPTER XII", "XII. The Boat", *planted, "END OF CHAPTER TWELVE"])
    assert plain_document(whole).text == "\n\n".join(body)


@pytest.mark.parametrize("quoted", ["“{}”", "„{}“", "«{}»", "»{}«", "「{}」", '"{}"'])
def test_talk_is_found_in_the_marks_of_many_languages(quoted):
    assert measured(quoted.format("Come here now") + " he said")["dialogue"] > 0.5


def test_a_dash_opens_talk_as_well():
    assert measured("— Ven aquí.\n\n— No quiero.")["dialogue"] > 0.9
