"""What each two texts have to do with each other."""

import numpy as np
import pytest

from fabula.media.text.pairs import LIKENESS, PAIRS, PRECEDENCE, count, pair_tables

TEXTS = [
    "A stranger came to the inn with Mary Bull. Then Mary Bull slept, and Mary slept on.",
    "The stranger slept in the inn, and then Mary saw a dog. Perhaps Mary slept.",
    "The inn was old and the dog barked at the stranger. Later old Mary laughed.",
    "Nobody saw the dog, but Mary and the stranger came to a bridge by the water.",
]


@pytest.fixture(scope="module")
def tables():
    return pair_tables(count(TEXTS))


def test_likeness_is_the_same_both_ways_and_precedence_turns(tables):
    assert tuple(tables) == PAIRS
    for name in LIKENESS:
        assert tables[name] == pytest.approx(tables[name].T)
    for name in PRECEDENCE:
        assert tables[name] == pytest.approx(-tables[name].T)


def test_who_introduces_comes_first():
    others = ["It was late and they went on.", "Nothing moved that night.", "They spoke of it.", "It was over."]
    texts = ["Then they saw the stranger again.", "Then a tall stranger came to the gate.", *others]
    found = pair_tables(count(texts))["new_words"]
    assert found[1, 0] > 0
    assert found[0, 1] == -found[1, 0]


def test_facts_are_those_of_a_plain_count():
    found = count(TEXTS)
    mary = found.words.index("mary")
    entry = np.flatnonzero((found.counts.indices == mary) & (found.row == 0))[0]
    facts = {name: float(values[entry]) for name, values in found.facts.items()}
    assert (found.counts.data[entry], facts["first"], facts["last"], facts["full"]) == (3, 7, 14, 2)
    assert (facts["capital"], facts["indefinite"], facts["determined"]) == (3, 0, 0)


def test_some_texts_are_as_if_there_were_no_others():
    some, alone = count(TEXTS).only([2, 0, 3]), count([TEXTS[2], TEXTS[0], TEXTS[3]])
    for name, table in pair_tables(alone).items():
        assert pair_tables(some)[name] == pytest.approx(table, abs=1e-9)


@pytest.mark.parametrize("texts", [["我是谁。你是谁。", "他是我。"], ["one", "two"], ["same words", "same words"]])
def test_any_script_and_any_few_texts_give_finite_tables(texts):
    assert all(np.isfinite(table).all() for table in pair_tables(count(texts)).values())
