"""How fast sound is measured, as ratios: against decoding alone, over two cores, from the cache; and in what memory.

    python benchmarks/bench_audio.py [FOLDER]

Without a folder an album is synthesised. Loudness is compared with ffmpeg's ebur128 where ffmpeg is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from fabula.media.extraction import Measuring, extract
from fabula.media.music import MEDIUM
from fabula.media.music.audio import SPEC, Ears, Sound, measure, play
from fabula.media.music.heard import hear, mix_channels
from fabula.media.music.loudness import Meter
from fabula.sources.folders import read_folder

RATE = 44100
MOST_FILES = 10
ENDINGS = ("opus", "ogg", "mp3", "flac", "wav")


def synthesised(folder: Path) -> None:
    """Two pieces of a minute for each format."""
    rng = np.random.default_rng(0)
    t = np.arange(60 * RATE) / RATE
    for ending in ENDINGS:
        for i in range(2):
            chord = sum(
                np.sin(2 * np.pi * f * (1 + i / 8) * t + f) * (1 + np.sin(t * f / 99)) for f in (110, 277, 440, 660)
            )
            sound = np.stack([chord, chord[::-1]], axis=1) * 0.05 + rng.normal(size=(len(t), 2)) * 0.02
            rate, form = (48000, {"format": "OGG", "subtype": "OPUS"}) if ending == "opus" else (RATE, {})
            with soundfile.SoundFile(folder / f"{i}.{ending}", "w", rate, 2, **form) as file:
                for start in range(0, len(sound), 4096):
                    file.write(sound[start : start + 4096])


def decode(path: str) -> None:
    with soundfile.SoundFile(path) as file:
        room = np.empty((65536, file.channels), np.float32)
        while len(file.read(out=room)):
            pass


def cpu_seconds(*actions: Callable[[str], object], path: str, repeats: int = 5) -> list[float]:
    """The least processor time of each, in turns: other work on the machine counts little, and alike for all."""
    best = [float("inf")] * len(actions)
    for _ in range(repeats):
        for k, action in enumerate(actions):
            start = time.process_time()
            action(path)
            best[k] = min(best[k], time.process_time() - start)
    return best


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def against_decoding(paths: list[str]) -> None:
    times: dict[str, list[tuple[float, float]]] = {}
    for path in paths:
        ours, plain = cpu_seconds(measure, decode, path=path)
        times.setdefault(Path(path).suffix, []).append((ours, plain))
    for ending, pairs in times.items():
        ours, plain = np.sum(pairs, axis=0)
        hours = sum(soundfile.info(path).duration for path in paths if path.endswith(ending)) / 3600
        told = f"{ours:.2f} s / {plain:.2f} s; {ours / hours:.1f} s / {plain / hours:.1f} s an hour of sound"
        print(f"features / decoding alone, {ending}, one core: {ours / plain:.2f} ({told})")


def shares(path: str) -> None:
    """What each part of hearing costs, as a share of decoding."""
    spent: dict[str, float] = {}

    def timed(name: str, action: Callable[..., Any], *arguments: Any) -> Any:
        start = time.process_time()
        result = action(*arguments)
        spent[name] = spent.get(name, 0.0) + time.process_time() - start
        return result

    def listen(sound: Sound) -> None:
        meter, ears, chunks = (
            Meter(sound.rate, sound.channels, vorbis=sound.vorbis),
            Ears(sound.rate, sound.channels),
            iter(sound.chunks),
        )
        while (chunk := timed("decoding", next, chunks, None)) is not None:
            timed("loudness", meter.push, chunk)
            timed("true peak", ears.peak.push, chunk)
            timed("width", ears.width.push, chunk)
            whole = timed("mono", mix_channels, chunk)
            timed("excerpts", ears.excerpts.push, whole)
            mono = timed("mix", ears.mix.push, whole)
            timed("onsets", ears.spectra.push, mono)
            timed("pitches", ears.pitches.push, mono)
        timed("things heard", lambda: hear(ears.excerpts.samples(), meter.powers))
        timed("all results", ears.result, meter.frames / sound.rate, meter.loudness(), meter.powers)

    play(path, listen)
    plain = spent.pop("decoding")
    print(f"  {Path(path).suffix}: " + ", ".join(f"{name} {time / plain:.3f}" for name, time in spent.items()))


def against_librosa(path: str) -> None:
    """librosa's loading, beats, chroma and centroid of the same file, in processor time."""
    if find_spec("librosa") is None:
        print("librosa is not installed: not compared")
        return
    import librosa

    def stack(name: str) -> None:
        samples, rate = librosa.load(name, sr=22050)
        librosa.beat.beat_track(y=samples, sr=rate)
        librosa.feature.chroma_cqt(y=samples, sr=rate)
        librosa.feature.spectral_centroid(y=samples, sr=rate)

    stack(path)  # compiles
    ours, theirs = cpu_seconds(measure, stack, path=path, repeats=2)
    print(f"librosa's stack / ours, {Path(path).suffix}: {theirs / ours:.1f} ({theirs:.2f} s / {ours:.2f} s)")


