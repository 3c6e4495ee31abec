from collections.abc import Callable

import numpy as np
import pytest

from fabula.core.collection import Collection, Item

Make = Callable[..., list[Collection]]


@pytest.fixture
def make() -> Make:
    """Collections whose first feature rises along the order, up to noise; ``rise=0`` gives noise alone."""

    def collections(
        count: int = 40,
        *,
        seed: int = 0,
        rise: float = 1.0,
        lengths: tuple[int, ...] = (4, 6, 7),
        names: tuple[str, ...] = ("energy", "loudness", "tempo"),
        statistics: int = 0,
    ) -> list[Collection]:
        rng = np.random.default_rng(seed)
        out = []
        for number in range(count):
            n = lengths[number % len(lengths)]
            features = rng.normal(size=(n, len(names), statistics) if statistics else (n, len(names)))
            features[:, 0] += rise * np.linspace(-2, 2, n).reshape((n, 1) if statistics else n)
            out.append(Collection(f"c{number}", [Item(f"c{number}-{i}") for i in range(n)], features, names))
        return out

    return collections
