"""How far it is from one text to the next: by their words, by the names in them, and from an end to a beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fabula.core.arrays import Floats
from fabula.core.collection import Collection
from fabula.core.evidence import Evidence, Terms
from fabula.media.medium import Look, Threads, look_at_nothing
from fabula.media.steps import Step, Steps, essence_steps
from fabula.media.text.heads import without_common_heads
from fabula.media.text.language import language_of, names_after, names_of, words_of
from fabula.media.text.pairs import Counted, count, pair_tables
from fabula.media.text.passages import text_of
from fabula.media.text.text_measures import MEASURES, measure_text
from fabula.models.encoders.measures import stand_out

JOIN = 300  # words of an end, and of the beginning that follows it
UNIT = "% apart"  # 0: the same words, as often; 100: no word in common


@dataclass(frozen=True, eq=False)
class Bags:
    """How often which word stands where: four sparse tables of counts, one row a text."""

    # Of whole texts, shape (n, w) and (n, m).
    words: sparse.csr_array
    names: sparse.csr_array
    # Of their first and last 300 words, shape (n, w) both.
    beginnings: sparse.csr_array
    ends: sparse.csr_array


def bags_of(texts: Sequence[str]) -> Bags:
    """Count the words and names of texts."""
    known: dict[str, int] = {}
    count: tuple[list[Counter[int]], ...] = ([], [], [])
    for text in texts:
        numbers = [known.setdefault(word.casefold(), len(known)) for word in words_of(text)]
        for bags, part in zip(count, (numbers, numbers[:JOIN], numbers[-JOIN:]), strict=True):
            bags.append(Counter(part))
    people: dict[str, int] = {}
    named = [Counter(people.setdefault(name, len(people)) for name in names_of(text)) for text in texts]
    whole, beginnings, ends = (_table(bags, len(known)) for bags in count)
    return Bags(whole, _table(named, len(people)), beginnings, ends)


def flow_steps(bags: Bags) -> Steps:
    """The three distances between n texts, in per cent; the join is directed, from an end to a beginning."""
    n = bags.words.shape[0]
    whole, names = _weigh(bags.words), _weigh(bags.names)
    both = _weigh(sparse.csr_array(sparse.vstack([bags.ends, bags.beginnings])))
    parts = [Step("wording", UNIT, _apart(whole, whole))]
    if len(np.unique(names.nonzero()[0])) > 1:
        parts.append(Step("names", UNIT, _apart(names, names)))
    return Steps((*parts, Step("join", UNIT, _apart(both[:n], both[n:]))))


def text_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between texts: by their words, their names, and from the end of one to the beginning of the next.

    Where the texts themselves are not there, as in a table of numbers, the essence.
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


def _weigh(counts: sparse.csr_array) -> sparse.csr_array:
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


# What a step model looks at in texts: tables over all pairs, and their words.

MANNER = MEASURES[: MEASURES.index("reading_ease") + 1]  # how texts are written: what every language has
_SHARES = ("word_length", "variety", "questions", "exclamations", "dialogue", "reading_ease")
_LOGGED = ~np.isin(MANNER, _SHARES)


def text_look(collection: Collection) -> Look:
    """From some of the texts of a collection to what is known of them beside their measures.

    Where the texts themselves are not there, as in a table of numbers, nothing is.
    """
    texts = [text_of(item) for item in collection.items]
    if not all(texts):
        return look_at_nothing
    bare = without_common_heads(texts)
    found, manner = count(bare), _manner(collection) if bare == texts else None
    if manner is None:
        manner = np.stack([measure_text(text)[: len(MANNER)] for text in bare])
    return lambda rows: _evidence(found.only(rows), manner[list(rows)])


def _manner(collection: Collection) -> Floats | None:
    """How texts are written, by measures that every language has, shape (n, 17), where these are known."""
    there = collection.features.ndim == 2 and set(MANNER) <= set(collection.feature_names)
    return collection.columns(list(MANNER)) if there else None


def _evidence(found: Counted, manner: Floats) -> Evidence:
    tables = pair_tables(found, stand_out(manner, _LOGGED))
    return Evidence(tables, Terms(found.language, found.words, found.counts, found.totals.astype(np.float64)))


# The names that run through a collection of texts: people and places, as far as capitals tell them.

MOST = 14
_FEWEST = 3  # times that a name is met in all
_TITLES_WORDS = """
    Mr Mrs Miss Ms Dr Sir Madam Madame Lord Lady Monsieur Mme Mlle Herr Frau Fräulein Don Doña Señor
    Señora Señorita Signor Signora God Gott Dieu Dios
