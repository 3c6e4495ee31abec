"""Checks on real recordings: loudness range and true peak beside ffmpeg's ebur128; tempo and key under re-encoding.

    python -m benchmarks.check_ears FOLDER [--most 25]

Every file is changed in six ways by ffmpeg (MP3 at 96 kbit/s, 6 dB up and down, mono, another rate, ten seconds cut
off) and heard again. Tempo is unchanged within 4 %, key where tonic and mode are the same.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fabula.media.music.audio import AudioFeatures, measure
from fabula.media.music.tags import AUDIO_ENDINGS

SHORTEST = 40e3  # ms: of a jingle without its first ten seconds little is left to hear
CHANGES = {
    "mp3 at 96 kbit/s": (["-b:a", "96k"], "mp3"),
    "6 dB louder": (["-af", "volume=6dB", "-c:a", "pcm_f32le"], "wav"),
    "6 dB softer": (["-af", "volume=-6dB", "-c:a", "pcm_s16le"], "wav"),
    "mono": (["-ac", "1"], "wav"),
    "32 kHz": (["-ar", "32000"], "wav"),
    "10 s cut off": (["-ss", "10"], "wav"),
}


def ffmpeg(*arguments: str) -> str:
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-threads", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def ebur128(path: Path) -> tuple[float, float]:
    """Loudness range and true peak by ffmpeg."""
    told = ffmpeg("-i", str(path), "-filter_complex", "ebur128=peak=true", "-f", "null", "-")
    summary = told[told.rindex("Summary:") :]
    ranged, peak = re.search(r"LRA:\s*([-\d.]+)", summary), re.search(r"Peak:\s*([-\d.]+)", summary)
    return float(ranged[1]) if ranged else np.nan, float(peak[1]) if peak else np.nan


def same_tempo(one: AudioFeatures, other: AudioFeatures) -> bool:
    return abs(other.heard_tempo / max(one.heard_tempo, 1e-9) - 1) <= 0.04


def same_key(one: AudioFeatures, other: AudioFeatures) -> bool:
    return (one.heard_key, one.heard_mode) == (other.heard_key, other.heard_mode)


def told(known: list[tuple[AudioFeatures, AudioFeatures]], same: Callable[..., bool], sure: str) -> str:
    """The share that is unchanged: of all, and of those that were heard for sure."""
    every = [same(one, other) for one, other in known]
    certain = [same(one, other) for one, other in known if getattr(one, sure) >= 0.5]
    return f"{np.mean(every):.3f} of {len(every)}, {np.mean(certain) if certain else np.nan:.3f} of {len(certain)} sure"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=25)
    asked = parser.parse_args()
    found = [path for path in sorted(asked.folder.rglob("*")) if path.suffix in AUDIO_ENDINGS]
    heard = {path: measure(path) for path in found[: asked.most]}
    gaps = np.array([np.subtract((one.loudness_range, one.true_peak), ebur128(path)) for path, one in heard.items()])
    print(f"{len(heard)} files; farthest from ffmpeg: loudness range {np.abs(gaps[:, 0]).max():.2f} LU, "
          f"true peak {np.abs(gaps[:, 1]).max():.2f} dB", flush=True)  # fmt: skip
    plain = {path: one for path, one in heard.items() if one.duration_ms >= SHORTEST}
    everything = []
    for name, (options, ending) in CHANGES.items():
        pairs = []
        for path in plain:
            with tempfile.TemporaryDirectory() as folder:
                changed = Path(folder) / f"x.{ending}"
                ffmpeg("-i", str(path), *options, str(changed))
                pairs.append((plain[path], measure(changed)))
        everything += pairs
        print(f"{name:17} tempo {told(pairs, same_tempo, 'tempo_confidence')}; "
              f"key {told(pairs, same_key, 'key_confidence')}", flush=True)  # fmt: skip
    print(f"{'all':17} tempo {told(everything, same_tempo, 'tempo_confidence')}; "
          f"key {told(everything, same_key, 'key_confidence')}")  # fmt: skip


if __name__ == "__main__":
    main()
