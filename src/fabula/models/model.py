"""A model: what is known of items goes in, and what it says of every ordering of them comes out; loaded by name."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arcs import Arcs
from fabula.core.arrays import Alike, Floats, Ints, as_orderings, normalise_many
from fabula.core.collection import Collection, Evidence, Item
from fabula.core.collections import Collections
from fabula.core.energy import Energy, check_count
from fabula.core.files import tell_refusal, write_whole
from fabula.core.fit import Fit
from fabula.errors import FabulaError, FileError, InputError, ModelError, brief, check_kind
from fabula.models.config import PAIRS, Encoded, LoadedEncoder, LoadedScorer
from fabula.models.encoders import encoder_kind
from fabula.models.file import card_brief, card_html, check_tensors, model_bytes, plain, read_parts, tensor_shapes
from fabula.models.order import OrderedMany, Rule, join_fits, lean, order_many, propose, search_orderings, solvable
from fabula.models.scorers import MEASURED, SCORERS, most_detailed, scorer_kind
from fabula.models.transform import ItemEncoder, Transform, check_features

Given = ArrayLike | Collection | None  # what is known of one collection


class Model:
    """An encoder and its scorers, with their weights.

    Kinds of model differ in nothing but these, which :mod:`fabula.models.encoders` and :mod:`fabula.models.scorers`
    have by name. It is made of a ``config``, as :mod:`fabula.models.config` says, its ``tensors`` by name, and what
    turns items into numbers first: a :class:`Transform` where each item is encoded by itself, the
    :class:`fabula.models.titles.Vocabulary` of an encoder that reads titles. ``training`` tells what it was trained on
    and how, ``card`` what it is for and how it did.

    >>> transform = Transform(("energy",), (), [0.0], [1.0])
    >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": [{"kind": "arcs", "k": 1, "knots": 2}]}
    >>> rise = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
    >>> model = Model(config, rise, transform)
    >>> model.encode([[0.9], [0.1]])
    array([[ 1.],
           [-1.]])
    >>> model.order([[0.9], [0.1]], alternatives=1)[0].ordering
    array([1, 0])
    """

    place = ""  # the file it was loaded from

    def __init__(
        self,
        config: Mapping[str, Any],
        tensors: Mapping[str, ArrayLike],
        inputs: Any = None,
        *,
        training: Mapping[str, Any] | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.config: dict[str, Any] = plain(config, "configuration")
        self.training: dict[str, Any] = plain(training or {}, "training record")
        self.card: dict[str, Any] = plain(card or {}, "card")
        shapes = tensor_shapes(self.config, inputs.item_shape if isinstance(inputs, Transform) else ())
        encoder = self.config["encoder"]
        kind = encoder_kind(encoder["kind"])
        if kind.load is None:
            shapes = {name: shape for name, shape in shapes.items() if name not in MEASURED}
        self.tensors = check_tensors(tensors, shapes, kind)
        self.encoder: LoadedEncoder
        if kind.encode is None:
            self.encoder = cast("Any", kind.load)(encoder, self.tensors, inputs)
        else:  # doubles, so that rounding does not tell equal items apart; scores bear floats
            own = {name: t.astype(np.float64) for name, t in self.tensors.items() if name.startswith("encoder.")}
            self.encoder = ItemEncoder(kind.encode, encoder, own, inputs, self.dimensions)
        self._scorers: dict[str, Any] = {
            settings["kind"]: scorer_kind(settings["kind"]).load(self.tensors, settings)
            for settings in self.config["scorers"]
        }

    @property
    def name(self) -> str:
        """What it is called: as its card says, else as its file is."""
        return str(self.card.get("name") or Path(self.place).stem or "unnamed")

    @property
    def reads(self) -> tuple[str, ...]:
        """What it takes of an item: of ``features``, ``titles``, ``words`` and ``pairs``."""
        return self.encoder.reads

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it takes, in the order of the columns; any may be missing unless it is ``by_item``."""
        return self.encoder.feature_names

    @property
    def dimensions(self) -> int:
        """How many numbers an item's essence has, or what else it goes by of an item."""
        return int(self.config["dimensions"])

    @property
    def by_item(self) -> bool:
        """Whether the essence of an item is its own, so that a template can be laid on it."""
        return self.encoder.by_item

    @property
    def scorers(self) -> tuple[str, ...]:
        """The kinds of scorer it has."""
        names = [name for kind in self._scorers for name in (*SCORERS[kind].also, kind)]
        return tuple(dict.fromkeys(names))

    @property
    def reaches(self) -> bool:
        """Whether all pairs count, not neighbours alone."""
        return any(getattr(scorer, "far", False) for scorer in self._scorers.values())

    @property
    def arcs(self) -> Arcs | None:
        """Its mixture of arcs, where it has one."""
        arcs = self._scorers.get("arcs")
        return arcs if isinstance(arcs, Arcs) else None

    @property
    def most_detailed(self) -> str | None:
        """The kind of its scorers that sees most of a sequence, and so measures information; None without any."""
        return most_detailed(self.scorers)

    @property
    def transform(self) -> Transform:
        """What is done to features first, where each item is encoded by itself."""
        if not isinstance(self.encoder, ItemEncoder):
            raise ModelError("this model sees more than an item by itself: it has no transform of its features")
        return self.encoder.transform

    def __repr__(self) -> str:
        return card_brief(self)

    def _repr_html_(self) -> str:
        return card_html(self)

    def save(self, path: str | Path) -> Path:
        """Write it as one file, whole or not at all; returns the path written."""
        return write_whole(path, model_bytes(self))

    def encode(
        self,
        features: Given,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        *,
        raw: bool = False,
    ) -> Floats:
        """The essence of a collection, (n, d), z-scored within it; ``raw``: as the encoder gives it.

        ``features``: shape (n, f) or (n, f, s), columns as in ``feature_names``, NaN where a value is missing; None
        where nothing but titles is known; or a collection, from which all is taken by name. ``titles``, ``album`` and
        ``artists``: of the items, of the collection, and n names, where the model reads them. A dimension in which all
        items are alike is zero, so a single item gets zeros. A model that has no essence is an error.
        """
        return self.encode_many([self._one(features, titles, album, artists)], raw=raw)

    def encode_many(
        self, features: ArrayLike | Sequence[Collection], offsets: ArrayLike | None = None, *, raw: bool = False
    ) -> Floats:
        """The essence of the items of many collections, (rows, d), in one pass: for each what :meth:`encode` gives.

        ``features`` are collections, or an array as :meth:`encode` takes it, (rows, f) or (rows, f, s), with the items
        of all collections, one collection after the other, of which collection i has the rows ``offsets[i]`` to
        ``offsets[i + 1]``.

        >>> transform = Transform(("energy",), (), [0.0], [1.0])
        >>> model = Model({"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}, {}, transform)
        >>> model.encode_many([[0.5], [1.0], [2.0]], [0, 2, 3]).ravel().tolist()
        [-1.0, 1.0, 0.0]
        >>> model.encode_many([[0.5], [1.0], [2.0]], [0, 2, 3], raw=True).ravel().tolist()
        [0.5, 1.0, 2.0]
        """
        many = self._many(features, offsets)
        essence = self.encoder.raw(many)
        return essence if raw else normalise_many(essence, many.offsets)

    def encode_all(self, collections: Sequence[ArrayLike | Collection], *, raw: bool = False) -> list[Floats]:
        """The essence of each of many collections, or arrays of features, in one pass over all: (n, d) each."""
        many = self._many([self._one(each, number=k) for k, each in enumerate(collections, start=1)], None)
        return np.split(self.encode_many(many, raw=raw), many.offsets[1:-1]) if len(many) else []

    def energy(
        self,
        features: Given,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        *,
        evidence: Evidence | None = None,
        scorer: str | None = None,
    ) -> Energy:
        """What it says of every ordering of a collection, which is given as to :meth:`encode`.

        ``evidence`` is what was seen in the items, where it reads words or pairs; the medium of the items looks for it.
        With ``scorer``, what that one of ``scorers`` says alone.
        """
        one = self._one(features, titles, album, artists)
        return self._read(one, evidence, scorer)[1]

    def energies(self, collections: Sequence[ArrayLike | Collection], scorer: str | None = None) -> list[Energy]:
        """What it says of every ordering of each of many collections, as :meth:`energy` does, read together."""
        many = self._many([self._one(each, number=k) for k, each in enumerate(collections, start=1)], None)
        found = {
            int(number): energy[place]
            for some, energy in self._energies(many, scorer)
            for place, number in enumerate(some.numbers)
        }
        return [found[number] for number in range(len(many))]

    def score(
        self,
        sequence: Given,
        orderings: ArrayLike | str | None = None,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        *,
        evidence: Evidence | None = None,
        scorer: str | None = None,
    ) -> float | Floats:
        """How likely an essence sequence is, or orderings of a collection, a number or (m,); higher is likelier.

        Without ``orderings`` it is a sequence of essence, (n, d), or (n,) where d is 1; (m, n, d) for m of one length.
        With orderings (m, n) or (n,) it is what :meth:`encode` takes, and so are ``titles``, ``album`` and ``artists``,
        and ``evidence`` as of :meth:`energy`. ``scorer``: one of ``scorers``; by default all whose scores add up, or
        the one that orders.
        """
        if isinstance(orderings, str):  # a scorer's name
            orderings, scorer = None, orderings
        if orderings is None:
            return self._score_sequences(cast("ArrayLike", sequence), scorer)
        energy = self.energy(sequence, titles, album, artists, evidence=evidence, scorer=scorer)
        scores = np.atleast_1d(energy.score(as_orderings(orderings, energy.n)))
        return float(scores[0]) if np.ndim(orderings) == 1 else scores

    def order(
        self,
        features: Given,
        alternatives: int = 4,
        fixed: Mapping[int, int] | None = None,
        *,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        evidence: Evidence | None = None,
    ) -> list[Fit]:
        """Likely orderings, likeliest first, distinct, each with its score and template.

        By a mixture of arcs they are exact, of different shape. By tables of positions and neighbours the first is the
        likeliest there is up to 18 items, and the others open or close otherwise; where all pairs count it is the one
        that agrees best with those that are likely. A scorer that can only be asked is searched from several starts.
        Where no arcs give a template, it is the ordering's own arc. ``alternatives``: how many at most, 1 or more;
        ``fixed``: position -> item, negative positions count from the end; the rest as :meth:`encode` and
        :meth:`energy` take it.
        """
        one, scorer = self._one(features, titles, album, artists), self._sequence_scorer(None)
        if scorer is not None:
            return self._order_sequence(scorer, self.encode(one), alternatives, fixed)
        x, energy = self._read(one, evidence, None)
        within = np.array([0, len(one)])
        essence = lean(solvable(energy)) if x.evidence is not None else normalise_many(x.essence[0], within)
        return propose(energy, np.asarray(essence, dtype=np.float64), alternatives, fixed)

    def order_many(
        self,
        features: ArrayLike | Sequence[Collection],
        offsets: ArrayLike | None = None,
        *,
        rule: Rule = "likeliest",
        seconds: float = 1.5,
    ) -> OrderedMany:
        """One ordering of each of many collections, which are given as to :meth:`encode_many`.

        The rule counts for a model of tables. ``"likeliest"``: the first of what :meth:`order` gives. ``"agreeing"``:
        what is expected to agree best with the true order, as ``fabula order`` proposes it. ``"arcs"``: the likeliest
        by positions alone, the quickest. The first two are exact up to 18 items, and searched for beyond, for so many
        seconds at most.

        >>> transform = Transform(("energy",), (), [0.0], [1.0])
        >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}}
        >>> config["scorers"] = [{"kind": "arcs", "k": 1, "knots": 2}]
        >>> rise = {"arcs.values": [[[-1], [1]]], "arcs.weights": [0], "arcs.knots": [0, 1]}
        >>> ordered = Model(config, rise, transform).order_many([[0.9], [0.1], [0.3], [0.4]], [0, 2, 4])
        >>> ordered.orderings
        array([1, 0, 0, 1])
        """
        self._check_scorer(None)
        many, scorer = self._many(features, offsets), self._sequence_scorer(None)
        if scorer is None:
            return order_many(self._energies(many), many.offsets, rule, seconds)
        essence = self.encode_many(many)
        if isinstance(scorer, Arcs) and not self._tables:
            orderings, scores = scorer.order_many(essence, many.offsets)
            return OrderedMany(orderings, many.offsets, scores, np.ones(len(many), dtype=bool), np.zeros(len(many)))
        fits = [self._order_sequence(scorer, part, 1, None)[0] for part in np.split(essence, many.offsets[1:-1])]
        return join_fits(fits, many.offsets)

    def grounds(self, collection: Collection, evidence: Evidence | None = None) -> tuple[str, ...]:
        """What is known of a collection that it goes by; empty where that is too little to judge by."""
        return self.encoder.grounds(collection, evidence)

    def _one(
        self,
        given: Given,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        number: int = 1,
    ) -> Collection:
        """What is known of one collection, as one; an array is called by a number."""
        titles = None if titles is None else list(titles)
        if isinstance(given, Collection):
            one = given
        elif given is None and titles is None:
            raise InputError("a collection needs features, titles or both to be encoded")
        else:
            features = np.zeros((len(titles or ()), 0)) if given is None else self._as_features(given)
            items = [Item(str(i)) for i in range(1, len(features) + 1)]
            one = Collection(str(number), items, features, self.feature_names if given is not None else ())
        if titles is None and artists is None and not album:
            return one
        texts = zip(one.items, _as_texts(titles, one, "title"), _as_texts(artists, one, "artist"), strict=True)
        named = [Item(item.id, title, item.path, artist) for item, title, artist in texts]
        return Collection(one.id, named, one.features, one.feature_names, title=album or one.title)

    def _as_features(self, given: ArrayLike, least: int = 1) -> Floats:
        """Features of so many items at least, (n, f[, s])."""
        features = _as_numbers(given, "features")
        shape = self.transform.item_shape if self.by_item else (len(self.feature_names),)
        if features.ndim != 1 + len(shape) or features.shape[1:] != shape or len(features) < least:
            expected = ", ".join(map(str, shape))
            raise ModelError(f"this model takes features of shape (n, {expected}), n at least 1; got {features.shape}")
        return features

    def _many(self, given: ArrayLike | Sequence[Collection], offsets: ArrayLike | None) -> Collections:
        """What is known of many collections, in one block."""
        if offsets is not None:
            if isinstance(given, Collections):
                raise InputError("collections have offsets of their own; leave out offsets")
            if PAIRS in self.reads:
                raise InputError("this model looks into the items themselves: order each with fabula.order")
            return Collections(self._as_features(cast("ArrayLike", given), least=0), offsets, self.feature_names)
        if isinstance(given, Collections):
            return given
        if not isinstance(given, Sequence) or not all(isinstance(each, Collection) for each in given[:1]):
            raise InputError("offsets must say where each collection begins, unless collections are given")
        collections = cast("Sequence[Collection]", given)
        for each in {each.feature_names: each for each in collections}.values() if self.by_item else ():
            check_features(self.feature_names, each.feature_names, each.id)
        return Collections.of(collections, self.feature_names)

    def _read(self, one: Collection, evidence: Evidence | None, scorer: str | None) -> tuple[Encoded, Energy]:
        """What it makes of one collection, and says of its orderings."""
        check_count(len(one))
        many = self._many([one], None)
        _, x = next(self.encoder.encode(many, None if evidence is None else [evidence]))
        return x, self.energy_of(x, scorer)[0]

    def _energies(self, many: Collections, scorer: str | None = None) -> Iterator[tuple[Alike, Energy]]:
        """What it says of collections of one length, with a leading axis, until all have been."""
        return ((some, self.energy_of(x, scorer)) for some, x in self.encoder.encode(many, None))

    def energy_of(self, x: Encoded, scorer: str | None = None) -> Energy:
        """The sum of what its scorers say; of those that read whole sequences, the one that orders."""
        self._check_scorer(scorer)
        tables = [self._scorers[kind].energy(x) for kind in self._tables if scorer in (None, kind)]
        asked = self._sequence_scorer(scorer)
        if asked is not None:
            essence, scorer_of, which = x.essence, asked.score, np.arange(len(x.essence))[:, np.newaxis, np.newaxis]

            def score(rows: Ints) -> Floats:
                """What it says of orderings (B, r, m) of each collection (n, d)."""
                sequences = essence[which, rows].reshape(-1, rows.shape[-1], essence.shape[-1])
                scores = scorer_of(np.asarray(sequences, dtype=np.float64))
                return np.asarray(scores, dtype=np.float64).reshape(rows.shape[:-1])

            tables.append(Energy(whole=score, shape=x.essence.shape[:2]))
        total: Energy = tables[0]
        for one in tables[1:]:
            total = total + one
        return total

    @property
    def _tables(self) -> list[str]:
        """The kinds of scorer that give tables."""
        return [name for name, scorer in self._scorers.items() if hasattr(scorer, "energy")]

    def _sequence_scorer(self, kind: str | None) -> LoadedScorer | None:
        """The scorer that reads whole sequences, of a kind or the one that orders; None where tables say all."""
        asked = [name for name in self._scorers if name not in self._tables]
        if kind is None:
            kind = next((name for name in asked if scorer_kind(name).exact), asked[0] if asked else None)
        return cast("LoadedScorer", self._scorers[kind]) if kind in asked else None

    def _check_scorer(self, kind: str | None) -> None:
        """Refuse a kind of scorer that it does not have, or any where it has none."""
        if not self._scorers:
            raise ModelError("this model has no scorer: it gives an essence only")
        if kind is not None and kind not in self._scorers:
            raise ModelError(f"this model has no scorer {kind!r}; it has: {', '.join(self._scorers)}")

    def _score_sequences(self, sequence: ArrayLike, scorer: str | None) -> float | Floats:
        """How likely sequences of essence are, by a scorer that takes one."""
        if not self.by_item:
            raise ModelError("this model sees whole collections, not sequences of essence: give score its orderings")
        values = _as_numbers(sequence, "a sequence")
        single = values.ndim < 3
        batch = values[:, np.newaxis] if values.ndim == 1 else values
        batch = batch[np.newaxis] if single else batch  # (m, n, d)
        if batch.ndim != 3 or batch.shape[2] != self.dimensions or batch.shape[1] == 0:
            d = self.dimensions
            raise ModelError(f"this model scores sequences of shape (n, {d}) or (m, n, {d}); got {values.shape}")
        if not np.isfinite(batch).all():
            raise InputError("a sequence must be finite to be scored; it holds NaN or inf")
        scores = self._score_batch(batch, scorer)
        return float(scores[0]) if single else scores

    def _score_batch(self, batch: Floats, scorer: str | None = None) -> Floats:
        """What scorers say of sequences (m, n, d) as they are: shape (m,)."""
        self._check_scorer(scorer)
        along = np.tile(np.arange(batch.shape[1]), (len(batch), 1))
        return np.asarray(self.energy_of(Encoded(batch), scorer).score(along)) if len(batch) else np.zeros(0)

    def _order_sequence(
        self, scorer: LoadedScorer, essence: Floats, alternatives: int, fixed: Mapping[int, int] | None
    ) -> list[Fit]:
        """Likely orderings of an essence by a scorer; searched for unless it alone has a say and a way of its own."""
        order: Callable[..., list[Fit]] | None = getattr(scorer, "order", None)
        if order is not None and not self._tables:
            return order(essence, alternatives=alternatives, fixed=fixed)
        return search_orderings(self._score_batch, essence, alternatives=alternatives, fixed=fixed)


