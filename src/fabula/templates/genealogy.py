"""Genealogy: how templates descend from each other as their number grows, and who follows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints
from fabula.core.fit import assign_least
from fabula.core.template import TemplateSet
from fabula.errors import InputError

_POINTS = 101  # where templates are compared
_EXTREMES = 3  # collections that are named
_CURVE_POINTS = 51  # of a template in the plain dictionary


@dataclass(frozen=True, eq=False)
class Generation:
    """One set of k templates among its kin, over m collections."""

    templates: TemplateSet
    lineage: list[int]  # (k,): a number that a template shares with its ancestor and its heir; colours follow it
    label: Ints  # (m,): the template of each collection
    error: Floats  # (m,): its mean squared error under it
    best: list[list[int]]  # for each template the collections that follow it most closely, the extreme one first
    worst: list[list[int]]  # and least closely

    @property
    def sizes(self) -> list[int]:
        """How many collections follow each template."""
        return [int(size) for size in np.bincount(self.label, minlength=len(self.templates))]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        templates = [
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
            for template, lineage, size, best, worst in zip(
                self.templates, self.lineage, self.sizes, self.best, self.worst, strict=True
            )
        ]
        return {"k": len(self.templates), "cost": float(self.error.mean()), "templates": templates}


@dataclass(frozen=True, eq=False)
class Genealogy:
    """Sets of templates of growing size over the same collections."""

    generations: list[Generation]
    flows: list[Ints]  # (k, k') between each set and the next: how many collections go from template to template

    @property
    def lineages(self) -> int:
        """How many lines of descent there are."""
        return 1 + max(number for generation in self.generations for number in generation.lineage)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: generations with their templates, and the flows between them."""
        return {
            "lineages": self.lineages,
            "generations": [generation.to_dict() for generation in self.generations],
            "flows": [  # the links of a Sankey diagram
                [{"source": i, "target": j, "collections": int(flow[i, j])} for i, j in np.argwhere(flow > 0).tolist()]
                for flow in self.flows
            ],
        }


def trace_genealogy(
    sets: Sequence[TemplateSet], essences: Sequence[ArrayLike], positions: Sequence[ArrayLike] | None = None
) -> Genealogy:
    """Assign collections to sets of growing size, and follow the templates from set to set."""
    if not sets:
        raise InputError("a genealogy needs at least one set of templates; got none")
    tables = [templates.errors(essences, positions) for templates in sets]  # (m, k) each
    labels = [table.argmin(axis=1) for table in tables]
    flows: list[Ints] = []
    lineages = [list(range(len(sets[0])))]
    for before, after, few, many in zip(labels, labels[1:], map(len, sets), map(len, sets[1:]), strict=False):
        flow = np.bincount(before * many + after, minlength=few * many).reshape(few, many)
        ancestors, heirs = assign_least(-flow.astype(np.float64))  # those that share the most collections in all
        lineage = {heir: lineages[-1][one] for one, heir in zip(ancestors.tolist(), heirs.tolist(), strict=True)}
        fresh = count(1 + max(number for each in lineages for number in each))
        lineages.append([lineage[number] if number in lineage else next(fresh) for number in range(many)])
        flows.append(flow)
    generations = []
    for templates, own, label, table in zip(sets, lineages, labels, tables, strict=True):
        error = table.min(axis=1)
        members = [np.flatnonzero(label == number) for number in range(len(templates))]
        ranked = [some[np.argsort(error[some], kind="stable")].tolist() for some in members]
        best, worst = [some[:_EXTREMES] for some in ranked], [some[::-1][:_EXTREMES] for some in ranked]
        generations.append(Generation(templates, own, label, error, best, worst))
    return Genealogy(generations, flows)


@dataclass(frozen=True, eq=False)
class TemplateComparison:
    """How two sets of templates agree, paired with the smallest sum of squared distances."""

    pairs: list[tuple[int, int]]  # (i, j): template i of the first set belongs to template j of the second
    distances: Floats  # (pairs,): root mean squared distance of the two
    correlations: Floats  # (pairs,); 0 where one is flat
    unmatched_first: list[int]  # left over
    unmatched_second: list[int]


def compare_templates(first: TemplateSet, second: TemplateSet, *, normalised: bool = False) -> TemplateComparison:
    """Pair the templates, of one dimension, of two sets and say how far they lie apart."""
    wrong = next((t.dimensions for ts in (first, second) for t in ts if t.dimensions > 1), None)
    if wrong is not None:
        raise InputError(f"only templates of one dimension are compared; got {wrong} dimensions")
    left, right = (
        np.stack([(t.normalised() if normalised else t).samples(_POINTS) for t in ts]) for ts in (first, second)
    )
    table = np.sqrt(((left[:, np.newaxis] - right[np.newaxis]) ** 2).mean(axis=-1))
    rows, columns = assign_least(table**2)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    flat = [min(left[i].std(), right[j].std()) < 1e-12 for i, j in pairs]
    alike = [0.0 if no else float(np.corrcoef(left[i], right[j])[0, 1]) for (i, j), no in zip(pairs, flat, strict=True)]
    return TemplateComparison(
        pairs,
        table[rows, columns],
        np.array(alike),
        sorted(set(range(len(first))) - set(rows.tolist())),
        sorted(set(range(len(second))) - set(columns.tolist())),
    )
