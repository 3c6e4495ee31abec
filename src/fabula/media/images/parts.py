"""One PDF cut into its pages, as measured items."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.errors import shown
from fabula.media.images.measures import MEASURES, SIZE, measures_of
from fabula.media.images.pages import PAGE, PDF, rendered

_MOST = 5000  # pages


def cut_pages(path: str) -> Collection | None:
    """The pages of a PDF as measured items; None for another file, or a PDF of one page.

    Raises
    ------
    FileError
        When it cannot be read, or has more than 5,000 pages.
    """
    if Path(path).suffix.lower() != ".pdf":
        return None
    rows = [measures_of(page) for page in rendered(path, SIZE, _MOST)]
    if len(rows) < 2:
        return None
    items = [Item(str(k), title=f"Page {k}", details={PDF: str(path), PAGE: k}) for k in range(1, len(rows) + 1)]
    title = shown(Path(path).stem)
    return Collection(title, items, np.stack(rows), MEASURES, title=title)
