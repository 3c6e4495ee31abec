"""The `text` features: plain measures of a text, most of which know no language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.errors import FileError, shown
from fabula.media.children import shield
from fabula.media.medium import Cutting, Spec, Stop, Stopped
from fabula.media.text import passages
from fabula.media.text.documents import PARAGRAPH, title_part
from fabula.media.text.language import (
    LANGUAGES,
    TIMES,
    Language,
    language_by,
    language_of,
    names_after,
    paragraphs_of,
    sentences_of,
    starts_of,
    words_of,
)
from fabula.media.text.manuscripts import find_parts, tell_held

MEASURES = (
    "words", "word_length", "variety", "commas", "semicolons", "dashes", "questions", "exclamations", "dialogue",
    "sentence_length", "paragraph_length", "names", "digits", "first_person", "second_person", "indefinite",
    "reading_ease", "valence", "intensity", "time_words", "past", "places",
)  # fmt: skip

_FIRST = 500  # words whose variety is measured: it falls with the length of a text
_LONG = 6  # letters beyond which a word is long
_QUOTED = re.compile(
    r"“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»|»[^«»]{1,2000}«|「[^「」]{1,2000}」|\"[^\"]{1,2000}\""
)
_SPOKEN = re.compile(r"^\s*[—–-]\s*(?=\w|¡|¿)")
_UNKNOWN = float("nan")


def measure_text(text: str, *, language: str | None = None) -> NDArray[np.float64]:
    """Measure a text: its :data:`MEASURES`, shape (22,), as ``docs/text.md`` lists them.

    Where its language is not known, persons and articles are 0, and the last five NaN. ``reading_ease`` is 100 less
    the index LIX; ``places`` are names after a preposition of place.

    >>> measured = measure_text("Is it so? Yes, it is.")
    >>> float(measured[MEASURES.index("questions")])
    0.5
    """
    words = words_of(text)
    spelled, n = Counter(words), max(1, len(words))
    counts: Counter[str] = Counter()
    for word, count in spelled.items():  # a third of the words differ: fold and count letters once
        counts[word.casefold()] += count
    language = language_by(counts) if language is None else language
    known = LANGUAGES.get(language, Language())
    sentences, paragraphs = sentences_of(text), paragraphs_of(text)
    per_sentence = n / max(1, len(sentences))
    endings = Counter(sentence.rstrip("\"'”’»)]」』 \n")[-1:] for sentence in sentences)
    commas, halves, dashes = (sum(map(text.count, marks)) for marks in (",،、，", ";:；：؛", "—–"))
    marks = (commas, halves, dashes + text.count(" - ") + text.count("--"))
    # What is spoken stands in quotation marks, or in paragraphs that a dash opens.
    quoted = sum(map(len, _QUOTED.findall(text)))
    dashed = sum(len(part) for part in paragraphs if _SPOKEN.match(part))
    names = names_after(text)
    places = sum(before in known.places and name not in TIMES for before, name in names) if known.places else _UNKNOWN
    past, present = _sum(counts, known.past), _sum(counts, known.present)
    values = [
        len(words),
        sum(len(word) * count for word, count in spelled.items()) / n,
        len({word.casefold() for word in words[:_FIRST]}) / max(1, min(len(words), _FIRST)),
        *(1000 / n * value for value in marks),
        _sum(endings, "?？؟") / max(1, len(sentences)),
        _sum(endings, "!！") / max(1, len(sentences)),
        min(1.0, max(quoted, dashed) / max(1, len(text))),
        per_sentence,
        n / max(1, len(paragraphs)),
        1000 / n * len(names),
        1000 / n * sum(map(text.count, "0123456789")),
        *(1000 / n * _sum(counts, told) for told in (known.first, known.second, known.indefinite)),
        100 - per_sentence - 100 / n * sum(count for word, count in spelled.items() if len(word) > _LONG),
        *feeling(counts, language),
        1000 / n * _sum(counts, known.times) if known.past else _UNKNOWN,
        (past / (past + present) if past + present else 0.5) if known.past else _UNKNOWN,
        1000 / n * places,
    ]
    return np.array(values, dtype=np.float64)


def _sum(counts: Mapping[str, int], keys: Iterable[str]) -> int:
    return sum(counts.get(key, 0) for key in keys)


def _row(path: str, stop: Stop) -> NDArray[np.float64]:
    if stop():
        raise Stopped
    measured = measure_text(passages.read_document(path).text)
    if not measured[0]:
        raise FileError(f"{shown(path)}: has no words in it")
    return measured


SPEC = Spec("text", version=4, feature_names=MEASURES, measure=_row, shape=(len(MEASURES),), parsed=passages.is_packed)


# The inside of a text: pieces of it in their order, measured.

_FEWEST = 20  # words of a piece


def pieces_of(item: Item, count: int) -> Collection | None:
    """A text as ``count`` pieces of as many words each, in their order, measured; None where it has too few for two.

    Fewer where they would have less than 20 words.
    """
    text = passages.text_of(item)
    starts = starts_of(text)
    count = min(count, len(starts) // _FEWEST)
    if count < 2:
        return None
    first = [starts[i] for i in np.linspace(0, len(starts), count + 1).round().astype(int)[:-1]]
    bounds = [0, *first[1:], len(text)]
    whole = language_of([word.casefold() for word in text[:20_000].split()])
    rows = [measure_text(text[a:b], language=whole) for a, b in pairwise(bounds)]
    items = [Item(str(number), path="") for number in range(1, count + 1)]
    return Collection(item.id, items, np.stack(rows), MEASURES, title=item.label)


# One file cut into items, and rows of a table as texts.

_MOST_PARTS = 20_000  # of one file; the Bible has 31,102 verses in 1,189 chapters
_FEW = 6  # words below which most cells of a column are names of things, no texts


def cut_file(path: str, cutting: Cutting) -> Collection | None:
    """The parts of a file as measured items that hold their text; None where it cannot be cut.

    By its highest headings of which there are several, else by its separators (``***``, a rule, three empty lines, a
    new page of an .epub).
    """
    found, notes = shield(_cut_parts, path)
    cutting.notes.extend(notes)
    return found if isinstance(found, Collection) else None


def _cut_parts(path: str) -> tuple[Collection | None, list[str]]:
    """The parts, and what is to be told of them."""
    document = passages.read_document(path)
    parts = find_parts(document)
    if len(parts.items) > _MOST_PARTS:
        raise FileError(f"{shown(path)}: falls into {len(parts.items):,} parts, and may into {_MOST_PARTS:,}")
    found = [parts.part(number) for number in parts.items]
    if len(found) < 2:
        return None, []
    notes = tell_held(parts)
    if document.encoding:
        notes.append(passages.tell_encoding(document.encoding, [shown(Path(path).name)]))
    items = []
    for number, part in enumerate(found, start=1):
        headed = title_part(part) if any(block.level > PARAGRAPH for block in part.blocks) else ""
        details = {passages.TEXT: part.markup, passages.MANUSCRIPT: path, **passages.say_heads(headed, part)}
        items.append(Item(str(number), shown(title_part(part)), "", shown(document.author), details))
    title = shown(document.title or document.name or Path(path).stem)
    features = np.stack([measure_text(part.text) for part in found])
    collection = passages.add_viewpoints(Collection(title, items, features, MEASURES, title=title))
    return collection, [*notes, *passages.tell_heads(collection)]


def measure_texts(collection: Collection) -> Collection | None:
    """Items that hold their texts, as rows of a table with a column of texts, measured; None where they do not.

    What the collection knows already wins over what is measured.
    """
    texts = [passages.text_of(item) if not item.path else "" for item in collection.items]
    counts = [len(words_of(text)) for text in texts]
    if min(counts) < 1 or np.median(counts) < _FEW or collection.features.ndim != 2:
        return None
    new = [name for name in MEASURES if name not in collection.feature_names]
    rows = np.stack([measure_text(text) for text in texts])[:, [MEASURES.index(name) for name in new]]
    features = np.concatenate([collection.features, rows], axis=1)
    return replace(collection, features=features, feature_names=(*collection.feature_names, *new))


# What words feel like: tables of valence for languages that have a freely licensed one (lexicons/NOTICE.md).

# Endings that a table leaves out: German and Dutch bend adjectives, and the tables hold them bare.
_ENDINGS = {"de": ("e", "en", "er", "es", "em", "n", "s"), "nl": ("e",)}
_BENT = 4  # letters from which a word takes endings
FELT = frozenset(("en", "de", "fr", "nl"))


@cache
def lexicon(language: str) -> Mapping[str, float] | None:
    """Word in small letters -> valence in [-1, 1]; None where there is no table for the language."""
    if language not in FELT:
        return None
    told: dict[str, float] = {}
    table = files("fabula.media.text").joinpath("lexicons", f"{language}.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        value, *words = line.split(" ")
        told.update(dict.fromkeys(words, int(value) / 100))
    long = [(word, value) for word, value in told.items() if len(word) >= _BENT]
    bent = {word + ending: value for word, value in long for ending in _ENDINGS.get(language, ())}
    return {**bent, **told}


def feeling(counts: Mapping[str, int], language: str) -> tuple[float, float]:
    """Valence and intensity of a text: the mean valence of its charged words, and how charged 1,000 of its words are.

    By how often each word stands in it, in small letters. Not known (NaN) where the language has no table; a text
    without a charged word has 0 of both.

    >>> feeling({"love": 1, "the": 3}, "en")[0] > 0, feeling({"amor": 1}, "es")
    (True, (nan, nan))
    """
    table = lexicon(language)
    if table is None:
        return _UNKNOWN, _UNKNOWN
    felt = [(table[word], count) for word, count in counts.items() if word in table]
    charged = sum(count for _, count in felt)
    valence = sum(value * count for value, count in felt) / max(1, charged)
    return valence, 1000 * sum(abs(value) * count for value, count in felt) / max(1, sum(counts.values()))


# The form of a text: its length, lines, stanzas, and which lines end alike. It needs no language.

_LAST = re.compile(r"([^\W\d_]+)[\W\d_]*$")
_STANZA = re.compile(r"\n\s*\n")
_ALIKE = 2  # last letters that two lines which rhyme share
FORM = 10


def form_of(text: str) -> Floats:
    """The form of a text: shape (10,), logarithms and shares.

    Its characters and lines; the mean and the spread of the length of its lines; the same of its stanzas or
    paragraphs, counted in lines, and how many there are; how many lines end as the next one does, as the one after
    it, and as the third.

    >>> form_of("The sea is wide\\nThe day is fair\\nI see the tide\\nAnd smell the air")[-3:].round(2).tolist()
    [0.0, 1.0, 0.0]
    """
    stanzas = [[line for line in stanza.split("\n") if line.strip()] for stanza in _STANZA.split(text)]
    sizes = np.array([len(stanza) for stanza in stanzas if stanza], dtype=np.float64)
    lines = [line.strip() for stanza in stanzas for line in stanza]
    if not lines:
        return np.zeros(FORM)
    lengths = np.array([len(line) for line in lines], dtype=np.float64)
    last = [_LAST.search(line[-40:]) for line in lines]
    ends = ["" if found is None else found[1][-_ALIKE:].casefold() for found in last]
    alike = [[one == other and one != "" for one, other in zip(ends, ends[k:], strict=False)] for k in (1, 2, 3)]
    rhymes = [sum(pairs) / max(1, len(pairs)) for pairs in alike]
    shape = [lengths.mean(), 1 + lengths.std(), sizes.mean(), 1 + sizes.std(), len(sizes)]
    return np.array([*np.log([1 + len(text), len(lines), *shape]), *rhymes])


# Verse: short lines of plain words, by which a model of its own is chosen.

_SHORT, _LINE = 45, 60  # characters of a mean line of verse; and of one whose lines begin with capitals
_PLAIN = frozenset(" \t\n.,;:!?'\"-()*—–’‘“”„«»…¡¿[]")  # what stands in verse beside letters; code has more
_WORDY = 0.97  # share of such characters
_MOSTLY = 0.6  # share of texts in verse, from which on all are taken for it


def is_verse(text: str) -> bool:
    """Whether a text is in verse: short lines of words, most of which begin with a capital unless they are very short.

    >>> is_verse("The sea is wide\\nThe day is fair\\nI see the tide\\nAnd smell the air"), is_verse("The sea. " * 40)
    (True, False)
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 4 or sum(len(line) > 2 * _LINE for line in lines) > len(lines) / 10:
        return False
    ended = sum(line.rstrip("”’»\"'")[-1:] in tuple(".!?") for line in lines) / len(lines)
    if ended > _MOSTLY and len(_STANZA.split(text.strip())) > _MOSTLY * len(lines):
        return False  # paragraphs of a sentence, as people talk
    mean = sum(map(len, lines)) / len(lines)
    capitals = sum(line.lstrip("“„«\"'—–- ")[:1].isupper() for line in lines) / len(lines)
    wordy = sum(c.isalpha() or c in _PLAIN for c in text) / len(text)
    return wordy >= _WORDY and (mean <= _SHORT or (mean <= _LINE and capitals >= 0.5))


def choose_model(collection: Collection) -> tuple[str, str]:
    """The model for verse in place of the one for all texts, and why, in words; two times "" where they are none."""
    verse = np.mean([is_verse(passages.text_of(item)) for item in collection.items]) >= _MOSTLY
    why = "this looks like verse: the model poems knows what goes beside what, no more"
    return ("poems", why) if verse else ("", "")
