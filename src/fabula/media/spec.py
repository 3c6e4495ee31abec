"""Specs: what a kind of features is called, in which version, and how one file is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from fabula.errors import InputError

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


_HOMES = {"audio": "fabula.media.music.audio", "fma": "fabula.media.music.fma"}


def spec_names() -> tuple[str, ...]:
    """The names `find_spec` knows.

    Examples
    --------
    >>> spec_names()
    ('audio', 'fma')
    """
    return tuple(_HOMES)


def find_spec(name: str) -> Spec:
    """A spec by name.

    Examples
    --------
    >>> find_spec("audio").feature_names
    ('duration_ms', 'loudness')
    """
    if name not in _HOMES:
        raise InputError(f"the features must be one of {', '.join(_HOMES)}; got {name!r}")
    found: Spec = import_module(_HOMES[name]).SPEC
    return found
