"""The recipe of the models that come with the package.

    python examples/train_shipped_models.py --table albums.parquet --out models
    python examples/train_shipped_models.py --table albums.parquet --convert albums.npz   # then, without pyarrow:
    python examples/train_shipped_models.py --npz albums.npz --out models

Each model is trained with several seeds; the one that does best on validation is kept, its two controls (noise
features, shuffled orders) are run by the same recipe, and the file's card tells all of it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.collection import Collection, Item
from fabula.errors import InputError, import_extra
from fabula.evaluation.controls import Parts
from fabula.models.model import Model, save_model
from fabula.training.audit import Trained, audit
from fabula.training.item_models import EssenceTraining
from fabula.training.loop import Progress
from fabula.training.recipes import TrainingConfig, preset

FEATURES = (
    "danceability",
    "energy",
    "loudness",
    "speechiness",
    "acousticness",
    "instrumentalness",
    "liveness",
    "valence",
    "tempo",
    "key",
    "mode",
    "duration_ms",
)
# name: (what it is for, changes to the preset); found on the validation albums, see docs/results.md
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "albums": ("music with the twelve track features of a streaming service", {"features": FEATURES}),
    "audio": (
        "any audio file: its duration and its integrated loudness",
        # Two features cannot be learned by heart: nothing needs to be dropped, and it may learn faster.
        {
            "features": ("duration_ms", "loudness"),
            "dropout": 0.0,
            "feature_dropout": 0.0,
            "feature_noise": 0.0,
            "learning_rate": 6e-3,
            "epochs": 110,
        },
    ),
    "albums-16": (
        "music with the twelve track features; an essence of sixteen dimensions",
        # More room to learn by heart: more noise on the features, less on the rest, and stop early.
        {
            "features": FEATURES,
            "dimensions": 16,
            "feature_dropout": 0.15,
            "feature_noise": 0.2,
            "readout_dropout": 0.0,
            "encoder_decay": 0.01,
            "scorer_decay": 0.01,
            "subsequences": 0.5,
            "epochs": 60,
        },
    ),
}
Split = dict[str, list[Collection]]


def read_parquet(path: Path) -> dict[str, np.ndarray]:
    """Albums as flat arrays: features (tracks, 12), and id, length and split of each album."""
    parquet = import_extra("pyarrow.parquet", extra="tables", purpose="reading a table")
    wanted = ["collection_id", "position", "kind", "alpha_sorted", "one_song", "split", *FEATURES]
    table = parquet.read_table(path, columns=wanted)
    column = {name: table[name].to_numpy(zero_copy_only=False) for name in wanted}
    usual = (column["kind"] == "") & ~column["alpha_sorted"].astype(bool) & ~column["one_song"].astype(bool)
    rows = np.lexsort((column["position"], column["collection_id"]))
    ids, first, lengths = np.unique(column["collection_id"][rows], return_index=True, return_counts=True)
    features = np.stack([column[name][rows].astype(np.float32) for name in FEATURES], axis=1)
    validation = column["split"][rows][first] == "validation"
    return {"features": features, "ids": ids, "lengths": lengths, "validation": validation, "usual": usual[rows][first]}


def as_collections(arrays: dict[str, np.ndarray], *, unusual: bool) -> Split:
    """The albums of each split as collections in true order; live albums and the like only where asked for."""
    split: Split = {"train": [], "validation": []}
    ends = np.cumsum(arrays["lengths"])
    for i, (number, end, length) in enumerate(zip(arrays["ids"], ends, arrays["lengths"], strict=True)):
        name = "validation" if arrays["validation"][i] else "train"
        if arrays["usual"][i] or (unusual and name == "train"):
            items = [Item(f"{number}-{place}") for place in range(1, length + 1)]
            split[name].append(Collection(str(number), items, arrays["features"][end - length : end], FEATURES))
    return split


def train_best(split: Split, config: TrainingConfig, seeds: list[int], device: str) -> Trained:
    """The best of several seeds, by the bits of all scorers on validation."""
    runs = []
    for seed in seeds:
        settings = TrainingConfig.from_dict({**config.to_dict(), "seed": seed})
        began = time.monotonic()
        parts = Parts(split["train"], split["validation"])
        runs.append(EssenceTraining(parts, settings, device).train(progress=show))
        told = {name: round(info.bits, 4) for name, info in runs[-1].information.items()}
        print(f"  seed {seed}: {told}, epoch {runs[-1].best_epoch}, {time.monotonic() - began:.0f} s", flush=True)
    return max(runs, key=lambda run: sum(info.bits for info in run.information.values()))


def with_controls(name: str, purpose: str, best: Trained, split: Split, seeds: list[int], device: str) -> Model:
    """The model with the controls of its recipe in its card."""
    parts = Parts(split["train"], split["validation"]).nest()
    report = audit(EssenceTraining(parts, best.config, device), controls_only=True)
    print(f"  controls: {report.card()}", flush=True)
    if not report.ok:
        raise InputError(f"{name}: a control is not zero: {report.card()}")
    card = {"name": name, "purpose": purpose, **best.model.card, "controls": report.card(), "seeds tried": seeds}
    return Model(best.model.config, best.model.tensors, best.model.transform, training=best.model.training, card=card)


def show(where: Progress) -> None:
    """A line every tenth of the way."""
    if where.epoch % max(1, where.epochs // 10) == 0:
        bits = {name: round(value, 3) for name, value in where.bits.items()}
        print(f"    epoch {where.epoch}/{where.epochs} loss {where.loss:.4f} {bits} {where.seconds_left:.0f} s left")


def main() -> None:
    """Read the albums, train what was asked for, write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--table", type=Path, help="albums.parquet")
    source.add_argument("--npz", type=Path, help="what --convert wrote")
    parser.add_argument("--convert", type=Path, help="write the albums as a compact .npz and stop")
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--models", nargs="+", choices=list(RECIPES), default=list(RECIPES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--unusual", action="store_true", help="train on compilations, live albums and the like too")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings, for example epochs=2")
    options = parser.parse_args()
    arrays = read_parquet(options.table) if options.table else dict(np.load(options.npz, allow_pickle=False))
    if options.convert:
        np.savez_compressed(options.convert, **arrays)
        print(f"{options.convert}: {len(arrays['ids'])} albums, {len(arrays['features'])} tracks")
        return
    split = as_collections(arrays, unusual=options.unusual)
    changes = {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in options.set)}
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        purpose, recipe = RECIPES[name]
        print(f"{name}: {len(split['train'])} albums, {len(split['validation'])} to validate", flush=True)
        best = train_best(split, preset("default", **{**recipe, **changes}), options.seeds, options.device)
        path = save_model(options.out / f"{name}.safetensors", best.model)  # in case the controls are interrupted
        model = with_controls(name, purpose, best, split, options.seeds, options.device)
        print(f"  {save_model(path, model)}: {model.card['bits']}", flush=True)


if __name__ == "__main__":
    main()
