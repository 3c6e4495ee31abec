"""``set``: an encoder that sees the whole collection and never its order, whatever is known of its items.

::

    {"kind": "set", "features": [...], "titles": true, "width": 96, ...}   # as SetSpec has it

Its tensors are those of :meth:`SetSpec.shapes`; vectors of words are stored as float16, all else as float32. Shapes: B
collections, n items, f features, w the width, d the dimensions of the essence; ``t`` are the tensors by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Alike, Floats, Ints, by_length
from fabula.core.collection import Collection, Evidence
from fabula.core.collections import Collections
from fabula.core.energy import FUNCTIONS, MOST_WHOLE, split_items
from fabula.errors import InputError, ModelError
from fabula.models import config, titles as reading
from fabula.models.config import Encoded, EncoderKind, LoadedEncoder, Settings, Shape, linear
from fabula.models.encoders.measures import features_known
from fabula.models.scorers.arcs import ON_POSITIONS
from fabula.models.titles import MARKS, TITLE_PAIRS, Title, TitleRelations, Vocabulary

Array = NDArray[np.floating[Any]]
Ids = NDArray[np.int32]
Tensors = Mapping[str, Array]
Some = slice | Ints  # of the items

TITLE = "title"  # what the titles of items are called among what is known of them
OFFSET, BOUND = 1e-3, 5.0  # added before a logarithm; how many deviations from the mean still count
LEAST_DEVIATION = 0.1  # of a feature within a collection: items that hardly differ are not blown up
SIZE = 3.0  # the logarithm of the number of items is divided by this
_TOGETHER = 30_000  # cells of pairs that are computed at a time, so that they stay in the processor's cache
MOST_FEATURES, MOST_SIZE = 512, 4096
_MOST_DENSE = 300  # items of which all pairs are held at once; of more, some rows at a time
_MOST_SEEN, _SEEN = MOST_WHOLE, 400  # items that all look at all; of more, each looks at so many, from all over


@dataclass(frozen=True)
class SetSpec:
    """Features and sizes of a set model."""

    features: tuple[str, ...]  # in the order of the columns
    logged: tuple[str, ...] = ()  # those of which the logarithm is taken, of the value plus OFFSET
    circle: str = ""  # a pitch class, compared by its steps on the circle of fifths; empty for none
    mode: str = ""  # 1 for major and 0 for minor; empty for none
    titles: bool = True  # whether it reads titles
    tokens: int = 0  # entries of its vocabulary
    grams: int = 0
    token_size: int = 48  # numbers of a token's vector
    gram_size: int = 24
    width: int = 96  # of the encoder
    layers: int = 2  # of attention
    heads: int = 4
    inner: int = 192  # width inside a layer
    dimensions: int = 32  # of the essence
    rank: int = 16  # of flow: dimensions in which essences are compared
    pair_width: int = 32  # of the net over pairs
    biased: bool = True  # whether what relates two items also guides the attention between them

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
    def from_dict(cls, values: Mapping[str, Any]) -> "SetSpec":
        """A specification from the header of a file."""
        known = {field.name: field.type for field in fields(cls)}
        for name, value in values.items():
            if name not in known:
                raise ModelError(f"the configuration names {name!r}, which this version does not know")
            wanted: Any = known[name] if isinstance(known[name], type) else (list, tuple)
            if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
                what = getattr(known[name], "__name__", "list")
                raise ModelError(f"the configuration's {name!r} must be of type {what}; got {value!r}")
        if "features" not in values:
            raise ModelError("the configuration must name the features")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a file's header."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def config(self) -> dict[str, Any]:
        """The configuration of a model with this encoder, arcs on its positions and flow over its pairs."""
        flow = {"kind": "flow", "rank": self.rank, "pairs": self.pair_width}
        encoder = {"kind": "set", **self.to_dict()}
        return {"dimensions": self.dimensions, "encoder": encoder, "scorers": [dict(ON_POSITIONS), flow]}

    @property
    def plain(self) -> tuple[int, ...]:
        """Columns of the features that are numbers on a line: all but the one on the circle."""
        return tuple(i for i, name in enumerate(self.features) if name != self.circle)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every tensor by name."""
        w, d = self.width, self.dimensions
        found: dict[str, tuple[int, ...]] = {}
        found["transform.mean"] = found["transform.deviation"] = (len(self.features),)
        if self.titles:
            found["tokens.vectors"], found["tokens.weights"] = (self.tokens + 1, self.token_size), (self.tokens + 1,)
            found["grams.vectors"] = (self.grams + 1, self.gram_size)
        numbers = 4 * len(self.plain) + 3 * bool(self.circle)  # known of an item, and of two
        titled = self.token_size + self.gram_size + 2 * len(MARKS) + 1 + 3 * len(TITLE_PAIRS) if self.titles else 0
        found |= _linear_shapes("input", numbers + titled + 1, w)
        found |= _linear_shapes("pairs", numbers + (len(TITLE_PAIRS) + 1 if self.titles else 0), self.pair_width)
        for layer in range(self.layers):
            at = f"layers.{layer}"
            found |= _norm_shapes(f"{at}.before", w)
            found |= _linear_shapes(f"{at}.attention", w, 3 * w) | _linear_shapes(f"{at}.mixed", w, w)
            found |= _norm_shapes(f"{at}.between", w)
            found |= _linear_shapes(f"{at}.up", w, self.inner) | _linear_shapes(f"{at}.down", self.inner, w)
            if self.biased:
                found |= _linear_shapes(f"{at}.bias", self.pair_width, self.heads)
        found |= _norm_shapes("output", w) | _linear_shapes("essence", w, d)
        found["arcs.template"] = (FUNCTIONS, d)
        found["flow.from"] = found["flow.to"] = (d, self.rank)
        return found | _linear_shapes("flow.pair", self.pair_width, 1)


