"""Estimators in the manner of scikit-learn: template learning and essence, for pipelines and searches.

Needs the extra ``sklearn``; the essence also ``train``, to be fitted.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.arrays import Floats, Ints, normalise
from fabula.core.collection import Collection, Item
from fabula.core.template import PAPER_KNOTS, TemplateSet
from fabula.errors import InputError, import_extra
from fabula.evaluation.information import mutual_information
from fabula.models.model import Model
from fabula.research.train import TOO_LITTLE, preset, train
from fabula.templates.learn import learn_templates

import_extra("sklearn", extra="sklearn", purpose="an estimator")

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

__all__ = ["EssenceEncoder", "TemplateLearner"]

_ALIKE = 1e-9  # spread, by the size, below which a column is constant


class TemplateLearner(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """The templates that ordered collections follow, learned as clusters are.

    A row of ``X`` is a collection: its essence at even positions, in the true order. Collections of different
    lengths are given as a list of arrays of one dimension.

    Parameters
    ----------
    n_templates
        How many; where there are fewer collections, as many as there are.
    method
        ``"refined"``, ``"evolution"`` or ``"contrastive"``, as of :func:`fabula.learn_templates`.
    normalised
        Whether each collection is z-scored first.
    knots
        Where a template is given, from 0 to 1.
    random_state
        A whole number, for the same templates again.

    Attributes
    ----------
    templates_
        The :class:`fabula.TemplateSet`.
    labels_
        Shape (collections,): the template nearest to each.
    inertia_
        Mean over the collections of the squared error under it.
    n_features_in_
        Items of a collection; not there where they differ.

    >>> X = [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 3.1], [3, 2, 1, 0], [4, 2, 1, 0]]
    >>> learner = TemplateLearner(n_templates=2).fit(X)
    >>> learner.labels_.tolist(), round(learner.inertia_, 3)
    ([0, 0, 0, 1, 1], 0.008)
    >>> learner.transform([[0, 1, 2, 3]]).shape
    (1, 2)
    """

    def __init__(
        self,
        n_templates: int = 4,
        *,
        method: str = "refined",
        normalised: bool = True,
        knots: Sequence[float] = PAPER_KNOTS,
        random_state: int = 0,
    ) -> None:
        self.n_templates = n_templates
        self.method = method
        self.normalised = normalised
        self.knots = knots
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, positions: Sequence[ArrayLike] | None = None) -> "TemplateLearner":
        """Learn the templates of X, (collections, items) or a list of arrays (items,).

        Positions are one array per collection, from 0 to 1; by default even.
        """
        essences = self._essences(X, reset=True)
        if not isinstance(self.n_templates, int | np.integer) or self.n_templates < 1:
            raise InputError(f"n_templates must be a whole number of at least 1; got {self.n_templates!r}")
        count = min(int(self.n_templates), len(essences))
        seed = 0 if self.random_state is None else int(self.random_state)
        self.templates_ = learn_templates(
            essences, count, positions, method=self.method, seed=seed, knots=list(self.knots)
        )
        self._n_features_out = len(self.templates_)
        errors = self.templates_.errors(essences, positions)
        self.labels_: Ints = errors.argmin(axis=1)
        self.inertia_ = float(errors.min(axis=1).mean())
        return self

    def transform(self, X: Any, *, positions: Sequence[ArrayLike] | None = None) -> Floats:
        """Mean squared error of each collection under each template, (collections, templates)."""
        check_is_fitted(self)
        found: TemplateSet = self.templates_
        return found.errors(self._essences(X, reset=False), positions)

    def predict(self, X: Any, *, positions: Sequence[ArrayLike] | None = None) -> Ints:
        """The template nearest to each collection, (collections,)."""
        return np.asarray(self.transform(X, positions=positions).argmin(axis=1))

    def score(self, X: Any, y: Any = None, *, positions: Sequence[ArrayLike] | None = None) -> float:
        """Minus the mean squared error under the nearest template: higher is better."""
        return -float(self.transform(X, positions=positions).min(axis=1).mean())

    def _essences(self, X: Any, *, reset: bool) -> list[Floats]:
        given = X if isinstance(X, list | tuple) else ()
        sizes = {np.shape(row)[0] if np.ndim(row) == 1 else -1 for row in given if not np.isscalar(row)}
        if len(sizes) > 1 and -1 not in sizes:  # arrays of different lengths
            rows = [np.asarray(row, dtype=np.float64) for row in X]
        else:
            checked = validate_data(self, X, reset=reset, dtype=np.float64, ensure_min_features=2 if reset else 1)
            rows = list(checked)
        return [normalise(row) for row in rows] if self.normalised else rows


class EssenceEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The narrative essence of items, learned from collections in their true order. Fitting needs PyTorch.

    A row of ``X`` is an item, rows of one collection stand in its true order, and ``groups`` says which collection a
    row belongs to. Where scikit-learn hands on no groups, as in ``cross_val_score``, they are given as ``y`` too:
    ``cross_val_score(EssenceEncoder(), X, groups, groups=groups, cv=GroupKFold(3))``.

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
    stretch
        How many rows that follow each other are a collection, where there are no groups: the rows of one long
        sequence. By default they must be given.

    Attributes
    ----------
    model_
        The :class:`fabula.Model`; it needs no PyTorch.
    information_
        Bits on the groups that were held out, by scorer; None where there were too few to hold any out.
    n_features_in_
        Columns of ``X``.

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
        stretch: int | None = None,
    ) -> None:
        self.preset = preset
        self.n_components = n_components
        self.settings = settings
        self.random_state = random_state
        self.stretch = stretch

    def fit(self, X: Any, y: Any = None, *, groups: ArrayLike | None = None) -> "EssenceEncoder":
        """Train on ordered rows X, (items, features), NaN where a value is missing.

        Groups (items,), or y, are the collection of each row; an error without them, unless ``stretch`` says it.
        """
        values = self._rows(X, reset=True)
        spread = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
        self.used_ = np.flatnonzero(spread > _ALIKE * np.maximum(1.0, np.nanmax(np.abs(values), axis=0)))
        if not len(self.used_):
            raise InputError("every feature has the same value in all rows: there is nothing to learn from")
        collections = self._collections(values, y if groups is None else groups)
        config = preset(self.preset, dimensions=int(self.n_components), seed=int(self.random_state or 0),
                        **{"logged": [], **(self.settings or {})}, features=self._names())  # fmt: skip
        held = max(1, len(collections) // 10) if len(collections) > 1 else 0
        parts = (collections[: len(collections) - held], collections[len(collections) - held :])
        done = train(parts if held else (collections, collections), config, device="cpu")
        self.model_: Model = done.model
        self._n_features_out = done.model.dimensions
        self.information_ = done.information if held else None
        if done.trained.best_epoch == 0:
            warnings.warn(TOO_LITTLE.format(len(parts[0])), ConvergenceWarning, stacklevel=2)
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
        for rows in _rows_by_group(groups, len(values)):
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
        return mutual_information(self.model_, self._collections(values, y if groups is None else groups)).bits

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
        stretches = groups if self.stretch is None else np.arange(len(values)) // int(self.stretch)
        if stretches is None:
            raise InputError(
                "which rows are a collection? give groups to fit and score; cross_val_score hands them on as y alone: "
                "cross_val_score(encoder, X, groups, groups=groups, cv=GroupKFold(3)); stretch=8 takes every 8 rows"
            )
        found = [
            Collection(str(number), [Item(str(row)) for row in rows], values[rows][:, self.used_], self._names())
            for number, rows in enumerate(_rows_by_group(stretches, len(values)))
            if len(rows) > 1
        ]
        if not found:
            raise InputError("an order needs a collection of two rows or more; every group has one row")
        return found


def _rows_by_group(groups: ArrayLike, count: int) -> list[NDArray[np.intp]]:
    """The rows of each group, in the order in which groups first appear."""
    labels = np.asarray(groups)
    if labels.shape != (count,):
        raise InputError(f"groups must say the collection of each of the {count} rows; got shape {labels.shape}")
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return [np.flatnonzero(inverse == group) for group in np.argsort(first)]
