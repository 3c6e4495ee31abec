import numpy as np
import pytest

torch = pytest.importorskip("torch")

from examples.assess_music import (  # noqa: E402
    OwnedPool,
    agreement,
    bits_by_inputs,
    interval,
    mean_tables,
    obvious,
)
from fabula.training.nets.set_net import learn_inputs  # noqa: E402
from fabula.training.sets import prepare  # noqa: E402


@pytest.fixture(scope="module")
def measured(albums, small):
    """Collections with a model that knows their order, and their data."""
    collections = albums[1][:12]
    data = prepare(collections, learn_inputs(albums[0], small, tokens=1, grams=1))
    data = OwnedPool(data.items, data.lengths, data.pairs, np.arange(len(data)))

    def truth(x):
        n = x.values.shape[1]
        return 3 * torch.eye(n).expand(len(x.values), n, n), torch.zeros(len(x.values), n, n)

    return collections, data, truth


def test_the_true_order_agrees_in_everything(measured):
    collections, data, _ = measured
    orderings = [np.arange(len(collection)) for collection in collections]
    assert agreement(orderings) == {"spearman": 1.0, "opener": 1.0, "close": 1.0, "neighbours": 1.0}
    kept = obvious(orderings, collections, data)
    assert kept["intro first"] == kept["outro last"] == {"albums": 12, "share": 1.0}


def test_a_reversed_order_agrees_in_nothing():
    assert agreement([np.arange(6)[::-1]]) == {"spearman": -1.0, "opener": 0.0, "close": 0.0, "neighbours": 0.0}


def test_bits_are_told_by_what_is_known(measured):
    _, data, truth = measured
    report = bits_by_inputs(mean_tables([truth, truth]), data, ("loudness", "tempo"), draws=2)
    assert report["all inputs"]["mean"] > 4
    assert report["all inputs"]["low"] <= report["all inputs"]["mean"] <= report["all inputs"]["high"]
    assert set(report["by length"]) == {"3 to 6"}


def test_groups_are_drawn_whole():
    values = np.array([0.0, 0.0, 0.0, 1.0])
    alone, together = interval(values, np.arange(4)), interval(values, np.array([0, 0, 1, 1]))
    assert alone["mean"] == together["mean"] == 0.25
    assert together["high"] - together["low"] > alone["high"] - alone["low"]  # two groups say less than four albums
