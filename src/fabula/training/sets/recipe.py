"""The settings of a training of a set model, with those that did best on artists set aside from training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from fabula.errors import InputError


@dataclass(frozen=True)
class SetRecipe:
    """How a set model is trained.

    Attributes
    ----------
    epochs, batch, negatives
        Passes over the collections, collections a step, and permutations each true order competes with.
    learning_rate, decay, vector_decay, averaging
        Of AdamW over one cycle; its weight decay, and that of the vectors of tokens and grams; and of the moving
        average of the weights that is kept.
    dropout, title_dropout, word_dropout
        Shares of hidden numbers, of numbers of the titles' vectors, and of words left out.
    feature_masking, few, untitled
        How likely each feature is hidden in a collection; all but the ``kept`` features; all its titles.
    kept
        Groups of features that stay where few do, one group drawn at a time.
    noise
        Deviation of what is added to the features.
    subsequences
        How often a batch is cut to a random part of each collection, in its order.
    taught
        Weight of the teachers' opinion in the loss where there are teachers.
    tokens, grams
        By how many artists a token or gram must be used to enter the vocabulary; 0 for none.
    seed
        Of everything random.
    """

    epochs: int = 24
    batch: int = 256
    negatives: int = 1024
    learning_rate: float = 1e-3
    decay: float = 0.05
    vector_decay: float = 0.05
    averaging: float = 0.998
    dropout: float = 0.2
    title_dropout: float = 0.5
    word_dropout: float = 0.3
    feature_masking: float = 0.3
    few: float = 0.25
    untitled: float = 0.25
    kept: tuple[tuple[str, ...], ...] = (("duration_ms", "loudness"), ("duration_ms", "loudness"), ("duration_ms",), ())
    noise: float = 0.1
    subsequences: float = 0.6
    taught: float = 0.7
    tokens: int = 25
    grams: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", tuple(tuple(group) for group in self.kept))
        for name in ("epochs", "batch", "negatives"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1; got {getattr(self, name)}")
        shares = ("dropout", "title_dropout", "word_dropout", "feature_masking", "few", "untitled", "subsequences")
        for name in (*shares, "averaging", "taught"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} must lie in 0 to 1; got {getattr(self, name)}")
        if self.learning_rate <= 0 or min(self.decay, self.vector_decay, self.noise) < 0:
            raise InputError("the learning rate must be above 0, decay and noise at least 0")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SetRecipe:
        """A recipe from plain values; an unknown name is an error."""
        known = {field.name for field in fields(cls)}
        unknown = [name for name in values if name not in known]
        if unknown:
            raise InputError(
                f"{unknown[0]!r} is no setting of a set model's training; those: {', '.join(sorted(known))}"
            )
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "kept": [list(group) for group in self.kept]}


def recipe_for(collections: int, features: Sequence[str], **changes: Any) -> SetRecipe:
    """The recipe for so many collections with such features: fewer must use a word that fewer could.

    Examples
    --------
    >>> recipe_for(600, ("weight",)).tokens, recipe_for(600, ("weight",), few=0.1).few
    (2, 0.1)
    """
    fitting: dict[str, Any] = {"tokens": min(25, max(2, collections // 1200))}
    if not any(set(group) & set(features) for group in SetRecipe().kept):
        fitting["few"] = 0.0  # there are none of those that would be kept
    if collections < 2000:
        fitting["batch"] = 32
    return SetRecipe.from_dict({**fitting, **changes})


def going_on(**changes: Any) -> SetRecipe:
    """The recipe for going on from a model with some dozens of collections: small steps, little hidden.

    Examples
    --------
    >>> going_on(epochs=4).learning_rate
    0.0002
    """
    gentle = {"epochs": 12, "batch": 16, "learning_rate": 2e-4, "averaging": 0.98, "decay": 0.0, "vector_decay": 0.0}
    return SetRecipe.from_dict({**gentle, **changes})
