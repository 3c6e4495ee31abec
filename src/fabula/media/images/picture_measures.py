"""What is measured of a picture: light, colour, detail, where its subject is, its format, a hash of how it looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from fabula.core.arrays import Floats
from fabula.core.collection import Collection, Item
from fabula.errors import shown
from fabula.media.children import stream
from fabula.media.facts import Fact
from fabula.media.images.pdf_pages import PAGE, PDF, render_pages
from fabula.media.images.picture_files import open_picture, pillow
from fabula.media.medium import Choosing, Cutting, Facing, Spec, Step, Steps, Stop, Stopped, column, essence_steps

if TYPE_CHECKING:
    from PIL.Image import Image

# Colours as the eye tells them apart: from sRGB to CIE L*a*b* (D65).

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
_STEPS = 1 << 16  # of the tabled cube root, a line below (6 / 29) ** 3


def lab(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Lightness (0 to 100), green to red and blue to yellow of sRGB pixels: shape (..., 3) to (3, ...).

    >>> lab(np.array([[255, 255, 255], [0, 0, 0], [255, 0, 0]], np.uint8)).round().astype(int).T.tolist()
    [[100, 0, 0], [0, 0, 0], [53, 80, 67]]
    """
    linear, roots = _curves()
    xyz = linear[rgb] @ (_TO_XYZ / _WHITE[:, np.newaxis]).T.astype(np.float32)  # (..., 3)
    root = roots[np.rint(np.clip(xyz, 0.0, 1.0) * _STEPS).astype(np.int32)]
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@cache
def _curves() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """From a byte of sRGB to light, shape (256,); the cube root of light, tabled: it takes a tenth of the time."""
    value, light = np.arange(256) / 255, np.arange(_STEPS + 1) / _STEPS
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    roots = np.where(light > (6 / 29) ** 3, np.cbrt(light), light / (3 * (6 / 29) ** 2) + 4 / 29)
    return linear.astype(np.float32), roots.astype(np.float32)


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
_BYTES = (24, 16, 8, 0)  # where the four of them begin


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
    found = [0.0] * len(COLOURS)
    for place, k in enumerate(np.argsort(-shares, kind="stable")):
        light, a, b = centres[k]
        parts = np.clip(np.rint((light * 2.55, a + 128, b + 128, max(shares[k] * 255, 1.0))), 0, 255)
        found[place] = float(sum(int(part) << shift for part, shift in zip(parts, _BYTES, strict=True)))
    return found


def decode_palette(codes: list[float] | Floats) -> list[tuple[tuple[float, float, float], float]]:
    """((L*, a*, b*), share) of each colour."""
    found = []
    for code in codes:
        if np.isfinite(code) and code > 0:
            light, a, b, share = (int(code) >> shift & 255 for shift in _BYTES)
            found.append(((round(light / 2.55, 1), float(a - 128), float(b - 128)), share / 255))
    return found


def picture_facts(collection: Collection) -> tuple[Fact, ...]:
    """What files and sidecars say of each picture, and its palette, where that is known."""

    def show(value: object) -> str:
        if isinstance(value, float):  # a moment in seconds; 1e11 is none
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M") if abs(value) < 1e11 else ""
        return "" if value is None else str(value)

    said = [
        (name, tuple(map(show, collection.texts(name))))
        for name in ("captured", "rating", "label", "keywords", "place")
    ]
    facts = tuple(Fact(name, texts) for name, texts in said if any(texts))
    found = [decode_palette(row) for row in np.column_stack([column(collection, name) for name in COLOURS])]
    if not any(found):
        return facts
    texts = tuple(" ".join(as_hex(colour) for colour, _ in one) for one in found)
    lab = [" ".join(f"{light:.0f},{a:.0f},{b:.0f}:{share:.2f}" for (light, a, b), share in one) for one in found]
    return (*facts, Fact("palette", texts, {"palette": texts, "palette_lab": lab}, coloured=True))


