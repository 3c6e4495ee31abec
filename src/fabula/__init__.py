"""fabula finds the order that tells a story in a collection of independent media.

Every public name below is loaded when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.core.builtin import template, template_names
    from fabula.core.collection import Collection, Item
    from fabula.core.essence import normalise
    from fabula.core.fit import Fit, fit
    from fabula.core.template import Template
    from fabula.core.template_set import TemplateSet
    from fabula.datasets.tables import read_table
    from fabula.errors import FabulaError

__version__ = "0.1.0"

_HOMES = {
    "Collection": "core.collection",
    "FabulaError": "errors",
    "Fit": "core.fit",
    "Item": "core.collection",
    "Template": "core.template",
    "TemplateSet": "core.template_set",
    "fit": "core.fit",
    "normalise": "core.essence",
    "read_table": "datasets.tables",
    "template": "core.builtin",
    "template_names": "core.builtin",
}

__all__ = [
    "Collection",
    "FabulaError",
    "Fit",
    "Item",
    "Template",
    "TemplateSet",
    "fit",
    "normalise",
    "read_table",
    "template",
    "template_names",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    value = getattr(import_module(f"fabula.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
