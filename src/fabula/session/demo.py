"""The album that comes with the package, ordered."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from fabula.core.writing import check_target
from fabula.session.ordering import Ordered, order
from fabula.session.outputs import write_ordered
from fabula.session.sources import Measuring


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
    ordered = order([demo_folder()], measuring=measuring)
    return ordered, write_ordered(ordered, playlist)