def as_hex(colour: tuple[float, float, float]) -> str:
    """A colour as pages write it."""
    return f"#{srgb(np.array(colour)).tobytes().hex()}"


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

    In CIE L*a*b*; colourfulness after Hasler and Suesstrunk, hue in radians. A hash of the gradients, 64 bits, are two
    numbers, and a palette five, 0 where there are fewer colours.
    """
    rgb = np.asarray(picture)
    light, a, b = lab(rgb)
    grey = np.asarray(picture.convert("L"), dtype=np.float32)
    # Downwards and across; zero where a picture is one pixel high or wide.
    down, across = (np.gradient(light, axis=k) if light.shape[k] > 1 else np.zeros_like(light) for k in (0, 1))
    height, width = light.shape
    chroma = np.hypot(a, b)
    turn = complex(a.sum(dtype=np.float64), b.sum(dtype=np.float64))
    half = max(1, height // 2)
    red, green, blue = np.moveaxis(rgb.astype(np.float32), -1, 0)
    first, second = red - green, (red + green) / 2 - blue
    colourfulness = float(np.hypot(first.std(), second.std()) + 0.3 * np.hypot(first.mean(), second.mean()))
    counts = np.bincount(np.clip(light * (_BINS / 100), 0, _BINS - 1).astype(np.intp).ravel(), minlength=_BINS)
    shares = counts[counts > 0] / light.size
    # How it agrees with its mirror image; wholly where it is of one tone.
    calm = ndimage.gaussian_filter(light, 3.0)
    calm = calm - calm.mean()
    power = float((calm**2).sum())
    symmetry = float((calm * calm[:, ::-1]).sum() / power) if power > 1e-3 * light.size else 1.0
    values = [
        width / height,
        light.mean(), light.std(), (light < _DARK).mean(), (light > _LIGHT).mean(),
        b.mean(), a.mean(), chroma.mean(), np.angle(turn), abs(turn) / max(float(chroma.sum()), 1e-6),
        float(chroma.mean() < _GREY), colourfulness, (np.hypot(down, across) > _EDGE).mean(),
        np.log((np.abs(down).mean() + 1e-3) / (np.abs(across).mean() + 1e-3)),
        np.log1p(ndimage.laplace(light).var()), float(-(shares * np.log2(shares)).sum()), symmetry,
        grey[:half].mean() - grey[-half:].mean(),
        *_subject(picture), *_difference_hash(picture), *palette_codes(rgb),
    ]  # fmt: skip
    return np.array(values, dtype=np.float64)


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
    first, second = (values[:, 1:] > values[:, :-1]).reshape(2, 32) @ 2.0 ** np.arange(31, -1, -1)
    return float(first), float(second)


SPEC = Spec("images", 2, MEASURES, measure_picture, (len(MEASURES),), prepare=pillow, parsed=lambda path: True)


# One PDF cut into its pages, as measured items.

_MOST = 5000  # pages


def measure_pages(path: str) -> Iterator[tuple[int, Floats]]:
    """How many pages a PDF has, and the :data:`MEASURES` of each: what a child is asked for."""
    yield from ((total, measures_of(page)) for total, page in render_pages(path, SIZE, _MOST))


def cut_pages(path: str, cutting: Cutting) -> Collection | None:
    """The pages of a PDF, 5,000 at most, as measured items; None for another file, or a PDF of one page."""
    if Path(path).suffix.lower() != ".pdf":
        return None
    rows: list[Floats] = []
    for total, row in stream(measure_pages, path):
        if cutting.stop():
            raise Stopped
        rows.append(row)
        cutting.tell(len(rows), total, f"page {len(rows)}")
    if len(rows) < 2:
        return None
    items = [Item(str(k), title=f"Page {k}", details={PDF: str(path), PAGE: k}) for k in range(1, len(rows) + 1)]
    title = shown(Path(path).stem)
    return Collection(title, items, np.stack(rows), MEASURES, title=title)


# How far it is from one picture to the next in colour, tone, format, detail, subject; which are nearly the same.

_ROWS = 512  # compared with all at a time
_MANY = 1000  # pictures from which single precision will do
SAME = "duplicates"  # the column that numbers groups of pictures that are nearly the same
_BITS = 10  # of 64 in which the hashes of two shots of one thing differ at most
_LOOKS = {"brightness": 12.0, "warmth": 12.0, "green_red": 12.0}  # and how far they are apart in light and colour

# What a step compares: feature -> its deviation over the pictures of many collections, so that each counts alike.
_PARTS: dict[str, Mapping[str, float]] = {
    "colour": {"warmth": 11.8, "green_red": 8.0, "colourfulness": 24.7},
    "tone": {"brightness": 20.0, "contrast": 6.6, "key_low": 0.25, "key_high": 0.24},
    "detail": {"edge_density": 0.138, "sharpness": 0.93, "entropy": 0.89},
    "subject": {"subject_x": 0.05, "subject_y": 0.068, "subject_size": 0.034, "top_bottom": 38.5},
}


def picture_steps(collection: Collection, essence: Floats) -> Steps:
    """Steps between n pictures: colour, tone, format, detail and subject, as far as they are known; else the essence.

    Each is a distance in deviations of the features it compares; the format is the ratio of the aspects, in octaves.
    """
    parts = []
    for name, scales in _PARTS.items():
        there = [feature for feature in scales if feature in collection.feature_names]
        if there and collection.features.ndim == 2:
            columns = collection.columns(there) / np.array([scales[feature] for feature in there])
            parts.append(Step(name, "deviations", partial(_distance, columns)))
    if "aspect" in collection.feature_names and collection.features.ndim == 2:
        octaves = np.log2(np.maximum(collection.column("aspect"), 1e-3))[:, np.newaxis]
        parts.append(Step("format", "octaves", partial(_distance, octaves)))
    return Steps(tuple(parts)) if parts else essence_steps(collection, essence)


def _distance(columns: Floats) -> Floats:
    """Euclidean, shape (n, n); a value that is not known lies where the average does."""
    known = np.isfinite(columns)
    centre = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    rows = np.where(known, columns, centre)
    table = np.empty((len(rows), len(rows)), dtype=np.float32 if len(rows) >= _MANY else np.float64)
    for start in range(0, len(rows), _ROWS):
        table[start : start + _ROWS] = cdist(rows[start : start + _ROWS], rows)
    return cast(Floats, table)


_SECONDS = 2.0  # between two frames of a burst, at most
BURST = "burst"


def complete_pictures(collection: Collection) -> Collection:
    """The collection with the columns ``duplicates`` and ``burst``, and no stars where others have some and one none.

    Two are nearly the same when their hashes differ in at most 10 of 64 bits and their light and colour are close;
    groups are what hangs together so. A burst are frames taken within two seconds of the one before, or that are nearly
    the same where no time is known.
    """
    if collection.features.ndim != 2:
        return collection
    columns: dict[str, Floats] = dict(zip(collection.feature_names, collection.features.T, strict=True))
    if SAME not in columns and {"hash_a", "hash_b"} <= columns.keys():
        looks = [columns[name] / far for name, far in _LOOKS.items() if name in columns]
        columns[SAME] = near_groups(columns["hash_a"], columns["hash_b"], looks)
    if BURST not in columns:
        if np.isfinite(columns.get("rating", np.nan)).any():
            columns["rating"] = np.nan_to_num(columns["rating"], nan=0.0)
        captured, alike = column(collection, "captured"), columns.get(SAME, np.full(len(collection), np.nan))
        order = np.argsort(captured, kind="stable")  # what has no time comes last
        runs = np.empty(len(order))
        runs[order] = np.concatenate([[0], np.cumsum(~(np.diff(captured[order]) <= _SECONDS))])
        others = np.where(np.isfinite(alike), len(runs) + alike, -1 - np.arange(len(runs)))
        groups = np.unique(np.where(np.isfinite(captured), runs, others), return_inverse=True)[1]
        columns[BURST] = _number_groups(groups)
    known = {k: v for k, v in columns.items() if k in collection.feature_names or np.isfinite(v).any()}
    if not known:
        return collection
    return replace(collection, features=np.column_stack(list(known.values())), feature_names=tuple(known))


def _number_groups(label: NDArray[np.integer]) -> Floats:
    """Groups numbered from 1, shape (n,), NaN for what is alone in its own; ``label`` are whole numbers from 0."""
    counts = np.bincount(label)
    return np.where(counts[label] > 1, np.cumsum(counts > 1)[label].astype(np.float64), np.nan)


def choose_pictures(collection: Collection) -> Choosing:
    """One frame of a burst, the most stars, then the sharpest; far apart in how they look and when they were taken."""
    burst, alike, stars = (column(collection, name) for name in (BURST, SAME, "rating"))
    first = {number: key for number, key in zip(alike, burst, strict=True) if np.isfinite(number) and np.isfinite(key)}
    groups = [(1, k) if np.isfinite(k) else (1, first[a]) if a in first else (2, a) if np.isfinite(a) else None
              for k, a in zip(burst, alike, strict=True)]  # fmt: skip
    sharp = np.argsort(np.argsort(np.nan_to_num(column(collection, "sharpness")))) / (len(collection) + 1)

    def distance(rows: Sequence[int]) -> Floats:
        some = collection.only(list(rows))
        when = np.argsort(np.argsort(column(some, "captured"))) / max(len(some) - 1, 1)
        apart = np.abs(when[:, np.newaxis] - when) if np.isfinite(column(some, "captured")).all() else 0.0
        # Two average steps lie between the first and the last moment.
        return np.asarray(picture_steps(some, np.zeros(len(some))).table + 2.0 * apart)

    return Choosing(
        groups, np.nan_to_num(stars) + sharp, distance, "of a burst, or nearly the same", "{:g} stars and more"
    )


def near_groups(first: Floats, second: Floats, looks: Sequence[Floats] = ()) -> Floats:
    """Groups of hashes that nearly agree, numbered from 1: shape (n,), NaN where one stands alone.

    ``first`` and ``second``, shape (n,), are the halves of 64-bit hashes, NaN where there is none; each of ``looks``,
    shape (n,), may differ by 1 at most between two that are nearly the same.
    """
    known = np.isfinite(first) & np.isfinite(second)
    whole = np.where(known, first, 0).astype(np.uint64) << np.uint64(32) | np.where(known, second, 0).astype(np.uint64)
    one, other = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for start in range(0, len(whole), _ROWS):
        rows = slice(start, start + _ROWS)
        near = (np.bitwise_count(whole[rows, np.newaxis] ^ whole) <= _BITS) & known[rows, np.newaxis] & known
        for look in looks:
            near &= np.abs(look[rows, np.newaxis] - look) <= 1
        i, j = np.nonzero(near)
        one.append(i + start)
        other.append(j)
    pairs = np.concatenate(one), np.concatenate(other)
    graph = coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(whole), len(whole)))
    return _number_groups(connected_components(graph, directed=False)[1])


# What joins a picture to those before it, in words, each of them a fact that was measured.

_SAME_LIGHT, _WARM = 6.0, 5.0  # of L* and b*: nearer than that two pictures have the same light
_LEAP = 22.0  # of L*: from here on one is much lighter or darker than the other
_TURN = 18.0  # of b*: the same of warm and cold
_DIM, _BRIGHT = 35.0, 68.0  # of L*: below and above, light has a name
_COLD, _HOT = -4.0, 12.0  # of b*: the same of warmth
_BUSY = 0.24  # of edge density: what is a leap in detail
_SQUARE = 1.08  # by which a side must be longer for a picture not to be square
_RUN = 3  # pictures alike in a row that are worth a word
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_BACK = 12  # pictures that are looked back at


def joins(collection: Collection, breaks: Sequence[int] = ()) -> list[str]:
    """What is to be said of each picture beside the one before it, and those before that; "" where nothing stands out.

    Nothing goes on across ``breaks``, the positions at which a new side begins.

    >>> from fabula.core.collection import Item
    >>> rows = np.array([[60.0, 14, 0.7], [62, 15, 0.7], [30, 14, 0.7], [50, 2, 2.1]])
    >>> series = Collection("c", [Item(str(i)) for i in range(4)], rows, ("brightness", "warmth", "aspect"))
    >>> joins(series)
    ['', 'same warm light as the one before', 'much darker than the one before', 'the widest, after three uprights']
    """
    names = ("brightness", "warmth", "aspect", "bw", "edge_density", SAME)
    light, warmth, aspect, grey, detail, alike = (column(collection, name) for name in names)
    seen = np.isfinite(aspect)  # which is the widest and which the tallest, where one alone is
    rank = np.sort(aspect[seen]) if seen.sum() > 1 else np.ones(2)
    extremes = (
        int(np.nanargmax(aspect)) if rank[-1] > max(rank[-2], 1.0) else None,
        int(np.nanargmin(aspect)) if rank[0] < min(rank[1], 1.0) else None,
    )
    starts = {0, *breaks}
    begun, said = 0, []
    for at in range(len(collection)):
        begun = at if at in starts else max(begun, at - _BACK)
        if at == begun:
            said.append("")
            continue
        step = float(detail[at] - detail[at - 1])
        found = (  # what matters most first
            "nearly the same picture as the one before" if alike[at] == alike[at - 1] else "",
            _format(aspect, begun, at, extremes),
            _grey(grey, begun, at),
            _light(light, warmth, at),
            "busy after a calm one" if step >= _BUSY else "calm after a busy one" if step <= -_BUSY else "",
        )
        said.append(", ".join([words for words in found if words][:2]))
    return said


def _format(aspect: Floats, begun: int, at: int, extremes: tuple[int | None, int | None]) -> str:
    """Where the format changes after several of one kind, and whether it is the widest or the tallest of all."""
    if not np.isfinite(aspect[at]):
        return ""
    seen = aspect[begun : at + 1]
    square = ~np.isfinite(seen) | ((seen > 1 / _SQUARE) & (seen < _SQUARE))
    kinds = np.where(square, 0, np.where(seen > 1, 1, -1)).tolist()
    if kinds[-1] == kinds[-2]:
        return ""
    after = _after(kinds[:-1], _KINDS[kinds[-2]]) if kinds[-2] else ""
    if at == extremes[0]:
        return f"the widest, {after}" if after else "the widest of all"
    if at == extremes[1]:
        return f"the tallest, {after}" if after else "the tallest of all"
    return f"{_ONE[kinds[-1]]} {after}" if after and kinds[-1] else ""


def _grey(grey: Floats, begun: int, at: int) -> str:
    if not grey[begun : at + 1].any() or np.isnan(grey[begun : at + 1]).any():
        return ""
    if grey[at] == grey[at - 1]:
        return "black and white like the one before" if grey[at] else ""
    after = _after(grey[begun:at].tolist(), "in colour" if grey[at] else "in black and white")
    return f"{'black and white' if grey[at] else 'in colour again'} {after}".rstrip()


def _light(light: Floats, warmth: Floats, at: int) -> str:
    """The same light, by its name where it has one, or a leap in it."""
    step, turn = float(light[at] - light[at - 1]), float(warmth[at] - warmth[at - 1])
    if abs(step) >= _LEAP:
        return f"much {'lighter' if step > 0 else 'darker'} than the one before"
    if abs(turn) >= _TURN and np.isfinite(step):
        cold, hot = sorted((warmth[at - 1], warmth[at]))
        if cold <= _COLD and hot >= _HOT:
            return "warm after cold" if turn > 0 else "cold after warm"
        return f"{'warmer' if turn > 0 else 'colder'} than the one before"
    if not (abs(step) <= _SAME_LIGHT and abs(turn) <= _WARM):
        return ""
    bright = "bright " if light[at] >= _BRIGHT else "dim " if light[at] <= _DIM else ""
    warm = "warm " if warmth[at] >= _HOT else "cold " if warmth[at] <= _COLD else ""
    return f"same {bright}{warm}light as the one before"


_KINDS = {1: "wide ones", -1: "uprights", 0: ""}
_ONE = {1: "wide", -1: "upright", 0: ""}


def _after(kinds: Sequence[object], words: str) -> str:
    """After how many of a kind something comes, where they are worth a word."""
    run = sum(1 for _ in takewhile(lambda kind: kind == kinds[-1], reversed(kinds)))
    return f"after {_NUMBERS[run] if run < len(_NUMBERS) else run} {words}" if run >= _RUN else ""


# Facing pages: which pictures go well beside each other, and which need both pages.

WIDE = 2.0  # width by height from which a picture takes both pages
_UPRIGHT = 2.0  # average steps that an upright beside a wide format costs besides


def facing_pages(collection: Collection) -> Facing:
    """How unlike two pictures are beside each other; an upright one goes with an upright one."""
    aspect = column(collection, "aspect")

    def costs() -> tuple[Floats, Floats]:
        table = picture_steps(collection, np.zeros(len(collection))).table
        lies = np.sign(np.log(np.where(np.isfinite(aspect), aspect, 1.0)).round(2))
        odd = _UPRIGHT * (lies[:, np.newaxis] * lies < 0)
        return (table + table.T) / 2, odd.astype(np.float64)

    return Facing(aspect >= WIDE, costs)
