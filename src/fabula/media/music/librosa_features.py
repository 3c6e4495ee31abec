"""The `fma` features: 74 features of librosa by 7 statistics, and the duration, as the FMA dataset has them.

FMA computed them on whole tracks at their own rate, but called everything that starts from the power spectrum, except
the mel spectrogram, without saying so; librosa then takes 22,050 Hz. Whoever applies a model trained on FMA's table
must do the same, so this does. The spectrum and the constant-Q transform are computed once for all.
"""

import os
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Floats
from fabula.errors import FileError, import_extra, shown
from fabula.media.medium import Spec, Stop, Stopped
from fabula.media.music.audio import play
from fabula.media.music.loudness import Samples

STATISTICS = ("mean", "std", "skew", "kurtosis", "median", "min", "max")  # the paper's order, Appendix A.1
SIZES = {  # in the order of FMA's table
    "chroma_cens": 12, "chroma_cqt": 12, "chroma_stft": 12, "mfcc": 20, "rmse": 1, "spectral_bandwidth": 1,
    "spectral_centroid": 1, "spectral_contrast": 7, "spectral_rolloff": 1, "tonnetz": 6, "zcr": 1,
}  # fmt: skip
FEATURE_NAMES = (*(f"{name}_{i + 1:02d}" for name, size in SIZES.items() for i in range(size)), "duration")

_WINDOW, _HOP = 2048, 512
_ASSUMED_RATE = 22050  # librosa's default, which FMA's calls leave in place
_HIGHEST_PITCH = 4000.0  # Hz, librosa's
_SHORTEST = 1.0  # seconds: the longest filter of the constant-Q transform must fit in


def fma_features(path: str | os.PathLike[str], stop: Stop = lambda: False) -> Floats:
    """Measure one audio file of at least one second as FMA did: shape (75, 7), in the order of `FEATURE_NAMES`.

    74 features by mean, std, skew, kurtosis, median, min and max over the track; the last row is the duration in
    seconds, seven times.
    """
    librosa = _librosa()
    name = os.fspath(path)
    parts, rate = play(name, lambda sound: ([c.mean(axis=1) for c in sound.chunks], sound.rate), stop=stop)
    if not parts:
        raise FileError(f"{shown(name)}: has no samples in it")
    mono = np.concatenate(parts)
    if len(mono) < _SHORTEST * rate:
        raise FileError(f"{shown(name)}: must be at least {_SHORTEST:g} s long; it is {len(mono) / rate:.2f} s")
    if not np.isfinite(mono).all():
        raise FileError(f"{shown(name)}: some samples are not finite numbers")
    curves = _curves(librosa, mono, rate, stop)
    rows = [statistics(curves[feature]) for feature in SIZES]
    return np.concatenate([*rows, np.full((1, len(STATISTICS)), len(mono) / rate)])


def statistics(curves: NDArray[np.floating]) -> Floats:
    """Seven statistics of each row, shape (f, frames) -> (f, 7); a constant row has skew 0 and kurtosis -3."""
    values = np.asarray(curves, dtype=np.float64)
    mean = values.mean(axis=1)
    centred = values - mean[:, None]
    squares = centred * centred
    variance = squares.mean(axis=1)
    # Rounding alone makes a constant row vary a little.
    varies = variance > (np.finfo(np.float64).eps * np.abs(mean)) ** 2
    scale = np.where(varies, variance, 1.0)
    skew = np.where(varies, np.einsum("ij,ij->i", squares, centred) / values.shape[1], 0.0) / scale**1.5
    kurtosis = np.where(varies, np.einsum("ij,ij->i", squares, squares) / values.shape[1], 0.0) / scale**2 - 3
    order = [np.median(values, axis=1), values.min(axis=1), values.max(axis=1)]
    return np.stack([mean, np.sqrt(variance), skew, kurtosis, *order], axis=1)


def _curves(librosa: ModuleType, mono: Samples, rate: int, stop: Stop) -> dict[str, NDArray[np.floating]]:
    """Each feature over time, (size, frames)."""
    feature, assumed = librosa.feature, _ASSUMED_RATE
    spectrum = np.abs(librosa.stft(mono, n_fft=_WINDOW, hop_length=_HOP))
    if stop():
        raise Stopped
    tuning = _tuning(librosa, spectrum, rate)
    cqt = np.abs(librosa.cqt(mono, sr=rate, hop_length=_HOP, bins_per_octave=12, n_bins=84, tuning=tuning))
    cens = feature.chroma_cens(C=cqt, n_chroma=12, n_octaves=7)
    if stop():
        raise Stopped
    power = spectrum**2
    power_tuning = _tuning(librosa, power, assumed)
    mel = feature.melspectrogram(sr=rate, S=power)
    centroid = feature.spectral_centroid(S=spectrum, sr=assumed)
    return {
        "chroma_cens": cens,
        "chroma_cqt": feature.chroma_cqt(C=cqt, n_chroma=12, n_octaves=7),
        "chroma_stft": feature.chroma_stft(S=power, sr=assumed, n_chroma=12, tuning=power_tuning),
        "mfcc": feature.mfcc(S=librosa.power_to_db(mel), n_mfcc=20),
        "rmse": feature.rms(S=spectrum),
        "spectral_bandwidth": feature.spectral_bandwidth(S=spectrum, sr=assumed, centroid=centroid),
        "spectral_centroid": centroid,
        "spectral_contrast": feature.spectral_contrast(S=spectrum, sr=assumed, n_bands=6),
        "spectral_rolloff": feature.spectral_rolloff(S=spectrum, sr=assumed),
        "tonnetz": feature.tonnetz(chroma=cens),
        "zcr": feature.zero_crossing_rate(mono, frame_length=_WINDOW, hop_length=_HOP),
    }


def _tuning(librosa: ModuleType, spectrum: Samples, rate: int) -> float:
    """How far the sound is off A = 440 Hz, in bins: librosa's estimate, from a spectrum that is there already."""
    # Pitches are looked for up to 4 kHz only, so the spectrum is cut a little above that; a spectrum of fewer bins at a
    # rate lower by as much has the same frequencies.
    least = 0.1 * spectrum.max(axis=0, keepdims=True)  # librosa's threshold, which sees the whole spectrum
    bins = min(len(spectrum), int(_HIGHEST_PITCH * _WINDOW / rate) + 4)
    window = 2 * (bins - 1)
    pitches, sizes = librosa.piptrack(
        S=spectrum[:bins], sr=rate * window / _WINDOW, n_fft=window, fmax=_HIGHEST_PITCH, ref=least
    )
    found = pitches > 0
    if not found.any():
        return 0.0
    found &= sizes >= np.median(sizes[found])
    return float(librosa.pitch_tuning(pitches[found], resolution=0.01, bins_per_octave=12))


def _librosa() -> ModuleType:
    return import_extra("librosa", extra="fma", purpose="measuring the fma features")


SPEC = Spec("fma", 1, FEATURE_NAMES, fma_features, (len(FEATURE_NAMES), len(STATISTICS)), _librosa)
