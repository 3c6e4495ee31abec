"""What a job reads: named in its plan by path, size and digest, and known again by every worker."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabula.errors import FileError, InputError, import_extra, shown

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Input:
    """One file that a job reads.

    Attributes
    ----------
    path
        Where it lay when the job was planned: an absolute path, or an address.
    size
        Its bytes.
    digest
        SHA-256 of its content; of a file at an address, what the file system says instead of reading it all. A folder
        has none: what of it is read stands in the shards.
    """

    path: str
    size: int
    digest: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Input:
        """Look at a file.

        Raises
        ------
        FileError
            When it cannot be read.
        """
        text = os.fspath(path)
        if "://" in text:
            return cls(text, *_remote(text))
        place = Path(text).resolve()
        try:
            return cls(str(place), place.stat().st_size, file_digest(place))
        except OSError as error:
            raise FileError(f"{shown(text)}: cannot be read ({error.strerror or error})") from error

    @classmethod
    def folder(cls, path: str | os.PathLike[str]) -> Input:
        """A folder whose files are read."""
        return cls(str(Path(path).resolve()), 0, "")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def found_again(inputs: Sequence[Input], elsewhere: Sequence[str] = ()) -> list[Input]:
    """The inputs of a plan where they lie for this worker, each the same file as when the job was planned.

    Parameters
    ----------
    inputs
        Those of the plan.
    elsewhere
        Their paths on this machine, where these are others; one for each.

    Raises
    ------
    InputError
        When one is another file now.
    """
    if elsewhere and len(elsewhere) != len(inputs):
        raise InputError(f"the job reads {len(inputs)} file(s); got {len(elsewhere)}", field="inputs")
    paths = elsewhere or [given.path for given in inputs]
    found = [Input.of(path) if given.digest else Input.folder(path) for given, path in zip(inputs, paths, strict=True)]
    for given, now in zip(inputs, found, strict=True):
        if not given.digest and not Path(now.path).is_dir():
            raise InputError(f"{shown(now.path)}: the folder that the job reads is not there")
        if (given.size, given.digest) != (now.size, now.digest):
            raise InputError(f"{shown(now.path)}: is not the file that the job was planned with; plan another job")
    return found


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _remote(address: str) -> tuple[int, str]:
    fsspec = import_extra("fsspec", extra="remote", purpose="reading an address")
    try:
        files, path = fsspec.core.url_to_fs(address)
        about = files.info(path)
        mark = about.get("ETag") or about.get("etag") or files.ukey(path)
        return int(about["size"]), hashlib.sha256(str(mark).encode()).hexdigest()
    except Exception as error:
        raise FileError(f"{address}: cannot be read ({error})") from error
