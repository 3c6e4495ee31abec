import pytest

from fabula.training.compare import ESSENCE, Measured, Trial, gather_trials


def test_the_essence_comes_first_then_the_features_from_the_best():
    def run(bits, **correlations):
        return Measured(bits, bits - 0.1, bits + 0.1, correlations)

    runs = {"tempo": [run(0.1), run(0.2)], "energy": [run(0.5), run(0.3)]}
    found = [(Trial(ESSENCE, 2, 0), run(0.4, tempo=0.2, energy=0.9))]
    found += [(Trial(name, 1, k, alone=True), each) for name, both in runs.items() for k, each in enumerate(both)]
    rows = gather_trials(found)
    assert [row.name for row in rows] == [ESSENCE, "energy", "tempo"]
    assert [row.dimensions for row in rows] == [2, 1, 1]
    assert rows[1].seeds == (0.5, 0.3)
    assert (rows[1].bits, rows[1].low, rows[1].high) == pytest.approx((0.4, 0.3, 0.5))
    assert rows[1].correlation == 0.9
