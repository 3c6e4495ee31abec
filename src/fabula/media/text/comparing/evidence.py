"""What a step model looks at in texts: tables over all pairs, and their words."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.media.evidence import Look, nothing
from fabula.media.text.comparing.counting import Counted, counted
from fabula.media.text.comparing.pairs import pair_tables
from fabula.media.text.reading.files import text_of
from fabula.media.text.reading.heads import without_common_heads
from fabula.models.steps.evidence import Evidence, Terms


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
    found = counted(without_common_heads(texts))
    return lambda rows: _evidence(found.only(rows))


def _evidence(found: Counted) -> Evidence:
    return Evidence(
        pair_tables(found), Terms(found.language, found.words, found.counts, found.totals.astype(np.float64))
    )
