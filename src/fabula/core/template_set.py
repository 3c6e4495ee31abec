"""Sets of templates, and the file they are kept in.

A template file is JSON that a person can edit::

    {"format": "fabula-templates", "version": 1,
     "templates": [{"name": "arch", "description": "Up and down.", "knots": [0, 0.5, 1], "values": [0, 1, 0]}]}

One that was learned also has ``seen``: digests of what it was learned from (:mod:`fabula.core.fingerprints`).
A template that was drawn says so, ``"interpolation": "monotone"``; without it, the curve is the cubic spline.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_essence
from fabula.core.arrays import positions as even_positions
from fabula.core.display import caption_html, curve_svg, name_some
from fabula.core.files.atomic import write_whole
from fabula.core.fingerprints import Fingerprints
from fabula.core.template import CUBIC, Template, as_positions
from fabula.errors import FileError, InputError

FORMAT = "fabula-templates"
VERSION = 1


@dataclass(frozen=True, repr=False)
class TemplateSet:
    """Templates that together describe a set of collections.

    Parameters
    ----------
    templates
        One or more.
    seen
        The digests of the collections they were learned from; None where that was not recorded.

    Examples
    --------
    >>> rise, fall = Template([0, 1], [-1, 1]), Template([0, 1], [1, -1])
    >>> ts = TemplateSet([rise, fall])
    >>> ts.values
    array([[-1.,  1.],
           [ 1., -1.]])
    >>> ts.cost([[-1.0, 1.0], [1.0, 0.0]])
    0.25
    """

    templates: list[Template]
    seen: Fingerprints | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "templates", list(self.templates))
        if not self.templates:
            raise InputError("a template set needs at least one template")

    @property
    def values(self) -> Floats:
        """Shape (k, knots), or (k, knots, d); the templates must share their knots."""
        if any(not np.array_equal(t.knots, self.templates[0].knots) for t in self.templates):
            raise InputError("the templates of this set have different knots; ask each for its own values")
        return np.stack([t.values for t in self.templates])

    def errors(self, essences: Sequence[ArrayLike], positions: Sequence[ArrayLike] | None = None) -> Floats:
        """Mean squared error of every collection under every template, shape (collections, k).

        Parameters
        ----------
        essences
            One array of shape (n,) per collection, in its true order.
        positions
            One array of shape (n,) per collection, in [0, 1]; by default j / (n - 1).
        """
        values, u, lengths = join_essences(essences, positions)
        starts = np.cumsum(lengths) - lengths
        errors = [np.add.reduceat((values - t.at(u)) ** 2, starts) / lengths for t in self.templates]
        return np.stack(errors, axis=1)

    def cost(self, essences: Sequence[ArrayLike], positions: Sequence[ArrayLike] | None = None) -> float:
        """Mean over collections of the smallest mean squared error (the paper's Equation 3, divided by n).

        Takes what :meth:`errors` takes.
        """
        return float(self.errors(essences, positions).min(axis=1).mean())

    def save(self, path: str | Path) -> Path:
        """Write the set as JSON, whole or not at all."""
        lines = ",\n  ".join(json.dumps(_row(t), ensure_ascii=False) for t in self.templates)
        seen = "" if self.seen is None else f', "seen":\n {json.dumps(self.seen.to_dict(), ensure_ascii=False)}'
        text = f'{{"format": "{FORMAT}", "version": {VERSION}, "templates": [\n  {lines}\n]{seen}}}\n'
        return write_whole(path, text)

    @classmethod
    def load(cls, path: str | Path) -> TemplateSet:
        """Read a set that :meth:`save` or a person wrote.

        Raises
        ------
        FileError
            Naming the file and the template that breaks a rule.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise FileError(f"{path}: is not a template file (JSON expected: {error})") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise FileError(f'{path}: is not a template file (it must say "format": "{FORMAT}")')
        version = document.get("version")
        if version != VERSION:
            raise FileError(f"{path}: template file version {version!r}; this fabula reads version {VERSION}")
        rows = document.get("templates")
        if not isinstance(rows, list) or not rows:
            raise FileError(f'{path}: "templates" must be a list of at least one template')
        read = [_read_row(row, f"{path}: template {number}") for number, row in enumerate(rows, start=1)]
        try:
            return cls(read, Fingerprints.from_dict(document.get("seen")))
        except InputError as error:
            raise FileError(f"{path}: {error}") from error

    def __len__(self) -> int:
        return len(self.templates)

    def __repr__(self) -> str:
        return f"<TemplateSet of {len(self)}: {name_some([t.name or 'without a name' for t in self.templates], 8)}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<div style="display:inline-block;margin:4px 10px 4px 0">{escape(t.name or str(i + 1))}<br>'
            f"{curve_svg(t.samples(61), label=f'the template {t.name}', width=160, height=64, colour=i)}</div>"
            for i, t in enumerate(self.templates)
        )
        return f"{caption_html(f'{len(self)} templates')}{cells}"

    def __iter__(self) -> Iterator[Template]:
        return iter(self.templates)

    def __getitem__(self, number: int) -> Template:
        return self.templates[number]


def join_essences(
    essences: Sequence[ArrayLike], positions: Sequence[ArrayLike] | None = None
) -> tuple[Floats, Floats, Ints]:
    """Lay collections end to end: their values (m,), positions (m,) and lengths (collections,).

    Raises
    ------
    InputError
        Naming the collection whose essence or positions break a rule.
    """
    if not len(essences):
        raise InputError("at least one collection is needed; got none")
    if positions is not None and len(positions) != len(essences):
        raise InputError(f"one list of positions per collection: got {len(positions)} for {len(essences)} collections")
    values = [as_essence(essence, name=f"essence of collection {i}") for i, essence in enumerate(essences)]
    for i, value in enumerate(values):
        if value.ndim != 1:
            raise InputError(f"essence of collection {i} must be one number per item; got shape {value.shape}")
    if positions is None:
        where = [even_positions(len(value)) for value in values]
    else:
        where = [as_positions(each) for each in positions]
    for i, (value, at) in enumerate(zip(values, where, strict=True)):
        if value.shape != at.shape:
            raise InputError(f"collection {i} has {len(value)} values and {at.size} positions: they must agree")
    lengths = np.array([len(value) for value in values])
    return np.concatenate(values), np.concatenate(where), lengths


def _row(t: Template) -> dict[str, Any]:
    row = {"name": t.name, "description": t.description, "knots": t.knots.tolist(), "values": t.values.tolist()}
    return row if t.interpolation == CUBIC else {**row, "interpolation": t.interpolation}


def _read_row(row: Any, where: str) -> Template:
    if not isinstance(row, dict) or "knots" not in row or "values" not in row:
        raise FileError(f'{where}: must have "knots" and "values"')
    name, description = row.get("name", ""), row.get("description", "")
    if not isinstance(name, str) or not isinstance(description, str):
        raise FileError(f'{where}: "name" and "description" must be text')
    try:
        return Template(row["knots"], row["values"], name, description, row.get("interpolation", CUBIC))
    except InputError as error:
        raise FileError(f"{where}: {error}") from error
