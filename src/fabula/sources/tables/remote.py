"""Files at an address (``s3://``, ``https://``, ``memory://``, ...), read by fsspec where it is installed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from fabula.errors import FabulaError, FileError, import_extra

# A Path keeps one slash of the two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)(?=[^/]|$)")
SCHEMES = ("s3", "gs", "gcs", "abfs", "az", "hf", "https", "http", "ftp", "sftp", "memory")


def address_of(path: str | os.PathLike[str]) -> str | None:
    """The address that a path is; None for a file or folder of this machine.

    Examples
    --------
    >>> address_of("s3://bucket/songs.parquet"), address_of(Path("s3://bucket/songs.parquet")), address_of("a/b.csv")
    ('s3://bucket/songs.parquet', 's3://bucket/songs.parquet', None)
    """
    text = os.fspath(path)
    found = _ADDRESS.match(text)
    if found is None or (found[2] == "/" and (isinstance(path, str) or os.path.lexists(path))):
        return None
    return f"{found[1]}://{text[found.end() :]}"


class Place:
    """An address, opened.

    Parameters
    ----------
    address
        Of a file, or of a folder of files.

    Raises
    ------
    MissingExtraError
        Where fsspec is not installed.
    FileError
        Where nothing that is installed opens such addresses.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        fsspec = import_extra("fsspec", extra="remote", purpose="reading from an address")
        try:
            self._files, self._path = fsspec.core.url_to_fs(address)
        except ImportError as error:  # the package of this kind of address
            raise FileError(f"{address}: {str(error).partition(chr(10))[0].rstrip('.')}") from error
        except (ValueError, OSError) as error:
            raise self._unreadable(error) from error

    def names(self, ending: str) -> list[str]:
        """The files of a folder with an ending, sorted; none where the address is no folder."""
        try:
            if Path(self._path).suffix.lower() == ending or not self._files.isdir(self._path):
                return []
            found = self._files.ls(self._path, detail=False)
        except Exception as error:  # each kind of address has errors of its own
            raise self._unreadable(error) from error
        return sorted(name for name in found if name.lower().endswith(ending) and is_part(name))

    def bytes(self) -> bytes:
        """All that the file holds."""
        try:
            data: bytes = self._files.cat_file(self._path)
        except Exception as error:  # each kind of address has errors of its own
            raise self._unreadable(error) from error
        return data

    def open(self, name: str | None = None) -> Any:
        """The file, or one of the folder, to read from."""
        try:
            return self._files.open(name or self._path, "rb")
        except Exception as error:  # each kind of address has errors of its own
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> FabulaError:
        if isinstance(error, FileNotFoundError):
            return FileError(f"{self.address}: does not exist")
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        return FileError(f"{self.address}: cannot be read ({reason})")


def is_part(name: str) -> bool:
    """Whether a file of a folder is one of its parts: programs put ``_SUCCESS`` and hidden files beside them."""
    return not name.rstrip("/").rpartition("/")[2].startswith((".", "_"))
