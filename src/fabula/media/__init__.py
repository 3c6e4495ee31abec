"""What can be measured of an item: specs, their extraction over many files, and the cache of what was measured.

What a new medium is made of is here by name, loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.media.facts import Unit
    from fabula.media.medium import Medium, Spec, Words
    from fabula.media.registry import find_medium

_HOMES = {
    "Medium": "fabula.media.medium",
    "Spec": "fabula.media.medium",
    "Unit": "fabula.media.facts",
    "Words": "fabula.media.medium",
    "find_medium": "fabula.media.registry",
}
__all__ = ["Medium", "Spec", "Unit", "Words", "find_medium"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fabula.media' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
