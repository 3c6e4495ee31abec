"""``arcs``: where each item stands, by a mixture of templates or by one on fixed functions of the position.

``{"kind": "arcs", "k": 4, "knots": 7}``: a mixture of k templates over an essence that is z-scored, which scores whole
sequences.

=====================================  =====================================================
``arcs.values``, ``arcs.weights``      (k, knots, d), (k,)
``arcs.knots``                         float64, (knots,)
=====================================  =====================================================

``{"kind": "arcs", "on": "positions"}``: one template on the twelve functions of
:func:`fabula.core.energy.position_basis`; how much an item likes a position is the product of its essence and the
template there. ``arcs.template`` is (12, d).
"""

from dataclasses import dataclass

import numpy as np

from fabula.core.arcs import Arcs
from fabula.core.arrays import Floats
from fabula.core.energy import FUNCTIONS, MOST_WHOLE, Energy, position_basis
from fabula.core.template import TemplateSet, name_templates
from fabula.errors import InputError, ModelError
from fabula.models.config import Array, Encoded, ScorerKind, Settings, Shape, Tensors, as_whole

ON_POSITIONS = {"kind": "arcs", "on": "positions"}


@dataclass(frozen=True, eq=False)
class PositionArcs:
    """A template on functions of the position, (12, d)."""

    template: Array

    def energy(self, x: Encoded) -> Energy:
        """How much each item likes each position; nothing where the template is zero."""
        n = x.essence.shape[1]
        if not self.template.any():
            return Energy(shape=x.essence.shape[:2])

        def of_count(m: int, items: slice) -> Floats:
            essence, basis = x.essence[:, items], self.template.T @ position_basis(m)
            if n > MOST_WHOLE:
                return np.asarray(essence.astype(np.float32) @ basis.astype(np.float32))
            return np.asarray(essence @ basis, dtype=np.float64)

        return Energy(of_count(n, slice(n)) if n <= MOST_WHOLE else None, of_count=of_count, shape=x.essence.shape[:2])


def _shapes(settings: Settings, d: int) -> dict[str, Shape]:
    if settings.get("on") == "positions":
        return {"arcs.template": (FUNCTIONS, d)}
    k, knots = (as_whole(settings, key, "the arcs scorer") for key in ("k", "knots"))
    return {"arcs.values": (k, knots, d), "arcs.weights": (k,), "arcs.knots": (knots,)}


def _load(tensors: Tensors, settings: Settings) -> Arcs | PositionArcs:
    if settings.get("on") == "positions":
        return PositionArcs(tensors["arcs.template"])
    values, knots = tensors["arcs.values"], tensors["arcs.knots"]
    try:
        return Arcs(TemplateSet(name_templates(knots, values)), tensors["arcs.weights"])
    except InputError as error:
        raise ModelError(f"the arcs of the model break a rule: {error}") from error


ARCS = ScorerKind(_shapes, _load, exact=True, doubles=("arcs.knots",))
