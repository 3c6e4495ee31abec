"""Memory of a whole training on many synthetic albums of 75 x 7 numbers a track.

    PYTHONPATH=src python benchmarks/bench_memory.py [--albums 100000] [--epochs 2] [--device cuda]

Prints the most memory the process had on the host after each part, in GB. On a CPU, ask for fewer albums, or for a
narrow encoder: what a batch needs grows with it, what the albums need does not.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.evaluation.controls import Parts
from fabula.training.distributed import pick_device
from fabula.training.item_models import EssenceTraining
from fabula.training.recipes import preset

SHAPE = (75, 7)


def synthetic_albums(count: int, seed: int) -> list[Collection]:
    """Albums of 3 to 20 tracks, about as long as real ones, of noise in single precision."""
    rng = np.random.default_rng(seed)
    names = [f"f{i}" for i in range(SHAPE[0])]
    albums = []
    for number, n in enumerate(rng.normal(10.5, 3.5, count).round().clip(3, 20).astype(int).tolist()):
        items = [Item(f"{number}.{i}") for i in range(n)]
        albums.append(Collection(str(number), items, rng.standard_normal((n, *SHAPE), dtype=np.float32), names))
    return albums


def peak_gigabytes() -> float:
    """The most memory this process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--albums", type=int, help="100,000 on a GPU; 100 on a CPU")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=128, help="units of the encoder")
    parser.add_argument("--sequences", type=int, default=32, help="the paper's N")
    options = parser.parse_args()
    device = pick_device(options.device)
    count = options.albums or (100 if device.type == "cpu" else 100_000)
    print(f"{device}: {peak_gigabytes():.2f} GB before anything")
    albums, held_out = synthetic_albums(count, 0), synthetic_albums(max(20, count // 100), 1)
    tracks = sum(map(len, albums))
    print(f"{count} albums, {tracks} tracks of {SHAPE[0]} x {SHAPE[1]}: {peak_gigabytes():.2f} GB", flush=True)
    began = time.monotonic()
    size = {"encoder_hidden": options.hidden, "negatives": options.sequences - 1, "batch": options.batch}
    config = preset("paper", logged=(), epochs=options.epochs, **size)
    done = EssenceTraining(Parts(albums, held_out), config, str(device)).train(progress=lambda where: print(
        f"epoch {where.epoch} of {where.epochs}: loss {where.loss:.4f}, {time.monotonic() - began:.0f} s, "
        f"{peak_gigabytes():.2f} GB", flush=True))  # fmt: skip
    bits = done.information["bilstm"]
    print(f"whole training: {peak_gigabytes():.2f} GB; noise gives {bits.bits:.4f} bits")


if __name__ == "__main__":
    main()
