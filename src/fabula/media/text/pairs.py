"""What each two texts have to do with each other: how alike they are, and which introduces what the other knows.

All tables are (n, n) and scaled, so that linear weights fit books of every length. A table of likeness is centred by
row and column. A table of precedence is antisymmetric: above zero where the first of two texts is to come first.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fabula.core.arrays import Floats, Ints
from fabula.core.collection import Collection, Evidence, Terms
from fabula.media.medium import MANY, Look, PairTables, Step, Steps, Threads, essence_steps, look_at_nothing
from fabula.media.text.heads import without_common_heads
from fabula.media.text.language import LANGUAGES, Language, language_of, names_after, without_spaces, words_of
from fabula.media.text.passages import text_of
from fabula.media.text.text_measures import MEASURES, form_of, measure_text
from fabula.models.encoders.measures import closeness, stand_out

# Products of texts with texts over their words: dense for words of many texts, sparse for all others.

_ROWS = 100  # texts whose products are made at a time: of very many each table is large
_OFTEN = 1 / 32  # share of the texts from which on a word is one of many texts

Table = NDArray[np.floating]
Maker = Callable[[], Table]


@dataclass(frozen=True, eq=False)
class WordTable:
    """A table of words (n, w) in two parts: words of many texts (n, a), dense, and the others (n, w), sparse."""

    often: NDArray[np.float32]
    seldom: sparse.csr_array

    def __getitem__(self, rows: slice) -> "WordTable":
        """Some of its rows."""
        return WordTable(self.often[rows], self.seldom[rows])

    def times(self, other: "WordTable", *, root: bool = False) -> Table:
        """The product of each row with each row of another table, or its root: shape (n, m)."""
        n = len(self.often)
        found = np.empty((n, len(other.often)), dtype=np.float32)
        for start in range(0, n, _ROWS):
            some = slice(start, start + _ROWS)
            product, rest = self.often[some] @ other.often.T, self.seldom[some] @ other.seldom.T
            product = product + rest.toarray() if rest.nnz else product
            found[some] = np.sqrt(np.maximum(product, 1e-9)) if root else product
        return found


class WordLayout:
    """Where the entries of a sparse table (n, w) go: which of them are of words of many texts.

    >>> counts = sparse.csr_array([[1.0, 2.0], [0.0, 1.0]])
    >>> parts = WordLayout(counts).parts(counts.data)
    >>> parts.times(parts).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """

    def __init__(self, counts: sparse.csr_array) -> None:
        self.shape = counts.shape
        n, width = counts.shape
        many = np.bincount(counts.indices, minlength=width) > n * _OFTEN
        self.many = many[counts.indices]
        rows: Ints = np.repeat(np.arange(n), np.diff(counts.indptr))
        column = np.cumsum(many) - 1
        self.place = rows[self.many], column[counts.indices[self.many]]
        self.width = int(many.sum())
        self.columns = counts.indices[~self.many]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(rows[~self.many], minlength=n))])

    def parts(self, values: Table) -> WordTable:
        """A table with these values, one an entry."""
        often = np.zeros((self.shape[0], self.width), dtype=np.float32)
        often[self.place] = values[self.many]
        others = values[~self.many].astype(np.float32)
        told = others != 0
        starts = np.concatenate([[0], np.cumsum(told)])[self.starts]
        return WordTable(often, sparse.csr_array((others[told], self.columns[told], starts), shape=self.shape))


# How often which word stands in which text, where it stands first and last, and how it is introduced.

_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")  # an apostrophe parts words: l'homme, Tom's
_STEM = 5  # letters with which words begin that are taken for one
_FACTS = ("first", "last", "inside", "capital", "capital_inside", "determined", "indefinite", "full", "comma")

Facts = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Counted:
    """The words of n texts, w different ones."""

    words: tuple[str, ...]  # in small letters
    counts: sparse.csr_array  # shape (n, w), sparse
    # Name -> shape (entries of ``counts``,): where a word stands first and last in its text, counted in words; how
    # often it stands inside a sentence, with a capital, both, behind an article or the like, behind an indefinite one
    # (a word may stand between), beside another capital, and before a comma.
    facts: dict[str, Facts]
    totals: Ints  # shape (n,): the words of each text
    language: str  # of most of them, as :mod:`fabula.media.text.language` has it; empty where it is not known
    stems: Ints  # shape (w,): the same number for words that begin with the same five letters
    forms: Floats  # shape (n, 10): the form of each text

    def only(self, rows: Sequence[int]) -> "Counted":
        """Those of some of the texts."""
        chosen, starts = np.asarray(rows, dtype=np.intp), self.counts.indptr
        entries = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in chosen])
        facts = {name: values[entries] for name, values in self.facts.items()}
        totals, forms = self.totals[chosen], self.forms[chosen]
        return Counted(self.words, self.counts[chosen], facts, totals, self.language, self.stems, forms)

    @cached_property
    def row(self) -> Ints:
        """The text of each entry of ``counts``."""
        return np.repeat(np.arange(len(self.totals)), np.diff(self.counts.indptr))

    def total(self, fact: str) -> NDArray[np.float64]:
        """A fact of each word over all texts: shape (w,)."""
        return np.bincount(self.counts.indices, self.facts[fact], len(self.words)).astype(np.float64)


def count(texts: Sequence[str]) -> Counted:
    """Count the words of texts.

    >>> found = count(["A stranger came to the inn. Old Tom saw the stranger.", "The stranger ate."])
    >>> stranger = found.words.index("stranger")
    >>> found.counts.toarray()[:, stranger].tolist(), float(found.facts["indefinite"][stranger])
    ([2.0, 1.0], 1.0)
    """
    held = [_tokens(text) for text in texts] if len(texts) <= MANY else None  # of very many each is read twice
    spoken = [language_of([word.casefold() for word in words]) for words, _, _ in held or map(_tokens, texts)]
    language = max(sorted(set(spoken)), key=spoken.count)
    known: dict[str, int] = {}
    found = []
    for text, tokens in zip(texts, held or map(_tokens, texts), strict=True):
        small = [word.casefold() for word in tokens[0]]
        numbers = np.array([known.setdefault(word, len(known)) for word in small], dtype=np.int64)
        found.append(_count_text(text, tokens, small, numbers, LANGUAGES.get(language, Language())))
    columns = np.concatenate([one["column"] for one in found])
    indptr = np.cumsum([0, *(len(one["column"]) for one in found)])
    counts = np.concatenate([one["count"] for one in found]).astype(np.float64)
    table = sparse.csr_array((counts, columns, indptr), shape=(len(texts), len(known)))
    facts = {name: np.concatenate([one[name] for one in found]).astype(np.float32) for name in _FACTS}
    totals, forms = np.concatenate([one["words"] for one in found]), np.stack([form_of(text) for text in texts])
    stems: dict[str, int] = {}
    begun = np.array([stems.setdefault(word[:_STEM], len(stems)) for word in known], dtype=np.intp)
    return Counted(tuple(known), table, facts, totals, language, begun, forms)


def _tokens(text: str) -> tuple[list[str], Ints, Ints]:
    """The words of a text, and where each begins and ends."""
    if without_spaces(text):
        words = words_of(text)
        place = np.cumsum([0, *map(len, words)])
        return words, place[:-1], place[1:]
    found = list(_TOKEN.finditer(text))
    starts, ends = (np.array([getattr(one, end)() for one in found], dtype=np.intp) for end in ("start", "end"))
    return [one.group() for one in found], starts, ends


def _count_text(
    text: str, tokens: tuple[list[str], Ints, Ints], small: list[str], numbers: NDArray[np.int64], known: Language
) -> dict[str, NDArray[Any]]:
    """The facts of one text, one value a different word."""
    words, starts, ends = tokens
    capital = np.array([word[:1].isupper() for word in words], dtype=bool)
    comma = np.array([text[end : end + 1] == "," for end in ends], dtype=bool)
    joined = np.zeros(len(words), dtype=bool)  # with the word before it, by one character
    joined[1:] = starts[1:] - ends[:-1] <= 1
    indefinite = np.array([word in known.indefinite for word in small], dtype=bool)
    either = known.indefinite | known.determiners
    determined = np.array([word in either for word in small], dtype=bool)
    near = _behind(indefinite, joined)
    adjective = _behind(near & ~determined, joined)  # "a tall stranger"
    pair = np.zeros(len(small), dtype=bool)
    pair[1:] = joined[1:] & capital[1:] & capital[:-1]
    full = pair | np.append(pair[1:], False)[: len(pair)]
    column, inverse, count = np.unique(numbers, return_inverse=True, return_counts=True)
    first, last = np.full(len(column), len(numbers)), np.zeros(len(column), dtype=np.intp)
    np.minimum.at(first, inverse, np.arange(len(numbers)))
    np.maximum.at(last, inverse, np.arange(len(numbers)))
    marks = {
        "inside": joined,
        "capital": capital,
        "capital_inside": capital & joined,
        "determined": _behind(determined, joined),
        "indefinite": near | adjective,
        "full": full & capital,
        "comma": comma,
    }
    sums = {name: np.bincount(inverse, mark, len(column)) for name, mark in marks.items()}
    return {"words": np.array([len(words)]), "column": column, "count": count, "first": first, "last": last, **sums}


def _behind(mark: NDArray[np.bool_], joined: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which words stand right behind a marked one."""
    found = np.zeros(len(mark), dtype=bool)
    found[1:] = mark[:-1] & joined[1:]
    return found


