"""What to train on and how, as a user says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fabula.core.collection import Collection

Kind = Literal["essence", "set", "steps", "neighbours"]


@dataclass(frozen=True, eq=False)
class Given:
    """Ordered collections that were read before, in place of a table.

    Attributes
    ----------
    training
        To train on; where there is no ``validation``, a share of them is held out.
    validation
        To hold out.
    """

    training: list[Collection]
    validation: list[Collection] | None = None

    @property
    def name(self) -> str:
        """What a model's card calls them."""
        return f"{len(self.training)} collections"


@dataclass(frozen=True)
class Recipe:
    """What to train on and how, as a user says it.

    Attributes
    ----------
    table
        Ordered collections, one row an item; for a set model also a folder of folders and playlists; or collections
        that were read before.
    where
        Column -> value: keep only the rows that have it.
    preset
        The name of a preset, such as ``"default"`` or ``"paper"``.
    changes
        Fields of the preset, or of a set model's recipe, to change.
    kind
        ``"essence"``: an encoder that sees each item by itself. ``"set"``: one that sees the whole collection, with
        titles where there are any. ``"steps"``: one that looks into the items, as into texts, and at all pairs of them.
        ``"neighbours"``: the weights of a medium's steps from one item to the next.
    titles
        The column with the titles, "" for the one that is recognised; None where titles are not to be read.
    start
        The set model to go on from: a shipped name or a file.
    """

    table: Path | Given
    where: Mapping[str, str] = field(default_factory=dict)
    preset: str = "default"
    changes: Mapping[str, Any] | None = None
    device: str = "auto"
    held_out: float = 0.1
    kind: Kind = "essence"
    titles: str | None = None
    start: str | None = None
