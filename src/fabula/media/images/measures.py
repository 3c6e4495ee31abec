"""What is measured of a picture: light, colour, detail, where its subject is, its format, a hash of how it looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from fabula.core.essence import Floats
from fabula.media.images.colours import lab
from fabula.media.images.opening import open_picture, pillow
from fabula.media.images.palette import COLOURS, palette_codes
from fabula.media.spec import Spec, Stop, Stopped

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = 256  # pixels of the longer side that is measured
_DARK, _LIGHT = 25.0, 80.0  # of lightness: shadows lie below, highlights above
_GREY = 4.0  # of chroma, on average: below it a picture is black and white
_EDGE = 5.0  # of lightness from one pixel to the next
_BINS = 64  # of lightness, for its entropy
_SMALL = 64  # pixels square, in which a subject is looked for
_HASH = 8

MEASURES = (
    "aspect", "brightness", "contrast", "key_low", "key_high", "warmth", "green_red", "chroma", "hue", "hue_agreement",
    "bw", "colourfulness", "edge_density", "horizontality", "sharpness", "entropy", "symmetry", "top_bottom",
    "subject_x", "subject_y", "subject_spread", "subject_size", "hash_a", "hash_b", *COLOURS,
)  # fmt: skip


def measure_picture(path: str, stop: Stop = lambda: False) -> Floats:
    """Measure one picture, decoded at a reduced size and upright.

    Parameters
    ----------
    path
        A file of pictures.
    stop
        True gives up with `Stopped`.

    Returns
    -------
    Shape (29,), as `MEASURES` names them.
    """
    if stop():
        raise Stopped
    return measures_of(open_picture(path, SIZE))


def measures_of(picture: Image) -> Floats:
    """Measure a picture in memory: RGB, its longer side at most 256 pixels.

    Returns
    -------
    Shape (29,): ``aspect`` is width by height; ``brightness`` and ``contrast`` mean and deviation of L*; ``key_low``
    and ``key_high`` the shares of shadows and highlights; ``warmth`` and ``green_red`` the means of b* and a*;
    ``chroma`` and ``colourfulness`` (Hasler and Suesstrunk); ``hue`` in radians and how much the pixels agree on it;
    ``bw`` 1 for black and white; ``edge_density``, ``horizontality``, ``sharpness``, ``entropy``; ``symmetry`` left to
    right; ``top_bottom`` how much lighter the top is; where the ``subject`` is, how spread and how large; a 64-bit
    hash of the picture's gradients, as two numbers; and its palette of at most five colours, 0 where there are fewer.

    Examples
    --------
    >>> from PIL import Image
    >>> white = dict(zip(MEASURES, measures_of(Image.new("RGB", (30, 20), "white")).tolist()))
    >>> white["aspect"], round(white["brightness"]), white["bw"], white["subject_x"]
    (1.5, 100, 1.0, 0.5)
    """
    rgb = np.asarray(picture)
    light, a, b = lab(rgb)
    grey = np.asarray(picture.convert("L"), dtype=np.float32)
    down, across = _gradient(light)
    height, width = light.shape
    chroma = np.hypot(a, b)
    turn = complex(a.sum(dtype=np.float64), b.sum(dtype=np.float64))
    half = max(1, height // 2)
    values = [
        width / height,
        light.mean(), light.std(), (light < _DARK).mean(), (light > _LIGHT).mean(),
        b.mean(), a.mean(), chroma.mean(), np.angle(turn), abs(turn) / max(float(chroma.sum()), 1e-6),
        float(chroma.mean() < _GREY), _colourfulness(rgb),
        (np.hypot(down, across) > _EDGE).mean(),
        np.log((np.abs(down).mean() + 1e-3) / (np.abs(across).mean() + 1e-3)),
        np.log1p(ndimage.laplace(light).var()), _entropy(light), _symmetry(light),
        grey[:half].mean() - grey[-half:].mean(),
        *_subject(picture), *_hashed(picture), *palette_codes(rgb),
    ]  # fmt: skip
    return np.array(values, dtype=np.float64)


def _gradient(values: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Downwards and across; zero where a picture is one pixel high or wide."""
    return [np.gradient(values, axis=k) if values.shape[k] > 1 else np.zeros_like(values) for k in (0, 1)]


def _colourfulness(rgb: NDArray[np.uint8]) -> float:
    red, green, blue = np.moveaxis(rgb.astype(np.float32), -1, 0)
    first, second = red - green, (red + green) / 2 - blue
    return float(np.hypot(first.std(), second.std()) + 0.3 * np.hypot(first.mean(), second.mean()))


def _entropy(light: NDArray[np.float32]) -> float:
    counts = np.bincount(np.clip(light * (_BINS / 100), 0, _BINS - 1).astype(np.intp).ravel(), minlength=_BINS)
    shares = counts[counts > 0] / light.size
    return float(-(shares * np.log2(shares)).sum())


def _symmetry(light: NDArray[np.float32]) -> float:
    """Correlation of a picture with its mirror image; 1 where it is of one tone."""
    calm = ndimage.gaussian_filter(light, 3.0)
    centred = calm - calm.mean()
    power = float((centred**2).sum())
    return float((centred * centred[:, ::-1]).sum() / power) if power > 1e-3 * light.size else 1.0


def _subject(picture: Image) -> tuple[float, float, float, float]:
    """Where what stands out lies (x, y), how spread it is and how large, by the residual of the spectrum.

    After Hou and Zhang (2007): what remains of the logarithm of a picture's spectrum when its trend is taken off.
    """
    small = picture.convert("L").resize((_SMALL, _SMALL), pillow().Resampling.BOX)
    spectrum = np.fft.fft2(np.asarray(small, dtype=np.float64))
    if np.abs(spectrum.ravel()[1:]).max() < 1.0:  # of one tone: nothing stands out
        return 0.5, 0.5, 0.0, 0.0
    size = np.log(np.abs(spectrum) + 1.0)
    rest = size - ndimage.uniform_filter(size, 3, mode="nearest")
    map_ = ndimage.gaussian_filter(np.abs(np.fft.ifft2(np.exp(rest + 1j * np.angle(spectrum)))) ** 2, 2.5)
    weight = map_ / map_.sum()
    at = (np.arange(_SMALL) + 0.5) / _SMALL
    across, down = weight.sum(axis=0), weight.sum(axis=1)
    x, y = float(across @ at), float(down @ at)
    spread = float(np.sqrt(across @ (at - x) ** 2 + down @ (at - y) ** 2))
    return x, y, spread, float((map_ > 1.5 * map_.mean()).mean())


def _hashed(picture: Image) -> tuple[float, float]:
    """64 bits, each whether the picture gets lighter to the right at one of 8 x 8 places: two numbers below 2^32."""
    small = picture.convert("L").resize((_HASH + 1, _HASH), pillow().Resampling.BOX)
    values = np.asarray(small, dtype=np.int16)
    bits = (values[:, 1:] > values[:, :-1]).ravel().reshape(2, 32)
    powers = 2.0 ** np.arange(31, -1, -1)
    first, second = bits @ powers
    return float(first), float(second)


def _row(path: str, stop: Stop) -> Floats:
    return measure_picture(path, stop)


def _prepare() -> None:
    pillow()


SPEC = Spec("images", version=2, feature_names=MEASURES, measure=_row, shape=(len(MEASURES),), prepare=_prepare)
