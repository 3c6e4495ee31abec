"""Encoders and scorers of one's own: a net that is trained, and its twin in NumPy that the model is used with.

What is trained is a ``torch.nn.Module``; what a model file holds are its weights; what encodes, scores and orders
later, where no PyTorch is, is a function of these weights and an array. Both are given together, under one name, to
:func:`fabula.training.preset`; ``docs/research.md`` does it.

Training compares net and twin before its first epoch and refuses a pair that does not agree. A program that loads the
model calls :func:`register` first; without it the error names the kind that is missing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.arrays import Floats
from fabula.errors import InputError, ModelError
from fabula.models.config import Array, EncoderKind, ScorerKind, Settings, Shape, Tensors, as_mapping
from fabula.models.encoders import ENCODERS
from fabula.models.scorers import SCORERS

Weights = Mapping[str, Floats]  # by their names in the net's state_dict

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TAKEN = frozenset({"auto", "encoder", "transform"})
_BUILT_IN = frozenset({*ENCODERS, *SCORERS})


@dataclass(frozen=True)
class Encoder:
    """An encoder of one's own."""

    kind: str  # its name: small letters, digits, hyphens
    # (item_shape, d) -> a torch.nn.Module from items (m, f) or (m, f, s) to essence (m, d), each item by itself.
    # Features come standardised, 0 where one is missing; what comes out is z-scored within each collection. It must
    # not keep state other than its parameters that training changes (no batch norm).
    net: Callable[[tuple[int, ...], int], Any]
    # its twin: (weights, items), arrays in and out, with the weights by their names in the net's ``state_dict()``
    encode: Callable[[Weights, Floats], Floats]
    axes: int = 1  # of one item's features: 1 for numbers (f,), 2 for arrays (f, s)

    def __post_init__(self) -> None:
        _check_name(self.kind, "an encoder")


@dataclass(frozen=True)
class Scorer:
    """A scorer of one's own."""

    kind: str  # its name: small letters, digits, hyphens
    # d -> a torch.nn.Module from sequences of essence (m, n, d) to scores (m,), higher for likelier
    net: Callable[[int], Any]
    score: Callable[[Weights, Floats], Floats]  # its twin: (weights, sequences), arrays in and out
    detail: int = 2  # how much of a sequence it sees, beside arcs (0) and bilstm (1): the most detailed one measures

    def __post_init__(self) -> None:
        _check_name(self.kind, "a scorer")


OWN_ENCODERS: dict[str, Encoder] = {}
OWN_SCORERS: dict[str, Scorer] = {}


def register(*parts: Encoder | Scorer) -> None:
    """Make encoders and scorers of one's own known, to train them and to load models made with them.

    A name that is registered again is replaced.

    >>> register(Encoder("first-feature", net=lambda shape, d: None, encode=lambda weights, items: items[:, :1]))
    >>> "first-feature" in ENCODERS
    True
    """
    for part in parts:
        if isinstance(part, Encoder):
            OWN_ENCODERS[part.kind] = part
            ENCODERS[part.kind] = EncoderKind(part.axes, _encoder_shapes, _encode)
        elif isinstance(part, Scorer):
            OWN_SCORERS[part.kind] = part
            SCORERS[part.kind] = ScorerKind(_scorer_shapes, _load_scorer, detail=part.detail)
        else:
            raise InputError(f"only an Encoder or a Scorer can be registered; got {type(part).__name__}")


@dataclass(frozen=True, eq=False)
class OwnScorer:
    """A scorer of one's own with its weights."""

    part: Scorer
    weights: Weights
    scale: float
    signs: Floats

    def score(self, sequences: Floats) -> Floats:
        """Scores of m sequences of one length, (m, n, d) -> (m,)."""
        found = np.asarray(self.part.score(self.weights, sequences * self.signs), dtype=np.float64)
        if found.shape != (len(sequences),):
            raise ModelError(
                f"scorer {self.part.kind!r} must give one score per sequence, ({len(sequences)},); got {found.shape}"
            )
        return self.scale * found


def tensor_sizes(prefix: str, tensors: Mapping[str, Any]) -> dict[str, dict[str, list[int]]]:
    """What a model file says of the tensors of a net of one's own, if it is: name -> shape."""
    own = {name: list(tensor.shape) for name, tensor in tensors.items() if name.startswith(f"{prefix}.net.")}
    return {"tensors": own} if own else {}


def _shapes(settings: Settings, prefix: str, d: int) -> dict[str, Shape]:
    sizes = as_mapping(settings.get("tensors", {}), "tensors")
    for name, size in sizes.items():
        legal = isinstance(size, list) and all(type(n) is int and n >= 0 for n in size)
        if not legal or not name.startswith(f"{prefix}.net."):
            raise ModelError(f'the {prefix}\'s "tensors" must give each tensor, {prefix}.net.*, its shape')
    return {name: tuple(size) for name, size in sizes.items()} | {f"{prefix}.signs": (d,)}


def _encoder_shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    return _shapes(settings, "encoder", d)


def _scorer_shapes(settings: Settings, d: int) -> dict[str, Shape]:
    return {**_shapes(settings, settings["kind"], d), f"{settings['kind']}.scale": (1,)}


def _encode(tensors: Tensors, x: Array, settings: Settings) -> Array:
    part = OWN_ENCODERS[settings["kind"]]
    found = np.asarray(part.encode(weights_of(tensors, "encoder"), x.astype(np.float64)), dtype=np.float64)
    signs = tensors["encoder.signs"]
    if found.shape != (len(x), len(signs)):
        raise ModelError(f"encoder {part.kind!r} must give essence of shape {(len(x), len(signs))}; got {found.shape}")
    return found * signs


def _load_scorer(tensors: Tensors, settings: Settings) -> OwnScorer:
    kind = settings["kind"]
    scale, signs = tensors[f"{kind}.scale"], tensors[f"{kind}.signs"]
    return OwnScorer(OWN_SCORERS[kind], weights_of(tensors, kind), float(scale[0]), signs.astype(np.float64))


def weights_of(tensors: Tensors, prefix: str) -> dict[str, Floats]:
    """The weights of a net by their own names, as float64."""
    start = f"{prefix}.net."
    return {name.removeprefix(start): t.astype(np.float64) for name, t in tensors.items() if name.startswith(start)}


def _check_name(kind: str, what: str) -> None:
    if not isinstance(kind, str) or not _NAME.fullmatch(kind) or kind in _TAKEN or kind in _BUILT_IN:
        raise InputError(
            f"the name of {what} of one's own must be small letters, digits and hyphens and none of "
            f"{', '.join(sorted(_TAKEN | _BUILT_IN))}; got {kind!r}"
        )
