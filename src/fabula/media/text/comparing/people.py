"""The names that run through a collection of texts: people and places, as far as capitals tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fabula.core.collection import Collection
from fabula.media.text.measuring.languages import language_of
from fabula.media.text.measuring.words import named_after, words_of
from fabula.media.text.reading.files import text_of
from fabula.media.threads import Threads

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

    Parameters
    ----------
    collection
        n texts.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> texts = ["Then Ann met Tom, and Ann ran.", "Once more Ann sat.", "And so Tom slept, and old Tom snored."]
    >>> found = names_along(Collection("c", [Item(str(k), details={"text": t}) for k, t in enumerate(texts)]))
    >>> found.names, found.counts.tolist()
    (('Ann', 'Tom'), [[2.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
    """
    texts = [text_of(item) for item in collection.items]
    low = Counter(word for text in texts for word in words_of(text) if word.islower())
    met = [named_after(text) for text in texts]
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
