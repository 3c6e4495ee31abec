"""Why an item stands where it stands, in a sentence, and what speaks against trusting the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.fit import Fit
from fabula.core.moves import longest_rising
from fabula.media.facts import side_name
from fabula.media.medium import Medium, Threads
from fabula.models.encoders.measures import features_known, stand_out
from fabula.models.encoders.set import TITLE
from fabula.models.order import MOST_EXPECTED, Contributions
from fabula.models.sureness import calibrate, calibration
from fabula.session.request import labels, soft_values, strands_apart, with_matter

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered
    from fabula.session.propose import Likelihood

MOST_ITEMS = 120  # of threads, beyond which nobody reads them
MOST_CAUSES = 200  # rows of which it is told what of an item the model goes by: looking takes time for each
_TOLD = 2  # names in a sentence
_NAMED = 12  # items that are left out, by name
_WORTH = 0.15  # natural logarithms of likelihood that something must add to be worth a word
_SPEAKS, _SHARE = 0.05, 0.4  # natural logarithms of likelihood worth a word; and as a part of what speaks most
_LEADS = 0.4  # the same, for following an item rather than any other
_COIN = 0.515  # a chance below which nothing is known
_FLAT = 1e-9  # between the heights of an arc that is flat but for rounding
_FREE = 0.2  # of all positions, as a deviation, from which on an item could go almost anywhere
_HARDLY = 5.0  # times as likely as a random order: below it the model hardly prefers its proposal
_MIGHT = 1.5  # times as likely as by chance, to be named as an end that it might have been


def reasons(ordered: Ordered, rows: range | None = None) -> list[str]:
    """One sentence per position: what the item is like, what the arc wants there; of some rows what a model goes by."""
    session, order, judged = ordered.session, ordered.ordering, ordered.task.likelihood
    rows = range(MOST_CAUSES) if rows is None else rows
    traits = traits_by_feature(session.collection, session.features, session.medium)
    like = [" and ".join(list(found.values())[:2]) for found in traits]
    if judged is None:
        said = _tell_roles(ordered)
    elif judged.expects:
        found = judged.contributions(order, rows)
        teller = None if found is None else Teller(ordered, judged, found, traits)
        said = [_tell_place(ordered, position, teller) for position in range(len(order))]
    else:
        said = _explain_by_model(ordered, judged, rows)
    plain = [f"{like[item]}: {one}" if like[item] else one for item, one in zip(order.tolist(), said, strict=True)]
    on = [""] * len(order)
    if session.threads is not None:
        on = describe_threads(session.threads, order, ordered.breaks)
    far = [""] * len(order)  # from the item before, in each step that counts, but at the start of a side
    if ordered.steps is not None and ordered.request.smoothness and ordered.steps.active:
        for k, (a, b) in enumerate(pairwise(order), start=1):
            ways = (f"{part.name} {part.distance[a, b]:.3g} {part.unit}" for part in ordered.steps.active)
            far[k] = "" if k in ordered.breaks else f"step: {', '.join(ways)}"
    joined = session.medium.telling.joins(ordered.collection, ordered.breaks)
    return ["; ".join(filter(None, all_of)) for all_of in zip(plain, joined, on, far, strict=True)]


def _tell_roles(ordered: Ordered) -> list[str]:
    """What the template wants at each position, and whether the item is far from it."""
    fit, essence = ordered.fit, ordered.session.essence
    roles = [role for part in np.split(fit.targets, list(ordered.breaks)) for role in _roles(part)]
    gaps = essence[fit.ordering] - fit.targets if essence.ndim == 1 else np.zeros(len(roles))
    off = ["" if abs(gap) < 0.5 else f", {'above' if gap > 0 else 'below'} the curve" for gap in gaps.tolist()]
    return [role + far for role, far in zip(roles, off, strict=True)]


def _tell_place(ordered: Ordered, position: int, teller: Teller | None) -> str:
    """Why the item of a position stands there; without a teller, where some items are left out, what it does there."""
    role = _role(ordered, position)
    if position in ordered.pinned:
        return f"{role or 'stands here'}, as wished"
    return teller.sentence(position) if teller else role or f"stands {_where(position, len(ordered.ordering))}"


def _role(ordered: Ordered, position: int) -> str:
    """Whether an end of a side stands there; the side is named where there are several."""
    side, place = ordered.side_of(position)
    last = (ordered.sides[side] if ordered.sides else len(ordered.ordering)) - 1
    which = f" {ordered.session.medium.words.side} {side_name(side)}" if ordered.sides else ""
    return f"opens{which}" if place == 0 else f"closes{which}" if place == last else ""


def _explain_by_model(ordered: Ordered, likelihood: Likelihood, rows: range) -> list[str]:
    """One sentence per position: where the item stands, and what of it the model goes by."""
    collection, medium = ordered.session.collection, ordered.session.medium
    found = likelihood.contributions(ordered.ordering, rows)
    sentences = []
    for position, item in enumerate(ordered.ordering.tolist()):
        side, place = ordered.side_of(position)
        last = place == (ordered.sides[side] if ordered.sides else len(ordered.ordering)) - 1
        before = None if place == 0 else collection.items[ordered.ordering[position - 1]].label
        role = "opens" if place == 0 else "closes" if last else f"follows {before}"
        verb = "open" if place == 0 else "close" if last else f"stand {_where(position, len(ordered.ordering))}"
        causes = []
        if found is not None and position in rows:  # what speaks most for its position, and for what it follows
            gains = [(float(g), name, False) for g, name in zip(found.by_group[item], found.groups, strict=True)]
            after = zip(found.after_by_group[item], found.groups, strict=True)
            gains += [(float(g), name, True) for g, name in after] if before is not None else []
            most = sorted((one for one in gains if one[0] >= _WORTH), reverse=True)[:2]
            stands, fits = (dict.fromkeys(medium.shown(n) for _, n, by in most if by is way) for way in (False, True))
            causes += [f"{medium.words.items} with such {' and '.join(stands)} often {verb}"] if stands else []
            causes += [f"fits by its {' and its '.join(fits)}"] if fits else []
        sentences.append("; ".join([role, *causes]))
    return sentences


def traits_by_feature(collection: Collection, names: tuple[str, ...], medium: Medium) -> list[dict[str, str]]:
    """Per item, feature -> a word for what it has much or little of, what stands out most first."""
    words = medium.words.traits
    asked = [name for name in names if name in words] or collection.feature_names  # a model may go by steps alone
    known = features_known([name for name in asked if name in words], collection)
    if not known or len(collection) < 2:
        return [{} for _ in collection.items]
    standing = stand_out(collection.columns(known))
    most = np.argsort(-np.abs(standing), axis=1)
    return [
        {known[f]: words[known[f]][0 if v > 0 else 1] for f, v in zip(which, values, strict=True) if abs(v) >= 0.4}
        for which, values in zip(most.tolist(), np.take_along_axis(standing, most, axis=1).tolist(), strict=True)
    ]


def _roles(targets: Floats) -> list[str]:
    """What the template wants at each position of one side."""
    n = len(targets)
    if n == 1 or targets.ndim > 1 or np.ptp(targets) < _FLAT:
        return ["opener" if j == 0 else "close" if j == n - 1 else "in between" for j in range(n)]
    slope = np.gradient(targets)
    words = ["on the way up" if s > 0 else "on the way down" for s in slope]
    words[int(np.argmax(targets))], words[int(np.argmin(targets))] = "the high point", "the low point"
    words[0], words[-1] = _end("opener", targets[0], targets), _end("close", targets[-1], targets)
    return words


def _end(name: str, value: float, targets: Floats) -> str:
    share = (value - targets.min()) / np.ptp(targets)
    where = "the arc starts" if name == "opener" else "the arc ends"
    return f"{name}; {where} {'high' if share > 2 / 3 else 'low' if share < 1 / 3 else 'in the middle'}"


def story(ordered: Ordered) -> str:
    """The order in a sentence: what it opens with, where it is highest, what it closes with."""
    session, order = ordered.session, ordered.ordering.tolist()
    if len(order) < 3:
        return ""
    traits = traits_by_feature(session.collection, session.features, session.medium)
    like = [" and ".join(list(found.values())[:2]) for found in traits]
    pairs = zip(session.collection.items, like, strict=True)
    labels = [f"{item.label} ({words})" if words else item.label for item, words in pairs]
    sentence = f"opens with {labels[order[0]]}"
    if session.essence.ndim == 1 and np.ptp(session.essence):
        height = int(np.argmax(session.essence[order]))
        if 0 < height < len(order) - 1:
            sentence += f", is highest at {labels[order[height]]}"
    return f"{sentence}, closes with {labels[order[-1]]}"


def doubts(ordered: Ordered) -> list[str]:
    """What the user should know of this ordering."""
    found, asked, judged = [], ordered.request, ordered.task.likelihood
    by_hand = asked.ordering is not None or len(ordered.ordering) < 3  # or so few that nothing is claimed
    if judged is None and not np.ptp(ordered.fit.template.samples(41), axis=0).any():
        found.append("the template is flat: any order follows it as well")
    if judged is not None and not by_hand:
        unfamiliar = judged.unfamiliar
        found += [unfamiliar] if unfamiliar else _hardly(judged.beyond_chance(ordered.ordering, ordered.sides))
        found += _claims(ordered)
    elif judged is None and not (by_hand or asked.template is not None or asked.like is not None or asked.flip):
        times = ordered.task.beyond_chance(ordered.ordering)  # by the arcs
        found += [] if times is None else _hardly(times)
    found += _doubt_card(ordered.session.card)
    if ordered.session.vectors is not None and not ordered.request.smoothness and ordered.session.column != "embedding":
        found.append("the embedding has no say in this: ask for smoothness, or for the column embedding")
    found += _name_torn(ordered) + _name_series(ordered) + _count_alike(ordered) + _count_moved(ordered)
    found += _name_kept(ordered)
    for column in asked.soft:
        unknown = int(np.isnan(soft_values(ordered.session.collection, column, ordered.session.medium)).sum())
        found += [f"{column} is not known of {unknown}: nothing is asked of where they stand"] if unknown else []
    if ordered.left_out:
        limit = ordered.session.medium.unit.text(ordered.limit)
        out = ", ".join(ordered.session.collection.items[i].label for i in ordered.left_out[:_NAMED])
        out += f" and {len(ordered.left_out) - _NAMED} more" if len(ordered.left_out) > _NAMED else ""
        found.append(f"left out to keep within {limit}: {out}" if limit else f"left out: {out}")
    if ordered.sides and ordered.task.constraints.lengths is None:
        words = ordered.session.medium.words
        found.append(f"lengths are not known: each {words.side} has as many {words.items}")
    return found


def _claims(ordered: Ordered) -> list[str]:
    """How sure the order is, in words; nothing where nothing is known."""
    sure, items = ordered.sureness, ordered.session.medium.words.items
    if sure.order is None or sure.direction is None:
        likelihood, n = ordered.task.likelihood, len(ordered.ordering)
        many = likelihood is not None and not likelihood.unfamiliar and n > MOST_EXPECTED
        return [f"how sure this is cannot be said of so many {items} ({n}; of up to {MOST_EXPECTED})"] if many else []
    if max(sure.order, sure.direction) < _COIN:
        return ["what goes beside what is known here, not which end begins"]
    told = f"{round(100 * sure.order)} % sure which of two {items} comes first (a coin: 50 %)"
    return [f"{told}, {round(100 * sure.direction)} % that it runs this way round"]


def _hardly(times: float) -> list[str]:
    """A warning where the model hardly prefers an ordering to a random one."""
    if times >= _HARDLY:
        return []
    return ["treat this as a guess: the model hardly prefers it to any other order"]


def _doubt_card(card: Mapping[str, Any] | None) -> list[str]:
    """A warning where a model's own card says that it knows no more of an order than chance, by every scorer."""
    bits = (card or {}).get("bits")
    if not isinstance(bits, Mapping):
        return []
    rows = [bits] if "low" in bits else list(bits.values())
    known = [row for row in rows if isinstance(row, Mapping) and {"bits", "low"} <= set(row)]
    if not known or any(row["low"] > 0 for row in known):
        return []
    best = max(float(row["bits"]) for row in known)
    return [f"this model knows no more of an order than chance ({best + 0.0:.3f} bits on held-out collections)"]


