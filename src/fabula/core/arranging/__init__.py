"""Arranging: one problem and one solver, for orderings under wishes, on sides, within limits and with flow."""

from fabula.core.arranging.arrangement import Arrangement
from fabula.core.arranging.constraints import Constraints
from fabula.core.arranging.goal import Goal
from fabula.core.arranging.search import arrange

__all__ = ["Arrangement", "Constraints", "Goal", "arrange"]
