"""The request: everything that can be asked of an ordering, in one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.template import Template
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.session.session import Session

Which = int | str  # an item: its index in the order given; or its id, its title, or the name of its file
Ends = Which | Mapping[int, Which]  # of the whole, or by side, counted from 0


@dataclass(frozen=True)
class Request:
    """What is asked of an ordering.

    Attributes
    ----------
    template
        A template; its name; a file (``FILE#2`` for its second one); or points ``"0:0.2,0.5:1,1:0"``. By default the
        arcs of the model.
    like
        Follow the arc of this collection instead: an open session, or a path (``FILE#ID`` for a collection of several).
    flip
        Turn the template upside down.
    scaled
        Whether a template is brought to the scale of the essence: mean 0 and deviation 1.
    alternatives, choose
        How many orderings to propose, and which of them to take, counted from 1.
    likeliest
        Propose the likeliest order first, where a model would propose what it expects to agree best with the true one.
    ordering, side_sizes
        Take this ordering (item indices) as it is, and tell how it does; and how many items each of its sides has,
        by default cut where the lengths are most even.
    first, last
        The opener and the close; or by side, ``{0: "Intro", 1: "Reprise"}``.
    at
        Position, counted from 0 (negative: from the end), to item.
    together
        Runs of items that stay next to each other, in that order.
    together_by
        Items that share this stand in one run, in any order: who made them, or any column.
    before
        Pairs of items: the first somewhere before the second.
    apart, apart_soft
        No two neighbours share this: who made them, or any column; soft: as few as possible do.
    sides, side_limit
        How many sides, each with an arc of its own, and the length one side holds, as a number or as text.
    spreads
        Items face each other two by two, after a cover, as on the pages of a book: ``"match"`` or ``"contrast"``.
    limit
        The length of all; what fits worst is left out.
    smoothness
        Weight of the steps between neighbours; negative asks for contrast.
    seconds
        How long to search for each ordering at most, where a search is needed; by default as long as it is worth.
    smooth_by
        The steps that count, by name, with their weights; by default those of the medium.

    Examples
    --------
    >>> Request(first="Intro", sides=2).sides
    2
    """

    template: Template | str | None = None
    like: Session | str | Path | None = None
    flip: bool = False
    scaled: bool = True
    alternatives: int = 4
    choose: int = 1
    likeliest: bool = False
    ordering: Sequence[int] | None = None
    side_sizes: Sequence[int] = ()
    first: Ends | None = None
    last: Ends | None = None
    at: Mapping[int, Which] = field(default_factory=dict)
    together: Sequence[Sequence[Which]] = ()
    together_by: str | None = None
    before: Sequence[tuple[Which, Which]] = ()
    apart: str | None = None
    apart_soft: bool = False
    sides: int = 1
    side_limit: float | str | None = None
    spreads: str = ""
    limit: float | str | None = None
    smoothness: float = 0.0
    seconds: float | None = None
    smooth_by: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.template is not None and self.like is not None:
            raise InputError("give either a template or like, not both")
        if self.alternatives < 1:
            raise InputError(f"must be at least 1; got {self.alternatives}", field="alternatives")
        if not self.choose >= 1:
            raise InputError(f"must be at least 1; got {self.choose}", field="choose")
        if not isfinite(self.smoothness):
            raise InputError(f"must be a finite number; got {self.smoothness}", field="smoothness")
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise InputError(f"must be above 0; got {self.seconds:g}", field="seconds")
        if self.smooth_by and not self.smoothness:
            raise InputError("goes with smoothness, such as 0.5", field="smooth_by")
        if self.sides < 1:
            raise InputError(f"must be at least 1; got {self.sides}", field="sides")
        if self.spreads not in ("", "match", "contrast"):
            raise InputError(f'must be "match" or "contrast"; got {self.spreads!r}', field="spreads")
        if self.together_by is not None and self.together_by == self.apart:
            raise InputError(f"{self.apart!r} cannot be kept together and apart", field="together_by")
        if self.side_sizes and self.ordering is None:
            raise InputError("goes with an ordering", field="side_sizes")
        if self.side_limit is not None and self.sides < 2:
            raise InputError("goes with 2 sides or more", field="side_limit")
