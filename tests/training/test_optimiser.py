import math
from itertools import pairwise

import pytest
import torch

from fabula.training.item_models import learning_rate
from fabula.training.loop import RunningMean, precision
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.recipes import TrainingConfig, preset, resolve


def test_the_rate_rises_then_falls_along_a_cosine():
    config = TrainingConfig(learning_rate=2.0, warmup=0.1, schedule="cosine")
    rates = [learning_rate(config, step, 100) for step in range(1, 101)]
    assert rates[4] == pytest.approx(2.0 * 0.5 * (0.5 + 0.5 * math.cos(math.pi * 0.05)))
    assert max(rates) == rates[9]
    assert rates[-1] == pytest.approx(0.0)
    assert all(a > b for a, b in pairwise(rates[9:]))


def test_the_papers_rate_is_constant():
    assert {learning_rate(preset("paper"), step, 50) for step in range(1, 51)} == {1e-4}


def test_the_running_mean_is_one():
    config = resolve(TrainingConfig(widths=(4,), scorers=("arcs",)), (3,))
    net = EssenceNet(config, (3,))
    mean = RunningMean(net, apart=True)
    expected = net.encoder.get_submodule("0").weight.detach().clone()
    for step in range(1, 40):
        with torch.no_grad():
            net.encoder.get_submodule("0").weight.add_(0.1)
        decay = min(0.8, (1 + step) / (10 + step))
        mean.update(1 - decay)
        expected = decay * expected + (1 - decay) * net.encoder.get_submodule("0").weight.detach()
    assert torch.allclose(mean.net.encoder.get_submodule("0").weight, expected, atol=1e-5)
    assert not any(p.requires_grad for p in mean.net.parameters())


def test_without_a_mean_the_net_itself_is_kept():
    net = EssenceNet(resolve(TrainingConfig(scorers=("arcs",)), (3,)), (3,))
    assert RunningMean(net, apart=False).net is net


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("amp", "expected"), [("none", "ieee"), ("tf32", "tf32")])
def test_the_precision_is_set_and_set_back(amp, expected):
    before = torch.backends.cudnn.rnn.fp32_precision
    with precision(amp, torch.device("cuda")):
        assert torch.backends.cudnn.rnn.fp32_precision == expected
    assert torch.backends.cudnn.rnn.fp32_precision == before
