"""Words, sentences and paragraphs of a text in any script; where words stand without spaces, characters count."""

from __future__ import annotations

import re
import sys
import unicodedata

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
_UPPER = "".join(c for c in map(chr, range(sys.maxunicode)) if unicodedata.category(c) in ("Lu", "Lt") and c < "\u2000")
_NAME = re.compile(rf"[{_UPPER}](?:(?<=[^\W\d_] .)|(?<=[^\W\d_], .))[^\W\d_]+")  # capital first: few positions have one


def words_of(text: str) -> list[str]:
    """The words of a text; characters in scripts that set no spaces, as Chinese, Japanese and Thai.

    Examples
    --------
    >>> words_of("Don't stop: 20 well-kept gardens."), words_of("我是谁")
    (["Don't", 'stop', 'well-kept', 'gardens'], ['我', '是', '谁'])
    """
    return (_WORD if _MARKED.search(text) else _PLAIN).findall(text)


def starts_of(text: str) -> list[int]:
    """Where each of the words of a text begins.

    Examples
    --------
    >>> starts_of("So it is.")
    [0, 3, 6]
    """
    return [word.start() for word in (_WORD if _MARKED.search(text) else _PLAIN).finditer(text)]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, as its marks and empty lines part them.

    Examples
    --------
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
    """The paragraphs of a text: what empty lines part; its lines, where there are no empty ones.

    Examples
    --------
    >>> paragraphs_of("One.\\n\\nTwo,\\nstill two.")
    ['One.', 'Two,\\nstill two.']
    """
    parts = _PARAGRAPH.split(text)
    if len(parts) == 1:
        parts = text.split("\n")
    return [part.strip() for part in parts if part.strip()]


def names_of(text: str) -> list[str]:
    """Capitalised words inside sentences: names, and in some languages nouns.

    Examples
    --------
    >>> names_of("Then Mary saw him. Perhaps old Tom, Ann and John Bull knew.")
    ['Mary', 'Tom', 'Ann', 'John', 'Bull']
    """
    return _NAME.findall(text.replace("\n", " "))


def named_after(text: str) -> list[tuple[str, str]]:
    """Every name as :func:`names_of` has it, after the word before it in small letters, "" where a comma parts them.

    Examples
    --------
    >>> named_after("He lived in Rome with Ann, Tom said.")
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
