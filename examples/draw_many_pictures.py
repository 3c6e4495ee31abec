"""Draw as many pictures as are asked for: hills, seas, dunes, woods and snow, at any hour, in several formats.

    python examples/draw_many_pictures.py FOLDER [COUNT]
    python examples/draw_many_pictures.py FOLDER COUNT shoot

They fill the light table of docs/images, and a page that is to be looked at with many pictures. Nothing is random but
by the number of a picture. With ``shoot`` they are what a photographer brings home: every fourth is a burst of up to
four frames, a camera's EXIF says when and where each was taken, and sidecars say stars, labels and keywords.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter
from scipy import ndimage

FORMATS = ((960, 640), (960, 640), (640, 960), (640, 800), (800, 800), (1200, 500))
# hour: top of the sky, its foot, light of the sun or the moon
SKIES = {
    0: ((8, 12, 34), (28, 34, 66), (232, 234, 230)),
    4: ((24, 30, 66), (88, 74, 108), (240, 220, 200)),
    6: ((70, 96, 150), (246, 178, 128), (255, 226, 170)),
    9: ((96, 160, 222), (226, 232, 228), (255, 250, 228)),
    13: ((58, 138, 222), (186, 218, 246), (255, 255, 246)),
    17: ((96, 140, 190), (250, 212, 150), (255, 236, 176)),
    19: ((86, 70, 132), (244, 118, 74), (255, 186, 104)),
    21: ((40, 36, 84), (150, 84, 104), (240, 216, 204)),
    24: ((8, 12, 34), (28, 34, 66), (232, 234, 230)),
}
GROUNDS = {  # near, far
    "Hill": ((64, 104, 60), (140, 164, 140)),
    "Sea": ((24, 70, 96), (120, 168, 184)),
    "Dune": ((176, 116, 66), (232, 192, 140)),
    "Wood": ((28, 44, 34), (96, 124, 104)),
    "Snow": ((206, 216, 230), (236, 240, 246)),
}


def mixed(hour: float) -> list[np.ndarray]:
    """The sky's colours at an hour, between those that are known."""
    hours = sorted(SKIES)
    return [
        np.array([np.interp(hour, hours, [SKIES[h][part][k] for h in hours]) for k in range(3)]) for part in range(3)
    ]


def ridge(rng: np.random.Generator, width: int, rough: float) -> np.ndarray:
    """The line of a hill: shape (width,), about 0."""
    noise = ndimage.gaussian_filter1d(rng.standard_normal(width * 3), width / 8)[width : 2 * width]
    fine = ndimage.gaussian_filter1d(rng.standard_normal(width), 5)
    return rough * noise / max(float(np.abs(noise).max()), 1e-9) + 0.006 * fine


def drawn(number: int) -> tuple[str, Image.Image]:
    """The name of a picture, and the picture."""
    rng = np.random.default_rng(number)
    kind = list(GROUNDS)[int(rng.integers(len(GROUNDS)))]
    width, height = FORMATS[int(rng.integers(len(FORMATS)))]
    hour = float(rng.uniform(0, 24))
    top, foot, light = mixed(hour)
    scene = _sky(rng, (width, height), top, foot, light)
    day = float(np.clip(foot.mean() / 215, 0.16, 1.0))
    near, far = (np.array(colour) * day * (0.72 + 0.28 * foot / 255) for colour in GROUNDS[kind])
    scene = _sea(rng, scene, near, far, light) if kind == "Sea" else _land(rng, scene, near, far, foot, kind)
    if rng.random() < 0.1:
        scene = np.repeat(scene @ np.array([[0.3], [0.59], [0.11]]), 3, axis=2)
    picture = Image.fromarray(scene.clip(0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.6))
    return f"{kind} {number:03d}", picture


