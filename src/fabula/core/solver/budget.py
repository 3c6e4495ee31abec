"""Budgets: how much a search may do, counted in work and not by the clock.

Every loop that can be cut short says what a turn of it costs, in units, by a formula of the sizes involved. So the same
arguments give the same result on any machine and under any load. A unit is about what a microsecond of one core did
where the formulas were fitted; a user's seconds buy units at that rate, whatever the machine makes of them.
"""

from __future__ import annotations

UNITS_PER_SECOND = 1_000_000.0


class Budget:
    """Units that may be spent, with an end; parts of it spend from the same purse and end sooner.

    Examples
    --------
    >>> whole = Budget.of_seconds(2e-6)
    >>> half = whole.part(0.5)
    >>> half.spend(1.5)
    >>> half.over, whole.over, whole.left
    (True, False, 0.5)
    """

    def __init__(self, units: float, purse: list[float] | None = None) -> None:
        self._purse = [0.0] if purse is None else purse
        self._end = self._purse[0] + units

    @classmethod
    def of_seconds(cls, seconds: float) -> Budget:
        """What so many seconds buy."""
        return cls(seconds * UNITS_PER_SECOND)

    def spend(self, units: float) -> None:
        """Count some work as done."""
        self._purse[0] += units

    @property
    def left(self) -> float:
        """How many units are left; negative where more was spent."""
        return self._end - self._purse[0]

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0.0

    def part(self, share: float) -> Budget:
        """A budget of a share of what is left."""
        return Budget(share * max(self.left, 0.0), self._purse)

    def extend(self, units: float) -> Budget:
        """A budget that ends so many units later."""
        return Budget(self.left + units, self._purse)


UNLIMITED = Budget(float("inf"))
