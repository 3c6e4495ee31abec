"""What models are made of: kinds of encoder and scorer, checks of their settings, layers, presets of training.

::

    {"dimensions": d,                          # of the essence
     "encoder": {"kind": "mlp", ...},          # one of fabula.models.encoders.ENCODERS
     "scorers": [{"kind": "arcs", ...}, ...]}  # of fabula.models.scorers.SCORERS, each kind at most once

The file of each kind says what else it may say, and which tensors it has. Tensors are float32 if not said otherwise;
those of the input transform, ``transform.mean`` and ``transform.deviation``, are float64 where each item is encoded by
itself, in the shape of its features: (f,), or (f, s).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from math import inf
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabula.core.arrays import Alike, Floats
from fabula.core.collection import Collection, Evidence
from fabula.core.collections import Collections
from fabula.errors import FabulaError, InputError, ModelError

# What encoders and scorers compute with in NumPy, in the dtype of the tensors they are given.

Array = NDArray[np.floating[Any]]
Tensors = Mapping[str, Array]
Shape = tuple[int, ...]


def linear(tensors: Tensors, name: str, x: Array) -> Array:
    """A linear layer, (..., in) -> (..., out), with the tensors ``name.weight`` and ``name.bias``."""
    weight = tensors[f"{name}.weight"]
    out = x.reshape(-1, x.shape[-1]) @ weight.T  # one product, however many axes there are
    out += tensors[f"{name}.bias"]
    return np.asarray(out.reshape(*x.shape[:-1], len(weight)))


def layer_norm(tensors: Tensors, name: str, x: Array) -> Array:
    """Numbers (..., w) less their mean, by their deviation, with the tensors ``name.weight`` and ``name.bias``."""
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return np.asarray(centred / scale * tensors[f"{name}.weight"] + tensors[f"{name}.bias"])


def blocks(x: Array, rows: int, like: Array) -> Iterator[Array]:
    """An array in the dtype of another, some rows at a time, so that what is computed of them stays in the cache."""
    same = x.astype(like.dtype, copy=False)
    return (same[start : start + rows] for start in range(0, len(x), rows))


Settings = Mapping[str, Any]  # the encoder's, or the scorer's, part of a model's configuration
FEATURES, TITLES, WORDS, PAIRS = "features", "titles", "words", "pairs"  # what models read of items


class Encoded(NamedTuple):
    """What an encoder makes of B collections of n items each."""

    essence: Array  # (B, n, d)
    evidence: Evidence | None = None  # what was seen in the items of the one collection beside their features
    # some rows and what it makes of their pairs with all items, (B, rows, n, p), until all have been; None: of none
    blocks: Callable[[], Iterable[tuple[slice, Array]]] | None = None
    before: Array | None = None  # (B, n, d): the essence of items as those that are followed, where it is another


class LoadedEncoder(Protocol):
    """An encoder with its weights."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it takes of an item: of ``features``, ``titles``, ``words``, ``pairs``."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features, in the order of the columns."""

    @property
    def by_item(self) -> bool:
        """Whether it sees each item by itself, so that a template can be laid on its essence.

        Such a one needs every feature it names; others mask what is missing.
        """

    def raw(self, many: Collections) -> Floats:
        """The essence of all items, (rows, d), not z-scored; an error where there is none."""

    def encode(self, many: Collections, evidence: Sequence[Evidence] | None) -> Iterator[tuple[Alike, Encoded]]:
        """What scorers take of collections of one length, until all have been."""

    def grounds(self, collection: Collection, evidence: Evidence | None) -> tuple[str, ...]:
        """What is known of a collection that it goes by; empty where that is too little to judge by."""

    def describe(self) -> list[tuple[str, str]]:
        """Label and value of what it takes and is made of."""


class LoadedScorer(Protocol):
    """A scorer with its weights: one that reads whole sequences, unless its kind says that it gives tables.

    It may have a method ``order(essence, *, alternatives, fixed)`` that gives likely orderings of items (n, d), as
    :class:`fabula.core.arcs.Arcs` does; without one they are searched for.
    """

    def score(self, sequences: Floats) -> float | Floats:
        """How likely each of m sequences of one length is, (m, n, d) -> (m,); higher is likelier."""


EncodeItems = Callable[[Tensors, Array, Settings], Array]  # (tensors, features, settings): (n, f[, s]) -> (n, d)


@dataclass(frozen=True)
class EncoderKind:
    """One kind of encoder."""

    axes: int  # of one item's features: 1 for numbers (f,), 2 for arrays (f, s)
    # (settings, item_shape, d) -> name and shape of each tensor, ``encoder.*`` where it sees items by themselves;
    # checks the settings
    shapes: Callable[[Settings, Shape, int], dict[str, Shape]]
    encode: EncodeItems | None = None  # each item by itself
    # (settings, tensors, inputs) -> in place of ``encode``, an encoder that sees more than an item by itself; it
    # computes in double precision
    load: Callable[[Settings, Tensors, Any], LoadedEncoder] | None = None
    # name -> the dtype a tensor is stored in; by default float32, float64 for what was measured exactly
    stored: Callable[[str], str] | None = None


@dataclass(frozen=True)
class ScorerKind:
    """One kind of scorer; the names of its tensors begin with its kind and a dot."""

    # (settings, d) -> name and shape of each tensor; checks the settings
    shapes: Callable[[Settings, int], dict[str, Shape]]
    # (tensors, settings) -> a LoadedScorer or, where its scores are sums over tables, one with a method ``energy`` from
    # an Encoded to the Energy of B collections of n items each, with a leading axis
    load: Callable[[Tensors, Settings], Any]
    # whether its orderings are the best there are, not what a search finds: it orders where a model has several
    exact: bool = False
    # how much of a sequence it sees: the most detailed kind measures information, and weighs most in training
    detail: int = 0
    doubles: tuple[str, ...] = ()  # tensors that are stored as float64; all others are float32
    also: tuple[str, ...] = ()  # other kinds that it stands for
    tables: bool = False  # whether its scores are always sums over tables: a part of a whole, never the one that orders


Kind = TypeVar("Kind", EncoderKind, ScorerKind)


def find_kind(kinds: Mapping[str, Kind], kind: Any, what: str) -> Kind:
    """A kind of encoder or scorer by name; an unknown one is an error that names those there are."""
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(map(repr, kinds))
        raise ModelError(f"{what}'s kind must be one of {known}; got {kind!r} (one of your own: register it first)")
    return kinds[kind]


Ranges = Mapping[tuple[float, float], str]  # the smallest and the largest, and the names of numbers, with spaces
_KINDS: Mapping[str, tuple[Any, str]] = {  # of settings, by their annotation
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "bool": (bool, "true or false"),
    "str": (str, "a text"),
    "tuple": ((tuple, list), "a list"),
}


@dataclass(frozen=True)
class PlainSettings:
    """Settings that are read from plain values by name, and given as such."""

    about: ClassVar[str] = "training"
    error: ClassVar[type[FabulaError]] = InputError

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """What :meth:`to_dict` gave, or a part of it, read back; an unknown name is an error."""
        known = sorted(field.name for field in fields(cls))
        unknown = ", ".join(repr(name) for name in sorted(values) if name not in known)
        if unknown:
            raise cls.error(f"{cls.about} has no setting {unknown}; it has: {', '.join(known)}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as JSON can hold them."""
        return {key: _change(list, value) for key, value in asdict(self).items()}

    def check(self, ranges: Ranges) -> None:
        """Refuse what is of another kind or out of its range; lists become tuples."""
        limits = {name: each for each, names in ranges.items() for name in names.split()}
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            kind = getattr(field.type, "__name__", str(field.type)).partition("[")[0]
            types, words = _KINDS[kind]
            legal = isinstance(value, types) and isinstance(value, bool) == (kind == "bool")
            if name in limits:
                low, high = limits[name]
                least, most = (f"{end:g}" if isinstance(end, float) else f"{end:,}" for end in (low, high))
                words += f" of at least {least}" if high == inf else f" from {least} to {most}"
                legal = legal and low <= value <= high
            if not legal:
                raise self.error(f"{self.about} setting {name!r} must be {words}; got {value!r}")
            object.__setattr__(self, name, _change(tuple, value))


def _change(kind: type, value: Any) -> Any:
    """Lists and tuples, those within them too, as one of the two."""
    return kind(_change(kind, each) for each in value) if isinstance(value, list | tuple) else value


def as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A part of the configuration, which must be names with values."""
    if not isinstance(value, Mapping):
        raise ModelError(f'"{what}" must say what it is by name; got {value!r}')
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


# What the presets of training change of the default settings: here, so that their names can be told without PyTorch.
# "paper" is its appendix A, where the mlp stands in for its encoder if the features are plain numbers; "arcs" a mixture
# of arcs alone, light enough for a CPU.
PRESETS: dict[str, dict[str, Any]] = json.loads(
    files("fabula.models").joinpath("presets.json").read_text(encoding="utf-8")
)
