"""Draw the pictures of ``fabula demo images``: hills, seen at twelve hours of one day.

    python examples/draw_demo_pictures.py FOLDER

The names of the files say nothing of the hour, so that their order by name is not that of the day.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter
from scipy import ndimage

WIDE, TALL = (900, 600), (600, 800)
# name: (top of the sky, its foot, the hills, where the sun or the moon stands, its colour, tall)
HOURS = {
    "Larks": ((40, 52, 92), (222, 142, 108), (52, 48, 70), (0.22, 0.68), (255, 214, 168), False),
    "Dew": ((92, 128, 176), (246, 206, 160), (74, 92, 84), (0.30, 0.52), (255, 240, 206), False),
    "Milk": ((120, 170, 216), (226, 232, 226), (88, 124, 84), (0.38, 0.38), (255, 250, 232), True),
    "Hay": ((92, 158, 222), (206, 226, 240), (112, 142, 70), (0.46, 0.24), (255, 253, 240), False),
    "Noon": ((70, 146, 226), (182, 216, 246), (128, 152, 66), (0.55, 0.14), (255, 255, 246), False),
    "Shade": ((84, 150, 216), (214, 224, 228), (118, 134, 64), (0.64, 0.24), (255, 250, 226), True),
    "Swifts": ((104, 146, 196), (242, 220, 176), (126, 118, 62), (0.72, 0.40), (255, 238, 190), False),
    "Bells": ((104, 110, 160), (250, 176, 108), (112, 82, 58), (0.78, 0.56), (255, 214, 140), False),
    "Embers": ((72, 62, 116), (236, 110, 72), (64, 44, 54), (0.82, 0.70), (255, 170, 96), False),
    "Bats": ((38, 38, 86), (132, 82, 108), (32, 28, 46), (0.20, 0.30), (236, 226, 214), False),
    "Owl": ((16, 20, 54), (48, 50, 88), (16, 18, 32), (0.34, 0.20), (238, 236, 226), True),
    "Stars": ((8, 10, 32), (26, 30, 60), (10, 12, 22), (0.56, 0.16), (240, 240, 236), False),
}


def ridge(rng: np.random.Generator, width: int, height: float, rough: float) -> np.ndarray:
    """The line of a hill: heights from above, shape (width,)."""
    noise = ndimage.gaussian_filter1d(rng.standard_normal(width * 3), width / 9)[width : 2 * width]
    fine = ndimage.gaussian_filter1d(rng.standard_normal(width), 6)
    return height + rough * noise / np.abs(noise).max() + 0.008 * fine


def drawn(name: str, number: int) -> Image.Image:
    """One picture."""
    top, foot, hills, (x, y), light, tall = HOURS[name]
    (width, height), rng = (TALL if tall else WIDE), np.random.default_rng(number)
    down = np.linspace(0, 1, height)[:, np.newaxis, np.newaxis] ** 1.2
    sky = (1 - down) * np.array(top) + down * np.array(foot) + np.zeros((height, width, 3))
    rows, columns = np.mgrid[:height, :width]
    away = np.hypot(columns - x * width, rows - y * height)
    glow = np.exp(-away / (0.22 * height))[:, :, np.newaxis]
    sky += 0.55 * glow * (np.array(light) - sky)
    disc = np.clip(0.045 * height + 1 - away, 0, 1)[:, :, np.newaxis]
    sky = (1 - disc) * sky + disc * np.array(light)
    if sum(top) < 160:  # stars, where the sky is dark
        at = (rng.integers(int(height * 0.6), size=90), rng.integers(width, size=90))
        sky[at] = 225
    for depth in range(4):
        line = ridge(rng, width, 0.62 + 0.1 * depth, 0.09) * height
        near = (depth + 1) / 4
        colour = (1 - near) * np.array(foot) * 0.75 + near * np.array(hills)
        edge = np.clip(rows - line[np.newaxis, :], 0, 1)[:, :, np.newaxis]
        sky = (1 - edge) * sky + edge * (colour + rng.normal(0, 2.5, (height, width, 1)))
    picture = Image.fromarray(sky.clip(0, 255).astype(np.uint8))
    return picture.filter(ImageFilter.GaussianBlur(0.6))


def main() -> None:
    """Draw them all."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(HOURS):
        drawn(name, number).save(folder / f"{name}.jpg", quality=78, optimize=True)


if __name__ == "__main__":
    main()
