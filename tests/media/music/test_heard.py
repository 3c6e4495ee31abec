"""The six things heard: descriptors against the reference, where it is at hand, and what is made of them."""

from __future__ import annotations

import importlib.util
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from scipy.ndimage import median_filter
from scipy.signal import detrend, find_peaks, firwin, resample_poly
from scipy.signal.windows import hann as hann_of_scipy

from fabula.media.music import heard
from fabula.media.music.audio import measure
from fabula.media.music.heard import HEARD, RATE, Excerpts, _ridges, describe, hear, running_median
from fabula.media.music.loudness import Meter, Samples, chunk_frames, low_pass

from .sounds import MAJOR, clicks, notes


def piece(seconds: float, seed: int) -> Samples:
    """Chords that swell, a beat of noise, a little hiss, in stereo."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    tones = sum(np.sin(2 * np.pi * f * t + f) * (1 + np.sin(t * f / 50)) * 0.05 for f in (110, 277, 440, 660, 1500))
    beat = np.exp(-((t * (1.5 + seed / 3)) % 1) * 12) * rng.normal(size=len(t)) * 0.2
    mono = tones * (1 + 0.5 * np.sin(t / 3)) + beat + rng.normal(size=len(t)) * 0.003
    return np.stack([mono, mono * 0.8 + rng.normal(size=len(t)) * 0.01], axis=1).astype(np.float32)


def powers(sound: Samples) -> np.ndarray:
    """The K-weighted power of every 100 ms."""
    meter, size = Meter(RATE, sound.shape[1]), chunk_frames(RATE)
    for start in range(0, len(sound), size):
        meter.push(sound[start : start + size])
    return meter.powers


@pytest.fixture(scope="module")
def reference(data: Path) -> Any:
    """The program that measured the descriptors the weights were fitted to, where it is at hand."""
    path = data / "sound" / "descriptors.py"
    if not path.is_file():
        pytest.skip("the reference is not here")
    spec = importlib.util.spec_from_file_location("reference_descriptors", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("up", "down"), [(441, 640), (147, 320), (441, 160), (7, 12)])
@pytest.mark.parametrize("count", [0, 1, 999, 50_077])
def test_another_rate_is_that_of_scipy_to_the_last_bit(up: int, down: int, count: int) -> None:
    samples = np.random.default_rng(0).normal(size=count).astype(np.float32)
    assert np.array_equal(heard.resample(samples, up, down), resample_poly(samples, up, down))


def test_filters_and_windows_are_those_of_scipy() -> None:
    for factor in (2, 3, 17):
        taps = 12 * factor + 1
        assert np.allclose(low_pass(0.9 / factor, np.hamming(taps)), firwin(taps, 0.9 / factor), atol=1e-15)
    assert np.array_equal(heard.hann(512), hann_of_scipy(512, sym=False))


@pytest.mark.parametrize("digits", [1, 9])
def test_peaks_are_those_of_scipy(digits: int) -> None:
    values = np.random.default_rng(1).normal(size=3000).round(digits)  # of one digit, many are alike in a row
    assert np.array_equal(heard._peaks(values), find_peaks(values)[0])


def test_a_line_is_taken_away_as_scipy_does_it() -> None:
    values = np.random.default_rng(2).normal(size=700).astype(np.float32)
    assert np.array_equal(heard._straighten(values), detrend(values))


@pytest.mark.parametrize(("seconds", "seed"), [(9.0, 0), (31.0, 1)])
def test_descriptors_are_those_of_the_reference(reference: Any, seconds: float, seed: int) -> None:
    sound = piece(seconds, seed)
    expected, found = reference.describe_signal(sound), describe(sound.mean(axis=1), powers(sound))
    assert found is not None
    assert sorted(found) == sorted(_ridges().descriptors)
    assert {name: found[name] for name in found} == pytest.approx({name: expected[name] for name in found}, abs=1e-3)


def test_loudness_of_a_long_track_is_that_of_the_reference(reference: Any, tmp_path: Path) -> None:
    sound = piece(64.0, 2)
    soundfile.write(tmp_path / "x.wav", sound, RATE, subtype="FLOAT")
    reference.decode = lambda path: sound  # its own needs ffmpeg
    expected, found = reference.describe(str(tmp_path / "x.wav")), describe(sound.mean(axis=1), powers(sound))
    assert found is not None
    assert (found["lufs"], found["lra"]) == pytest.approx((expected["lufs"], expected["lra"]), abs=1e-3)


@pytest.mark.parametrize(
    ("rows", "columns", "size"), [(100, 7, 17), (5, 3, 21), (60, 400, 9), (300, 1, 35), (40, 2, 3)]
)
def test_running_medians_are_those_of_scipy(rng: np.random.Generator, rows: int, columns: int, size: int) -> None:
    values = rng.normal(size=(rows, columns)).astype(np.float32)
    np.testing.assert_array_equal(running_median(values, size), median_filter(values, size=(size, 1)))


def test_a_hard_beat_has_more_energy_than_soft_chords() -> None:
    noise = np.random.default_rng(0).normal(size=10 * RATE) * 0.1
    soft, hard = notes(MAJOR, 60), np.tanh(notes(MAJOR, 60) + noise + 8 * clicks(140, 10.0))
    estimates = [hear(one.astype(np.float32), powers(one[:, None].astype(np.float32))) for one in (soft, hard)]
    energy, acousticness = HEARD.index("heard_energy"), HEARD.index("heard_acousticness")
    assert estimates[1][energy] > estimates[0][energy] + 0.1
    assert estimates[1][acousticness] < estimates[0][acousticness]
    assert all((one >= 0).all() and (one <= 1).all() for one in estimates)


def test_too_little_sound_has_no_energy(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "short.wav", piece(0.15, 0), RATE)
    short = measure(tmp_path / "short.wav")
    for found in (hear(np.zeros(5 * RATE, np.float32), np.zeros(50)), [getattr(short, name) for name in HEARD]):
        assert found[0] == 0
        assert all(0 < one < 1 for one in found[1:])


def test_a_file_is_heard_at_any_rate(tmp_path: Path) -> None:
    sound = piece(20.0, 3)
    expected = hear(sound.mean(axis=1), powers(sound))
    for rate, up, down in ((44100, 2, 1), (48000, 320, 147)):
        soundfile.write(tmp_path / "x.wav", resample_poly(sound, up, down), rate, subtype="FLOAT")
        found = measure(tmp_path / "x.wav")
        assert [getattr(found, name) for name in HEARD] == pytest.approx(expected.tolist(), abs=0.05)


def test_excerpts_are_few_and_spread_over_any_length() -> None:
    """Each chunk is told by its only value: chunks of an hour are thinned while they come."""
    for count in (3, 5, 40, 600):
        excerpts = Excerpts(RATE)
        for number in range(count):
            excerpts.push(np.full(10, number, np.float32))
        chosen = np.unique(excerpts.samples()) / max(1, count - 1)
        assert len(chosen) == min(count, 4)
        if count > 4:
            np.testing.assert_allclose(chosen, [0.2, 0.4, 0.6, 0.8], atol=0.21 if count == 5 else 0.11)


def test_every_estimate_has_its_error() -> None:
    said = json.loads(files("fabula.media.music").joinpath("heard.json").read_text(encoding="utf-8"))
    assert {f"heard_{name}" for name in said["heads"]} == set(HEARD)
    assert all(0 < head["error"] < 2 for head in said["heads"].values())
