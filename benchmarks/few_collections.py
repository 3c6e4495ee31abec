"""What is learned from few collections: ``python -m benchmarks.few_collections [DATA]``, minutes of one core.

Of made collections those of docs/research.md, in which a column rises; with DATA, where ``albums.parquet`` lies, sets
of its training albums, drawn five times for each size, measured on 415 validation albums by other artists: bits of the
essence of twelve features (preset `arcs`), mean and least, and how many of the five say nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import fabula
from fabula.core.collection import Collection, Item
from fabula.models.model import load_model
from fabula.research.splits import read_split

SIZES = (30, 60, 150)
DRAWS = 5
KEPT = {"kind": "", "alpha_sorted": "false", "one_song": "false"}


def made() -> list[Collection]:
    """The collections of docs/research.md: the first column rises, the second is noise."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 6, 2)) + np.stack([np.linspace(0, 3, 6), np.zeros(6)], axis=1)
    items = [Item(str(j)) for j in range(6)]
    return [Collection(f"c{i}", items, row, ["energy", "tempo"]) for i, row in enumerate(rows)]


def learn(known: list[Collection], others: list[Collection], *, seed: int = 0) -> float:
    """Bits of what is learned from some, on others."""
    config = fabula.training.preset("arcs", features=known[0].feature_names, seed=seed)
    return fabula.train((known, others), config, device="cpu").information["arcs"].bits


def main() -> None:
    """Print what each knows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    data = parser.parse_args().data
    if data is None:
        found = made()
        alone = [Collection(c.id, c.items, c.features[:, :1], ["energy"]) for c in found]
        print(f"essence {learn(found[:50], found[50:]):.2f}, energy alone {learn(alone[:50], alone[50:]):.2f}")
        return
    split = read_split(data / "albums.parquet", where=KEPT)
    names = list(load_model("albums").feature_names)
    keep = [Collection(c.id, c.items, c.columns(names), names) for c in split.training]
    others = [Collection(c.id, c.items, c.columns(names), names) for c in split.held_out[::4]]
    print("| albums | mean bits | least | say nothing |\n|---|---|---|---|")
    for size in SIZES:
        bits = []
        for draw in range(DRAWS):
            chosen = np.random.default_rng((size, draw)).choice(len(keep), size, replace=False)
            bits.append(learn([keep[i] for i in chosen], others))
        silent = sum(abs(each) < 1e-9 for each in bits)
        print(f"| {size} | {np.mean(bits):.3f} | {round(min(bits), 3) + 0.0:.3f} | {silent} of {DRAWS} |", flush=True)


if __name__ == "__main__":
    main()
