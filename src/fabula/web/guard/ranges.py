"""A file as an answer, whole or one range of it, read from a handle that is open already."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from fabula.web.errors import StatusError

_CHUNK = 1 << 17
_SAFE = re.compile(r"(audio|video)/[\w.+-]+|image/(jpeg|png|gif|webp|avif|bmp|tiff)|text/plain")


def file_response(file: BinaryIO, kind: str | None, asked: str | None, *, if_range: str | None = None) -> Response:
    """A file as an answer.

    Parameters
    ----------
    file
        Open for reading; it is closed when all went out.
    kind
        Its media type. Whatever a browser could run, such as HTML or SVG, goes out as plain bytes.
    asked
        The ``Range`` header: one range; several are answered with the whole.
    if_range
        The tag of the version a range is wanted of.
    """
    status = os.fstat(file.fileno())
    tag = f'"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"'
    headers = {"Accept-Ranges": "bytes", "ETag": tag, "Content-Disposition": "inline"}
    try:
        span = _span(asked, status.st_size) if if_range in (None, tag) else None
    except StatusError:
        file.close()
        raise
    start, stop = span or (0, status.st_size)
    headers["Content-Length"] = str(stop - start)
    if span is not None:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{status.st_size}"
    safe = kind if kind is not None and _SAFE.fullmatch(kind) else "application/octet-stream"
    return _FileResponse(file, (start, stop), 200 if span is None else 206, headers, safe)


class _FileResponse(StreamingResponse):
    """Bytes of a file, which is closed whatever becomes of the answer."""

    def __init__(self, file: BinaryIO, span: tuple[int, int], status: int, headers: dict[str, str], kind: str) -> None:
        self._file = file
        super().__init__(_chunks(file, *span), status, headers, media_type=kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await run_in_threadpool(self._file.close)  # behind whoever still reads


def _span(asked: str | None, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last, of a header such as ``bytes=100-199``; None for the whole."""
    if asked is None or "," in asked:
        return None
    match = re.fullmatch(r"bytes=(\d{0,19})-(\d{0,19})", asked.strip())
    if match is None or match[0] == "bytes=-":
        raise StatusError(400, "a range must be such as bytes=0-999")
    if not match[1]:
        start, stop = max(0, size - int(match[2])), size
    else:
        start, stop = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
    if start >= stop:
        raise StatusError(416, f"the file has {size} bytes")
    return start, stop


def _chunks(file: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    file.seek(start)
    while start < stop and (data := file.read(min(_CHUNK, stop - start))):
        start += len(data)
        yield data
