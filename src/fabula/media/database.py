"""A small database of numbers by content: SQLite, written ahead, so that many processes read and write it at once."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS features (
        spec TEXT NOT NULL, version INTEGER NOT NULL, key BLOB NOT NULL, used INTEGER NOT NULL, numbers BLOB NOT NULL,
        PRIMARY KEY (spec, version, key)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS by_use ON features (used);
"""
_PATIENCE = 20.0  # seconds to wait for another process that writes
_SHRUNK = 0.8  # of the limit, down to which entries are forgotten
_BROKEN = ("malformed", "not a database", "no such column", "no such table", "has no column")
_own = threading.local()


class DatabaseError(Exception):
    """The database cannot be read or written."""


def database(path: Path) -> Database:
    """The database at a path, opened once for each thread of a process; made where there is none.

    Raises
    ------
    DatabaseError
        When it can be neither opened nor made.
    """
    known: dict[tuple[int, str], Database] = _own.__dict__.setdefault("known", {})
    which = (os.getpid(), str(path))  # a connection must not be used in a process that was forked from its own
    if which in known and not path.exists():  # somebody has removed it
        known.pop(which).close()
    if which not in known:
        known[which] = Database(path)
    return known[which]


class Database:
    """Numbers by spec, version and content.

    Parameters
    ----------
    path
        A file; made with its folder where it is absent, made anew where it is broken.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> one = Database(Path(folder.name) / "a.sqlite")
    >>> one.keep("audio", 1, b"key", b"12345678"); one.recall("audio", 1, b"key"), one.counts()
    (b'12345678', (('audio', 1, 1),))
    >>> one.close(); folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        self.path, self.written = path, 0
        self._connection = self._connected()

    def recall(self, spec: str, version: int, key: bytes, *, older_than: int = 0) -> bytes | None:
        """What is kept for a key; that it was used is noted where the last use is older than some seconds."""
        found = self._do(
            "SELECT numbers, used FROM features WHERE spec = ? AND version = ? AND key = ?", (spec, version, key)
        )
        if not found:
            return None
        numbers, used = found[0]
        now = int(time.time())
        if now - used > older_than:
            with suppress(DatabaseError):  # a database that can only be read is still worth reading
                self._do(
                    "UPDATE features SET used = ? WHERE spec = ? AND version = ? AND key = ?", (now, spec, version, key)
                )
        return numbers if isinstance(numbers, bytes) else None

    def keep(self, spec: str, version: int, key: bytes, numbers: bytes) -> None:
        """Keep numbers for a key, in place of what was kept."""
        row = (spec, version, key, int(time.time()), numbers)
        self._do("INSERT OR REPLACE INTO features VALUES (?, ?, ?, ?, ?)", row)
        self.written += 1

    def counts(self) -> tuple[tuple[str, int, int], ...]:
        """(spec, version, how many) of what is kept."""
        return tuple(self._do("SELECT spec, version, COUNT(*) FROM features GROUP BY spec, version ORDER BY 1, 2"))

    def clear(self, spec: str | None = None) -> int:
        """Forget what is kept, of one spec or of all, and give its room back; returns how many entries there were."""
        count = sum(found for name, _, found in self.counts() if spec in (None, name))
        self._do("DELETE FROM features WHERE ? IS NULL OR spec = ?", (spec, spec))
        self._do("VACUUM")
        return count

    def size(self) -> int:
        """Bytes of what is kept."""
        pages, free, page = (
            int(self._do(f"PRAGMA {name}")[0][0]) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * page

    def shrink(self, most: int) -> None:
        """Forget what was used least lately, down to four fifths of a size, where more is kept."""
        size = self.size()
        if size <= most:
            return
        count = int(self._do("SELECT COUNT(*) FROM features")[0][0])
        gone = max(1, int(count * (1 - _SHRUNK * most / size)))
        self._do(
            "DELETE FROM features WHERE (spec, version, key) IN "
            "(SELECT spec, version, key FROM features ORDER BY used LIMIT ?)",
            (gone,),
        )

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __del__(self) -> None:
        with suppress(Exception):  # the thread that opened it may be gone
            self._connection.close()

    def _do(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; a database that turns out broken is made anew, once."""
        import sqlite3

        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            if not any(sign in str(error) for sign in _BROKEN):
                raise DatabaseError(str(error)) from error
        self._connection.close()
        self._set_aside()
        self._connection = self._connected()
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise DatabaseError(str(error)) from error

    def _connected(self) -> Connection:
        try:
            import sqlite3
        except ImportError as error:  # a Python that was built without it
            raise DatabaseError(str(error)) from error
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return self._open()
            except sqlite3.DatabaseError as error:
                if not any(sign in str(error) for sign in _BROKEN):
                    raise
                self._set_aside()
                return self._open()
        except (sqlite3.Error, OSError) as error:
            raise DatabaseError(str(error)) from error

    def _open(self) -> Connection:
        import sqlite3

        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")  # where the file system cannot, SQLite stays as it was
            connection.execute("PRAGMA synchronous = NORMAL")
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'by_use'").fetchall():
                connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self) -> None:
        """Remove a broken database: what it held can be measured again."""
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(self.path.name + end).unlink()
