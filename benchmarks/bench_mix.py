"""Steps of 40 sets before and after `--sort-into-mix`, as a DJ would measure them.

    python -m benchmarks.bench_mix DATA
    python -m benchmarks.bench_mix --sound 60

DATA is a folder with ``albums.parquet`` and ``albums-more.parquet``; their validation part alone is looked at. A set is
16 tracks that can be danced to (danceability above 0.6), whose tempi within one octave lie within 8 % of a centre.
Half of the sets come in a random order, half already by tempo, as a careful DJ would have them.

``--sound``: how well the bars before a track is full and after it was are heard, in so many made tracks (`render_dance`
in ten styles) that begin and end with 0 to 32 bars of drums, of kick and hats, or of chords alone; every fourth breaks
down in its middle.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile

from benchmarks import render_dance as dance
from fabula.core.collection import Collection, Item
from fabula.media.extraction import Measuring
from fabula.media.music import MEDIUM
from fabula.media.music.audio import measure
from fabula.media.music.tracks import camelot_distance, tempo_octaves
from fabula.session.request import Request
from fabula.session.session import source_session
from fabula.sources.registry import Source

SIZE, SETS, WIDE = 16, 40, 0.08
NAMES = ("tempo", "key", "mode", "energy")


def tracks(folder: Path) -> pd.DataFrame:
    both = pd.concat([pd.read_parquet(folder / name) for name in ("albums.parquet", "albums-more.parquet")])
    kept = both[(both["split"] == "validation") & (both["danceability"] > 0.6)].dropna(subset=list(NAMES))
    kept = kept[kept["tempo"].between(60, 200)]
    return kept.assign(beats=88 * 2 ** (np.log2(kept["tempo"] / 88) % 1)).reset_index(drop=True)


def sets(known: pd.DataFrame) -> list[Collection]:
    rng, made = np.random.default_rng(0), []
    while len(made) < SETS:
        centre = float(np.exp(rng.uniform(np.log(92), np.log(165))))
        near = known[np.abs(np.log(known["beats"] / centre)) < np.log(1 + WIDE)]
        if len(near) < 3 * SIZE:
            continue
        rows = near.sample(SIZE, random_state=int(rng.integers(2**31)))
        rows = rows.sort_values("beats") if len(made) % 2 else rows
        items = [Item(f"{k}") for k in range(SIZE)]
        made.append(Collection(f"set {len(made)}", items, rows[list(NAMES)].to_numpy(float), NAMES))
    return made


def steps(tracks: Collection, order: np.ndarray) -> tuple[float, float, float]:
    """Mean step in tempo (%), on the wheel, and the part of the steps that are Camelot moves."""
    tempo, key, mode = (np.asarray(tracks.column(name))[order] for name in NAMES[:3])
    percent = 100 * (2 ** tempo_octaves(tempo[1:], tempo[:-1]) - 1)
    wheel = camelot_distance(key[:-1], mode[:-1], key[1:], mode[1:])
    return float(percent.mean()), float(wheel.mean()), float((wheel <= 1).mean())


def made_track(number: int) -> tuple[np.ndarray, float, int, int]:
    """Samples (n, 2), tempo, and bars before it is full and after it was."""
    rng = np.random.default_rng([number, 1])
    style = dance.STYLES[dance.TESTED[number % 10]]
    tempo = float(rng.uniform(style.low, style.high))
    before, after, full = (int(rng.choice(bars)) for bars in ([0, 4, 8, 16, 32], [0, 4, 8, 16, 32], [32, 48]))
    bars = before + full + after
    drums, bass, chords = dance.score(style, rng, bars)
    low, high, middle = (style.beats * bar for bar in (before, before + full, before + full // 2))

    def inside(note: tuple[float, int, float]) -> bool:
        return low - 1e-6 <= note[0] < high - 1e-6 and not (number % 4 == 3 and abs(note[0] - middle) < 6 * style.beats)

    bass = [note for note in bass if inside(note)]
    if number % 3 == 1:
        drums = [note for note in drums if inside(note)]
    else:
        chords = [note for note in chords if inside(note)]
        alone = (dance.KICK, dance.HAT, dance.OPEN)
        drums = [note for note in drums if number % 3 == 0 or note[1] in alone or inside(note)]
    sound = dance.synthesise((drums, bass, chords), tempo, rng, "test", bars * style.beats * 60 / tempo)
    return sound, tempo, before, after


def hear_mixes(count: int) -> None:
    """How far what is heard of made tracks is from the truth, in bars of the true tempo."""
    gaps = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            sound, tempo, before, after = made_track(number)
            soundfile.write(f"{folder}/x.wav", sound, dance.RATE)
            found = measure(f"{folder}/x.wav")
            times = tempo / found.heard_tempo
            gaps += [
                (abs(round(times * found.mix_in) - before), before),
                (abs(round(times * found.mix_out) - after), after),
            ]
    gap, truth = np.array(gaps).T
    for name, part in (("all", truth >= 0), ("none", truth == 0), ("some", truth > 0)):
        told = f"right {(gap[part] == 0).mean():.2f}, within a bar {(gap[part] <= 1).mean():.2f}"
        print(f"{name} of {part.sum()} ends: {told}, {gap[part].mean():.2f} bars off on average")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--sound", type=int, metavar="TRACKS")
    asked = parser.parse_args()
    if asked.sound:
        hear_mixes(asked.sound)
    if asked.data is None:
        return
    chosen = sets(tracks(asked.data))
    before = np.array([steps(one, np.arange(SIZE)) for one in chosen])
    for preset in MEDIUM.presets:
        after, ramps = [], []
        for one in chosen:
            folded = one if preset == "mix" else MEDIUM.fold(one, 88, 176)
            column = "energy" if preset == "mix" else "tempo"
            session = source_session(Source(Path("set"), folded, MEDIUM), Measuring(), column)
            opened, request = session.preset(preset, Request(alternatives=1))
            found = opened.order(request)
            after.append(steps(one, found.ordering))
            ramps.append(found.fit.mean)
        for name, part in (("random", slice(0, None, 2)), ("by tempo", slice(1, None, 2))):
            was, now = before[part], np.array(after)[part]
            worse = (now[:, :2] > was[:, :2] + 1e-9).sum(axis=0)
            told = f"tempo {was[:, 0].mean():.2f} -> {now[:, 0].mean():.2f} %, key {was[:, 1].mean():.2f} -> "
            told += f"{now[:, 1].mean():.2f}, Camelot moves {was[:, 2].mean():.2f} -> {now[:, 2].mean():.2f}"
            print(
                f"{preset:5} {name:9} {told}; worse {worse[0]} and {worse[1]}; off the arc {np.mean(ramps[part]):.2f}"
            )


if __name__ == "__main__":
    main()
