"""Leaks: what in the data gives the order of collections away, column by column and together.

It looks at what no control can see. A control replaces the features or the orders, so it catches a scorer that peeks or
an estimate that is wrong; a column that follows the order is shuffled with its items, or replaced with the others, and
the control comes out zero all the same.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations

import numpy as np
from scipy.special import gammaln

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection
from fabula.core.energy import Energy
from fabula.evaluation.information import energy_bits

_NUMBER = re.compile(r"\d+", re.ASCII)
_DIGITS = {1: "first", 2: "second", 3: "third", 4: "fourth"}  # decimal places behind which something may be hidden
_BY = (100, 10, 2)  # remainders that may hide something
_ROUNDED = 6  # decimal places beyond which a value counts as not rounded

_MOST_COLUMNS = 64  # beyond, pairs are too many to look at
_HOLDS = 0.8  # share of steps at which a relation holds
_BY_CHANCE = 0.3  # share at which it may hold among shuffled items
_UNITS = (1.0, 1e-3, 1e3, 1 / 60, 60.0, 1 / 6e4, 6e4)  # a time may be in another unit than the lengths it sums
_STEPS = 400  # looked at, for such sums
_REMAINDERS = 32  # that a sum may leave, where it begins anew
_RANGES = 1.1  # how much farther than its values reach it may begin anew
_APART = 50.0  # how far these must lie from each other, of what counts as equal, to be told from any number
_FROM_OTHERS = 0.25  # share of what is left of a column's variance that another's neighbours and sums explain
_FROM_BEFORE = 0.6  # the same by the items before: neighbours are alike for good reasons, but not so much
_DOUBT = 30.0  # by how many items it takes to be sure of a relation
_CHANGES = 0.5  # share of steps
_EXPLAINED = 0.7  # share of the positions' variance that columns explain together
_MOST_TOGETHER = 4  # columns named

_LOOKED_AT = 1000  # collections, to judge by
_FEWER_TURNS = 0.55  # turns against the order, of those that chance would have, below which a column follows it
_ONE_WAY = 0.3  # turns against it, of all its turns: what comes in blocks turns seldom, but either way
_MONOTONE = 0.5  # share of collections in which it rises or falls throughout, beyond chance
_SOME = 0.05  # the same where only some collections are so
_MANY = 0.1  # the same for titles: works in numbered parts are no leak
_PARTS = 10  # of a collection
_MOST = 0.8  # share of collections that counts as all of them
_SURE = 4.5  # deviations from chance

_LEVELS = 8  # of a column's values
_SAMPLE = 300  # collections, for bits
_WORTH = 0.02  # nats that a value tells of its item's position, below which bits are not looked for
_NEGATIVES = 63  # orders that the true one is compared with
_SPREADS = 0.33  # correlation of the position and how far a value lies from its collection's mean
_TOO_MUCH = 0.45  # share of the bits that could be told: hardly a quality of a work alone tells as much of its position
_FEWEST_TOLD = 8  # collections
_NEARLY_ALL = 0.85  # and none as much as this
_AFTER = 0.2  # correlation with the position, of what is known only once the order is made
_KNOWN_AFTER = re.compile(
    r"popular|play(s|_?count|ed)|stream|listen|view|scrobbl|chart|rank|vot(e|ing)|rating|like[sd]|sales|"
    r"releas|date|single", re.IGNORECASE
)  # fmt: skip
_WORD = re.compile(r"\w+")
_GROUP = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_FEWEST = 3  # times that a word must come up to tell anything

Columns = Mapping[str, Floats]


@dataclass(frozen=True)
class Finding:
    """Something that gives the order away."""

    columns: tuple[str, ...]  # what it is about; none for titles
    why: str  # what was found, as a clause: "it follows the order itself"
    throughout: bool = True  # must not be trained on unasked; False where some collections alone are so

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.columns))
        what = "the titles" if not self.columns else f"column{'s' if len(self.columns) > 1 else ''} {names}"
        return f"{what}: {self.why}"


def find_leaks(
    collections: Sequence[Collection], features: Sequence[str] | None = None, *, titles: bool = True
) -> list[Finding]:
    """What in the data tells the order of collections, given in true order, too well to be a finding about them.

    Each column (or those named) by itself, by the items around and by others, sums of columns, and titles: what is
    looked for is in ``docs/honesty.md``. A column may follow the order for a good reason (somebody sorted by it); that,
    too, is told. Features that are arrays are not looked at; of more than 1,000 collections every so-manieth is.

    >>> from fabula.core.collection import Item
    >>> rows = [[[float(j), 0.5] for j in range(6)] for _ in range(5)]
    >>> items = [Item(str(j)) for j in range(6)]
    >>> five = [Collection(str(i), items, row, ["number", "x"]) for i, row in enumerate(rows)]
    >>> [str(found) for found in find_leaks(five)]
    ["column 'number': it follows the order itself"]
    """
    some = [c for c in collections if len(c) > 2] or list(collections)
    some = some[:: max(1, -(-len(some) // _LOOKED_AT))]
    if not some:
        return []
    rows = _ItemRows.of(some)
    found: list[Finding] = []
    if some[0].features.ndim == 2:
        wanted = some[0].feature_names if features is None else features
        names = [name for name in wanted if all(name in c.feature_names for c in some)]
        columns = {name: np.concatenate([c.column(name) for c in some]) for name in names}
        for name, values in columns.items():
            judged = (_judge(*signal, rows) for signal in _column_signals(name, values))
            found += islice(filter(None, judged), 1)  # of what hides in a column only the first that tells
        found += _find_relations(_leave_out(columns, found), rows)
        found += _find_signs(_leave_out(columns, found), rows)
        together = _find_sum(_leave_out(columns, found), rows)
        clause = "together they tell the position" if len(together) > 1 else "it tells the position"
        found += [Finding(together, clause)] if together else []
    if titles:
        by_title = [each for signal in _title_signals(some) if (each := _judge(*signal, rows)) is not None]
        in_words = None if any(each.throughout for each in by_title) else _find_in_words(some, rows)
        found += [*by_title, *([in_words] if in_words else [])]
    return found


def _leave_out(columns: Columns, found: Sequence[Finding]) -> Columns:
    """The columns of which nothing was found that holds throughout."""
    gone = {name for each in found for name in each.columns if each.throughout}
    return {name: values for name, values in columns.items() if name not in gone}


@dataclass(frozen=True, eq=False)
class _ItemRows:
    """Items of many collections end to end, in true order: whose each is, where it stands, among how many; (items,)."""

    owner: Ints
    position: Ints
    length: Ints
    side: Ints  # the half it is in, 0 or 1: those who made several collections have them all in one

    @classmethod
    def of(cls, collections: Sequence[Collection]) -> "_ItemRows":
        """The items of collections."""
        lengths = np.array([len(c) for c in collections])
        owner = np.repeat(np.arange(len(lengths)), lengths)
        starts = np.cumsum(lengths) - lengths
        makers = {name: number for number, name in enumerate(dict.fromkeys(c.maker for c in collections))}
        of = [makers[c.maker] if len(makers) > 3 else i for i, c in enumerate(collections)]
        return cls(owner, np.arange(len(owner)) - starts[owner], lengths[owner], np.array(of)[owner] % 2)


# One number per item, (items,), that may tell its position: its column ("" for titles), what it is of that, its values.
Signal = tuple[str, str, Floats]


def _judge(source: str, what: str, values: Floats, rows: _ItemRows) -> Finding | None:
    columns, values = (source,) if source else (), _leave_ends(values, rows)
    subject = what or "it"
    plural = what.startswith(("the numbers", "its digits"))
    # collections in which a column differs, or of whose titles three or more have something
    having = np.bincount(rows.owner, _within(values, rows.owner) ** 2 if source else np.isfinite(values))
    share = float((having > (0 if source else 2)).mean())
    where = "" if source or share > _MOST else f" in the {share:.0%} of the collections that have them"
    doubt = _SURE / math.sqrt(len(values))  # how large a correlation may be by chance
    enough = share > (_SOME if source and not what else _MANY)
    if enough and _follows(values, rows):
        return Finding(columns, f"{subject} follow{'' if plural else 's'} the order itself{where}", not where)
    if enough and _explain(values, rows) > _EXPLAINED:
        return Finding(columns, f"{subject} tell{'' if plural else 's'} the position{where}", not where)
    if source and not what:
        if _KNOWN_AFTER.search(source) and abs(_correlate(_ranks_within(values, rows), rows)) > max(_AFTER, doubt):
            return Finding(columns, "it goes with the order, and is known only once that is made")
        spread = _correlate(np.abs(_standardise(values, rows.owner)), rows)
        if abs(spread) > max(_SPREADS, doubt) and len(np.unique(values[:_STEPS])) > 3:
            return Finding(columns, "how far its values lie from the mean follows the order")
        if (told := _share_told(values, rows)) > _TOO_MUCH:
            why = f"it alone tells {told:.0%} of what could be told of the order; look where it comes from"
            return Finding(columns, why, throughout=told > _NEARLY_ALL)
    sorted_ones = 0.0 if source and what else _monotone_share(values, rows, of_all=True)
    if sorted_ones > _SOME:
        why = f"in {sorted_ones:.0%} of the collections the order is that of {what or 'its values'}"
        return Finding(columns, why, throughout=False)
    return None


def _leave_ends(values: Floats, rows: _ItemRows) -> Floats:
    """Without the collections in which one item differs from the others, where most do not: a bonus, an intro."""
    known = np.isfinite(values)
    counts, _, chance, distinct = _ties(values[known], rows.owner[known])
    one = (distinct == 2) & np.isclose(chance * counts, np.minimum(2, counts), rtol=1e-6)
    few = 2 * one.sum() < rows.owner[-1] + 1
    return np.where(one[np.minimum(rows.owner, len(one) - 1)] & few, np.nan, values) if one.any() else values


def _correlate(values: Floats, rows: _ItemRows) -> float:
    """The correlation of a signal and the position, within collections."""
    where = _within(np.where(np.isfinite(values), rows.position / rows.length, np.nan), rows.owner)
    centred = _within(values, rows.owner)
    norm = float(np.sqrt((where**2).sum() * (centred**2).sum()))
    return float((where * centred).sum()) / norm if norm > 0 else 0.0


def _column_signals(name: str, values: Floats) -> Iterator[Signal]:
    """A column (items,), which of its values are missing, and what hides in its digits."""
    yield name, "", values
    known = np.isfinite(values)
    if not known.all():
        yield name, "which of its values are missing", (~known).astype(np.float64)
    if (values[known] == np.round(values[known])).all():
        yield from ((name, f"its remainder by {by}", values % by) for by in _BY if len(np.unique(values)) > 2 * by)
        return
    decimals = np.full(len(values), float(_ROUNDED))
    for places in reversed(range(_ROUNDED)):
        exact = np.abs(values - np.round(values, places)) <= 1e-9 * np.maximum(1.0, np.abs(values))
        decimals[exact] = places
    yield name, "to how many digits it is rounded", np.where(known, decimals, np.nan)
    for places, ordinal in _DIGITS.items():
        scaled = values * 10.0**places
        hidden = scaled - np.round(scaled)
        if np.nanmax(np.abs(hidden)) > 1e-6 * np.nanmax(np.abs(scaled)):
            yield name, f"its digits behind the {ordinal} decimal place", hidden


def _title_signals(collections: Sequence[Collection]) -> Iterator[Signal]:
    """What titles have in numbers, and which items have none; nothing where there are no titles."""
    given = [c.texts("title") for c in collections]
    titles = [[title.casefold().strip() for title in own] for own in given]
    if not any(title for own in titles for title in own):
        return
    for at, where in ((0, "in them"), (-1, "at their ends")):
        yield "", f"the numbers {where}", np.concatenate([_numbers(own, at) for own in titles])
    yield "", "their alphabetical order", np.concatenate([_ranks(own) for own in titles])
    every = [title for own in given for title in own]
    yield "", "their length", np.array([float(len(title)) for title in every])
    unseen = np.array([float(len(_invisible(title))) for title in every])
    if unseen.any():
        yield "", "how many characters in them cannot be seen", unseen
    bare = np.concatenate([[float(not title) for title in own] for own in titles])
    if bare.any():
        yield "", "which items have none", bare


def _invisible(title: str) -> str:
    """The characters of a title that nobody sees: of no width, and spaces at its ends or of another kind."""
    inside = "".join(c for c in title if unicodedata.category(c) in ("Cf", "Cc") or (c.isspace() and c != " "))
    return inside + " " * (len(title) - len(title.strip(" ")))


def _tokens(title: str) -> set[str]:
    """What of a title may come up in others: words, those at its ends, brackets, end letters, case, the unseen."""
    folded = title.casefold().strip()
    words = _WORD.findall(folded)
    ends = {f"^{words[0]}", f"{words[-1]}$"} if words else set()
    unseen = _invisible(title)
    case = "".join("A" if c.isupper() else "a" for c in title[:8])
    seen = {*words, *ends, *_GROUP.findall(folded), f"{folded[-4:]}$", f"^{folded[:4]}", case}
    return seen | ({f"\0{unseen}"} if unseen else set())


def _find_in_words(collections: Sequence[Collection], rows: _ItemRows) -> Finding | None:
    """Words of titles that stand at positions: of every item's words the one that tells most, by the other half."""
    tokens = [_tokens(title) for c in collections for title in c.texts("title")]
    halves = [
        Counter(t for own, of in zip(tokens, rows.side, strict=True) if of == side for t in own) for side in (0, 1)
    ]
    known = {t: i for i, t in enumerate(sorted(t for t in halves[0] if min(h[t] for h in halves) >= _FEWEST), start=1)}
    if not known:
        return None
    pairs = np.array([(row, known[t]) for row, own in enumerate(tokens) for t in own if t in known])
    best, telling = 0.0, np.zeros(0, dtype=np.bool_)
    for parts in _divide(rows):
        symbols = []
        for side in (0, 1):
            fit = rows.side[pairs[:, 0]] == side
            ratios, shares = _log_ratios(pairs[fit, 1], parts[pairs[fit, 0]], len(known) + 1, parts.max() + 1)
            tells = (np.exp(ratios) * shares * ratios).sum(axis=1)  # nats that a word tells of the part
            tells[0] = 0.0
            order = np.lexsort((tells[pairs[:, 1]], pairs[:, 0]))
            chosen = np.zeros(len(tokens), dtype=np.intp)
            chosen[pairs[order, 0]] = pairs[order, 1]  # the last of each item
            symbols.append(chosen)
        bits, ceilings, having = _position_bits((symbols[0], symbols[1]), parts, rows)
        if bits.sum() / ceilings.sum() > best or not len(telling):
            best, telling = float(bits.sum() / ceilings.sum()), (bits > 0.75 * ceilings) & (having > 0.6)
    if best > _TOO_MUCH:
        return Finding((), f"words or characters in them tell the position, {best:.0%} of what could be told")
    why = f"in {telling.mean():.0%} of the collections words in them tell the position"
    return Finding((), why, throughout=False) if telling.mean() > _MANY else None


