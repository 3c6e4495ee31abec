"""Which of how many processes this is; torchrun says so in the environment, and PyTorch need not be asked."""

from __future__ import annotations

import os


def processes() -> int:
    """How many processes torchrun started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this process is the one that decides, writes and prints."""
    return int(os.environ.get("RANK", "0")) == 0
