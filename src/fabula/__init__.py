"""fabula finds the order that tells a story in a collection of independent media.

Every public name below is loaded when it is first used, so that importing the package costs next to nothing. What a
program that trains needs besides is in :mod:`fabula.training`, what a new medium needs in :mod:`fabula.media`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fabula.version import __version__ as __version__

if TYPE_CHECKING:
    from fabula.core.arrays import normalise
    from fabula.core.collection import Collection, Item
    from fabula.core.collections import Collections
    from fabula.core.fit import fit
    from fabula.core.template import Template, TemplateSet, template, template_names
    from fabula.errors import FabulaError
    from fabula.evaluation.metrics import evaluate
    from fabula.models.model import Model, load_model
    from fabula.research.recovery import mutual_information
    from fabula.research.train import audit, compare, train
    from fabula.session.open import open, order, review  # noqa: A004 - the verb of the design
    from fabula.sources.tables.read_table import read_table
    from fabula.templates.learn import learn_templates

_HOMES = {
    "Collection": "core.collection",
    "Collections": "core.collections",
    "FabulaError": "errors",
    "Item": "core.collection",
    "Model": "models.model",
    "Template": "core.template",
    "TemplateSet": "core.template",
    "audit": "research.train",
    "compare": "research.train",
    "evaluate": "evaluation.metrics",
    "fit": "core.fit",
    "learn_templates": "templates.learn",
    "load_model": "models.model",
    "mutual_information": "research.recovery",
    "normalise": "core.arrays",
    "open": "session.open",
    "order": "session.open",
    "read_table": "sources.tables.read_table",
    "review": "session.open",
    "template": "core.template",
    "template_names": "core.template",
    "train": "research.train",
}
# Names that were here in version 0.4 and go with the next one.
_MOVED = {
    "Encoder": "models.own",
    "EpochLog": "research.train",
    "Fit": "core.fit",
    "Ordered": "session.ordered",
    "Request": "session.request",
    "Scorer": "models.own",
    "Session": "session.session",
    "TensorBoardLog": "research.train",
    "information_of": "evaluation.information",
    "preset": "research.train",
    "register": "models.own",
    "save_model": "models.model",
}
_PACKAGES = ("media", "training")  # what extends fabula, and what trains it, has its names there

__all__ = [
    "Collection",
    "Collections",
    "FabulaError",
    "Item",
    "Model",
    "Template",
    "TemplateSet",
    "audit",
    "compare",
    "evaluate",
    "fit",
    "learn_templates",
    "load_model",
    "mutual_information",
    "normalise",
    "open",
    "order",
    "read_table",
    "review",
    "template",
    "template_names",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"fabula.{name}")
    if name in _MOVED:
        return _find_moved(name)
    if name not in _HOMES:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    value = getattr(import_module(f"fabula.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def _find_moved(name: str) -> Any:
    """A name that has left, with a warning that says where it is now."""
    import warnings

    home = "training" if name in ("Encoder", "EpochLog", "Scorer", "TensorBoardLog", "preset") else _MOVED[name]
    warnings.warn(f"fabula.{name} is now fabula.{home}.{name}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(f"fabula.{_MOVED[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES, "__version__"]
