"""Training an essence by contrast: nets in PyTorch, batches of one length, loss, loop, and what comes out of it.

What a program uses besides :func:`fabula.train` is here by name, loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fabula.errors import import_extra

if TYPE_CHECKING:
    from fabula.models.own import Encoder, Scorer, register
    from fabula.research.train import EpochLog, TensorBoardLog, preset

import_extra("torch", extra="train", purpose="training")

_HOMES = {"models.own": "Encoder Scorer register", "research.train": "EpochLog TensorBoardLog preset"}
__all__ = ["Encoder", "EpochLog", "Scorer", "TensorBoardLog", "preset", "register"]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"fabula.{home}"), name)
    raise AttributeError(f"module 'fabula.training' has no attribute {name!r}")
