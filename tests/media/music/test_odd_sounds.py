"""Sounds that are no music, or hardly: every value is defined, and what cannot be heard is not told for sure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter

from fabula.media.music.audio import AudioFeatures

from .sounds import MAJOR, RATE, Samples, clicks, heard, notes


def checked(tmp_path: Path, samples: Samples, rate: int = RATE) -> AudioFeatures:
    """What is heard, all of it finite and confidences from 0 to 1."""
    found = heard(tmp_path, samples, rate)
    values = {name: getattr(found, name) for name in AudioFeatures.__dataclass_fields__}
    assert np.isfinite(list(values.values())).all()
    assert all(0 <= value <= 1 for name, value in values.items() if name.endswith("confidence"))
    return found


def speech(seconds: float = 20.0, rate: int = 16000) -> Samples:
    """Syllables of uneven length: a buzz that glides, through the resonances of a vowel, after a puff of noise."""
    rng, parts, length = np.random.default_rng(4), [], 0
    while length < seconds * rate:
        n = int(rate * rng.uniform(0.1, 0.32))
        pitch = np.linspace(*rng.uniform(90, 190, 2), n)
        buzz = 2 * (np.cumsum(pitch / rate) % 1) - 1
        for formant in (rng.uniform(300, 800), rng.uniform(900, 2300)):
            radius = np.exp(-np.pi * 90 / rate)
            buzz = lfilter([1 - radius], [1, -2 * radius * np.cos(2 * np.pi * formant / rate), radius**2], buzz)
        puff = rng.normal(size=int(rate * rng.uniform(0.02, 0.09))) * 0.01
        pause = np.zeros(int(rate * (rng.exponential(0.5) if rng.random() < 0.15 else rng.uniform(0, 0.06))))
        parts += [puff, buzz * np.hanning(n) * rng.uniform(0.5, 1), pause]
        length += sum(map(len, parts[-3:]))
    sound = np.concatenate(parts)
    return 0.3 * sound / np.abs(sound).max()


@pytest.mark.parametrize("tempo", [60, 120, 200])
def test_a_click_track_is_at_its_tempo_or_not_sure_of_it(tmp_path: Path, tempo: float) -> None:
    found = checked(tmp_path, clicks(tempo))
    for beats in (found.heard_tempo, found.start_tempo, found.end_tempo):
        assert min(abs(beats / (tempo * factor) - 1) for factor in (0.5, 1, 2)) < 0.01
    if abs(found.heard_tempo / tempo - 1) < 0.01:
        assert found.tempo_confidence > 0.5
    else:
        assert found.tempo_confidence < 0.5  # half or double, and not said for sure


def test_silence(tmp_path: Path) -> None:
    found = checked(tmp_path, np.zeros((3 * RATE, 2)))
    assert (found.silence_start, found.heard_tempo, found.true_peak, found.loudness) == (3.0, 0.0, -100.0, -70.0)
    assert (found.tempo_confidence, found.key_confidence, found.brightness, found.stereo_width) == (0, 0, 0, 0)


def test_a_constant(tmp_path: Path) -> None:
    found = checked(tmp_path, np.full(3 * RATE, 0.5))
    assert max(found.tempo_confidence, found.key_confidence) < 0.3
    assert found.loudness < -30  # the jump at the start and nothing after it


def test_a_constant_under_music_changes_nothing_but_the_peak(tmp_path: Path) -> None:
    music = notes(MAJOR, 60) + clicks(120, 10)
    plain, shifted = checked(tmp_path, music), checked(tmp_path, music + 0.4)
    assert (shifted.heard_key, shifted.heard_mode) == (plain.heard_key, plain.heard_mode) == (0, 1)
    assert shifted.heard_tempo == pytest.approx(plain.heard_tempo, rel=0.01)
    assert shifted.loudness == pytest.approx(plain.loudness, abs=0.3)
    assert shifted.true_peak > plain.true_peak + 2


def test_clipped_music_keeps_its_tempo_and_key(tmp_path: Path) -> None:
    found = checked(tmp_path, np.clip(8 * (notes(MAJOR, 60) + clicks(120, 10)), -1, 1))
    assert (found.heard_key, found.heard_mode) == (0, 1)
    assert found.heard_tempo == pytest.approx(120, rel=0.01)
    assert found.true_peak > 0


def test_a_telephone(tmp_path: Path) -> None:
    found = checked(tmp_path, clicks(100, 10, 8000), 8000)
    assert found.heard_tempo == pytest.approx(100, rel=0.01)
    assert 300 < found.brightness < 4000


def test_192_khz(tmp_path: Path) -> None:
    rate = 192000
    found = checked(tmp_path, np.repeat(clicks(120, 6, rate)[:, None], 2, axis=1), rate)
    assert found.heard_tempo == pytest.approx(120, rel=0.01)
    noise = checked(tmp_path, np.random.default_rng(1).normal(size=(rate, 2)) * 0.01, rate)
    assert max(noise.tempo_confidence, noise.key_confidence) < 0.3


@pytest.mark.parametrize("samples", [RATE, 300])
def test_a_second_and_less(tmp_path: Path, samples: int) -> None:
    found = checked(tmp_path, 0.1 * np.sin(2 * np.pi * 440 * np.arange(samples) / RATE))
    assert max(found.tempo_confidence, found.key_confidence) < 0.3
    assert found.duration_ms == pytest.approx(1000 * samples / RATE)


def test_spoken_word_has_neither_beat_nor_key(tmp_path: Path) -> None:
    found = checked(tmp_path, speech(), 16000)
    assert max(found.tempo_confidence, found.key_confidence) < 0.5


@pytest.mark.parametrize("name", ["noise", "drone", "swell"])
def test_without_a_beat(tmp_path: Path, name: str) -> None:
    t = np.arange(12 * RATE) / RATE
    sound = {
        "noise": np.random.default_rng(1).normal(size=len(t)) * 0.1,
        "drone": np.sin(2 * np.pi * 110 * t) * 0.2,
        "swell": np.sin(2 * np.pi * 220 * t) * np.sin(np.pi * t / 12) ** 2 * 0.3,
    }[name]
    found = checked(tmp_path, sound)
    assert found.tempo_confidence < 0.3
    assert found.key_confidence < 0.5
