"""Draws the level of the last and first ten seconds across each join of an order, 100 ms by 100 ms.

    fabula order FOLDER --smooth 1 -o order.json
    python -m benchmarks.plot_joins order.json joins.png

Needs matplotlib.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from fabula.media.music.decoding.sound import open_sound
from fabula.media.music.loudness.meter import FLOOR, Meter

STEPS = 100  # of 100 ms
ACROSS = 6


def levels(path: str) -> np.ndarray:
    """LUFS of every 100 ms."""
    with open_sound(path) as sound:
        meter = Meter(sound.rate, vorbis=sound.vorbis)
        for chunk in sound.chunks:
            meter.push(chunk)
    return np.maximum(FLOOR, -0.691 + 10 * np.log10(np.maximum(meter.powers, 1e-12)))


def main() -> None:
    from matplotlib import pyplot as plt

    items = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["items"]
    heard = [levels(item["path"]) for item in items]
    rows = -(-(len(items) - 1) // ACROSS)
    figure, axes = plt.subplots(rows, ACROSS, figsize=(2.4 * ACROSS, 1.5 * rows), sharex=True, sharey=True)
    for axis, (one, other), (left, right) in zip(axes.flat, pairwise(items), pairwise(heard), strict=False):
        end, start = left[-STEPS:], right[:STEPS]
        axis.plot(np.arange(-len(end), 0) / 10, end)
        axis.plot(np.arange(len(start)) / 10, start)
        axis.set_title(f"{one['title'][:14]} → {other['title'][:14]}", fontsize=7)
        axis.axvline(0, color="0.7", linewidth=0.8)
        axis.set_ylim(FLOOR, 0)
    figure.supxlabel("seconds from the join")
    figure.supylabel("LUFS")
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=80)


if __name__ == "__main__":
    main()
