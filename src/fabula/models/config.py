"""What a model's configuration may say: kinds of encoder and scorer, checks of their settings, presets of training.

::

    {"dimensions": d,                          # of the essence
     "encoder": {"kind": "mlp", ...},          # one of fabula.models.encoders.ENCODERS
     "scorers": [{"kind": "arcs", ...}, ...]}  # of fabula.models.scorers.SCORERS, each kind at most once

The file of each kind says what else it may say, and which tensors it has. Tensors are float32 if not said otherwise;
those of the input transform, ``transform.mean`` and ``transform.deviation``, are float64 where each item is encoded by
itself, in the shape of its features: (f,), or (f, s).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from fabula.core.arrays import Alike, Floats
from fabula.core.collection import Collection
from fabula.core.collections import Collections
from fabula.core.energy import Energy
from fabula.core.evidence import Evidence
from fabula.core.fit import Fit
from fabula.errors import ModelError
from fabula.models.layers import Array, Shape, Tensors

Settings = Mapping[str, Any]  # the encoder's, or the scorer's, part of a model's configuration
FEATURES, TITLES, WORDS, PAIRS = "features", "titles", "words", "pairs"  # what models read of items


class Encoded(NamedTuple):
    """What an encoder makes of B collections of n items each.

    Attributes
    ----------
    essence
        Shape (B, n, d).
    pairs
        Shape (B, n, n, p): what it makes of each two items; None where it looks at none.
    evidence
        What was seen in the items of the one collection beside their features; None where nothing was.
    """

    essence: Array
    pairs: Array | None = None
    evidence: Evidence | None = None


class LoadedEncoder(Protocol):
    """An encoder with its weights."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it takes of an item: of ``features``, ``titles``, ``words``, ``pairs``."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features, in the order of the columns."""
        ...

    @property
    def by_item(self) -> bool:
        """Whether it sees each item by itself, so that a template can be laid on its essence.

        Such a one needs every feature it names; others mask what is missing.
        """
        ...

    def raw(self, many: Collections) -> Floats:
        """The essence of all items, (rows, d), not z-scored; an error where there is none."""
        ...

    def encode(self, many: Collections, evidence: Sequence[Evidence] | None) -> Iterator[tuple[Alike, Encoded]]:
        """What scorers take of collections of one length, until all have been."""
        ...

    def grounds(self, collection: Collection, evidence: Evidence | None) -> tuple[str, ...]:
        """What is known of a collection that it goes by; empty where that is too little to judge by."""
        ...

    def describe(self) -> list[tuple[str, str]]:
        """Label and value of what it takes and is made of."""
        ...


class LoadedScorer(Protocol):
    """A scorer with its weights: one that reads whole sequences, unless its kind says that it gives tables."""

    def score(self, sequences: Floats) -> float | Floats:
        """How likely each of m sequences of one length is, (m, n, d) -> (m,); higher is likelier."""
        ...

    def order(self, essence: Floats, *, alternatives: int = 4, fixed: Mapping[int, int] | None = None) -> list[Fit]:
        """Likely orderings of items (n, d), likeliest first, distinct; ``fixed``: position -> item."""
        ...


class TableScorer(Protocol):
    """A scorer with its weights whose scores are sums over tables."""

    def energy(self, x: Encoded) -> Energy:
        """What it says of every ordering of B collections of n items each, with a leading axis."""
        ...


@dataclass(frozen=True)
class EncoderKind:
    """One kind of encoder.

    Attributes
    ----------
    axes
        Of one item's features: 1 for numbers (f,), 2 for arrays (f, s).
    shapes
        ``shapes(settings, item_shape, d)``: name and shape of each tensor, called ``encoder.*`` where it sees each item
        by itself; checks the settings.
    encode
        ``encode(tensors, features, settings)``: (n, f) or (n, f, s) -> (n, d), each item by itself.
    load
        ``load(settings, tensors, inputs)``: in place of ``encode``, an encoder that sees more than an item by itself.
    stored, used
        In which dtype a tensor of a name is stored, and computed with; by default float32 both, float64 for what was
        measured exactly.
    """

    axes: int
    shapes: Callable[[Settings, Shape, int], dict[str, Shape]]
    encode: Callable[[Tensors, Array, Settings], Array] | None = None
    load: Callable[[Settings, Tensors, Any], LoadedEncoder] | None = None
    stored: Callable[[str], str] | None = None
    used: str | None = None


@dataclass(frozen=True)
class ScorerKind:
    """One kind of scorer; the names of its tensors begin with its kind and a dot.

    Attributes
    ----------
    shapes
        ``shapes(settings, d)``: name and shape of each tensor; checks the settings.
    load
        ``load(tensors, settings)``: the scorer with these weights, a :class:`LoadedScorer` or, where its scores are
        sums over tables, a :class:`TableScorer`.
    exact
        Whether its orderings are the best there are, not the best that a search finds; such a scorer is the one
        that orders where a model has several.
    detail
        How much of a sequence it sees, beside other kinds: the most detailed one measures information, and weighs
        most where several are trained on one encoder.
    doubles
        Tensors that are stored as float64; all others are float32.
    also
        Other kinds that it stands for.
    tables
        Whether its scores are always sums over tables, so that it is a part of a whole and never the one that orders.
    """

    shapes: Callable[[Settings, int], dict[str, Shape]]
    load: Callable[[Tensors, Settings], Any]
    exact: bool = False
    detail: int = 0
    doubles: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    tables: bool = False


def as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A part of the configuration, which must be names with values."""
    if not isinstance(value, Mapping):
        raise ModelError(f'the configuration\'s "{what}" must say what it is by name; got {value!r}')
    return value


