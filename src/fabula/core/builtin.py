"""The templates that come with the package, and names for learned ones by what they look like."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats
from fabula.core.template import PAPER_KNOTS, Template
from fabula.errors import InputError

# name: (one sentence, {position: height}); heights are scaled to mean 0 and deviation 1 along the template.
_SHAPES: dict[str, tuple[str, dict[float, float]]] = {
    # The six emotional arcs of Reagan et al. 2016.
    "rags-to-riches": (
        "A slow start, then a rise that does not stop.",
        {0.0: 0.0, 0.3: 0.1, 0.6: 0.38, 1.0: 1.0},
    ),
    "tragedy": (
        "From the height down, slowly and then fast, without return.",
        {0.0: 1.0, 0.3: 0.87, 0.6: 0.58, 1.0: 0.0},
    ),
    "man-in-a-hole": (
        "Falls into trouble and climbs out again, higher than before.",
        {0.0: 0.7, 0.2: 0.35, 0.45: 0.0, 0.75: 0.55, 1.0: 1.0},
    ),
    "icarus": (
        "Rises to a height in the middle and falls to the end.",
        {0.0: 0.2, 0.25: 0.75, 0.45: 1.0, 0.75: 0.4, 1.0: 0.0},
    ),
    "cinderella": (
        "Rises, falls back at midnight, and rises to a happy end.",
        {0.0: 0.0, 0.15: 0.35, 0.35: 0.7, 0.6: 0.25, 0.8: 0.55, 1.0: 1.0},
    ),
    "oedipus": (
        "Falls, recovers for a while, and falls for good.",
        {0.0: 1.0, 0.2: 0.45, 0.35: 0.35, 0.55: 0.7, 0.65: 0.72, 0.85: 0.25, 1.0: 0.0},
    ),
    # Stages of a drama and templates that people who sequence ask for.
    "freytag-pyramid": (
        "Exposition, rising action, a climax in the middle, falling action, a quiet close.",
        {0.0: 0.0, 0.15: 0.12, 0.35: 0.6, 0.5: 1.0, 0.65: 0.6, 0.85: 0.12, 1.0: 0.0},
    ),
    "steady-rise": ("Rises evenly from the first item to the last.", {0.0: 0.0, 1.0: 1.0}),
    "steady-fall": ("Falls evenly from the first item to the last.", {0.0: 1.0, 1.0: 0.0}),
    "wave": (
        "Up and down twice, ending where it began.",
        {0.0: 0.5, 0.125: 1.0, 0.25: 0.5, 0.375: 0.0, 0.5: 0.5, 0.625: 1.0, 0.75: 0.5, 0.875: 0.0, 1.0: 0.5},
    ),
    "double-peak": (
        "Two heights, the second one higher, with a rest between them.",
        {0.0: 0.1, 0.12: 0.55, 0.25: 0.85, 0.38: 0.55, 0.5: 0.25, 0.65: 0.62, 0.8: 1.0, 0.9: 0.7, 1.0: 0.2},
    ),
    "slow-burn": (
        "Holds back for long, climbs late, and lets go just before the end.",
        {0.0: 0.0, 0.3: 0.08, 0.55: 0.25, 0.75: 0.6, 0.9: 1.0, 1.0: 0.75},
    ),
}


_FLAT = 1e-9  # deviation along a template below which it counts as flat

# name: (one sentence, {position: height}); scale and offset do not matter.
_SIMPLE: dict[str, tuple[str, dict[float, float]]] = {
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


def template_names() -> list[str]:
    """Names of the built-in templates: well-known ones, and those learned from albums, ``album-k.i``.

    Examples
    --------
    >>> "man-in-a-hole" in template_names(), "album-4.1" in template_names()
    (True, True)
    """
    return [*_SHAPES, *_album_templates()]


def template(name: str) -> Template:
    """A built-in template by its name; case does not matter, and spaces may stand for hyphens.

    Raises
    ------
    InputError
        For an unknown name, with the nearest known ones.

    Examples
    --------
    >>> template("Man in a hole").name
    'man-in-a-hole'
    """
    key = "-".join(str(name).lower().replace("_", " ").replace("-", " ").split())
    if key in _SHAPES:
        sentence, shape = _SHAPES[key]
        return Template(list(shape), list(shape.values()), key, sentence).normalised()
    if key in _album_templates():
        return _album_templates()[key]
    near = get_close_matches(key, template_names(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(_SHAPES)}, album-1.1 to album-6.6"
    raise InputError(f"no built-in template is called {str(name)!r}; {hint}")


def shape_of(template: Template) -> str:
    """The simple shape that a template looks most like, "flat", or "arc" where it has several dimensions."""
    if template.dimensions > 1:
        return "arc"
    samples = template.samples(101)
    if samples.std() < _FLAT:
        return "flat"
    samples = _scale(samples)
    return max(_SIMPLE, key=lambda name: float(samples @ _simple(name)))


def name_templates(knots: ArrayLike, values: ArrayLike) -> list[Template]:
    """Templates with knots (q,) and values (k, q[, d]), named by what they do; equal names are numbered.

    >>> [t.name for t in name_templates([0, 1], [[-1, 1], [1, -1], [-2, 1]])]
    ['rise 1', 'fall', 'rise 2']
    """
    bare = [Template(knots, row) for row in np.asarray(values, dtype=np.float64)]
    shapes = [shape_of(template) for template in bare]
    return [
        Template(template.knots, template.values, name, _sentence(shape))
        for template, name, shape in zip(bare, _number(shapes), shapes, strict=True)
    ]


@lru_cache(maxsize=1)
def _album_templates() -> dict[str, Template]:
    """The templates learned from albums by contrast; examples/learn_album_templates.py makes the file."""
    rows = json.loads(files("fabula.core").joinpath("album_templates.json").read_text(encoding="utf-8"))
    made = (Template(PAPER_KNOTS, row["values"], row["name"], row["description"]) for row in rows)
    return {made_one.name: made_one for made_one in made}


def _number(shapes: Iterable[str]) -> list[str]:
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
    return plain[shape] if shape in plain else _SIMPLE[shape][0]


def _simple(name: str) -> Floats:
    shape = _SIMPLE[name][1]
    return _scale(np.interp(np.linspace(0.0, 1.0, 101), list(shape), list(shape.values())))


def _scale(samples: Floats) -> Floats:
    centred = samples - samples.mean()
    return np.asarray(centred / np.linalg.norm(centred))