def _as_texts(given: Sequence[str] | None, one: Collection, what: str) -> list[str]:
    """A text for each item of a collection, "" where one is not known; its own where none are given."""
    found = ["" if text is None or text != text else text for text in (one.texts(what) if given is None else given)]
    if len(found) != len(one) or not all(isinstance(text, str) for text in found):
        raise InputError(f"{what}s must be texts, one per item: {len(one)}; got {len(found)}: {brief(found)}")
    return found


def _as_numbers(value: ArrayLike, what: str) -> Floats:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of numbers; got {type(value).__name__}") from error


# Models as files: loading one by name or path, those that come with the package, and saving one.

_ENDING = ".safetensors"


def load_model(name: str | Path) -> Model:
    """Load a model of any kind: a shipped one by name, or a file; it is an error if there is none, or it is damaged."""
    check_kind(name, (str, os.PathLike), "the name of a model, or its file", "model")
    if isinstance(name, str) and name in shipped_models():
        model = copy(_load_shipped(name))  # the same weights with a card and a record of their own
        model.card, model.training = dict(model.card), dict(model.training)
        return model
    path = Path(name)
    if not path.is_file():
        shipped = ", ".join(shipped_models()) or "none"
        raise FileError(f"{name}: no such model file, and no model of that name comes with fabula (those: {shipped})")
    with tell_refusal(path, "be read"):
        data = path.read_bytes()
    return model_from_bytes(data, str(name))