def over_cores_and_cache(paths: list[str]) -> None:
    one = seconds(lambda: extract(paths, SPEC, Measuring(jobs=1, cache=False)))
    two = seconds(lambda: extract(paths, SPEC, Measuring(jobs=2, cache=False)))
    with ThreadPoolExecutor(2) as pool:
        plain = seconds(lambda: [decode(path) for path in paths]) / seconds(lambda: list(pool.map(decode, paths)))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"one core / two cores: {one / two:.2f}; of decoding alone {plain:.2f} ({load})")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FABULA_CACHE_DIR"] = folder
        first, second = (seconds(lambda: extract(paths, SPEC, Measuring(jobs=1))) for _ in range(2))
    print(f"second run / first run: {100 * second / first:.2f} % ({second:.3f} s / {first:.2f} s)")


def against_ffmpeg(paths: list[str]) -> None:
    if not shutil.which("ffmpeg"):
        print("ffmpeg is not installed: loudness not compared")
        return
    worst = 0.0
    for path in paths:
        command = [
            "ffmpeg",
            "-nostdin",
            "-hide_banner",
            "-i",
            path,
            "-af",
            "ebur128=framelog=verbose",
            "-f",
            "null",
            "-",
        ]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        theirs = float(re.findall(r"I:\s+(-?[\d.]+) LUFS", said)[-1])
        ours = measure(path).loudness
        worst = max(worst, abs(ours - theirs))
        print(f"  {Path(path).name}: {ours:.2f} LUFS, ebur128 {theirs:.1f}")
    print(f"largest difference from ebur128 (which rounds to 0.1): {worst:.3f} LU over {len(paths)} files")


MEMORY = """
import pathlib, re, sys
from fabula.media.music.audio import SPEC, measure
hours = measure(sys.argv[1]).duration_ms / 3.6e6
# Not getrusage: that counts what the parent had when it started this process.
print(hours, int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024)
"""


def memory_of_three_hours(folder: Path) -> None:
    if not Path("/proc/self/status").exists():
        print("peak memory is only measured on Linux")
        return
    path = folder / "hours.wav"
    soundfile.write(path, np.zeros((0, 2)), RATE)
    size = 3 * 3600 * RATE * 4
    with path.open("r+b") as file:  # silence that takes no room on the disk
        file.seek(4)
        file.write((size + 36).to_bytes(4, "little"))
        file.seek(40)
        file.write(size.to_bytes(4, "little"))
        file.truncate(size + 44)
    said = subprocess.run([sys.executable, "-c", MEMORY, path], capture_output=True, text=True, check=True).stdout
    hours, peak = map(float, said.split())
    print(f"peak memory for a file of {hours:.1f} h: {peak:.0f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        if len(sys.argv) < 2:
            synthesised(folder)
        paths = [item.path for item in read_folder(folder, MEDIUM).collection.items[:MOST_FILES]]
        against_decoding(paths)
        print("parts of it, as shares of decoding:")
        for path in {Path(path).suffix: path for path in paths}.values():
            shares(path)
        against_librosa(paths[0])
        over_cores_and_cache(paths)
        against_ffmpeg(paths)
        memory_of_three_hours(Path(temporary))


if __name__ == "__main__":
    main()