def _name_torn(ordered: Ordered) -> list[str]:
    """What was to stay together and does not."""
    column, session = ordered.request.together_by, ordered.session
    if column is None:
        return []
    strands = labels(session.collection, column, session.medium)
    parts = np.split(ordered.ordering, list(ordered.breaks))
    told = ", ".join(map(str, dict.fromkeys(one for part in parts for one in strands_apart(part, strands))))
    return [f"other wishes keep these from standing together by {column}: {told}"] if told else []


def _count_alike(ordered: Ordered) -> list[str]:
    """How many neighbours remain alike where as few as possible were to be."""
    column, session = ordered.request.apart, ordered.session
    if column is None or not ordered.request.apart_soft:
        return []
    own = labels(session.collection, column, session.medium)
    pairs = [pair for part in np.split(ordered.ordering, list(ordered.breaks)) for pair in pairwise(part.tolist())]
    alike = sum(own[a] is not None and own[a] == own[b] for a, b in pairs)
    shown = session.medium.words.creator if column == "creator" else column
    return [f"neighbours that share their {shown}: {alike or 'none'}"]


def _count_moved(ordered: Ordered) -> list[str]:
    """What asking for the likeliest order changed."""
    asked = ordered.request
    if not asked.likeliest or ordered.task.likelihood is None or asked.ordering is not None or ordered.chosen:
        return []
    usual = ordered.session.order(replace(asked, likeliest=False, alternatives=1, choose=1)).ordering
    if len(usual) != len(ordered.ordering) or np.setxor1d(usual, ordered.ordering).size:
        return ["--likeliest leaves out others"]
    n, place = len(usual), {item: at for at, item in enumerate(usual.tolist())}
    moved = n - int(longest_rising(np.array([[place[item] for item in ordered.ordering.tolist()]]))[0])
    items = ordered.session.medium.words.items
    return [f"--likeliest moves {moved} of {n} {items}" if moved else "--likeliest changes nothing here"]


