"""The small collections that come with the package, ordered."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

from fabula.core.files.atomic import check_target
from fabula.errors import InputError
from fabula.media.extraction import Measuring
from fabula.media.registry import find_medium
from fabula.session.ordered import Ordered
from fabula.session.session import open_session

DEFAULT = "music"
_CHAPTER = "chapter"  # the detail that tells where an item stood when it was written


@dataclass(frozen=True)
class _Demo:
    """Where the items lie, and how they are ordered: by the model, or by a column along a template."""

    folder: str
    by: str | None = None
    template: str | None = None


_DEMOS = {
    DEFAULT: _Demo("demo"),
    "text": _Demo("demos/The Tide Clock", "valence", "man-in-a-hole"),
    "images": _Demo("demos/One Day"),
}


def demo_folder(medium: str = DEFAULT) -> Path:
    """Where the items of a medium's demo lie.

    Raises
    ------
    InputError
        When the medium has none.
    """
    if medium not in _DEMOS:
        raise InputError(f"there is no demo {medium!r}; there are: {', '.join(_DEMOS)}")
    with as_file(files("fabula").joinpath(*_DEMOS[medium].folder.split("/"))) as folder:
        return Path(folder)


def order_demo(
    folder: str | Path, medium: str = DEFAULT, *, measuring: Measuring | None = None
) -> tuple[Ordered, Path]:
    """Order a demo and write its order into a folder: as a format of its medium's own, else as a playlist.

    Returns
    -------
    The ordering, and the file written.
    """
    items = demo_folder(medium)
    ending = next(iter(find_medium(medium).outputs), ".m3u8")
    target = check_target(Path(folder) / f"fabula-demo{ending}")
    how = _DEMOS[medium]
    ordered = open_session(items, by=how.by, measuring=measuring).order(template=how.template)
    return ordered, ordered.save(target)


def as_written(ordered: Ordered) -> str:
    """How the items stood when they were written, and how much of that the order has; "" where nobody knows."""
    items = ordered.collection.items
    numbers = [item.details.get(_CHAPTER, "") for item in items]
    if not all(str(number).isdecimal() for number in numbers):
        return ""
    true = [item.label for _, item in sorted(zip(map(int, numbers), items, strict=True), key=lambda pair: pair[0])]
    pairs = set(pairwise(true))
    kept = sum(pair in pairs for pair in pairwise(ordered.titles))
    return f"as it was written: {', '.join(true)}; {kept} of {len(pairs)} neighbours are found again"