def _sky(rng: np.random.Generator, size: tuple[int, int], *colours: np.ndarray) -> np.ndarray:
    width, height = size
    top, foot, light = colours
    down = np.linspace(0, 1, height)[:, np.newaxis, np.newaxis] ** 1.15
    sky = (1 - down) * top + down * foot + np.zeros((height, width, 3))
    rows, columns = np.mgrid[:height, :width]
    x, y = rng.uniform(0.15, 0.85) * width, rng.uniform(0.12, 0.6) * height
    away = np.hypot(columns - x, rows - y)
    clouds = ndimage.gaussian_filter(rng.standard_normal((height // 4 + 1, width // 4 + 1)), (5, 22))
    clouds = np.asarray(Image.fromarray(clouds.astype(np.float32)).resize((width, height)))
    veil = np.clip(clouds / max(float(clouds.std()), 1e-9) - 0.4, 0, 1.6)[:, :, np.newaxis] * 0.22
    sky += veil * (0.6 * light + 0.4 * foot - sky)
    sky += 0.5 * np.exp(-away / (0.24 * height))[:, :, np.newaxis] * (light - sky)
    disc = np.clip(rng.uniform(0.03, 0.06) * height + 1 - away, 0, 1)[:, :, np.newaxis]
    sky = (1 - disc) * sky + disc * light
    if top.sum() < 150:
        sky[rng.integers(int(height * 0.6), size=110), rng.integers(width, size=110)] = 225
    return np.asarray(sky)


def _land(
    rng: np.random.Generator, scene: np.ndarray, near: np.ndarray, far: np.ndarray, foot: np.ndarray, kind: str
) -> np.ndarray:
    height, width = scene.shape[:2]
    rows = np.arange(height)[:, np.newaxis]
    layers, rough = {"Dune": (3, 0.06), "Snow": (4, 0.13)}.get(kind, (5, 0.09))
    horizon = rng.uniform(0.42, 0.66)
    for depth in range(layers):
        share = (depth + 1) / layers
        line = height * (horizon + (1 - horizon) * 0.8 * depth / layers + ridge(rng, width, rough))
        if kind == "Wood":
            line = line - _trees(rng, width, height * (0.03 + 0.1 * share))
        colour = (1 - share) * (0.5 * far + 0.4 * foot) + share * near
        edge = np.clip(rows - line, 0, 1)[:, :, np.newaxis]
        shade = 1 - 0.18 * np.clip((rows - line) / height, 0, 1)[:, :, np.newaxis]
        scene = (1 - edge) * scene + edge * (colour * shade + rng.normal(0, 2.2, (height, width, 1)))
    return scene


def _trees(rng: np.random.Generator, width: int, tall: float) -> np.ndarray:
    """The tops of firs along a line: shape (width,)."""
    tops, at = np.zeros(width), 0.0
    columns = np.arange(width)
    while at < width:
        high, wide = tall * rng.uniform(0.5, 1.1), tall * rng.uniform(0.16, 0.3)
        tops = np.maximum(tops, high * np.clip(1 - np.abs(columns - at) / wide, 0, 1))
        at += wide * rng.uniform(0.8, 2.4)
    return tops


def _sea(
    rng: np.random.Generator, scene: np.ndarray, near: np.ndarray, far: np.ndarray, light: np.ndarray
) -> np.ndarray:
    height, width = scene.shape[:2]
    horizon = int(height * rng.uniform(0.45, 0.62))
    deep = np.linspace(0, 1, height - horizon)[:, np.newaxis, np.newaxis]
    waves = ndimage.gaussian_filter(rng.standard_normal((height - horizon, width)), (1.2, 14))
    waves = waves / max(float(waves.std()), 1e-9) * (0.3 + 0.7 * deep[:, :, 0])
    mirror = scene[horizon - 1 : max(horizon - 1 - (height - horizon), 0) : -1]
    water = (1 - deep) * far + deep * near + np.zeros((height - horizon, width, 3))
    water[: len(mirror)] = 0.55 * water[: len(mirror)] + 0.45 * mirror
    scene[horizon:] = water + 7 * waves[:, :, np.newaxis] * light / 255
    return scene


def shoot(folder: Path, count: int) -> None:
    """Draw as many frames with what a camera and a catalogue say of them."""
    frame, number = 0, 0
    while frame < count:
        number += 1
        rng = np.random.default_rng([number, 1])
        name, picture = drawn(number)
        taken = datetime(2024, 5, 1 + number // 40 % 28) + timedelta(minutes=37 * (number % 40))
        for k in range(min(1 if number % 4 else int(rng.integers(2, 5)), count - frame)):
            frame += 1
            file = folder / f"IMG_{frame:04d}.jpg"
            _frame(picture, k).save(file, quality=84, exif=_exif(taken + timedelta(seconds=k), number))
            stars = int(np.clip(rng.integers(0, 6) - (k > 0), 0, 5))
            file.with_suffix(".jpg.xmp").write_text(_sidecar(stars, name.split()[0], number))


def _frame(picture: Image.Image, k: int) -> Image.Image:
    """The same picture a moment later: the camera has moved a little, and shook in the last frames."""
    width, height = picture.size
    return picture.crop((3 * k, 2 * k, width - 6 + 3 * k, height - 6 + 2 * k)).filter(ImageFilter.GaussianBlur(0.5 * k))


def _exif(taken: datetime, number: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x013B] = "Ada Verne"
    exif.get_ifd(0x8769)[0x9003] = taken.strftime("%Y:%m:%d %H:%M:%S")
    north, east = 52 + number % 7, 10 + number % 11
    exif.get_ifd(0x8825).update({1: "N", 2: (north, 30.0, 0.0), 3: "E", 4: (east, 15.0, 0.0)})
    return exif


def _sidecar(stars: int, kind: str, number: int) -> str:
    label = ' xmp:Label="Red"' if number % 9 == 0 else ""
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
        f' xmp:Rating="{stars}"{label}><dc:subject><rdf:Bag><rdf:li>{kind.lower()}</rdf:li><rdf:li>landscape</rdf:li>'
        "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>\n"
    )


def main() -> None:
    """Draw them all."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300
    folder.mkdir(parents=True, exist_ok=True)
    if "shoot" in sys.argv[3:]:
        shoot(folder, count)
        return
    for number in range(1, count + 1):
        name, picture = drawn(number)
        picture.save(folder / f"{name}.jpg", quality=84)


if __name__ == "__main__":
    main()
