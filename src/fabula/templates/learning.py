"""Learning templates: one door to the three methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.naming import named
from fabula.core.template import PAPER_KNOTS
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError
from fabula.templates.contrastive import ContrastSettings, learn_arcs
from fabula.templates.costs import as_count, quadratic_costs
from fabula.templates.evolution import EvolutionSettings, evolve
from fabula.templates.refinement import Progress, RefinementSettings, refine

METHODS: dict[str, tuple[str, ...]] = {  # and the options of each
    "refined": (*(field.name for field in fields(RefinementSettings)), "initial"),
    "evolution": tuple(field.name for field in fields(EvolutionSettings)),
    "contrastive": tuple(field.name for field in fields(ContrastSettings) if field.name != "knots"),
}


def learn_templates(
    essences: Sequence[ArrayLike],
    k: int = 4,
    positions: Sequence[ArrayLike] | None = None,
    method: str = "refined",
    seed: int = 0,
    *,
    knots: ArrayLike = PAPER_KNOTS,
    progress: Progress | None = None,
    **options: Any,
) -> TemplateSet:
    """Learn the k templates that ordered collections follow.

    Parameters
    ----------
    essences
        One array of shape (n,) per collection, in its true order, taken as it is: z-score each with
        :func:`fabula.normalise` where collections differ in scale.
    k
        How many templates, 1 to the number of collections.
    positions
        One array of shape (n,) per collection, in [0, 1]; by default j / (n - 1).
    method
        ``"refined"``: the smallest squared error, by Lloyd's algorithm from many starts. ``"evolution"``: the same
        aim by the paper's Algorithm 1. ``"contrastive"``: the templates that best tell true orders from shuffled
        ones; they are returned on the scale of a z-scored essence, and those that explain the order are these.
    seed
        Same seed, same templates.
    knots
        Shape (q,), rising from 0 to 1; by default the paper's.
    progress
        Called as ``progress(done, total, cost)``.
    options
        Of the method: ``starts``, ``steps``, ``initial`` (refined); the fields of ``EvolutionSettings``
        (evolution); ``negatives``, ``starts``, ``steps``, ``ridge`` (contrastive).

    Returns
    -------
    TemplateSet
        Named by what the templates look like; those that most collections follow come first, and for
        ``"contrastive"`` those with the largest weight.

    Examples
    --------
    >>> essences = [[0, 1, 2], [0, 1, 2.1], [2, 1, 0]]
    >>> [t.name for t in learn_templates(essences, k=2, knots=[0, 0.5, 1])]
    ['rise', 'fall']
    """
    _check_options(method, options)
    as_count(k, len(essences))
    rng = np.random.default_rng(seed)
    if method == "contrastive":
        how = ContrastSettings(knots, **options)
        arcs = learn_arcs(essences, k, rng=rng, positions=positions, settings=how, progress=progress)
        heavy = np.argsort(-arcs.weights, kind="stable").tolist()
        return TemplateSet(named(knots, [arcs.templates[i].normalised().values for i in heavy]))
    costs = quadratic_costs(essences, positions, knots=knots)
    if method == "evolution":
        values = evolve(costs, k, rng=rng, settings=EvolutionSettings(**options), progress=progress).values
    else:
        initial = options.pop("initial", None)
        settings = RefinementSettings(**options)
        values = refine(costs, k, rng=rng, settings=settings, initial=initial, progress=progress).values
    followers = np.bincount(costs.nearest(values[np.newaxis])[0][0], minlength=k)
    return TemplateSet(named(knots, values[np.argsort(-followers, kind="stable")]))


def _check_options(method: str, options: dict[str, Any]) -> None:
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    unknown = sorted(set(options) - set(METHODS[method]))
    if unknown:
        raise InputError(f"method {method!r} takes the options {', '.join(METHODS[method])}; got {', '.join(unknown)}")
