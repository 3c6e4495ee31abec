"""Checks of what a model's configuration says; each error names the part, the key and what came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.errors import ModelError


def as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A part of the configuration, which must be names with values."""
    if not isinstance(value, Mapping):
        raise ModelError(f'the configuration\'s "{what}" must say what it is by name; got {value!r}')
    return value


def as_whole(config: Mapping[str, Any], key: str, what: str) -> int:
    """A whole number from 1."""
    value = config.get(key)
    if type(value) is not int or not 1 <= value <= 1_000_000:
        raise ModelError(f'{what}\'s "{key}" must be a whole number from 1; got {value!r}')
    return value


def as_flag(config: Mapping[str, Any], key: str, what: str) -> bool:
    """True or false; false where it is not said."""
    value = config.get(key, False)
    if not isinstance(value, bool):
        raise ModelError(f'{what}\'s "{key}" must be true or false; got {value!r}')
    return value


def check_choice(config: Mapping[str, Any], key: str, choices: tuple[str, ...], what: str) -> None:
    """One of a few words."""
    if config.get(key) not in choices:
        raise ModelError(f'{what}\'s "{key}" must be one of {", ".join(choices)}; got {config.get(key)!r}')
