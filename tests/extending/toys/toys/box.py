"""A box of blocks: ``box://3,1,2`` is three blocks of these weights, each 10 high."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.registry import find_medium
from fabula.sources.registry import Opening, Reader, Source


def open_box(paths: Sequence[str], _: Opening) -> Source:
    """One block per weight."""
    try:
        weights = [float(text) for text in paths[0].partition("://")[2].split(",")]
    except ValueError:
        raise InputError(f"{paths[0]}: a box is a list of weights, such as box://3,1,2") from None
    items = [Item(str(k), title=f"block {weight:g}") for k, weight in enumerate(weights)]
    features = [[weight, 10.0] for weight in weights]
    return Source(Path("box"), Collection("box", items, features, ("weight", "height")), find_medium("blocks"))


READER = Reader("box", open_box, schemes=("box",))
