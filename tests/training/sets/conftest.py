import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.models.sets.spec import SetSpec

WORDS = ("Sun", "Rain", "Moon", "Tide", "Wind", "Stone")
SMALL = SetSpec(
    ("loudness", "tempo"), token_size=8, gram_size=4, width=16, layers=1, heads=2, inner=24, dimensions=6, rank=4,
    pair_width=8,
)  # fmt: skip


def planted(count, seed=0, n=6):
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
def albums():
    return planted(160), planted(80, seed=1)
