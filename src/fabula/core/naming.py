"""Names for templates, by what they look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.essence import Floats
from fabula.core.template import Template

_FLAT = 1e-9  # deviation along a template below which it counts as flat

# name: (one sentence, {position: height}); scale and offset do not matter.
_SHAPES: dict[str, tuple[str, dict[float, float]]] = {
    "rise": ("Rises from beginning to end.", {0.0: 0.0, 1.0: 1.0}),
    "fall": ("Falls from beginning to end.", {0.0: 1.0, 1.0: 0.0}),
    "arch": ("Rises to the middle and falls again.", {0.0: 0.0, 0.5: 1.0, 1.0: 0.0}),
    "valley": ("Falls to the middle and rises again.", {0.0: 1.0, 0.5: 0.0, 1.0: 1.0}),
    "early peak": ("Is highest in its first third.", {0.0: 0.1, 0.25: 1.0, 0.55: 0.2, 1.0: 0.0}),
    "late peak": ("Is highest in its last third.", {0.0: 0.0, 0.45: 0.2, 0.75: 1.0, 1.0: 0.1}),
    "early low": ("Is lowest in its first third.", {0.0: 0.9, 0.25: 0.0, 0.55: 0.8, 1.0: 1.0}),
    "late low": ("Is lowest in its last third.", {0.0: 1.0, 0.45: 0.8, 0.75: 0.0, 1.0: 0.9}),
    "high opening": ("Opens high, then stays low.", {0.0: 1.0, 0.2: 0.1, 0.5: 0.0, 1.0: 0.0}),
    "low opening": ("Opens low, then stays high.", {0.0: 0.0, 0.2: 0.9, 0.5: 1.0, 1.0: 1.0}),
    "high close": ("Stays low and closes high.", {0.0: 0.0, 0.5: 0.0, 0.8: 0.1, 1.0: 1.0}),
    "low close": ("Stays high and closes low.", {0.0: 1.0, 0.5: 1.0, 0.8: 0.9, 1.0: 0.0}),
    "rise, fall, rise": ("Rises, falls back, and rises again.", {0.0: 0.0, 0.3: 1.0, 0.7: 0.0, 1.0: 1.0}),
    "fall, rise, fall": ("Falls, recovers, and falls again.", {0.0: 1.0, 0.3: 0.0, 0.7: 1.0, 1.0: 0.0}),
    "two peaks": ("Rises and falls twice.", {0.0: 0.0, 0.25: 1.0, 0.5: 0.0, 0.75: 1.0, 1.0: 0.0}),
    "two valleys": ("Falls and rises twice.", {0.0: 1.0, 0.25: 0.0, 0.5: 1.0, 0.75: 0.0, 1.0: 1.0}),
}


def shape_of(template: Template) -> str:
    """The simple shape that a template looks most like, "flat", or "arc" where it has several dimensions.

    Examples
    --------
    >>> shape_of(Template([0, 0.5, 1], [-1, 1, -1]))
    'arch'
    """
    if template.dimensions > 1:
        return "arc"
    samples = template.samples(101)
    if samples.std() < _FLAT:
        return "flat"
    samples = _scaled(samples)
    return max(_SHAPES, key=lambda name: float(samples @ _simple(name)))


def named(knots: ArrayLike, values: ArrayLike) -> list[Template]:
    """Templates with names by what they do; names that occur more than once are numbered.

    Parameters
    ----------
    knots
        Shape (q,).
    values
        Shape (k, q), or (k, q, d).

    Examples
    --------
    >>> [t.name for t in named([0, 1], [[-1, 1], [1, -1], [-2, 1]])]
    ['rise 1', 'fall', 'rise 2']
    """
    bare = [Template(knots, row) for row in np.asarray(values, dtype=np.float64)]
    shapes = [shape_of(template) for template in bare]
    return [
        Template(template.knots, template.values, name, _sentence(shape))
        for template, name, shape in zip(bare, _numbered(shapes), shapes, strict=True)
    ]


def _numbered(shapes: Iterable[str]) -> list[str]:
    listed = list(shapes)
    often = Counter(listed)
    seen: Counter[str] = Counter()
    names = []
    for shape in listed:
        seen[shape] += 1
        names.append(f"{shape} {seen[shape]}" if often[shape] > 1 else shape)
    return names


def _sentence(shape: str) -> str:
    plain = {"flat": "Stays where it is.", "arc": "Has several dimensions."}
    return plain[shape] if shape in plain else _SHAPES[shape][0]


def _simple(name: str) -> Floats:
    shape = _SHAPES[name][1]
    return _scaled(np.interp(np.linspace(0.0, 1.0, 101), list(shape), list(shape.values())))


def _scaled(samples: Floats) -> Floats:
    centred = samples - samples.mean()
    return np.asarray(centred / np.linalg.norm(centred))
