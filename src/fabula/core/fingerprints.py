"""What something was learned from: a short digest of every collection, by which it is known again.

A collection is known by the values of its items and by their titles, whatever the order of its rows and columns, its
id and what else the table says. Of each digest 32 bits are kept: among 15,000 collections a strange one is taken for a
known one once in 280,000. What cannot tell collections apart (a column of yes and no, titles such as "Track 1") is not
digested: a digest is kept only where, by how common its rows are, it would come up by chance once in a million times.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabula.errors import InputError

if TYPE_CHECKING:
    from fabula.core.collection import Collection

_ASSUMED = 4096  # rows there are at least, for one that came up once to count as that rare
_SURE = 20  # bits by which a digest must be rarer than one of so many collections: once in a million times
_DIGITS = re.compile(r"[\d\s]+")
_OFTEN = 2  # collections with the same digest, beyond which it tells nothing

Digests = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The digests of some collections."""

    features: tuple[str, ...] = ()  # names of those whose values were digested
    # (m,), sorted: digests of the items' values
    values: Digests = field(repr=False, default_factory=lambda: np.zeros(0, np.uint32))
    # (m,), sorted: of their titles, where they have any
    titles: Digests = field(repr=False, default_factory=lambda: np.zeros(0, np.uint32))

    @classmethod
    def of(cls, collections: Iterable[Collection], features: Sequence[str]) -> Fingerprints:
        """Digests of collections, by the values of some features and by titles."""
        names = tuple(features)
        known = list(collections)
        values, titles = [_rows(c, names) for c in known], [_titles(c) for c in known]
        return cls(names, _telling(values), _telling(titles))

    def among(self, collections: Iterable[Collection]) -> list[bool]:
        """Of each collection whether it is one of these, by its values or by its titles."""
        return [_holds(self.values, _rows(c, self.features)) or _holds(self.titles, _titles(c)) for c in collections]

    def __len__(self) -> int:
        return max(len(self.values), len(self.titles))

    def __or__(self, other: Fingerprints) -> Fingerprints:
        """Both; of values only where both digested the same features."""
        same = self.features == other.features
        values = np.union1d(self.values, other.values) if same else self.values
        return Fingerprints(self.features, values, np.union1d(self.titles, other.titles))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it: four bytes a digest, in base 64."""
        digests = {"values": self.values, "titles": self.titles}
        kept = {key: base64.b64encode(d.astype("<u4").tobytes()).decode() for key, d in digests.items() if len(d)}
        return {"features": list(self.features), **kept}

    @classmethod
    def from_dict(cls, document: Any) -> Fingerprints | None:
        """What :meth:`to_dict` gave, read back; None where nothing was recorded."""
        if not document:
            return None
        try:
            features = tuple(str(name) for name in document["features"])
            digests = (base64.b64decode(document.get(key, ""), validate=True) for key in ("values", "titles"))
            return cls(features, *(np.frombuffer(one, dtype="<u4").astype(np.uint32) for one in digests))
        except (KeyError, TypeError, AttributeError, ValueError, binascii.Error) as error:
            raise InputError(f"the record of what was learned from is damaged ({error})") from error


def fingerprints_of(training: Mapping[str, Any]) -> Fingerprints | None:
    """What a model's training record says it was trained on; None where that was not recorded."""
    return Fingerprints.from_dict(training.get("seen"))


def find_shared(ones: Sequence[Collection], others: Sequence[Collection]) -> list[bool]:
    """Of each of ``others`` whether it is, by its values or its titles, among ``ones``."""
    return Fingerprints.of(ones, ones[0].feature_names if ones else ()).among(others)


def _rows(collection: Collection, names: tuple[str, ...]) -> list[bytes]:
    """The values of each item, sorted; none where a feature is not there, all are missing or all items are alike."""
    if not names or not set(names) <= set(collection.feature_names):
        return []
    rows = np.asarray(collection.columns(sorted(names)), dtype="<f4").reshape(len(collection), -1) + np.float32(0)
    rows[np.isnan(rows)] = np.nan  # one kind of it; and there is no -0.0
    found = sorted(row.tobytes() for row in rows)  # one year of a whole book is no more than one value
    return [] if np.isnan(rows).all() or found[0] == found[-1] else found


def _titles(collection: Collection) -> list[bytes]:
    """The titles, sorted; none where all but their numbers are alike, as in "Track 1", "Track 2"."""
    titles = sorted(map(_fold, collection.texts("title")))
    wordings = {_DIGITS.sub("", title) for title in titles} - {""}
    return [title.encode() for title in titles] if len(wordings) > 1 else []


def _telling(groups: Sequence[list[bytes]]) -> Digests:
    """Digests of groups of rows, sorted, of those groups that nothing else would be taken for."""
    counts = Counter(row for rows in groups for row in rows)
    total = counts.total()
    needed = math.log2(max(1, len(groups))) + _SURE
    rare = Counter(_digest(rows) for rows in groups if rows and _surprise(rows, counts, total) >= needed)
    return np.array(sorted(digest for digest, times in rare.items() if times <= _OFTEN), dtype=np.uint32)


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


def _holds(kept: Digests, rows: list[bytes]) -> bool:
    if not rows or not len(kept):
        return False
    digest = _digest(rows)
    at = int(np.searchsorted(kept, np.uint32(digest)))
    return at < len(kept) and int(kept[at]) == digest
