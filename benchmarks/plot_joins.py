"""Draws the level of the last and first ten seconds across each join, 100 ms by 100 ms: as given, and as ordered.

    fabula order FOLDER --smooth 1 --smooth-by loudness:2,tempo,key -o order.json
    python -m benchmarks.plot_joins order.json joins.png

Above each join stands its step in loudness: from the last 15 seconds that sound to the first 15. Needs matplotlib.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fabula.media.music.audio import Sound, play
from fabula.media.music.loudness import FLOOR, Edges, Meter, edges

STEPS = 100  # of 100 ms
ACROSS = 6
Heard = tuple[np.ndarray, Edges]


def hear(path: str) -> Heard:
    """LUFS of every 100 ms, and the edges."""

    def listen(sound: Sound) -> Meter:
        meter = Meter(sound.rate, sound.channels, vorbis=sound.vorbis)
        for chunk in sound.chunks:
            meter.push(chunk)
        return meter

    meter = play(path, listen)
    levels = np.maximum(FLOOR, -0.691 + 10 * np.log10(np.maximum(meter.powers, 1e-12)))
    return levels, edges(meter.powers, meter.loudness())


def draw_block(axes: Any, titles: list[str], heard: list[Heard]) -> np.ndarray:
    """Every join of one order; its steps in dB."""
    for axis in axes.flat:
        axis.set_visible(False)
    steps = []
    for axis, (one, other), ((left, before), (right, after)) in zip(
        axes.flat, pairwise(titles), pairwise(heard), strict=False
    ):
        end, start = left[-STEPS:], right[:STEPS]
        steps.append(abs(before.end_loudness - after.start_loudness))
        axis.set_visible(True)
        axis.plot(np.arange(-len(end), 0) / 10, end, linewidth=1)
        axis.plot(np.arange(len(start)) / 10, start, linewidth=1)
        axis.set_title(f"{one[:12]} → {other[:12]}: {steps[-1]:.1f} dB", fontsize=7)
        axis.axvline(0, color="0.7", linewidth=0.8)
        axis.set_ylim(FLOOR, 0)
        axis.tick_params(labelsize=7)
    return np.array(steps)


def main() -> None:
    from matplotlib import pyplot as plt

    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    items, count = told["items"], len(told["items"])
    heard, given = [hear(item["path"]) for item in items], np.argsort(told["ordering"])
    rows = -(-(count - 1) // ACROSS)
    figure = plt.figure(figsize=(2.2 * ACROSS, 2 * (1.45 * rows + 0.5)), layout="constrained")
    orders = {"As given": given, "As ordered": np.arange(count)}
    for block, (name, order) in zip(figure.subfigures(2, 1), orders.items(), strict=True):
        axes = np.atleast_1d(block.subplots(rows, ACROSS, sharex=True, sharey=True))
        steps = draw_block(axes, [items[k]["title"] for k in order], [heard[k] for k in order])
        words = f"{name}: steps of {steps.mean():.1f} dB on average, {steps.max():.1f} at most"
        block.suptitle(words, fontsize=10, x=0.01, ha="left")
        block.supylabel("LUFS", fontsize=8)
        print(words)
    figure.supxlabel("seconds from the join", fontsize=8)
    figure.savefig(sys.argv[2], dpi=90)


if __name__ == "__main__":
    main()
