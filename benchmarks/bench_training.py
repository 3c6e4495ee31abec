"""Time of a training step per album: the paper's nets on features of 75 x 7 numbers.

    PYTHONPATH=src python benchmarks/bench_training.py [--device cuda] [--albums N]

Prints milliseconds per album for each batch size, N and precision, and ratios to the first row.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
import torch

from fabula.training.data import ItemPool
from fabula.training.distributed import World, pick_device
from fabula.training.item_models import EssenceLearner
from fabula.training.loop import precision, run_epoch, start_run
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.recipes import TrainingConfig, preset, resolve

SHAPE = (75, 7)


def synthetic_pool(albums: int, device: torch.device, shape: tuple[int, ...] = SHAPE) -> ItemPool:
    """Noise in albums of 3 to 20 tracks, about as long as real ones."""
    rng = np.random.default_rng(0)
    lengths = np.sort(rng.normal(10.5, 3.5, albums).round().clip(3, 20).astype(int))
    values = torch.from_numpy(rng.standard_normal((lengths.sum(), *shape), dtype=np.float32))
    return ItemPool({"values": values.to(device)}, torch.from_numpy(lengths))


def milliseconds_per_album(pool: ItemPool, config: TrainingConfig, *, repeats: int) -> float:
    """The fastest of a few epochs after one to warm up."""
    device = pool.device
    world = World(0, 1, device)
    settings = resolve(config, tuple(pool.values.shape[1:]))
    best = float("inf")
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), precision(config.amp, device):
        shape = tuple(pool.values.shape[1:])
        learner = EssenceLearner(lambda: EssenceNet(settings, shape), pool, pool, settings, world)
        run = start_run(learner)
        for number in range(repeats + 1):
            began = time.perf_counter()
            run_epoch(run, learner)  # it returns a number, so it waits for the device
            run.epoch = number % 2
            if number:
                best = min(best, time.perf_counter() - began)
    return 1000 * best / len(pool)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--albums", type=int, help="enough that batches of one length are full; few on a CPU")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--batches", type=int, nargs="+", default=[16, 256])
    parser.add_argument("--sequences", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--plain", action="store_true", help="also without CUDA graphs")
    parser.add_argument("--amp", nargs="+", default=["tf32"], choices=["none", "tf32"])
    options = parser.parse_args()
    device = pick_device(options.device)
    light = device.type == "cpu"
    pool = synthetic_pool(options.albums or (96 if light else 12288), device)
    print(f"{device}, torch {torch.__version__}, {len(pool)} albums, {len(pool.values)} tracks of 75 x 7")
    print(f"{'graphs':>6} {'amp':>5} {'batch':>6} {'N':>5} {'ms/album':>9} {'ratio':>7}")
    first = 0.0
    modes = [False] if light else [True, False] if options.plain else [True]
    for graphs, amp, batch, sequences in product(
        modes, ["none"] if light else options.amp, options.batches, options.sequences
    ):
        config = preset("paper", batch=batch, negatives=sequences - 1, amp=amp, graphs=graphs)
        took = milliseconds_per_album(pool, config, repeats=options.repeats)
        first = first or took
        row = f"{graphs!s:>6} {amp:>5} {batch:>6} {sequences:>5} {took:>9.3f} {took / first:>7.2f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
