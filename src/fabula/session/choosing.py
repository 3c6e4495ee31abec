"""From what a person types to the template or the item she means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabula.core.builtin import template, template_names
from fabula.core.collection import Item
from fabula.core.template import Template
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError

_POINT = re.compile(r"\s*([-+.\deE]+)\s*:\s*([-+.\deE]+)\s*")


def choose_template(text: str) -> Template:
    """A template by name, from a file, or drawn as points.

    Parameters
    ----------
    text
        A built-in name; a template file, with ``#2`` behind it for its second template; or points
        ``position:height`` such as ``"0:0.2,0.5:1,1:0"``.

    Examples
    --------
    >>> choose_template("0:0,1:1").at(0.25).item()
    0.25
    """
    if ":" in text and all(_POINT.fullmatch(part) for part in text.split(",")):
        return _drawn(text)
    name, _, number = text.rpartition("#")
    file = name if number.isdigit() and name else text
    if Path(file).is_file() or file.lower().endswith(".json"):
        return _from_file(file, int(number) if file != text else None)
    if ":" in text and "," in text:
        raise InputError(f"a drawn template is a list of position:height, such as '0:0.2,0.5:1,1:0'; got {text!r}")
    try:
        return template(text)
    except InputError as error:
        raise InputError(f"{error} (a template file or points such as '0:0.2,0.5:1,1:0' will do too)") from None


def _drawn(text: str) -> Template:
    points = [part.split(":") for part in text.split(",")]
    try:
        drawn = sorted((float(x), float(y)) for x, y in points)
    except ValueError:
        raise InputError(f"the points of a template must be numbers; got {text!r}") from None
    return Template([x for x, _ in drawn], [y for _, y in drawn], name=text)


def _from_file(path: str, number: int | None) -> Template:
    templates = TemplateSet.load(path)
    if number is None and len(templates) > 1:
        raise InputError(f"{path} holds {len(templates)} templates: say which, as '{path}#1' to '#{len(templates)}'")
    chosen = number or 1
    if not 1 <= chosen <= len(templates):
        raise InputError(f"{path} holds {len(templates)} template(s); there is no #{chosen}")
    found = templates[chosen - 1]
    return found if found.name else Template(found.knots, found.values, f"{Path(path).name}#{chosen}")


def known_templates() -> list[Template]:
    """The built-in templates."""
    return [template(name) for name in template_names()]


def choose_places(
    items: Sequence[Item],
    *,
    first: str | None = None,
    last: str | None = None,
    at: Mapping[int, str] | None = None,
) -> dict[int, int]:
    """From titles to fixed places, ``position -> item`` as :func:`fabula.fit` takes them.

    Parameters
    ----------
    items
        What there is to choose from.
    first, last
        Title of the opener and of the close.
    at
        Place, counted from 1 (negative: from the end), to title.

    Raises
    ------
    InputError
        When a title fits no item or several, a place does not exist, or two wishes collide.
    """
    n = len(items)
    wishes = [(1, first, "--first")] if first is not None else []
    wishes += [(-1, last, "--last")] if last is not None else []
    wishes += [(place, title, f"--at {place}") for place, title in (at or {}).items()]
    fixed: dict[int, int] = {}
    asked: dict[int, str] = {}
    for place, title, option in wishes:
        if place == 0 or abs(place) > n:
            raise InputError(f"{option}: places go from 1 to {n} (or -1 from the end); got {place}")
        position = place - 1 if place > 0 else n + place
        item = choose_item(items, title, option)
        if position in fixed and fixed[position] != item:
            raise InputError(f"{option}: place {position + 1} is already taken by {asked[position]}")
        other = next((p for p, i in fixed.items() if i == item and p != position), None)
        if other is not None:
            raise InputError(f"{option}: {items[item].label!r} is already at place {other + 1} by {asked[other]}")
        fixed[position], asked[position] = item, option
    return fixed


def choose_item(items: Sequence[Item], text: str, option: str) -> int:
    """The one item a person means: by id, title, file name, the start of one of them, or nearly so.

    Raises
    ------
    InputError
        When none or several fit; the message names the nearest.
    """
    wanted = _folded(text)
    names = [{_folded(name) for name in _names(item)} - {""} for item in items]
    exact = [i for i, known in enumerate(names) if wanted in known]
    inside = [i for i, known in enumerate(names) if wanted and any(wanted in name for name in known)]
    for hits in (exact, inside):
        if len(hits) == 1:
            return hits[0]
        if hits:
            shown = ", ".join(f"{items[i].label!r} (item {i + 1})" for i in hits[:4])
            raise InputError(f"{option}: {text!r} fits {len(hits)} items: {shown}; give the whole title or the id")
    return _nearest(items, names, text, option)


def _nearest(items: Sequence[Item], names: list[set[str]], text: str, option: str) -> int:
    from rapidfuzz import fuzz

    wanted = _folded(text)
    likeness = [max((fuzz.ratio(wanted, name) for name in known), default=0.0) for known in names]
    ranked = sorted(range(len(items)), key=lambda i: -likeness[i])
    runner_up = likeness[ranked[1]] if len(ranked) > 1 else 0.0
    if likeness[ranked[0]] >= 80 and likeness[ranked[0]] - runner_up >= 5:
        return ranked[0]
    near = ", ".join(repr(items[i].label) for i in ranked[:3])
    raise InputError(f"{option}: no item is called {text!r}; the nearest are {near}")


def _names(item: Item) -> tuple[str, ...]:
    file = item.path.replace("\\", "/").rpartition("/")[2]
    return item.id, item.title, item.path, file, file.rpartition(".")[0], f"{item.artist} - {item.title}"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
