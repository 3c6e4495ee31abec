from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from fabula.errors import FileError, MissingExtraError
from fabula.media.extraction import extract
from fabula.media.medium import Stopped
from fabula.media.music.librosa_features import FEATURE_NAMES, SIZES, SPEC, STATISTICS, fma_features, statistics

Sounds = Callable[..., Path]


def test_without_librosa_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch, sound: Sounds) -> None:
    monkeypatch.setitem(sys.modules, "librosa", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fabula\[fma\]'"):
        extract([sound()], SPEC)


def test_names() -> None:
    assert sum(SIZES.values()) == 74
    assert len(FEATURE_NAMES) == len(set(FEATURE_NAMES)) == 75
    assert (FEATURE_NAMES[0], FEATURE_NAMES[-2], FEATURE_NAMES[-1]) == ("chroma_cens_01", "zcr_01", "duration")


def test_statistics_as_scipy_has_them(rng: np.random.Generator) -> None:
    from scipy import stats

    x = np.exp(rng.normal(size=(5, 400)))
    expected = [x.mean(1), x.std(1), stats.skew(x, 1), stats.kurtosis(x, 1), np.median(x, 1), x.min(1), x.max(1)]
    np.testing.assert_allclose(statistics(x), np.stack(expected, axis=1), rtol=1e-10)


def test_statistics_of_a_constant() -> None:
    np.testing.assert_allclose(
        statistics(np.full((1, 50), 0.3, np.float32)), [[0.3, 0, 0, -3, 0.3, 0.3, 0.3]], atol=1e-7
    )


def one_by_one(y: NDArray[np.float32], sr: int) -> NDArray[np.float64]:
    """Each feature by a plain call of its own, with FMA's arguments: (74, 7)."""
    import librosa
    from librosa import feature as f

    def cqt() -> NDArray[np.float32]:
        return np.abs(librosa.cqt(y, sr=sr, hop_length=512, bins_per_octave=12, n_bins=84, tuning=None))

    def stft() -> NDArray[np.float32]:
        return np.abs(librosa.stft(y, n_fft=2048, hop_length=512))

    mel = f.melspectrogram(sr=sr, S=stft() ** 2)
    curves = {
        "chroma_cens": f.chroma_cens(C=cqt(), n_chroma=12, n_octaves=7),
        "chroma_cqt": f.chroma_cqt(C=cqt(), n_chroma=12, n_octaves=7),
        "chroma_stft": f.chroma_stft(S=stft() ** 2, n_chroma=12),
        "mfcc": f.mfcc(S=librosa.power_to_db(mel), n_mfcc=20),
        "rmse": f.rms(S=stft()),
        "spectral_bandwidth": f.spectral_bandwidth(S=stft()),
        "spectral_centroid": f.spectral_centroid(S=stft()),
        "spectral_contrast": f.spectral_contrast(S=stft(), n_bands=6),
        "spectral_rolloff": f.spectral_rolloff(S=stft()),
        "tonnetz": f.tonnetz(chroma=f.chroma_cens(C=cqt(), n_chroma=12, n_octaves=7)),
        "zcr": f.zero_crossing_rate(y, frame_length=2048, hop_length=512),
    }
    return np.concatenate([statistics(curves[name]) for name in SIZES])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("rate", [22050, 44100])
def test_as_plain_calls_one_by_one(tmp_path: Path, rate: int, rng: np.random.Generator) -> None:
    pytest.importorskip("librosa")
    t = np.arange(4 * rate) / rate
    wave = sum(np.sin(2 * np.pi * f * t) * (1 + np.sin(i * t)) for i, f in enumerate((111, 166, 278, 445, 1010)))
    stereo = (np.stack([wave, 0.5 * wave], axis=1) * 0.08 + rng.normal(size=(len(t), 2)) * 0.01).astype(np.float32)
    soundfile.write(tmp_path / "sound.wav", stereo, rate, subtype="FLOAT")
    features = fma_features(tmp_path / "sound.wav")
    assert features.shape == (75, len(STATISTICS))
    np.testing.assert_allclose(features[:74], one_by_one(stereo.mean(axis=1), rate), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(features[74], 4.0)


@pytest.mark.slow
def test_silence_short_sound_and_stopping(sound: Sounds, tmp_path: Path) -> None:
    pytest.importorskip("librosa")
    soundfile.write(tmp_path / "silence.wav", np.zeros(22050), 22050)
    assert np.isfinite(extract([tmp_path / "silence.wav"], SPEC).features).all()
    with pytest.raises(FileError, match=r"must be at least 1 s long; it is 0\.50 s"):
        fma_features(sound(seconds=0.5))
    with pytest.raises(Stopped):
        fma_features(sound(), stop=lambda: True)
