"""What is heard in albums, and their energy along `icarus`: as version 0.4 laid them, by the learned essence, and now.

    python -m benchmarks.plot_energy OUT.png ALBUM...      # folders, or tables that `fabula extract` wrote

A row an album: the six things heard of each track, in the order given; the energy along the template, by the essence
of the model `audio` and by energy itself. Prints how energy follows the template (Spearman), and what is at its height.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import fabula
from fabula.media.music.heard import HEARD
from fabula.session.ordered import Ordered


def draw(axes: Any, ordered: Ordered, energy: np.ndarray, title: str) -> None:
    """Energy in order as points, the template in its scale behind."""
    n = len(energy)
    along = ordered.fit.template.samples(n)
    axes.plot(np.arange(1, n + 1), energy.mean() + energy.std() * along, color="#9aa7bd", label="icarus")
    axes.plot(np.arange(1, n + 1), energy[ordered.ordering], "o-", color="#2f6fde", linewidth=1)
    axes.set_title(title, fontsize=9)
    axes.set_ylim(0, 100)


def main() -> None:
    """Draw all albums; print the figures."""
    target, albums = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    figure = Figure(figsize=(12, 3.1 * len(albums)), layout="constrained")
    for row, path in zip(figure.subplots(len(albums), 3, squeeze=False), albums, strict=True):
        now = fabula.open(path)
        if now.axis is None:
            raise SystemExit(f"{path}: has no energy")
        energy, heard = now.axis.values, now.collection.columns(list(HEARD))
        row[0].imshow(heard.T, aspect="auto", vmin=0, vmax=1, cmap="viridis")
        row[0].set_yticks(range(6), [name.removeprefix("heard_") for name in HEARD], fontsize=8)
        row[0].set_title(f"{path.stem}: heard, in the order given", fontsize=9)
        learned = fabula.open(path, model="audio")
        for axes, session, name in ((row[1], learned, "learned essence"), (row[2], now, "energy")):
            ordered = session.order(template="icarus")
            draw(axes, ordered, energy, f"icarus by {name}: energy")
            rho = spearmanr(energy[ordered.ordering], ordered.fit.targets).statistic
            height = int(np.argmax(ordered.fit.targets))
            there = now.collection.items[ordered.ordering[height]]
            length = "" if there.length is None else f", {there.length:.0f} s"
            print(f"{path.stem}, by {name}: energy follows the template by {rho:.2f}; at its height "
                  f"{there.label}{length}, energy {energy[ordered.ordering[height]]:.0f}")  # fmt: skip
        lengths, loud = now.medium.lengths(now.collection), now.collection.column("loudness")
        old = learned.essence
        told = {name: spearmanr(one, other).statistic for name, one, other in (
            ("essence and length", old, lengths), ("essence and loudness", old, loud),
            ("energy and length", energy, lengths), ("energy and loudness", energy, loud))}  # fmt: skip
        print(f"{path.stem}: " + ", ".join(f"{name} {value:.2f}" for name, value in told.items()))
    figure.savefig(target, dpi=80)


if __name__ == "__main__":
    main()
