"""Threads: what runs through several items of a collection, such as the people of a story."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.essence import Floats


@dataclass(frozen=True, eq=False)
class Threads:
    """What runs through several of n items.

    Attributes
    ----------
    names
        k of them, the one that is met most first.
    counts
        How often each is met in each item: shape (n, k).
    """

    names: tuple[str, ...]
    counts: Floats
