import numpy as np
import pytest

from fabula.core import posterior as module
from fabula.core.posterior import posterior, posteriors


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("scale", [0.1, 2.0, 25.0])
def test_the_same_as_one_by_one(rng, n, scale):
    positions, flow = scale * rng.normal(size=(7, n, n)), scale * rng.normal(size=(7, n, n))
    found = posteriors(positions, flow)
    for number in range(7):
        one = posterior(positions[number], flow[number])
        np.testing.assert_allclose(found.positions[number], one.positions, atol=2e-6)
        np.testing.assert_allclose(found.neighbours[number], one.neighbours, atol=2e-6)


def test_a_sum_too_small_for_single_precision_is_done_in_double(rng, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "posterior", lambda *tables: asked.append(1) or posterior(*tables))
    positions, flow = rng.normal(size=(3, 6, 6)), rng.normal(size=(3, 6, 6))
    positions[1] = 300 * np.eye(6)  # one order alone by positions, and its neighbours all but impossible
    flow[1] = -300 * (np.eye(6, k=1) + np.eye(6, k=-1))
    found = posteriors(positions, flow)
    assert len(asked) == 1
    np.testing.assert_allclose(found.positions[1], posterior(positions[1], flow[1]).positions, atol=1e-9)


def test_how_many_at_a_time_changes_nothing(rng, monkeypatch):
    tables = rng.normal(size=(2, 9, 7, 7))
    whole = posteriors(*tables)
    monkeypatch.setattr(module, "_CELLS", 1)
    for one, other in zip(whole, posteriors(*tables), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.slow
def test_beyond_few_items_they_are_drawn_as_of_one(rng):
    positions, flow = rng.normal(size=(2, 1, 19, 19))
    np.testing.assert_array_equal(posteriors(positions, flow).positions[0], posterior(positions[0], flow[0]).positions)
