"""Synthetic collections: healthy ones of many kinds, and the same with one leak planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabula.core.collection import Collection, Item

WORDS = (
    "river", "stone", "light", "winter", "again", "home", "fire", "blue", "night", "road", "dance", "last", "first",
    "summer", "rain", "heart", "gold", "street", "moon", "silver", "open", "letter", "window", "dream", "ocean",
)  # fmt: skip
Sides = tuple[list[Collection], list[Collection]]  # to train on, held out
Generator = np.random.Generator


def healthy(rng: Generator, count: int | None = None) -> Sides:
    """A set of collections as they come: trends, runs of likes, gaps, whole numbers, heavy tails, rounded values.

    No column tells more of the order than real ones do; a tenth of the collections is held out, by other artists.
    """
    many = count or int(rng.integers(30, 200))
    shortest, longest = (3, 8) if rng.random() < 0.3 else (5, 20)
    kinds = [str(kind) for kind in rng.choice(sorted(_KINDS), size=int(rng.integers(2, 9)))]
    names = [f"{kind} {number}" for number, kind in enumerate(kinds)]
    settings = [
        (float(rng.normal(0, 0.3)), int(rng.integers(1, 5)), float(rng.choice([0, 0, 0.05, 0.3]))) for _ in kinds
    ]
    made = []
    for number in range(many):
        n = int(rng.integers(shortest, longest + 1))
        columns = [_column(kind, n, rng, *how) for kind, how in zip(kinds, settings, strict=True)]
        artist = f"artist {number // 2}"
        items = [Item(f"{number}-{j}", _title(rng, j, n), artist=artist) for j in range(n)]
        made.append(Collection(str(number), items, np.stack(columns, axis=1), names))
    cut = 2 * max(1, many // 20)
    return made[cut:], made[:cut]


def _column(kind: str, n: int, rng: Generator, slope: float, digits: int, missing: float) -> np.ndarray:
    values = _KINDS[kind](n, rng)
    trend = slope * values.std() * np.linspace(-1, 1, n) * (kind not in _WHOLE)
    values = np.round(values + trend, digits)
    values[rng.random(n) < missing] = np.nan
    return values


def _smooth(n: int, rng: Generator) -> np.ndarray:
    """Neighbours are alike."""
    steps = rng.normal(size=n)
    for j in range(1, n):
        steps[j] += 0.6 * steps[j - 1]
    return steps


def _blocks(n: int, rng: Generator) -> np.ndarray:
    """Two kinds of items, side by side."""
    cut = int(rng.integers(0, n + 1))
    return np.where(np.arange(n) < cut, *(rng.permutation([0.0, 1.0])))


def _ends(n: int, rng: Generator) -> np.ndarray:
    """Openers and closes that differ, as real ones do."""
    values = rng.normal(size=n)
    values[0] += 0.8
    values[-1] -= 0.8
    return values


_KINDS: dict[str, Callable[[int, Generator], np.ndarray]] = {
    "plain": lambda n, rng: rng.normal(size=n),
    "tailed": lambda n, rng: np.exp(rng.normal(12, 0.8, size=n)),
    "whole": lambda n, rng: rng.integers(0, 12, n).astype(float),
    "yes": lambda n, rng: rng.integers(0, 2, n).astype(float),
    "smooth": _smooth,
    "blocks": _blocks,
    "ends": _ends,
    "share": lambda n, rng: rng.beta(0.5, 2, size=n),
}
_WHOLE = ("whole", "yes", "blocks")


def _title(rng: Generator, j: int, n: int) -> str:
    words = " ".join(rng.choice(WORDS, size=int(rng.integers(1, 4))))
    if j == 0 and rng.random() < 0.1:
        return "Intro"
    return f"{words} {int(rng.integers(1, 99))}" if rng.random() < 0.05 else words


Plant = Callable[[Sides, Generator], Sides]


def with_column(make: Callable[[Collection, Generator], np.ndarray]) -> Plant:
    """A column more, in all collections."""

    def plant(sides: Sides, rng: Generator) -> Sides:
        return tuple([_more(c, make(c, rng)) for c in side] for side in sides)  # type: ignore[return-value]

    return plant


def _more(c: Collection, column: np.ndarray) -> Collection:
    values = np.concatenate([c.features, column.reshape(len(c), -1)], axis=1)
    names = [*c.feature_names, *(f"planted {j}" for j in range(values.shape[1] - len(c.feature_names)))]
    return Collection(c.id, c.items, values, names, title=c.title)


def with_titles(make: Callable[[int, Item], Item]) -> Plant:
    """Items called otherwise, in all collections."""

    def plant(sides: Sides, rng: Generator) -> Sides:
        return tuple(  # type: ignore[return-value]
            [replace(c, items=tuple(make(j, item) for j, item in enumerate(c.items))) for c in side] for side in sides
        )

    return plant


def _cumulative(c: Collection, rng: Generator) -> np.ndarray:
    times = np.cumsum(rng.uniform(120, 300, len(c)))
    times[rng.integers(len(c))] = np.nan
    return times


def _gaps(c: Collection, rng: Generator) -> np.ndarray:
    return np.where(np.arange(len(c)) < len(c) // 3 + 1, np.nan, rng.normal(size=len(c)))


def _rounded(c: Collection, rng: Generator) -> np.ndarray:
    first = np.arange(len(c)) < len(c) / 2
    values = rng.normal(size=len(c))
    return np.where(first, np.round(values, 2), np.round(values, 4))


def _sum(c: Collection, rng: Generator) -> np.ndarray:
    noise = rng.normal(0, 20, len(c))
    return np.stack([noise, np.arange(len(c)) - noise], axis=1)


def _next_value(c: Collection, rng: Generator) -> np.ndarray:
    values = rng.normal(size=len(c) + 1)
    return np.stack([values[:-1], values[1:]], axis=1)


def _running(c: Collection, rng: Generator) -> np.ndarray:
    values = rng.normal(size=len(c))
    return np.stack([values, np.cumsum(values)], axis=1)


def _sorted_by_title(sides: Sides, rng: Generator) -> Sides:
    """One collection in four in alphabetical order."""

    def told(c: Collection) -> Collection:
        if rng.random() > 0.25:
            return c
        return c.reordered(sorted(range(len(c)), key=lambda i: c.items[i].title), ordered=True)

    return tuple([told(c) for c in side] for side in sides)  # type: ignore[return-value]


def _duplicates(sides: Sides, rng: Generator) -> Sides:
    """A fifth of what is held out is trained on, under other ids and with the rows in another order."""
    training, held_out = sides
    again = [c.reordered(rng.permutation(len(c)), ordered=True) for c in held_out[: max(1, len(held_out) // 5)]]
    return [*training, *(replace(c, id=f"copy of {c.id}") for c in again)], held_out


def _artists(sides: Sides, rng: Generator) -> Sides:
    """Half of what is held out is by artists who are trained on."""
    known = [c.items[0].artist for c in sides[0]]
    out = []
    for c in sides[1]:
        artist = str(rng.choice(known)) if rng.random() < 0.5 else c.items[0].artist
        out.append(replace(c, items=tuple(replace(item, artist=artist) for item in c.items)))
    return sides[0], out


PLANTS: dict[str, Plant] = {
    "position copied": with_column(lambda c, rng: 3.0 * np.arange(len(c)) - 7),
    "cumulative, a value missing": with_column(_cumulative),
    "restarting per side": with_column(lambda c, rng: np.arange(len(c)) % -(-len(c) // 2) + 1.0),
    "in a title": with_titles(lambda j, item: replace(item, title=f"Track {j + 1}")),
    "in a file name": with_titles(
        lambda j, item: replace(item, title=f"{j + 1:02d} {item.title}", path=f"{j + 1:02d} {item.title}.flac")
    ),
    "by missing values": with_column(_gaps),
    "by sort order": _sorted_by_title,
    "by duplicates across splits": _duplicates,
    "by artist": _artists,
    "by rounding": with_column(_rounded),
}
MORE_PLANTS: dict[str, Plant] = {
    "a monotone change of the position": with_column(lambda c, rng: np.exp(np.arange(len(c)) / 3.0)),
    "two columns that add up to it": with_column(_sum),
    "a running sum, and what it sums": with_column(_running),
    "the next item's value": with_column(_next_value),
    "the position behind the third decimal": with_column(
        lambda c, rng: np.round(rng.normal(size=len(c)), 3) + 1e-5 * np.arange(len(c))
    ),
}