def as_whole(config: Mapping[str, Any], key: str, what: str) -> int:
    """A whole number from 1."""
    value = config.get(key)
    if type(value) is not int or not 1 <= value <= 1_000_000:
        raise ModelError(f'{what}\'s "{key}" must be a whole number from 1; got {value!r}')
    return value


def as_flag(config: Mapping[str, Any], key: str, what: str) -> bool:
    """True or false; false where it is not said."""
    value = config.get(key, False)
    if not isinstance(value, bool):
        raise ModelError(f'{what}\'s "{key}" must be true or false; got {value!r}')
    return value


def check_choice(config: Mapping[str, Any], key: str, choices: tuple[str, ...], what: str) -> None:
    """One of a few words."""
    if config.get(key) not in choices:
        raise ModelError(f'{what}\'s "{key}" must be one of {", ".join(choices)}; got {config.get(key)!r}')


# What the presets of training change of the default settings, as plain values: here, so that their names can be told
# where there is no PyTorch.
# Appendix A of the paper. The mlp stands in for its encoder where the features are plain numbers.
_PAPER: dict[str, Any] = {
    "bound": 0.0,
    "encoder": "auto",
    "widths": (64, 64),
    "skip": False,
    "dropout": 0.1,
    "feature_dropout": 0.0,
    "feature_noise": 0.0,
    "scorers": ("bilstm",),
    "scorer_positions": False,
    "readout_dropout": 0.0,
    "essence_noise": 0.0,
    "negatives": 31,
    "batch": 16,
    "optimizer": "adam",
    "learning_rate": 1e-4,
    "encoder_decay": 0.0,
    "scorer_decay": 1e-5,
    "schedule": "constant",
    "warmup": 0.0,
    "clip": 0.0,
    "ema": 0.0,
    "epochs": 100,
    "patience": 10,
    "subsequences": 0.0,
    "calibrate": False,
}
# A mixture of arcs alone, light enough for a CPU.
_ARCS: dict[str, Any] = {"scorers": ("arcs",), "widths": (64, 64), "epochs": 50}
PRESETS: dict[str, dict[str, Any]] = {"default": {}, "arcs": _ARCS, "paper": _PAPER}
