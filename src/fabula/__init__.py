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
    "core.arrays": "normalise",
    "core.collection": "Collection Item",
    "core.collections": "Collections",
    "core.fit": "fit",
    "core.template": "Template TemplateSet template template_names",
    "errors": "FabulaError",
    "evaluation.metrics": "evaluate",
    "models.model": "Model load_model",
    "research.recovery": "mutual_information",
    "research.train": "audit compare train",
    "session.open": "open order review",
    "sources.tables.read_table": "read_table",
    "templates.learn": "learn_templates",
}
# Names that were here in version 0.4 and go with the next one.
_MOVED = {
    "core.fit": "Fit",
    "evaluation.information": "information_of",
    "models.model": "save_model",
    "models.own": "Encoder Scorer register",
    "research.train": "EpochLog TensorBoardLog preset",
    "session.ordered": "Ordered",
    "session.request": "Request",
    "session.session": "Session",
}
_PACKAGES = ("media", "training")  # what extends fabula, and what trains it, has its names there

__all__ = [
    "Collection", "Collections", "FabulaError", "Item", "Model", "Template", "TemplateSet", "audit", "compare",
    "evaluate", "fit", "learn_templates", "load_model", "mutual_information", "normalise", "open", "order",
    "read_table", "review", "template", "template_names", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"fabula.{name}")
    home = _find_home(name, _HOMES)
    if home is not None:
        value = getattr(import_module(home), name)
        globals()[name] = value
        return value
    before = _find_home(name, _MOVED)
    if before is None:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    import warnings

    now = "fabula.training" if name in ("Encoder", "EpochLog", "Scorer", "TensorBoardLog", "preset") else before
    warnings.warn(f"fabula.{name} is now {now}.{name}", DeprecationWarning, stacklevel=2)
    return getattr(import_module(before), name)


def _find_home(name: str, homes: dict[str, str]) -> str | None:
    """The module that a name is in."""
    return next((f"fabula.{home}" for home, names in homes.items() if name in names.split()), None)


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES, "__version__"]
