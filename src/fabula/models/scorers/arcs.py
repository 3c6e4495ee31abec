"""``{"kind": "arcs", "k": 4, "knots": 7}``: a mixture of templates, where each item stands.

=====================================  =====================================================
``arcs.values``, ``arcs.weights``      (k, knots, d), (k,)
``arcs.knots``                         float64, (knots,)
=====================================  =====================================================
"""

from __future__ import annotations

from fabula.core.arcs import Arcs
from fabula.core.builtin import name_templates
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError, ModelError
from fabula.models.checks import as_whole
from fabula.models.layers import Shape, Tensors
from fabula.models.scorers.kind import ScorerKind, Settings


def _shapes(settings: Settings, d: int) -> dict[str, Shape]:
    k, knots = (as_whole(settings, key, "the arcs scorer") for key in ("k", "knots"))
    return {"arcs.values": (k, knots, d), "arcs.weights": (k,), "arcs.knots": (knots,)}


def _load(tensors: Tensors, settings: Settings) -> Arcs:
    values, knots = tensors["arcs.values"], tensors["arcs.knots"]
    try:
        return Arcs(TemplateSet(name_templates(knots, values)), tensors["arcs.weights"])
    except InputError as error:
        raise ModelError(f"the arcs of the model break a rule: {error}") from error


ARCS = ScorerKind(_shapes, _load, exact=True, doubles=("arcs.knots",))