def _name_series(ordered: Ordered) -> list[str]:
    """What keeps its order because titles count it, or does not because of other wishes."""
    if ordered.task.against_titles:
        return ["the numbers in the titles are not kept: other wishes are against them"]
    told = []
    for one in ordered.task.series:
        labels = [ordered.session.collection.items[item].label for item in one.items]
        told.append(f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else " before ".join(labels))
    if not told:
        return []
    more = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return [f"kept in the order their titles count: {'; '.join(told[:_TOLD])}{more} (--no-series leaves them free)"]


def _name_kept(ordered: Ordered) -> list[str]:
    """What was left where it stood: by titles such as Contents, and by the share that was to be kept."""
    session, request, found = ordered.session, ordered.request, []
    wished = with_matter(request, session.collection, session.medium)
    if wished is not request:
        labels = [session.collection.items[int(i)].label for i in wished.at.values()]
        found.append(f"kept where their titles belong: {', '.join(labels)} (--no-matter lets them move)")
    if request.keep is not None:
        n, kept = len(ordered.ordering), int(longest_rising(ordered.ordering[np.newaxis])[0])
        found.append(f"{kept} of {n} {session.medium.words.items} keep their order; {n - kept} moved")
    return found


def likelier(chosen: Fit, given: Fit) -> float | None:
    """How many times likelier the model finds the chosen ordering than the order given; None where no model speaks."""
    if chosen.score is None or given.score is None:
        return None
    return float(np.exp(min(chosen.score - given.score, 700.0)))


