"""What is measured of a picture: light, colour, detail, where its subject is, its format, a hash of how it looks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.errors import shown
from fabula.media.facts import Fact
from fabula.media.images.picture_files import PAGE, PDF, open_picture, pillow, render_pages
from fabula.media.medium import Spec, Stop, Stopped

if TYPE_CHECKING:
    from PIL.Image import Image

# Colours as the eye tells them apart: from sRGB to CIE L*a*b* (D65).

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
_CUBIC = (6 / 29) ** 3  # below it the curve of lightness is a line
_STEPS = 4096  # of the tabled cube root


def lab(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Lightness (0 to 100), green to red and blue to yellow of sRGB pixels: shape (..., 3) to (3, ...).

    >>> lab(np.array([[255, 255, 255], [0, 0, 0], [255, 0, 0]], np.uint8)).round().astype(int).T.tolist()
    [[100, 0, 0], [0, 0, 0], [53, 80, 67]]
    """
    linear = _linear()[rgb]  # (..., 3)
    xyz = linear @ (_TO_XYZ / _WHITE[:, np.newaxis]).T.astype(np.float32)
    root = _roots()[np.rint(np.clip(xyz, 0.0, 1.0) * (_STEPS * 16)).astype(np.int32)]
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@cache
def _linear() -> NDArray[np.float32]:
    """From a byte of sRGB to light, shape (256,)."""
    value = np.arange(256) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4).astype(np.float32)


@cache
def _roots() -> NDArray[np.float32]:
    """The cube root that lightness follows, tabled: a look-up takes a tenth of the time."""
    light: Floats = np.arange(_STEPS * 16 + 1) / (_STEPS * 16)
    return np.where(light > _CUBIC, np.cbrt(light), light / (3 * (6 / 29) ** 2) + 4 / 29).astype(np.float32)


def srgb(colour: Floats) -> NDArray[np.uint8]:
    """The way back: bytes of sRGB of one colour (3,), the nearest there are."""
    y = (colour[0] + 16) / 116
    root = np.array([y + colour[1] / 500, y, y - colour[2] / 200])
    xyz = np.where(root > 6 / 29, root**3, 3 * (6 / 29) ** 2 * (root - 4 / 29)) * _WHITE
    linear = np.clip(np.linalg.solve(_TO_XYZ, xyz), 0.0, 1.0)
    value = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * value), dtype=np.uint8)


# The few colours that a picture is made of, in CIE L*a*b*, each with the share of the picture it covers.

COLOURS = tuple(f"palette_{k}" for k in range(1, 6))  # the features that hold them, the largest first
_SMALL = 32  # pixels of the longer side that are looked at
_ROUNDS = 8
_SAME = 9.0  # colours nearer than this in L*a*b* are one


