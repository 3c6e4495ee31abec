import json

import numpy as np
import pytest

from fabula.errors import InputError
from fabula.evaluation.controls import Parts
from fabula.evaluation.information import mutual_information
from fabula.models.model import load_model, save_model
from fabula.training.item_models import EssenceTraining
from fabula.training.recipes import TrainingConfig

QUICK = {"widths": (16,), "batch": 64, "learning_rate": 2e-2, "epochs": 6, "scorer_hidden": 8, "scorer_layers": 1}


def train(parts, config, device="auto", **options):
    return EssenceTraining(parts, config, device, **options).train()


@pytest.mark.slow
def test_a_rising_feature_is_learned_and_the_model_says_so(make, tmp_path):
    collections, validation, unseen = make(240), make(60, seed=1), make(60, seed=2)
    done = train(Parts(collections, validation), TrainingConfig(**QUICK), device="cpu", card={"for": "a test"})
    model = load_model(save_model(tmp_path / "m.safetensors", done.model))
    for scorer in ("arcs", "bilstm"):
        assert done.information[scorer].low > 1.0
        told = mutual_information(model, unseen, scorer=scorer)
        assert told.bits == pytest.approx(done.information[scorer].bits, abs=0.4)
    assert model.card["for"] == "a test"
    assert model.card["bits"]["arcs"]["bits"] == round(done.information["arcs"].bits, 4)
    record = model.training
    assert (record["collections"], record["validation_collections"], record["best_epoch"]) == (
        240,
        60,
        done.best_epoch,
    )
    assert len(record["data"]) == 64
    assert TrainingConfig.from_dict(record["settings"]) == done.config
    json.dumps(model.card)


@pytest.mark.slow
def test_the_essence_rises_with_loudness(make):
    """Here the first feature, which carries the order, is made to fall with the loudness."""
    collections, validation = make(120), make(20, seed=1)
    for c in [*collections, *validation]:
        c.features[:, 1] = -c.features[:, 0]
    model = train(Parts(collections, validation), TrainingConfig(**QUICK, features=("energy",)), device="cpu").model
    essence = np.concatenate([model.encode(c)[:, 0] for c in collections])
    assert np.corrcoef(essence, np.concatenate([c.column("loudness") for c in collections]))[0, 1] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_gives_no_bits(make, seed):
    config = TrainingConfig(**{**QUICK, "epochs": 4}, seed=seed)
    done = train(Parts(make(200, rise=0.0, seed=seed), make(200, seed=10 + seed, rise=0.0)), config, device="cpu")
    assert all(abs(info.bits) < 0.02 for info in done.information.values())


def test_frozen_features_are_measured_as_they_are(make):
    config = TrainingConfig(**QUICK, encoder="identity", features=("energy",), scorers=("arcs",))
    done = train(Parts(make(200), make(60, seed=1)), config, device="cpu")
    assert done.information["arcs"].low > 1.0
    assert not [name for name in done.model.tensors if name.startswith("encoder.")]


def test_arrays_are_read_by_the_papers_encoder(make):
    config = TrainingConfig(**{**QUICK, "epochs": 10}, encoder_hidden=8, scorers=("arcs",))
    done = train(Parts(make(200, statistics=2), make(60, seed=1, statistics=2)), config, device="cpu")
    assert done.config.encoder == "bilstm"
    assert done.information["arcs"].low > 0.5


def test_what_cannot_be_trained_is_told(make):
    with pytest.raises(InputError, match="validation needs at least one"):
        train(Parts(make(5), []), TrainingConfig())
    with pytest.raises(InputError, match="training needs at least one"):
        train(Parts([], make(5)), TrainingConfig())
    with pytest.raises(InputError, match="no feature 'valence'"):
        train(Parts(make(5), make(5)), TrainingConfig(features=("valence",)))
    with pytest.raises(InputError, match="'tempo'"):
        train(Parts(make(5), make(5, names=("energy", "loudness"))), TrainingConfig())
    with pytest.raises(InputError, match="device must be auto, cpu, cuda or cuda:NUMBER; got 'tpu9'"):
        train(Parts(make(5), make(5)), TrainingConfig(), device="tpu9")
