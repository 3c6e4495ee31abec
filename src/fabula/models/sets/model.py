"""A trained set model: from whatever is known of the items of a collection to its tables of positions and flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.collection import Collection
from fabula.core.collections import Batch, as_batch, batch_of
from fabula.core.energy import Tables
from fabula.core.essence import Floats, normalise
from fabula.core.fit import Fit
from fabula.core.segments import normalise_many
from fabula.errors import InputError, ModelError
from fabula.models.card import CardShown
from fabula.models.encoders import set as network
from fabula.models.encoders.set import Array, SetInputs, SetSpec, set_inputs, standardised
from fabula.models.order import OrderedMany, Rule, propose
from fabula.models.sets import many
from fabula.models.sets.checking import checked, plain
from fabula.models.titles import Title, Vocabulary, read_titles


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
        essence = many.encode_many(self, batch)
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
        return many.order_many(self, as_batch(features, offsets), rule, seconds)

    def encode_all(self, collections: Sequence[ArrayLike | Collection]) -> list[Floats]:
        """The essence of each of many collections, those of one length together."""
        batch = self._joined(collections)
        return np.split(self.encode_many(batch), batch.offsets[1:-1]) if len(batch) else []

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
        batch = self._joined(collections)
        found: list[tuple[Floats, Floats]] = [(np.zeros((0, 0)), np.zeros((0, 0)))] * len(batch)
        for some, *tables in many.tables_many(self, batch):
            for number, positions, flow in zip(some.numbers, *tables, strict=True):
                found[number] = positions.astype(np.float64), flow.astype(np.float64)
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
        values, known = self.standardised(features)
        for what, given in (("titles", titles), ("artists", artists)):
            if given is not None and len(given) != len(values):
                raise InputError(f"{what} must be one per item: {len(values)}; got {len(given)}")
        read: list[list[Title]] | None = None
        if titles is not None and self.spec.titles:
            read = [read_titles([title or "" for title in titles], album, artists)]
        return set_inputs(values[np.newaxis], known[np.newaxis], read, self.vocabulary)

    def standardised(self, features: ArrayLike) -> tuple[Array, Array]:
        """Features (n, f) as z-scores of the training items (n, f), and 1 where one is known, else 0 (n, f)."""
        return standardised(features, self.spec, self.tensors["transform.mean"], self.tensors["transform.deviation"])

    def encode_inputs(self, inputs: SetInputs) -> tuple[Array, Array]:
        """Essence (B, n, d) and pairs (B, n, n, ...) of inputs."""
        return network.encode(self.tensors, inputs, self.spec)

    def tables_of(self, inputs: SetInputs) -> tuple[Array, Array]:
        """Position scores and flow scores (B, n, n) of inputs."""
        essence, pair = self.encode_inputs(inputs)
        return network.position_scores(self.tensors, essence, essence.shape[1]), self._flow(essence, pair)

    def _flow(self, essence: Array, pair: Array) -> Array:
        return network.flow_scores(self.tensors, essence, pair, self.spec)

    def _joined(self, collections: Sequence[ArrayLike | Collection]) -> Batch:
        """Collections, or the features of some (n, f) each, as a batch."""
        given = [each for each in collections if isinstance(each, Collection)]
        if len(given) == len(collections):
            return batch_of(given)
        if given:
            raise InputError("give collections, or arrays of features, not both at once")
        blocks = [np.asarray(each) for each in collections]
        return Batch(np.concatenate(blocks), np.cumsum([0, *map(len, blocks)]))

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
