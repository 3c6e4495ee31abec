"""Learns what `fabula.media.music.heard` estimates of a track: six things a streaming service says, from its sound.

    python -m benchmarks.learn_heard PAIRS.parquet [OUT]

PAIRS: one row a song, the service's values beside the descriptors ``d_*`` of its sound, and the artist. A ridge on
twenty descriptors for each; cross-validated by artist. Writes ``heard.json`` beside the module: weights, errors, and
how the estimates follow from the true values (within an artist and between artists, with the covariance of what is
left), by which they are simulated where a table has the true values and no sound.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import fold_creator
from fabula.errors import import_extra

TARGETS = ("energy", "acousticness", "valence", "danceability", "speechiness", "instrumentalness")
LOGGED = ("acousticness", "speechiness", "instrumentalness")
OFFSET = 1e-3  # added before a logarithm, as set models add it
DESCRIPTORS = (
    "lufs", "flux_low", "mfcc0", "chroma_change", "pulse_clarity", "band2", "flux", "chroma_peak", "flatness",
    "pulse_slope", "onset_strength", "mod8", "timbre_slow", "band3", "contrast2", "harm_perc", "peakiness", "lra",
    "mod4", "flux_std",
)  # fmt: skip
PENALTY, FOLDS, REPEATS = 30.0, 10, 5
Array = np.ndarray


def read(path: Path) -> tuple[Array, Array, Array, Array]:
    """Descriptors (n, 20 and whether it is a clip), targets (n, 6) as they are fitted, loudness (n,), artists (n,)."""
    table = import_extra("pyarrow.parquet", extra="tables", purpose="reading a table").read_table(path)
    column = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    given = np.stack([column[f"d_{name}"] for name in DESCRIPTORS] + [column["d_is_clip"]], axis=1).astype(float)
    values = np.stack([column[name].astype(float) for name in TARGETS], axis=1)
    logged = [TARGETS.index(name) for name in LOGGED]
    values[:, logged] = np.log(values[:, logged] + OFFSET)
    artists = np.unique([fold_creator(name) for name in column["artist"]], return_inverse=True)[1]
    return given, values, column["loudness"].astype(float), artists


def fit(given: Array, values: Array) -> tuple[Array, Array, Array, float]:
    """Mean, deviation and weights of the descriptors, and the mean of the values: a ridge."""
    mean, deviation = given.mean(axis=0), given.std(axis=0)
    z = (given - mean) / deviation
    weights = np.linalg.solve(z.T @ z + PENALTY * np.eye(z.shape[1]), z.T @ (values - values.mean()))
    return mean, deviation, weights, float(values.mean())


def predict(model: tuple[Array, Array, Array, float], given: Array) -> Array:
    """Estimates (n,)."""
    mean, deviation, weights, middle = model
    return np.asarray((given - mean) / deviation @ weights + middle)


def cross_validate(given: Array, values: Array, artists: Array, seed: int) -> Array:
    """Estimates of every song by a fit on other artists; NaN where the true value is not known."""
    fold = np.random.default_rng(seed).integers(0, FOLDS, artists.max() + 1)[artists]
    found, known = np.full(len(values), np.nan), np.isfinite(values)
    for number in range(FOLDS):
        found[fold == number] = predict(fit(given[known & (fold != number)], values[known & (fold != number)]),
                                        given[fold == number])  # fmt: skip
    return found


def centre(values: Array, artists: Array) -> tuple[Array, Array]:
    """Values (n, k) without the mean of their artist, and the means (artists, k)."""
    count = np.bincount(artists)[:, None]
    means = np.stack([np.bincount(artists, column) for column in values.T], axis=1) / count
    return values - means[artists], means


def simulation(estimates: Array, sources: Array, artists: Array) -> dict[str, Any]:
    """How estimates (n, 6) follow from the true values and the loudness (n, 7), and the covariance of what is left."""
    (inner, means), (inner_true, true_means) = centre(estimates, artists), centre(sources, artists)
    several = np.bincount(artists)[artists] > 1
    within = np.linalg.lstsq(inner_true[several], inner[several], rcond=None)[0]  # (7, 6)
    left = (inner - inner_true @ within)[several]
    freedom = several.sum() - len(np.unique(artists[several])) - sources.shape[1]
    noise = left.T @ left / freedom
    count = np.bincount(artists)
    weight = np.sqrt(count)[:, None]
    design = np.column_stack([true_means, np.ones(len(true_means))])
    between = np.linalg.lstsq(design * weight, means * weight, rcond=None)[0]  # (8, 6)
    rest = means - design @ between
    shared = rest.T @ rest / (len(rest) - design.shape[1]) - noise * np.mean(1 / count)
    values, vectors = np.linalg.eigh((shared + shared.T) / 2)
    shared = (vectors * np.maximum(values, 0)) @ vectors.T
    made = {"within": within, "between": between[:-1], "offset": between[-1], "noise_within": noise,
            "noise_between": shared}  # fmt: skip
    return {"sources": [*TARGETS, "loudness"], **{name: np.round(part, 6).tolist() for name, part in made.items()}}


def within_r(one: Array, other: Array, artists: Array) -> float:
    """Correlation within artists."""
    inner, _ = centre(np.stack([one, other], axis=1), np.unique(artists, return_inverse=True)[1])
    return float(np.corrcoef(inner.T)[0, 1])


def check(made: dict[str, Any], values: Array, sources: Array, artists: Array) -> list[tuple[float, float]]:
    """R2 and correlation within artists of simulated estimates, which must be those of the real ones."""
    rng = np.random.default_rng(0)
    inner, means = centre(sources, artists)
    mean = means[artists] @ np.array(made["between"]) + np.array(made["offset"])
    album = rng.multivariate_normal(np.zeros(6), made["noise_between"], artists.max() + 1)[artists]
    track = rng.multivariate_normal(np.zeros(6), made["noise_within"], len(artists))
    drawn = mean + inner @ np.array(made["within"]) + album + track
    return [score(values[:, i], drawn[:, i], artists) for i in range(6)]


def score(true: Array, estimate: Array, artists: Array) -> tuple[float, float]:
    """R2 and the correlation within artists."""
    known = np.isfinite(true) & np.isfinite(estimate)
    true, estimate = true[known], estimate[known]
    return 1 - float(((true - estimate) ** 2).mean() / true.var()), within_r(true, estimate, artists[known])


def main() -> None:
    """Fit, print, write."""
    given, values, loudness, artists = read(Path(sys.argv[1]))
    estimates = np.stack(
        [np.mean([[*score(values[:, i], cross_validate(given, values[:, i], artists, seed), artists)]
                  for seed in range(REPEATS)], axis=0) for i in range(6)]
    )  # fmt: skip
    heard = np.stack([cross_validate(given, values[:, i], artists, 0) for i in range(6)], axis=1)
    whole = np.isfinite(values).all(axis=1)
    sources = np.column_stack([values, loudness])[whole]
    numbers = np.unique(artists[whole], return_inverse=True)[1]
    made = simulation(heard[whole], sources, numbers)
    simulated = check(made, values[whole], sources, numbers)
    models = [fit(given[np.isfinite(values[:, i])], values[np.isfinite(values[:, i]), i]) for i in range(6)]
    print(f"{len(values)} songs of {artists.max() + 1} artists")
    heads: dict[str, Any] = {}
    for i, name in enumerate(TARGETS):
        error = float(np.sqrt(np.nanmean((heard[:, i] - values[:, i]) ** 2)))
        mean, deviation, weights, middle = models[i]
        plain, clip = weights[:-1] / deviation[:-1], weights[-1] * mean[-1] / deviation[-1]
        heads[name] = {"weights": plain.round(7).tolist(),
                       "intercept": round(middle - float(plain @ mean[:-1] + clip), 7),
                       "mean": round(middle, 4), "error": round(error, 4), "r2": round(float(estimates[i, 0]), 3),
                       "within_r": round(float(estimates[i, 1]), 3)}  # fmt: skip
        print(f"{name:17s} R2 {estimates[i, 0]:.3f}, within an artist r {estimates[i, 1]:.3f}, error {error:.3f}; "
              f"simulated {simulated[i][0]:.3f}, {simulated[i][1]:.3f}")  # fmt: skip
    document = {"descriptors": list(DESCRIPTORS), "logged": list(LOGGED), "logged_offset": OFFSET, "songs": len(values),
                "heads": heads, "simulation": made}  # fmt: skip
    if len(sys.argv) > 2:
        lines = re.sub(r"\n {3,}", " ", json.dumps(document, indent=1))
        Path(sys.argv[2]).write_text(re.sub(r"\n {2,}\]", "]", lines) + "\n")


if __name__ == "__main__":
    main()
