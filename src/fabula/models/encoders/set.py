"""``set``: an encoder that sees the whole collection and never its order, whatever is known of its items.

::

    {"kind": "set", "features": [...], "titles": true, "width": 96, ...}   # as SetSpec has it

Its tensors are those of :meth:`SetSpec.shapes`; vectors of words are stored as float16, all else as float32. Shapes: B
collections, n items, f features, w the width, d the dimensions of the essence; ``t`` are the tensors by name.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Alike, Floats, Ints, by_length, one_thread
from fabula.core.collection import Collection, Evidence
from fabula.core.collections import Collections
from fabula.core.energy import MOST_WHOLE, split_items
from fabula.errors import FabulaError, ModelError
from fabula.models import config, titles as reading
from fabula.models.config import Array, Encoded, EncoderKind, LoadedEncoder, Settings, Shape, Tensors, linear
from fabula.models.encoders.measures import features_known
from fabula.models.scorers.arcs import ON_POSITIONS
from fabula.models.titles import MARKS, TITLE_PAIRS, UNTITLED, Ids, Title, TitleRelations, Vocabulary

Some = slice | Ints  # of the items
_EVERY = slice(None)

TITLE = "title"  # what the titles of items are called among what is known of them
OFFSET, BOUND = 1e-3, 5.0  # added before a logarithm; how many deviations from the mean still count
LEAST_DEVIATION = 0.1  # of a feature within a collection: items that hardly differ are not blown up
SIZE = 3.0  # the logarithm of the number of items is divided by this
_TOGETHER = 30_000  # cells of pairs that are computed at a time, so that they stay in the processor's cache
MOST_FEATURES, MOST_SIZE = 512, 4096
_MOST_DENSE = 300  # items of which all pairs are held at once; of more, some rows at a time
_MOST_SEEN, _SEEN = MOST_WHOLE, 400  # items that all look at all; of more, each looks at so many, from all over


@dataclass(frozen=True)
class SetSpec(config.PlainSettings):
    """Features and sizes of a set model."""

    about: ClassVar[str] = "a set model"
    error: ClassVar[type[FabulaError]] = ModelError

    features: tuple[str, ...] = ()  # in the order of the columns
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
        sizes: config.Ranges = {(1, MOST_SIZE): "token_size gram_size width heads inner dimensions rank pair_width"}
        self.check({**sizes, (0, math.inf): "tokens grams layers"})
        if not self.features and not self.titles:
            raise ModelError("a set model must take at least one feature, or titles")
        if len(set(self.features)) != len(self.features) or len(self.features) > MOST_FEATURES:
            raise ModelError(f"the features of a set model must be distinct, at most {MOST_FEATURES}")
        unknown = [name for name in (*self.logged, self.circle, self.mode) if name and name not in self.features]
        if unknown:
            raise ModelError(f"{unknown[0]!r} is not one of the features: {', '.join(self.features)}")
        if self.width % self.heads:
            raise ModelError(f"the width {self.width} must be a multiple of the heads {self.heads}")

    @classmethod
    def of(cls, settings: Settings) -> "SetSpec":
        """A specification from the settings of an encoder."""
        return cls.from_dict({name: value for name, value in settings.items() if name != "kind"})

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
        """Shape of every tensor of the encoder by name."""
        w = self.width
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
        return found | _norm_shapes("output", w) | _linear_shapes("essence", w, self.dimensions)


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

    def inputs(self, many: Collections, *, whole: bool = False) -> "Iterator[tuple[Alike, SetInputs]]":
        """What the network reads of collections of one length, until all have been; ``whole``: with all pairs."""
        features = many.pick(self.feature_names)
        for some in by_length(many.offsets, _TOGETHER):
            count, n = some.rows.shape
            shape = (count, n, len(self.feature_names))
            values, known = (each.reshape(shape) for each in self.standardise(features[some.rows.ravel()]))
            titles = _read(many, some) if self.spec.titles else [[UNTITLED] * n] * count
            flat = [title for own in titles for title in own]
            titled = np.array([title.known for title in flat], dtype=np.float64)
            marks = np.array([title.marks for title in flat], dtype=np.float64) * titled[:, np.newaxis]
            tokens, grams, own = (each.reshape(count, n, -1) for each in (*self.vocabulary.number(flat), marks))
            held = whole or n <= _MOST_DENSE
            pairs = reading.title_pairs(titles) if held else np.zeros((count, n, 0, len(TITLE_PAIRS)), dtype=np.float32)
            relations = None if held else TitleRelations(titles)
            yield some, SetInputs(values, known, titled.reshape(count, n), tokens, grams, own, pairs, relations)

    def known(self, many: Collections) -> tuple[list[str], bool]:
        """The features of which any is known, and whether any title is."""
        known = self.standardise(many.pick(self.feature_names))[1].max(axis=0, initial=0)
        titled = self.spec.titles and any(filter(None, many.texts("title").tolist()))
        return [name for name, there in zip(self.feature_names, known, strict=True) if there], titled

    def standardise(self, features: ArrayLike) -> tuple[Array, Array]:
        """Features (n, f) with NaN for missing, as z-scores of the training items (n, f) and what is known (n, f)."""
        raw = np.array(features, dtype=np.float64)
        known = np.isfinite(raw)
        raw[~known] = 0.0
        for name in self.spec.logged:
            column = self.spec.features.index(name)
            raw[:, column] = np.log(np.maximum(raw[:, column], 0.0) + OFFSET)
        z = np.clip((raw - self.tensors["transform.mean"]) / self.tensors["transform.deviation"], -BOUND, BOUND)
        if self.spec.circle:
            column = self.spec.features.index(self.spec.circle)
            known[:, column] &= raw[:, column] >= 0  # -1 where no key was found
            z[:, column] = raw[:, column]
        return np.where(known, z, 0.0).astype(np.float64), known.astype(np.float64)

    def encode_inputs(self, inputs: "SetInputs") -> Encoded:
        """Essence (B, n, d) and pairs (B, n, n, p) of inputs; of one collection of many items, pairs by rows."""
        return _Network(self.tensors, inputs, self.spec).encode()

    def leave_out(self, inputs: "SetInputs", groups: Iterable[Iterable[str]]) -> Iterator[Encoded]:
        """One collection as it is; then each item less a group of features, or TITLE, the others being as they are."""
        seen: list[_Seen] = []
        whole = _Network(self.tensors, inputs, self.spec, put_down=seen.append).encode()
        yield whole
        for group in groups:
            less = _Network(self.tensors, inputs, self.spec, frozenset(group), seen).encode()
            yield less._replace(before=whole.essence)

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


Values = Any  # an array of NumPy's or, of a batch in training, a tensor of torch's


@dataclass(frozen=True, eq=False)
class SetInputs:
    """B collections of n items each, as arrays."""

    values: Values  # (B, n, f): features z-scored over the training items
    known: Values  # (B, n, f): 1 where one is known, else 0
    titled: Values  # (B, n): 1 where a title is known
    tokens: Values  # (B, n, MOST_TOKENS): numbers in the vocabulary, 0 for none
    grams: Values  # (B, n, MOST_GRAMS)
    marks: Values  # (B, n, len(MARKS))
    pairs: Values  # (B, n, n, len(TITLE_PAIRS)); empty where ``relations`` has it
    relations: Any = None  # the TitleRelations of one collection of many items: where to ask for some of its pairs

    def __len__(self) -> int:
        return len(self.values)


class Description:
    """What is known of B collections of n items, of each and of each two, for the networks in NumPy and in torch.

    Of one collection of many items in NumPy it is told some rows at a time. ``without``: features, or TITLE, that are
    left out of it.
    """

    def __init__(self, x: SetInputs, spec: SetSpec, xp: Any = np, without: frozenset[str] = frozenset()) -> None:
        self.x, self.spec, self.xp, self.n = x, spec, xp, x.values.shape[1]
        self.whole = x.relations is None  # whether all pairs are held at once
        columns = list(spec.plain)
        self.z, self.known, self.titled = x.values[..., columns], x.known[..., columns], x.titled[..., None]
        if without:
            self.known = self.known * [spec.features[column] not in without for column in columns]
            self.titled = self.titled * (TITLE not in without)
        self.within = self._compare_within() if columns else self.z
        self.keys = [each * (spec.circle not in without) for each in self._place_keys()] if spec.circle else None
        self.apart = self._step(_EVERY, _EVERY) if self.whole else None
        self.related: Values = x.pairs * _product(self.titled, _EVERY, _EVERY) if self.whole and spec.titles else None

    def items(self, tokens: Values, grams: Values) -> Values:
        """What is known of the items, with what their tokens and grams say: (B, n, inputs)."""
        parts: list[Values] = []
        if self.spec.plain:
            others = (self.known.sum(axis=1, keepdims=True) - 1).clip(1)
            parts += [self.z * self.known, self.within, self.rank() / others, self.known]
        if self.keys is not None:
            parts.append(self.xp.stack(self.keys, axis=-1))
        if self.spec.titles:
            marks = self.x.marks * self.titled
            mean = marks.sum(axis=1, keepdims=True) / self.titled.sum(axis=1, keepdims=True).clip(1)
            parts += [tokens * self.titled, grams * self.titled, marks, (marks - mean) * self.titled, self.titled]
            parts += self.see_titles()
        size = self.xp.full_like(self.x.titled, float(np.log(self.n)) / SIZE)[..., None]
        return self.xp.concatenate([*parts, size], axis=-1)

    def pairs(self, rows: Some = _EVERY, columns: Some = _EVERY) -> Values:
        """What is known of some items and others that come after: (B, rows, columns, inputs)."""
        parts = []
        if self.spec.plain:
            wide, both = self.apart or self._step(rows, columns)
            near = _differ(self.within, rows, columns) * both
            parts += [near, abs(near), abs(wide), both]
        if self.keys is not None:  # the step on the circle from one key to the other
            cos, sin, known = self.keys
            along = _product(cos, rows, columns) + _product(sin, rows, columns)
            across = _product(cos, rows, columns, sin) - _product(sin, rows, columns, cos)
            parts.append(self.xp.stack([along, across, _product(known, rows, columns)], axis=-1))
        if self.spec.titles:
            parts += [self.relate_titles(rows, columns), _product(self.titled, rows, columns)]
        return self.xp.concatenate(parts, axis=-1)

    def rank(self) -> Values:
        """How many known values of each feature (B, n, f) are below each known one, less how many are above."""
        if self.apart is not None:
            return self.xp.sign(self.apart[0]).sum(axis=1)
        rank = np.zeros(self.z.shape)
        for k, known in enumerate(self.known[0].T > 0):
            values = self.z[0, known, k]
            low, high = (np.searchsorted(np.sort(values), values, side=side) for side in ("left", "right"))
            rank[0, known, k] = low - (len(values) - high)
        return rank

    def relate_titles(self, rows: Some, columns: Some) -> Values:
        """What relates the titles of some items and others: (B, rows, columns, ...)."""
        if self.related is not None:
            return self.related[:, rows, columns]
        every = np.arange(self.n)
        related = np.zeros((1, len(every[rows]), len(every[columns]), len(TITLE_PAIRS)), dtype=np.float64)
        first, second, cells = self.x.relations.cells(rows, columns)
        related[0, first, second] = cells
        return related * _product(self.titled, rows, columns)

    def see_titles(self) -> list[Values]:
        """Of what relates each title to those before it, the most and the mean; and to those after it, the most."""
        related, most_along = self.related, self.xp.amax
        if related is not None:
            return [most_along(related, axis=1), related.mean(axis=1), most_along(related, axis=2)]
        most, total, after = found = np.zeros((3, len(TITLE_PAIRS), self.n))
        for start in range(0, self.n, _MOST_DENSE):
            rows = slice(start, start + _MOST_DENSE)
            first, second, cells = self.x.relations.cells(rows, slice(None))
            cells *= self.titled[0, rows][first] * self.titled[0, second]
            for k, own in enumerate(cells.T.astype(np.float64)):  # in one row each they are a tenth of the work
                np.maximum.at(most[k], second, own)
                np.add.at(total[k], second, own)
                np.maximum.at(after[k], first + start, own)
        total /= self.n
        return [each.T[np.newaxis] for each in found]

    def _compare_within(self) -> Values:
        """Features (B, n, f) as they stand out within their collection."""
        count = self.known.sum(axis=1, keepdims=True).clip(1)
        centred = (self.z - (self.z * self.known).sum(axis=1, keepdims=True) / count) * self.known
        deviation = self.xp.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
        return centred / deviation.clip(LEAST_DEVIATION)

    def _place_keys(self) -> list[Values]:
        """Where a key stands on the circle of fifths, by cosine and sine, and whether it is known: (B, n) each."""
        x, column = self.x, self.spec.features.index(self.spec.circle)
        pitch, known = x.values[..., column], x.known[..., column]
        if self.spec.mode:  # a minor key stands with its relative major, three semitones up
            mode = self.spec.features.index(self.spec.mode)
            pitch = pitch + 3 * x.known[..., mode] * (x.values[..., mode] < 0)
        angle = pitch * (7 * 2 * math.pi / 12)
        return [self.xp.cos(angle) * known, self.xp.sin(angle) * known, known]

    def _step(self, rows: Some, columns: Some) -> tuple[Values, Values]:
        """From some features to others where both are known, and where they are: (B, rows, columns, f) each."""
        both = _product(self.known, rows, columns)
        return _differ(self.z, rows, columns) * both, both


def _differ(values: Values, rows: Some, columns: Some) -> Values:
    """What comes after less what comes before, of values (B, n, f): (B, rows, columns, f)."""
    return values[:, None, columns] - values[:, rows, None]


def _product(values: Values, rows: Some, columns: Some, others: Values = None) -> Values:
    """Values (B, n, ...) of some by those of others, which are the same ones if not given: (B, rows, columns, ...)."""
    return values[:, rows, None] * (values if others is None else others)[:, None, columns]


_Seen = tuple[Array, Array]  # what items see of each other in a layer: keys and values, (B, heads, n, w / heads) each


class _Network(Description):
    """The network on B collections of n items; ``beside``: what each sees of the others, if not what they are here."""

    def __init__(
        self,
        t: Tensors,
        x: SetInputs,
        spec: SetSpec,
        without: frozenset[str] = frozenset(),
        beside: Sequence[_Seen] = (),
        put_down: Callable[[_Seen], None] | None = None,
    ) -> None:
        super().__init__(x, spec, without=without)
        self.t, self.beside, self.put_down = t, beside, put_down

    @one_thread()
    def encode(self) -> Encoded:
        """Essence (B, n, d), and where to ask for pairs, which are kept of few items."""
        spec, seen = self.spec, self._choose_seen()
        kept = list(self.blocks()) if self.whole else None
        shape = (len(self.x), spec.heads, self.n, self.n if isinstance(seen, slice) else len(seen))
        bias = np.empty((spec.layers * spec.biased, *shape), dtype=np.float64 if self.whole else np.float32)
        for rows, pair in (kept or self.blocks(seen)) if spec.biased else ():
            for layer, own in enumerate(bias):
                own[:, :, rows] = linear(self.t, f"layers.{layer}.bias", pair).transpose(0, 3, 1, 2)
        return Encoded(self._think(bias, seen), blocks=self.blocks if kept is None else lambda: kept)

    def blocks(self, columns: Some = _EVERY) -> Iterator[tuple[slice, Array]]:
        """Some rows, and what the net over pairs makes of their items and those of columns: (B, rows, columns, p)."""
        width = self.n if isinstance(columns, slice) else len(columns)
        step = self.n if self.whole else max(1, _TOGETHER // width)
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            yield rows, np.maximum(linear(self.t, "pairs", self.pairs(rows, columns)), 0)

    def _choose_seen(self) -> Some:
        """The items that all look at: all, or of very many some from all over, however they are listed."""
        if self.n <= _MOST_SEEN:
            return _EVERY
        order = np.lexsort([*self.x.tokens[0].T, *self.x.values[0].T])
        return np.sort(order[np.linspace(0, self.n - 1, _SEEN).round().astype(np.intp)])

    def _think(self, bias: Array, seen: Some) -> Array:
        """The essence (B, n, d) of items, which look at all or at k of them; ``bias``: (layers, B, heads, n, k)."""
        t, spec, tokens, grams = self.t, self.spec, None, None
        if spec.titles:
            tokens = pool(t["tokens.vectors"], self.x.tokens, t["tokens.weights"])
            grams = pool(t["grams.vectors"], self.x.grams)
        hidden = linear(t, "input", self.items(tokens, grams))
        for layer in range(spec.layers):
            at = f"layers.{layer}"
            own = bias[layer] if spec.biased else None
            hidden = hidden + self._attend(layer, config.layer_norm(t, f"{at}.before", hidden), own, seen)
            inner = np.maximum(linear(t, f"{at}.up", config.layer_norm(t, f"{at}.between", hidden)), 0)
            hidden = hidden + linear(t, f"{at}.down", inner)
        return linear(t, "essence", config.layer_norm(t, "output", hidden))

    def _attend(self, layer: int, x: Array, bias: Array | None, seen: Some) -> Array:
        """Every item looks at every item, or at some, (B, n, w) to (B, n, w); there are no positions."""
        (count, n, width), heads = x.shape, self.spec.heads
        split = linear(self.t, f"layers.{layer}.attention", x).reshape(count, n, 3, heads, width // heads)
        query, own_key, own_value = split.transpose(2, 0, 3, 1, 4)  # (B, heads, n, w / heads) each
        key, value = own_key[:, :, seen], own_value[:, :, seen]
        if self.put_down is not None:
            self.put_down((key, value))
        if self.beside:
            key, value = self.beside[layer]
        mixed = np.empty((count, heads, n, width // heads), dtype=x.dtype)
        for some in split_items(n):
            logits = query[:, :, some] @ key.transpose(0, 1, 3, 2)
            one = np.arange(n)[some]
            if self.beside:  # but itself it sees as it is
                logits[:, :, one - one[0], one] = (query[:, :, some] * own_key[:, :, some]).sum(axis=-1)
            logits /= x.dtype.type(np.sqrt(width // heads))
            if bias is not None:
                logits += bias[:, :, some]
            weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            mixed[:, :, some] = weights @ value
            if self.beside:
                itself = weights[:, :, one - one[0], one, np.newaxis]
                mixed[:, :, some] += itself * (own_value - value)[:, :, some]
        mixed = mixed.transpose(0, 2, 1, 3).reshape(count, n, width)
        return linear(self.t, f"layers.{layer}.mixed", mixed)


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


def _shapes(settings: Settings, item_shape: Shape, d: int) -> dict[str, Shape]:
    spec = SetSpec.of(settings)
    if spec.dimensions != d:
        raise ModelError(f"the dimensions of a set encoder must be {spec.dimensions}; got {d}")
    return spec.shapes()


def _load(settings: Settings, tensors: Mapping[str, Any], inputs: Any) -> SetEncoder:
    spec = SetSpec.of(settings)
    vocabulary = Vocabulary((), ()) if inputs is None else inputs
    if (len(vocabulary.tokens), len(vocabulary.grams)) != (spec.tokens, spec.grams):
        raise ModelError("the vocabulary must have as many tokens and grams as the configuration says")
    if not (tensors["transform.deviation"] > 0).all():
        raise ModelError("tensor 'transform.deviation' must be above 0")
    return SetEncoder(spec, tensors, vocabulary)


def set_dtype(name: str) -> str:
    """Vectors of words in half precision, all else in single."""
    return "float16" if name.endswith(".vectors") else "float32"


SET = EncoderKind(1, _shapes, load=_load, stored=set_dtype)
