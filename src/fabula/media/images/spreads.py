"""Facing pages: which pictures go well beside each other, and which need both pages."""

from __future__ import annotations

import numpy as np

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.media.images.flow import picture_steps
from fabula.media.medium import Facing

WIDE = 2.0  # width by height from which a picture takes both pages
_UPRIGHT = 2.0  # average steps that an upright beside a wide format costs besides


def facing_pages(collection: Collection) -> Facing:
    """How unlike two pictures are beside each other; an upright one goes with an upright one.

    Parameters
    ----------
    collection
        n pictures, measured.
    """
    n = len(collection)
    known = "aspect" in collection.feature_names and collection.features.ndim == 2
    aspect = collection.column("aspect") if known else np.ones(n)

    def costs() -> tuple[Floats, Floats]:
        table = picture_steps(collection, np.zeros(n)).table
        lies = np.sign(np.log(np.where(np.isfinite(aspect), aspect, 1.0)).round(2))
        odd = _UPRIGHT * (lies[:, np.newaxis] * lies < 0)
        return (table + table.T) / 2, odd.astype(np.float64)

    return Facing(aspect >= WIDE, costs)
