"""Templates: target curves on [0, 1], given at knots and cubic between them.

By default the curve is the cubic spline through the knots whose third derivative is continuous at the second and the
last but one knot ("not-a-knot"); with two knots that is the line, with three the parabola. It is linear in the knot
values, ``t(u) = B(u) y``, which :func:`basis` gives and the learning of templates rests on.

A smooth spline swings beyond its knots: five knots at 0 beside one at 2 give a dip nobody drew. Templates drawn by hand
are "monotone": between two knots they stay between their values.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from html import escape
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabula.core.arrays import Floats, Ints, as_essence, normalise, positions as even_positions
from fabula.core.display import caption_html, curve_svg, name_some
from fabula.core.files import check_nested, open_file, tell_refusal, write_whole
from fabula.core.fingerprints import Fingerprints
from fabula.errors import FileError, InputError, brief, check_kind

CUBIC, MONOTONE = "cubic", "monotone"
INTERPOLATIONS = (CUBIC, MONOTONE)
PAPER_KNOTS = (0.0, 0.2, 0.3, 0.5, 0.65, 0.8, 1.0)  # appendix B of the paper
_FEW = 100  # positions at which a template's values are kept
_MANY = 200  # knots beyond which the matrix from their values to the curve is not made: it grows with their square


@dataclass(frozen=True, eq=False)
class Template:
    """A target curve on [0, 1].

    Parameters
    ----------
    knots
        Where it is given: numbers rising from 0 to 1, at least two.
    values
        Its values there: shape (knots,), or (knots, d) for an essence of d dimensions.
    name, description
        For people.
    interpolation
        How it runs between knots: "cubic", the paper's spline; or "monotone", which never swings beyond two
        neighbouring knots, for what is drawn by hand.

    Examples
    --------
    >>> t = Template(knots=[0, 0.5, 1], values=[0, 1, 0], name="arch")
    >>> t.at([0, 0.25, 0.5])
    array([0.  , 0.75, 1.  ])
    >>> drawn = Template([0, 0.25, 0.5, 0.75, 1], [0, 0, 2, 0, 0], interpolation="monotone")
    >>> drawn.samples(101).min().item(), drawn.samples(101).max().item()
    (0.0, 2.0)
    """

    knots: Floats
    values: Floats
    name: str = ""
    description: str = ""
    interpolation: str = CUBIC
    _pieces: Floats = field(init=False, repr=False)  # (knots - 1, 4[, d]): polynomials, coefficients from power 0 up

    def __init__(
        self, knots: ArrayLike, values: ArrayLike, name: str = "", description: str = "", interpolation: str = CUBIC
    ) -> None:
        checked = _as_knots(knots)
        curve = np.array(as_essence(values, name="template values"))
        if len(curve) != len(checked):
            raise InputError(f"a template needs one value per knot; got {len(curve)} values for {len(checked)} knots")
        if interpolation not in INTERPOLATIONS:
            raise InputError(f"interpolation must be {' or '.join(map(repr, INTERPOLATIONS))}; got {interpolation!r}")
        if interpolation == MONOTONE or len(checked) > _MANY:
            from scipy.interpolate import CubicSpline, PchipInterpolator

            with np.errstate(over="ignore"):  # of a slope next to nothing
                spline = (PchipInterpolator if interpolation == MONOTONE else CubicSpline)(checked, curve)
            pieces = np.ascontiguousarray(np.moveaxis(spline.c[::-1], 0, 1))
        else:
            pieces = np.tensordot(_piece_operator(checked.tobytes()), curve, axes=(2, 0))
        for array in (checked, curve, pieces):
            array.setflags(write=False)
        given = {"name": name, "description": description, "interpolation": interpolation}
        self.__dict__.update(given, knots=checked, values=curve, _pieces=pieces)

    @property
    def dimensions(self) -> int:
        """How many numbers it has at each position."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    def at(self, positions: ArrayLike) -> Floats:
        """Its values at positions in [0, 1]: array of shape positions.shape, or (..., d)."""
        u = as_positions(positions)
        piece = np.searchsorted(self.knots[1:-1], u, side="right")
        return _polynomial(self._pieces[piece], u - self.knots[piece])

    def samples(self, n: int) -> Floats:
        """Its values at the n positions j / (n - 1): what :meth:`at` gives there; few are kept, to be asked again."""
        return _sample(self, n).copy() if n <= _FEW else self.at(even_positions(n))

    def flip(self) -> "Template":
        """The template upside down: peaks become valleys."""
        return replace_values(self, -self.values, name=f"{self.name} (flipped)" if self.name else "")

    def reverse(self) -> "Template":
        """The template from its end to its beginning."""
        name = f"{self.name} (reversed)" if self.name else ""
        return Template(1.0 - self.knots[::-1], self.values[::-1], name, self.description, self.interpolation)

    def normalise(self) -> "Template":
        """The same template on the scale of a z-scored essence: mean 0 and deviation 1 along it.

        A flat one becomes zero.
        """
        curve = self.samples(201)
        centre = curve.mean(axis=0)
        deviation = curve.std(axis=0)
        flat = deviation <= 1e-9 * np.maximum(1.0, np.abs(curve).max(axis=0))
        return replace_values(self, np.where(flat, 0.0, (self.values - centre) / np.where(flat, 1.0, deviation)))

    flipped, reversed, normalised = flip, reverse, normalise  # as they were called first

    def __repr__(self) -> str:
        size = f", {self.dimensions} dimensions" if self.values.ndim > 1 else ""
        values = np.array2string(self.values, precision=2, separator=", ", threshold=8, edgeitems=3).replace("\n", "")
        return f"<Template {self.name or 'without a name'!r}: {len(self.knots)} knots{size}, values {values}>"

    def _repr_html_(self) -> str:
        text = f": {self.description}" if self.description else ""
        name = self.name or "template"
        return f"{caption_html(name + text)}{curve_svg(self.samples(81), label=f'the template {name}')}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Template):
            return NotImplemented
        words = ("name", "description", "interpolation")
        same = all(getattr(self, word) == getattr(other, word) for word in words)
        return same and all(np.array_equal(getattr(self, of), getattr(other, of)) for of in ("knots", "values"))

    def __hash__(self) -> int:
        return hash((self.name, self.knots.tobytes(), self.values.tobytes()))


