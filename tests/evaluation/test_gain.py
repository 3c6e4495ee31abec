import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.core.energy import Energy
from fabula.evaluation.information import information_gain


class Tables:
    """A model that likes each item's true position so much."""

    def __init__(self, liking):
        self.liking = liking

    def energies(self, collections):
        return [Energy(self.liking * np.eye(len(c))) for c in collections]


@pytest.fixture
def collections():
    return [Collection(str(i), [Item(str(j), artist=f"a{i % 7}") for j in range(6)]) for i in range(40)]


def test_a_model_gains_nothing_over_itself(collections):
    gained = information_gain(Tables(1.0), Tables(1.0), collections)
    assert (gained.mean, gained.low, gained.high, gained.n) == (0.0, 0.0, 0.0, 40)


def test_what_knows_more_gains_surely(collections):
    gained = information_gain(Tables(2.0), Tables(0.5), collections)
    assert 0 < gained.low < gained.mean < gained.high
    lost = information_gain(Tables(0.5), Tables(2.0), collections)
    assert lost.mean == pytest.approx(-gained.mean)
