"""Write what is known of the model `music` into its file: figures, controls, what it was trained on, how it was chosen.

    python examples/describe_music_model.py music.safetensors music.json FOLDER [--controls CONTROLS.json]
    python examples/describe_music_model.py music.safetensors --measured MEASURED.json

The second states the figures that `measure_music_model.py --only bits` has written, in place of the training's own.
FOLDER holds the tables it was trained on. The report is the one that was written beside the model by its training, that
of the controls the one that was written by theirs where they were trained apart: figures of another training are
refused, and so are other tables. The weights stay as they are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import train_music_model as recipe

from fabula.models.model import Model, load_model, save_model
from fabula.training.sets import set_fingerprint

SOURCES = {"albums": "streaming, mostly Argentine", "albums-more": "streaming, charting artists",
           "titles": "people's libraries, titles and lengths",
           "features-more2": "streaming, charting and critically reviewed artists",
           "features-more": "streaming, well-known artists; without acousticness, key and mode",
           "titles-more": "other libraries, titles and lengths"}  # fmt: skip
HEARD = (
    "simulated for every batch from the true features, with the errors that estimates had on 648 songs, within an "
    "album and between albums; no sound of these albums was at hand"
)
CHOSEN = (
    "of {students} students of the mean of {teachers} teachers the one with most bits on artists set aside from "
    "training; sizes and settings by a sweep of 14 trainings on the same artists; validation figures of the sweep's "
    "best, of the best teacher and of the teachers' mean were seen before the students were trained"
)
LIMITS = (
    "validation leans high: settings were chosen with it in view, and this model was measured on nothing else; see "
    "what was measured independently of the model before it"
)
SEALED = {
    "music of version 0.4": "on albums that nobody who trained had seen 0.72, 1.01 and 0.76 bits (albums, albums-more, "
    "titles; all inputs), where its validation said 0.81, 1.35 and 0.77"
}


def figure(interval: dict[str, float]) -> dict[str, Any]:
    """A mean with its interval, as a card tells it."""
    bits = {ours: round(interval[theirs], 4) for ours, theirs in (("bits", "mean"), ("low", "low"), ("high", "high"))}
    return {**bits, "collections": interval["n"]}


def figures(report: dict[str, Any]) -> dict[str, Any]:
    """Bits by source and what was known, and by length."""
    found: dict[str, Any] = {}
    for table, cases in report.items():
        found[table] = {name: figure(case) for name, case in cases.items() if name != "by length"}
        found[table] |= {f"{name} items": figure(case) for name, case in cases["by length"].items()}
    return found


def trained_on(folder: Path, fingerprint: str) -> dict[str, str]:
    """How many albums of each table it was trained on; other tables than the model's are refused."""
    arrays = recipe.read_tables(folder)
    albums = recipe.as_albums(arrays)
    train = [album for name in recipe.TABLES for album in albums[name]["train"]]
    if set_fingerprint(train) != fingerprint:
        raise SystemExit(f"{folder}: these are not the tables the model was trained on")
    unusual = set(arrays["id"][arrays["unusual"]])
    told = {}
    for name in recipe.TABLES:
        other = sum(album.id in unusual for album in albums[name]["train"])
        count = len(albums[name]["train"])
        told[name] = f"{count:,} ({count - other:,} usual albums, {other:,} live, compiled or otherwise unusual)"
    other = sum(album.id in unusual for album in train)
    return {"all": f"{len(train):,} ({len(train) - other:,} usual, {other:,} unusual)", **told}


def described(model: Model, report: dict[str, Any], folder: Path) -> Model:
    """The model with its card written anew."""
    seeds = model.training["seeds"]
    before = model.card["bits on validation"]["albums"]["all inputs"]
    measured = report["validation"]["albums"]["all inputs"]
    if abs(before.get("mean", before.get("bits")) - measured["mean"]) > 5e-5:
        raise SystemExit("the report is that of another training: its figures are not those in the file")
    controls = {name: {t: figure(case) for t, case in of.items()} for name, of in report["controls"].items()}
    card = {
        "name": "music",
        "purpose": recipe.PURPOSE,
        "size": f"{sum(t.size * (2 if k.endswith('.vectors') else 4) for k, t in model.tensors.items()) / 1e6:.1f} MB",
        "sources": SOURCES,
        "what is heard": HEARD,
        "albums trained on": trained_on(folder, model.training["fingerprint"]),
        "chosen": CHOSEN.format(**seeds),
        "limits": LIMITS,
        "measured independently": SEALED,
        "negatives": 31,
        "bits on validation": figures(report["validation"]),
        "controls": controls,
    }
    return Model(model.config, model.tensors, model.encoder.vocabulary, training=model.training, card=card)


def remeasured(model: Model, measured: dict[str, Any]) -> Model:
    """The model with the figures of a measurement by `fabula.mutual_information`, which a reader can repeat."""
    kept = {k: v for k, v in model.card.items() if k not in ("limits", "measured independently")}
    told = {
        table: {name: figure({"mean": case["bits"], **case}) for name, case in of["bits"].items()}
        for table, of in measured.items()
    }
    card: dict[str, Any] = {}
    for name, value in kept.items():
        card |= {"limits": LIMITS, "measured independently": SEALED} if name == "negatives" else {}
        card[name] = {**value, **told} if name == "bits on validation" else value
    return Model(model.config, model.tensors, model.encoder.vocabulary, training=model.training, card=card)


def main() -> None:
    """Read, describe, write, and check that nothing but the card has changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("report", type=Path, nargs="?")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--measured", type=Path, help="state the figures that measure_music_model.py has written")
    parser.add_argument("--controls", type=Path, help="the report of the controls, where they were trained apart")
    options = parser.parse_args()
    model = load_model(options.model)
    if options.measured:
        made = remeasured(model, json.loads(options.measured.read_text()))
    else:
        report = json.loads(options.report.read_text())
        if options.controls:
            report["controls"] = json.loads(options.controls.read_text())["controls"]
        made = described(model, report, options.folder)
    save_model(options.model, made)
    again = load_model(options.model)
    if not all(np.array_equal(tensor, again.tensors[name]) for name, tensor in model.tensors.items()):
        raise SystemExit(f"{options.model}: the weights have changed")


if __name__ == "__main__":
    main()
