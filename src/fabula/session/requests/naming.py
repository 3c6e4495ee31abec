"""From what a person types to the item or the template she means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fabula.core.builtin import template
from fabula.core.collection import Item
from fabula.core.template import Template, replace_values
from fabula.core.template_set import TemplateSet
from fabula.errors import InputError

_POINT = re.compile(r"\s*([-+.\deE]+)\s*:\s*([-+.\deE]+)\s*")


def named_template(text: str, known: Sequence[Template] = (), *, files: bool = True) -> Template:
    """A template by name, from a file, or drawn as points.

    Parameters
    ----------
    text
        A built-in name; a template file, with ``#2`` behind it for its second template; or points
        ``position:height`` such as ``"0:0.2,0.5:1,1:0"``.
    known
        Templates that may be meant by their names besides, such as the arcs of a model.
    files
        Whether files may be meant at all.

    Examples
    --------
    >>> named_template("0:0,1:1").at(0.25).item()
    0.25
    """
    if ":" in text and all(_POINT.fullmatch(part) for part in text.split(",")):
        return _drawn(text)
    own = next((one for one in known if one.name and one.name.casefold() == text.strip().casefold()), None)
    if own is not None:
        return own
    name, _, number = text.rpartition("#")
    file = name if number.isdigit() and name else text
    if files and (Path(file).is_file() or file.lower().endswith(".json")):
        return _from_file(file, int(number) if file != text else None)
    if ":" in text and "," in text:
        raise InputError(f"a drawn template is a list of position:height, such as '0:0.2,0.5:1,1:0'; got {text[:80]!r}")
    try:
        return template(text)
    except InputError as error:
        more = "a template file or points such as '0:0.2,0.5:1,1:0' will do too"
        raise InputError(f"{error} ({more if files else 'points such as 0:0.2,0.5:1,1:0 will do too'})") from None


def _drawn(text: str) -> Template:
    points = [part.split(":") for part in text.split(",")]
    try:
        drawn = sorted((float(x), float(y)) for x, y in points)
    except ValueError:
        raise InputError(f"the points of a template must be numbers; got {text[:80]!r}") from None
    return Template([x for x, _ in drawn], [y for _, y in drawn], name=text[:80])


def _from_file(path: str, number: int | None) -> Template:
    templates = TemplateSet.load(path)
    if number is None and len(templates) > 1:
        raise InputError(f"{path} holds {len(templates)} templates: say which, as '{path}#1' to '#{len(templates)}'")
    chosen = number or 1
    if not 1 <= chosen <= len(templates):
        raise InputError(f"{path} holds {len(templates)} template(s); there is no #{chosen}")
    found = templates[chosen - 1]
    return found if found.name else replace_values(found, found.values, name=f"{Path(path).name}#{chosen}")


def find_item(items: Sequence[Item], which: int | str, field: str) -> int:
    """The one item a person means: its index; or its id, title or file name, or a part that only one of them has.

    Parameters
    ----------
    items
        What there is to choose from.
    which
        An index from 0, or text.
    field
        The argument it was given in, for the error.

    Raises
    ------
    InputError
        When none or several fit; a near miss is told, never taken.
    """
    if isinstance(which, int):
        if not 0 <= which < len(items):
            raise InputError(f"there is no item {which}; items count from 0 to {len(items) - 1}", field=field)
        return which
    ids = [i for i, item in enumerate(items) if item.id == which]
    if len(ids) == 1:
        return ids[0]
    wanted = _folded(which)
    names = [{_folded(name) for name in _names(item)} - {""} for item in items]
    exact = [i for i, known in enumerate(names) if wanted in known]
    inside = [i for i, known in enumerate(names) if wanted and any(wanted in name for name in known)]
    for hits in (exact, inside):
        if len(hits) == 1:
            return hits[0]
        if hits:
            listed = ", ".join(f"{items[i].label!r} (item {i + 1})" for i in hits[:4])
            raise InputError(f"{which!r} fits {len(hits)} items: {listed}; give the whole title or the id", field=field)
    raise InputError(f"no item is called {which!r}; {_nearest(items, names, wanted)}", field=field)


def _nearest(items: Sequence[Item], names: list[set[str]], wanted: str) -> str:
    from rapidfuzz import fuzz

    likeness = [max((fuzz.ratio(wanted, name) for name in known), default=0.0) for known in names]
    ranked = sorted(range(len(items)), key=lambda i: -likeness[i])
    runner_up = likeness[ranked[1]] if len(ranked) > 1 else 0.0
    if likeness[ranked[0]] >= 80 and likeness[ranked[0]] - runner_up >= 5:
        return f"did you mean {items[ranked[0]].label!r}?"
    return f"the nearest are {', '.join(repr(items[i].label) for i in ranked[:3])}"


def _names(item: Item) -> tuple[str, ...]:
    file = item.path.replace("\\", "/").rpartition("/")[2]
    return item.id, item.title, item.path, file, file.rpartition(".")[0], f"{item.creator} - {item.title}"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
