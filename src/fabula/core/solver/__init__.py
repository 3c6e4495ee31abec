"""The solver: one problem (position costs, flow, constraints), one way in, an arrangement with a true gap out."""

from fabula.core.solver.constraints import Constraints
from fabula.core.solver.problem import Arrangement, Goal
from fabula.core.solver.solve import arrange

__all__ = ["Arrangement", "Constraints", "Goal", "arrange"]
