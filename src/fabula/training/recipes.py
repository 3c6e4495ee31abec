"""How to train: every number of a run in one frozen value for each kind of model, and the presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from fabula.core.template import PAPER_KNOTS
from fabula.errors import InputError
from fabula.media.music.tracks import LOGGED
from fabula.models.config import PRESETS, PlainSettings, Ranges
from fabula.models.encoders import encoder_kind, item_encoders
from fabula.models.scorers import most_detailed, sequence_scorers

AUTO = "auto"  # the encoder that suits the features


@dataclass(frozen=True)
class TrainingConfig(PlainSettings):
    """Everything that decides how a run of training goes; the defaults are the preset ``default``.

    >>> TrainingConfig(scorers=("arcs",), epochs=5).batch
    256
    """

    preset: str = "default"
    features: tuple[str, ...] = ()  # to train on; none: all that the first collection has
    # features whose logarithm is taken, where they are there; "speechiness+0.02" adds a constant first
    logged: tuple[str, ...] = LOGGED
    bound: float = 4.0  # the most deviations from the mean that the encoder sees; 0: any
    # "mlp" for numbers, "bilstm" (the paper's) for arrays, "auto" for the one that suits, "identity": the features
    encoder: str = "auto"
    widths: tuple[int, ...] = (128, 128)  # hidden layers of the mlp
    activation: str = "gelu_tanh"  # between them
    layernorm: bool = False  # before each activation
    skip: bool = True  # adds a linear map from the features to the essence
    encoder_hidden: int = 128  # paper, appendix A: 128 units
    encoder_layers: int = 2  # paper, appendix A
    dropout: float = 0.3  # in the encoder; paper, appendix A: 0.1
    feature_dropout: float = 0.1  # chance that a collection is shown without a feature
    feature_noise: float = 0.1  # deviation of noise on the standardised features
    dimensions: int = 1  # of an item's essence
    scorers: tuple[str, ...] = ("arcs", "bilstm")  # on one encoder
    scorer_weights: tuple[float, ...] = ()  # none: 1 for the most detailed (the bilstm), 0.5 for any beside it
    scorer_hidden: int = 32  # paper, appendix A: 32 units
    scorer_layers: int = 2  # paper, appendix A
    scorer_positions: bool = True  # tell the bilstm where in the sequence it is
    readout: str = "ends"
    readout_dropout: float = 0.2  # before the bilstm's last layer
    essence_noise: float = 0.0  # deviation of noise on the essence the scorers see
    arcs: int = 4
    knots: tuple[float, ...] = PAPER_KNOTS
    negatives: int = 31  # paper, appendix A: N = 32 with the true order
    batch: int = 256  # paper, appendix A: 16
    optimizer: str = "adamw"  # paper, appendix A: Adam
    learning_rate: float = 4e-3  # paper, appendix A: 1e-4
    encoder_decay: float = 0.1  # paper, appendix A: none
    scorer_decay: float = 0.1  # paper, appendix A: 1e-5
    schedule: str = "cosine"
    warmup: float = 0.05  # part of all steps in which the rate rises
    clip: float = 1.0  # longest gradient; 0: any
    ema: float = 0.995  # running mean of the weights; 0: none
    epochs: int = 140
    patience: int = 0  # epochs without a better validation before it stops; 0: goes to the end
    subsequences: float = 0.7  # part of the batches cut to random order-preserving subsequences
    shortest: float = 0.5  # part of its items a subsequence keeps at least
    calibrate: bool = True  # afterwards, scale each scorer by the number that suits validation best
    draws: int = 4  # sets of negatives per collection when validating
    graphs: bool = True  # CUDA graphs, where one GPU has batches of like size: the same arithmetic, less waiting
    amp: str = "tf32"  # products on a GPU: 10 bits of the factors; "none": single precision
    seed: int = 0

    def __post_init__(self) -> None:
        self.check(_RANGES)
        legal = all(isinstance(name, str) and name in sequence_scorers() for name in self.scorers)
        if not self.scorers or not legal or len(set(self.scorers)) < len(self.scorers):
            known = ", ".join(sequence_scorers())
            raise InputError(f"scorers must be one or more of {known}, each once; got {list(self.scorers)}")
        if not self.scorer_weights:  # 1 for the scorer that sees most of a sequence, half for any beside it
            main = most_detailed(self.scorers)
            weights = tuple(1.0 if name == main else 0.5 for name in self.scorers)
            object.__setattr__(self, "scorer_weights", weights)
        for name, choices in {"encoder": (AUTO, *item_encoders()), **_CHOICES}.items():
            if getattr(self, name) not in choices:
                got = getattr(self, name)
                raise InputError(f"training setting {name!r} must be one of {', '.join(choices)}; got {got!r}")
        if len(self.scorer_weights) != len(self.scorers) or not all(w > 0 for w in self.scorer_weights):
            raise InputError(
                f"scorer_weights must be {len(self.scorers)} numbers above 0, one per scorer; "
                f"got {list(self.scorer_weights)}"
            )
        if not all(isinstance(width, int) and width >= 1 for width in self.widths):
            raise InputError(f"widths must be whole numbers of at least 1; got {list(self.widths)}")

    @property
    def sequences(self) -> int:
        """The paper's N: the true order and the negatives."""
        return self.negatives + 1


def preset(name: str, **changes: Any) -> TrainingConfig:
    """A preset by name (``"default"``, ``"arcs"``, ``"paper"``), with some of its fields changed."""
    if name not in PRESETS:
        raise InputError(f"there is no preset {name!r}; there are: {', '.join(PRESETS)}")
    return TrainingConfig.from_dict({"preset": name, **PRESETS[name], **changes})


