"""What a step model looks at in texts: tables over all pairs, and their words."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.core.evidence import Evidence, Terms
from fabula.media.evidence import Look, nothing
from fabula.media.text.comparing.counting import Counted, counted
from fabula.media.text.comparing.pairs import pair_tables
from fabula.media.text.measuring.measures import MEASURES, measure_text
from fabula.media.text.reading.files import text_of
from fabula.media.text.reading.heads import without_common_heads
from fabula.models.encoders.measures import stand_out

MANNER = (
    "words", "word_length", "variety", "commas", "semicolons", "dashes", "questions", "exclamations", "dialogue",
    "sentence_length", "paragraph_length", "names", "digits", "first_person", "second_person", "indefinite",
    "reading_ease",
)  # fmt: skip
_SHARES = ("word_length", "variety", "questions", "exclamations", "dialogue", "reading_ease")
_LOGGED = ~np.isin(MANNER, _SHARES)


def text_look(collection: Collection) -> Look:
    """From some of the texts of a collection to what is known of them beside their measures.

    Where the texts themselves are not there, as in a table of numbers, nothing is.

    Parameters
    ----------
    collection
        n texts.
    """
    texts = [text_of(item) for item in collection.items]
    if not all(texts):
        return nothing
    bare = without_common_heads(texts)
    found, manner = counted(bare), _measured(collection) if bare == texts else None
    if manner is None:
        manner = np.stack([measure_text(text) for text in bare])[:, [MEASURES.index(name) for name in MANNER]]
    return lambda rows: _evidence(found.only(rows), manner[list(rows)])


def _measured(collection: Collection) -> Floats | None:
    """How texts are written, by measures that every language has, shape (n, 17), where these are known."""
    there = collection.features.ndim == 2 and set(MANNER) <= set(collection.feature_names)
    return collection.columns(list(MANNER)) if there else None


def _evidence(found: Counted, manner: Floats) -> Evidence:
    tables = pair_tables(found, stand_out(manner, _LOGGED))
    return Evidence(tables, Terms(found.language, found.words, found.counts, found.totals.astype(np.float64)))
