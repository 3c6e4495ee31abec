"""What would be heard of tracks whose true features a table has: estimates with the errors that estimates have.

`benchmarks/learn_heard.py` measured on songs with both how an estimate follows from the true values, within an artist
and between artists, and what is left: errors that the tracks of an album share, and errors of each, correlated over the
six. An album is taken for an artist.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fabula.media import music

_SAID = json.loads(Path(music.__file__).with_name("heard.json").read_text())
_MADE = _SAID["simulation"]
SOURCES = tuple(_MADE["sources"])
NAMES = tuple(_SAID["heads"])  # of what is heard, as a streaming service has them
HEARD = tuple(f"heard_{name}" for name in NAMES)
LOGGED = tuple(f"heard_{name}" for name in _SAID["logged"])
OFFSET = _SAID["logged_offset"]
WITHIN, BETWEEN = (np.array(_MADE[f"noise_{kind}"]) for kind in ("within", "between"))  # (6, 6), fitted units
_IS_LOGGED = np.array([name in _SAID["logged"] for name in NAMES])


def sources_of(features: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """True values and loudness (n, 7) in the units of the fit; what is missing is guessed from the rest by regression.

    NaN in rows of which energy or loudness is not known.
    """
    there = features[:, [names.index(name) for name in SOURCES]].astype(float)
    logged = [SOURCES.index(name) for name in _SAID["logged"]]
    there[:, logged] = np.log(np.maximum(there[:, logged], 0.0) + OFFSET)
    whole = np.isfinite(there).all(axis=1)
    mean, known = there[whole].mean(axis=0), np.isfinite(there)
    spread = np.cov(there[whole].T)
    for pattern in np.unique(known[~whole], axis=0):
        rows = ~whole & (known == pattern).all(axis=1)
        if not pattern[SOURCES.index("energy")] or not pattern[SOURCES.index("loudness")]:
            there[rows] = np.nan
            continue
        guess = np.linalg.solve(spread[np.ix_(pattern, pattern)], spread[np.ix_(pattern, ~pattern)])
        there[np.ix_(rows, ~pattern)] = mean[~pattern] + (there[np.ix_(rows, pattern)] - mean[pattern]) @ guess
    return there


def expect(sources: np.ndarray, album: np.ndarray) -> np.ndarray:
    """The estimates (n, 6) that can be expected, in fitted units; ``album`` (n,) numbers the albums."""
    known = np.isfinite(sources).all(axis=1)
    found = np.full((len(sources), len(NAMES)), np.nan)
    number = np.unique(album[known], return_inverse=True)[1]
    count = np.bincount(number)[:, None]
    means = np.stack([np.bincount(number, column) for column in sources[known].T], axis=1) / count
    inner = sources[known] - means[number]
    shared = means[number] @ np.array(_MADE["between"]) + np.array(_MADE["offset"])
    found[known] = shared + inner @ np.array(_MADE["within"])
    return found


def draw(expected: np.ndarray, album: np.ndarray, seed: int = 0) -> np.ndarray:
    """Estimates with errors drawn once, in fitted units."""
    rng = np.random.default_rng(seed)
    albums, number = np.unique(album, return_inverse=True)
    shared = rng.multivariate_normal(np.zeros(len(NAMES)), BETWEEN, len(albums))[number]
    return expected + shared + rng.multivariate_normal(np.zeros(len(NAMES)), WITHIN, len(expected))


def bounds() -> tuple[np.ndarray, np.ndarray]:
    """The least and the most an estimate may be, in fitted units: 0 and 1."""
    return np.where(_IS_LOGGED, np.log(OFFSET), 0.0), np.where(_IS_LOGGED, np.log(1 + OFFSET), 1.0)


def as_shares(estimates: np.ndarray) -> np.ndarray:
    """Fitted units to shares, 0 to 1."""
    low, high = bounds()
    held = np.clip(estimates, low, high)
    return np.where(_IS_LOGGED, np.exp(held) - OFFSET, held)
