"""Opening a collection for the page: read it, keep to what may be read, measure it, remember it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Item
from fabula.errors import FileError, InputError, shown
from fabula.media.extraction import Measuring
from fabula.media.registry import item_endings
from fabula.session.session import Asked, Session, source_session
from fabula.sources.playlists.entries import Playlist, is_address, is_relative, resolve
from fabula.sources.registry import Opening, list_endings, open_source
from fabula.sources.source import Source
from fabula.web.guard.files import ItemFile, item_file
from fabula.web.guard.folders import below
from fabula.web.guard.lists import check_list
from fabula.web.identity import Origin, collection_id
from fabula.web.jobs import Progress
from fabula.web.store import OpenCollection, Store


def open_paths(
    store: Store,
    paths: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    origin: Origin,
    by: str | None = None,
) -> str:
    """Open a folder, a playlist or a table of this machine; files elsewhere than in the roots are not read.

    Returns
    -------
    The id of the collection.
    """
    for path in paths:
        if path.suffix.lower() in list_endings():
            check_list(path)
    opening = Opening(origin.collection, within=tuple(roots))
    session = open_within(store, open_source(paths, opening), roots, progress, Asked(by))
    source = session.source
    files = files_of(source.collection.items, source.folder, roots)
    pairs = zip(source.collection.items, files, strict=True)
    items = tuple(item if file is None else replace(item, path=str(file.path)) for item, file in pairs)
    playlist = None if source.playlist is None else _with_absolute_locations(source.playlist)
    placed = replace(source, collection=replace(source.collection, items=items), playlist=playlist)
    opened = replace(session, source=placed)
    return store.add(OpenCollection(collection_id(opened, origin), opened, files, origin))


def open_within(store: Store, source: Source, roots: Sequence[Path], progress: Progress, asked: Asked) -> Session:
    """A source as a session, measured where needed; of its files only those in the roots are read.

    The server's own model is for files; tables have columns of their own.
    """
    allowed = source_within(source, roots)
    count, most = len(allowed.collection), store.settings.most_items
    if count > most:
        raise InputError(f"a collection may have {most} items on this page; this one has {count}")
    progress(0, count, "")
    model = asked.model or (store.settings.model if asked.by is None and source.files else None)
    files = files_of(allowed.collection.items, allowed.folder, roots) if allowed.files else ()
    measuring = Measuring(progress=progress, stop=progress.stopped)
    session = source_session(allowed, measuring, Asked(asked.by, model), guess=True)
    if not all(file is None or file.there for file in files):
        raise FileError(f"{source.path.name}: its files changed while they were read; open it again")
    return session


def files_of(items: Sequence[Item], folder: Path, roots: Sequence[Path]) -> tuple[ItemFile | None, ...]:
    """The file of each item that may be fetched: of a known kind, and in one of the roots."""
    known = item_endings()
    found: list[ItemFile | None] = []
    for item in items:
        file = item_file(folder / item.path, roots) if item.path and not is_address(item.path) else None
        found.append(file if file and file.path.suffix.lower() in known else None)
    return tuple(found)


def source_within(source: Source, roots: Sequence[Path]) -> Source:
    """The source without what would be measured and lies elsewhere; entries of a playlist keep their position."""
    if not source.files:
        return source
    items = source.collection.items
    inside = [i for i, item in enumerate(items) if item.path and below(item.path, roots)] if roots else []
    if not inside:
        raise FileError(f"{source.path.name}: none of the {len(items)} files it names may be read by this page")
    start = "left out" if source.playlist is None else "keeps its position, not measured"
    outside = [item for i, item in enumerate(items) if i not in set(inside)]
    names = [shown(Path(item.path).name or item.label) for item in outside]
    return source.only(inside).with_notes(*(f"{start}: {name}: may not be read by this page" for name in names))


def _with_absolute_locations(playlist: Playlist) -> Playlist:
    """A playlist that leads to its files from any folder: a browser saves it where it likes."""
    folder = playlist.folder
    if folder is None:
        return playlist
    entries = tuple(
        replace(entry, location=resolve(entry.location, folder), raw=None)
        if entry.location and is_relative(entry.location)
        else entry
        for entry in playlist.entries
    )
    return replace(playlist, entries=entries)