@lru_cache(maxsize=1024)
def _sample(template: Template, n: int) -> Floats:
    return template.at(even_positions(n))


def replace_values(template: Template, values: ArrayLike, *, name: str | None = None) -> Template:
    """A template with the same knots and other values."""
    called = template.name if name is None else name
    return Template(template.knots, values, called, template.description, template.interpolation)


def check_dimensions(values: Floats, template: Template) -> None:
    """Refuse an essence (n,) or (n, d) that has not as many dimensions as the template it is laid on."""
    if values.shape[1:] != template.values.shape[1:]:
        dimensions = 1 if values.ndim == 1 else values.shape[1]
        raise InputError(f"essence has {dimensions} dimension(s), template has {template.dimensions}: they must agree")


def from_arc(essence: ArrayLike, *, name: str = "") -> Template:
    """A template that follows the arc of a collection, (n,) or (n, d), which is z-scored: "like that one".

    A knot stands at every position of the collection, so a collection laid on its own template gets its own order.

    >>> from_arc([1, 3, 2]).at([0, 0.5, 1]).round(3)
    array([-1.225,  1.225,  0.   ])
    """
    values = normalise(essence)
    if len(values) < 2:
        raise InputError("an arc to follow needs at least 2 items; got 1")
    return Template(even_positions(len(values)), values, name)


def basis(knots: ArrayLike, positions: ArrayLike) -> Floats:
    """The matrix B (m, q) with ``Template(knots, y).at(positions) == B @ y``."""
    checked = _as_knots(knots)
    u = as_positions(positions)
    piece = np.searchsorted(checked[1:-1], u, side="right")
    return _polynomial(_piece_operator(checked.tobytes())[piece], u - checked[piece])


def as_positions(positions: ArrayLike) -> Floats:
    """Check positions: numbers in [0, 1]."""
    try:
        u = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"positions must be numbers in [0, 1]; got {brief(positions)}") from None
    inside = (u >= 0.0) & (u <= 1.0)
    if not inside.all():
        raise InputError(f"positions must lie in [0, 1]; got {u[~inside].flat[0]}")
    return u


@lru_cache(maxsize=64)
def _piece_operator(knots: bytes) -> Floats:
    """From knot values to the polynomial of each piece: shape (q - 1, 4, q), coefficients from power 0 up."""
    x = np.frombuffer(knots, dtype=np.float64)
    eye, dx = np.eye(len(x)), np.diff(x)
    slope = np.diff(eye, axis=0) / dx[:, np.newaxis]  # (q - 1, q)
    derivative, wide = _derivative_operator(dx, slope), dx[:, np.newaxis]
    start, end = derivative[:-1], derivative[1:]
    bend, twist = (3 * slope - 2 * start - end) / wide, (start + end - 2 * slope) / wide**2
    return np.stack([eye[:-1], start, bend, twist], axis=1)


