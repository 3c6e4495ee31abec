"""Receiving files: counted while they stream in, stored under names of our own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from fabula.errors import shown
from fabula.media.registry import item_endings
from fabula.sources.registry import list_endings
from fabula.web.http_errors import StatusError
from fabula.web.server_store import ServerStore


@dataclass(frozen=True)
class Received:
    """A file that came in."""

    path: Path  # where it lies, under a number, with the ending of its name in small letters
    name: str  # what it was called, folders in front, without anything that leads out of them


async def receive(request: Request, store: ServerStore) -> tuple[str, list[Received]]:
    """Store the files of a multipart request, but for what is neither an item nor a list: its id and its files.

    Nothing of it stays when it is too large, has too many files, or breaks off.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise StatusError(415, "files come as multipart/form-data")
    upload, folder = store.new_upload()
    receiving = _Receiving(store, upload, folder)
    try:
        parser = MultipartParser(options[b"boundary"], receiving.callbacks())  # type: ignore[arg-type]
        async for chunk in request.stream():
            await run_in_threadpool(parser.write, chunk)
        if not receiving.whole:
            raise StatusError(400, "the upload broke off")
        if not receiving.files:
            raise StatusError(400, "nothing in the upload can be opened: no file of a known kind")
    except BaseException as error:
        receiving.close()
        store.drop_upload(upload)
        if isinstance(error, MultipartParseError):
            raise StatusError(400, f"the upload is not well-formed: {error}") from error
        if isinstance(error, ClientDisconnect):
            raise StatusError(400, "the upload broke off") from error
        raise
    return upload, receiving.files


class _Receiving:
    """The parts of a request as they come in, byte by byte."""

    def __init__(self, store: ServerStore, upload: str, folder: Path) -> None:
        self.store, self.upload, self.folder = store, upload, folder
        self.files: list[Received] = []
        self.whole = False
        self._field, self._value, self._disposition = b"", b"", b""
        self._file: IO[bytes] | None = None
        self._size, self._all, self._parts = 0, 0, 0

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self.close,
            "on_end": self._end,
        }

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._parts += 1
        self._field, self._value, self._disposition, self._size = b"", b"", b"", 0
        if self._parts > 2 * self.store.settings.most_files:  # what lies beside the items counts too
            raise StatusError(413, f"an upload may have {self.store.settings.most_files} files at most")

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = clean_name(options.get(b"filename", b"").decode("utf-8", "replace"))
        ending = Path(name).suffix.lower()
        if ending not in item_endings() and ending not in list_endings():
            return
        if len(self.files) >= self.store.settings.most_files:
            raise StatusError(413, f"an upload may have {self.store.settings.most_files} files at most")
        path = self.folder / f"{len(self.files) + 1:05d}{ending}"
        self._file = path.open("xb")
        self.files.append(Received(path, name))

    def _data(self, data: bytes, start: int, end: int) -> None:
        size, limits = end - start, self.store.settings
        self._size, self._all = self._size + size, self._all + size
        if self._size > limits.most_file_bytes:
            raise StatusError(413, f"a file may have {limits.most_file_bytes:,} bytes at most")
        if self._all > limits.most_upload_bytes:
            raise StatusError(413, f"an upload may have {limits.most_upload_bytes:,} bytes at most")
        if self._file is not None:
            self.store.count(self.upload, size)
            self._file.write(data[start:end])

    def _end(self) -> None:
        self.whole = True


def clean_name(name: str) -> str:
    r"""A name that came from elsewhere, without what leads out of a folder; for people, never for opening a file.

    >>> clean_name("../../x.mp3"), clean_name("C:\\x\\a\nb.ogg"), clean_name("/")
    ('x.mp3', 'x/a\\nb.ogg', 'unnamed')
    """
    parts = [part.strip() for part in re.split(r"[\\/]", name)]
    kept = [shown(part)[:120] for part in parts if part.strip(".") and not re.fullmatch(r"[A-Za-z]:", part)]
    return "/".join(kept[-4:]) or "unnamed"
