from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from fabula.errors import InputError
from fabula.media.music.loudness import FLOOR, Meter, channel_weights, chunk_frames

RATES = (22050, 44100, 48000, 96000)
Array = NDArray[np.float64]


def steps(parts: list[tuple[float, float]], rate: int = 48000, frequency: float = 1000.0) -> Array:
    """Stereo sine, in phase, of (dBFS, seconds) one after another, as EBU Tech 3341 describes them."""
    level = np.concatenate([np.full(round(s * rate), 10 ** (db / 20)) for db, s in parts])
    wave = level * np.sin(2 * np.pi * frequency * np.arange(len(level)) / rate)
    return np.stack([wave, wave], axis=1)


def loudness(samples: Array, rate: int) -> float:
    """Of samples (frames,) or (frames, channels), as chunks of a stream."""
    array, size = samples.astype(np.float32).reshape(len(samples), -1), chunk_frames(rate)
    meter = Meter(rate, array.shape[1])
    for start in range(0, len(array), size):
        meter.push(array[start : start + size])
    return meter.loudness()


@pytest.mark.parametrize("rate", RATES)
def test_a_sine_reads_as_its_level(rate: int) -> None:
    assert loudness(steps([(-23, 5)], rate, 997.0), rate) == pytest.approx(-23.0, abs=0.1)
    assert loudness(steps([(-23, 5)], rate, 997.0)[:, 0], rate) == pytest.approx(-26.0, abs=0.1)


TECH_3341 = {
    1: ([(-23, 20)], -23.0),
    2: ([(-33, 20)], -33.0),
    3: ([(-36, 10), (-23, 60), (-36, 10)], -23.0),
    4: ([(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)], -23.0),
    5: ([(-26, 20), (-20, 20.1), (-26, 20)], -23.0),
}


@pytest.mark.parametrize("case", TECH_3341)
def test_ebu_tech_3341(case: int) -> None:
    parts, expected = TECH_3341[case]
    assert loudness(steps(parts), 48000) == pytest.approx(expected, abs=0.1)


def test_ebu_tech_3341_case_6_five_channels() -> None:
    wave = steps([(0, 20)])[:, 0]
    levels = [-28, -28, -24, -np.inf, -30, -30]  # L, R, C, LFE, Ls, Rs
    sound = np.stack([10 ** (level / 20) * wave for level in levels], axis=1)
    assert loudness(sound, 48000) == pytest.approx(-23.0, abs=0.1)
    sound[:, 3] = wave  # however loud, the effects channel does not count
    assert loudness(sound, 48000) == pytest.approx(-23.0, abs=0.1)


def by_the_book(sound: Array, rate: int) -> float:
    """BS.1770-4 sample by sample and block by block."""
    from scipy.signal import lfilter

    from fabula.media.music.loudness import sections

    for numerator, denominator in sections(rate):
        sound = lfilter(numerator, [1.0, *denominator], sound, axis=0)
    size, hop = round(0.4 * rate), round(0.1 * rate)
    blocks = [np.mean(sound[i : i + size] ** 2, axis=0).sum() for i in range(0, len(sound) - size + 1, hop)]
    passed = [z for z in blocks if -0.691 + 10 * np.log10(z) > -70]
    gate = -0.691 + 10 * np.log10(np.mean(passed)) - 10
    return float(-0.691 + 10 * np.log10(np.mean([z for z in passed if -0.691 + 10 * np.log10(z) > gate])))


@pytest.mark.parametrize("rate", [8000, 11025, 11030, *RATES])
def test_as_sample_by_sample(rate: int) -> None:
    rng = np.random.default_rng(rate)
    sound = rng.normal(size=(round(7.3 * rate), 2)) * np.exp(rng.normal(size=(round(7.3 * rate), 1)))
    sound[2 * rate : 4 * rate] *= 0.01  # gated out
    sound += 0.3  # and a constant the high pass must remove
    assert loudness(sound, rate) == pytest.approx(by_the_book(sound, rate), abs=0.005)


def test_standard_coefficients_at_48_khz() -> None:
    from fabula.media.music.loudness import sections

    (shelf, shelf_poles), (_, high_poles) = sections(48000)
    np.testing.assert_allclose(shelf, [1.53512485958697, -2.69169618940638, 1.19839281085285], atol=1e-9)
    np.testing.assert_allclose(shelf_poles, [-1.69065929318241, 0.73248077421585], atol=1e-9)
    np.testing.assert_allclose(high_poles, [-1.99004745483398, 0.99007225036621], atol=1e-9)


@given(gain=st.floats(-30, 10))
def test_gain_adds(gain: float) -> None:
    sound = np.random.default_rng(3).normal(size=(16000, 2)) * 0.1
    assert loudness(sound * 10 ** (gain / 20), 8000) == pytest.approx(loudness(sound, 8000) + gain, abs=1e-3)


def test_silence_and_what_is_softer_has_the_floor() -> None:
    assert loudness(np.zeros(48000), 48000) == FLOOR
    assert loudness(steps([(-75, 2)]), 48000) == FLOOR
    assert loudness(np.zeros(10), 48000) == FLOOR


def test_shorter_than_a_block_is_measured_over_what_there_is() -> None:
    assert loudness(steps([(-23, 0.35)]), 48000) == pytest.approx(-23, abs=0.3)
    assert loudness(steps([(-23, 0.05)]), 48000) == pytest.approx(-23, abs=1.0)


def test_a_stream_is_its_array_also_when_chunks_are_overwritten() -> None:
    sound = np.random.default_rng(0).normal(size=(80000, 2)).astype(np.float32)
    size = chunk_frames(8000)
    room = np.empty((size, 2), np.float32)

    meter = Meter(8000, 2)
    for start in range(0, len(sound), size):
        part = sound[start : start + size]
        room[: len(part)] = part
        meter.push(room[: len(part)])
    assert meter.loudness() == loudness(sound, 8000)


@pytest.mark.parametrize("channels", range(1, 11))
def test_ogg_order_holds_the_same_weights(channels: int) -> None:
    plain, ogg = channel_weights(channels), channel_weights(channels, vorbis=True)
    assert sorted(plain) == sorted(ogg)
    assert (plain == 0).sum() == (6 <= channels <= 8)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
def test_samples_that_are_no_numbers_are_refused(bad: float) -> None:
    sound = np.zeros(40000)
    sound[20000] = bad
    with pytest.raises(InputError, match="not finite numbers"):
        loudness(sound, 8000)


def test_a_rate_that_is_too_low_is_refused() -> None:
    with pytest.raises(InputError, match="at least 4000 Hz to measure loudness; got 1000"):
        loudness(np.zeros(10), 1000)


def test_an_empty_stream_is_refused() -> None:
    with pytest.raises(InputError, match="no samples"):
        Meter(48000, 2).loudness()
