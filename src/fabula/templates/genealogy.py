"""Genealogy: how templates descend from each other as their number grows, and who follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.core.template import Template
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError

_POINTS = 101  # where templates are compared


_CURVE_POINTS = 51  # of a template in the plain dictionary


@dataclass(frozen=True, eq=False)
class Generation:
    """One set of templates among its kin.

    Attributes
    ----------
    templates
        The set.
    lineage
        Shape (k,): a number that a template shares with its ancestor and its heir; colours follow it.
    label, error
        Shape (m,): the template of each collection, and its mean squared error under it.
    best, worst
        For each template the collections that follow it most and least closely, the extreme one first.
    """

    templates: TemplateSet
    lineage: list[int]
    label: Ints
    error: Floats
    best: list[list[int]]
    worst: list[list[int]]

    @property
    def sizes(self) -> list[int]:
        """How many collections follow each template."""
        return [int(size) for size in np.bincount(self.label, minlength=len(self.templates))]


@dataclass(frozen=True, eq=False)
class Genealogy:
    """Sets of templates of growing size over the same collections.

    Attributes
    ----------
    generations
        One per set.
    flows
        One array (k, k') between each set and the next: how many collections go from template to template.
    """

    generations: list[Generation]
    flows: list[Ints]

    @property
    def lineages(self) -> int:
        """How many lines of descent there are."""
        return 1 + max(number for generation in self.generations for number in generation.lineage)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: generations with their templates, and the flows between them."""
        return {
            "lineages": self.lineages,
            "generations": [_plain(generation) for generation in self.generations],
            "flows": [_links(table) for table in self.flows],
        }


def trace_genealogy(
    sets: Sequence[TemplateSet],
    essences: Sequence[ArrayLike],
    positions: Sequence[ArrayLike] | None = None,
    *,
    match: str = "flow",
    extremes: int = 3,
) -> Genealogy:
    """Assign collections to sets of growing size, and follow the templates from set to set.

    Parameters
    ----------
    sets
        By rising size, for instance learned with k = 1, 2, 3.
    essences, positions
        The collections, as ``TemplateSet.errors`` takes them.
    match
        What makes a template of the next set an heir: ``"flow"``, that they share collections, or ``"distance"``,
        that they are near each other.
    extremes
        How many best and worst fitting collections to name per template.

    Examples
    --------
    >>> from fabula.core.template import Template
    >>> rise, fall, flat = (Template([0, 1], y) for y in ([-1, 1], [1, -1], [0, 0]))
    >>> kin = trace_genealogy([TemplateSet([rise]), TemplateSet([fall, rise])], [[-1, 1], [1, -1], [-2, 2]])
    >>> [generation.lineage for generation in kin.generations]
    [[0], [1, 0]]
    >>> kin.flows[0]
    array([[1, 2]])
    """
    if not sets:
        raise InputError("a genealogy needs at least one set of templates; got none")
    if match not in ("flow", "distance"):
        raise InputError(f'match must be "flow" or "distance"; got {match!r}')
    if extremes < 1:
        raise InputError(f"extremes must be at least 1; got {extremes}")
    tables = [templates.errors(essences, positions) for templates in sets]  # (m, k) each
    labels = [table.argmin(axis=1) for table in tables]
    flows = [_flow(labels[i], labels[i + 1], len(sets[i]), len(sets[i + 1])) for i in range(len(sets) - 1)]
    lineages = [list(range(len(sets[0])))]
    for i, flow in enumerate(flows):
        pairs = _by_flow(flow) if match == "flow" else compare_templates(sets[i], sets[i + 1]).pairs
        lineages.append(_inherit(lineages, pairs, len(sets[i + 1])))
    generations = [
        _generation(templates, lineage, table, extremes)
        for templates, lineage, table in zip(sets, lineages, tables, strict=True)
    ]
    return Genealogy(generations, flows)


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

    left, right = (_sample_all(ts, normalised=normalised) for ts in (first, second))
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


def _sample_all(templates: TemplateSet, *, normalised: bool) -> Floats:
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


def _generation(templates: TemplateSet, lineage: list[int], table: Floats, extremes: int) -> Generation:
    label, error = table.argmin(axis=1), table.min(axis=1)
    best: list[list[int]] = []
    worst: list[list[int]] = []
    for number in range(len(templates)):
        members = np.flatnonzero(label == number)
        ranked = members[np.argsort(error[members], kind="stable")].tolist()
        best.append(ranked[:extremes])
        worst.append(ranked[::-1][:extremes])
    return Generation(templates, lineage, label, error, best, worst)


def _flow(before: Ints, after: Ints, rows: int, columns: int) -> Ints:
    return np.bincount(before * columns + after, minlength=rows * columns).reshape(rows, columns)


def _by_flow(flow: Ints) -> list[tuple[int, int]]:
    """Pairs (template, heir) that share the most collections in all."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(flow, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _inherit(lineages: list[list[int]], pairs: list[tuple[int, int]], size: int) -> list[int]:
    """Lineage of each template of the next set: its ancestor's, or a new one."""
    heirs = {heir: lineages[-1][ancestor] for ancestor, heir in pairs}
    fresh = 1 + max(number for lineage in lineages for number in lineage)
    found = []
    for number in range(size):
        if number not in heirs:
            heirs[number] = fresh
            fresh += 1
        found.append(heirs[number])
    return found


def _plain(generation: Generation) -> dict[str, Any]:
    rows = zip(
        generation.templates, generation.lineage, generation.sizes, generation.best, generation.worst, strict=True
    )
    return {
        "k": len(generation.templates),
        "cost": float(generation.error.mean()),
        "templates": [
            {
                "name": template.name,
                "lineage": lineage,
                "knots": template.knots.tolist(),
                "values": template.values.tolist(),
                "curve": template.samples(_CURVE_POINTS).tolist(),
                "collections": size,
                "best": best,
                "worst": worst,
            }
            for template, lineage, size, best, worst in rows
        ],
    }


def _links(flow: Ints) -> list[dict[str, int]]:
    """The links of a Sankey diagram: source and target template, and how many collections."""
    return [{"source": i, "target": j, "collections": int(flow[i, j])} for i, j in np.argwhere(flow > 0).tolist()]
