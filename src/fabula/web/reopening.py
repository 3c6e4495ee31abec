"""Opening a collection again of which a desk is kept: from where it came, else as it was measured then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fabula.session.open import demo_folder, load_session
from fabula.session.session import Session
from fabula.web.desks import Desk
from fabula.web.guard.folders import below
from fabula.web.identity import Origin
from fabula.web.jobs import Progress
from fabula.web.opening import files_of, open_paths
from fabula.web.store import OpenCollection, Store

_GONE = "no previews: the files were sent to the page and went when it was closed; drop them again to have them here"
_ELSEWHERE = "no previews: the files are not in the folders named at start"


def reopen(store: Store, desk: Desk, progress: Progress) -> str:
    """Open a collection again.

    Returns
    -------
    Its id: the same one, unless what it consists of has changed since.
    """
    origin = Origin(**desk.origin)
    if origin.kind == "demo":
        folder = demo_folder().resolve()
        return open_paths(store, [folder], [folder], progress, origin)
    path = below(origin.path, store.settings.roots) if origin.kind == "path" else None
    if path is not None:
        return open_paths(store, [path], store.settings.roots, progress, origin)
    session, _ = load_session(desk.session, model=store.settings.model)
    return store.add(as_opened(store, session, origin, desk.id))


def as_opened(store: Store, session: Session, origin: Origin, name: str) -> OpenCollection:
    """A saved session as a collection, with those of its files that may be read, and why the others may not."""
    items = session.collection.items
    roots = (*store.settings.roots, demo_folder().resolve())
    files = files_of(items, Path(), roots) if origin.kind != "upload" else (None,) * len(items)
    named = sum(bool(item.path) for item in items)
    if named and not any(files):
        here = any(Path(item.path).is_absolute() for item in items)
        note = _ELSEWHERE if here and origin.kind != "upload" else _GONE
        return OpenCollection(name, replace(session, notes=(*session.notes, note)), files, origin, silent=note)
    return OpenCollection(name, session, files, origin)
