"""What something was learned from: a short digest of every collection, by which it is known again.

A collection is known by the values of its items and by their titles, whatever the order of its rows and columns, its
id and what else the table says. Digested are pairs of items, side by side in the order of their own digests, so that
most pairs stay when an item is missing; of each collection the three smallest are kept, 32 bits each, and two of them
make it known. What cannot tell collections apart (a column of yes and no, titles such as "Track 1") is not digested: a
digest is kept only where, by how common its rows are, two would come up by chance once in a million times.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.core.collection import Collection

_ASSUMED = 4096  # rows there are at least, for one that came up once to count as that rare
_SURE = 20  # bits by which a digest must be rarer than one of so many collections: once in a million times
_DIGITS = re.compile(r"[\d\s]+")
_OFTEN = 2  # collections with the same digest, beyond which it tells nothing
_KEPT, _ASKED, _ENOUGH = 3, 6, 2  # pairs of a collection that are kept, that are looked for, that make it known
_EDITION = re.compile(
    r"\s*[(\[][^)\]]*(remaster|mono|stereo|bonus|explicit|deluxe|album version)[^)\]]*[)\]]"
    r"|\s+[-\u2013\u2014/]\s[^-\u2013\u2014/]*(remaster|mono|stereo|bonus|explicit|deluxe|album version).*$"
)
_PAIR_SURE = math.log2(_KEPT * _ASKED) + _SURE / _ENOUGH  # bits of a pair, for two of them to come up as seldom
_NEAR = 0.03  # deviations by which values of one item may differ, written elsewhere
_MOST = 0.6  # share of the items of a collection that must be another's

Digests = NDArray[np.uint32]
Part = tuple[int, list[bytes]]  # a digest, and the rows it is of
_DIGESTS = ("values", "titles", "pairs")


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The digests of some collections."""

    features: tuple[str, ...]  # names of those whose values were digested
    values: Digests = field(repr=False)  # (m,), sorted: of the values of all items of short collections
    titles: Digests = field(repr=False)  # (m,), sorted: of their titles, where they have any
    pairs: Digests = field(repr=False)  # (m,), sorted: of pairs of items, by values and by titles

    @classmethod
    def of(cls, collections: Iterable[Collection], features: Sequence[str]) -> Fingerprints:
        """Digests of collections, by the values of some features and by titles."""
        names = tuple(features)
        known = list(collections)
        values, titles = [_rows(c, names) for c in known], [_titles(c) for c in known]
        short = [[rows if len(rows) <= _KEPT else [] for rows in groups] for groups in (values, titles)]
        works = [_titles(c, edition=False) for c in known]
        pairs = [_telling(groups, _pairs, _PAIR_SURE) for groups in (values, works)]
        by_values, by_titles = (_telling(groups, _whole, _SURE) for groups in short)
        return cls(names, by_values, by_titles, np.union1d(*pairs))

    def among(self, collections: Iterable[Collection]) -> list[bool]:
        """Of each collection whether it is one of these, by its values or by its titles; an item may be missing."""
        return [self._holds(c) for c in collections]

    def _holds(self, collection: Collection) -> bool:
        values = _rows(collection, self.features)
        whole = ((self.values, values), (self.titles, _titles(collection)))
        if any(rows and _digest(rows) in kept for kept, rows in whole):
            return True
        asked = (_pairs(rows)[:_ASKED] for rows in (values, _titles(collection, edition=False)))
        return len(self.pairs) > 0 and any(np.isin([p for p, _ in own], self.pairs).sum() >= _ENOUGH for own in asked)

    def __len__(self) -> int:
        return max(len(self.values), len(self.titles), len(self.pairs) // _KEPT)

    def __or__(self, other: Fingerprints) -> Fingerprints:
        """Both; of values only where both digested the same features."""
        same = self.features == other.features
        values = np.union1d(self.values, other.values) if same else self.values
        titles, pairs = (np.union1d(getattr(self, name), getattr(other, name)) for name in ("titles", "pairs"))
        return Fingerprints(self.features, values, titles, pairs)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it: four bytes a digest, in base 64."""
        digests = {name: getattr(self, name) for name in _DIGESTS}
        kept = {key: base64.b64encode(d.astype("<u4").tobytes()).decode() for key, d in digests.items() if len(d)}
        return {"features": list(self.features), **kept}

    @classmethod
    def from_dict(cls, document: Any) -> Fingerprints | None:
        """What :meth:`to_dict` gave, read back; None where nothing was recorded."""
        if not document:
            return None
        try:
            features = tuple(str(name) for name in document["features"])
            digests = (base64.b64decode(document.get(key, ""), validate=True) for key in _DIGESTS)
            return cls(features, *(np.frombuffer(one, dtype="<u4").astype(np.uint32) for one in digests))
        except (KeyError, TypeError, AttributeError, ValueError, binascii.Error) as error:
            raise InputError(f"the record of what was learned from is damaged ({error})") from error


def fingerprints_of(training: Mapping[str, Any]) -> Fingerprints | None:
    """What a model's training record says it was trained on; None where that was not recorded."""
    return Fingerprints.from_dict(training.get("seen"))


def find_shared(ones: Sequence[Collection], others: Sequence[Collection]) -> list[bool]:
    """Of each of ``others`` whether it is, by its values, nearly, or by its titles, among ``ones``."""
    names = ones[0].feature_names if ones else ()
    known = Fingerprints.of(ones, names).among(others)
    flat = [c for c in (*ones, *others) if c.features.ndim == 2 and set(names) <= set(c.feature_names)]
    if not names or len(flat) < len(ones) + len(others):
        return known
    return [a or b for a, b in zip(known, _find_near(ones, others, names), strict=True)]


def _find_near(ones: Sequence[Collection], others: Sequence[Collection], names: Sequence[str]) -> list[bool]:
    """Of each of ``others`` whether most of its items have nearly the values of one of ``ones``, not by chance."""
    from scipy.spatial import cKDTree  # here, for what only reads a record needs none of it

    rows = np.concatenate([c.columns(list(names)) for c in ones])
    known = np.isfinite(rows)
    centre = np.where(known, rows, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    spread = np.sqrt(np.where(known, (rows - centre) ** 2, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    used = spread > 1e-12 * (1 + np.abs(centre))
    owner = np.repeat(np.arange(len(ones)), [len(c) for c in ones])
    if not used.any():
        return [False] * len(others)

    def scale(values: Floats) -> Floats:
        scaled = (values - centre)[:, used] / spread[used]
        return np.where(np.isfinite(scaled), scaled, 0.0)

    tree, needed = cKDTree(scale(rows)), math.log2(len(ones)) + _SURE
    found = []
    for other in others:
        own = scale(other.columns(list(names)))
        nearest = np.asarray(tree.query(own, distance_upper_bound=_NEAR, p=np.inf)[1])
        near = nearest < len(owner)
        whose, counts = np.unique(owner[nearest[near]], return_counts=True)
        if not len(whose) or counts.max() < max(2, _MOST * len(own)) or np.ptp(own, axis=0).max() <= _NEAR:
            found.append(False)
            continue
        one = whose[counts.argmax()]
        mine = np.flatnonzero(near)[owner[nearest[near]] == one]
        many = tree.query_ball_point(own[mine], _NEAR, p=np.inf, return_length=True)
        found.append(float(np.log2(max(len(owner), _ASSUMED) / (many * len(ones[one]))).sum()) >= needed)
    return found


def _rows(collection: Collection, names: tuple[str, ...]) -> list[bytes]:
    """The values of each item, sorted; none where a feature is not there, all are missing or all items are alike."""
    if not names or not set(names) <= set(collection.feature_names):
        return []
    rows = np.asarray(collection.columns(sorted(names)), dtype="<f4").reshape(len(collection), -1) + np.float32(0)
    rows[np.isnan(rows)] = np.nan  # one kind of it; and there is no -0.0
    found = sorted(row.tobytes() for row in rows)  # one year of a whole book is no more than one value
    return [] if np.isnan(rows).all() or found[0] == found[-1] else found


def _titles(collection: Collection, *, edition: bool = True) -> list[bytes]:
    """The titles, sorted; none where all but their numbers are alike, as in "Track 1"; or without their edition."""
    titles = sorted(map(_fold, collection.texts("title")))
    titles = titles if edition else sorted(_EDITION.sub("", title) for title in titles)
    wordings = {_DIGITS.sub("", title) for title in titles} - {""}
    return [title.encode() for title in titles] if len(wordings) > 1 else []


def _pairs(rows: list[bytes]) -> list[Part]:
    """Digests of the pairs of rows that are side by side in the order of their own digests, smallest first."""
    order = sorted({(_digest([row]), row) for row in rows})
    return sorted((_digest([a, b]), [a, b]) for (_, a), (_, b) in pairwise(order))


def _whole(rows: list[bytes]) -> list[Part]:
    """The digest of all rows, if there are any."""
    return [(_digest(rows), rows)] if rows else []


def _telling(groups: Sequence[list[bytes]], parts: Callable[[list[bytes]], list[Part]], sure: float) -> Digests:
    """The smallest digests of parts of each group, sorted, of those that nothing else would be taken for."""
    counts = Counter(row for rows in groups for row in rows)
    total, needed = counts.total(), math.log2(max(1, len(groups))) + sure
    found: Counter[int] = Counter()
    for rows in groups:
        rare = [digest for digest, part in parts(rows) if _surprise(part, counts, total) >= needed]
        found.update(rare[: _KEPT + (len(rare) == _KEPT + 1)])  # all of a short one, of which one item is much
    return np.array(sorted(digest for digest, times in found.items() if times <= _OFTEN), dtype=np.uint32)


def _surprise(rows: list[bytes], counts: Counter[bytes], total: int) -> float:
    """Bits: how unlikely it is that as many rows, drawn each by itself, are these in any order."""
    orders = math.lgamma(len(rows) + 1) - sum(math.lgamma(m + 1) for m in Counter(rows).values())
    rarities = [total / counts[row] if counts[row] > 1 else max(total, _ASSUMED) for row in rows]
    return sum(map(math.log2, rarities)) - orders / math.log(2)


def _fold(text: str) -> str:
    if text.isascii():
        return " ".join(text.casefold().split())
    return " ".join(unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode()).casefold().split())


def _digest(parts: Iterable[bytes]) -> int:
    digest = hashlib.blake2b(digest_size=4)
    for part in parts:
        digest.update(len(part).to_bytes(4, "little") + part)
    return int.from_bytes(digest.digest(), "little")
