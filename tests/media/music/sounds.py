"""Sounds whose tempo and key are known because they were made so, and what is heard in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from fabula.media.music.audio import AudioFeatures, measure

RATE = 22050
Samples = NDArray[np.float64]


def clicks(tempo: float, seconds: float = 20.0, rate: int = RATE) -> Samples:
    """Short bursts of noise on every beat, every fourth stronger."""
    out = np.zeros(round(seconds * rate))
    burst = np.random.default_rng(0).normal(size=rate // 20) * np.exp(-np.arange(rate // 20) / (rate / 150))
    for beat, at in enumerate(np.arange(0, seconds - 0.1, 60 / tempo)):
        start = round(at * rate)
        out[start : start + len(burst)] += burst * (0.3 if beat % 4 == 0 else 0.2)
    return out


def drums(tempo: float, kick: str, snare: str, hat: str, seconds: float = 16.0) -> Samples:
    """Kick (a falling sine), snare (noise) and hats (bright noise), at sixteenths of bars of four beats."""
    rng, t = np.random.default_rng(0), np.arange(RATE // 5) / RATE
    bright = np.diff(rng.normal(size=len(t) + 1))
    sounds = {
        kick: np.sin(2 * np.pi * (50 * t + 2 * (1 - np.exp(-t / 0.02)))) * np.exp(-t / 0.1),
        snare: 0.3 * rng.normal(size=len(t)) * np.exp(-t / 0.06),
        hat: 0.15 * bright * np.exp(-t / 0.02),
    }
    out = np.zeros(round(seconds * RATE) + len(t))
    for pattern, sound in sounds.items():
        for step in range(int((seconds - 0.2) * tempo / 15)):
            if pattern[step % 16] == "x":
                start = round(step * 15 / tempo * RATE)
                out[start : start + len(t)] += sound
    return 0.5 * out


def notes(
    degrees: list[list[int]], tonic: float, seconds: float = 0.5, rate: int = RATE, cents: float = 0.0
) -> Samples:
    """Chords of plain tones with two overtones; degrees in semitones above the tonic (MIDI number)."""
    t = np.arange(round(seconds * rate)) / rate
    fade = np.minimum(1, np.minimum(t, t[::-1]) * 50) * 0.05

    def chord(numbers: list[int]) -> Samples:
        hertz = [440 * 2 ** ((tonic + n - 69 + cents / 100) / 12) for n in numbers]
        return np.sum([np.sin(2 * np.pi * f * k * t) / k for f in hertz for k in (1, 2, 3)], axis=0) * fade

    return np.concatenate([chord(numbers) for numbers in degrees])


MAJOR = [[-12, 0, 4, 7], [-7, 5, 9, 12], [-5, 7, 11, 14], [-12, 0, 4, 7]] * 5
MINOR = [[-12, 0, 3, 7], [-7, 5, 8, 12], [-5, 7, 11, 14], [-12, 0, 3, 7]] * 5


def heard(tmp_path: Path, samples: Samples, rate: int = RATE) -> AudioFeatures:
    soundfile.write(tmp_path / "x.wav", samples, rate, subtype="FLOAT")
    return measure(tmp_path / "x.wav")
