"""What is heard, against sounds whose tempo, key, level and edges are known because they were made so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from scipy.signal import resample_poly

from fabula.media.music.audio import AudioFeatures, measure
from fabula.media.music.hearing.mixing import Mix
from fabula.media.music.hearing.pitches import Pitches, tuning
from fabula.media.music.loudness.levels import edges, loudness_range
from fabula.media.music.loudness.peaks import Peak

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


@pytest.mark.parametrize("tempo", [60, 120, 200])
def test_a_click_track_is_at_its_tempo_half_or_double(tmp_path: Path, tempo: float) -> None:
    found = heard(tmp_path, clicks(tempo)).heard_tempo
    assert min(abs(found / (tempo * factor) - 1) for factor in (0.5, 1, 2)) < 0.01


@pytest.mark.parametrize(("chords", "mode"), [(MAJOR, 1), (MINOR, 0)])
@pytest.mark.parametrize("key", [0, 6, 9])
def test_cadences_are_in_their_key(tmp_path: Path, chords: list[list[int]], mode: int, key: int) -> None:
    found = heard(tmp_path, notes(chords, 60 + key))
    assert (found.heard_key, found.heard_mode) == (key, mode)
    assert (found.end_key, found.end_mode) == (key, mode)


def test_the_tuning_is_heard_and_taken_out(tmp_path: Path) -> None:
    found = heard(tmp_path, notes(MAJOR, 62, cents=35))
    assert found.tuning == pytest.approx(35, abs=6)
    assert (found.heard_key, found.heard_mode) == (2, 1)


def odd(name: str) -> tuple[Samples, int]:
    rng, t = np.random.default_rng(1), np.arange(6 * RATE) / RATE
    return {
        "silence": (np.zeros((3 * RATE, 2)), RATE),
        "noise": (rng.normal(size=10 * RATE) * 0.1, RATE),
        "constant": (np.full(3 * RATE, 0.5), RATE),
        "clipped": (np.clip(3 * np.sin(2 * np.pi * 220 * t), -1, 1), RATE),
        "telephone": (clicks(100, 8, 8000), 8000),
        "fast rate": (rng.normal(size=(192000, 2)) * 0.01, 192000),
        "one second": (np.sin(2 * np.pi * 440 * t[:RATE]) * 0.1, RATE),
        "short": (rng.normal(size=300) * 0.1, RATE),
        "drone": (np.sin(2 * np.pi * 110 * t) * 0.2, RATE),
    }[name]


@pytest.mark.parametrize(
    "name",
    ["silence", "noise", "constant", "clipped", "telephone", "fast rate", "one second", "short", "drone"],
)
def test_odd_sounds_have_defined_values_and_what_has_no_beat_says_so(tmp_path: Path, name: str) -> None:
    found = heard(tmp_path, *odd(name))
    assert np.isfinite([getattr(found, field) for field in AudioFeatures.__dataclass_fields__]).all()
    if name != "telephone":
        assert found.tempo_confidence < 0.5
    if name in ("silence", "noise", "constant", "short"):
        assert found.key_confidence < 0.5
    if name == "silence":
        assert (found.silence_start, found.heard_tempo, found.true_peak) == (3.0, 0.0, -100.0)


def test_the_mix_is_a_low_pass_and_chunks_do_not_matter() -> None:
    t = np.arange(44100) / 44100
    low, high = np.sin(2 * np.pi * 1000 * t), np.sin(2 * np.pi * 9000 * t)
    sound = np.stack([low, low + 2 * high], axis=1).astype(np.float32)
    whole = Mix(44100).push(sound)
    pieces = Mix(44100)
    parts = np.concatenate([pieces.push(part) for part in np.array_split(sound, 7)])
    np.testing.assert_allclose(parts, whole[: len(parts)], atol=1e-5)
    assert np.sqrt(np.mean(whole[200:] ** 2)) == pytest.approx(np.sqrt(0.5), rel=0.01)  # of the low tone alone


@pytest.mark.parametrize("frequency", [997.0, 11025.0 - 31, 15000.0])
def test_the_true_peak_is_that_of_much_oversampled_sound(frequency: float) -> None:
    rng = np.random.default_rng(2)
    t = np.arange(20000) / 44100
    sound = (0.5 * np.sin(2 * np.pi * frequency * t + 0.7) + 0.02 * rng.normal(size=len(t))).astype(np.float32)
    sound[:200] *= np.linspace(0, 1, 200)
    sound[-200:] *= np.linspace(1, 0, 200)
    peak = Peak(44100)
    for part in np.array_split(sound[:, None], 5):
        peak.push(part)
    exact = 20 * np.log10(np.abs(resample_poly(sound.astype(np.float64), 16, 1)).max())
    assert peak.finish() == pytest.approx(exact, abs=0.2)


def test_levels_by_hand() -> None:
    """Ten seconds of silence, twenty at -30 LUFS, twenty at -20, ten of silence: EBU Tech 3342 says 10 LU."""

    def power(level: float) -> float:
        return float(10 ** ((level + 0.691) / 10))

    powers = np.repeat([0.0, power(-30), power(-20), 0.0], [100, 200, 200, 100])
    assert loudness_range(powers) == pytest.approx(10, abs=0.01)
    found = edges(powers, -21.0)
    assert (found.start, found.end, found.fade_in, found.fade_out) == (10.0, 50.0, 19.2, 0.0)
    assert (found.start_loudness, found.end_loudness) == (pytest.approx(-30), pytest.approx(-20))


def test_the_edges_are_those_that_sound(tmp_path: Path) -> None:
    t = np.arange(20 * RATE) / RATE
    quiet, loud = 0.01 * np.sin(2 * np.pi * 300 * t), 0.2 * np.sin(2 * np.pi * 3000 * t)
    found = heard(tmp_path, np.concatenate([np.zeros(2 * RATE), quiet, loud, np.zeros(3 * RATE)]))
    assert found.silence_start == pytest.approx(2.0, abs=0.15)
    assert found.silence_end == pytest.approx(3.0, abs=0.15)
    assert found.start_brightness == pytest.approx(300, rel=0.1)
    assert found.end_brightness == pytest.approx(3000, rel=0.1)
    assert found.end_loudness - found.start_loudness > 24


def test_a_change_of_volume_changes_nothing_but_levels(tmp_path: Path) -> None:
    sound = notes(MINOR, 64) + clicks(110, 10)
    loud, soft = heard(tmp_path, sound), heard(tmp_path, sound / 2)
    for name in ("heard_tempo", "heard_key", "heard_mode", "onset_density", "fade_in", "silence_end"):
        assert getattr(loud, name) == getattr(soft, name), name
    assert loud.loudness - soft.loudness == pytest.approx(6.02, abs=0.01)


def test_tuning_of_nothing() -> None:
    assert tuning(Pitches(11025.0).blocks) == (0.0, 0.0)
