"""Opening files that were uploaded: they are stored under numbers, and shown under the names they came with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.collection import Item
from fabula.errors import FabulaError, FileError, InputError
from fabula.session.session import Asked
from fabula.sources.folders import natural_key
from fabula.sources.registry import Opening, list_endings, open_source
from fabula.sources.source import SeveralCollectionsError, Source
from fabula.web.guard.lists import check_list
from fabula.web.identity import Origin, collection_id
from fabula.web.jobs import Progress
from fabula.web.opening import files_of, open_within
from fabula.web.store import OpenCollection, Store
from fabula.web.uploads import Received

Names = dict[str, Path]  # where a file is stored: the name it came with


def open_upload(
    store: Store, upload: str, files: Sequence[Received], progress: Progress, origin: Origin, by: str | None = None
) -> str:
    """Open files that were uploaded: items, or one table or playlist with or without the files it names.

    Returns
    -------
    The id of the collection.
    """
    names = {str(file.path): Path(file.name) for file in files}
    folder = (store.folder / upload).resolve()

    def report(done: int, total: int, file: str) -> None:
        progress(done, total, str(names.get(file, file)))

    try:
        source = _source_of(files, Opening(origin.collection, within=(folder.resolve(),)))
        session = open_within(store, source, [folder], Progress(report, progress.stopped), Asked(by))
    except SeveralCollectionsError as error:
        store.drop_upload(upload)
        raise SeveralCollectionsError(_renamed(error.message, names), error.choices) from error
    except FabulaError as error:
        store.drop_upload(upload)
        raise FileError(_renamed(str(error), names)) from error
    except BaseException:
        store.drop_upload(upload)
        raise
    stored = files_of(session.collection.items, Path(), [folder])
    notes = tuple(_renamed(note, names) for note in session.notes)
    shown = replace(session, source=_with_names(session.source, names), notes=notes)
    return store.add(OpenCollection(collection_id(shown, origin), shown, stored, origin, upload))


def _source_of(files: Sequence[Received], opening: Opening) -> Source:
    known = list_endings()
    lists = [file for file in files if file.ending in known]
    items = sorted((file for file in files if file.ending not in known), key=lambda file: natural_key(file.name))
    if len(lists) == 1:
        check_list(lists[0].path)
        return _with_files(open_source([lists[0].path], opening), items, lists[0])
    if not items:
        raise InputError(f"one table or one playlist at a time; got {len(lists)}")
    return _with_titles(open_source([file.path for file in items], opening), items)


def _with_files(source: Source, files: Sequence[Received], listed: Received) -> Source:
    """An uploaded table or playlist, its items at the uploaded files of the same name."""
    by_name = {Path(file.name).name.casefold(): file for file in files}
    items = []
    for item in source.collection.items:
        own = by_name.get(item.path.replace("\\", "/").rpartition("/")[2].casefold())
        title = item.title or ("" if own is None else Path(own.name).stem)
        items.append(item if own is None else replace(item, path=str(own.path), title=title))
    return _with_items(source, items, source.collection.title or Path(listed.name).stem)


def _with_titles(source: Source, files: Sequence[Received]) -> Source:
    """Uploaded items, called by the names they came with where their files do not say a title."""
    names = {str(file.path): Path(file.name) for file in files}
    items = []
    for item in source.collection.items:
        name = names.get(item.path)
        untitled = item.title == Path(item.path).stem
        title = source.medium.called(name.stem) if name is not None and untitled else item.title
        items.append(item if name is None else replace(item, id=str(name), title=title))  # a part of a file has no path
    folders = {str(name.parent) for name in names.values()}
    folder = Path(folders.pop()).name if len(folders) == 1 else ""
    if not source.files:  # one file, which was cut into its items
        folder = names[str(source.path)].stem
    called = "" if source.collection.title in (source.path.name, source.path.stem) else source.collection.title
    return _with_items(source, items, called or folder or "Your files")


def _with_names(source: Source, names: Names) -> Source:
    """The source with the names files came with in place of where they are stored."""
    items = [replace(i, path=str(names[i.path])) if i.path in names else i for i in source.collection.items]
    renamed = _with_items(source, items, source.collection.title)
    notes = tuple(_renamed(note, names) for note in source.notes)
    return replace(renamed, path=names.get(str(source.path), Path(source.path.name)), notes=notes)


def _with_items(source: Source, items: list[Item], title: str) -> Source:
    return replace(source, collection=replace(source.collection, items=tuple(items), title=title))


def _renamed(text: str, names: Names) -> str:
    for stored, name in names.items():
        text = text.replace(stored, str(name)).replace(Path(stored).name, name.name)
    return text
