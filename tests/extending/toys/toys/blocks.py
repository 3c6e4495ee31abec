"""Toy blocks: files that end in .block and hold a weight and a height."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabula.media import Collection, FileError, Item, Medium, Spec, Unit, Words, as_number, as_numbers

Floats = NDArray[np.float64]


def read_block(path: str) -> Item:
    """A block is called by the name of its file."""
    return Item(path, title=Path(path).stem, path=path)


def measure(path: str, _: object) -> Floats:
    """Weight and height, from the one line of the file."""
    try:
        return np.array([float(cell) for cell in Path(path).read_text().split()])
    except ValueError as error:
        raise FileError(f"{path}: is not a block ({error})") from error


def heights(collection: Collection) -> Floats:
    """How high each block is."""
    return collection.column("height") if "height" in collection.feature_names else np.full(len(collection), np.nan)


SPEC = Spec("blocks", 1, ("weight", "height"), measure, (2,))
MEDIUM = Medium(
    "blocks",
    Words("block", "blocks", "tower", "builder", {"weight": ("heavy", "light")}),
    endings=frozenset({".block"}),
    read_item=read_block,
    specs={"blocks": lambda: SPEC},
    unit=Unit("centimetres", as_numbers, as_number, "30"),
    lengths=heights,
    columns=("weight", "height"),
)
