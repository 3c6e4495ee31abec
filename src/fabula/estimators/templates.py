"""Template learning as a clusterer and transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fabula.core.essence import Floats, normalise
from fabula.core.ordering import Ints
from fabula.core.template import PAPER_KNOTS
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError
from fabula.templates.learning import learn_templates


class TemplateLearner(ClusterMixin, TransformerMixin, BaseEstimator):
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

    Examples
    --------
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

    def fit(self, X: Any, y: Any = None, *, positions: Sequence[ArrayLike] | None = None) -> TemplateLearner:
        """Learn the templates.

        Parameters
        ----------
        X
            Shape (collections, items), or a list of arrays of shape (items,).
        y
            Not used.
        positions
            One array per collection, from 0 to 1; by default even.
        """
        essences = self._essences(X, reset=True)
        if not isinstance(self.n_templates, int | np.integer) or self.n_templates < 1:
            raise InputError(f"n_templates must be a whole number of at least 1; got {self.n_templates!r}")
        count = min(int(self.n_templates), len(essences))
        seed = 0 if self.random_state is None else int(self.random_state)
        self.templates_ = learn_templates(
            essences, count, positions, method=self.method, seed=seed, knots=list(self.knots)
        )
        errors = self.templates_.errors(essences, positions)
        self.labels_: Ints = errors.argmin(axis=1)
        self.inertia_ = float(errors.min(axis=1).mean())
        return self

    def transform(self, X: Any, *, positions: Sequence[ArrayLike] | None = None) -> Floats:
        """Mean squared error of each collection under each template, (collections, templates)."""
        return self._errors(X, positions)

    def predict(self, X: Any, *, positions: Sequence[ArrayLike] | None = None) -> Ints:
        """The template nearest to each collection, (collections,)."""
        return np.asarray(self._errors(X, positions).argmin(axis=1))

    def score(self, X: Any, y: Any = None, *, positions: Sequence[ArrayLike] | None = None) -> float:
        """Minus the mean squared error under the nearest template: higher is better."""
        return -float(self._errors(X, positions).min(axis=1).mean())

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """What the columns of :meth:`transform` are called."""
        check_is_fitted(self)
        return np.array([f"templatelearner{i}" for i in range(len(self.templates_))], dtype=object)

    def _errors(self, X: Any, positions: Sequence[ArrayLike] | None) -> Floats:
        check_is_fitted(self)
        found: TemplateSet = self.templates_
        return found.errors(self._essences(X, reset=False), positions)

    def _essences(self, X: Any, *, reset: bool) -> list[Floats]:
        if _is_ragged(X):
            rows = [np.asarray(row, dtype=np.float64) for row in X]
        else:
            checked = validate_data(self, X, reset=reset, dtype=np.float64, ensure_min_features=2 if reset else 1)
            rows = list(checked)
        return [normalise(row) for row in rows] if self.normalised else rows


def _is_ragged(X: Any) -> bool:
    """Whether it is a list of arrays of different lengths."""
    if not isinstance(X, list | tuple) or not X:
        return False
    sizes = {np.shape(row)[0] if np.ndim(row) == 1 else -1 for row in X if not np.isscalar(row)}
    return len(sizes) > 1 and -1 not in sizes