def describe_threads(threads: Threads, ordering: Ints, breaks: Sequence[int] = ()) -> list[str]:
    """For each position what its item brings in, or goes on with, not across breaks; "" where it does neither.

    >>> found = Threads(("Ann", "Tom", "Eve"), np.array([[2.0, 0, 0], [1, 0, 3], [0, 1, 2]]))
    >>> describe_threads(found, np.array([0, 1, 2]))
    ['brings in Ann', 'goes on with Ann and brings in Eve', 'goes on with Eve and brings in Tom']
    """
    there = threads.counts[ordering] > 0  # (m, k)
    rare = there.mean(axis=0) <= 0.75  # what is everywhere binds nothing
    sentences = []
    for position, item in enumerate(ordering.tolist()):
        strength = threads.counts[item]
        new = there[position] & ~there[:position].any(axis=0)
        on = np.zeros_like(new) if position == 0 or position in breaks else there[position - 1] & there[position]
        carried = np.where(on & rare, np.minimum(strength, threads.counts[ordering[position - 1]]), 0.0)
        parts = [
            f"{verb} {_list(threads.names, weights)}"
            for verb, weights in (("goes on with", carried), ("brings in", np.where(new, strength, 0.0)))
            if weights.any()
        ]
        sentences.append(" and ".join(parts))
    return sentences


