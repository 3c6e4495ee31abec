"""How far it is from one text to the next: by their words, by the names in them, and from an end to a beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fabula.core.collection import Collection
from fabula.core.essence import Floats
from fabula.media.steps import Step, Steps, essence_steps
from fabula.media.text.measuring.words import names_of, words_of
from fabula.media.text.reading.files import text_of
from fabula.media.text.reading.heads import without_common_heads

JOIN = 300  # words of an end, and of the beginning that follows it
UNIT = "% apart"  # 0: the same words, as often; 100: no word in common


@dataclass(frozen=True, eq=False)
class Bags:
    """How often which word stands where: four sparse tables of counts, one row a text.

    Attributes
    ----------
    words, names
        Of whole texts, shape (n, w) and (n, m).
    beginnings, ends
        Of their first and last 300 words, shape (n, w) both.
    """

    words: sparse.csr_array
    names: sparse.csr_array
    beginnings: sparse.csr_array
    ends: sparse.csr_array

    def only(self, rows: Sequence[int]) -> Bags:
        """Those of some of the texts."""
        chosen = list(rows)
        return Bags(self.words[chosen], self.names[chosen], self.beginnings[chosen], self.ends[chosen])


def bags_of(texts: Sequence[str]) -> Bags:
    """Count the words and names of texts.

    Examples
    --------
    >>> bags_of(["the sea", "the sea, the land"]).words.toarray().tolist()
    [[1.0, 1.0, 0.0], [2.0, 1.0, 1.0]]
    """
    known: dict[str, int] = {}
    counted: tuple[list[Counter[int]], ...] = ([], [], [])
    for text in texts:
        numbers = [known.setdefault(word.casefold(), len(known)) for word in words_of(text)]
        for bags, part in zip(counted, (numbers, numbers[:JOIN], numbers[-JOIN:]), strict=True):
            bags.append(Counter(part))
    people: dict[str, int] = {}
    named = [Counter(people.setdefault(name, len(people)) for name in names_of(text)) for text in texts]
    whole, beginnings, ends = (_table(bags, len(known)) for bags in counted)
    return Bags(whole, _table(named, len(people)), beginnings, ends)


def flow_steps(bags: Bags) -> Steps:
    """The three distances between texts, in per cent; the join is directed, from an end to a beginning.

    Parameters
    ----------
    bags
        Of n texts.

    Examples
    --------
    >>> [part.name for part in flow_steps(bags_of(["a red sea", "a blue sea", "the land"])).parts]
    ['wording', 'join']
    """
    n = bags.words.shape[0]
    whole, names = _weighted(bags.words), _weighted(bags.names)
    both = _weighted(sparse.csr_array(sparse.vstack([bags.ends, bags.beginnings])))
    parts = [Step("wording", UNIT, _apart(whole, whole))]
    if len(np.unique(names.nonzero()[0])) > 1:
        parts.append(Step("names", UNIT, _apart(names, names)))
    return Steps((*parts, Step("join", UNIT, _apart(both[:n], both[n:]))))


def text_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between texts: by their words, their names, and from the end of one to the beginning of the next.

    Where the texts themselves are not there, as in a table of numbers, the essence.

    Parameters
    ----------
    collection
        n texts.
    essence
        Shape (n,) or (n, d).
    """
    texts = [text_of(item) for item in collection.items]
    if not all(texts):
        return essence_steps(collection, essence)
    return flow_steps(bags_of(without_common_heads(texts)))


def _table(bags: Sequence[Counter[int]], width: int) -> sparse.csr_array:
    """Counts as a sparse table, shape (n, width)."""
    starts = np.cumsum([0, *map(len, bags)])
    columns = np.fromiter((word for bag in bags for word in bag), dtype=np.int64, count=starts[-1])
    values = np.fromiter((count for bag in bags for count in bag.values()), dtype=np.float64, count=starts[-1])
    return sparse.csr_array((values, columns, starts), shape=(len(bags), width))


def _weighted(counts: sparse.csr_array) -> sparse.csr_array:
    """Counts as tf-idf with logarithms of both, each row of length 1; words of every text count for nothing."""
    n = counts.shape[0]
    table = counts.copy()
    texts = np.bincount(table.indices[table.data > 0], minlength=counts.shape[1])
    table.data = (1 + np.log(table.data)) * np.log(n / np.maximum(texts, 1))[table.indices]
    length = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    table.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(table.indptr))
    return table


def _apart(rows: sparse.csr_array, columns: sparse.csr_array) -> Floats:
    """100 less the cosines in per cent, shape (n, n), 0 from a text to itself."""
    cosines = np.asarray((rows @ columns.T).toarray())
    apart: Floats = 100 * np.clip(1 - cosines, 0, 1)
    np.fill_diagonal(apart, 0.0)
    return apart
