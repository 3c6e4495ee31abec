"""One file cut into items, and rows of a table as texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.errors import shown
from fabula.media.text.measuring.measures import MEASURES, measure_text
from fabula.media.text.measuring.words import words_of
from fabula.media.text.reading.document import Document, cut
from fabula.media.text.reading.files import TEXT, read_document, text_of

_FEW = 6  # words below which most cells of a column are names of things, no texts
_SHOWN = 48  # characters of a part that stand for its title where it has none


def cut_file(path: str) -> Collection | None:
    """The parts of a file as measured items that hold their text; None where it cannot be cut.

    Parameters
    ----------
    path
        Any file of text: cut by its highest headings of which there are several, else by its separators (``***``, a
        rule, three empty lines, a new page of an .epub).

    Raises
    ------
    FileError
        When it cannot be read.
    """
    document = read_document(path)
    parts = [part for part in cut(document) if words_of(part.text)]
    if len(parts) < 2:
        return None
    items = [
        Item(str(number), title=shown(_title(part)), artist=shown(document.author), details={TEXT: part.written})
        for number, part in enumerate(parts, start=1)
    ]
    title = shown(document.title or document.name or Path(path).stem)
    return Collection(title, items, np.stack([measure_text(part.text) for part in parts]), MEASURES, title=title)


def measured_texts(collection: Collection) -> Collection | None:
    """Items that hold their texts, as rows of a table with a column of texts, measured; None where they do not.

    What the collection knows already wins over what is measured.
    """
    texts = [text_of(item) if not item.path else "" for item in collection.items]
    counts = [len(words_of(text)) for text in texts]
    if min(counts) < 1 or np.median(counts) < _FEW or collection.features.ndim != 2:
        return None
    new = [name for name in MEASURES if name not in collection.feature_names]
    rows = np.stack([measure_text(text) for text in texts])[:, [MEASURES.index(name) for name in new]]
    features = np.concatenate([collection.features, rows], axis=1)
    return replace(collection, features=features, feature_names=(*collection.feature_names, *new))


def _title(part: Document) -> str:
    if any(block.level > 0 for block in part.blocks):
        return part.heading
    start = " ".join(part.text[: 2 * _SHOWN].split())
    return start if len(start) <= _SHOWN else start[:_SHOWN].rsplit(" ", 1)[0] + "…"
