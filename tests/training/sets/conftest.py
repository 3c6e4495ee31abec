import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.models.encoders.set import SetSpec
from fabula.models.file import tensor_shapes
from fabula.models.model import Model
from fabula.models.titles import Vocabulary

WORDS = ("Sun", "Rain", "Moon", "Tide", "Wind", "Stone")
SMALL = SetSpec(
    ("loudness", "tempo"), token_size=8, gram_size=4, width=16, layers=1, heads=2, inner=24, dimensions=6, rank=4,
    pair_width=8,
)  # fmt: skip


def _planted(count, seed=0, n=6):
    """Collections that grow louder, begin with Intro and end with Outro; tempo tells nothing."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        features = np.stack([np.sort(rng.normal(size=n)) + rng.normal(size=n) * 0.3, rng.normal(size=n)], axis=1)
        names = ["Intro", *rng.choice(WORDS, n - 2), "Outro"]
        items = [Item(str(i), name, artist=f"a{number}") for i, name in enumerate(names)]
        made.append(Collection(f"{seed}-{number}", items, features, ("loudness", "tempo")))
    return made


@pytest.fixture(scope="session")
def planted():
    return _planted


@pytest.fixture(scope="session")
def small():
    return SMALL


@pytest.fixture(scope="session")
def albums():
    return _planted(160), _planted(80, seed=1)


@pytest.fixture(scope="session")
def musical_model():
    """A maker of small models of random weights that take keys, and know a few words."""

    def make(**changes):
        words = Vocabulary(("the", "end", "=the end", "intro", "hope"), ("<en", "nd>", "rai"))
        musical = {"logged": ("duration_ms",), "circle": "key", "mode": "mode", "tokens": 5, "grams": 3}
        spec = SetSpec(("loudness", "key", "mode", "duration_ms"), **{**musical, **changes})
        rng = np.random.default_rng(0)
        shapes = tensor_shapes(spec.config(), ()).items()
        tensors = {name: rng.normal(size=shape) / np.sqrt(shape[-1] if len(shape) > 1 else 4) for name, shape in shapes}
        tensors |= {"transform.mean": np.array([-8, 0, 0.6, 12]), "transform.deviation": np.array([3, 1, 0.5, 0.4])}
        return Model(spec.config(), tensors, words if spec.titles else None)

    return make
