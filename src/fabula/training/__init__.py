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

_HOMES = {
    "Encoder": "fabula.models.own",
    "EpochLog": "fabula.research.train",
    "Scorer": "fabula.models.own",
    "TensorBoardLog": "fabula.research.train",
    "preset": "fabula.research.train",
    "register": "fabula.models.own",
}
__all__ = ["Encoder", "EpochLog", "Scorer", "TensorBoardLog", "preset", "register"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fabula.training' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
