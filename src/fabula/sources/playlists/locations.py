"""Where the entries of a playlist are: paths of any system, file URIs, addresses on the net.

A location is kept as a plain path, or as an address when it is not a file.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from fabula.sources.text_files import legible

_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]+://|(?:urn|data|spotify|mms|rtsp|cdda|magnet|tidal|deezer|youtube|soundcloud):"
    r"|[a-z]+:(?:track|album|artist|playlist|episode|video|song):"
)
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_RESERVED = ":/?#[]@!$&'()*+,;=%~|"  # a bar starts Kodi's options


def is_address(location: str) -> bool:
    """Whether a location is not a file: http, a stream, a service."""
    return bool(_ADDRESS.match(location)) and not location.lower().startswith("file:")


def is_relative(location: str) -> bool:
    """Whether a location is a path that starts from the folder of its playlist.

    Examples
    --------
    >>> [is_relative(p) for p in ("a/b.mp3", "/a.mp3", r"C:\\a.mp3", "http://x/a.mp3")]
    [True, False, False, False]
    """
    return not (location.startswith(("/", "\\")) or _DRIVE.match(location) or is_address(location))


def from_uri(uri: str) -> str:
    """A URI as a plain path; as it is when it is not a file.

    Examples
    --------
    >>> from_uri("file:///C:/My%20Music/a.mp3"), from_uri("a%20b.mp3"), from_uri("http://x/a%20b")
    ('C:/My Music/a.mp3', 'a b.mp3', 'http://x/a%20b')
    """
    if is_address(uri):
        return uri
    if not uri.lower().startswith("file:"):
        return unquote(uri, errors="surrogateescape")
    rest = uri[5:]
    if rest.startswith("//"):
        host, _, path = rest[2:].partition("/")
        rest = f"/{path}" if host.lower() in ("", "localhost") else f"//{host}/{path}"
    plain = unquote(rest, errors="surrogateescape")
    return plain[1:] if _DRIVE.match(plain[1:]) else plain


def to_uri(location: str) -> str:
    """A location as a URI: absolute paths as file URIs, relative ones as relative references.

    Examples
    --------
    >>> to_uri("a b.mp3"), to_uri("/m/ü.mp3"), to_uri(r"C:\\m\\a.mp3")
    ('a%20b.mp3', 'file:///m/%C3%BC.mp3', 'file:///C:/m/a.mp3')
    """
    if is_address(location):
        return quote(location, safe=_RESERVED)
    path = location.replace("\\", "/")
    if _DRIVE.match(path):
        return "file:///" + path[:2] + quote(path[2:], errors="surrogateescape")
    text = quote(path, errors="surrogateescape")
    return f"file:{text}" if path.startswith("//") else f"file://{text}" if path.startswith("/") else text


def relocate(location: str, old: Path, new: Path) -> str:
    """A relative path from one folder as the path to the same file from another; other locations as they are."""
    if not is_relative(location) or os.path.realpath(old) == os.path.realpath(new):
        return location
    here = os.path.join(os.path.realpath(old), location.replace("\\", "/"))  # noqa: PTH118 - keeps odd names as they are
    try:
        path = os.path.relpath(here, os.path.realpath(new))
    except ValueError:  # another drive
        path = here
    path = path.replace(os.sep, "/")
    return path.replace("/", "\\") if "\\" in location and "/" not in location else path


def resolve(location: str, folder: Path) -> str:
    """The path of the file of a location, or "" when it is not a file."""
    if is_address(location):
        return ""
    if not is_relative(location):
        return location
    return str(folder / (location if os.sep == "\\" else location.replace("\\", "/")))


def on_disk(written: str, folder: Path, encoding: str = "utf-8") -> str:
    """A path as a playlist wrote it, or as the file is called on disk where another spelling of it exists.

    Some players write paths as URIs without saying so, in another encoding than the disk's, or with accents as
    characters of their own.
    """
    if written.lower().startswith("file:"):
        return from_uri(written)
    if is_address(written) or ("%" not in written and written.isascii()) or _exists(written, folder):
        return written
    return next((path for path in _spellings(written, encoding) if _exists(path, folder)), written)


def _spellings(written: str, encoding: str) -> Iterator[str]:
    """Other ways to write a path."""
    yield unquote(written, errors="surrogateescape")
    yield unicodedata.normalize("NFC", written)
    yield unicodedata.normalize("NFD", written)
    yield legible(written)
    if encoding != "utf-8":
        yield written.encode(encoding, "ignore").decode("utf-8", "surrogateescape")


def _exists(location: str, folder: Path) -> bool:
    try:
        return Path(resolve(location, folder)).exists()
    except (OSError, ValueError):
        return False
