"""What is known of some languages: their commonest words, and those that tell who speaks of whom."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields

from fabula.core.files import read_data

_LOOKED_AT = 2000  # words from which a language is told
_ENOUGH = 0.12  # share of common words below which no language is believed


@dataclass(frozen=True)
class Language:
    """Words of a language, in small letters; those behind determiners may not be known well enough to tell: none."""

    common: frozenset[str] = frozenset()  # what stands in every text and in few other languages
    first: frozenset[str] = frozenset()  # of those who speak
    second: frozenset[str] = frozenset()  # of those who are spoken to
    indefinite: frozenset[str] = frozenset()  # articles of what is new
    determiners: frozenset[str] = frozenset()  # before what is known: definite articles, this and that, my and your
    times: frozenset[str] = frozenset()  # of days, hours, years, and of before and after
    past: frozenset[str] = frozenset()  # common verbs
    present: frozenset[str] = frozenset()  # the same
    # Prepositions before names that are mostly of places; none where all nouns have capitals.
    places: frozenset[str] = frozenset()
    # Where they have: what stands before nouns, what before names of people, and words in capitals that are neither.
    before_nouns: frozenset[str] = frozenset()
    before_people: frozenset[str] = frozenset()
    nobody: frozenset[str] = frozenset()


def _read_languages() -> dict[str, Language]:
    told = read_data("fabula.media.text", "languages.json")
    names = [field.name for field in fields(Language)]
    return {key: Language(*(frozenset(said.get(name, "").split()) for name in names)) for key, said in told.items()}


LANGUAGES: Mapping[str, Language] = _read_languages()  # those of Norwegian are those of Danish, too

# What stands after a preposition of place in capitals and is a time.
_TIMES = "January February March April May June July August September October November December Christmas Easter"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
TIMES = frozenset(f"{_TIMES} {_DAYS}".split())


def language_of(words: list[str]) -> str:
    """The language of a text by its commonest words, in small letters; empty where none is known well enough.

    >>> language_of("it was the best of times and the worst of times".split()), language_of(["我"])
    ('en', '')
    """
    return language_by(Counter(words[:_LOOKED_AT]))


def language_by(counts: Counter[str]) -> str:
    """The language of a text by how often its words stand in it, in small letters; empty where none is known."""
    total = max(1, counts.total())
    shares = {name: sum(map(counts.__getitem__, known.common)) / total for name, known in LANGUAGES.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _ENOUGH else ""


# Words, sentences and paragraphs of a text in any script; where words stand without spaces, characters count.

_JOINED = r"\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
_ALONE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACELESS = re.compile(f"[{_ALONE}]")
_RUN = rf"(?:(?![{_ALONE}])[^\W\d_]|[{_JOINED}])"
_WORD = re.compile(rf"{_RUN}+(?:['’\-]{_RUN}+)*|(?![\u0e2f-\u0e5f])[{_ALONE}]")
_PLAIN = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")  # as good where no script needs more, and quicker
_MARKED = re.compile(f"[{_JOINED}{_ALONE}]")
_END = re.compile(  # what may end a sentence first, then what makes it an end: quick to pass over all else
    r"[.!?…。！？؟।\n](?:(?<=[.!?…])[.!?…]*[\"'”’»)\]]*(?:\s+|$)|(?<=[。！？؟।])[。！？؟।]*[」』”]?\s*|(?<=\n)\s*\n)"
)
_BEFORE = 16  # letters of the word before a name that are looked at
_PARAGRAPH = re.compile(r"\n\s*\n")
_UPPER = "".join(c for c in map(chr, range(0x2000)) if unicodedata.category(c) in ("Lu", "Lt"))
_NAME = re.compile(rf"[{_UPPER}](?:(?<=[^\W\d_] .)|(?<=[^\W\d_], .))[^\W\d_]+")  # capital first: few positions have one


def words_of(text: str) -> list[str]:
    """The words of a text; characters in scripts that set no spaces, as Chinese, Japanese and Thai.

    >>> words_of("Don't stop: 20 well-kept gardens."), words_of("我是谁")
    (["Don't", 'stop', 'well-kept', 'gardens'], ['我', '是', '谁'])
    """
    return (_WORD if _MARKED.search(text) else _PLAIN).findall(text)


def starts_of(text: str) -> list[int]:
    """Where each of the words of a text begins."""
    return [word.start() for word in (_WORD if _MARKED.search(text) else _PLAIN).finditer(text)]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, as its marks and empty lines part them.

    >>> sentences_of("It rained. Did it? 下雨了。走吧。")
    ['It rained. ', 'Did it? ', '下雨了。', '走吧。']
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            found.append(text[start : end.end()])
        start = end.end()
    return [*found, text[start:]] if text[start:].strip() else found


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a text: what empty lines part; its lines, where there are no empty ones."""
    parts = _PARAGRAPH.split(text)
    if len(parts) == 1:
        parts = text.split("\n")
    return [part.strip() for part in parts if part.strip()]


def names_after(text: str) -> list[tuple[str, str]]:
    """Capitalised words inside sentences: names, and in some languages nouns.

    Each after the word before it in small letters, "" where a comma parts them.

    >>> names_after("He lived in Rome with Ann, Tom said.")
    [('in', 'Rome'), ('with', 'Ann'), ('', 'Tom')]
    """
    line = text.replace("\n", " ")
    found = []
    for name in _NAME.finditer(line):
        start = name.start() - 1
        before = line[max(0, start - _BEFORE) : start].rpartition(" ")[2]
        found.append(("" if before.endswith(",") else before.casefold(), name[0]))
    return found


def without_spaces(text: str) -> bool:
    """Whether a text is mostly of a script that sets no spaces between words."""
    start = text[:4000]
    return 2 * len(_SPACELESS.findall(start)) > sum(map(str.isalnum, start))
