import numpy as np
import pytest

from fabula.core.energy import FUNCTIONS, position_basis
from fabula.errors import InputError, ModelError
from fabula.models.encoders.set import SetEncoder, SetSpec
from fabula.models.titles import TITLE_PAIRS, Vocabulary, learn_vocabulary, read_titles, title_pairs


def test_the_basis_knows_both_ends():
    basis = position_basis(5)
    assert basis.shape == (FUNCTIONS, 5)
    assert basis[8].tolist() == [1, 0, 0, 0, 0]
    assert basis[11].tolist() == [0, 0, 0, 1, 0]
    assert position_basis(1).shape == (FUNCTIONS, 1)


def test_no_positions_are_refused():
    with pytest.raises(InputError, match="at least 1 position; got 0"):
        position_basis(0)


def test_part_two_follows_part_one():
    table = title_pairs([read_titles(["Hope Pt. 2", "Hope Pt. 1", "Rain", ""])])[0]
    following = TITLE_PAIRS.index("next part")
    assert table[1, 0, following] == 1
    assert table[0, 1, following] == 0
    assert table[0, 1, TITLE_PAIRS.index("part before")] == 1
    assert not table[2].any()
    assert not table[3].any()


def test_missing_and_endless_features_are_not_known():
    spec = SetSpec(("loudness", "key"), circle="key")
    zero, one = np.zeros(2, np.float32), np.ones(2, np.float32)
    encoder = SetEncoder(spec, {"transform.mean": zero, "transform.deviation": one}, Vocabulary((), ()))
    values, known = encoder.standardise([[np.nan, -1], [np.inf, 11], [99, 0]])
    assert known.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert values.tolist() == [[0, 0], [0, 11], [5, 0]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": (), "titles": False}, "at least one feature"),
        ({"features": ("a", "a")}, "distinct"),
        ({"features": ("a",), "circle": "key"}, "'key' is not one of"),
        ({"features": ("a",), "width": 10, "heads": 4}, "multiple"),
        ({"features": ("a",), "width": 0}, "width"),
    ],
)
def test_a_specification_that_cannot_be_is_refused(changes, words):
    with pytest.raises(ModelError, match=words):
        SetSpec(**changes)


def test_the_vocabulary_counts_artists_not_songs():
    albums = [("a", read_titles(["Rain", "Rain", "Rain"])), ("b", read_titles(["Sun"])), ("c", read_titles(["Sun"]))]
    known = learn_vocabulary(albums, tokens=2, grams=0)
    assert known == Vocabulary(("=sun", "sun"), ())
    with pytest.raises(ModelError, match="distinct"):
        Vocabulary(("a", "a"), ())
