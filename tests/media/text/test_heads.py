"""Headings and part numbers that stand in the text: found and cut, so that nothing is told by them."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.media.registry import measure_if_held
from fabula.media.text.heads import names_part, without_common_heads, without_heads
from fabula.media.text.pairs import text_look
from fabula.media.text.passages import read_document

WORDS = ["sea", "storm", "boat", "letter", "night", "house", "road", "king", "snow", "garden"]
SPELLED = ("One", "Two", "Three", "Twelve", "Twenty-One", "Twenty-Two", "Twenty-Three")
GERMAN = ("Erstes", "Zweites", "Drittes", "Zwölftes", "Einundzwanzigstes", "Zweiundzwanzigstes", "Letztes")
ROMAN = ("I", "II", "III", "XII", "XXI", "XXII", "XXIII")
PLANTED = {
    "Chapter 7": [f"Chapter {k}" for k in range(7)],
    "VII.": [f"{number}." for number in ROMAN],
    "VII": list(ROMAN),
    "Kapitel 3": [f"Kapitel {k}" for k in range(7)],
    "Chapter Twenty-One": [f"Chapter {number}" for number in SPELLED],
    "Einundzwanzigstes Kapitel": [f"{number} Kapitel" for number in GERMAN],
    "第三章": [f"第{number}章" for number in "一二三四五六七"],
    "Luku 7": [f"Luku {k}" for k in range(7)],  # a language of which nothing is known
    "THE STORM 17": [f"THE STORM {k + 17}" for k in range(7)],
    "CHAPTER III. THE STORM": [f"CHAPTER {number}. THE STORM" for number in ROMAN],
}


def passages():
    rng = np.random.default_rng(0)
    lines = [[f"Then Ann saw the {' and the '.join(rng.choice(WORDS, 4))}." for _ in range(5)] for _ in range(7)]
    return ["\n\n".join(own) for own in lines]


def known(texts):
    """All that a model looks at in texts."""
    items = [Item(str(k), details={"text": text}) for k, text in enumerate(texts)]
    collection, _ = measure_if_held(Collection("book", items))
    evidence = text_look(collection)(range(len(texts)))
    return np.nan_to_num(collection.features), evidence


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("between", ["\n\n", "\n"])
def test_planted_heads_tell_nothing(name, between):
    plain, texts = passages(), [f"{head}{between}{text}" for head, text in zip(PLANTED[name], passages(), strict=True)]
    (features, evidence), (planted, spoilt) = known(plain), known(texts)
    assert evidence.terms.names == spoilt.terms.names
    for table, values in evidence.pairs.items():
        assert np.array_equal(values, spoilt.pairs[table]), table
    if name not in ("Luku 7", "THE STORM 17"):  # one text alone cannot tell these
        assert np.array_equal(features, planted)


def test_running_heads_within_texts_tell_nothing():
    texts = [text.replace("\n\n", f"\n\n{k + 17} THE STORM\n\n", 2) for k, text in enumerate(passages())]
    (_, evidence), (_, spoilt) = known(passages()), known(texts)
    assert all(np.array_equal(values, spoilt.pairs[table]) for table, values in evidence.pairs.items())


def test_files_lose_their_heads_too(tmp_path):
    for ending, text in ((".txt", "CHAPTER VII\n\nIt rained."), (".md", "Chapter 7\n\nIt rained.")):
        path = tmp_path / f"a{ending}"
        path.write_text(text)
        assert read_document(str(path)).text == "It rained."


@pytest.mark.parametrize("line", ["Part of me died", "Book me a room", "I", "Chapter and verse", "Ein Teil der Leute"])
def test_what_is_said_stays(line):
    assert without_heads(["It rained.", f"{line}, she said."]) == ["It rained.", f"{line}, she said."]
    assert line == "I" or not names_part(line)


def test_lines_in_common_stay_where_they_differ_in_more_than_numbers():
    refrain = ["I went to sea\n\nRain.", "I went to sea\n\nWind.", "I went to sea\n\nSnow."]
    assert without_common_heads(refrain) == refrain
    once = ["In 1812 it rained.", "In 1813 we left the town for good.", "Snow."]
    assert without_common_heads(once) == once


def test_very_many_lines_that_number_parts_are_no_recursion():
    assert without_heads(["\n".join(["6. Ou"] * 5000) + "\n\n It rained."]) == ["It rained."]
    assert without_heads(["6. Ou"] * 5000 + ["7. Ou\n\n"])[-1:] == ["7. Ou\n\n"]
