import numpy as np
import pytest
import torch

from fabula.core.arcs import Arcs
from fabula.core.arrays import normalise
from fabula.core.template import Template, TemplateSet
from fabula.training.nets.essence_net import ArcsNet, BilstmScorerNet, EssenceNet, arrange, zscore
from fabula.training.recipes import TrainingConfig, resolve


def net_of(feature_shape=(3,), **changes) -> EssenceNet:
    torch.manual_seed(0)
    config = resolve(TrainingConfig(widths=(8,), encoder_hidden=6, scorer_hidden=5, **changes), feature_shape)
    net = EssenceNet(config, feature_shape)
    for parameter in net.parameters():  # output layers start from zero
        parameter.data.copy_(torch.randn_like(parameter) * 0.5)
    return net.eval()


def test_zscore_is_that_of_the_core():
    values = np.random.default_rng(0).normal(3, 20, size=(5, 7, 2))
    expected = np.stack([normalise(rows) for rows in values])
    assert zscore(torch.tensor(values)).numpy() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e4, 1e-20])
def test_equal_items_become_zero_with_finite_gradients(constant):
    values = torch.full((2, 7, 1), constant).requires_grad_()
    out = zscore(values)
    out.square().sum().backward()
    assert (out == 0).all()
    assert values.grad is not None
    assert values.grad.isfinite().all()


def test_arrange_is_a_double_loop():
    essence = torch.randn(3, 4, 2)
    orderings = torch.rand(3, 5, 4).argsort(2)
    out = arrange(essence, orderings)
    for b in range(3):
        for i in range(5):
            assert torch.equal(out[b, i], essence[b][orderings[b, i]])


KINDS = [
    ({}, (3,)),
    ({"layernorm": True, "skip": True, "dimensions": 2}, (3,)),
    ({"encoder": "identity"}, (3,)),
    ({"dimensions": 2}, (5, 4)),
    ({"scorer_positions": True, "readout": "mean"}, (3,)),
]


@pytest.mark.parametrize(("changes", "shape"), KINDS)
def test_gradients_reach_every_parameter(changes, shape):
    net = net_of(shape, **changes).train()
    features = torch.randn(4, 6, *shape)
    scores = net(features, torch.rand(4, 8, 6).argsort(2))
    sum(s.square().mean() for s in scores.values()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0 or name == "bilstm.out.bias", name


@pytest.mark.parametrize(("changes", "shape"), KINDS)
def test_every_item_and_its_place_change_the_score(changes, shape):
    """A scorer that never sees the last item, as a misplaced end token makes it, fails here."""
    net = net_of(shape, **changes)
    dimensions = net.encode(torch.randn(1, 6, *shape)).shape[2]
    essence = torch.randn(1, 6, dimensions, dtype=torch.float64)
    truth = torch.arange(6).view(1, 1, 6)
    before = net.double().score(essence, truth)
    for place in range(6):
        changed = essence.clone()
        changed[0, place] += 1.0
        for name, score in net.score(changed, truth).items():
            assert abs(score.item() - before[name].item()) > 1e-9, (name, place)


def test_a_score_does_not_depend_on_what_else_is_in_the_batch():
    """Nothing may leak from the true order into a sequence that competes with it."""
    net = net_of(scorer_positions=True)
    essence, orderings = torch.randn(3, 5, 1), torch.rand(3, 7, 5).argsort(2)
    together = net.score(essence, orderings)
    for b in range(3):
        for i in range(7):
            alone = net.score(essence[b : b + 1, orderings[b, i]], torch.arange(5).view(1, 1, 5))
            for name, score in alone.items():
                assert score.item() == pytest.approx(together[name][b, i].item(), abs=1e-5)


def test_the_arcs_are_those_of_the_core():
    config = TrainingConfig(dimensions=2, arcs=3)
    scorer = ArcsNet(config)
    scorer.values.data.normal_()
    scorer.weights.data.normal_()
    templates = [Template(config.knots, values) for values in scorer.values.detach().double().numpy()]
    reference = Arcs(TemplateSet(templates), scorer.weights.detach().double().numpy())
    for n in (2, 5, 20):
        sequences = torch.randn(6, 1, n, 2)
        expected = reference.score(sequences[:, 0].double().numpy())
        assert scorer(sequences)[:, 0].detach().numpy() == pytest.approx(expected, abs=1e-5)


def test_a_fresh_bilstm_and_a_silenced_net_have_no_opinion():
    sequences = torch.randn(2, 3, 5, 1)
    assert (BilstmScorerNet(TrainingConfig())(sequences) == 0).all()
    net = net_of()
    net.silence()
    for scores in net.score(torch.randn(2, 5, 1), torch.rand(2, 9, 5).argsort(2)).values():
        assert scores.std() < 1e-6


def test_features_are_disturbed_in_training_alone():
    net = net_of((3,), encoder="identity", feature_dropout=0.5, feature_noise=0.1)
    features = torch.randn(200, 4, 3)
    assert torch.equal(net.encode(features), zscore(features))
    shown = net.train()._disturb(features)
    gone = (shown == 0).all(1)  # (b, f): a feature is missing from the whole collection or from none of it
    assert torch.equal(gone, (shown == 0).any(1))
    assert 0.4 < gone.float().mean() < 0.6
    assert (shown - features)[(shown != 0)].std().item() == pytest.approx(0.1, abs=0.02)


def test_essence_and_readout_are_disturbed_in_training_alone():
    for changes in ({"essence_noise": 0.3}, {"readout_dropout": 0.5, "scorers": ("bilstm",)}):
        net = net_of((3,), **changes)
        essence, orderings = torch.randn(4, 5, 1), torch.rand(4, 3, 5).argsort(2)
        once, again = net.score(essence, orderings), net.score(essence, orderings)
        assert all(torch.equal(once[name], again[name]) for name in once)
        net.train()
        once, again = net.score(essence, orderings), net.score(essence, orderings)
        assert not any(torch.equal(once[name], again[name]) for name in once)
