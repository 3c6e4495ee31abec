"""A job at an address: any file system of fsspec, S3 above all.

S3 has no renaming, and none is needed: an object is there when its upload is complete. ``create`` is a conditional
put (``If-None-Match: *``), which S3 grants to one of all who ask at once.
"""

from __future__ import annotations

import os
from typing import Any

from fabula.errors import FileError, import_extra

_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409", "pre-condition", "conditional request")


class AddressStore:
    """A folder of an fsspec file system.

    Parameters
    ----------
    address
        ``s3://bucket/folder``, ``memory://folder``, ``sftp://host/folder``, ... S3 takes keys and endpoint from where
        its tools look for them, such as ``AWS_ENDPOINT_URL``.
    """

    def __init__(self, address: str) -> None:
        fsspec = import_extra("fsspec", extra="remote", purpose="a job at an address")
        self.address = address.rstrip("/")
        try:
            self._files, root = fsspec.core.url_to_fs(self.address, **_options(self.address))
        except ImportError as error:
            raise import_error(self.address, error) from error
        except ValueError as error:
            raise FileError(f"{address}: no such kind of address ({error})") from error
        self._root = str(root).rstrip("/")

    def read(self, name: str) -> bytes | None:
        """The content of an object; None where there is none."""
        try:
            return bytes(self._files.cat_file(self._at(name)))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._error(name, "read", error) from error

    def write(self, name: str, data: bytes) -> None:
        """Put an object; it is there when the upload is complete."""
        try:
            self._files.pipe_file(self._at(name), data)
        except Exception as error:
            raise self._error(name, "written", error) from error

    def create(self, name: str, data: bytes) -> bool:
        """Put an object unless there is one.

        A put whose answer was lost is sent again by the library, and then finds itself: what is there is compared.
        """
        try:
            self._files.pipe_file(self._at(name), data, mode="create")
        except FileExistsError:
            return self.read(name) == data
        except Exception as error:
            if any(word in f"{type(error).__name__} {error}" for word in _TAKEN):
                return self.read(name) == data
            raise self._error(name, "written", error) from error
        return True

    def list(self, folder: str) -> list[str]:
        """The names in a folder."""
        try:
            found = self._files.ls(self._at(folder), detail=False, refresh=True)
        except TypeError:  # a file system that keeps no listing to refresh
            found = self._files.ls(self._at(folder), detail=False)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise self._error(folder, "listed", error) from error
        return sorted(name for name in (str(path).rstrip("/").rpartition("/")[2] for path in found) if name)

    def delete(self, name: str) -> None:
        """Remove an object."""
        try:
            self._files.rm_file(self._at(name))
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._error(name, "removed", error) from error

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _error(self, name: str, what: str, error: Exception) -> FileError:
        reason = " ".join(str(error).split()) or type(error).__name__
        return FileError(f"{self.address}/{name}: cannot be {what} ({reason})")


def import_error(address: str, error: ImportError) -> FileError:
    """What to say where the library behind an address is missing."""
    return FileError(f"{address}: needs a library that is not installed: pip install 'fabula[remote]' ({error})")


def _options(address: str) -> dict[str, Any]:
    """S3 must not answer from a listing of before."""
    if not address.startswith(("s3://", "s3a://")):
        return {}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return {"use_listings_cache": False, **({"endpoint_url": endpoint} if endpoint else {})}
