"""The essence as a transformer: an encoder trained on ordered rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fabula.core.collection import Collection, Item
from fabula.core.essence import Floats
from fabula.core.ordering import Ints
from fabula.errors import InputError
from fabula.evaluation.information import mutual_information
from fabula.models.model import Model
from fabula.studies.research import preset, train

STRETCH = 8  # rows that are taken for one collection where nobody says which are
_ALIKE = 1e-9  # spread, by the size, below which a column is constant


class EssenceEncoder(TransformerMixin, BaseEstimator):
    """The narrative essence of items, learned from collections in their true order. Fitting needs PyTorch.

    A row of ``X`` is an item, rows of one collection stand in its true order, and ``groups`` says which collection a
    row belongs to.

    Parameters
    ----------
    preset
        ``"arcs"``, ``"default"`` or ``"paper"``.
    n_components
        Dimensions of the essence.
    settings
        More settings of :func:`fabula.training.preset`, by name.
    random_state
        A whole number, for the same result again.

    Attributes
    ----------
    model_
        The :class:`fabula.Model`; it needs no PyTorch.
    information_
        Bits on the groups that were held out, by scorer; None where there were too few to hold any out.
    n_features_in_
        Columns of ``X``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.normal(size=(80, 5, 2)) + np.linspace(0, 3, 5)[:, np.newaxis]).reshape(400, 2)  # 80 that rise
    >>> groups = np.repeat(np.arange(80), 5)
    >>> encoder = EssenceEncoder(settings={"epochs": 20, "learning_rate": 0.03}).fit(X[:200], groups=groups[:200])
    >>> encoder.transform(X[:200], groups=groups[:200]).shape, encoder.score(X[200:], groups=groups[200:]) > 0.5
    ((200, 1), True)
    """

    def __init__(
        self,
        preset: str = "arcs",
        *,
        n_components: int = 1,
        settings: dict[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.preset = preset
        self.n_components = n_components
        self.settings = settings
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: ArrayLike | None = None) -> EssenceEncoder:
        """Train on ordered rows.

        Parameters
        ----------
        X
            Shape (items, features); NaN where a value is missing.
        y
            Not used.
        groups
            Shape (items,): the collection of each row. Without it the rows are one long sequence, and every 8 that
            follow each other are a collection.
        """
        values = self._rows(X, reset=True)
        spread = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
        self.used_ = np.flatnonzero(spread > _ALIKE * np.maximum(1.0, np.nanmax(np.abs(values), axis=0)))
        if not len(self.used_):
            raise InputError("every feature has the same value in all rows: there is nothing to learn from")
        collections = self._collections(values, groups)
        config = preset(self.preset, dimensions=int(self.n_components), seed=int(self.random_state or 0),
                        **{"logged": [], **(self.settings or {})}, features=self._names())  # fmt: skip
        held = max(1, len(collections) // 10) if len(collections) > 1 else 0
        parts = (collections[: len(collections) - held], collections[len(collections) - held :])
        done = train(parts if held else (collections, collections), config, device="cpu")
        self.model_: Model = done.model
        self.information_ = done.information if held else None
        raw = self._raw(values)
        self.centre_, self.scale_ = raw.mean(axis=0), np.where(raw.std(axis=0) > 0, raw.std(axis=0), 1.0)
        return self

    def transform(self, X: Any, *, groups: ArrayLike | None = None) -> Floats:
        """The essence of each row, (items, n_components).

        With ``groups`` it is z-scored within each collection, as templates and scorers take it; without, each row
        stands by itself on the scale of the rows it was fitted on.
        """
        check_is_fitted(self)
        values = self._rows(X, reset=False)
        if groups is None:
            return np.asarray((self._raw(values) - self.centre_) / self.scale_)
        found = np.empty((len(values), self.model_.dimensions))
        for rows in _grouped(groups, len(values)):
            found[rows] = self.model_.encode(values[rows][:, self.used_])
        return found

    def order(self, X: Any) -> Ints:
        """The likeliest ordering of the rows as one collection: ``ordering[position] = row``."""
        check_is_fitted(self)
        values = self._rows(X, reset=False)
        return self.model_.order(values[:, self.used_], alternatives=1)[0].ordering

    def score(self, X: Any, y: Any = None, *, groups: ArrayLike | None = None) -> float:
        """Bits of information about the order of the collections; give rows it was not fitted on."""
        check_is_fitted(self)
        values = self._rows(X, reset=False)
        return mutual_information(self.model_, self._collections(values, groups)).bits

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """What the columns of :meth:`transform` are called."""
        check_is_fitted(self)
        return np.array([f"essenceencoder{i}" for i in range(self.model_.dimensions)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _rows(self, X: Any, *, reset: bool) -> Floats:
        checked: Floats = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1
        )
        return checked

    def _names(self) -> list[str]:
        return [f"x{column}" for column in self.used_]

    def _raw(self, values: Floats) -> Floats:
        """The essence of each row by itself, before any z-score."""
        return self.model_.encode_many(values[:, self.used_], [0, len(values)], raw=True)

    def _collections(self, values: Floats, groups: ArrayLike | None) -> list[Collection]:
        stretches = np.arange(len(values)) // STRETCH if groups is None else groups
        found = [
            Collection(str(number), [Item(str(row)) for row in rows], values[rows][:, self.used_], self._names())
            for number, rows in enumerate(_grouped(stretches, len(values)))
            if len(rows) > 1
        ]
        if not found:
            raise InputError("an order needs a collection of two rows or more; every group has one row")
        return found


def _grouped(groups: ArrayLike, count: int) -> list[NDArray[np.intp]]:
    """The rows of each group, in the order in which groups first appear."""
    labels = np.asarray(groups)
    if labels.shape != (count,):
        raise InputError(f"groups must say the collection of each of the {count} rows; got shape {labels.shape}")
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return [np.flatnonzero(inverse == group) for group in np.argsort(first)]
