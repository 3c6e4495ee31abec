"""The result: a collection lay_out in order, with everything that can be told of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Ints
from fabula.core.collection import Collection
from fabula.core.display import name_some
from fabula.core.fit import Fit
from fabula.media.facts import total
from fabula.media.steps import Change, Steps, changes
from fabula.session import answer, explain as why
from fabula.session.propose import OrderTask, Proposal, lay_out
from fabula.session.request import Request

if TYPE_CHECKING:
    from fabula.session.session import Session


@dataclass(frozen=True, eq=False)
class Ordered:
    """A collection laid in order: what :func:`fabula.order` and ``Session.order`` give."""

    session: Session  # the collection, in the order given, and its essence
    request: Request  # what was asked for
    task: OrderTask  # what was solved
    proposals: tuple[Proposal, ...]  # orderings of different shape, likeliest first
    chosen: int = 0  # which of them was taken, counted from 0
    steps: Steps | None = None  # what lies between neighbours, where smoothness was asked for

    @property
    def proposal(self) -> Proposal:
        """The ordering taken."""
        return self.proposals[self.chosen]

    @property
    def fit(self) -> Fit:
        """The ordering taken, lay_out on its template."""
        return self.proposal.fit

    @property
    def ordering(self) -> Ints:
        """Shape (m,), ``ordering[position] = item index``; without what was left out."""
        return self.fit.ordering

    @property
    def gap(self) -> float | None:
        """How much better, as a part of the objective, another ordering could be at most; None: not known."""
        return self.proposal.gap

    @property
    def sides(self) -> tuple[int, ...]:
        """How many items each side has; empty where there is one."""
        return self.proposal.sides

    @property
    def left_out(self) -> tuple[int, ...]:
        """Indices of the items that a limit left out."""
        return self.proposal.left_out

    @property
    def alternatives(self) -> tuple[Fit, ...]:
        """The orderings that were not taken."""
        return tuple(proposal.fit for k, proposal in enumerate(self.proposals) if k != self.chosen)

    @property
    def collection(self) -> Collection:
        """The items in the new order."""
        return self.session.collection.only(self.ordering)

    @property
    def readable(self) -> Collection:
        """The items in the new order, with the files in which they really lie where these are known."""
        return self.session.readable.only(self.ordering) if self.session.stored else self.collection

    @property
    def titles(self) -> list[str]:
        """What the items are called, in the new order."""
        return [item.label for item in self.collection.items]

    @cached_property
    def given(self) -> Fit:
        """The items kept, in the order given, beside the template and on sides of the same size."""
        return lay_out(self.task, self.fit.template, np.sort(self.ordering), self.sides)

    @property
    def pinned(self) -> tuple[int, ...]:
        """Positions that were fixed."""
        constraints, n = self.task.constraints, len(self.ordering)
        starts = [0, *np.cumsum(self.sides or (n,)).tolist()]
        fixed = {position % n for position in constraints.fixed}
        fixed |= {(starts[s] if p >= 0 else starts[s + 1]) + p for s, p in constraints.ends}
        return tuple(sorted(fixed))

    @property
    def breaks(self) -> tuple[int, ...]:
        """Positions at which a new side begins."""
        return tuple(np.cumsum(self.sides)[:-1].tolist()) if self.sides else ()

    def side_of(self, position: int) -> tuple[int, int]:
        """The side of a position and its position on that side, both counted from 0."""
        side = sum(position >= start for start in self.breaks)
        return side, position - (self.breaks[side - 1] if side else 0)

    @property
    def lengths(self) -> list[float | None]:
        """The length of each side, or of the whole where there is one; None where it is not known."""
        items = self.collection.items
        starts = [0, *self.breaks, len(items)]
        return [total([item.length for item in items[start:stop]]) for start, stop in pairwise(starts)]

    @cached_property
    def sureness(self) -> float | None:
        """How sure the model is which end begins, 0 to 1; None where it cannot say."""
        likelihood = self.task.likelihood
        return None if likelihood is None else likelihood.under(self.task.constraints).sureness(self.ordering)

    @cached_property
    def reasons(self) -> list[str]:
        """Why each item of the new order stands where it stands."""
        return why.reasons(self)

    @property
    def changes(self) -> list[Change]:
        """What smoothness changed, part by part."""
        if self.steps is None:
            return []
        return changes(self.steps, np.sort(self.ordering), self.ordering, self.breaks)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        return (*self.session.notes, *why.doubts(self))

    def to_json(self, *, explain: bool = True) -> dict[str, Any]:
        """Everything about it as JSON can hold it: what ``fabula order --json`` prints and the page shows."""
        return answer.as_json(self, explain=explain)

    def save(self, path: str | Path) -> Path:
        """Write the new order; the format goes by the ending: a playlist, .csv, .json."""
        from fabula.session.export import write_ordered

        return write_ordered(self, path)

    def copy(self, folder: str | Path, *, link: bool = False, tags: bool = False, gain: bool = False) -> list[Path]:
        """Write the files into a folder, numbered in the new order: what ``fabula copy`` does.

        The folder is made when it is absent; none of the new names may exist in it. `link` writes symbolic links
        instead; `tags` and `gain` write the numbers, and what brings each to one level, into the copies. Returns the
        files written, in order: all of them, or none when anything fails.
        """
        from fabula.session.export import Copying, copy_numbered

        return copy_numbered(self, folder, Copying(link, tags, gain))

    def __repr__(self) -> str:
        return f"<Ordered {answer.headline(self)}; {name_some(self.titles, 4)}>"

    def __str__(self) -> str:
        return answer.as_text(self)

    def _repr_html_(self) -> str:
        return answer.as_html(self)
