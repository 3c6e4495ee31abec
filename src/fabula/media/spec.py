"""Specs: what a kind of features is called, in which version, and how one file is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Stop = Callable[[], bool]


@dataclass(frozen=True)
class Spec:
    """A kind of features.

    Attributes
    ----------
    name
        What it is called.
    version
        Rises whenever the same file would give other numbers.
    feature_names
        f names.
    measure
        From a path and a function that says whether to give up to the features of the file, of shape `shape`.
    shape
        (f,) or (f, ...).
    prepare
        Called once before many files: raises when something it needs is not installed.
    """

    name: str
    version: int
    feature_names: tuple[str, ...]
    measure: Callable[[str, Stop], NDArray[np.float64]]
    shape: tuple[int, ...]
    prepare: Callable[[], None] = lambda: None


class Stopped(Exception):  # noqa: N818 - not an error: what was asked for
    """Measuring was given up because it was asked to."""
