"""What a model that expects something of an order says of each position: how sure it is, and what it goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.essence import Floats
from fabula.models.reasons import Contributions
from fabula.session.requests.wishes import side_name

if TYPE_CHECKING:
    from fabula.session.judging.likelihood import Likelihood
    from fabula.session.ordered import Ordered

_SPEAKS, _SHARE = 0.05, 0.4  # natural logarithms of likelihood worth a word; and as a part of what speaks most
_LEADS = 0.4  # the same, for following an item rather than any other
_MIGHT = 1.5  # times as likely as by chance, to be named as an end that it might have been


@dataclass(frozen=True, eq=False)
class Teller:
    """What there is to tell of one ordering.

    Attributes
    ----------
    ordered, likelihood
        The ordering, and what the model says of the collection.
    found
        What is lost when each thing is not known of each item; None where some items are left out.
    words
        Of each item what it is like, by feature.
    """

    ordered: Ordered
    likelihood: Likelihood
    found: Contributions | None
    words: list[dict[str, str]]

    def sentence(self, position: int) -> str:
        """Why the item of a position stands there."""
        item, n = int(self.ordered.ordering[position]), len(self.ordered.ordering)
        if position in self.ordered.pinned:
            return f"{self._role(position) or 'stands here'}, as wished"
        if self.found is None:
            return self._role(position) or _where(position, n)
        if position in (0, n - 1) and n > 1:
            return self._end(item, position, "open" if position == 0 else "close")
        said = [part for part in (self._role(position), self._link(item, position), self._lead(item, position)) if part]
        return "; ".join([*said, self._standing(item, position), *self._contender(item)])

    def _standing(self, item: int, position: int) -> str:
        """What puts an item where it stands: one or two things, all that is measured of it, or no one thing."""
        if self.found is None:
            return ""
        where = _where(position, len(self.ordered.ordering))
        causes = self._causes(self.found.by_group[item], item)
        if causes:
            return f"{_and(causes)} put{_s(causes)} it {where}"
        if self.found.measured is not None and self.found.measured[item] >= _SPEAKS:
            return f"all that is measured of it puts it {where}, no one thing alone"
        chances = self.likelihood.posterior.positions[item]
        mean = float(chances @ np.arange(len(chances)))
        spread = float(np.sqrt(chances @ (np.arange(len(chances)) - mean) ** 2))
        return f"expected around {mean + 1:.0f}, give or take {spread:.0f}: no one thing decides"

    def _contender(self, item: int) -> list[str]:
        """That an item might be an end as well, where only one other is likelier to."""
        said = []
        for verb, place in (("open", 0), ("close", -1)):
            chances = self.likelihood.posterior.positions[:, place]
            if chances[item] >= _MIGHT / len(chances) and (chances > chances[item]).sum() <= 1:
                said.append(f"might {verb} as well ({100 * chances[item]:.0f} %)")
        return said

    def _role(self, position: int) -> str:
        """Whether an end of a side stands there; the side is named where there are several."""
        side, place = self.ordered.side_of(position)
        last = (self.ordered.sides[side] if self.ordered.sides else len(self.ordered.ordering)) - 1
        which = f" side {side_name(side)}" if self.ordered.sides else ""
        return f"opens{which}" if place == 0 else f"closes{which}" if place == last else ""

    def _end(self, item: int, position: int, verb: str) -> str:
        """The opener or the close: how likely it is, who is likelier, and by what."""
        chances = self.likelihood.posterior.positions[:, 0 if position == 0 else -1]
        best = int(chances.argmax())
        role, sure = self._role(position), f"{100 * chances[item]:.0f} %"
        said = f"{role}, the likeliest to {verb} ({sure})"
        if chances[best] > chances[item]:
            label = self.likelihood.collection.items[best].label
            said = f"{role} ({sure}; {label} would with {100 * chances[best]:.0f} %, but has its place elsewhere)"
        causes = [] if self.found is None else self._causes(self.found.by_group[item], item)
        return f"{said}: {_and(causes)} speak{_s(causes)} for it" if causes else said

    def _link(self, item: int, position: int) -> str:
        """That it follows the one before, where that is why it stands here."""
        place = self.ordered.side_of(position)[1]
        if self.found is None or place == 0 or self.found.after[item] < _LEADS:
            return ""
        before = self.likelihood.collection.items[int(self.ordered.ordering[position - 1])].label
        causes = self._causes(self.found.after_by_group[item], item)
        return f"follows {before}" + (f", as {_and(causes)} say{_s(causes)}" if causes else " well")

    def _lead(self, item: int, position: int) -> str:
        """That the next one follows it, where that is why it stands here."""
        last = len(self.ordered.ordering) - 1
        if self.found is None or position + 1 in (*self.ordered.breaks, last + 1) or self.found.before[item] < _LEADS:
            return ""
        return f"leads to {self.likelihood.collection.items[int(self.ordered.ordering[position + 1])].label}"

    def _causes(self, gains: Floats, item: int) -> list[str]:
        """What speaks most: at most two things, as people call them."""
        if self.found is None or not len(gains):
            return []
        least = max(_SPEAKS, _SHARE * float(gains.max()))
        most = [int(i) for i in np.argsort(-gains)[:2] if gains[i] >= least]
        shown = self.ordered.session.medium.shown
        names = [self.found.groups[i] for i in most]
        return [
            f"being {self.words[item][name]}" if name in self.words[item] else f"its {shown(name)}" for name in names
        ]


def _where(position: int, n: int) -> str:
    share = position / max(n - 1, 1)
    return "early" if share < 1 / 3 else "late" if share > 2 / 3 else "in the middle"


def _and(names: list[str]) -> str:
    return " and ".join(names)


def _s(names: list[str]) -> str:
    return "s" if len(names) == 1 else ""
