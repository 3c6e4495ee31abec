"""What can go wrong, as exceptions whose message is one line a user can act on.

FabulaError
├── InputError          a value or an argument breaks a rule (also a ValueError)
│   ├── ConstraintError the constraints on an ordering cannot all hold: too few places
│   └── ConflictError   the constraints on an ordering contradict each other, told one by one
├── FileError           a file cannot be read, is not what it says it is, or cannot be written
├── ModelError          a model file is broken, foreign, too new, or does not fit the data
└── MissingExtraError   an optional dependency is needed and absent (also an ImportError)

The command line prints the message of a FabulaError behind ``fabula: `` and exits with 2. A SeenWarning is given
where a model is measured on what it was trained on.
"""

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from types import ModuleType
from typing import Any


class FabulaError(Exception):
    """Base of every error this package raises on purpose."""


class SeenWarning(UserWarning):
    """Something is measured on collections that it was learned from."""


class InputError(FabulaError, ValueError):
    """A value or an argument breaks a rule: what, the rule, what came, what to do.

    ``field``, the name of the argument in Python and JSON, stands before the message; the command line puts its own
    name for it there.

    >>> str(InputError("must be at least 1; got 0", field="alternatives"))
    'alternatives: must be at least 1; got 0'
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        self.message, self.field = message, field
        super().__init__(f"{field}: {message}" if field else message)


@contextmanager
def naming(field: str) -> Iterator[None]:
    """Say of an InputError within which argument it is about."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, field=field) from error


class ConstraintError(InputError):
    """The constraints on an ordering cannot all hold: these items share too few places."""

    def __init__(self, items: list[int], places: list[int]) -> None:
        self.items = items
        self.places = places
        who = f"item {items[0]} may take" if len(items) == 1 else f"items {_list(items)} may take"
        where = f"only position(s) {_list(places)}" if places else "no position at all"
        super().__init__(f"the constraints cannot all hold: {who} {where}")


class ConflictError(InputError):
    """Constraints contradict each other, or a limit cannot be kept.

    ``pattern`` is the message with a ``{}`` for each item and ``{length0}``, ``{length1}``, ... for each length, in the
    unit of the constraints; ``options`` are the words of those that take part: fixed, forbidden, together, before,
    apart, ends, sides, side_limit, limit.

    >>> error = ConflictError("{} alone holds {length0}", [1], ["side_limit"], [90.0])
    >>> str(error), error.told(["a", "b"], lengths=lambda seconds: f"{seconds / 60} min")
    ('item 1 alone holds 90', 'b alone holds 1.5 min')
    """

    def __init__(
        self, pattern: str, items: Sequence[int], options: Sequence[str], lengths: Sequence[float] = ()
    ) -> None:
        self.pattern = pattern
        self.items = list(items)
        self.options = tuple(options)
        self.lengths = [float(length) for length in lengths]
        super().__init__(self._fill([f"item {item}" for item in self.items], _plain))

    def told(self, titles: Sequence[str], lengths: Callable[[float], str] | None = None) -> str:
        """The message with titles, one per item, in place of indices; ``lengths`` writes a length as people read it."""
        return self._fill([titles[item] for item in self.items], lengths or _plain)

    def _fill(self, items: Sequence[str], write: Callable[[float], str]) -> str:
        return self.pattern.format(*items, **{f"length{k}": write(length) for k, length in enumerate(self.lengths)})


class FileError(FabulaError):
    """A file cannot be read or written; the message names the file, and the row where there is one."""


class ModelError(FabulaError):
    """A model file is broken, foreign or too new, or does not fit the data it is asked about."""


class MissingExtraError(FabulaError, ImportError):
    """An optional dependency is needed; the message names the pip command that brings it."""


def import_extra(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional dependency such as ``"pyarrow.parquet"``, or say which extra of this package brings it.

    ``purpose``, what it is needed for, begins the sentence of the MissingExtraError, which names the pip command.

    >>> import_extra("json", extra="none", purpose="reading").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{purpose} needs {package}, which is not installed: pip install 'fabula[{extra}]'"
        ) from error


def check_kind(value: Any, kinds: type | tuple[type, ...], words: str, field: str) -> None:
    """Refuse an argument of another kind: what it must be, in words, and what came. True is no number.

    >>> check_kind("2", int, "a whole number", "sides")
    Traceback (most recent call last):
    fabula.errors.InputError: sides: must be a whole number; got '2'
    """
    among = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, among) or (isinstance(value, bool) and bool not in among):
        raise InputError(f"must be {words}; got {brief(value)}", field=field)


def check_count(value: Any, field: str, *, least: int = 1) -> None:
    """Refuse what is no whole number of at least so much."""
    check_kind(value, Integral, f"a whole number of at least {least}", field)
    if value < least:
        raise InputError(f"must be at least {least}; got {value}", field=field)


def brief(value: Any) -> str:
    """A value as Python writes it, in a few characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def clip_line(message: str) -> str:
    """A message as one line of text that can be written; of one that holds a name without end the middle is left out.

    >>> clip_line("a\\nb"), len(clip_line("x" * 200_000))
    ('a b', 2003)
    """
    text = " ".join(message.encode("utf-8", "backslashreplace").decode().split())
    return text if len(text) <= 2000 else f"{text[:1000]}...{text[-1000:]}"


def shown(path: str | os.PathLike[str]) -> str:
    """A path as it can stand in a one-line message: control and undecodable characters are escaped.

    >>> shown("a\\nb\\udcff.ogg")
    'a\\\\nb\\\\udcff.ogg'
    """
    text = os.fspath(path)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _list(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown} and {len(numbers) - 8} more" if len(numbers) > 8 else shown


def _plain(length: float) -> str:
    return f"{length:.10g}"
