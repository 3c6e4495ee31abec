import math

import numpy as np
import pytest
import torch

from fabula.training.item_models import sum_losses
from fabula.training.loop import info_nce, to_bits
from fabula.training.recipes import TrainingConfig


def by_hand(scores: np.ndarray) -> list[float]:
    """Equation 1 of the paper as it is written, with g = exp(score), one collection and one sequence at a time."""
    losses = []
    for row in scores:
        total = 0.0
        for score in row:
            total += math.exp(score)
        losses.append(-math.log(math.exp(row[0]) / total))
    return losses


def test_the_loss_is_equation_1():
    scores = np.random.default_rng(0).normal(scale=2, size=(7, 5))
    assert info_nce(torch.tensor(scores)).numpy() == pytest.approx(by_hand(scores), abs=1e-12)


def test_huge_scores_do_not_overflow():
    assert info_nce(torch.tensor([[1000.0, 0.0]])).item() == 0.0
    assert info_nce(torch.tensor([[0.0, 1000.0]])).item() == 1000.0


def test_no_opinion_is_zero_bits_and_certainty_is_log_n():
    assert to_bits(info_nce(torch.zeros(3, 32, dtype=torch.float64)).mean().item(), 32) == pytest.approx(0, abs=1e-12)
    assert to_bits(0.0, 32) == 5.0


def test_the_losses_of_the_scorers_are_weighed_and_summed():
    rng = np.random.default_rng(1)
    arcs, bilstm = rng.normal(size=(2, 3, 4))
    config = TrainingConfig(scorers=("arcs", "bilstm"), scorer_weights=(2.0, 0.5))
    loss = sum_losses({"arcs": torch.tensor(arcs), "bilstm": torch.tensor(bilstm)}, config)
    assert loss.item() == pytest.approx(2 * sum(by_hand(arcs)) + 0.5 * sum(by_hand(bilstm)))