def _derivative_operator(dx: Floats, slope: Floats) -> Floats:
    """From knot values to the spline's slope at each knot, shape (q, q): the not-a-knot equations, solved."""
    q = len(dx) + 1
    if q == 2:
        return np.vstack([slope[0], slope[0]])
    if q == 3:  # the parabola through three points
        middle = (dx[1] * slope[0] + dx[0] * slope[1]) / (dx[0] + dx[1])
        return np.vstack([2 * slope[0] - middle, middle, 2 * slope[1] - middle])
    A = np.zeros((q, q))
    R = np.zeros((q, q))
    for i in range(1, q - 1):  # the second derivative is continuous at each inner knot
        A[i, i - 1 : i + 2] = dx[i], 2 * (dx[i - 1] + dx[i]), dx[i - 1]
        R[i] = 3 * (dx[i] * slope[i - 1] + dx[i - 1] * slope[i])
    first, last = dx[0] + dx[1], dx[-2] + dx[-1]
    A[0, :2] = dx[1], first  # the third derivative is continuous at the second knot
    R[0] = ((dx[0] + 2 * first) * dx[1] * slope[0] + dx[0] ** 2 * slope[1]) / first
    A[-1, -2:] = last, dx[-2]  # and at the last but one
    R[-1] = (dx[-1] ** 2 * slope[-2] + (2 * last + dx[-1]) * dx[-2] * slope[-1]) / last
    return np.asarray(np.linalg.solve(A, R), dtype=np.float64)


def _polynomial(coefficients: Floats, step: Floats) -> Floats:
    """Cubics (m, 4[, e]), or one (1, 4[, e]) for all, at steps (m,): shape (m[, e])."""
    c0, c1, c2, c3 = np.moveaxis(coefficients, step.ndim, 0)
    h = step.reshape(step.shape + (1,) * (c0.ndim - step.ndim))
    return np.asarray(((c3 * h + c2) * h + c1) * h + c0)


def _as_knots(knots: ArrayLike) -> Floats:
    try:
        x = np.array(knots, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"template knots must be numbers rising from 0 to 1; got {knots!r}") from error
    if x.ndim != 1 or len(x) < 2:
        raise InputError(f"a template needs at least 2 knots in one list; got shape {x.shape}")
    shown = np.array2string(x, separator=", ", threshold=12)
    if not (x[0] == 0.0 and x[-1] == 1.0):
        raise InputError(f"template knots must rise from 0 to 1; got {shown}")
    rising = np.diff(x) > 0
    if not rising.all():
        raise InputError(f"template knots must rise from 0 to 1; got {shown} (knot {int(np.argmin(rising)) + 2})")
    return x


# Sets of templates, and the file they are kept in.

FORMAT = "fabula-templates"
VERSION = 1
_MOST = 64 << 20  # bytes of a file of them


@dataclass(frozen=True, repr=False)
class TemplateSet:
    """Templates that together describe a set of collections: one or more.

    >>> rise, fall = Template([0, 1], [-1, 1]), Template([0, 1], [1, -1])
    >>> ts = TemplateSet([rise, fall])
    >>> ts.values
    array([[-1.,  1.],
           [ 1., -1.]])
    >>> ts.cost([[-1.0, 1.0], [1.0, 0.0]])
    0.25
    """

    templates: list[Template]
    # of the collections they were learned from; None where that was not recorded
    seen: Fingerprints | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_kind(self.templates, Iterable, "a list of templates", "templates")
        object.__setattr__(self, "templates", list(self.templates))
        if not self.templates:
            raise InputError("a template set needs at least one template")
        for template in self.templates:
            check_kind(template, Template, "a list of templates", "templates")

    @property
    def values(self) -> Floats:
        """Shape (k, knots), or (k, knots, d); the templates must share their knots."""
        if any(not np.array_equal(t.knots, self.templates[0].knots) for t in self.templates):
            raise InputError("the templates of this set have different knots; ask each for its own values")
        return np.stack([t.values for t in self.templates])

    def errors(self, essences: Sequence[ArrayLike], positions: Sequence[ArrayLike] | None = None) -> Floats:
        """Mean squared error (collections, k) of every collection under every template.

        One array (n,) per collection, in its true order; positions lie in [0, 1], by default at j / (n - 1).
        """
        values, u, lengths = join_essences(essences, positions)
        for template in self.templates:
            check_dimensions(values, template)
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
        rows = [
            {"name": t.name, "description": t.description, "knots": t.knots.tolist(), "values": t.values.tolist()}
            | ({} if t.interpolation == CUBIC else {"interpolation": t.interpolation})
            for t in self.templates
        ]
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        seen = "" if self.seen is None else f', "seen":\n {json.dumps(self.seen.to_dict(), ensure_ascii=False)}'
        text = f'{{"format": "{FORMAT}", "version": {VERSION}, "templates": [\n  {lines}\n]{seen}}}\n'
        return write_whole(path, text)

    @classmethod
    def load(cls, path: str | Path) -> "TemplateSet":
        """Read a set that :meth:`save` or a person wrote; an error names the template that breaks a rule."""
        try:
            with tell_refusal(path, "be read"), open_file(path) as file:
                data = file.read(_MOST)  # of a device or a pipe no more than there may be
            check_nested(data, str(path))
            document = json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
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
    """Lay collections end to end: their values (m,), positions (m,) and lengths (collections,)."""
    check_kind(essences, Sized, "a list of essences, one per collection", "essences")
    if not len(essences):
        raise InputError("at least one collection is needed; got none")
    if positions is not None and len(positions) != len(essences):
        raise InputError(f"one list of positions per collection: got {len(positions)} for {len(essences)} collections")
    values = [as_essence(essence, name=f"essence of collection {i}") for i, essence in enumerate(essences)]
    even = map(even_positions, map(len, values))
    where = list(even if positions is None else map(as_positions, positions))
    for i, (value, at) in enumerate(zip(values, where, strict=True)):
        if value.ndim != 1:
            raise InputError(f"essence of collection {i} must be one number per item; got shape {value.shape}")
        if value.shape != at.shape:
            raise InputError(f"collection {i} has {len(value)} values and {at.size} positions: they must agree")
    lengths = np.array([len(value) for value in values])
    return np.concatenate(values), np.concatenate(where), lengths


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


