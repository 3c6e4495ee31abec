"""How firmly weights learned from few series are to be held near to those of `pictures`, on picture books set aside.

    python examples/choose_pictures_hold.py features.parquet

The model has seen none of these books. Each row is the mean over eight draws of series to learn from, measured on 150
others of the training split; nothing of the validation split is looked at.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import train_pictures_model as pictures

from fabula.core.arrays import Floats
from fabula.models.model import load_model
from fabula.training.step_models import RIDGE, Example, bits_of, learn_neighbours, neighbour_scores

HOLDS = (0.0, 16.0, 64.0, 256.0, 1000.0)
COUNTS = (12, 25, 60, 300)
DRAWS, MEASURED = 8, 150


def bits(examples: list[Example], weights: Floats) -> float:
    """The mean over collections, 31 negatives each."""
    return float(bits_of(examples, neighbour_scores(weights), negatives=31, rng=np.random.default_rng(2)).mean())


def main() -> None:
    """Print bits by number of series and by hold."""
    model = load_model("pictures")
    if "pairs" not in model.reads:
        raise SystemExit("the model pictures is no step model")
    known = model.tensors["reach.weights"][:, 0]
    series = pictures.read_series(Path(sys.argv[1]), ("picture_book",), "train")
    examples = [pictures.example(one) for one in series]
    rng = np.random.default_rng(0)
    for count in COUNTS:
        found: dict[str, list[float]] = {}
        for _ in range(DRAWS):
            order = rng.permutation(len(examples))
            own, others = ([examples[i] for i in part] for part in (order[:count], order[count : count + MEASURED]))
            for hold in HOLDS:
                firm = hold / count if hold else RIDGE
                weights = learn_neighbours(
                    own,
                    negatives=127,
                    rng=np.random.default_rng(1),
                    near=known if hold else None,
                    hold=firm,
                )
                found.setdefault(f"{hold:g} / n", []).append(bits(others, weights))
            found.setdefault("as they are", []).append(bits(others, known))
        print(count, {name: round(float(np.mean(values)), 3) for name, values in found.items()})


if __name__ == "__main__":
    main()
