import numpy as np
import pytest
import torch

from fabula.evaluation.information import mutual_information
from fabula.training.data import fit_transform, make_pool
from fabula.training.distributed import World
from fabula.training.item_models import (
    build_model,
    calibrate,
    encode_pool,
    information,
    measure_scales,
    validation_bits,
)
from fabula.training.nets.essence_net import EssenceNet
from fabula.training.recipes import TrainingConfig, resolve


@pytest.fixture
def measured(make):
    collections = make(30, lengths=(6, 4, 7))
    transform = fit_transform(collections, collections[0].feature_names, ())
    config = resolve(TrainingConfig(widths=(8,), scorer_hidden=6, dimensions=2, seed=3), (3,))
    torch.manual_seed(0)
    net = EssenceNet(config, (3,))
    for parameter in net.parameters():
        parameter.data.copy_(torch.randn_like(parameter) * 0.4)
    model = build_model(net.state_dict(), config, transform)
    return net, make_pool(collections, transform, torch.device("cpu")), config, model, sorted(collections, key=len)


def test_the_essence_of_a_pool_is_that_of_the_model(measured):
    net, pool, _, model, collections = measured
    essences = encode_pool(net.train(), pool)
    assert len(essences) == 30
    for essence, collection in zip(essences, collections, strict=True):
        assert np.allclose(essence, model.encode(collection), atol=1e-4)


def test_the_information_is_that_of_the_model(measured):
    net, pool, config, model, collections = measured
    for scorer, info in information(net, pool, config).items():
        expected = mutual_information(model, collections, seed=3, scorer=scorer)
        assert (info.bits, info.low, info.high) == pytest.approx((expected.bits, expected.low, expected.high), abs=1e-3)
        assert info.ceiling == expected.ceiling


def test_calibration_finds_the_scale_that_tells_most(measured):
    net, pool, config, _, _ = measured
    found = []
    for factor in (1.0, 3.0):  # the same net, three times as sure of itself
        with torch.no_grad():
            for name in config.scorers:
                for tensor in net.certainty_of(name):
                    tensor.mul_(factor)
        before = validation_bits(net, pool, config)
        kept = {name: net.certainty_of(name)[0].clone() for name in config.scorers}
        scales = (1.0, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.5)
        costs = measure_scales(net, pool, config, scales).mean(dim=1)
        calibrate(net, costs, scales, config, World(0, 1, torch.device("cpu")))
        after = validation_bits(net, pool, config)
        assert all(after[name] >= before[name] for name in config.scorers)
        found.append({name: (net.certainty_of(name)[0] / kept[name]).mean().item() for name in config.scorers})
    assert all(0.69 < scale < 1.51 for scales in found for scale in scales.values())
    assert all(scale < 0.99 for scale in found[1].values())