def resolve(config: TrainingConfig, feature_shape: tuple[int, ...]) -> TrainingConfig:
    """The config with its encoder decided for features of one item of the given shape, (f,) or (f, s)."""
    arrays = len(feature_shape) > 1
    encoder = config.encoder if config.encoder != AUTO else ("bilstm" if arrays else "mlp")
    if encoder_kind(encoder).axes != len(feature_shape):
        what = "arrays" if arrays else "numbers"
        right = " or ".join(repr(name) for name in item_encoders() if encoder_kind(name).axes == len(feature_shape))
        raise InputError(f"these features are {what}, one item has shape {feature_shape}: encoder must be {right}; "
                         f"got {encoder!r}")  # fmt: skip
    if encoder == "identity":
        return replace(config, encoder=encoder, dimensions=feature_shape[0])
    return replace(config, encoder=encoder)


_RANGES: Ranges = {
    (1, 1024): "dimensions arcs",
    (1, 8192): "encoder_hidden scorer_hidden",
    (1, 16): "encoder_layers scorer_layers",
    (1, 65535): "negatives",
    (1, 4096): "draws",
    (1, 1 << 20): "batch",
    (0, 1 << 20): "epochs patience",
    (0, (1 << 63) - 1): "seed",
    (0.0, 1.0): "shortest warmup subsequences",
    (0.0, 0.99): "dropout feature_dropout readout_dropout",
    (0.0, 10.0): "feature_noise essence_noise encoder_decay scorer_decay",
    (1e-9, 10.0): "learning_rate",
    (0.0, 1000.0): "bound",
    (0.0, 1e9): "clip",
    (0.0, 0.999999): "ema",
}
_CHOICES = {
    "activation": ("gelu_tanh", "relu", "tanh"),
    "readout": ("ends", "mean"),
    "optimizer": ("adam", "adamw"),
    "schedule": ("constant", "cosine"),
    "amp": ("none", "tf32"),
}


# The settings of a training of a set model, with those that did best on artists set aside from training.


@dataclass(frozen=True)
class SetRecipe(PlainSettings):
    """How a set model is trained."""

    epochs: int = 24  # passes over the collections
    batch: int = 256  # collections in a step
    negatives: int = 1024  # permutations each true order competes with
    learning_rate: float = 1e-3  # of AdamW over one cycle
    decay: float = 0.05
    vector_decay: float = 0.05  # of the vectors of tokens and grams
    averaging: float = 0.998  # of the moving average of the weights that is kept
    dropout: float = 0.2  # share of hidden numbers left out
    title_dropout: float = 0.5  # of numbers of the titles' vectors
    word_dropout: float = 0.3  # of words
    feature_masking: float = 0.3  # how likely each feature is hidden in a collection
    few: float = 0.25  # all its features but a group of the ``kept``
    untitled: float = 0.25  # all its titles
    # Groups of features that stay where few do, one group drawn at a time.
    kept: tuple[tuple[str, ...], ...] = (("duration_ms", "loudness"), ("duration_ms", "loudness"), ("duration_ms",), ())
    guessed: tuple[str, ...] = ()  # features that are estimates of others, rarely known where those are
    unguessed: float = 0.7  # how likely all of these are hidden where not few features are shown
    noise: float = 0.1  # deviation of what is added to the features
    subsequences: float = 0.6  # part of the batches cut to a random part of each collection, in its order
    taught: float = 0.7  # weight of teachers' opinion, where there are any, as in examples/learn_from_teachers.py
    tokens: int = 25  # artists that must use a token for it to enter the vocabulary; 0: none enters
    grams: int = 0  # the same for a gram
    seed: int = 0

    def __post_init__(self) -> None:
        self.check(_SET_RANGES)


_HIDING = "dropout title_dropout word_dropout feature_masking few untitled unguessed subsequences"
_SET_RANGES: Ranges = {
    (1, inf): "epochs batch negatives",
    (0, inf): "tokens grams seed decay vector_decay noise",
    (0, 1): f"{_HIDING} averaging taught",
    (1e-9, inf): "learning_rate",
}


def recipe_for(collections: int, features: Sequence[str], **changes: Any) -> SetRecipe:
    """The recipe for so many collections with such features: fewer must use a word that fewer could.

    >>> recipe_for(600, ("weight",)).tokens, recipe_for(600, ("weight",), few=0.1).few
    (2, 0.1)
    """
    fitting: dict[str, Any] = {"tokens": min(25, max(2, collections // 1200))}
    if not any(set(group) & set(features) for group in SetRecipe().kept):
        fitting["few"] = 0.0  # there are none of those that would be kept
    if collections < 2000:
        fitting["batch"] = 32
    return SetRecipe.from_dict({**fitting, **changes})


def finetune_recipe(**changes: Any) -> SetRecipe:
    """The recipe for going on from a model with some dozens of collections: small steps, little hidden."""
    gentle = {"epochs": 12, "batch": 16, "learning_rate": 2e-4, "averaging": 0.98, "decay": 0.0, "vector_decay": 0.0}
    return SetRecipe.from_dict({**gentle, **changes})


@dataclass(frozen=True)
class StepRecipe(PlainSettings):
    """How the weights of a model of measures and pairs are learned."""

    steps: int = 300
    batch: int = 256  # examples in a step
    chains: int = 4  # walks per example
    learning_rate: float = 0.05  # of Adam, on weights in units of their sums' deviation
    penalty: float = 0.01  # on the squares of these weights
    seed: int = 0


NEIGHBOURS = {"seed": 0, "negatives": 127}  # the settings of a model of neighbours: random orders beside each true one
