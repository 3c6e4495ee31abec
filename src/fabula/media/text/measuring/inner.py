"""The inside of a text: pieces of it in their order, measured."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.media.text.measuring.languages import language_of
from fabula.media.text.measuring.measures import MEASURES, measure_text
from fabula.media.text.measuring.words import starts_of
from fabula.media.text.reading.files import text_of

_FEWEST = 20  # words of a piece


def pieces_of(item: Item, count: int) -> Collection | None:
    """A text as pieces of as many words each, in their order, measured; None where it has too few words for two.

    Parameters
    ----------
    item
        A text.
    count
        How many, or fewer where they would have less than 20 words.

    Examples
    --------
    >>> rain = Item("a", "Rain", details={"text": "It rained on the sea and on the land. " * 30})
    >>> pieces = pieces_of(rain, 5)
    >>> pieces.column("words").tolist()
    [54.0, 54.0, 54.0, 54.0, 54.0]
    """
    text = text_of(item)
    starts = starts_of(text)
    count = min(count, len(starts) // _FEWEST)
    if count < 2:
        return None
    first = [starts[i] for i in np.linspace(0, len(starts), count + 1).round().astype(int)[:-1]]
    bounds = [0, *first[1:], len(text)]
    whole = language_of([word.casefold() for word in text[:20_000].split()])
    rows = [measure_text(text[a:b], language=whole) for a, b in pairwise(bounds)]
    items = [Item(str(number), path="") for number in range(1, count + 1)]
    return Collection(item.id, items, np.stack(rows), MEASURES, title=item.label)
