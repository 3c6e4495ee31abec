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
    """Settings of the page's server.

    Attributes
    ----------
    roots
        Folders of this machine that the page may open; none by default.
    model
        A shipped model or a file; by default the shipped one for the kind of collection.
    hosts
        Names under which the page may be asked for. Others are refused: they come from a page elsewhere whose name
        was made to lead here.
    token
        What a visitor must know; None lets everybody in who uses this computer.
    most_files, most_file_bytes, most_upload_bytes, most_stored_bytes
        Files in one upload, bytes of one file, of one upload, and of all uploads together.
    most_body_bytes
        Bytes of any other request.
    most_items, most_searched
        Items of a collection; and of one whose wishes need a search.
    most_collections, most_jobs
        Collections that stay open, the ones least used leave first; and jobs that run at the same time.
    most_results, most_results_each
        Results that can be exported, of all collections and of each; the oldest leave first.
    """

    roots: tuple[Path, ...] = ()
    model: str | None = None
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    token: str | None = field(default_factory=new_token, repr=False)
    most_files: int = 500
    most_file_bytes: int = 512 << 20
    most_upload_bytes: int = 1 << 30
    most_stored_bytes: int = 4 << 30
    most_body_bytes: int = 8 << 20
    most_items: int = 5000
    most_searched: int = 1000
    most_collections: int = 24
    most_jobs: int = 2
    most_results: int = 64
    most_results_each: int = 12


def check_roots(paths: tuple[str | Path, ...]) -> tuple[Path, ...]:
    """Check the folders named at start.

    Raises
    ------
    FileError
        When one is not a folder.
    """
    roots = []
    for path in paths:
        root = Path(path).expanduser()
        if not root.is_dir():
            raise FileError(f"{shown(root)}: {'is not a folder' if root.exists() else 'does not exist'}")
        roots.append(root.resolve())
    return tuple(roots)
