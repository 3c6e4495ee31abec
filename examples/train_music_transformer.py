"""Train the transformer of `fabula reproduce` on what `music` was trained on, to compare the two fairly.

    python examples/train_music_transformer.py FOLDER --out models/transformer.safetensors

FOLDER holds albums, albums-more and titles .parquet (or is what `train_music_model.py --convert` wrote). It learns from
the same albums as `music`, and gets the same inputs as numbers: the twelve features (the mean of training where one is
missing, and whether they are), the marks of a title, and the mean of its word vectors in `music`. Of some settings the
one with most bits on the artists set aside is kept.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
import train_music_model as recipe

import fabula
from fabula.core.collection import Collection
from fabula.models.model import Model
from fabula.training.sequencer import Sequencer, SequencerConfig, information_bits, save_sequencer, train_sequencer

# The settings of `fabula reproduce`, then gentler ones, each with what the ones before lacked.
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"dropout": 0.3, "learning_rate": 1e-3, "epochs": 16},
    {"dropout": 0.3, "learning_rate": 1e-3, "epochs": 16, "width": 128, "decay": 0.05},
)


def numbers_of(music: Model, album: Collection) -> Collection:
    """An album as numbers: its features, whether they are known, and what `music` reads in each title."""
    read = music.inputs(album)
    vectors, tokens = music.tensors["tokens.vectors"], read.tokens[0]
    there = (tokens > 0)[..., np.newaxis]
    mean = (vectors[tokens] * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    columns = np.concatenate([read.values[0], read.known[0][:, :1], read.marks[0], mean], axis=1)
    return Collection(album.id, album.items, columns, [f"x{i}" for i in range(columns.shape[1])], ordered=album.ordered)


def as_numbers(albums: Sequence[Collection]) -> list[Collection]:
    """Albums as numbers, by the shipped model."""
    music = fabula.load_model("music")
    if "titles" not in music.reads:
        raise SystemExit("music must be a set model")
    return [numbers_of(music, album) for album in albums]


def train(task: tuple[int, list[Collection], list[Collection], str]) -> tuple[float, int, Sequencer]:
    """One training; its bits on the artists set aside."""
    number, learned, aside, device = task
    torch.set_num_threads(1 if device != "cpu" else torch.get_num_threads())
    began = time.monotonic()
    config = SequencerConfig(logged=(), **SETTINGS[number])
    made = train_sequencer(learned, aside, config, device=device)
    bits = [round(each, 3) for each in made.history]
    print(f"{SETTINGS[number]}: {time.monotonic() - began:.0f} s, bits aside {bits}", flush=True)
    made.net.cpu()
    return made.bits, number, made


def main() -> None:
    """Train all settings, keep the best."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, default=Path("models/transformer.safetensors"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--part", type=int, default=1, help="train on every so-manieth album only, to try it out")
    options = parser.parse_args()
    arrays = recipe.read_tables(options.source) if options.source.is_dir() else recipe.read_converted(options.source)
    albums = recipe.as_albums(arrays)
    wanted = {part: [a for name in recipe.TABLES for a in albums[name][part]] for part in ("train", "aside")}
    wanted["train"] = wanted["train"][:: options.part]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        size = max(1, len(wanted["train"]) // (4 * options.jobs))
        shared = {k: [part[i : i + size] for i in range(0, len(part), size)] for k, part in wanted.items()}
        numbers = {k: [album for part in pool.map(as_numbers, parts) for album in part] for k, parts in shared.items()}
        tasks = [(i, numbers["train"], numbers["aside"], options.device) for i in range(len(SETTINGS))]
        bits, number, best = max(pool.map(train, tasks), key=lambda done: done[0])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_sequencer(options.out, best)
    told = information_bits(best, numbers["aside"])
    print(f"kept {SETTINGS[number]}: {bits:.4f} bits aside ({told.low:.4f} to {told.high:.4f})", flush=True)


if __name__ == "__main__":
    main()
