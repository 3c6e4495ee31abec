"""The album that comes with the package, ordered."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from fabula.core.writing import check_target
from fabula.media.extraction import Measuring
from fabula.session.ordered import Ordered
from fabula.session.session import open_session


def demo_folder() -> Path:
    """Where the album lies."""
    with as_file(files("fabula") / "demo") as folder:
        return Path(folder)


def order_demo(folder: str | Path, *, measuring: Measuring | None = None) -> tuple[Ordered, Path]:
    """Order the album and write its playlist into a folder.

    Returns
    -------
    The ordering, and the playlist written.
    """
    playlist = check_target(Path(folder) / "fabula-demo.m3u8")
    ordered = open_session(demo_folder(), measuring=measuring).order()
    return ordered, ordered.save(playlist)