LIKENESS = ("wording", "cast", "everyday", "common", "company", "stems", "rare", "form", "manner")
JOINS = ("join", "passage", "carried", "met")  # the end of the first with the beginning of the second: directed
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
    layout: WordLayout


def pair_tables(found: Counted, manner: Floats | None = None) -> PairTables:
    """All tables of n texts by name, shape (n, n) each, made when they are asked for.

    ``manner``, shape (n, f), is how they are written, in deviations; None where that is not known.
    """
    n, width = found.counts.shape
    texts = np.bincount(found.counts.indices, minlength=width)
    inside, capitals = found.total("inside"), found.total("capital_inside")
    total = np.bincount(found.counts.indices, found.counts.data, width)
    capital = (capitals >= _NAMED * inside) & (capitals >= 2)
    cast = capital & (found.total("determined") < _KNOWN * total)
    weights = _Weights(np.log(n / np.maximum(texts, 1)), texts, capital, cast, WordLayout(found.counts))
    forms = stand_out(found.forms, np.zeros(found.forms.shape[1], dtype=bool))
    tables = _likeness(found, weights) | _joins(found, weights) | _precedence(found, weights)
    tables |= {"form": partial(_by_distance, forms)}
    tables |= {"manner": partial(_by_distance, np.zeros((n, 1)) if manner is None else manner)}
    return PairTables({name: tables[name] for name in PAIRS})


