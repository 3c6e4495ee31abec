"""From the items of collections to the arrays a set model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.errors import InputError
from fabula.models.sets.pairs import TITLE_PAIRS, all_title_pairs
from fabula.models.sets.spec import SetSpec
from fabula.models.sets.titles import MARKS, Title
from fabula.models.sets.vocabulary import MOST_GRAMS, MOST_TOKENS, Vocabulary

Array = NDArray[np.float32]
Ids = NDArray[np.int32]
OFFSET, BOUND = 1e-3, 5.0  # added before a logarithm; how many deviations from the mean still count


@dataclass(frozen=True, eq=False)
class SetInputs:
    """B collections of n items each, as arrays.

    Attributes
    ----------
    values, known
        Shape (B, n, f): features z-scored over the training items, and 1 where one is known, else 0.
    titled
        Shape (B, n): 1 where a title is known.
    tokens, grams
        Shapes (B, n, MOST_TOKENS) and (B, n, MOST_GRAMS): numbers in the vocabulary, 0 for none.
    marks
        Shape (B, n, len(MARKS)).
    pairs
        Shape (B, n, n, len(TITLE_PAIRS)).
    """

    values: Array
    known: Array
    titled: Array
    tokens: Ids
    grams: Ids
    marks: Array
    pairs: Array

    def __len__(self) -> int:
        return len(self.values)


def standardised(features: ArrayLike, spec: SetSpec, mean: Array, deviation: Array) -> tuple[Array, Array]:
    """Features (n, f) with NaN for missing, as z-scores of the training items (n, f) and what is known (n, f).

    The pitch class is left as it is.

    Examples
    --------
    >>> one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    >>> standardised([[2.0], [np.nan]], SetSpec(("loudness",)), zero, one)[0]
    array([[2.],
           [0.]], dtype=float32)
    """
    try:
        raw = np.array(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("features must be numbers, one row per item, NaN where one is missing") from error
    if raw.ndim != 2 or raw.shape[1] != len(spec.features) or not len(raw):
        raise InputError(f"this model takes features of shape (n, {len(spec.features)}), n >= 1; got {raw.shape}")
    known = np.isfinite(raw)
    raw[~known] = 0.0
    for name in spec.logged:
        column = spec.features.index(name)
        raw[:, column] = np.log(np.maximum(raw[:, column], 0.0) + OFFSET)
    z = np.clip((raw - mean) / deviation, -BOUND, BOUND)
    if spec.circle:
        column = spec.features.index(spec.circle)
        known[:, column] &= raw[:, column] >= 0  # -1 where no key was found
        z[:, column] = raw[:, column]
    return np.where(known, z, 0.0).astype(np.float32), known.astype(np.float32)


def set_inputs(
    values: Array, known: Array, titles: Sequence[Sequence[Title]] | None, vocabulary: Vocabulary
) -> SetInputs:
    """Collections of one length as arrays.

    Parameters
    ----------
    values, known
        Shape (B, n, f): what :func:`standardised` gives.
    titles
        Of each collection its titles, taken apart; None where there are none.
    """
    count, n = values.shape[:2]
    parts = untitled(count, n) if titles is None else title_arrays(titles, vocabulary)
    return SetInputs(values, known, *parts)


def title_arrays(titles: Sequence[Sequence[Title]], vocabulary: Vocabulary) -> tuple[Array, Ids, Ids, Array, Array]:
    """Of the titles of B collections: known (B, n), tokens, grams, marks (B, n, ...) and pairs (B, n, n, ...)."""
    count, n = len(titles), len(titles[0])
    flat = [title for own in titles for title in own]
    titled = np.array([title.known for title in flat], dtype=np.float32)
    tokens, grams = vocabulary.numbered(flat)
    marks: Array = np.array([title.marks for title in flat], dtype=np.float32) * titled[:, np.newaxis]
    ids = tokens.reshape(count, n, -1), grams.reshape(count, n, -1)
    return titled.reshape(count, n), *ids, marks.reshape(count, n, -1), all_title_pairs(titles)


def untitled(count: int, n: int) -> tuple[Array, Ids, Ids, Array, Array]:
    """What :func:`title_arrays` gives for ``count`` collections of n items without titles."""
    rows = (count, n)
    ids = np.zeros((*rows, MOST_TOKENS), dtype=np.int32), np.zeros((*rows, MOST_GRAMS), dtype=np.int32)
    pairs = np.zeros((count, n, n, len(TITLE_PAIRS)), dtype=np.float32)
    return np.zeros(rows, dtype=np.float32), *ids, np.zeros((*rows, len(MARKS)), dtype=np.float32), pairs
