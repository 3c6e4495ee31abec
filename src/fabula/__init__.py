"""fabula finds the order that tells a story in a collection of independent media.

Every public name below is loaded when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fabula.version import __version__ as __version__

if TYPE_CHECKING:
    from fabula.core.builtin import template, template_names
    from fabula.core.collection import Collection, Item
    from fabula.core.collections import Collections
    from fabula.core.essence import normalise
    from fabula.core.fit import Fit, fit
    from fabula.core.template import Template
    from fabula.core.template_set import TemplateSet
    from fabula.errors import FabulaError
    from fabula.evaluation.information import information_of, mutual_information
    from fabula.evaluation.metrics import evaluate
    from fabula.models.file import load_model, save_model
    from fabula.models.model import Model
    from fabula.models.own import Encoder, Scorer, register
    from fabula.session.ordered import Ordered
    from fabula.session.public import open, order  # noqa: A004 - the verb of the design
    from fabula.session.requests.request import Request
    from fabula.session.session import Session
    from fabula.sources.tables.reading import read_table
    from fabula.studies.logs import EpochLog, TensorBoardLog
    from fabula.studies.research import audit, compare, preset, train
    from fabula.templates.learning import learn_templates

_HOMES = {
    "Collection": "core.collection",
    "Collections": "core.collections",
    "Encoder": "models.own",
    "EpochLog": "studies.logs",
    "FabulaError": "errors",
    "Fit": "core.fit",
    "Item": "core.collection",
    "Model": "models.model",
    "Ordered": "session.ordered",
    "Request": "session.requests.request",
    "Scorer": "models.own",
    "Session": "session.session",
    "Template": "core.template",
    "TemplateSet": "core.template_set",
    "TensorBoardLog": "studies.logs",
    "audit": "studies.research",
    "compare": "studies.research",
    "evaluate": "evaluation.metrics",
    "fit": "core.fit",
    "information_of": "evaluation.information",
    "learn_templates": "templates.learning",
    "load_model": "models.file",
    "mutual_information": "evaluation.information",
    "normalise": "core.essence",
    "open": "session.public",
    "order": "session.public",
    "preset": "studies.research",
    "read_table": "sources.tables.reading",
    "register": "models.own",
    "save_model": "models.file",
    "template": "core.builtin",
    "template_names": "core.builtin",
    "train": "studies.research",
}

__all__ = [
    "Collection",
    "Collections",
    "Encoder",
    "EpochLog",
    "FabulaError",
    "Fit",
    "Item",
    "Model",
    "Ordered",
    "Request",
    "Scorer",
    "Session",
    "Template",
    "TemplateSet",
    "TensorBoardLog",
    "audit",
    "compare",
    "evaluate",
    "fit",
    "information_of",
    "learn_templates",
    "load_model",
    "mutual_information",
    "normalise",
    "open",
    "order",
    "preset",
    "read_table",
    "register",
    "save_model",
    "template",
    "template_names",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    value = getattr(import_module(f"fabula.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