"""
_TITLES = frozenset(_TITLES_WORDS.split())
# German gives every noun a capital: names of people are those that are called, or speak, and that seldom stand after an
# article.
_BEFORE_NOUNS_WORDS = """
    der die das den dem des ein eine einen einem einer eines kein keine keinen im am zum zur vom ins beim mein
    meine meinen meiner sein seine seinen seiner seinem ihr ihre ihren ihrer ihrem unser unsere dieser diese
    dieses diesem diesen jeder jede jedes alle aller viele viel mehr
"""
_BEFORE_NOUNS = frozenset(_BEFORE_NOUNS_WORDS.split())
_BEFORE_PEOPLE_WORDS = """
    sagte sprach rief fragte antwortete erwiderte versetzte entgegnete meinte bat flüsterte lachte lächelte nickte
    herr herrn frau fräulein doktor graf gräfin baron onkel tante vetter namens hieß heißt nannte genannt
"""
_BEFORE_PEOPLE = frozenset(_BEFORE_PEOPLE_WORDS.split())
_NOBODY_WORDS = """
    Alles Niemand Jemand Etwas Nichts Du Dich Dir Dein Deine Deiner Euch Euer Ihr Ihnen Ihre Sie Er Es Seitens
"""
_NOBODY = frozenset(_NOBODY_WORDS.split())


def names_along(collection: Collection) -> Threads | None:
    """The names that several texts share, with how often each has them; None where there are none.

    >>> from fabula.core.collection import Item
    >>> texts = ["Then Ann met Tom, and Ann ran.", "Once more Ann sat.", "And so Tom slept, and old Tom snored."]
    >>> found = names_along(Collection("c", [Item(str(k), details={"text": t}) for k, t in enumerate(texts)]))
    >>> found.names, found.counts.tolist()
    (('Ann', 'Tom'), [[2.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
    """
    texts = [text_of(item) for item in collection.items]
    low = Counter(word for text in texts for word in words_of(text) if word.islower())
    met = [names_after(text) for text in texts]
    found = [Counter(name for _, name in one) for one in met]
    total: Counter[str] = sum(found, Counter())
    spread = Counter(name for one in found for name in one)
    nouns = _nouns(texts, [pair for one in met for pair in one], total)
    known = [
        name
        for name, count in total.most_common()
        if count >= _FEWEST and spread[name] > 1 and name not in _TITLES | nouns and low[name.lower()] * 2 < count
    ]
    if not known:
        return None
    best = sorted(known, key=lambda name: -total[name] * (1 - spread[name] / (2 * len(texts))))[:MOST]
    counts = np.array([[one[name] for name in best] for one in found], dtype=np.float64)
    return Threads(tuple(best), counts)


def _nouns(texts: Sequence[str], met: Sequence[tuple[str, str]], total: Mapping[str, int]) -> set[str]:
    """Capitalised words that are no names of people, where all nouns have capitals; none elsewhere."""
    start = " ".join(text[:4000] for text in texts[:10])
    if language_of([word.casefold() for word in start.split()]) != "de":
        return set()
    after_article = Counter(name for before, name in met if before in _BEFORE_NOUNS)
    called = Counter(name for before, name in met if before in _BEFORE_PEOPLE)
    return {name for name in total if name in _NOBODY or not called[name] or 4 * after_article[name] > total[name]}
