"""Timing two things in one run, so that their ratio means something on a noisy machine."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_of(*actions: Callable[[], object], repeats: int = 5) -> list[float]:
    """Seconds of each action, the best of some rounds in which they take turns."""
    best = [float("inf")] * len(actions)
    for _ in range(repeats):
        for i, action in enumerate(actions):
            start = time.perf_counter()
            action()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def report(what: str, ratio: float, target: float, *, at_least: bool = False) -> None:
    """Print a ratio beside its target."""
    met = ratio >= target if at_least else ratio <= target
    sign = ">=" if at_least else "<="
    print(f"{what}: {ratio:,.3g} x (target {sign} {target:g}){'' if met else '  MISSED'}")
