"""Arranging: one problem and one solver, for orderings under wishes, on sides, within limits and with flow."""

from fabula.core.solver.constraints import Constraints
from fabula.core.solver.problem import Arrangement, Goal
from fabula.core.solver.solve import arrange

__all__ = ["Arrangement", "Constraints", "Goal", "arrange"]