def _likeness(found: Counted, weights: _Weights) -> dict[str, Maker]:
    n = len(found.totals)
    columns, layout, tf = found.counts.indices, weights.layout, 1 + np.log(found.counts.data)
    everyday = weights.rarity * ~weights.capital
    common = everyday * (weights.texts > n / 3)
    rare = weights.rarity * ((weights.texts >= 2) & (weights.texts <= _FEW))
    names = np.where(found.facts["capital_inside"] > 0, 1 + np.log(np.maximum(found.facts["capital_inside"], 1)), 0.0)
    words = {
        "wording": tf * weights.rarity[columns],
        "cast": names * weights.rarity[columns],
        "everyday": tf * everyday[columns],
        "common": tf * common[columns],
        "rare": tf * rare[columns],
    }

    def company() -> Table:
        wording = _cosines(layout, found, words["wording"])
        np.fill_diagonal(wording, wording.sum(axis=1) / n)
        return _nearer(_correlations(wording))

    tables: dict[str, Maker] = {name: partial(_alike, layout, found, values) for name, values in words.items()}
    return tables | {"company": company, "stems": lambda: _nearer(_stem_cosines(found))}


def _alike(layout: WordLayout, found: Counted, one: Table, other: Table | None = None) -> Table:
    return _nearer(_cosines(layout, found, one, other))


def _nearer(likeness: Table) -> Table:
    """The closeness of texts that are so alike; the table is overwritten."""
    return closeness(np.negative(likeness, out=likeness), own=True)


