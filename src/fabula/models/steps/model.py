"""A step model: from measures, terms and pairs of items to how likely every ordering of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.collection import Collection
from fabula.core.energy import FUNCTIONS, KERNELS, Scores, distance_basis, position_basis
from fabula.core.essence import Floats
from fabula.errors import InputError, ModelError
from fabula.models.card import CardShown
from fabula.models.encoders.measures import Evidence, Terms, standing

LEANINGS = ("leaning", "middle", "opening", "closing")  # what the terms of an item say of its position
LEXICON = "lexicon"


class StepModel(CardShown):
    """Arcs over measures and terms, flow and reach over pairs, with linear weights.

    An ordering o scores ``sum_j A[o_j, j] + sum_j<k sum_b w_b(k - j) R_b[o_j, o_k]``: arcs say where an item stands,
    and each pair of items, whatever lies between them, has a say by a kernel of their distance. What two neighbours
    add is flow, what two items further apart add is reach.

    Parameters
    ----------
    features, logged
        f names, and those of which the logarithm is taken.
    pairs
        k names of tables over all pairs, as the medium has them.
    tensors
        ``arcs``, shape (f + 4, 12); ``reach``, shape (k, 7); ``lexicon``, shape (w, 4).
    words
        Language -> its terms, w in all, in the order of the lexicon's rows.
    training, card
        What it was trained on and how; what it is for and how it did.

    Raises
    ------
    ModelError
        When a tensor is missing, unknown, of another shape or not finite.

    Examples
    --------
    >>> tensors = {"arcs": np.zeros((5, 12)), "reach": np.ones((1, 7)), "lexicon": np.zeros((0, 4))}
    >>> model = StepModel(("words",), (), ("wording",), tensors)
    >>> model.reach_of(Evidence({"wording": np.ones((2, 2))}), 2).shape
    (7, 2, 2)
    """

    scorers = ("arcs", "flow", "reach")

    def __init__(
        self,
        features: Sequence[str],
        logged: Sequence[str],
        pairs: Sequence[str],
        tensors: Mapping[str, ArrayLike],
        *,
        words: Mapping[str, Sequence[str]] | None = None,
        training: Mapping[str, Any] | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.feature_names, self.logged, self.pair_names = tuple(features), tuple(logged), tuple(pairs)
        self.words = {language: tuple(terms) for language, terms in (words or {}).items()}
        for names in (self.feature_names, self.pair_names, *self.words.values()):
            if len(set(names)) != len(names):
                raise ModelError(f"the names in a step model must be distinct; got {', '.join(names)}")
        unknown = [name for name in self.logged if name not in self.feature_names]
        if unknown:
            raise ModelError(f"{unknown[0]!r} is not one of the features: {', '.join(self.feature_names)}")
        self.tensors = self._checked(tensors)
        self.training, self.card = dict(training or {}), dict(card or {})

    def _checked(self, tensors: Mapping[str, ArrayLike]) -> dict[str, Floats]:
        shapes = {
            "arcs": (len(self.feature_names) + len(LEANINGS), FUNCTIONS),
            "reach": (len(self.pair_names), KERNELS),
            LEXICON: (sum(map(len, self.words.values())), len(LEANINGS)),
        }
        if set(tensors) != set(shapes):
            raise ModelError(f"a step model has the tensors {', '.join(shapes)}; got {', '.join(tensors) or 'none'}")
        found = {name: np.asarray(tensor, dtype=np.float64) for name, tensor in tensors.items()}
        for name, shape in shapes.items():
            if found[name].shape != shape or not np.isfinite(found[name]).all():
                raise ModelError(f"tensor {name!r} must be finite and have shape {shape}; got {found[name].shape}")
        return found

    @classmethod
    def of_steps(
        cls,
        features: Sequence[str],
        logged: Sequence[str],
        steps: Sequence[str],
        tensors: Mapping[str, ArrayLike],
        *,
        training: Mapping[str, Any] | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> StepModel:
        """A model without words and reach: ``arcs``, shape (f, 12), and ``flow``, shape (k,), between neighbours alone.

        Its pairs are the closeness of the medium's steps.
        """
        if set(tensors) != {"arcs", "flow"}:
            raise ModelError(f"a model of steps has the tensors arcs and flow; got {', '.join(tensors) or 'none'}")
        arcs, flow = (np.asarray(tensors[name], dtype=np.float64) for name in ("arcs", "flow"))
        if arcs.ndim != 2 or flow.ndim != 1:
            raise ModelError(f"arcs must be a table and flow a list; got shapes {arcs.shape} and {flow.shape}")
        reach = np.zeros((len(flow), KERNELS))
        reach[:, 0] = flow
        whole = {
            "arcs": np.concatenate([arcs, np.zeros((len(LEANINGS), arcs.shape[1]))]),
            "reach": reach,
            LEXICON: np.zeros((0, len(LEANINGS))),
        }
        return cls(features, logged, steps, whole, training=training, card=card)

    @property
    def reaches(self) -> bool:
        """Whether more than neighbours have a say."""
        return bool(self.tensors["reach"][:, 1:].any())

    @property
    def dimensions(self) -> int:
        """Of what is known of an item by itself: its features, and what its terms say."""
        return len(self.feature_names) + len(LEANINGS)

    @property
    def config(self) -> dict[str, Any]:
        """What it is made of."""
        return {"pairs": list(self.pair_names), "words": {language: list(w) for language, w in self.words.items()}}

    def encode_many(self, *given: Any, **options: Any) -> NoReturn:
        """It has no essence of arrays: it looks into the items and at all pairs of them."""
        raise InputError("this model looks into the items themselves: order each with fabula.order, not from arrays")

    order_many = encode_many

    def lexicon_of(self, language: str) -> tuple[tuple[str, ...], Floats]:
        """The terms of a language, w, and what they say of the position, (w, 4); none where it does not know it."""
        start = 0
        for name, terms in self.words.items():
            if name == language:
                return terms, self.tensors[LEXICON][start : start + len(terms)]
            start += len(terms)
        return (), np.zeros((0, len(LEANINGS)))

    def leanings_of(self, terms: Terms | None, n: int) -> Floats:
        """What the terms of each of n items say of its position, in deviations: shape (n, 4)."""
        wanted, weights = self.lexicon_of("" if terms is None else terms.language)
        if terms is None or not wanted:
            return np.zeros((n, len(LEANINGS)))
        plain = np.zeros(len(wanted), dtype=bool)
        return standing(standing(terms.rates(wanted), plain) @ weights, np.zeros(len(LEANINGS), dtype=bool))

    def standing_of(self, collection: Collection, evidence: Evidence) -> Floats:
        """How far each item stands out, in deviations: shape (n, f + 4), 0 where something is not known."""
        n = len(collection)
        there = [name for name in self.feature_names if name in collection.feature_names]
        features = np.full((n, len(self.feature_names)), np.nan)
        if there:
            features[:, [self.feature_names.index(name) for name in there]] = collection.columns(there)
        measured = standing(features, np.isin(self.feature_names, self.logged))
        return np.concatenate([measured, self.leanings_of(evidence.terms, n)], axis=1)

    def positions_of(self, collection: Collection, evidence: Evidence, count: int) -> Floats:
        """How much each item likes each of ``count`` positions: shape (n, count).

        Parameters
        ----------
        collection
            n items; features it does not have say nothing.
        evidence
            Of the same items.
        count
            How many positions there are.
        """
        arcs = self.standing_of(collection, evidence) @ self.tensors["arcs"]  # (n, 12)
        return np.asarray(arcs @ position_basis(count).astype(np.float64))

    def reach_of(self, evidence: Evidence, n: int) -> Floats:
        """What each function of the distance is multiplied with, for each two of n items: shape (7, n, n)."""
        total = np.zeros((KERNELS, n, n))
        for name, weights in zip(self.pair_names, self.tensors["reach"], strict=True):
            if name in evidence.pairs:
                total += weights[:, np.newaxis, np.newaxis] * evidence.pairs[name]
        return total

    def weighed(self, evidence: Evidence, n: int, kernel: Floats) -> Floats:
        """What each two of n items add where the functions of the distance have these values, (7,): shape (n, n)."""
        total: Floats | None = None
        for name, weight in zip(self.pair_names, self.tensors["reach"] @ kernel, strict=True):
            if name in evidence.pairs and weight:
                part = evidence.pairs[name]
                total = np.zeros((n, n), dtype=part.dtype) if total is None else total
                for row, own in zip(total, part, strict=True):  # row by row: tables of very many items are large
                    row += float(weight) * own
        return np.zeros((n, n)) if total is None else np.asarray(total)

    def scores_of(self, collection: Collection, evidence: Evidence) -> Scores:
        """What every ordering of a collection scores; it takes memory for n^3 numbers."""
        n = len(collection)
        return Scores(self.positions_of(collection, evidence, n), apart_of(self.reach_of(evidence, n)))


def apart_of(reach: Floats) -> Floats:
    """What each item adds standing d positions before each other, from tables by function (7, n, n): (n, n, n)."""
    return np.asarray(np.tensordot(distance_basis(reach.shape[1]).T, reach, axes=1))
