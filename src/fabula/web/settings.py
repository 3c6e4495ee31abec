"""What the server may do, and how much of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from fabula.errors import FileError, shown


def new_token() -> str:
    """A token nobody can guess."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Settings:
    """Settings of the page's server."""

    roots: tuple[Path, ...] = ()  # folders of this machine that the page may open
    model: str | None = None  # a shipped one or a file; by default the shipped one for the kind of collection
    # Names under which the page may be asked for: others come from a page elsewhere whose name was made to lead here.
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    token: str | None = field(default_factory=new_token, repr=False)  # None lets in all who use this computer
    most_files: int = 500  # in one upload
    most_file_bytes: int = 512 << 20
    most_upload_bytes: int = 1 << 30
    most_stored_bytes: int = 4 << 30  # of all uploads
    most_body_bytes: int = 8 << 20  # of any other request
    most_items: int = 5000  # of a collection
    most_searched: int = 1000  # of a collection whose wishes need a search
    most_collections: int = 24  # that stay open; the ones least used leave first
    most_jobs: int = 2  # at the same time
    most_results: int = 64  # that can be exported; the oldest leave first
    most_results_each: int = 12  # of one collection


def check_roots(paths: tuple[str | Path, ...]) -> tuple[Path, ...]:
    """The folders named at start; refused where one is not a folder."""
    roots = []
    for path in paths:
        root = Path(path).expanduser()
        if not root.is_dir():
            raise FileError(f"{shown(root)}: {'is not a folder' if root.exists() else 'does not exist'}")
        roots.append(root.resolve())
    return tuple(roots)
