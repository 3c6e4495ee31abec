"""What each two texts have to do with each other: how alike they are, and which introduces what the other knows.

All tables are (n, n) and scaled, so that linear weights fit books of every length. A table of likeness is centred by
row and column. A table of precedence is antisymmetric: above zero where the first of two texts is to come first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fabula.core.essence import Floats
from fabula.media.text.comparing.counting import Counted
from fabula.media.text.comparing.products import Layout, Parts, Table
from fabula.models.encoders.measures import closeness, stand_out

LIKENESS = ("wording", "cast", "everyday", "common", "company", "stems", "rare", "form", "manner")
JOINS = (
    "join",
    "passage",
    "carried",
    "met",
)  # the end of the first with the beginning of the second: these have a direction
PRECEDENCE = (
    "cast_weight", "cast_end", "cast_full", "cast_comma", "words_end", "words_start", "rare_end", "rare_start",
    "new_words", "owned", "words_weight", "rare_weight", "cast_start",
)  # fmt: skip
PAIRS = (*LIKENESS, *JOINS, *PRECEDENCE)

_NAMED = 0.7  # share of capitals inside sentences from which on a word is a name, or in some languages a noun
_KNOWN = 0.1  # share behind articles from which on it is no name
_FEW = 3  # texts up to which a word is one of few
_FAR = 4.0  # deviations beyond which more is no more


@dataclass(frozen=True, eq=False)
class _Weights:
    """What is known of the w words in these texts: how rare they are, which are names, and how they are multiplied."""

    rarity: Floats
    texts: NDArray[np.int64]
    capital: NDArray[np.bool_]
    cast: NDArray[np.bool_]
    layout: Layout


def pair_tables(found: Counted, manner: Floats | None = None) -> dict[str, Table]:
    """All tables by name, shape (n, n) each.

    Parameters
    ----------
    found
        The words of n texts.
    manner
        Shape (n, f): how they are written, in deviations; None where that is not known.

    Examples
    --------
    >>> from fabula.media.text.comparing.counting import counted
    >>> tables = pair_tables(counted(["A stranger came.", "The stranger slept in the inn.", "The inn was old."]))
    >>> tuple(tables) == PAIRS, tables["new_words"].shape
    (True, (3, 3))
    """
    weights = _weights(found)
    tables = _likeness(found, weights) | _styles(found, manner) | _joins(found, weights) | _precedence(found, weights)
    return {name: tables[name] for name in PAIRS}


def _weights(found: Counted) -> _Weights:
    n, width = found.counts.shape
    texts = np.bincount(found.counts.indices, minlength=width)
    inside, capitals = found.summed("inside"), found.summed("capital_inside")
    total = np.bincount(found.counts.indices, found.counts.data, width)
    capital = (capitals >= _NAMED * inside) & (capitals >= 2)
    cast = capital & (found.summed("determined") < _KNOWN * total)
    return _Weights(np.log(n / np.maximum(texts, 1)), texts, capital, cast, Layout(found.counts))


def _likeness(found: Counted, weights: _Weights) -> dict[str, Table]:
    n = len(found.totals)
    columns, layout, tf = found.counts.indices, weights.layout, 1 + np.log(found.counts.data)
    everyday = weights.rarity * ~weights.capital
    common = everyday * (weights.texts > n / 3)
    rare = weights.rarity * ((weights.texts >= 2) & (weights.texts <= _FEW))
    wording = _cosines(layout, found, tf * weights.rarity[columns])
    names = np.where(found.facts["capital_inside"] > 0, 1 + np.log(np.maximum(found.facts["capital_inside"], 1)), 0.0)
    profile = np.where(np.eye(n, dtype=bool), wording.sum(axis=1) / n, wording)
    return {
        "wording": closeness(-wording),
        "cast": closeness(-_cosines(layout, found, names * weights.rarity[columns])),
        "everyday": closeness(-_cosines(layout, found, tf * everyday[columns])),
        "common": closeness(-_cosines(layout, found, tf * common[columns])),
        "company": closeness(-_correlations(profile)),
        "stems": closeness(-_stem_cosines(found)),
        "rare": closeness(-_cosines(layout, found, tf * rare[columns])),
    }


def _styles(found: Counted, manner: Floats | None) -> dict[str, Table]:
    """How alike texts are in form, and in the manner in which they are written."""
    n = len(found.totals)
    forms = stand_out(found.forms, np.zeros(found.forms.shape[1], dtype=bool))
    told = np.zeros((n, 1)) if manner is None else manner
    return {"form": closeness(_distances(forms)), "manner": closeness(_distances(told))}


def _joins(found: Counted, weights: _Weights) -> dict[str, Table]:
    """Words near the end of the first text, and near the beginning of the second."""
    columns, left = found.counts.indices, found.totals[found.row] - 1 - found.facts["last"]
    tables, names = {}, weights.capital
    for name, reach, kept in (
        ("join", 100, True),
        ("passage", 500, True),
        ("carried", 2000, names),
        ("met", 150, names),
    ):
        rarity = (weights.rarity * kept)[columns]
        ends, starts = (rarity * np.exp(-place / reach) for place in (left, found.facts["first"]))
        tables[name] = closeness(-_cosines(weights.layout, found, ends, starts))
    return tables


def _precedence(found: Counted, weights: _Weights) -> dict[str, Table]:
    n, counts = len(found.totals), found.counts.data
    total = found.totals[found.row]
    start, end = found.facts["first"] / total, 1 - (found.facts["last"] + 1) / total
    words = ~weights.capital & (weights.texts >= 2) & (weights.texts <= 0.6 * n)
    rare = (weights.texts >= 2) & (weights.texts <= max(2, n / 3))
    seen: dict[str, tuple[NDArray[np.bool_], NDArray[np.floating]]] = {
        "cast_weight": (weights.cast, np.log(counts)),
        "cast_end": (weights.cast, end),
        "cast_full": (weights.cast, found.facts["full"] / np.maximum(found.facts["capital"], 1)),
        "cast_comma": (weights.cast, found.facts["comma"] / counts),
        "words_end": (words, end),
        "words_start": (words, start),
        "rare_end": (rare, end),
        "rare_start": (rare, start),
        "new_words": (words, (found.facts["indefinite"] > 0).astype(np.float64)),
        "owned": (words, found.facts["determined"] / counts),
        "words_weight": (words, np.log(counts)),
        "rare_weight": (rare, np.log(counts)),
        "cast_start": (weights.cast, start),
    }
    bases: dict[bytes, _Base] = {}
    for kept, _ in seen.values():
        if kept.tobytes() not in bases:
            weight = np.maximum(weights.rarity, 0.1) * kept
            bases[kept.tobytes()] = _base(weights.layout, weight[found.counts.indices])
    return {name: _before(weights.layout, bases[kept.tobytes()], value) for name, (kept, value) in seen.items()}


@dataclass(frozen=True, eq=False)
class _Base:
    """Some words: what each counts (entries,), where they stand (n, w), and the root of what two texts share (n, n)."""

    weight: Floats
    shared: Parts
    both: Table


def _base(layout: Layout, weight: Floats) -> _Base:
    shared = layout.parts((weight > 0).astype(np.float32))
    both = layout.parts(weight).times(shared)
    return _Base(weight, shared, np.sqrt(np.maximum(both, 1e-9)))


def _before(layout: Layout, base: _Base, value: Table) -> Table:
    """How much more of something the words that two texts share have in the first: antisymmetric, in deviations."""
    n = len(base.both)
    amount = layout.parts(value * base.weight).times(base.shared)
    more = (amount - amount.T) / base.both  # 0 where they share none
    spread = float(np.linalg.norm(more)) / np.sqrt(max(1, n * (n - 1)))
    if spread <= 1e-9:
        return np.zeros((n, n), dtype=np.float32)
    more /= spread
    return np.clip(more, -_FAR, _FAR, out=more)


def _cosines(layout: Layout, found: Counted, one: Table, other: Table | None = None) -> Table:
    """Cosines of the rows of two tables of words, or of one with itself: shape (n, n)."""
    rows = layout.parts(_of_length_one(found, one))
    return rows.times(rows if other is None else layout.parts(_of_length_one(found, other)))


def _stem_cosines(found: Counted) -> Table:
    """Cosines of how often words that begin alike stand in texts: shape (n, n)."""
    n, width = len(found.totals), int(found.stems.max(initial=0)) + 1
    place = found.row * width + found.stems[found.counts.indices]
    entries, inverse = np.unique(place, return_inverse=True)
    rows, columns = np.divmod(entries, width)
    rarity = np.log(n / np.maximum(np.bincount(columns, minlength=width), 1))
    values = (1 + np.log(np.bincount(inverse, found.counts.data))) * rarity[columns]
    length = np.sqrt(np.bincount(rows, values * values, n))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    table = sparse.csr_array((values / np.where(length > 0, length, 1.0)[rows], columns, starts), shape=(n, width))
    parts = Layout(table).parts(table.data)
    return parts.times(parts)


def _distances(rows: Floats) -> Table:
    """Euclidean distances of rows (n, f): shape (n, n)."""
    size = (rows**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(size[:, np.newaxis] + size - 2 * rows @ rows.T, 0.0)), dtype=np.float32)


def _of_length_one(found: Counted, values: Table) -> Table:
    length = np.sqrt(np.bincount(found.row, values * values, len(found.totals)))
    return np.asarray(values / np.where(length > 0, length, 1.0)[found.row])


def _correlations(profile: Table) -> Table:
    """How alike two texts are in what else they are like: shape (n, n)."""
    centred = profile - profile.mean(axis=0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    rows = centred / np.where(length > 0, length, 1.0)
    return np.asarray(rows @ rows.T)
