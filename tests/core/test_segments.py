import numpy as np
import pytest

from fabula.core.arrays import as_offsets, by_length, normalise, normalise_many
from fabula.errors import InputError


def ragged(rng, sizes, d=2):
    return rng.normal(size=(sum(sizes), d)), np.cumsum([0, *sizes])


@pytest.mark.parametrize("factor", [1.0, 1e-200, 1e200])
def test_each_collection_is_scaled_as_if_alone(rng, factor):
    values, offsets = ragged(rng, [1, 2, 5, 1, 9, 3])
    values[3:8, 1] = 0.7  # all alike
    values[20] = values[19]
    values *= factor
    expected = [normalise(part) for part in np.split(values, offsets[1:-1])]
    np.testing.assert_allclose(normalise_many(values, offsets), np.concatenate(expected), atol=1e-12)


def test_collections_of_one_length_come_together_and_each_once(rng):
    sizes = rng.integers(1, 6, 40)
    offsets = np.cumsum([0, *sizes])
    seen = []
    for some in by_length(offsets, 30):
        n = some.rows.shape[1]
        assert len(some.numbers) <= max(1, 30 // n**2)
        for number, rows in zip(some.numbers, some.rows, strict=True):
            np.testing.assert_array_equal(rows, np.arange(offsets[number], offsets[number + 1]))
        seen += some.numbers.tolist()
    assert sorted(seen) == list(range(40))


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ([1, 3], "begin with 0"),
        ([0, 2], "end with the number of rows, 3"),
        ([0, 2, 2, 3], "collection 1 has none"),
        ([0, 3, 2, 3], "collection 1 has none"),
        ([0.0, 3.0], "must be integers"),
        ([], "must be integers"),
        ([[0, 3]], "must be integers"),
    ],
)
def test_offsets_that_make_no_collections_are_refused(offsets, words):
    with pytest.raises(InputError, match=words):
        as_offsets(offsets, 3)


def test_no_collection_is_none():
    assert as_offsets(np.array([0]), 0).tolist() == [0]
    assert normalise_many(np.zeros((0, 2)), np.array([0])).shape == (0, 2)
