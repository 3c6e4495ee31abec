"""A trained set model: from whatever is known of the items of a collection to its tables of positions and flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.collection import Collection
from fabula.core.essence import Floats, normalise
from fabula.core.fit import Fit
from fabula.core.segments import normalise_many
from fabula.errors import InputError, ModelError
from fabula.models.many.batch import Batch, as_batch
from fabula.models.many.ordered import OrderedMany
from fabula.models.sets import network
from fabula.models.sets.checking import checked, plain
from fabula.models.sets.inputs import Array, SetInputs, stacked, standardised
from fabula.models.sets.proposing import RULES, Rule, by_rule, propose
from fabula.models.sets.spec import SetSpec
from fabula.models.sets.tables import Tables
from fabula.models.sets.titles import Title, read_titles
from fabula.models.sets.vocabulary import Vocabulary
from fabula.models.showing import CardShown

_TOGETHER = 60_000  # cells of pairs that are computed at a time, so that they stay in the processor's cache


class SetModel(CardShown):
    """An encoder that sees a whole collection and never its order, with the scorers arcs and flow.

    Parameters
    ----------
    spec
        What it is made of.
    tensors
        Mean and deviation of the features and all weights by name; checked by name, shape and finiteness.
    vocabulary
        What it knows of words.
    training
        What it was trained on and how: data fingerprint, seeds, recipe.
    card
        What it is for and how it did.

    Raises
    ------
    ModelError
        When a tensor is missing, unknown, of another shape or not finite.
    """

    scorers = ("arcs", "flow")

    def __init__(
        self,
        spec: SetSpec,
        tensors: Mapping[str, ArrayLike],
        vocabulary: Vocabulary | None = None,
        *,
        training: Mapping[str, Any] | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.spec = spec
        self.vocabulary = vocabulary or Vocabulary((), ())
        if (len(self.vocabulary.tokens), len(self.vocabulary.grams)) != (spec.tokens, spec.grams):
            raise ModelError("the vocabulary must have as many tokens and grams as the configuration says")
        self.tensors = checked(tensors, spec.shapes())
        self.training: dict[str, Any] = plain(training or {}, "training record")
        self.card: dict[str, Any] = plain(card or {}, "card")

    @property
    def config(self) -> dict[str, Any]:
        """What it is made of, as plain values."""
        return self.spec.to_dict()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it can take, in the order of the columns; any of them may be missing."""
        return self.spec.features

    @property
    def dimensions(self) -> int:
        """How many numbers an item's essence has."""
        return self.spec.dimensions

    @property
    def arcs(self) -> None:
        """It has no mixture of arcs on its essence: its one template stands on a basis of positions."""

    def encode(
        self,
        features: ArrayLike | Collection | None,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        *,
        raw: bool = False,
    ) -> Floats:
        """The essence of a collection: what an item is among the others, (n, d), z-scored.

        Parameters
        ----------
        features
            Shape (n, f), columns as in ``feature_names``, NaN where a value is missing; None where nothing but
            titles is known; or a collection, from which all is taken by name.
        titles, album, artists
            Titles of the items, of the collection, and n names of artists, where known.
        raw
            As the encoder gives it, before it is z-scored.
        """
        essence, _ = self.encode_inputs(self.inputs(features, titles, album, artists))
        return essence[0].astype(np.float64) if raw else _scaled(essence[0])

    def encode_many(
        self,
        features: ArrayLike | Sequence[Collection] | Batch,
        offsets: ArrayLike | None = None,
        *,
        raw: bool = False,
    ) -> Floats:
        """The essence of the items of many collections, those of one length together.

        Parameters
        ----------
        features
            Shape (rows, f): the items of all collections, one collection after the other, columns as in
            ``feature_names``, NaN where a value is missing. To give titles as well: a batch, or collections, without
            ``offsets``.
        offsets
            Shape (number + 1,), integers: collection i has the rows ``offsets[i]`` to ``offsets[i + 1]``.
        raw
            As the encoder gives it, not z-scored within each collection.

        Returns
        -------
        Shape (rows, d): for each collection what :meth:`encode` gives.
        """
        batch = as_batch(features, offsets)
        essence = np.empty((batch.rows, self.dimensions))
        for start, end, inputs in self._each(batch):
            essence[start:end] = self.encode_inputs(inputs)[0][0]
        return essence if raw else normalise_many(essence, batch.offsets)

    def order_many(
        self,
        features: ArrayLike | Sequence[Collection] | Batch,
        offsets: ArrayLike | None = None,
        *,
        rule: Rule = "likeliest",
        seconds: float = 1.5,
    ) -> OrderedMany:
        """One ordering of each of many collections.

        Parameters
        ----------
        features, offsets
            As :meth:`encode_many` takes them.
        rule
            ``"likeliest"``: the first of what :meth:`order` gives. ``"agreeing"``: what is expected to agree best with
            the true order, as ``fabula order`` proposes it. ``"arcs"``: the likeliest by positions alone, without
            flow, the quickest. The first two are exact up to 18 items and searched for beyond; arcs are always exact.
        seconds
            How long to search for each ordering of more than 18 items, at most.

        Returns
        -------
        Orderings, with ``scores`` as :meth:`order` has them: the sum over positions and flow.
        """
        if rule not in RULES:
            raise InputError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
        batch = as_batch(features, offsets)
        orderings, number = np.empty(batch.rows, dtype=np.intp), len(batch)
        scores, gap, exact = np.empty(number), np.zeros(number), np.ones(number, dtype=bool)
        for i, (start, end, inputs) in enumerate(self._each(batch)):
            places, flow = (table[0].astype(np.float64) for table in self.tables_of(inputs))
            found = by_rule(Tables(places, flow), rule, seconds)
            orderings[start:end] = found.ordering
            scores[i], gap[i], exact[i] = Tables(places, flow).score(found.ordering), found.gap, found.exact
        return OrderedMany(orderings, batch.offsets, scores, exact, gap)

    def _each(self, batch: Batch) -> Iterator[tuple[int, int, SetInputs]]:
        """Where each collection of a batch begins and ends, and what the network reads of it."""
        values = batch.picked(self.feature_names)
        for number, (start, end) in enumerate(pairwise(batch.offsets.tolist())):
            titles, artists = (None if x is None else x[start:end] for x in (batch.titles, batch.artists))
            album = "" if batch.names is None else batch.names[number]
            yield start, end, self.inputs(values[start:end], titles, album, artists)

    def encode_all(self, collections: Sequence[ArrayLike | Collection]) -> list[Floats]:
        """The essence of each of many collections, those of one length together."""
        inputs = [self.inputs(collection) for collection in collections]
        return [_scaled(essence) for essence in self.encode_inputs_all(inputs)]

    def tables(
        self,
        features: ArrayLike | Collection | None,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
        *,
        count: int | None = None,
        positions: ArrayLike | None = None,
    ) -> Tables:
        """How much each item likes each position, and how well it is followed by each other.

        Takes what :meth:`encode` takes. ``count`` is the number of positions (by default one per item), of which
        ``positions`` (m,) are wanted (by default all); a side of a record has positions of its own.
        """
        inputs = self.inputs(features, titles, album, artists)
        essence, pair = self.encode_inputs(inputs)
        wanted = None if positions is None else np.asarray(positions, dtype=np.float32)

        def of_count(m: int) -> Floats:
            return np.asarray(network.position_scores(self.tensors, essence, m)[0], dtype=np.float64)

        places = network.position_scores(self.tensors, essence, count or essence.shape[1], wanted)[0]
        return Tables(places.astype(np.float64), self._flow(essence, pair)[0].astype(np.float64), of_count)

    def tables_all(self, collections: Sequence[ArrayLike | Collection]) -> list[tuple[Floats, Floats]]:
        """Position scores and flow scores, (n, n) each, of each of many collections, those of one length together."""
        inputs = [self.inputs(collection) for collection in collections]
        found: list[tuple[Floats, Floats]] = [(np.zeros((0, 0)), np.zeros((0, 0)))] * len(inputs)
        for chosen in _batches([x.values.shape[1] for x in inputs]):
            positions, flow = self.tables_of(joined([inputs[i] for i in chosen]))
            for row, number in enumerate(chosen):
                found[number] = positions[row].astype(np.float64), flow[row].astype(np.float64)
        return found

    def score(
        self,
        features: ArrayLike | Collection | None,
        orderings: ArrayLike,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
    ) -> Floats:
        """How likely orderings (m, n) of a collection are, relative to each other: (m,); higher is likelier."""
        tables = self.tables(features, titles, album, artists)
        return np.array([tables.score(ordering) for ordering in np.atleast_2d(np.asarray(orderings))])

    def order(
        self,
        features: ArrayLike | Collection | None,
        alternatives: int = 4,
        fixed: Mapping[int, int] | None = None,
        *,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
    ) -> list[Fit]:
        """Likely orderings, likeliest first, distinct; each with its score and, as its template, its own arc.

        The first is the likeliest there is up to 18 items, and beyond that the likeliest found; the others open or
        close with other items. ``exp(score - best.score)`` is how likely one is beside the best.

        Parameters
        ----------
        features, titles, album, artists
            As :meth:`encode` takes them.
        alternatives
            How many orderings to return at most, 1 or more.
        fixed
            position -> item; negative positions count from the end.
        """
        tables = self.tables(features, titles, album, artists)
        return propose(tables, self.encode(features, titles, album, artists), alternatives, fixed)

    def inputs(
        self,
        features: ArrayLike | Collection | None,
        titles: Sequence[str] | None = None,
        album: str = "",
        artists: Sequence[str] | None = None,
    ) -> SetInputs:
        """What the network reads of one collection."""
        if isinstance(features, Collection):
            return self._of_collection(features, titles, album, artists)
        if features is None:
            if titles is None:
                raise InputError("a collection needs features, titles or both to be encoded")
            features = np.full((len(titles), len(self.feature_names)), np.nan)
        values = standardised(features, self.spec, self.tensors["transform.mean"], self.tensors["transform.deviation"])
        for what, given in (("titles", titles), ("artists", artists)):
            if given is not None and len(given) != len(values[0]):
                raise InputError(f"{what} must be one per item: {len(values[0])}; got {len(given)}")
        read: list[list[Title]] | None = None
        if titles is not None and self.spec.titles:
            read = [read_titles([title or "" for title in titles], album, artists)]
        return stacked([values], read, self.vocabulary)

    def encode_inputs(self, inputs: SetInputs) -> tuple[Array, Array]:
        """Essence (B, n, d) and pairs (B, n, n, ...) of inputs."""
        return network.encode(self.tensors, inputs, self.spec)

    def encode_inputs_all(self, inputs: Sequence[SetInputs]) -> list[Array]:
        """Essence (n, d) of each of many collections, given as inputs of B = 1."""
        found: list[Array] = [np.zeros((0, self.dimensions), np.float32)] * len(inputs)
        for chosen in _batches([x.values.shape[1] for x in inputs]):
            essence, _ = self.encode_inputs(joined([inputs[i] for i in chosen]))
            for number, rows in zip(chosen, essence, strict=True):
                found[number] = rows
        return found

    def tables_of(self, inputs: SetInputs) -> tuple[Array, Array]:
        """Position scores and flow scores (B, n, n) of inputs."""
        essence, pair = self.encode_inputs(inputs)
        return network.position_scores(self.tensors, essence, essence.shape[1]), self._flow(essence, pair)

    def _flow(self, essence: Array, pair: Array) -> Array:
        return network.flow_scores(self.tensors, essence, pair, self.spec)

    def _of_collection(
        self, given: Collection, titles: Sequence[str] | None, album: str, artists: Sequence[str] | None
    ) -> SetInputs:
        """Inputs of a collection: its features by name, its titles and artists."""
        there = [name for name in self.feature_names if name in given.feature_names]
        features = np.full((len(given), len(self.feature_names)), np.nan)
        if there:
            features[:, [self.feature_names.index(name) for name in there]] = given.columns(there)
        names = titles if titles is not None else [item.title for item in given.items]
        by = artists if artists is not None else [item.artist for item in given.items]
        return self.inputs(features, names, album or given.title, by)


def _scaled(essence: Array) -> Floats:
    """An essence (n, d) z-scored within its collection."""
    return normalise(essence).reshape(essence.shape)


def joined(inputs: Sequence[SetInputs]) -> SetInputs:
    """Inputs of collections of one length as one."""
    return SetInputs(*(np.concatenate([getattr(x, name) for x in inputs]) for name in SetInputs.__dataclass_fields__))


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Numbers of collections of one length, as many at a time as is quick."""
    by_length: dict[int, list[int]] = {}
    for number, n in enumerate(lengths):
        by_length.setdefault(n, []).append(number)
    batches: list[list[int]] = []
    for n, chosen in by_length.items():
        size = max(1, _TOGETHER // n**2)
        batches.extend(chosen[i : i + size] for i in range(0, len(chosen), size))
    return batches
