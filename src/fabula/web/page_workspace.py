"""Workspaces: what a person made of a collection, kept in a file each so that nothing is lost when a page closes.

A workspace holds the page's state and its named versions, and the collection as it was measured. Its revision rises
with every change: who writes from an older one is told what is there now, so that two pages do not overwrite each
other.
"""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fabula.core.files import hold, own_folder, write_whole
from fabula.errors import FabulaError
from fabula.session.open import dump_session
from fabula.web.http_errors import StatusError
from fabula.web.server_store import OpenCollection, Origin

MOST_WORKSPACES, MOST_VERSIONS, MOST_BYTES = 200, 50, 1 << 20

_KIND, _VERSION = "fabula desk", 1
_ID = re.compile(r"[A-Za-z0-9_-]{8,40}")


def data_folder() -> Path:
    """Where workspaces lie: ``$FABULA_DATA_DIR`` where it is set, else the platform's folder for data of programs."""
    return own_folder("data")


@dataclass(frozen=True)
class SavedState:
    """A state of the page, and when it was kept, in UTC."""

    state: dict[str, Any]
    saved: str


@dataclass(frozen=True)
class PageWorkspace:
    """What is kept of a collection."""

    id: str  # of the collection
    revision: int = 0  # how often the state was changed
    kept: SavedState | None = None
    versions: Mapping[str, SavedState] = field(default_factory=dict)
    title: str = ""
    origin: Origin = field(default_factory=lambda: Origin("session"))
    session: Mapping[str, Any] = field(default_factory=dict)  # saved, so that it opens without its files


class Workspaces:
    """The workspaces of a user, in one folder; safe to use from several threads and servers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # made when the first one is kept
        self._lock = threading.Lock()

    def get(self, name: str) -> PageWorkspace:
        """The workspace of a collection; an empty one where nothing was kept, or what was is broken."""
        try:
            raw = json.loads(self._file(name).read_bytes())
            if (raw["kind"], raw["version"], raw["id"]) != (_KIND, _VERSION, name):
                return PageWorkspace(name)
            kept = None if raw["kept"] is None else SavedState(**raw["kept"])
            versions = {str(key): SavedState(**value) for key, value in raw["versions"].items()}
            origin = Origin(**raw["origin"])
            return PageWorkspace(name, int(raw["revision"]), kept, versions, raw["title"], origin, raw["session"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return PageWorkspace(name)

    def all(self) -> list[PageWorkspace]:
        """Every workspace, the one changed last first."""
        files = sorted(self._files(), key=lambda file: -_read_time(file))
        return [one for one in (self.get(file.stem) for file in files) if one.session]

    def put(self, opened: OpenCollection, state: dict[str, Any], revision: int) -> PageWorkspace:
        """Keep a state that was made from a revision; where another is there, that is answered."""
        kept = _stamp(state)
        with self._change(opened.id) as now:
            if revision != now.revision:
                told = "another page has changed this collection since; here is what it made of it"
                there = None if now.kept is None else now.kept.state
                raise StatusError(409, told, revision=now.revision, state=there)
            return self._write(now, opened, kept=kept, revision=revision + 1)

    def put_version(self, opened: OpenCollection, name: str, state: dict[str, Any], *, replace: bool) -> PageWorkspace:
        """Keep a state under a name."""
        kept = _stamp(state)
        with self._change(opened.id) as now:
            if name in now.versions and not replace:
                raise StatusError(409, f"there is a version {name[:80]!r} already; give another name, or replace it")
            if name not in now.versions and len(now.versions) >= MOST_VERSIONS:
                raise StatusError(413, f"a collection may have {MOST_VERSIONS} versions; remove one")
            return self._write(now, opened, versions={**now.versions, name: kept})

    def drop_version(self, collection: str, name: str) -> None:
        """Forget a version."""
        with self._change(collection) as now:
            if name not in now.versions:
                raise StatusError(404, f"there is no version {name[:80]!r}")
            self._write(now, None, versions={key: value for key, value in now.versions.items() if key != name})

    def drop(self, collection: str) -> None:
        """Forget a workspace."""
        with self._change(collection):
            self._file(collection).unlink(missing_ok=True)

    def _write(self, now: PageWorkspace, opened: OpenCollection | None, **changes: Any) -> PageWorkspace:
        if opened is not None:
            session = dump_session(opened.session, {})
            changes |= {"title": opened.session.title, "origin": opened.origin, "session": session}
        changed = PageWorkspace(**{**vars(now), **changes})
        data = json.dumps({"kind": _KIND, "version": _VERSION, **asdict(changed)}, allow_nan=False)
        try:
            write_whole(self._file(now.id), data)
        except FabulaError as error:
            raise StatusError(507, f"what was done cannot be kept: {error}") from error
        for file in sorted(self._files(), key=_read_time)[:-MOST_WORKSPACES]:
            file.unlink(missing_ok=True)
        return changed

    @contextmanager
    def _change(self, name: str) -> Iterator[PageWorkspace]:
        """The workspace as it is, for one who changes it; everybody else waits."""
        self._file(name)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock, hold(self.folder / ".lock"):
                yield self.get(name)
        except OSError as error:
            raise StatusError(507, f"what was done cannot be kept ({error.strerror or error})") from error

    def _files(self) -> list[Path]:
        try:
            return [file for file in self.folder.glob("*.json") if _ID.fullmatch(file.stem)]
        except OSError:
            return []

    def _file(self, name: str) -> Path:
        if not _ID.fullmatch(name):
            raise StatusError(404, "there is no such collection here")
        return self.folder / f"{name}.json"


def _stamp(state: dict[str, Any]) -> SavedState:
    if len(json.dumps(state)) > MOST_BYTES:
        raise StatusError(413, f"the state of a page may have {MOST_BYTES:,} bytes at most")
    return SavedState(state, datetime.now(UTC).isoformat(timespec="seconds"))


def _read_time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
