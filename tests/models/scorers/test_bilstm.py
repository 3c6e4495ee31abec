import numpy as np
import pytest

from fabula.models.scorers.bilstm import BilstmScorer


def doubled(tensors):
    return {name: tensor.astype(np.float64) for name, tensor in tensors.items()}


@pytest.mark.parametrize("readout", ["ends", "mean"])
@pytest.mark.parametrize("n", [2, 7])
def test_the_score_sees_every_item(bilstm, n, readout):
    scorer, tensors = bilstm(2, readout=readout, hidden=8)
    sequence = np.random.default_rng(0).normal(size=(n, 2))
    before = BilstmScorer(tensors, scorer).score(sequence[np.newaxis])[0]
    for item in range(n):
        changed = sequence.copy()
        changed[item] += 1.0
        assert abs(BilstmScorer(tensors, scorer).score(changed[np.newaxis])[0] - before) > 1e-4


def test_the_score_depends_on_the_order(bilstm):
    scorer, tensors = bilstm(1, hidden=8)
    there = np.arange(5.0).reshape(1, 5, 1)
    assert (
        abs(BilstmScorer(tensors, scorer).score(there)[0] - BilstmScorer(tensors, scorer).score(there[:, ::-1])[0])
        > 1e-4
    )


def test_the_score_does_not_depend_on_the_rest_of_the_batch(bilstm):
    scorer, tensors = bilstm(3)
    sequences = np.random.default_rng(0).normal(size=(600, 6, 3))
    together = BilstmScorer(tensors, scorer).score(sequences)
    for i in (0, 255, 256, 599):
        assert abs(BilstmScorer(tensors, scorer).score(sequences[i : i + 1])[0] - together[i]) < 1e-6


@pytest.mark.parametrize("hidden", [8, 32])
def test_no_product_of_a_step_is_shared_out_to_threads(bilstm, hidden, monkeypatch):
    """Beside one busy process two threads that wait for each other at every step take ten times as long."""
    scorer, tensors = bilstm(2, hidden=hidden)
    sequences, product, sizes = np.zeros((512, 5, 2)), np.matmul, []

    def record(a, b, **how):
        sizes.append(a.shape[0] * a.shape[1] * b.shape[1])
        return product(a, b, **how)

    monkeypatch.setattr(np, "matmul", record)
    BilstmScorer(tensors, scorer).score(sequences)
    assert len(sizes) > 2 * 2 * 7  # layers, directions, steps
    assert max(sizes) <= 1 << 18  # up to which OpenBLAS takes one


def test_the_score_computes_in_the_dtype_of_its_tensors(bilstm):
    scorer, tensors = bilstm(1, hidden=4)
    x = np.zeros((2, 3, 1))
    assert BilstmScorer(tensors, scorer).score(x).dtype == np.float32
    assert BilstmScorer(doubled(tensors), scorer).score(x).dtype == np.float64