def _divide(rows: _ItemRows) -> list[Ints]:
    """Where each item stands, (items,): in tenths of its collection, from its beginning, and from its end."""
    tenths = _PARTS * rows.position // np.maximum(rows.length, 1)
    return [tenths, np.minimum(rows.position, 24), np.minimum(rows.length - 1 - rows.position, 24)]


def _log_ratios(symbols: Ints, parts: Ints, count: int, many: int) -> tuple[Floats, Floats]:
    """How much likelier each part is where a symbol is, log (count, many), and the parts' shares, (many,)."""
    shares = (np.bincount(parts, minlength=many) + 1e-3) / (len(parts) + 1e-3 * many)
    table = np.zeros((count, many))
    np.add.at(table, (symbols, parts), 1.0)
    table += 3 * shares
    return np.log(table / table.sum(axis=1, keepdims=True) / shares), np.asarray(shares, dtype=np.float64)


def _position_bits(symbols: tuple[Ints, Ints], parts: Ints, rows: _ItemRows) -> tuple[Floats, Floats, Floats]:
    """Bits of some collections by a symbol an item, from the other half's; ceilings; items that a symbol places."""
    tables, ceilings, having = [], [], []
    begins, many = np.flatnonzero(rows.position == 0), int(parts.max()) + 1
    count = 1 + max(int(each.max()) for each in symbols)
    for side, chosen in enumerate(symbols):
        fit = rows.side == side
        ratios, _ = _log_ratios(chosen[fit], parts[fit], count, many)
        held = begins[rows.side[begins] != side]
        for begin in held[:: max(1, -(-2 * len(held) // _SAMPLE))]:
            own = slice(begin, begin + rows.length[begin])
            scores = ratios[chosen[own]][:, parts[own]]
            tables.append(Energy(scores))
            having.append((scores.max(axis=1) > math.log(4)).mean())
            ceilings.append(min(math.log2(_NEGATIVES + 1), math.lgamma(len(scores) + 1) / math.log(2)))
    bits = energy_bits(tables, negatives=_NEGATIVES, draws=1, rng=np.random.default_rng(0))
    return bits, np.array(ceilings), np.array(having)


def _share_told(values: Floats, rows: _ItemRows) -> float:
    """The share of the bits that could be told that a column alone tells by where its values stand."""
    share = 0.0
    for scaled in (_ranks_within(values, rows) / np.maximum(rows.length - 1, 1), _standardise(values, rows.owner)):
        known = np.isfinite(scaled)
        if not known.any() or rows.owner[-1] + 1 < _FEWEST_TOLD:
            return 0.0
        cuts = np.quantile(scaled[known], np.arange(1, _LEVELS) / _LEVELS)
        levels = np.where(known, np.searchsorted(cuts, scaled), _LEVELS)
        for parts in _divide(rows):
            if _dependence(levels, parts) > _WORTH:
                bits, ceilings, _ = _position_bits((levels, levels), parts, rows)
                share = max(share, float(bits.sum() / ceilings.sum()))
    return share


def _within(values: Floats, owner: Ints) -> Floats:
    """Values less the mean of their collection, 0 where missing."""
    known = np.isfinite(values)
    sums = np.bincount(owner, np.where(known, values, 0.0))
    counts = np.maximum(np.bincount(owner, known.astype(np.float64)), 1)
    return np.where(known, values - (sums / counts)[owner], 0.0)


def _dependence(symbols: Ints, parts: Ints) -> float:
    """Nats that symbols tell of parts, less what chance would tell."""
    table = np.zeros((symbols.max() + 1, parts.max() + 1))
    np.add.at(table, (symbols, parts), 1 / len(symbols))
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    there = table > 0
    found = float((table[there] * np.log(table[there] / expected[there])).sum())
    return found - int(table.any(axis=1).sum() - 1) * int(table.any(axis=0).sum() - 1) / (2 * len(symbols))


def _standardise(values: Floats, owner: Ints) -> Floats:
    """Values less the mean of their collection, by its deviation; NaN where missing, or where all are alike."""
    centred, known = _within(values, owner), np.isfinite(values)
    spread = np.sqrt(np.bincount(owner, centred**2) / np.bincount(owner))[owner]
    known &= spread > 1e-12 * (1 + np.abs(np.where(known, values, 0.0)))
    return np.where(known, centred / np.maximum(spread, 1e-12), np.nan)


def _numbers(titles: Sequence[str], at: int) -> Floats:
    """The first or the last number in each title; none at all where fewer than half have one."""
    found = [_NUMBER.findall(title) for title in titles]
    numbers = np.array([float(each[at][:15]) if each else np.nan for each in found])
    return numbers if np.isfinite(numbers).sum() * 2 >= len(titles) else np.full(len(titles), np.nan)


def _ranks(titles: Sequence[str]) -> Floats:
    """Where each title stands among them in natural order, equal ones alike; NaN for an empty one."""
    parts = [re.split(r"([0-9]+)", title) for title in titles]
    keys = [tuple((0, int(p[:15]), "") if i % 2 else (1, 0, p) for i, p in enumerate(own) if p) for own in parts]
    places = {key: float(rank) for rank, key in enumerate(sorted({key for key in keys if key}))}
    return np.array([places.get(key, np.nan) for key in keys])


def _find_relations(columns: Columns, rows: _ItemRows) -> list[Finding]:
    """Columns that the items before, or another column's neighbours, means and sums so far, explain."""
    columns = {  # of two or three values those alone that change often: blocks are alike for good reasons
        name: v for name, v in columns.items() if len(np.unique(v[:_STEPS])) > 3 or (v[1:] != v[:-1]).mean() > _CHANGES
    }
    if len(columns) > _MOST_COLUMNS or not columns:
        return []
    names, found = list(columns), dict[str, str]()
    mixed = np.lexsort((np.random.default_rng(0).random(len(rows.owner)), rows.owner))
    ranks = {name: _ranks_within(values, rows) for name, values in columns.items()}
    for table in (columns, ranks):
        true, chance = (_explain_by_others(table, rows, order) for order in (slice(None), mixed))
        doubt = _DOUBT / len(rows.owner)
        before, others, both = (each - np.maximum(other, 0) - doubt for each, other in zip(true, chance, strict=True))
        found |= {names[a]: "the items before tell its values" for a in np.flatnonzero(before > _FROM_BEFORE)}
        told = np.where((others > _FROM_OTHERS) | (both > _FROM_BEFORE), np.maximum(others, both).round(1), 0.0)
        for at in np.argsort(-told, axis=None, kind="stable")[: np.count_nonzero(told)]:
            pair = divmod(int(at), len(names))
            made, known = sorted(pair, key=lambda a: (told[a, sum(pair) - a], a), reverse=True)
            if not {names[made], names[known]} & set(found):
                found[names[made]] = f"it is told by {names[known]!r} of the items around"
    for a, b in permutations(columns, 2):
        if not {a, b} & set(found) and _is_clock(columns[a], columns[b], rows, mixed):
            found[a] = f"its steps are {b!r}"
    return [Finding((name,), why) for name, why in found.items()]


def _explain_by_others(columns: Columns, rows: _ItemRows, order: slice | Ints) -> tuple[Floats, Floats, Floats]:
    """Shares of columns' variance that own values before explain (k,), others around beyond these (k, k), or both."""
    centred = np.stack([_within(values, rows.owner)[order] for values in columns.values()], axis=1)
    centred /= np.maximum(centred.std(axis=0), 1e-12)
    begins, k = np.flatnonzero(rows.position == 0), len(columns)
    sums = np.cumsum(centred, axis=0) - centred
    sums -= sums[begins][rows.owner]
    around = [sums, sums / np.maximum(rows.position, 1)[:, np.newaxis]]
    for by in (-1, 3, 2, 1):  # before the sum and the mean of all before: up to three before, the next
        there = (rows.position >= by) & (rows.position - by < rows.length)
        around.insert(0, np.where(there[:, np.newaxis], np.roll(centred, by, axis=0), 0.0))
    lengths = rows.length[begins][:, np.newaxis]
    around = [each - (np.add.reduceat(each, begins) / lengths)[rows.owner] for each in around]
    rest = _fit_across(np.concatenate([centred, *around], axis=1), rows)

    before, others, both = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    for a in range(k):
        own = [k + a, 2 * k + a, 3 * k + a]
        before[a] = 1 - rest(a, own)
        for b in (b for b in range(k) if b != a):
            others_of_b = [block * k + b for block in range(1, 7)]
            same, known, all_of_it = rest(a, [b]), rest(a, [b, *own]), rest(a, [b, *own, *others_of_b])
            others[a, b] = 1 - all_of_it / known if known > 1e-6 else 0.0
            both[a, b] = 1 - all_of_it / same if same > 1e-6 else 0.0
    return before, others, both


def _ranks_within(values: Floats, rows: _ItemRows) -> Floats:
    """The rank of each value in its collection, equal ones alike; NaN where missing."""
    known, found = np.isfinite(values), np.full(len(values), np.nan)
    owner = rows.owner[known]
    places = np.unique(values[known], return_inverse=True)[1]
    _, which, counts = np.unique(owner * (len(values) + 1) + places, return_inverse=True, return_counts=True)
    found[known] = (np.cumsum(counts) - (counts - 1) / 2)[which]
    begins = np.cumsum(np.bincount(owner, minlength=rows.owner[-1] + 1))
    return np.asarray(found - np.r_[0, begins][rows.owner])


def _is_clock(x: Floats, y: Floats, rows: _ItemRows, mixed: Ints) -> bool:
    """Whether a column steps by another, in whatever unit; it may begin anew, as the minutes of a time do."""
    steps = np.flatnonzero(rows.owner[1:] == rows.owner[:-1])
    steps = steps[:: max(1, -(-len(steps) // _STEPS))]
    return any(
        _steps_by(x, unit * y, steps) > _HOLDS and _steps_by(x[mixed], unit * y[mixed], steps) < _BY_CHANCE
        for unit in _UNITS
    )


def _steps_by(x: Floats, y: Floats, steps: Ints) -> float:
    """At how many steps x moves by y, of this item or the next, but for a few remainders."""
    step = x[steps + 1] - x[steps]
    scale = 2e-3 * float(np.nanquantile(np.abs(step), 0.75)) if np.isfinite(step).any() else 0.0  # tails have no say
    if scale <= 1e-15 * (1 + float(np.nanmax(np.abs(x)))):
        return 0.0
    best = 0
    for by in (y[steps], y[steps + 1], -y[steps], -y[steps + 1]):
        left = (step - by) / scale
        found, counts = np.unique(np.round(left[np.isfinite(left)]), return_counts=True)
        best = max(best, int((np.sort(counts)[-_REMAINDERS:] - 1).sum()))
        gaps = np.diff(found)
        if len(found) > _REMAINDERS and np.median(gaps) > _APART:  # multiples of its range: it begins anew many times
            period = (found[-1] - found[0]) / np.round(gaps / np.median(gaps)).sum()
            low, quarter, three, high = np.nanquantile(x, (0, 0.25, 0.75, 1))
            if not 1 <= period * scale / (high - low) < _RANGES or 4 * (three - quarter) < high - low:
                continue  # what begins anew is all over its range
            off = np.abs((found - found[0] + period / 2) % period - period / 2)
            best = max(best, int(counts[off <= 0.02 * period].sum()))
    return best / len(steps)


def _fit_across(table: Floats, rows: _ItemRows) -> Callable[[int, Sequence[int]], float]:
    """What is left of a column's variance by a ridge over others, as a share: each half by the weights of the other."""
    grams = [part.T @ part for part in (table[rows.side == side] for side in (0, 1))]

    def rest(target: int, by: Sequence[int]) -> float:
        at, left, total = list(by), 0.0, 0.0
        for fit, held in (grams, grams[::-1]):
            gram = fit[np.ix_(at, at)] + 1e-6 * len(table) * np.eye(len(at))
            weights = np.linalg.solve(gram, fit[at, target])
            left += held[target, target] - 2 * weights @ held[at, target] + weights @ held[np.ix_(at, at)] @ weights
            total += held[target, target]
        return float(left / total) if total > 1e-9 * len(table) else 1.0

    return rest


def _find_signs(columns: Columns, rows: _ItemRows) -> list[Finding]:
    """Two columns about zero whose signs agree at some positions and not at others."""
    signs = {name: np.sign(values) for name, values in columns.items()}
    about = [name for name, sign in signs.items() if min((sign < 0).mean(), (sign > 0).mean()) > _SOME]
    for a, b in combinations(about[:_MOST_COLUMNS], 2):
        agree = signs[a] * signs[b]
        if _explain(agree, rows) > _EXPLAINED or _share_told(agree, rows) > _TOO_MUCH:
            return [Finding((a, b), "whether their signs agree tells the position")]
    return []


def _find_sum(columns: Columns, rows: _ItemRows) -> tuple[str, ...]:
    """The columns whose weighted sum, or product, tells the position in collections that did not fit the weights."""
    if len(columns) < 2:
        return ()
    # columns and the logarithms of those above zero, less their collection's mean, on one scale
    names, centred = list[str](), list[Floats]()
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        forms = [values]
        if len(known) and known.min() > 0:
            forms.append(np.log(np.where(values > 0, values, np.nan)))
        for form in (_within(form, rows.owner) for form in forms):
            if (spread := float(form.std())) > 1e-12:
                names.append(name)
                centred.append(form / spread)
    table = np.stack(centred, axis=1) if centred else np.zeros((len(rows.owner), 0))
    k, places = len(names), (rows.position.astype(np.float64), rows.position / np.maximum(rows.length - 1, 1))
    if len(table) < 10 * k or len(np.unique(rows.owner)) < 4:
        return ()
    rest = _fit_across(np.column_stack([table, *(_within(where, rows.owner) for where in places)]), rows)
    target = min((k, k + 1), key=lambda one: rest(one, range(k)))
    whole = 1 - rest(target, range(k))
    chosen: list[int] = []  # the few, added one by one, that explain nearly what all do
    while whole >= _EXPLAINED and len(chosen) < min(k, _MOST_TOGETHER):
        chosen.append(min((i for i in range(k) if i not in chosen), key=lambda i: rest(target, [*chosen, i])))
        if 1 - rest(target, chosen) > 0.9 * whole:
            break
    return tuple(dict.fromkeys(names[i] for i in chosen))


def _follows(values: Floats, rows: _ItemRows) -> bool:
    """Whether a signal rises (or falls) with hardly a turn, new beginnings allowed, in all collections or in most."""
    known = np.isfinite(values)
    signal, owner = values[known], rows.owner[known]
    counts, tied, _, _ = _ties(signal, owner)
    expected = (counts - 1) * (1 - tied) / 2  # steps down that chance would have, by collection
    spread = np.sqrt(((counts + 1) / 12 * (1 - tied))[counts > 1].sum())
    total = expected[counts > 1].sum()
    if total < 4:
        return False
    step = np.diff(signal)[owner[1:] == owner[:-1]]
    fewest, most = sorted(((step < 0).sum(), (step > 0).sum()))
    one_way = fewest < _FEWER_TURNS * total and fewest < _ONE_WAY * (fewest + most)
    one_way = one_way and most - fewest > 3.3 * np.sqrt(fewest + most)  # what comes in blocks, may by chance in few
    return bool(one_way and (total - fewest) > _SURE * spread) or _monotone_share(values, rows) > _MONOTONE


def _monotone_share(values: Floats, rows: _ItemRows, *, of_all: bool = False) -> float:
    """The share of collections (of those with four values, or of all) in which a signal never turns, beyond chance."""
    known = np.isfinite(values)
    signal, owner = values[known], rows.owner[known]
    counts, _, chance, distinct = _ties(signal, owner)
    judged = (distinct > 3) & (chance < 0.1)
    if judged.sum() < 3:
        return 0.0
    same = owner[1:] == owner[:-1]
    step, of = np.diff(signal)[same], owner[1:][same]
    down, up = (np.bincount(of, turned, minlength=len(counts)) for turned in (step < 0, step > 0))
    monotone = ((down == 0) | (up == 0)) & judged
    expected = chance[judged].sum()
    sure = monotone.sum() - expected > _SURE * np.sqrt(expected + 1)
    out_of = rows.owner[-1] + 1 if of_all else judged.sum()
    return float((monotone.sum() - expected) / out_of) if sure else 0.0


def _ties(signal: Floats, owner: Ints) -> tuple[Floats, Floats, Floats, Ints]:
    """Values known, chance that two are equal, that a shuffle never turns, distinct values: (c,), by collection."""
    if not len(signal):
        return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp)
    order = np.lexsort((signal, owner))
    value, of = signal[order], owner[order]
    begins = np.flatnonzero(np.r_[True, (value[1:] != value[:-1]) | (of[1:] != of[:-1])])
    sizes = np.diff(np.r_[begins, len(value)]).astype(np.float64)  # of groups of equal values
    counts = np.bincount(owner).astype(np.float64)
    pairs = np.bincount(of[begins], sizes * (sizes - 1), minlength=len(counts))
    alike = np.bincount(of[begins], gammaln(sizes + 1), minlength=len(counts))
    groups = np.bincount(of[begins], minlength=len(counts))
    chance = np.where(groups > 1, np.minimum(1.0, 2 * np.exp(alike - gammaln(counts + 1))), 1.0)
    return counts, pairs / np.maximum(counts * (counts - 1), 1), chance, groups


def _explain(values: Floats, rows: _ItemRows) -> float:
    """The share of a signal's variance within collections that positions explain, from either end or in parts."""
    standardised = _standardise(values, rows.owner)
    known = np.isfinite(standardised)
    scaled = standardised[known]
    if len(scaled) < 40:
        return 0.0
    places = (rows.position, rows.length - 1 - rows.position, rows.length * 4096 + rows.position, _divide(rows)[0])
    shares = []  # R squared by each, adjusted for how many groups there are
    for where in places:
        _, number = np.unique(where[known], return_inverse=True)
        counts = np.bincount(number)
        means = np.bincount(number, scaled) / counts
        rest, free = float(((scaled - means[number]) ** 2).sum()), len(scaled) - len(counts)
        enough = len(scaled) >= 4 * len(counts)
        shares.append(1.0 - rest / float((scaled**2).sum()) * (len(scaled) - 1) / free if enough else 0.0)
    return max(shares)
