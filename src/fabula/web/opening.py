"""Opening a collection for the page: read, keep to what may be read, measure, store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Collection, Item
from fabula.errors import FabulaError, FileError, InputError, shown
from fabula.session.essence import Essence
from fabula.session.playing import load
from fabula.session.sources import Measuring, SeveralCollectionsError, Source, read_source
from fabula.sources.folders import AUDIO_ENDINGS, natural_key
from fabula.sources.playlists.locations import is_address
from fabula.web.folders import below
from fabula.web.jobs import Progress
from fabula.web.store import Loaded, Store, new_id
from fabula.web.uploads import LISTS, Received


def open_paths(
    store: Store,
    paths: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    *,
    by: str | None = None,
    collection: str | None = None,
) -> str:
    """Open a folder, a playlist or a table of this machine; sound elsewhere than in the roots is left out."""
    source = read_source(paths, collection=collection)
    found = _measured(store, _kept(source, roots), progress, by)
    sounds = sounds_of(found.source.collection.items, found.source.folder, roots)
    items = found.source.collection.items
    names = tuple(str(file or item.path or item.id) for file, item in zip(sounds, items, strict=True))
    return _add(store, Loaded(new_id(), found, sounds, names))


def open_upload(
    store: Store,
    upload: str,
    files: Sequence[Received],
    progress: Progress,
    *,
    by: str | None = None,
    collection: str | None = None,
) -> str:
    """Open files that were uploaded: sound, or one table or playlist with or without the sound it names."""
    called = {str(file.path): Path(file.name) for file in files}
    folder = (store.folder / upload).resolve()
    try:
        found = _measured(store, _kept(_uploaded(files, collection), [folder]), progress, by)
    except SeveralCollectionsError as error:
        store.drop_upload(upload)
        raise SeveralCollectionsError(_as_called(str(error), called), error.choices) from error
    except FabulaError as error:
        store.drop_upload(upload)
        raise FileError(_as_called(str(error), called)) from error
    except BaseException:
        store.drop_upload(upload)
        raise
    sounds = sounds_of(found.source.collection.items, Path(), [folder])
    source = _hidden(found.source, called)
    names = tuple(item.path or item.id for item in source.collection.items)
    return _add(store, Loaded(new_id(), replace(found, source=source), sounds, names, upload))


def sounds_of(items: Sequence[Item], folder: Path, roots: Sequence[Path]) -> tuple[Path | None, ...]:
    """The file of each item that may be fetched: sound in one of the roots."""
    found: list[Path | None] = []
    for item in items:
        file = below(folder / item.path, roots) if item.path and not is_address(item.path) else None
        found.append(file if file and file.is_file() and file.suffix.lower() in AUDIO_ENDINGS else None)
    return tuple(found)


def _measured(store: Store, source: Source, progress: Progress, by: str | None) -> Essence:
    most = store.settings.most_items
    if len(source.collection) > most:
        raise InputError(f"a collection may have {most} items on this page; this one has {len(source.collection)}")
    progress(0, len(source.collection), "")
    model = store.settings.model if by is None and source.kind != "table" else None
    return load(source, by=by, model=model, measuring=Measuring(progress=progress))


def _kept(source: Source, roots: Sequence[Path]) -> Source:
    """Without what would be measured and lies elsewhere."""
    if source.kind == "table":
        return source
    items = source.collection.items
    inside = [i for i, item in enumerate(items) if below(item.path, roots)] if roots else []
    if not inside:
        raise FileError(f"{source.path.name}: none of the {len(items)} files it names may be read by this page")
    if len(inside) == len(items):
        return source
    outside = [shown(Path(item.path).name or item.label) for i, item in enumerate(items) if i not in set(inside)]
    kept = source.only(inside)
    return replace(kept, notes=(*kept.notes, *(f"left out: {name}: may not be read by this page" for name in outside)))


def _uploaded(files: Sequence[Received], collection: str | None) -> Source:
    lists = [file for file in files if file.ending in LISTS]
    sound = sorted((file for file in files if file.ending not in LISTS), key=lambda file: natural_key(file.name))
    if len(lists) == 1:
        return _led(read_source([lists[0].path], collection=collection), sound, lists[0])
    if not sound:
        raise InputError(f"one table or one playlist at a time; got {len(lists)}")
    return _titled(read_source([file.path for file in sound]), sound)


def _led(source: Source, sound: Sequence[Received], listed: Received) -> Source:
    """An uploaded table or playlist, its items led to the uploaded files of the same name."""
    by_name = {Path(file.name).name.casefold(): file.path for file in sound}
    items = []
    for item in source.collection.items:
        own = by_name.get(item.path.replace("\\", "/").rpartition("/")[2].casefold())
        items.append(replace(item, path=str(own)) if own is not None else item)
    return _with_items(source, items, source.collection.title or Path(listed.name).stem)


def _titled(source: Source, sound: Sequence[Received]) -> Source:
    """Uploaded sound, with the names it came with where its tags have no title."""
    called = {str(file.path): Path(file.name) for file in sound}
    items = []
    for item in source.collection.items:
        name = called[item.path]
        untitled = item.title == Path(item.path).stem
        items.append(replace(item, id=str(name), title=name.stem if untitled else item.title))
    folders = {str(name.parent) for name in called.values()}
    albums = {str(item.details.get("album", "")) for item in items}
    shared = albums.pop() if len(albums) == 1 else ""
    return _with_items(source, items, shared or (Path(folders.pop()).name if len(folders) == 1 else "") or "Your files")


def _hidden(source: Source, called: dict[str, Path]) -> Source:
    """The same with the names files came with in place of where they are stored."""
    items = [replace(i, path=str(called[i.path])) if i.path in called else i for i in source.collection.items]
    notes = tuple(_as_called(note, called) for note in source.notes)
    return replace(_with_items(source, items, source.collection.title), notes=notes)


def _with_items(source: Source, items: list[Item], title: str) -> Source:
    c = source.collection
    return replace(
        source, collection=Collection(c.id, items, c.features, c.feature_names, ordered=c.ordered, title=title)
    )


def _as_called(note: str, called: dict[str, Path]) -> str:
    for stored, name in called.items():
        note = note.replace(stored, str(name))
    return note


def _add(store: Store, loaded: Loaded) -> str:
    store.add(loaded)
    return loaded.id
