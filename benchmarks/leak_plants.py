"""Eighty-one leaks planted in made albums of real structure, which are caught, and whether healthy albums are accused.

python -m benchmarks.leak_plants                   # the plants and 200 healthy sets, minutes on one core
python -m benchmarks.leak_plants DATA --healthy 20 # and the real tables of a folder: train and validation
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.planted import MORE_PLANTS, PLANTS, WORDS, Plant, Sides, healthy, with_column, with_titles
from fabula.core.collection import Collection, Item
from fabula.evaluation.leaks import find_leaks
from fabula.research.splits import overlap
from fabula.sources.tables.read_table import read_table

NAMES = ("duration_ms", "loudness", "energy", "valence", "tempo", "instrumentalness")
Generator = np.random.Generator
REAL = ("albums.parquet", "albums-more.parquet", "features-more.parquet", "features-more2.parquet", "titles.parquet",
        "titles-more.parquet", "setlists.parquet", "images/features.parquet",
        "text/speeches.parquet", "text/poems.parquet", "text/novels.parquet")  # fmt: skip


def albums(rng: Generator, count: int | None = None) -> Sides:
    """Albums with honest signals: an arc of energy, neighbours alike, intros, outros, encores, concerts, parts."""
    many = count or int(rng.integers(40, 200))
    slope, alike, intros = rng.normal(0, 0.2), rng.uniform(0, 0.65), rng.uniform(0, 0.25)
    live = rng.random() < 0.3  # a set of concerts
    made = []
    for number in range(many):
        n = int(rng.integers(6, 17))
        energy = _serial(n, alike, rng) + slope * np.linspace(-1.7, 1.7, n) + rng.normal(0, 0.5)
        opens, closes = rng.random() < intros, rng.random() < intros
        length = np.exp(rng.normal(12.3, 0.25, n))
        length[0] *= 0.4 if opens else 1.0
        length[-1] *= 1.3 if closes else 1.0
        values = [
            np.round(length),
            np.round(-8 + 2 * energy + rng.normal(0, 1, n), 3),
            np.round(1 / (1 + np.exp(-energy)), 3),
            np.round(rng.beta(2, 2, n), 3),
            np.round(_serial(n, alike / 2, rng) * 25 + 120, 3),
            np.where(rng.random(n) < 0.6, 0.0, np.round(rng.beta(0.5, 2, n), 5)),
        ]
        titles = [_title(rng) for _ in range(n)]
        titles[0] = "Intro" if opens else titles[0]
        titles[-1] = str(rng.choice(["Outro", "Epilogue", f"{titles[-1]} (Reprise)"])) if closes else titles[-1]
        if live:
            titles = [f"{title} - Live" for title in titles]
            titles[-2] = f"Encore: {titles[-2]}" if rng.random() < intros else titles[-2]
        elif rng.random() < 0.06:  # a work in parts, somewhere on it
            at = int(rng.integers(0, n - 3))
            titles[at : at + 3] = [f"{titles[at]}, Pt. {part}" for part in (1, 2, 3)]
        artist = f"{rng.choice(WORDS)} {number // 2}"
        items = [Item(f"{number}-{j}", title, artist=artist) for j, title in enumerate(titles)]
        made.append(Collection(str(number), items, np.stack(values, axis=1), NAMES))
    cut = 2 * max(1, many // 20)
    return made[cut:], made[:cut]


def _serial(n: int, alike: float, rng: Generator) -> np.ndarray:
    """Values (n,) of which each keeps a share of the one before."""
    steps = rng.normal(size=n) * np.sqrt(1 - alike**2)
    return np.array(list(accumulate(steps[1:], lambda a, b: alike * a + b, initial=float(rng.normal()))))


def _title(rng: Generator) -> str:
    words = " ".join(rng.choice(WORDS, size=int(rng.integers(1, 4))))
    words = f"{words} (feat. {rng.choice(WORDS)})" if rng.random() < 0.08 else words
    return f"{words} {int(rng.integers(1, 99))}" if rng.random() < 0.03 else words.title()


def _column(make: Callable[[np.ndarray, int, Generator], np.ndarray], name: str = "") -> Plant:
    """A column more, or some, of the energy of a collection, (n,), and how many items it has."""
    plant = with_column(lambda c, rng: make(c.column("energy"), len(c), rng))
    if not name:
        return plant

    def call(sides: Sides, rng: Generator) -> Sides:
        return tuple(  # type: ignore[return-value]
            [replace(c, feature_names=(*c.feature_names[:-1], name)) for c in side] for side in plant(sides, rng)
        )

    return call


def _length_column(make: Callable[[np.ndarray, Generator], np.ndarray]) -> Plant:
    return with_column(lambda c, rng: make(c.column("duration_ms"), rng))


def _words(words: Sequence[str], how: str = "{title} ({word})") -> Plant:
    """A word of its own for each position in every title."""
    return with_titles(
        lambda j, item: replace(item, title=how.format(title=item.title, word=words[j % len(words)], j=j + 1))
    )


def _halves(first: str, second: str) -> Plant:
    def mark(c: Collection) -> Collection:
        half = (len(c) + 1) // 2
        items = [replace(x, title=f"{x.title} ({first if j < half else second})") for j, x in enumerate(c.items)]
        return replace(c, items=tuple(items))

    return lambda sides, rng: tuple([mark(c) for c in side] for side in sides)  # type: ignore[return-value]


def _phase(n: int, rng: Generator, turns: float, columns: int = 2) -> np.ndarray:
    """A clock that begins anywhere, as columns (n, columns) that follow each other."""
    angle = 2 * np.pi * (turns * np.arange(n) + rng.random())
    return np.stack([np.sin(angle + 2 * np.pi * k / (4 if columns == 2 else columns)) for k in range(columns)], axis=1)


def _lag(x: np.ndarray, rng: Generator, noise: float, by: int = 1) -> np.ndarray:
    """The value of the item before (or after), none for the first, with noise of so many deviations."""
    moved = np.full(len(x), np.nan)
    moved[by:] = x[:-by] if by > 0 else moved[by:]
    if by < 0:
        moved[:by] = x[-by:]
    return np.where(np.isnan(moved), rng.choice(x, len(x)), moved) + noise * x.std() * rng.normal(size=len(x))


def _rolling(x: np.ndarray, size: int) -> np.ndarray:
    return np.array([x[max(0, j - size // 2) : j + size // 2 + 1].mean() for j in range(len(x))])


def _expanding(x: np.ndarray) -> np.ndarray:
    return np.cumsum(x) / np.arange(1, len(x) + 1)


def _singles(n: int, rng: Generator) -> np.ndarray:
    """Days of release: three singles from the front of the album came before it."""
    days = np.full(n, float(rng.integers(14000, 19000)))
    at = np.sort(rng.choice(n, size=3, replace=False, p=0.55 ** np.arange(n) / (0.55 ** np.arange(n)).sum()))
    days[at] -= np.array([120.0, 60.0, 20.0])
    return days


def _invisible(j: int, item: Item) -> Item:
    code = "".join("\u200b\u200c"[int(bit)] for bit in f"{j + 1:05b}")
    return replace(item, title=f"{item.title}{code}")


def _homoglyphs(j: int, item: Item) -> Item:
    return replace(item, title=item.title + "".join("aа"[int(bit)] for bit in f"{j:04b}"))


def _so_far(x: np.ndarray) -> np.ndarray:
    """How many of the items before have less."""
    return np.array([float((x[:j] < x[j]).sum()) for j in range(len(x))])


def _repeat_training(sides: Sides, rng: Generator) -> Sides:
    """What is held out is trained on: remastered, spelt otherwise, energy a little moved, some less their last."""
    out = []
    for number, c in enumerate(sides[0][: 3 * len(sides[1])]):
        artist = f"The {c.items[0].artist.upper().replace(' ', '-')}"
        items = [replace(x, id=f"r{x.id}", title=f"{x.title} (Remastered 2011)", artist=artist) for x in c.items]
        moved = c.features + np.where(np.array(c.feature_names) == "energy", 0.003, 0.0)
        less = len(c) - number % 2
        out.append(Collection(f"r{c.id}", items[:less], moved[:less], c.feature_names))
    return sides[0], out


def _less_last(sides: Sides, rng: Generator) -> Sides:
    """What is held out is trained on, less its last item; no titles."""
    bare = [replace(c, items=tuple(replace(x, title="", artist="") for x in c.items)) for c in sides[0]]
    return bare, [
        replace(Collection(c.id, c.items[:-1], c.features[:-1], c.feature_names), id=f"x{c.id}")
        for c in bare[: len(sides[1])]
    ]


ORDINALS = ("ensimmäinen", "toinen", "kolmas", "neljäs", "viides", "kuudes", "seitsemäs", "kahdeksas", "yhdeksäs",
            "kymmenes", "yhdestoista", "kahdestoista", "kolmastoista", "neljästoista", "viidestoista",
            "kuudestoista")  # fmt: skip
GERMAN = ("Erstens", "Zweitens", "Drittens", "Viertens", "Fünftens", "Sechstens", "Siebtens", "Achtens", "Neuntens",
          "Zehntens", "Elftens", "Zwölftens")  # fmt: skip
CARDINALS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
             "Thirteen", "Fourteen", "Fifteen", "Sixteen")  # fmt: skip
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
CODES = ("x7f", "q2k", "b9d", "m4z", "t1v", "w8c", "h3n", "k6p", "r5s", "d0g", "y7j", "l2f", "e9u", "a4o", "z1i", "p8b")
TABLE = np.array([7.0, 2, 11, 5, 0, 14, 9, 3, 12, 1, 8, 15, 4, 10, 6, 13])

NAMED: dict[str, Plant] = {
    "clock as sine and cosine of random phase": _column(lambda x, n, rng: _phase(n, rng, 1 / 16)),
    "expanding mean": _column(lambda x, n, rng: _expanding(x)),
    "noisy lag": _column(lambda x, n, rng: _lag(x, rng, 0.4)),
    "rolling mean of 3": _column(lambda x, n, rng: _rolling(x, 3)),
    "noisy rank": _column(lambda x, n, rng: np.arange(n) + rng.normal(0, 2.4, n)),
    "variance that grows": _column(lambda x, n, rng: rng.normal(size=n) * (1 + np.arange(n))),
    "start time modulo, and length": _length_column(lambda x, rng: (np.cumsum(x) - x + rng.integers(9e5)) % 6e4),
    "a single's release date": _column(lambda x, n, rng: _singles(n, rng), "release_day"),
    "popularity": _column(lambda x, n, rng: np.round(60 - 2.2 * np.arange(n) + rng.normal(0, 11, n)), "popularity"),
    "(Side A) and (Side B)": _halves("Side A", "Side B"),
    "Finnish ordinals": _words(ORDINALS, "{title} ({word})"),
    "(Three)": _words(CARDINALS),
    "zero-width characters": with_titles(_invisible),
}
FAMILIES: dict[str, Plant] = {
    **PLANTS,
    **MORE_PLANTS,
    "shifted and scaled per collection": _column(
        lambda x, n, rng: rng.normal() * 9 + rng.uniform(0.5, 2) * np.arange(n)
    ),
    "time that is left": _length_column(lambda x, rng: x.sum() - np.cumsum(x)),
    "the difference to the item before": _column(lambda x, n, rng: x - _lag(x, rng, 0.0)),
    "noisy value of the next": _column(lambda x, n, rng: _lag(x, rng, 0.4, -1)),
    "first half or second": _column(lambda x, n, rng: (np.arange(n) >= n / 2).astype(float)),
    "a table of codes": _column(lambda x, n, rng: TABLE[:n]),
    "running maximum": _column(lambda x, n, rng: np.maximum.accumulate(x)),
    "two columns whose product tells": _column(
        lambda x, n, rng: np.stack([noise := np.exp(rng.normal(size=n)), (np.arange(n) + 1) / noise], axis=1)
    ),
    "a modulo start that holds its length": _length_column(
        lambda x, rng: (np.cumsum(x) - x + rng.integers(9e5)) % 6e4 + x
    ),
    "two noisy ranks": _column(lambda x, n, rng: np.arange(n)[:, None] + rng.normal(0, 3.5, (n, 2))),
    "roman numerals": _words(ROMAN, "{word}. {title}"),
    "part one, part two": _words(CARDINALS, "{title}, part {word}"),
    "rank with swaps": _column(lambda x, n, rng: np.argsort(np.argsort(np.arange(n) + rng.normal(0, 1.5, n))) * 1.0),
}
OWN: dict[str, Plant] = {
    "exponential average": _column(lambda x, n, rng: np.array(list(accumulate(x, lambda a, b: 0.6 * a + 0.4 * b)))),
    "ratio to the item before": _column(lambda x, n, rng: x / _lag(x, rng, 0.0)),
    "how many before have less": _column(lambda x, n, rng: _so_far(x)),
    "clock of random speed": _column(lambda x, n, rng: _phase(n, rng, rng.uniform(0.04, 0.12))),
    "clock of three hands": _column(lambda x, n, rng: _phase(n, rng, 1 / 12, 3) + rng.normal(0, 0.1, (n, 3))),
    "start modulo a minute in seconds": _length_column(lambda x, rng: np.round((np.cumsum(x) - x) / 1000 % 60, 3)),
    "variance that shrinks": _column(lambda x, n, rng: rng.normal(size=n) * (n - np.arange(n))),
    "mean of both neighbours": _column(lambda x, n, rng: (_lag(x, rng, 0) + _lag(x, rng, 0, -1)) / 2),
    "value of two before": _column(lambda x, n, rng: _lag(x, rng, 0.1, 2)),
    "loud ones so far": _column(lambda x, n, rng: np.cumsum(x > np.median(x)) + rng.normal(0, 0.5, n)),
    "plays": _column(lambda x, n, rng: np.round(1e6 * 0.93 ** np.arange(n) * np.exp(rng.normal(0, 0.5, n))), "plays"),
    "the item before, bent": _column(lambda x, n, rng: np.exp(4 * _lag(x, rng, 0.2))),
    "act with errors": _column(
        lambda x, n, rng: np.where(rng.random(n) < 0.15, rng.integers(0, 3, n), 3 * np.arange(n) // n).astype(float)
    ),
    "titles that grow": with_titles(lambda j, item: replace(item, title=item.title[:4] + "o" * j)),
    "homoglyphs": with_titles(_homoglyphs),
    "German ordinals before": _words(GERMAN, "{word}: {title}"),
    "months": _words(MONTHS, "{title} in {word}"),
    "secret codes": _words(CODES, "{title} [{word}]"),
    "the training set again, remastered": _repeat_training,
    "training albums less their last": _less_last,
}


def _capitals(*, bits: bool) -> Plant:
    """Positions in how titles are written: as many capitals, or capitals as the digits of a binary number."""

    def write(j: int, item: Item) -> Item:
        letters = item.title.lower().ljust(6, "o")
        large = [j >> k & 1 for k in range(len(letters))] if bits else [k <= j for k in range(len(letters))]
        return replace(item, title="".join(c.upper() if up else c for c, up in zip(letters, large, strict=True)))

    return with_titles(write)


def _turns_missing(x: np.ndarray, rng: Generator) -> np.ndarray:
    """Two columns of noise, of which the one or the other is missing in turn."""
    noise = rng.normal(size=(len(x), 2))
    noise[np.arange(len(x)), np.arange(len(x)) % 2] = np.nan
    return noise


def _coded(n: int) -> np.ndarray:
    """A code of the position that is another for every length."""
    return np.random.default_rng(n).permutation(n).astype(float)


FACES = "🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛"
CHINESE = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二", "十三", "十四", "十五", "十六")
# Written when the guard was settled, and run against it once as it stood: what it does not know it misses.
UNSEEN: dict[str, Plant] = {
    "every other item": _column(lambda x, n, rng: np.arange(n) % 2 * 1.0),
    "distance from the middle": _column(lambda x, n, rng: np.abs(np.arange(n) - (n - 1) / 2)),
    "the square of the position modulo 7": _column(lambda x, n, rng: np.arange(n) ** 2 % 7 * 1.0),
    "noisy value of two after": _column(lambda x, n, rng: _lag(x, rng, 0.3, -2)),
    "running minimum": _column(lambda x, n, rng: np.minimum.accumulate(x)),
    "a random walk": _column(lambda x, n, rng: np.cumsum(rng.normal(size=n))),
    "how many after have less": _column(lambda x, n, rng: _so_far(x[::-1])[::-1]),
    "mean of all after": _column(lambda x, n, rng: _expanding(x[::-1])[::-1]),
    "exponential average from the end": _column(
        lambda x, n, rng: np.array(list(accumulate(x[::-1], lambda a, b: 0.6 * a + 0.4 * b)))[::-1]
    ),
    "a sign that turns with another's at the half": _column(
        lambda x, n, rng: np.stack([s := rng.normal(size=n), np.abs(rng.normal(size=n)) * np.sign(s)
                                    * np.where(np.arange(n) < n / 2, 1, -1)], axis=1)
    ),
    "weekday from a random start": _column(lambda x, n, rng: (np.arange(n) + rng.integers(7)) % 7 * 1.0),
    "missing in turn": _column(lambda x, n, rng: _turns_missing(x, rng)),
    "the fifth decimal": _column(lambda x, n, rng: np.round(rng.normal(size=n), 4) + (np.arange(n) % 10) * 1e-5),
    "uploaded, minutes of the day": _column(lambda x, n, rng: 600 + 7 * np.arange(n) + rng.integers(5, size=n)),
    "offset in a file": _length_column(lambda x, rng: (np.cumsum(x) - x + rng.integers(9e5)) % 4096),
    "another code for every length": _column(lambda x, n, rng: _coded(n)),
    "faces of a clock": _words(FACES, "{title} {word}"),
    "Chinese numerals": _words(CHINESE, "{title} {word}"),
    "as many capitals": _capitals(bits=False),
    "capitals as binary digits": _capitals(bits=True),
}  # fmt: skip
ALL: dict[str, Plant] = {**NAMED, **FAMILIES, **OWN, **UNSEEN}


def accusations(sides: Sides) -> list[str]:
    """What is said of a set: of its data, and of what both sides share."""
    return [*map(str, find_leaks(sides[0])), *overlap(*sides)]


def tell_real(folder: Path) -> None:
    """What is said of each real table of a folder."""
    for name in REAL:
        if not (folder / name).is_file():
            continue
        columns = [column for column in pq.read_schema(folder / name).names if column != "text"]
        known = [c for c in read_table(pq.read_table(folder / name, columns=columns)) if len(c) > 2]
        print(f"{name}: {len(known):,} collections: {'; '.join(map(str, find_leaks(known))) or 'nothing'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, help="a folder of real tables")
    parser.add_argument("--healthy", type=int, default=200, help="healthy sets")
    parser.add_argument("--sets", type=int, default=1, help="sets of albums for each leak")
    chosen = parser.parse_args()
    caught: dict[str, bool] = {}
    for number, (name, plant) in enumerate(ALL.items()):
        told = []
        for each in range(chosen.sets):
            rng = np.random.default_rng((31, number, each))
            sides = albums(rng, 120)
            before = set(accusations(sides))
            told.append([line for line in accusations(plant(sides, rng)) if line not in before])
        caught[name] = sum(map(bool, told)) * 2 > chosen.sets
        found = next(filter(None, told), ["MISSED"])[0]
        print(f"| {name} | {sum(map(bool, told))} of {chosen.sets} | {found} |", flush=True)
    for kind, plants in (("asked for", NAMED | FAMILIES), ("own", OWN), ("unseen", UNSEEN), ("all", ALL)):
        print(f"caught, {kind}: {sum(caught[name] for name in plants)} of {len(plants)}", flush=True)
    made = (
        maker(np.random.default_rng((7, seed))) for seed in range(chosen.healthy // 2) for maker in (albums, healthy)
    )
    false = [found for sides in made if (found := accusations(sides))]
    print(f"healthy sets accused: {len(false)} of {chosen.healthy}", *false, sep="\n  ", flush=True)
    if chosen.data is not None:
        tell_real(chosen.data)


if __name__ == "__main__":
    main()
