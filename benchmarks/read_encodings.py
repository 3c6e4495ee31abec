"""How many passages of old encodings are read right: ``python -m benchmarks.read_encodings FOLDER``.

The folder holds texts in UTF-8 called by their language: ``ru.txt``, ``uk.txt``, ``ja.txt``, ``zh.txt``, ``zh-tw.txt``,
``ko.txt``, ``cs.txt``, ``pl.txt``, ``hu.txt``, ``tr.txt`` and their like, and any others, which are taken to be Western
European. Passages are drawn at random, put into each encoding of the language, and read again; printed is the share
that comes back as it was, for each length in characters.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from fabula.core.files import guess_encoding

ENCODINGS = {
    "ru": ("koi8-r", "cp1251", "cp866", "iso8859-5"),
    "uk": ("koi8-u", "cp1251"),
    "ja": ("cp932", "euc-jp"),
    "zh": ("gb18030",),
    "zh-tw": ("big5",),
    "ko": ("euc-kr",),
    **dict.fromkeys(("cs", "sk", "pl", "hu", "ro", "hr", "sl"), ("cp1250", "iso8859-2")),
    "tr": ("cp1254",),
}
LENGTHS = (60, 200, 1000, 5000)
DRAWS = 200


def share_of(text: str, encoding: str, length: int, rng: random.Random) -> float:
    """The share of passages that are read as they were, of those that are no UTF-8 in that encoding."""
    right = tried = 0
    for _ in range(DRAWS):
        start = rng.randrange(max(1, len(text) - length))
        data = text[start : start + length].strip().encode(encoding, "ignore")
        if data.isascii():
            continue
        tried += 1
        right += data.decode(guess_encoding(data), "replace") == data.decode(encoding)
    return right / max(1, tried)


def main(folder: str) -> None:
    """Print a row for each language and encoding."""
    print("language  encoding  ", "  ".join(f"{length:>5}" for length in LENGTHS))
    for file in sorted(Path(folder).glob("*.txt")):
        text = file.read_text(encoding="utf-8")
        for encoding in ENCODINGS.get(file.stem, ("cp1252",)):
            shares = [share_of(text, encoding, length, random.Random(length)) for length in LENGTHS]
            print(f"{file.stem:<9} {encoding:<10} ", "  ".join(f"{100 * share:4.0f}%" for share in shares))


if __name__ == "__main__":
    main(sys.argv[1])
