"""Whether time grows with what is read: of the processor, at two sizes far enough apart that no load hides a square."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

# Eight times as much may take 40 times as long, as where it no longer fits into a cache; with its square it takes 64.
TIMES, MOST = 8, 40
LEAST, TRIES = 0.1, 8  # seconds of the larger one that can be measured; tries, of which the quickest counts


def seconds(run: Callable[..., object], *given: object) -> float:
    """The time of the processor that a function takes."""
    gc.disable()  # it comes when it likes, and looks at what others have left
    try:
        start = time.process_time()
        run(*given)
        return time.process_time() - start
    finally:
        gc.enable()


def check_growth(make: Callable[[int], Callable[[], object]], size: int, largest: int) -> None:
    """Compare what is made of a size with what is made of eight times that, at the first sizes that take long enough.

    Beside other work one try may be slow, or all at one size, as where a cache is full; what grows too fast is so in
    all tries at every size.
    """
    found = []
    while TIMES * size <= largest:
        runs, times = (make(size), make(TIMES * size)), [math.inf, math.inf]
        for _ in range(TRIES):
            times = [min(best, seconds(run)) for best, run in zip(times, runs, strict=True)]
            if times[1] < max(MOST * times[0], LEAST):
                break
        if LEAST <= times[1] < MOST * times[0]:
            return
        found.append(times)
        size *= 2
    assert times[1] < LEAST, found  # below, it cannot be measured at any size