def load_essence_model(name: str | Path) -> Model:
    """Load a model that gives each item an essence by itself, as templates and arcs need it; another is an error."""
    model = load_model(name)
    if "pairs" in model.reads:
        raise ModelError(f"{name}: looks into items and has no essence for a template; name a column (by)")
    if not model.by_item:
        raise ModelError(f"{name}: sees whole collections: no template is laid on its essence; take albums or audio")
    return model


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    folder = files(__package__).joinpath("shipped")
    if not folder.is_dir():
        return []
    return sorted(entry.name.removesuffix(_ENDING) for entry in folder.iterdir() if entry.name.endswith(_ENDING))


@lru_cache(maxsize=8)
def _load_shipped(name: str) -> Model:
    return model_from_bytes(files(__package__).joinpath("shipped", name + _ENDING).read_bytes(), name)


def save_model(path: str | Path, model: Model) -> Path:
    """Write a model, whole or not at all; returns the path written."""
    return model.save(path)


def model_from_bytes(data: bytes, where: str) -> Model:
    """A model from the content of its file; ``where`` names it in errors."""
    header, parts = read_parts(data, where)
    try:
        model = Model(*parts, training=header["training"], card=header["card"])
        model.place = where
        return model
    except FabulaError as error:
        raise ModelError(f"{where}: {error}") from error
