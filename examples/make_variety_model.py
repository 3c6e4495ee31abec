"""Make the model `variety`, whose weights are set and not learned: ``python examples/make_variety_model.py FILE``.

It lays out pieces that have nothing to do with each other, as in an anthology: neighbours differ in their words, in
their people and places, and in their form, which is mostly their length. It knows no direction and claims nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from fabula.models.encoders.measures import measures_config, neighbour_tensors
from fabula.models.model import Model

WEIGHTS = {"wording": -2.0, "cast": -1.0, "form": -2.0}  # of how close two neighbours are, in deviations


def main() -> None:
    """Write the model."""
    tensors = neighbour_tensors(np.zeros((0, 12)), list(WEIGHTS.values()))
    card = {
        "name": "variety",
        "purpose": "pieces that have nothing to do with each other: neighbours differ in words, people and length",
        "limits": "its weights are set, not learned: a custom, of which nothing is claimed; poets do the opposite",
    }
    single = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    Model(measures_config((), (), tuple(WEIGHTS)), single, card=card).save(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
