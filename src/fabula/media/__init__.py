"""What can be measured of an item: specs, their extraction over many files, and the cache of what was measured.

All that a medium of another package needs is here by name, loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.core.collection import Collection, Item
    from fabula.core.files import join_stretch, open_file, split_stretch, whole_file, write_whole
    from fabula.errors import FileError, InputError, import_extra
    from fabula.media.children import run_program
    from fabula.media.conformance import check
    from fabula.media.facts import COUNT, SECONDS, Axis, Ends, Fact, Levelling, Preset, Telling  # isort: skip
    from fabula.media.facts import Unit, as_number, as_numbers  # isort: skip
    from fabula.media.medium import Choosing, Cover, Cutting, Facing, Layout, Medium, Preview, Spec  # isort: skip
    from fabula.media.medium import Step, Steps, Threads, Wave, Words, essence_steps  # isort: skip
    from fabula.media.registry import find_medium

_HOMES = {
    "core.collection": "Collection Item",
    "core.files": "join_stretch open_file split_stretch whole_file write_whole",
    "errors": "FileError InputError import_extra",
    "media.children": "run_program",
    "media.conformance": "check",
    "media.facts": "COUNT SECONDS Axis Ends Fact Levelling Preset Telling Unit as_number as_numbers",
    "media.medium": "Choosing Cover Cutting Facing Layout Medium Preview Spec Step Steps Threads Wave Words"
    " essence_steps",
    "media.registry": "find_medium",
}
__all__ = [
    "COUNT", "SECONDS", "Axis", "Choosing", "Collection", "Cover", "Cutting", "Ends", "Facing", "Fact", "FileError",
    "InputError", "Item", "Layout", "Levelling", "Medium", "Preset", "Preview", "Spec", "Step", "Steps",
    "Telling", "Threads", "Unit", "Wave", "Words", "as_number", "as_numbers", "check", "essence_steps", "find_medium",
    "import_extra", "join_stretch", "open_file", "run_program", "split_stretch", "whole_file", "write_whole",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"fabula.{home}"), name)
    raise AttributeError(f"module 'fabula.media' has no attribute {name!r}")
