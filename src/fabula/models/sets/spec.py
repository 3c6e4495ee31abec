"""What a set model is made of: its features and sizes, and the tensors that follow from them by name and shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from fabula.errors import ModelError
from fabula.models.sets.basis import FUNCTIONS
from fabula.models.sets.pairs import TITLE_PAIRS
from fabula.models.sets.titles import MARKS

MOST_FEATURES, MOST_SIZE = 512, 4096


@dataclass(frozen=True)
class SetSpec:
    """Features and sizes of a set model.

    Attributes
    ----------
    features
        Their names, in the order of the columns.
    logged
        Those of which the logarithm is taken (of the value plus ``offset``).
    circle, mode
        The feature that is a pitch class on the circle of fifths, and the one that is 1 for major and 0 for minor;
        empty for none. Pitch classes are compared by their steps on the circle, not by their difference.
    titles
        Whether it reads titles.
    tokens, grams
        How many entries of each its vocabulary has.
    token_size, gram_size
        Numbers of the vector of a token, and of a gram.
    width, layers, heads, inner
        Of the encoder: its width, layers of attention, heads of each, and width inside a layer.
    dimensions
        Of the essence.
    rank, pair_width
        Of flow: dimensions in which essences are compared, and width of the net over pairs.
    biased
        Whether what relates two items also guides the attention between them.

    Examples
    --------
    >>> SetSpec(("loudness",), dimensions=4).shapes()["arcs.template"]
    (12, 4)
    """

    features: tuple[str, ...]
    logged: tuple[str, ...] = ()
    circle: str = ""
    mode: str = ""
    titles: bool = True
    tokens: int = 0
    grams: int = 0
    token_size: int = 48
    gram_size: int = 24
    width: int = 96
    layers: int = 2
    heads: int = 4
    inner: int = 192
    dimensions: int = 32
    rank: int = 16
    pair_width: int = 32
    biased: bool = True

    def __post_init__(self) -> None:
        for name in ("features", "logged"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.features and not self.titles:
            raise ModelError("a set model must take at least one feature, or titles")
        if len(set(self.features)) != len(self.features) or len(self.features) > MOST_FEATURES:
            raise ModelError(f"the features of a set model must be distinct, at most {MOST_FEATURES}")
        unknown = [name for name in (*self.logged, self.circle, self.mode) if name and name not in self.features]
        if unknown:
            raise ModelError(f"{unknown[0]!r} is not one of the features: {', '.join(self.features)}")
        for name in ("token_size", "gram_size", "width", "heads", "inner", "dimensions", "rank", "pair_width"):
            if not 1 <= getattr(self, name) <= MOST_SIZE:
                raise ModelError(f"{name} must be 1 to {MOST_SIZE}; got {getattr(self, name)}")
        if self.width % self.heads:
            raise ModelError(f"the width {self.width} must be a multiple of the heads {self.heads}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SetSpec:
        """A specification from the header of a file."""
        known = {field.name: field.type for field in fields(cls)}
        for name, value in values.items():
            if name not in known:
                raise ModelError(f"the configuration names {name!r}, which this version does not know")
            wanted = {"int": int, "bool": bool, "str": str}.get(str(known[name]), (list, tuple))
            if not isinstance(value, wanted) or (known[name] == "int" and isinstance(value, bool)):
                raise ModelError(f"the configuration's {name!r} must be of type {known[name]}; got {value!r}")
        if "features" not in values:
            raise ModelError("the configuration must name the features")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a file's header."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def plain(self) -> tuple[int, ...]:
        """Columns of the features that are numbers on a line: all but the one on the circle."""
        return tuple(i for i, name in enumerate(self.features) if name != self.circle)

    @property
    def item_inputs(self) -> int:
        """Numbers that go into the encoder per item."""
        titles = self.token_size + self.gram_size + 2 * len(MARKS) + 1 + 3 * len(TITLE_PAIRS) if self.titles else 0
        return 4 * len(self.plain) + 3 * bool(self.circle) + titles + 1

    @property
    def pair_inputs(self) -> int:
        """Numbers that are known of two items."""
        return 4 * len(self.plain) + 3 * bool(self.circle) + (len(TITLE_PAIRS) + 1 if self.titles else 0)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every tensor by name."""
        w, d = self.width, self.dimensions
        found: dict[str, tuple[int, ...]] = {}
        found["transform.mean"] = found["transform.deviation"] = (len(self.features),)
        if self.titles:
            found["tokens.vectors"], found["tokens.weights"] = (self.tokens + 1, self.token_size), (self.tokens + 1,)
            found["grams.vectors"] = (self.grams + 1, self.gram_size)
        found |= _linear("input", self.item_inputs, w) | _linear("pairs", self.pair_inputs, self.pair_width)
        for layer in range(self.layers):
            at = f"layers.{layer}"
            found |= _norm(f"{at}.before", w) | _linear(f"{at}.attention", w, 3 * w) | _linear(f"{at}.mixed", w, w)
            found |= (
                _norm(f"{at}.between", w) | _linear(f"{at}.up", w, self.inner) | _linear(f"{at}.down", self.inner, w)
            )
            if self.biased:
                found |= _linear(f"{at}.bias", self.pair_width, self.heads)
        found |= _norm("output", w) | _linear("essence", w, d)
        found["arcs.template"] = (FUNCTIONS, d)
        found["flow.from"] = found["flow.to"] = (d, self.rank)
        return found | _linear("flow.pair", self.pair_width, 1)


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}
