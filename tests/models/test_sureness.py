"""What may be claimed of an order, and of what nothing may be."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from fabula.core.collection import Terms
from fabula.core.energy import Energy
from fabula.core.posterior import Posterior, posterior, posterior_of
from fabula.models.model import load_model
from fabula.models.sureness import (
    CLAIMS,
    calibrate,
    calibration,
    claim,
    digest,
    is_far,
    is_scattered,
    measure_kin,
    raw_claims,
    stored,
)


def test_what_was_fitted_was_fitted_for_the_models_as_they_are():
    """A model that was trained anew needs ``python -m benchmarks.reliability DATA --fit --of KIND``."""
    assert set(stored()) == {"music", "prose", "poems", "pictures"}
    for name, known in stored().items():
        assert known["digest"] == digest(load_model(name)), name
        assert all(len(known[one]) == 3 and np.isfinite(known[one]).all() for one in CLAIMS)
        assert all(known[one][1] >= 0 for one in CLAIMS)  # who expects more claims no less


def test_of_another_model_nothing_is_claimed():
    assert calibration(load_model("audio")) is None
    found = claim(load_model("audio"), posterior_of(np.array([[0, 1, 2, 3]])), np.arange(4))
    assert found.order is found.direction is found.opener is found.close is None


def test_claims_of_orders_drawn_are_shares_of_them():
    drawn = np.array([[0, 1, 2, 3]] * 3 + [[3, 2, 1, 0]])
    raw = raw_claims(posterior_of(drawn), np.arange(4))
    assert raw["order"] == pytest.approx(0.75)
    assert raw["direction"] == pytest.approx(4 / 6)  # (3 + 1) / (4 + 2)
    assert (raw["opener"], raw["close"]) == (0.75, 0.75)
    back = raw_claims(posterior_of(drawn), np.arange(4)[::-1])
    assert back["order"] == pytest.approx(0.25)


def test_claims_by_positions_are_near_to_those_of_all_orders(rng):
    """Where items hardly know of each other: against the sum over all orderings by their likelihood."""
    energy = Energy(rng.normal(size=(6, 6)), np.zeros((6, 6)))
    orders = np.array(list(permutations(range(6))))
    weights = np.exp(energy.score(orders))
    weights /= weights.sum()
    order = orders[np.argmax(weights)]
    raw = raw_claims(posterior(energy), order)
    places = np.argsort(orders, axis=1)[:, order]
    first, second = np.triu_indices(6, 1)
    true = weights @ (places[:, first] < places[:, second]).mean(axis=1)
    assert raw["order"] == pytest.approx(true, abs=0.05)
    along = (places - 2.5) @ (np.arange(6) - 2.5)
    assert raw["direction"] == pytest.approx(weights @ (along > 0), abs=0.1)
    assert raw["opener"] == pytest.approx(weights @ (orders[:, 0] == order[0]))


def test_an_order_of_which_nothing_is_known_is_a_coin():
    even = Posterior(np.full((5, 5), 0.2), np.full((5, 5), 0.2))
    raw = raw_claims(even, np.arange(5))
    assert raw["order"] == pytest.approx(0.5)
    assert raw["direction"] == pytest.approx(0.5)


def test_calibration_rises_with_the_chance_and_stays_within():
    numbers = [0.1, 0.5, 0.2]
    found = [calibrate(numbers, chance, 10) for chance in np.linspace(0, 1, 11)]
    assert found == sorted(found)
    assert 0 < found[0] < found[-1] < 1
    assert calibrate([0, 1, 0], 0.37, 30) == pytest.approx(0.37, abs=1e-4)


def terms_of(rows: list[list[float]]) -> Terms:
    table = sparse.csr_array(np.array(rows))
    return Terms("en", [str(k) for k in range(table.shape[1])], table, table.sum(axis=1))


def test_kin_is_what_texts_have_in_common():
    features = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 4.0]])
    one = measure_kin(features, terms_of([[2, 1, 0, 1], [1, 1, 1, 0], [1, 2, 1, 0]]), np.array([[1.0], [2], [0]]))
    number, first, second, wording, rates, single, reach = one
    assert (number, first, second) == pytest.approx((np.log(3), 3.0, 3.0))
    assert single == pytest.approx(1 / 9)  # one of nine entries is of a word that one text has
    assert reach == pytest.approx(2 / 9)  # of three threads, one is there, in two of three texts
    table = np.array([[2, 1, 0, 1], [1, 1, 1, 0], [1, 2, 1, 0]])
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert rates == pytest.approx(np.mean([unit[i] @ unit[k] for i, k in ((0, 1), (0, 2), (1, 2))]))
    apart = measure_kin(features, terms_of([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]), None)
    assert (apart[-1], apart[-2]) == (0.0, 1.0)
    assert apart[-4] < wording


def test_far_and_scattered_are_told_by_what_was_learned():
    kin = stored()["prose"]["kin"]
    usual = np.array([*kin["mean"], 0.8])
    assert not is_far(kin, usual)
    assert not is_scattered(kin, usual)
    strange = usual + 6 * np.array([*kin["deviation"], 0.0]) * np.where(np.arange(len(usual)) % 2, 1, -1)
    assert is_far(kin, strange)
    assert is_scattered(kin, np.array([*kin["mean"][:-3], -3.2, 0.8, 0.5, 0.1]))
    json.dumps(kin, allow_nan=False)


def test_of_pictures_no_direction_is_claimed():
    known = stored()["pictures"]
    assert known["order"] == known["direction"] == [0.0, 0.0, 0.0]
