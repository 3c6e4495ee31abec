"""The regressions by which the energy of a track is told, 0 to 100, that music is laid along.

    python examples/learn_energy.py FOLDER

FOLDER holds the tables of `train_music_model.py`. Spotify's energy of the tracks to train on, on what would be heard of
them (simulated, `simulate_heard.py`), loudness in dB and the logarithm of the tempo; measured on validation albums.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import train_music_model as recipe

FLOOR, SLOWEST = -40.0, 40.0  # dB and beats per minute below which a value is no music's
CASES = {
    "heard, loudness, tempo": ("heard_energy", "loudness", "tempo"),
    "loudness, tempo": ("loudness", "tempo"),
    "heard alone": ("heard_energy",),
    "loudness alone": ("loudness",),
}


def columns(folder: Path) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Columns of tracks of which all is known, in the units of the regressions; whether to validate; the album."""
    arrays = recipe.read_tables(folder)
    values = dict(zip((*recipe.FEATURES, *recipe.EXPECTED), recipe.with_heard(arrays).T.astype(float), strict=True))
    wanted = {name: values[name] for name in ("energy", "heard_energy", "loudness", "tempo")}
    known = np.isfinite(np.stack(list(wanted.values()))).all(axis=0) & (wanted["loudness"] > FLOOR)
    found = {name: column[known] for name, column in wanted.items()}
    found |= {name: 100 * found[name] for name in ("energy", "heard_energy")}
    found["tempo"] = np.log2(np.maximum(found["tempo"], SLOWEST))
    return found, arrays["validation"][known], np.unique(arrays["id"][known], return_inverse=True)[1]


def centre(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Values without the mean of their group."""
    numbers = np.unique(groups, return_inverse=True)[1]
    return values - (np.bincount(numbers, values) / np.bincount(numbers))[numbers]


def main() -> None:
    """Fit on the tracks to train on, and print weights and what they are worth on validation."""
    known, validation, album = columns(Path(sys.argv[1]))
    energy = known["energy"]
    for name, chosen in CASES.items():
        design = np.column_stack([*(known[one] for one in chosen), np.ones(len(energy))])
        weights = np.linalg.lstsq(design[~validation], energy[~validation], rcond=None)[0]
        guess, true = design[validation] @ weights, energy[validation]
        r2 = 1 - ((guess - true) ** 2).mean() / true.var()
        inner = np.corrcoef(centre(guess, album[validation]), centre(true, album[validation]))[0, 1]
        print(f"{name}: {weights.round(4).tolist()}, R2 {r2:.3f}, within an album r {inner:.3f}")


if __name__ == "__main__":
    main()