def _linear_shapes(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm_shapes(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


@dataclass(frozen=True, eq=False)
class SetEncoder:
    """The encoder with its weights and its vocabulary."""

    spec: SetSpec
    tensors: Tensors
    vocabulary: Vocabulary
    by_item: ClassVar[bool] = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it can take; any of them may be missing."""
        return self.spec.features

    @property
    def reads(self) -> tuple[str, ...]:
        """What it takes of an item."""
        features, titles = bool(self.spec.features), self.spec.titles
        return (config.FEATURES,) * features + (config.TITLES,) * titles

    def raw(self, many: Collections) -> Floats:
        """The essence of all items, (rows, d), not z-scored."""
        essence = np.empty((len(many.features), self.spec.dimensions))
        for some, x in self.encode(many, None):
            essence[some.rows] = x.essence
        return essence

    def encode(self, many: Collections, evidence: Sequence[Evidence] | None) -> Iterator[tuple[Alike, Encoded]]:
        """Essence (B, n, d) and pairs (B, n, n, p) of collections of one length, until all have been."""
        for some, inputs in self.inputs(many):
            yield some, self.encode_inputs(inputs)

    def inputs(self, many: Collections) -> "Iterator[tuple[Alike, SetInputs]]":
        """What the network reads of collections of one length, until all have been."""
        features = many.pick(self.feature_names)
        for some in by_length(many.offsets, _TOGETHER):
            mean, deviation = self.tensors["transform.mean"], self.tensors["transform.deviation"]
            values, known = standardise(features[some.rows.ravel()], self.spec, mean, deviation)
            shape = (*some.rows.shape, len(self.feature_names))
            titles = _read(many, some) if self.spec.titles else None
            few = some.rows.shape[1] <= _MOST_DENSE
            yield some, set_inputs(values.reshape(shape), known.reshape(shape), titles, self.vocabulary, whole=few)

    def known(self, many: Collections) -> tuple[list[int], bool]:
        """The columns of features of which any is known, and whether any title is."""
        mean, deviation = self.tensors["transform.mean"], self.tensors["transform.deviation"]
        known = standardise(many.pick(self.feature_names), self.spec, mean, deviation)[1]
        titled = self.spec.titles and any(filter(None, many.texts("title").tolist()))
        return np.flatnonzero(known.any(axis=0)).tolist(), titled

    def encode_inputs(self, inputs: "SetInputs") -> Encoded:
        """Essence (B, n, d) and pairs (B, n, n, p) of inputs; of one collection of many items, pairs by rows."""
        if not inputs.pairs.size:
            return _Rows(self.tensors, inputs, self.spec).encode()
        return Encoded(*encode(self.tensors, inputs, self.spec))

    def grounds(self, collection: Collection, evidence: Evidence | None) -> tuple[str, ...]:
        """The features that are known, and ``title``."""
        titled = any(item.title for item in collection.items)
        return (*([TITLE] if titled else []), *features_known(self.feature_names, collection))

    def describe(self) -> list[tuple[str, str]]:
        """What it takes and is made of."""
        spec = self.spec
        logged = f" (logarithm of {', '.join(spec.logged)})" if spec.logged else ""
        known = f"{spec.tokens:,} words and groups of words, {spec.grams:,} pieces of words"
        return [
            ("features", (", ".join(spec.features) or "none") + logged + "; any may be missing"),
            *([("titles", f"of items and collection, and artists; it knows {known}")] if spec.titles else []),
            ("dimensions", str(spec.dimensions)),
            ("encoder", f"set, {spec.width} wide, {spec.layers} layers: sees the whole collection, never its order"),
        ]


def as_set(encoder: LoadedEncoder) -> SetEncoder:
    """The encoder of a model, where it is of this kind; an error where it is not."""
    if not isinstance(encoder, SetEncoder):
        raise ModelError("the model must be a set model, which sees whole collections and their titles")
    return encoder


def _read(many: Collections, some: Alike) -> list[list[Title]]:
    """The titles of some collections, taken apart."""
    count, n = some.rows.shape
    rows = some.rows.ravel()
    titles = [text or "" for text in many.texts("title")[rows].tolist()]
    artists = many.texts("artist")[rows].tolist()
    names = [""] * count if many.titles is None else many.titles[some.numbers].tolist()
    spans = [slice(at, at + n) for at in range(0, len(rows), n)]
    return [reading.read_titles(titles[span], name, artists[span]) for span, name in zip(spans, names, strict=True)]


@dataclass(frozen=True, eq=False)
class SetInputs:
    """B collections of n items each, as arrays."""

    values: Array  # (B, n, f): features z-scored over the training items
    known: Array  # (B, n, f): 1 where one is known, else 0
    titled: Array  # (B, n): 1 where a title is known
    tokens: Ids  # (B, n, MOST_TOKENS): numbers in the vocabulary, 0 for none
    grams: Ids  # (B, n, MOST_GRAMS)
    marks: Array  # (B, n, len(MARKS))
    pairs: Array  # (B, n, n, len(TITLE_PAIRS)); empty where ``relations`` has it
    relations: TitleRelations | None = None  # of one collection of many items, where to ask for some of its pairs

    def __len__(self) -> int:
        return len(self.values)


def standardise(features: ArrayLike, spec: SetSpec, mean: Array, deviation: Array) -> tuple[Array, Array]:
    """Features (n, f) with NaN for missing, as z-scores of the training items (n, f) and what is known (n, f)."""
    try:
        raw = np.array(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("features must be numbers, one row per item, NaN where one is missing") from error
    if raw.ndim != 2 or raw.shape[1] != len(spec.features) or not len(raw):
        raise InputError(f"this model takes features of shape (n, {len(spec.features)}), n >= 1; got {raw.shape}")
    known = np.isfinite(raw)
    raw[~known] = 0.0
    for name in spec.logged:
        column = spec.features.index(name)
        raw[:, column] = np.log(np.maximum(raw[:, column], 0.0) + OFFSET)
    z = np.clip((raw - mean) / deviation, -BOUND, BOUND)
    if spec.circle:
        column = spec.features.index(spec.circle)
        known[:, column] &= raw[:, column] >= 0  # -1 where no key was found
        z[:, column] = raw[:, column]
    return np.where(known, z, 0.0).astype(np.float64), known.astype(np.float64)


def set_inputs(
    values: Array, known: Array, titles: Sequence[Sequence[Title]] | None, vocabulary: Vocabulary, *, whole: bool = True
) -> SetInputs:
    """Collections of one length as arrays: what :func:`standardise` gives, as (B, n, f), and titles where given."""
    count, n = values.shape[:2]
    tokens, grams = (np.zeros((count, n, most), dtype=np.int32) for most in (reading.MOST_TOKENS, reading.MOST_GRAMS))
    bare = np.zeros((count, n), np.float64), tokens, grams, np.zeros((count, n, len(MARKS)), np.float64)
    parts: tuple[Array, Ids, Ids, Array] = bare if titles is None else title_arrays(titles, vocabulary)
    if not whole:
        nothing = np.zeros((count, n, 0, len(TITLE_PAIRS)), dtype=np.float64)
        return SetInputs(values, known, *parts, nothing, None if titles is None else TitleRelations(titles))
    nothing = np.zeros((count, n, n, len(TITLE_PAIRS)), dtype=np.float64)
    pairs = nothing if titles is None else reading.title_pairs(titles)
    return SetInputs(values, known, *parts, pairs)


def title_arrays(titles: Sequence[Sequence[Title]], vocabulary: Vocabulary) -> tuple[Array, Ids, Ids, Array]:
    """Of the titles of B collections: known (B, n), tokens, grams and marks (B, n, ...)."""
    count, n = len(titles), len(titles[0])
    flat = [title for own in titles for title in own]
    titled = np.array([title.known for title in flat], dtype=np.float64)
    tokens, grams = vocabulary.number(flat)
    marks: Array = np.array([title.marks for title in flat], dtype=np.float64) * titled[:, np.newaxis]
    ids = tokens.reshape(count, n, -1), grams.reshape(count, n, -1)
    return titled.reshape(count, n), *ids, marks.reshape(count, n, -1)


def describe(t: Tensors, x: SetInputs, spec: SetSpec) -> tuple[Array, Array]:
    """What is known of the items (B, n, inputs) and of each two (B, n, n, inputs), as the network takes it."""
    parts: list[tuple[Array, Array]] = []
    if spec.plain:
        columns = list(spec.plain)
        parts.append(_numbers(x.values[..., columns], x.known[..., columns]))
    if spec.circle:
        keys = _on_circle(x, spec)
        parts.append((keys, _key_steps(keys, slice(None), slice(None))))
    if spec.titles:
        parts.append(_titles(t, x))
    size = np.full((*x.values.shape[:2], 1), np.log(x.values.shape[1]) / SIZE, dtype=np.float64)
    items = np.concatenate([*(part[0] for part in parts), size], axis=-1)
    return items, np.concatenate([part[1] for part in parts], axis=-1)


def _numbers(z: Array, known: Array) -> tuple[Array, Array]:
    """Features (B, n, f) as they are, within the collection, by rank, and whether known; and their differences."""
    within = _within(z, known)
    pairs, signs = _differences(z, within, known, slice(None), slice(None))
    rank = signs.sum(axis=1) / np.maximum(known.sum(axis=1, keepdims=True) - 1, 1)
    return np.concatenate([z * known, within, rank, known], axis=-1), pairs


def _within(z: Array, known: Array) -> Array:
    """Features (B, n, f) as they stand out within their collection."""
    count = known.sum(axis=1, keepdims=True)
    mean = (z * known).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    centred = (z - mean) * known
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / np.maximum(count, 1))
    return np.asarray(centred / np.maximum(deviation, np.float64(LEAST_DEVIATION)))


def _differences(z: Array, within: Array, known: Array, rows: Some, columns: Some) -> tuple[Array, Array]:
    """What differs between some items and others that come after: (B, rows, columns, 4 f), and its sign."""
    both = known[:, rows, np.newaxis] * known[:, np.newaxis, columns]
    wide = (z[:, np.newaxis, columns] - z[:, rows, np.newaxis]) * both  # what comes after less what comes before
    near = (within[:, np.newaxis, columns] - within[:, rows, np.newaxis]) * both
    return np.concatenate([near, np.abs(near), np.abs(wide), both], axis=-1), np.sign(wide)


def _on_circle(x: SetInputs, spec: SetSpec) -> Array:
    """Where a key stands on the circle of fifths, and whether it is known: (B, n, 3)."""
    column = spec.features.index(spec.circle)
    pitch, known = x.values[..., column], x.known[..., column]
    if spec.mode:  # a minor key stands with its relative major, three semitones up
        mode = spec.features.index(spec.mode)
        pitch = pitch + 3 * x.known[..., mode] * (x.values[..., mode] < 0)
    angle = pitch * np.float64(7 * 2 * np.pi / 12)
    return np.stack([np.cos(angle) * known, np.sin(angle) * known, known], axis=-1)


def _key_steps(items: Array, rows: Some, columns: Some) -> Array:
    """The step from some keys (B, n, 3) on the circle to others: (B, rows, columns, 3)."""
    cos, sin, known = items[:, rows, np.newaxis].transpose(3, 0, 1, 2)
    later, away, both = items[:, np.newaxis, columns].transpose(3, 0, 1, 2)
    return np.stack([cos * later + sin * away, cos * away - sin * later, known * both], axis=-1)


def _titles(t: Tensors, x: SetInputs) -> tuple[Array, Array]:
    """Vectors and marks of the titles (B, n, ...), and what relates two of them (B, n, n, ...)."""
    titled = x.titled[..., np.newaxis]
    both = titled[:, :, np.newaxis] * titled[:, np.newaxis]  # (B, n, n, 1)
    pairs = x.pairs * both
    seen = [pairs.max(axis=1), pairs.mean(axis=1), pairs.max(axis=2)]
    return _title_items(t, x, seen), np.concatenate([pairs, both], axis=-1)


def _title_items(t: Tensors, x: SetInputs, seen: list[Array]) -> Array:
    """Vectors and marks of the titles, and what they have to do with others (B, n, ...)."""
    titled = x.titled[..., np.newaxis]
    tokens = pool(t["tokens.vectors"], x.tokens, t["tokens.weights"]) * titled
    grams = pool(t["grams.vectors"], x.grams) * titled
    marks = x.marks * titled
    mean = marks.sum(axis=1, keepdims=True) / np.maximum(titled.sum(axis=1, keepdims=True), 1)
    return np.concatenate([tokens, grams, marks, (marks - mean) * titled, titled, *seen], axis=-1)


def pool(vectors: Array, ids: Ids, weights: Array | None = None) -> Array:
    """The mean of the vectors (v, s) of each item's ids (B, n, k), weighed where there are weights (v,)."""
    from scipy.sparse import csr_array

    flat = ids.reshape(-1, ids.shape[-1])
    there = flat > 0
    entries = flat[there]
    count = there.sum(axis=1)
    weight = np.ones(len(entries), np.float64) if weights is None else np.exp(weights[entries])
    table = csr_array((weight, entries, np.concatenate([[0], np.cumsum(count)])), shape=(len(flat), len(vectors)))
    total = table @ np.ones(len(vectors), np.float64)
    mean = (table @ vectors) / np.maximum(total, np.float64(1e-6))[:, np.newaxis]
    return np.asarray(mean.reshape(*ids.shape[:-1], -1), dtype=np.float64)


def encode(t: Tensors, x: SetInputs, spec: SetSpec) -> tuple[Array, Array]:
    """The essence (B, n, d), and what the net over pairs makes of each two items (B, n, n, pair width)."""
    items, pairs = describe(t, x, spec)
    pair = np.maximum(linear(t, "pairs", pairs), 0)
    bias = [linear(t, f"layers.{layer}.bias", pair).transpose(0, 3, 1, 2) for layer in range(spec.layers * spec.biased)]
    return _think(t, spec, items, bias), pair


def _think(t: Tensors, spec: SetSpec, items: Array, bias: Sequence[Array], seen: Some = slice(None)) -> Array:
    """The essence (B, n, d) of items, which look at all or at k of them; ``bias`` of each layer: (B, heads, n, k)."""
    hidden = linear(t, "input", items)
    for layer in range(spec.layers):
        at = f"layers.{layer}"
        own = bias[layer] if spec.biased else None
        hidden = hidden + _attention(t, at, config.layer_norm(t, f"{at}.before", hidden), own, spec.heads, seen)
        inner = np.maximum(linear(t, f"{at}.up", config.layer_norm(t, f"{at}.between", hidden)), 0)
        hidden = hidden + linear(t, f"{at}.down", inner)
    return linear(t, "essence", config.layer_norm(t, "output", hidden))


class _Rows:
    """One collection of many items: what is known of each two is described some rows at a time, never whole."""

    def __init__(self, t: Tensors, x: SetInputs, spec: SetSpec) -> None:
        self.t, self.x, self.spec, self.n = t, x, spec, x.values.shape[1]
        columns = list(spec.plain)
        self.z, self.known = x.values[..., columns], x.known[..., columns]
        self.within = _within(self.z, self.known)
        self.keys = _on_circle(x, spec) if spec.circle else None
        self.relations = x.relations

    def encode(self) -> Encoded:
        """Essence (1, n, d), and where to ask for pairs."""
        spec, seen = self.spec, self._choose_seen()
        width = self.n if isinstance(seen, slice) else len(seen)
        bias = np.empty((spec.layers * spec.biased, 1, spec.heads, self.n, width), dtype=np.float32)
        if spec.biased:
            for rows, pair in self.blocks(seen):
                for layer, own in enumerate(bias):
                    own[:, :, rows] = linear(self.t, f"layers.{layer}.bias", pair).transpose(0, 3, 1, 2)
        return Encoded(_think(self.t, spec, self._describe_items(), list(bias), seen), blocks=self.blocks)

    def blocks(self, columns: Some = slice(None)) -> Iterator[tuple[slice, Array]]:
        """Some rows, and what the net over pairs makes of their items and those of columns: (1, rows, columns, p)."""
        step = max(1, _TOGETHER // (self.n if isinstance(columns, slice) else len(columns)))
        for start in range(0, self.n, step):
            rows = slice(start, min(start + step, self.n))
            yield rows, np.maximum(linear(self.t, "pairs", self._describe_pairs(rows, columns)), 0)

    def _choose_seen(self) -> Some:
        """The items that all look at: all, or of very many some from all over, however they are listed."""
        if self.n <= _MOST_SEEN:
            return slice(None)
        order = np.lexsort([*self.x.tokens[0].T, *self.x.values[0].T])
        return np.sort(order[np.linspace(0, self.n - 1, _SEEN).round().astype(np.intp)])

    def _describe_pairs(self, rows: slice, columns: Some) -> Array:
        parts = []
        if self.spec.plain:
            parts.append(_differences(self.z, self.within, self.known, rows, columns)[0])
        if self.keys is not None:
            parts.append(_key_steps(self.keys, rows, columns))
        if self.spec.titles:
            both = self.x.titled[:, rows, np.newaxis] * self.x.titled[:, np.newaxis, columns]
            related = np.zeros((*both.shape, len(TITLE_PAIRS)), dtype=np.float64)
            if self.relations is not None:
                first, second, cells = self.relations.cells(rows, columns)
                related[0, first, second] = cells
            parts.append(np.concatenate([related * both[..., np.newaxis], both[..., np.newaxis]], axis=-1))
        return np.concatenate(parts, axis=-1)

    def _describe_items(self) -> Array:
        """What :func:`describe` gives of the items, without a table of all pairs."""
        parts: list[Array] = []
        if self.spec.plain:
            count = self.known.sum(axis=1, keepdims=True)
            rank = np.stack(
                [_rank(z, known > 0) for z, known in zip(self.z[0].T, self.known[0].T, strict=True)], axis=-1
            )
            rank = (rank[np.newaxis] / np.maximum(count - 1, 1)).astype(np.float64)
            parts += [self.z * self.known, self.within, rank, self.known]
        if self.keys is not None:
            parts.append(self.keys)
        if self.spec.titles:
            parts.append(_title_items(self.t, self.x, self._see_titles()))
        size = np.full((1, self.n, 1), np.log(self.n) / SIZE, dtype=np.float64)
        return np.concatenate([*parts, size], axis=-1)

    def _see_titles(self) -> list[Array]:
        """Of what relates each title to those before it, the most and the mean; and to those after it, the most."""
        most, total, after = np.zeros((3, self.n, len(TITLE_PAIRS)), dtype=np.float64)
        for start in range(0, self.n if self.relations is not None else 0, _MOST_DENSE):
            rows = slice(start, min(start + _MOST_DENSE, self.n))
            first, second, cells = cast("TitleRelations", self.relations).cells(rows, slice(None))
            cells *= (self.x.titled[0, rows][first] * self.x.titled[0, second])[:, np.newaxis]
            np.maximum.at(most, second, cells)
            np.add.at(total, second, cells)
            np.maximum.at(after, first + start, cells)
        return [most[np.newaxis], total[np.newaxis] / np.float64(self.n), after[np.newaxis]]


def _rank(values: Array, known: NDArray[np.bool_]) -> Floats:
    """How many known values (n,) are below each known one, less how many are above; 0 where it is not known."""
    there = np.sort(values[known])
    low, high = (np.searchsorted(there, values, side=side) for side in ("left", "right"))
    return np.where(known, low - (len(there) - high), 0).astype(np.float64)


def _attention(t: Tensors, at: str, x: Array, bias: Array | None, heads: int, seen: Some = slice(None)) -> Array:
    """Every item looks at every item, or at some, (B, n, w) to (B, n, w); there are no positions."""
    count, n, width = x.shape
    split = linear(t, f"{at}.attention", x).reshape(count, n, 3, heads, width // heads)
    query, key, value = split.transpose(2, 0, 3, 1, 4)  # (B, heads, n, w / heads) each
    key, value = key[:, :, seen], value[:, :, seen]
    mixed = np.empty((count, heads, n, width // heads), dtype=x.dtype)
    for some in split_items(n):
        logits = query[:, :, some] @ key.transpose(0, 1, 3, 2) / x.dtype.type(np.sqrt(width // heads))
        logits = logits if bias is None else logits + bias[:, :, some]
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed[:, :, some] = weights @ value
    mixed = mixed.transpose(0, 2, 1, 3).reshape(count, n, width)
    return linear(t, f"{at}.mixed", mixed)


def _shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    spec = SetSpec.from_dict({name: value for name, value in settings.items() if name != "kind"})
    if spec.dimensions != d:
        raise ModelError(f"the dimensions of a set encoder must be {spec.dimensions}; got {d}")
    return {name: shape for name, shape in spec.shapes().items() if not name.startswith(("arcs.", "flow."))}


def _load(settings: Settings, tensors: Mapping[str, Any], inputs: Any) -> SetEncoder:
    spec = SetSpec.from_dict({name: value for name, value in settings.items() if name != "kind"})
    vocabulary = Vocabulary((), ()) if inputs is None else inputs
    if (len(vocabulary.tokens), len(vocabulary.grams)) != (spec.tokens, spec.grams):
        raise ModelError("the vocabulary must have as many tokens and grams as the configuration says")
    if not (tensors["transform.deviation"] > 0).all():
        raise ModelError("tensor 'transform.deviation' must be above 0")
    return SetEncoder(spec, tensors, vocabulary)


def set_dtype(name: str) -> str:
    """Vectors of words in half precision, all else in single."""
    return "float16" if name.endswith(".vectors") else "float32"


SET = EncoderKind(1, _shapes, load=_load, stored=set_dtype, used="float64")
