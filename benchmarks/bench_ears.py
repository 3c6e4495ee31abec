"""How well tempo and key are heard, beside librosa, essentia and aubio, on pieces whose truth is written down.

    python -m benchmarks.bench_ears OUT [--only fabula]
    python -m benchmarks.bench_ears OUT --edges

OUT is a folder of `render_music`'s pieces; only its test part is looked at. Tempo: accuracy 1 (within 4 %) and
accuracy 2 (also a half, a third, twice, three times of it). Key: right, and the MIREX score (1 right, 0.5 a fifth off,
0.3 the relative, 0.2 the parallel key). What each system says is kept in OUT, so that a run that was interrupted goes
on. ``--edges``: the tempo that steps go by, at the start and the end of two pieces of other tempi joined, and of each
piece by itself, within 4 % or half or twice of it, beside the tempo of the whole. librosa comes with the extra
``fma``; essentia from PyPI and the command ``aubio`` (Debian's aubio-tools) are used where they are installed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Answer = dict[str, Any]
_MAJOR = np.array([6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88])  # Krumhansl and Kessler
_MINOR = np.array([6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17])
_NOTES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def fabula(path: Path) -> Answer:
    from fabula.media.music.audio import measure

    heard = measure(path)
    sure = {"tempo_confidence": heard.tempo_confidence, "key_confidence": heard.key_confidence}
    return {"tempo": heard.heard_tempo, "key": int(heard.heard_key), "mode": int(heard.heard_mode), **sure}


def librosa(path: Path) -> Answer:
    import librosa as lib

    samples, rate = lib.load(path, sr=22050)
    tempo, _ = lib.beat.beat_track(y=samples, sr=rate)
    profile = lib.feature.chroma_cqt(y=samples, sr=rate).mean(axis=1)
    likeness = [np.corrcoef(np.roll(one, k), profile)[0, 1] for one in (_MAJOR, _MINOR) for k in range(12)]
    best = int(np.argmax(likeness))
    return {"tempo": float(np.atleast_1d(tempo)[0]), "key": best % 12, "mode": 1 - best // 12}


def essentia(path: Path) -> Answer:
    from essentia import standard

    samples = standard.MonoLoader(filename=str(path), sampleRate=44100)()
    tempo = standard.RhythmExtractor2013(method="multifeature")(samples)[0]
    note, mode, _ = standard.KeyExtractor()(samples)
    key = (_NOTES[note[0]] + {"#": 1, "b": -1}.get(note[1:2], 0)) % 12
    return {"tempo": float(tempo), "key": key, "mode": int(mode == "major")}


def aubio(path: Path) -> Answer:
    told = subprocess.run(
        ["aubio", "tempo", str(path)], capture_output=True, text=True, timeout=120, check=False
    ).stdout
    found = re.search(r"([\d.]+)\s*bpm", told)
    return {"tempo": float(found[1]) if found else 0.0, "key": None, "mode": None}


def systems() -> dict[str, Callable[[Path], Answer]]:
    """Those that are installed."""
    from importlib.util import find_spec

    there: dict[str, Callable[[Path], Answer]] = {"fabula": fabula}
    there |= {"librosa": librosa} if find_spec("librosa") else {}
    there |= {"essentia": essentia} if find_spec("essentia") else {}
    return there | ({"aubio": aubio} if shutil.which("aubio") else {})


def answers(
    folder: Path, name: str, system: Callable[[Path], Answer], pieces: list[dict[str, Any]]
) -> dict[str, Answer]:
    """What a system says of each piece: kept, and asked only where it was not."""
    kept = folder / f"answers-{name}.jsonl"
    known = {row["piece"]: row for row in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}
    with kept.open("a") as file:
        for piece in pieces:
            if piece["file"] not in known:
                start = time.process_time()
                row = {"piece": piece["file"], **system(folder / piece["file"])}
                row["seconds"] = time.process_time() - start
                known[piece["file"]] = row
                file.write(json.dumps(row) + "\n")
                file.flush()
    return known


def tempo_right(truth: float, found: float, factors: tuple[float, ...]) -> bool:
    return found > 0 and any(abs(found / (truth * factor) - 1) <= 0.04 for factor in factors)


def mirex(truth: tuple[int, int], found: tuple[int, int]) -> float:
    """The weighted key score.

    >>> [mirex((0, 1), found) for found in ((0, 1), (7, 1), (9, 0), (0, 0), (5, 1))]
    [1.0, 0.5, 0.3, 0.2, 0.5]
    """
    (key, mode), (other, other_mode) = truth, found
    if truth == found:
        return 1.0
    if mode == other_mode and (other - key) % 12 in (5, 7):
        return 0.5
    if mode != other_mode and (other - key) % 12 == (9 if mode else 3):
        return 0.3
    return 0.2 if key == other else 0.0


def scores(pieces: list[dict[str, Any]], known: dict[str, Answer]) -> dict[str, float]:
    pieces = [piece for piece in pieces if piece["file"] in known]
    said = [known[piece["file"]] for piece in pieces]
    one = [tempo_right(p["tempo"], s["tempo"], (1,)) for p, s in zip(pieces, said, strict=True)]
    two = [tempo_right(p["tempo"], s["tempo"], (1, 1 / 2, 2, 1 / 3, 3)) for p, s in zip(pieces, said, strict=True)]
    keyed = [(p, s) for p, s in zip(pieces, said, strict=True) if p["key"] is not None and s["key"] is not None]
    weighted = [mirex((p["key"], p["mode"]), (s["key"], s["mode"])) for p, s in keyed]
    nan = float("nan")
    return {
        "n": len(pieces),
        "accuracy 1": float(np.mean(one)) if one else nan,
        "accuracy 2": float(np.mean(two)) if two else nan,
        "keys": len(keyed),
        "right": float(np.mean([w == 1 for w in weighted])) if weighted else nan,
        "MIREX": float(np.mean(weighted)) if weighted else nan,
    }


def edges(folder: Path, pieces: list[dict[str, Any]]) -> None:
    """How often the tempo at an edge is right, and that of the whole."""
    from fabula.media.music.audio import Ears, Sound, play
    from fabula.media.music.tracks import SAME_TEMPO, tempo_octaves

    def onsets(piece: dict[str, Any]) -> tuple[np.ndarray, float, float]:
        def listen(sound: Sound) -> Ears:
            ears = Ears(sound.rate, sound.channels)
            for chunk in sound.chunks:
                ears.push(chunk)
            return ears

        ears = play(folder / piece["file"], listen)
        return ears.spectra.onsets, ears.spectra.rate, ears.spectra.strengths

    mixed = [pieces[k] for k in np.random.default_rng(0).permutation(len(pieces))]
    heard = [onsets(piece) for piece in mixed]
    right: dict[str, list[list[bool]]] = {"joined": [], "alone": []}
    for (one, first), (other, second) in zip(
        zip(mixed[::2], heard[::2], strict=False), zip(mixed[1::2], heard[1::2], strict=False), strict=False
    ):
        both = np.concatenate([first[0], second[0]]), first[1], first[2] + second[2]
        if tempo_octaves(one["tempo"], other["tempo"]) > 2 * SAME_TEMPO:
            right["joined"] += _edge_tempi(*both, (one["tempo"], other["tempo"]))
        for piece, sound in ((one, first), (other, second)):
            right["alone"] += _edge_tempi(*sound, (piece["tempo"], piece["tempo"]))
    for name, rows in right.items():
        edge, whole = np.mean(rows, axis=0)
        print(f"{name}: {len(rows)} edges, tempo right {edge:.3f}, that of the whole {whole:.3f}")


def _edge_tempi(onsets: np.ndarray, rate: float, strengths: float, truths: tuple[float, float]) -> list[list[bool]]:
    from fabula.core.collection import Collection, Item
    from fabula.media.music.tempo_and_key import find_tempo
    from fabula.media.music.tracks import SAME_TEMPO, tempi, tempo_octaves

    length, strength = round(30 * rate), strengths / len(onsets)
    parts = {"heard": onsets, "start": onsets[:length], "end": onsets[-length:]}
    found = {name: find_tempo(part, rate, strength) for name, part in parts.items()}
    columns = {f"{name}_tempo": beats for name, (beats, sure) in found.items()}
    columns |= {f"{name}_tempo_confidence": sure for name, (beats, sure) in found.items()}
    columns["tempo_confidence"] = found["heard"][1]
    track = Collection("c", [Item("a")], [list(columns.values())], tuple(columns))
    rows = []
    for where, truth in zip(("start", "end"), truths, strict=True):
        said = tempi(track, where).values[0], found["heard"][0]
        rows.append([bool(beats > 0 and tempo_octaves(beats, truth) <= SAME_TEMPO) for beats in said])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--only", help="ask this system alone; the others as far as they were asked")
    parser.add_argument("--edges", action="store_true", help="the tempo at the edges alone")
    asked = parser.parse_args()
    if asked.out is None:
        print("needs a folder of benchmarks.render_music: python -m benchmarks.bench_ears OUT")
        return
    truths = [json.loads(path.read_text()) | {"file": _sound(path)} for path in sorted(asked.out.glob("*.json"))]
    pieces = [truth for truth in truths if truth["part"] == "test"]
    if asked.edges:
        edges(asked.out, pieces)
        return
    found = {}
    for name, system in systems().items():
        found[name] = answers(asked.out, name, system, pieces if asked.only in (None, name) else [])
    styles = sorted({piece["name"].split("-")[0] for piece in pieces})
    for style in ["all", *styles]:
        chosen = [piece for piece in pieces if style == "all" or piece["name"].startswith(f"{style}-")]
        for name, known in found.items():
            told = scores(chosen, known)
            print(f"{style:11} {name:9} " + "  ".join(f"{key} {value:.3g}" for key, value in told.items()))
    sys.stdout.flush()


def _sound(path: Path) -> str:
    return next(path.with_suffix(ending).name for ending in (".flac", ".ogg") if path.with_suffix(ending).exists())


if __name__ == "__main__":
    main()