def _joins(found: Counted, weights: _Weights) -> dict[str, Maker]:
    """Words near the end of the first text, and near the beginning of the second."""
    columns, left = found.counts.indices, found.totals[found.row] - 1 - found.facts["last"]
    tables, names = dict[str, Maker](), weights.capital
    reaches = (("join", 100, True), ("passage", 500, True), ("carried", 2000, names), ("met", 150, names))
    for name, reach, kept in reaches:
        rarity = (weights.rarity * kept)[columns]
        ends, starts = (rarity * np.exp(-place / reach) for place in (left, found.facts["first"]))
        tables[name] = partial(_alike, weights.layout, found, ends, starts)
    return tables


def _precedence(found: Counted, weights: _Weights) -> dict[str, Maker]:
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
    # Of some words: what each counts (entries,), where they stand (n, w), and the root of what some texts share with
    # others; of very many texts that is made anew for each table, and the table of all never there.
    bases: dict[bytes, tuple[Floats, WordTable, Callable[[slice, slice], Table]]] = {}
    layout = weights.layout

    def share(one: WordTable, other: WordTable) -> Callable[[slice, slice], Table]:
        if n > MANY:
            return lambda rows, columns: one[rows].times(other[columns], root=True)
        whole = one.times(other, root=True)
        return lambda rows, columns: whole[rows, columns]

    def more(kept: bytes, value: Table) -> Table:
        if kept not in bases:
            if n > MANY:
                bases.clear()  # of very many texts one is held, and none while the next is made
            weight = (np.maximum(weights.rarity, 0.1) * np.frombuffer(kept, dtype=bool))[found.counts.indices]
            shared = layout.parts((weight > 0).astype(np.float32))
            bases[kept] = weight, shared, share(layout.parts(weight), shared)
        weight, shared, both = bases[kept]
        return _before(layout.parts(value * weight).times(shared), both)

    return {name: partial(more, kept.tobytes(), value) for name, (kept, value) in seen.items()}


def _before(more: Table, both: Callable[[slice, slice], Table]) -> Table:
    """How much more of something the words that two texts share have in the first: antisymmetric, in deviations."""
    n = len(more)
    for rows, columns in _tiles(n):  # in place: the table is large
        less = (more[rows, columns] - more[columns, rows].T) / both(rows, columns)  # 0 where they share none
        more[rows, columns], more[columns, rows] = less, -less.T
    spread = float(np.linalg.norm(more)) / np.sqrt(max(1, n * (n - 1)))
    if spread <= 1e-9:
        return np.zeros((n, n), dtype=np.float32)
    more /= spread
    return np.clip(more, -_FAR, _FAR, out=more)


def _tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """A table (n, n) in squares: those on its diagonal, and above it."""
    parts = [slice(start, start + MANY) for start in range(0, n, MANY)]
    return combinations_with_replacement(parts, 2)


def _cosines(layout: WordLayout, found: Counted, one: Table, other: Table | None = None) -> Table:
    """Cosines of the rows of two tables of words, or of one with itself: shape (n, n)."""
    n = len(found.totals)
    rows = layout.parts(_of_length_one(found.row, n, one))
    return rows.times(rows if other is None else layout.parts(_of_length_one(found.row, n, other)))


def _stem_cosines(found: Counted) -> Table:
    """Cosines of how often words that begin alike stand in texts: shape (n, n)."""
    n, width = len(found.totals), int(found.stems.max(initial=0)) + 1
    place = found.row, found.stems[found.counts.indices]
    counts = sparse.csr_array((found.counts.data, place), shape=(n, width))
    rarity = np.log(n / np.maximum(np.bincount(counts.indices, minlength=width), 1))
    row = np.repeat(np.arange(n), np.diff(counts.indptr))
    parts = WordLayout(counts).parts(_of_length_one(row, n, (1 + np.log(counts.data)) * rarity[counts.indices]))
    return parts.times(parts)


def _by_distance(rows: Floats) -> Table:
    """The closeness of rows (n, f) by Euclidean distances: shape (n, n)."""
    size, table = (rows**2).sum(axis=1), np.empty((len(rows), len(rows)), dtype=np.float32)
    for start in range(0, len(rows), _ROWS):
        some = slice(start, start + _ROWS)
        table[some] = np.sqrt(np.maximum(size[some, np.newaxis] + size - 2 * rows[some] @ rows.T, 0.0))
    return closeness(table, own=True)


