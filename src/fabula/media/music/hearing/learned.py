"""What was learned from rendered pieces: ``benchmarks/learn_ears.py`` writes the file."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import numpy as np
from safetensors.numpy import load

from fabula.core.essence import Floats


def learned(name: str) -> Floats:
    """An array by name."""
    return _arrays()[name]


@lru_cache(maxsize=1)
def _arrays() -> dict[str, Floats]:
    data = files(__package__).joinpath("ears.safetensors").read_bytes()
    return {name: np.asarray(array, dtype=np.float64) for name, array in load(data).items()}
