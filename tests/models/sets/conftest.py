import numpy as np
import pytest

from fabula.models.encoders.set import SetSpec
from fabula.models.file import tensor_shapes
from fabula.models.model import Model
from fabula.models.titles import Vocabulary

TITLES = ("Intro", "Hope (Part 1)", "Hope (Part 2)", "", "Rain", "The End")
FEATURES = ("loudness", "key", "mode", "duration_ms")


def _random_model(seed=0, **changes):
    """A small model of random weights that knows a few words."""
    words = Vocabulary(("the", "end", "=the end", "intro", "hope"), ("<en", "nd>", "rai"))
    sizes = {"tokens": 5, "grams": 3, "token_size": 8, "gram_size": 4, "width": 16, "inner": 24, "dimensions": 6}
    musical = {"logged": ("duration_ms",), "circle": "key", "mode": "mode"}
    spec = SetSpec(FEATURES, **{**sizes, **musical, **changes})
    rng = np.random.default_rng(seed)
    tensors = {
        name: rng.normal(size=shape) / np.sqrt(shape[-1] if len(shape) > 1 else 4)
        for name, shape in tensor_shapes(spec.config(), ()).items()
    }
    tensors["transform.mean"] = np.array([-8, 0, 0.6, 12], np.float32)
    tensors["transform.deviation"] = np.array([3, 1, 0.5, 0.4], np.float32)
    return Model(spec.config(), tensors, words if spec.titles else None, card={"purpose": "a test"})


@pytest.fixture(scope="session")
def random_model():
    return _random_model


@pytest.fixture(scope="session")
def model():
    return _random_model()


@pytest.fixture(scope="session")
def titles():
    return TITLES


@pytest.fixture
def features():
    rng = np.random.default_rng(5)
    n = len(TITLES)
    columns = [rng.normal(-8, 3, n), rng.integers(0, 12, n), rng.integers(0, 2, n), rng.uniform(9e4, 4e5, n)]
    table = np.stack(columns, axis=1)
    table[2, 0] = np.nan
    return table
