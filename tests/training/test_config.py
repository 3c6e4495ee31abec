import json

import pytest

from fabula.core.template import PAPER_KNOTS
from fabula.errors import InputError
from fabula.training.recipes import TrainingConfig, preset, resolve


def test_the_paper_preset_has_the_numbers_of_appendix_a():
    paper = preset("paper")
    assert (paper.batch, paper.sequences, paper.optimizer, paper.learning_rate) == (16, 32, "adam", 1e-4)
    assert (paper.encoder_hidden, paper.encoder_layers, paper.dropout, paper.encoder_decay) == (128, 2, 0.1, 0.0)
    assert (paper.scorers, paper.scorer_hidden, paper.scorer_layers, paper.scorer_decay) == (("bilstm",), 32, 2, 1e-5)
    assert paper.patience > 0
    assert (paper.subsequences, paper.ema, paper.clip) == (0.0, 0.0, 0.0)
    assert paper.knots == PAPER_KNOTS


def test_a_config_survives_json():
    config = preset("default", dimensions=4, widths=[8], features=["energy"], scorers=["arcs"])
    assert TrainingConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_seed_must_fit_into_63_bits():
    assert TrainingConfig(seed=2**63 - 1).seed == 2**63 - 1
    for seed in (-1, 2**63, 1.5, True):
        with pytest.raises(InputError, match="'seed' must be a whole number from 0"):
            TrainingConfig(seed=seed)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch": 0}, "'batch' must be a whole number from 1 to 1,048,576; got 0"),
        ({"dropout": 1.5}, "'dropout' must be a number from 0 to 0.99; got 1.5"),
        ({"batch": 2.5}, "got 2.5"),
        ({"negatives": 0}, "'negatives' must be a whole number from 1"),
        ({"dropout": 1.0}, "'dropout' must be a number from 0 to 0.99"),
        ({"learning_rate": float("nan")}, "'learning_rate' must be a number"),
        ({"epochs": True}, "got True"),
        ({"encoder": "cnn"}, "must be one of auto, mlp, bilstm, identity; got 'cnn'"),
        ({"scorers": ()}, "one or more of arcs, bilstm, each once; got []"),
        (
            {"scorers": ("arcs", "arcs")},
            "scorers must be one or more of arcs, bilstm, each once; got ['arcs', 'arcs']",
        ),
        ({"scorers": ("gru",)}, "one or more of arcs, bilstm, each once; got ['gru']"),
        ({"scorers": "arcs"}, "'scorers' must be a list; got 'arcs'"),
        ({"scorer_weights": (1.0,)}, "must be 2 numbers above 0"),
        ({"widths": (0,)}, "widths must be whole numbers"),
        ({"amp": "fp8"}, "none, tf32"),
    ],
)
def test_a_bad_value_is_told(changes, words):
    with pytest.raises(InputError) as error:
        TrainingConfig(**changes)
    assert words in str(error.value)


def test_unknown_names_are_told():
    with pytest.raises(InputError, match="no preset 'papre'; there are: default, arcs, paper"):
        preset("papre")
    with pytest.raises(InputError, match="no setting 'bach'"):
        preset("paper", bach=3)


def test_the_encoder_follows_the_features():
    assert resolve(preset("paper"), (75, 7)).encoder == "bilstm"
    assert resolve(preset("paper"), (12,)).encoder == "mlp"
    frozen = resolve(TrainingConfig(encoder="identity"), (3,))
    assert (frozen.encoder, frozen.dimensions) == ("identity", 3)
    with pytest.raises(InputError, match=r"features are arrays, .* encoder must be 'bilstm'; got 'mlp'"):
        resolve(TrainingConfig(encoder="mlp"), (75, 7))
    with pytest.raises(InputError, match="features are numbers"):
        resolve(TrainingConfig(encoder="bilstm"), (12,))