def _of_length_one(row: Ints, n: int, values: Table) -> Table:
    """The entries of a table of n rows, by the row of each, so that every row has the length 1."""
    length = np.sqrt(np.bincount(row, values * values, n))
    return np.asarray(values / np.where(length > 0, length, 1.0)[row])


def _correlations(profile: Table) -> Table:
    """How alike two texts are in what else they are like: shape (n, n); the profile is overwritten."""
    profile -= profile.mean(axis=0)
    length = np.sqrt(np.einsum("ij,ij->i", profile, profile))[:, np.newaxis]
    profile /= np.where(length > 0, length, 1.0)
    for start in range(0, len(profile), _ROWS):  # rows above are not looked at again
        profile[start : start + _ROWS, start:] = profile[start : start + _ROWS] @ profile[start:].T
    for rows, columns in _tiles(len(profile)):
        profile[columns, rows] = profile[rows, columns].T
    return profile


# How far it is from one text to the next: by their words, by the names in them, and from an end to a beginning.

JOIN = 300  # words of an end, and of the beginning that follows it
UNIT = "% apart"  # 0: the same words, as often; 100: no word in common


def flow_steps(texts: Sequence[str]) -> Steps:
    """The three distances between n texts, in per cent; the join is directed, from an end to a beginning."""
    known, people, n = dict[str, int](), dict[str, int](), len(texts)
    bags = []
    for text in texts:
        numbers = [known.setdefault(word.casefold(), len(known)) for word in words_of(text)]
        named = Counter(people.setdefault(name, len(people)) for _, name in names_after(text))
        bags.append((Counter(numbers), Counter(numbers[-JOIN:]), Counter(numbers[:JOIN]), named))
    words, ends, starts, people_met = zip(*bags, strict=True)
    whole, names, both = _weigh(words, len(known)), _weigh(people_met, len(people)), _weigh(ends + starts, len(known))
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
    return flow_steps(without_common_heads(texts))


def _weigh(bags: Sequence[Counter[int]], width: int) -> sparse.csr_array:
    """Words as tf-idf with logarithms of both, each row of length 1; words of every text count for nothing."""
    starts = np.cumsum([0, *map(len, bags)])
    columns = np.fromiter((word for bag in bags for word in bag), dtype=np.int64, count=starts[-1])
    counts = np.fromiter((count for bag in bags for count in bag.values()), dtype=np.float64, count=starts[-1])
    rarity = np.log(len(bags) / np.maximum(np.bincount(columns, minlength=width), 1))
    row = np.repeat(np.arange(len(bags)), np.diff(starts))
    values = _of_length_one(row, len(bags), (1 + np.log(counts)) * rarity[columns])
    return sparse.csr_array((values, columns, starts), shape=(len(bags), width))


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
    counted = count(bare)
    if bare == texts and collection.features.ndim == 2 and set(MANNER) <= set(collection.feature_names):
        manner = collection.columns(MANNER)
    else:
        manner = np.stack([measure_text(text)[: len(MANNER)] for text in bare])

    def look(rows: Sequence[int]) -> Evidence:
        found = counted.only(rows)
        terms = Terms(found.language, found.words, found.counts, found.totals.astype(np.float64))
        return Evidence(pair_tables(found, stand_out(manner[list(rows)], _LOGGED)), terms)

    return look


# The names that run through a collection of texts: people and places, as far as capitals tell them.

MOST = 14
_FEWEST = 3  # times that a name is met in all
_TITLES_WORDS = """
    Mr Mrs Miss Ms Dr Sir Madam Madame Lord Lady Monsieur Mme Mlle Herr Frau Fräulein Don Doña Señor
    Señora Señorita Signor Signora God Gott Dieu Dios
"""
_TITLES = frozenset(_TITLES_WORDS.split())


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
    """Capitalised words that are no names of people, where all nouns have capitals, as in German; none elsewhere."""
    # Names of people are those that are called, or speak, and that seldom stand after an article.
    start = " ".join(text[:4000] for text in texts[:10])
    known = LANGUAGES.get(language_of([word.casefold() for word in start.split()]))
    if known is None or not known.before_nouns:
        return set()
    nouns = Counter(name for before, name in met if before in known.before_nouns)
    called = Counter(name for before, name in met if before in known.before_people)
    return {name for name in total if name in known.nobody or not called[name] or 4 * nouns[name] > total[name]}
