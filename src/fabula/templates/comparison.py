"""Comparing two sets of templates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.essence import Floats
from fabula.core.template import Template
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError

_POINTS = 101  # where templates are compared


@dataclass(frozen=True, eq=False)
class TemplateComparison:
    """How two sets of templates agree.

    Attributes
    ----------
    pairs
        (i, j): template i of the first set belongs to template j of the second. Of all ways to pair them, the one
        with the smallest sum of squared distances; the larger set has templates left over.
    distances
        Shape (pairs,): root mean squared distance of the two templates.
    correlations
        Shape (pairs,): correlation of the two templates; 0 where one is flat.
    table
        Shape (first, second): distance of every template of the first set from every one of the second.
    unmatched_first, unmatched_second
        Templates left over.
    """

    pairs: list[tuple[int, int]]
    distances: Floats
    correlations: Floats
    table: Floats
    unmatched_first: list[int]
    unmatched_second: list[int]

    @property
    def distance(self) -> float:
        """Root mean squared distance over the pairs."""
        return float(np.sqrt((self.distances**2).mean()))


def compare_templates(first: TemplateSet, second: TemplateSet, *, normalised: bool = False) -> TemplateComparison:
    """Pair the templates of two sets and say how far they lie apart.

    Parameters
    ----------
    first, second
        Sets with templates of one dimension; knots and sizes may differ.
    normalised
        Bring every template to mean 0 and deviation 1 first, so that their scale does not count.

    Examples
    --------
    >>> rise, fall = Template([0, 1], [-1, 1]), Template([0, 1], [1, -1])
    >>> found = compare_templates(TemplateSet([rise, fall]), TemplateSet([fall, rise]))
    >>> found.pairs, found.distance
    ([(0, 1), (1, 0)], 0.0)
    """
    from scipy.optimize import linear_sum_assignment

    left, right = (_sampled(ts, normalised=normalised) for ts in (first, second))
    table = np.sqrt(((left[:, np.newaxis] - right[np.newaxis]) ** 2).mean(axis=-1))
    rows, columns = linear_sum_assignment(table**2)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    return TemplateComparison(
        pairs,
        table[rows, columns],
        np.array([_correlation(left[i], right[j]) for i, j in pairs]),
        table,
        sorted(set(range(len(first))) - set(rows.tolist())),
        sorted(set(range(len(second))) - set(columns.tolist())),
    )


def _sampled(templates: TemplateSet, *, normalised: bool) -> Floats:
    """The templates at evenly spaced positions, shape (k, points)."""
    return np.stack([_samples(t.normalised() if normalised else t) for t in templates])


def _samples(template: Template) -> Floats:
    if template.values.ndim != 1:
        raise InputError(f"only templates of one dimension are compared; got {template.dimensions} dimensions")
    return template.samples(_POINTS)


def _correlation(a: Floats, b: Floats) -> float:
    if min(a.std(), b.std()) < 1e-12:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