def _list(names: Sequence[str], weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    order = [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
    told = [names[i] for i in order[:_TOLD]]
    more = len(order) - len(told)
    if more > 1:
        return f"{', '.join(told)} and {more} more"
    return " and ".join(names[i] for i in order) if more <= 0 else f"{', '.join(told)} and {names[order[-1]]}"


@dataclass(frozen=True, eq=False)
class Teller:
    """What there is to tell of one ordering."""

    ordered: Ordered
    likelihood: Likelihood
    found: Contributions  # what is lost when each thing is not known of each item
    words: list[dict[str, str]]  # of each item what it is like, by feature

    def sentence(self, position: int) -> str:
        """Why the item of a position stands there."""
        item, n = int(self.ordered.ordering[position]), len(self.ordered.ordering)
        if position in (0, n - 1) and n > 1:
            return self._end(item, position)
        said = [_role(self.ordered, position), self._link(item, position)]
        if position + 1 not in self.ordered.breaks and self.found.before[item] >= _LEADS:  # why it stands here
            after = self.likelihood.collection.items[int(self.ordered.ordering[position + 1])]
            said.append(f"leads into {after.label}")
        said += [self._standing(item, position, alone=not any(said))]
        for verb, place in (("open", 0), ("close", -1)):  # an end that it might be as well, if only one is likelier to
            chances = self.likelihood.posterior.positions[:, place]
            if chances[item] >= _MIGHT / n and (chances > chances[item]).sum() <= 1:
                said.append(f"could {verb} too{self._sure(verb, chances[item])}")
        return "; ".join(filter(None, said))

    def _standing(self, item: int, position: int, *, alone: bool) -> str:
        """What puts an item where it stands; where nothing does, how freely it stands, if that is all there is."""
        where = _where(position, len(self.ordered.ordering))
        causes = self._tells(self.found.by_group[item], item, f"stand {where}")
        if causes:
            return "; ".join(causes)
        if self.found.measured is not None and self.found.measured[item] >= _SPEAKS:
            return f"{self.ordered.session.medium.words.items} like this often stand {where}"
        chances = self.likelihood.posterior.positions[item]
        mean = float(chances @ np.arange(len(chances)))
        spread = float(np.sqrt(chances @ (np.arange(len(chances)) - mean) ** 2))
        if not alone:
            return ""
        return "could go almost anywhere" if spread > _FREE * len(chances) else f"belongs around {mean + 1:.0f}"

    def _end(self, item: int, position: int) -> str:
        """The opener or the close: how likely it is, who is likelier, and by what."""
        verb, noun = ("open", "opener") if position == 0 else ("close", "close")
        chances = self.likelihood.posterior.positions[:, 0 if position == 0 else -1]
        best, role = int(chances.argmax()), _role(self.ordered, position)
        own, most = (self._sure(verb, chances[one]) for one in (item, best))
        said = f"{role}, {'as likely as any' if chances[best] > chances[item] else 'the likeliest'} {noun}{own}"
        if chances[best] > chances[item] and not (own and own == most):
            label = self.likelihood.collection.items[best].label
            said = f"{role}{own}; {label} is a likelier {noun}{most}, but fits better elsewhere"
        return "; ".join([said, *self._tells(self.found.by_group[item], item, verb)])

    def _sure(self, verb: str, chance: float) -> str:
        """How likely an item opens or closes, in brackets; "" where that is not known."""
        known = calibration(self.likelihood.model)
        if known is None:
            return ""
        numbers = known["opener" if verb == "open" else "close"]
        return f" ({100 * calibrate(numbers, float(chance), len(self.likelihood.collection)):.0f} %)"

    def _link(self, item: int, position: int) -> str:
        """That it follows the one before, where that is why it stands here."""
        if self.ordered.side_of(position)[1] == 0:
            return ""
        earlier = int(self.ordered.ordering[position - 1])
        before = self.likelihood.collection.items[earlier].label
        if any(one.follow_up(earlier, item) for one in self.ordered.task.series):
            return f"follows {before}, as its title says"
        if self.found.after[item] < _LEADS:
            return ""
        names = [name for name in self._strongest(self.found.after_by_group[item]) if name != TITLE]
        fits = " and ".join(f"its {self.ordered.session.medium.shown(name)}" for name in names)
        return f"goes well after {before}" + (f": {fits} fit{'s' if len(names) == 1 else ''}" if fits else "")

    def _tells(self, gains: Floats, item: int, verb: str) -> list[str]:
        """What speaks most for standing somewhere, as sentences: quiet tracks often close."""
        names, items = self._strongest(gains), self.ordered.session.medium.words.items
        like = [self.words[item][name] for name in names if name in self.words[item]]
        said = [f"{' and '.join(like)} {items} often {verb}"] if like else []
        said += [f"titles like this often {verb}"] if TITLE in names else []
        others = [self.ordered.session.medium.shown(name) for name in names if name not in (TITLE, *self.words[item])]
        return said + ([f"{items} of this {' and '.join(others)} often {verb}"] if others else [])

    def _strongest(self, gains: Floats) -> list[str]:
        """The groups that speak most: at most two."""
        if not len(gains):
            return []
        least = max(_SPEAKS, _SHARE * float(gains.max()))
        return [self.found.groups[int(i)] for i in np.argsort(-gains)[:2] if gains[i] >= least]


def _where(position: int, n: int) -> str:
    share = position / max(n - 1, 1)
    return "early" if share < 1 / 3 else "late" if share > 2 / 3 else "in the middle"
