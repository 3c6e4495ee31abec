"""Write into the models that come with the package what they were trained on: a digest of every collection.

    python examples/record_training_data.py FOLDER          # the tables of albums, text/
    python examples/record_training_data.py FOLDER --only prose poems
    python examples/record_training_data.py FOLDER --write
    python examples/record_training_data.py FOLDER --only pictures --write      # images/features.parquet alone

The weights are not touched. A model gets its record only where the fingerprint that its training left in the file is
that of the collections at hand, read and filtered as its recipe does; else nothing is written and it says so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import train_music_model as music
import train_shipped_models as shipped

import fabula.models
from fabula.core.collection import Collection
from fabula.core.fingerprints import Fingerprints
from fabula.media.registry import measure_if_held
from fabula.models.model import load_model, save_model
from fabula.research.kinds import FEWEST
from fabula.research.splits import read_split
from fabula.training.data import fingerprint
from fabula.training.sets import set_fingerprint

TEXTS = {"prose": "novels.parquet", "poems": "poems.parquet"}
FILES = Path(fabula.models.__file__).parent / "shipped"


def main() -> None:
    """Compare fingerprints, and write what is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="write the records; else only say what is known")
    parser.add_argument("--only", nargs="*", choices=["pictures", "music", *TEXTS], help="these models; all by default")
    chosen = parser.parse_args()
    if chosen.only is None or "pictures" in chosen.only:
        _pictures(chosen.folder / "images" / "features.parquet", write=chosen.write)
    for name, table in TEXTS.items():
        if chosen.only is None or name in chosen.only:
            _record_texts(name, chosen.folder / "text" / table, write=chosen.write)
    if chosen.only is None:
        _record_essences(chosen)
    if chosen.only is None or "music" in chosen.only:
        _record_music(chosen)


def _record_essences(chosen: argparse.Namespace) -> None:
    arrays = shipped.read_parquet(chosen.folder / "albums.parquet")
    usual, all_of_them = (shipped.as_collections(arrays, unusual=unusual)["train"] for unusual in (False, True))
    titled = _titled(chosen.folder)
    for name, training in (("albums", all_of_them), ("audio", all_of_them), ("albums-16", usual)):
        model: Any = load_model(name)
        same = fingerprint(training, model.feature_names) == model.training["data"]
        _record(name, model, [titled[c.id] for c in training], same=same, write=chosen.write)


def _record_music(chosen: argparse.Namespace) -> None:
    """Known by the true features and the titles: what is heard of these albums is simulated."""
    albums = music.as_albums(music.read_tables(chosen.folder))
    training = [album for part in albums.values() for album in part["train"]]
    model = load_model("music")
    same = set_fingerprint(training) == model.training["fingerprint"]
    _record("music", model, training, same=same, write=chosen.write, features=music.TRUE)


def _record_texts(name: str, table: Path, *, write: bool) -> None:
    """A step model, whose training leaves how many collections of six items and more it was given."""
    model: Any = load_model(name)
    split = read_split(table)
    training = [c for c in split.training if len(c) >= FEWEST]
    measured = [measure_if_held(c)[0] for c in training]
    same = len(measured) == model.training.get("collections")
    _record(name, model, measured, same=same, write=write)


def _pictures(path: Path, *, write: bool) -> None:
    """Trained anew from the same collections, the weights must come out the same."""
    import numpy as np
    import train_pictures_model as pictures

    model: Any = load_model("pictures")
    series = pictures.read_series(path, pictures.PHOTOGRAPHS, "train")
    weights = pictures.trained([pictures.example(one) for one in series])
    same = bool(np.allclose(weights, model.tensors["reach"][:, 0], rtol=0, atol=1e-3))
    _record("pictures", model, series, same=same, write=write, features=series[0].feature_names)


def _titled(folder: Path) -> dict[str, Collection]:
    """The albums of the first table with their titles, which the recipe does not read, by id."""
    from fabula.sources.tables.read_table import read_table

    return {c.id: c for c in read_table(folder / "albums.parquet", title="track_name")}


def _record(
    name: str,
    model: Any,
    training: Sequence[Collection],
    *,
    same: bool,
    write: bool,
    features: Sequence[str] | None = None,
) -> None:
    seen = Fingerprints.of(training, model.feature_names if features is None else features)
    print(f"{name}: {len(training):,} collections, {'the same' if same else 'NOT the same'} as it was trained on")
    if same and write:
        model.training["seen"] = seen.to_dict()
        path = save_model(FILES / f"{name}.safetensors", model)
        print(
            f"  {len(seen.values):,} digests of values, {len(seen.titles):,} of titles; {path.stat().st_size:,} bytes"
        )


if __name__ == "__main__":
    main()