# The templates that come with the package, and names for learned ones by what they look like.

_FLAT = 1e-9  # deviation along a template below which it counts as flat


@cache
def shapes(group: str) -> dict[str, tuple[str, dict[float, float]]]:
    """Name -> a sentence and height by position, of the "known" templates, or of "simple" ones, of any scale."""
    kept = json.loads(files("fabula.core").joinpath("shapes.json").read_text(encoding="utf-8"))[group]
    return {name: (sentence, dict(curve)) for name, (sentence, curve) in kept.items()}


def template_names() -> list[str]:
    """Names of the built-in templates: well-known ones, and those learned from albums, ``album-k.i``.

    >>> "man-in-a-hole" in template_names(), "album-4.1" in template_names()
    (True, True)
    """
    return [*shapes("known"), *_album_templates()]


def template(name: str) -> Template:
    """A built-in template by its name, whatever its case, spaces for hyphens; an error names those nearest to it.

    >>> template("Man in a hole").name
    'man-in-a-hole'
    """
    key = "-".join(str(name).lower().replace("_", " ").replace("-", " ").split())
    if key in shapes("known"):
        sentence, shape = shapes("known")[key]
        return Template(list(shape), list(shape.values()), key, sentence).normalised()
    if key in _album_templates():
        return _album_templates()[key]
    near = get_close_matches(key, template_names(), n=3, cutoff=0.5)
    all_of_them = f"there are: {', '.join(shapes('known'))}, album-1.1 to album-6.6"
    hint = f"did you mean {' or '.join(near)}?" if near else all_of_them
    raise InputError(f"no built-in template is called {str(name)!r}; {hint}")


def shape_of(template: Template) -> str:
    """The simple shape that a template looks most like, "flat", or "arc" where it has several dimensions."""
    if template.dimensions > 1:
        return "arc"
    samples = template.samples(101)
    if samples.std() < _FLAT:
        return "flat"
    samples = _scale(samples)
    even, simple = np.linspace(0.0, 1.0, 101), shapes("simple")
    likeness = {name: samples @ _scale(np.interp(even, list(c), list(c.values()))) for name, (_, c) in simple.items()}
    return max(likeness, key=lambda name: float(likeness[name]))


def name_templates(knots: ArrayLike, values: ArrayLike) -> list[Template]:
    """Templates with knots (q,) and values (k, q[, d]), named by what they do; equal names are numbered.

    >>> [t.name for t in name_templates([0, 1], [[-1, 1], [1, -1], [-2, 1]])]
    ['rise 1', 'fall', 'rise 2']
    """
    bare = [Template(knots, row) for row in np.asarray(values, dtype=np.float64)]
    looks = [shape_of(template) for template in bare]
    often = Counter(looks)
    numbers = {shape: count(1) for shape in often}
    sentences = {name: sentence for name, (sentence, _) in shapes("simple").items()}
    sentences |= {"flat": "Stays where it is.", "arc": "Has several dimensions."}
    names = [f"{shape} {next(numbers[shape])}" if often[shape] > 1 else shape for shape in looks]
    about = zip(bare, names, looks, strict=True)
    return [Template(one.knots, one.values, name, sentences[shape]) for one, name, shape in about]


@cache
def _album_templates() -> dict[str, Template]:
    """The templates learned from albums by contrast; examples/learn_album_templates.py makes the file."""
    rows = json.loads(files("fabula.core").joinpath("album_templates.json").read_text(encoding="utf-8"))
    made = (Template(PAPER_KNOTS, row["values"], row["name"], row["description"]) for row in rows)
    return {made_one.name: made_one for made_one in made}


def _scale(samples: Floats) -> Floats:
    centred = samples - samples.mean()
    return np.asarray(centred / np.linalg.norm(centred))