def palette_codes(rgb: NDArray[np.uint8]) -> list[float]:
    """The colours of a picture (height, width, 3), the largest first, each as one number; 0 where fewer than five.

    A number is four bytes: L* (as 255 parts of 100), a* and b* (with 128 added) and the share (of 255).

    >>> half = np.zeros((8, 8, 3), np.uint8)
    >>> half[:, :2] = 255
    >>> [(tuple(colour), round(share, 2)) for colour, share in decode_palette(palette_codes(half))]
    [((0.0, 0.0, 0.0), 0.75), ((100.0, 0.0, 0.0), 0.25)]
    """
    step = max(1, -(-max(rgb.shape[:2]) // _SMALL))
    pixels = lab(np.ascontiguousarray(rgb[::step, ::step])).reshape(3, -1).T.astype(np.float64)  # (p, 3)
    centres, shares = _merge_close(*_cluster(pixels, len(COLOURS)))
    order = np.argsort(-shares, kind="stable")
    found = [_encode_colour(centres[k], shares[k]) for k in order]
    return [*found, *[0.0] * (len(COLOURS) - len(found))]


def decode_palette(codes: list[float] | Floats) -> list[tuple[tuple[float, float, float], float]]:
    """((L*, a*, b*), share) of each colour."""
    found = []
    for code in codes:
        if np.isfinite(code) and code > 0:
            light, a, b, share = (int(code) >> shift & 255 for shift in (24, 16, 8, 0))
            found.append(((round(light / 2.55, 1), float(a - 128), float(b - 128)), share / 255))
    return found


def palettes(collection: Collection) -> list[list[tuple[tuple[float, float, float], float]]]:
    """The colours of each picture; empty lists where they are not known."""
    there = [name for name in COLOURS if name in collection.feature_names]
    if not there or collection.features.ndim != 2:
        return [[] for _ in collection.items]
    return [decode_palette(row) for row in collection.columns(there)]


def picture_facts(collection: Collection) -> tuple[Fact, ...]:
    """The palette of each picture, where it is known."""
    found = palettes(collection)
    if not any(found):
        return ()
    texts = tuple(" ".join(as_hex(colour) for colour, _ in one) for one in found)
    lab = [" ".join(f"{light:.0f},{a:.0f},{b:.0f}:{share:.2f}" for (light, a, b), share in one) for one in found]
    return (Fact("palette", texts, {"palette": texts, "palette_lab": lab}, coloured=True),)


def as_hex(colour: tuple[float, float, float]) -> str:
    """A colour as pages write it."""
    red, green, blue = srgb(np.array(colour))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _cluster(pixels: Floats, count: int) -> tuple[Floats, Floats]:
    """Centres (k, 3) and shares (k,) by k-means, begun at pixels far from each other: nothing is left to chance."""
    centres = [pixels[((pixels - pixels.mean(axis=0)) ** 2).sum(axis=1).argmin()]]
    for _ in range(count - 1):
        far = np.min([((pixels - centre) ** 2).sum(axis=1) for centre in centres], axis=0)
        if far.max() <= _SAME**2:
            break
        centres.append(pixels[far.argmax()])
    found = np.array(centres)
    for _ in range(_ROUNDS):
        nearest = ((pixels[:, np.newaxis] - found) ** 2).sum(axis=2).argmin(axis=1)
        counts = np.bincount(nearest, minlength=len(found))
        sums = np.stack([np.bincount(nearest, pixels[:, k], len(found)) for k in range(3)], axis=1)
        found = np.where(counts[:, np.newaxis] > 0, sums / np.maximum(counts, 1)[:, np.newaxis], found)
    return found[counts > 0], counts[counts > 0] / len(pixels)


def _merge_close(centres: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Colours that the eye hardly tells apart as one."""
    while len(centres) > 1:
        apart = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2) + np.diag(np.full(len(centres), np.inf))
        i, j = np.unravel_index(int(apart.argmin()), apart.shape)
        if apart[i, j] >= _SAME:
            break
        both = shares[i] + shares[j]
        centres[i] = (shares[i] * centres[i] + shares[j] * centres[j]) / both
        shares[i] = both
        centres, shares = np.delete(centres, j, axis=0), np.delete(shares, j)
    return centres, shares


def _encode_colour(centre: Floats, share: float) -> float:
    parts = (centre[0] * 2.55, centre[1] + 128, centre[2] + 128, max(share * 255, 1.0))
    light, a, b, part = (int(np.clip(np.rint(value), 0, 255)) for value in parts)
    return float(light << 24 | a << 16 | b << 8 | part)


SIZE = 256  # pixels of the longer side that is measured
_DARK, _LIGHT = 25.0, 80.0  # of lightness: shadows lie below, highlights above
_GREY = 4.0  # of chroma, on average: below it a picture is black and white
_EDGE = 5.0  # of lightness from one pixel to the next
_BINS = 64  # of lightness, for its entropy
_SMALL_MEASURES = 64  # pixels square, in which a subject is looked for
_HASH = 8

MEASURES = (
    "aspect", "brightness", "contrast", "key_low", "key_high", "warmth", "green_red", "chroma", "hue", "hue_agreement",
    "bw", "colourfulness", "edge_density", "horizontality", "sharpness", "entropy", "symmetry", "top_bottom",
    "subject_x", "subject_y", "subject_spread", "subject_size", "hash_a", "hash_b", *COLOURS,
)  # fmt: skip


def measure_picture(path: str, stop: Stop = lambda: False) -> Floats:
    """The :data:`MEASURES` of one picture, shape (29,), decoded at a reduced size and upright."""
    if stop():
        raise Stopped
    return measures_of(open_picture(path, SIZE))


def measures_of(picture: Image) -> Floats:
    """The :data:`MEASURES` of a picture in memory, RGB, its longer side at most 256 pixels: shape (29,).

    ``aspect`` is width by height; ``brightness`` and ``contrast`` mean and deviation of L*; ``key_low`` and
    ``key_high`` the shares of shadows and highlights; ``warmth`` and ``green_red`` the means of b* and a*; ``chroma``
    and ``colourfulness`` (Hasler and Suesstrunk); ``hue`` in radians and how much the pixels agree on it; ``bw`` 1 for
    black and white; ``edge_density``, ``horizontality``, ``sharpness``, ``entropy``; ``symmetry`` left to right;
    ``top_bottom`` how much lighter the top is; where the ``subject`` is, how spread and how large; a 64-bit hash of
    the picture's gradients, as two numbers; and its palette of at most five colours, 0 where there are fewer.
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
        *_subject(picture), *_difference_hash(picture), *palette_codes(rgb),
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
    """Where what stands out lies (x, y), how spread it is and how large, by the residual of the spectrum."""
    # After Hou and Zhang (2007): what remains of the logarithm of a picture's spectrum when its trend is taken off.
    small = picture.convert("L").resize((_SMALL_MEASURES, _SMALL_MEASURES), pillow().Resampling.BOX)
    spectrum = np.fft.fft2(np.asarray(small, dtype=np.float64))
    if np.abs(spectrum.ravel()[1:]).max() < 1.0:  # of one tone: nothing stands out
        return 0.5, 0.5, 0.0, 0.0
    size = np.log(np.abs(spectrum) + 1.0)
    rest = size - ndimage.uniform_filter(size, 3, mode="nearest")
    map_ = ndimage.gaussian_filter(np.abs(np.fft.ifft2(np.exp(rest + 1j * np.angle(spectrum)))) ** 2, 2.5)
    weight = map_ / map_.sum()
    at = (np.arange(_SMALL_MEASURES) + 0.5) / _SMALL_MEASURES
    across, down = weight.sum(axis=0), weight.sum(axis=1)
    x, y = float(across @ at), float(down @ at)
    spread = float(np.sqrt(across @ (at - x) ** 2 + down @ (at - y) ** 2))
    return x, y, spread, float((map_ > 1.5 * map_.mean()).mean())


def _difference_hash(picture: Image) -> tuple[float, float]:
    """64 bits, each whether the picture gets lighter to the right at one of 8 x 8 places: two numbers below 2^32."""
    small = picture.convert("L").resize((_HASH + 1, _HASH), pillow().Resampling.BOX)
    values = np.asarray(small, dtype=np.int16)
    bits = (values[:, 1:] > values[:, :-1]).ravel().reshape(2, 32)
    powers = 2.0 ** np.arange(31, -1, -1)
    first, second = bits @ powers
    return float(first), float(second)


SPEC = Spec("images", 2, MEASURES, measure_picture, (len(MEASURES),), prepare=pillow)


# One PDF cut into its pages, as measured items.

_MOST = 5000  # pages


def cut_pages(path: str) -> Collection | None:
    """The pages of a PDF, 5,000 at most, as measured items; None for another file, or a PDF of one page."""
    if Path(path).suffix.lower() != ".pdf":
        return None
    rows = [measures_of(page) for page in render_pages(path, SIZE, _MOST)]
    if len(rows) < 2:
        return None
    items = [Item(str(k), title=f"Page {k}", details={PDF: str(path), PAGE: k}) for k in range(1, len(rows) + 1)]
    title = shown(Path(path).stem)
    return Collection(title, items, np.stack(rows), MEASURES, title=title)
