"""Files that the page may fetch: known by what they were when their collection was opened, and by nothing else."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fabula.web.errors import StatusError
from fabula.web.guard.folders import below

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True)
class ItemFile:
    """A file of an item.

    Attributes
    ----------
    path
        Where it lies, without links.
    root
        The folder below which it may be read.
    device, inode
        Which file it is: one that is put in its place is another.
    """

    path: Path
    root: Path
    device: int
    inode: int

    def open(self) -> BinaryIO:
        """The file, open for reading; no link is followed on the way to it.

        Raises
        ------
        StatusError
            When it is gone, or another one stands in its place.
        """
        try:
            file = os.fdopen(_opened(self.root, self.path), "rb")
        except OSError as error:
            raise StatusError(404, f"the file is not here any more ({error.strerror})") from error
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != (self.device, self.inode):
            file.close()
            raise StatusError(404, "another file stands where this one was; open the collection again")
        return file

    @contextlib.contextmanager
    def as_path(self) -> Iterator[str]:
        """A path that leads to this very file, for those who read by path."""
        with self.open() as file:
            yield f"/proc/self/fd/{file.fileno()}" if sys.platform == "linux" else str(self.path)
            self.open().close()  # still the same

    @property
    def there(self) -> bool:
        """Whether it is still there."""
        try:
            self.open().close()
        except StatusError:
            return False
        return True


def item_file(path: str | os.PathLike[str], roots: Sequence[Path]) -> ItemFile | None:
    """The file at a path, links followed, where that lies in one of the roots; None where it does not."""
    real = below(path, roots)
    root = next((root for root in roots if real is not None and real.is_relative_to(root)), None)
    if real is None or root is None:
        return None
    try:
        status = real.lstat()
    except OSError:
        return None
    return ItemFile(real, root, status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _opened(root: Path, path: Path) -> int:
    """A descriptor of a file below a folder, reached folder by folder so that no link on the way is followed."""
    if os.open not in os.supports_dir_fd:
        return os.open(path, _PLAIN | getattr(os, "O_BINARY", 0))
    *folders, name = path.relative_to(root).parts
    here = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, _PLAIN, dir_fd=here)
    finally:
        os.close(here)
