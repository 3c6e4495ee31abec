"""What is heard, against sounds whose tempo, key, level and edges are known because they were made so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import resample_poly

from fabula.media.music.heard import Mix, mix_channels
from fabula.media.music.loudness import Peak, edges, loudness_range
from fabula.media.music.tempo_and_key import Pitches, tuning

from .sounds import MAJOR, MINOR, RATE, clicks, drums, heard, notes


@pytest.mark.parametrize(("chords", "mode"), [(MAJOR, 1), (MINOR, 0)])
@pytest.mark.parametrize("key", [0, 6, 9])
def test_cadences_are_in_their_key(tmp_path: Path, chords: list[list[int]], mode: int, key: int) -> None:
    found = heard(tmp_path, notes(chords, 60 + key))
    assert (found.heard_key, found.heard_mode) == (key, mode)
    assert (found.end_key, found.end_mode) == (key, mode)


_HOUSE = ("x...x...x...x...", "....x.......x...", "..x...x...x...x.")
_HIP_HOP = ("x......x..x.....", "....x.......x...", "x.x.x.x.x.x.x.x.")


@pytest.mark.parametrize(("pattern", "tempo"), [*((_HOUSE, beats) for beats in (118, 124, 128, 134)), (_HIP_HOP, 88)])
def test_drums_tell_the_octave_of_a_tempo(tmp_path: Path, pattern: tuple[str, str, str], tempo: float) -> None:
    found = heard(tmp_path, drums(tempo, *pattern))
    assert found.heard_tempo == pytest.approx(tempo, rel=0.02)
    assert found.tempo_confidence >= 0.5


def test_the_tuning_is_heard_and_taken_out(tmp_path: Path) -> None:
    found = heard(tmp_path, notes(MAJOR, 62, cents=35))
    assert found.tuning == pytest.approx(35, abs=6)
    assert (found.heard_key, found.heard_mode) == (2, 1)


def test_the_mix_is_a_low_pass_and_chunks_do_not_matter() -> None:
    t = np.arange(44100) / 44100
    low, high = np.sin(2 * np.pi * 1000 * t), np.sin(2 * np.pi * 9000 * t)
    sound = np.stack([low, low + 2 * high], axis=1).astype(np.float32)
    mono = mix_channels(sound)
    whole = Mix(44100).push(mono)
    pieces = Mix(44100)
    parts = np.concatenate([pieces.push(part) for part in np.array_split(mono, 7)])
    np.testing.assert_allclose(parts, whole[: len(parts)], atol=1e-5)
    assert np.sqrt(np.mean(whole[200:] ** 2)) == pytest.approx(np.sqrt(0.5), rel=0.01)  # of the low tone alone


@pytest.mark.parametrize("frequency", [997.0, 11025.0 - 31, 15000.0])
def test_the_true_peak_is_that_of_much_oversampled_sound(frequency: float) -> None:
    rng = np.random.default_rng(2)
    t = np.arange(20000) / 44100
    sound = (0.5 * np.sin(2 * np.pi * frequency * t + 0.7) + 0.02 * rng.normal(size=len(t))).astype(np.float32)
    sound[:200] *= np.linspace(0, 1, 200)
    sound[-200:] *= np.linspace(1, 0, 200)
    peak = Peak(44100, 1)
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
