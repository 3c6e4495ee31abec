"""Where the items come from: a table, a playlist, a folder of sound; one collection with what is known of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.core.collection import Collection
from fabula.errors import FileError, InputError, shown
from fabula.media.extraction import extract
from fabula.media.spec import find_spec
from fabula.sources.folders import read_folder
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS, Playlist, collection_of, read_playlist
from fabula.sources.tables.reading import TABLE_ENDINGS, read_table

SOUND = find_spec("audio").feature_names


@dataclass(frozen=True)
class Choice:
    """A collection of a table of several, as a person chooses it: its id, its title or "", and how many items."""

    id: str
    title: str
    items: int


class SeveralCollectionsError(InputError):
    """A table holds several collections and none was named.

    Parameters
    ----------
    message
        What to tell.
    choices
        The collections there are.
    """

    def __init__(self, message: str, choices: Sequence[Choice]) -> None:
        self.choices = tuple(choices)
        super().__init__(message)


@dataclass(frozen=True)
class Measuring:
    """How sound is found and measured.

    Attributes
    ----------
    recursive
        Whether to go into folders within folders.
    jobs
        Files at a time; by default as many as there are cores.
    cache
        Whether to use and fill the cache.
    progress
        Called with (done, total, path) after each file.
    """

    recursive: bool = True
    jobs: int | None = None
    cache: bool = True
    progress: Callable[[int, int, str], None] | None = None


@dataclass(frozen=True)
class Source:
    """A collection and where it came from.

    Attributes
    ----------
    path
        The file or folder, the first one where there are several.
    collection
        The items in the order given.
    folder
        Where the items' relative paths start from.
    kind
        ``"table"``, ``"playlist"`` or ``"sound"``.
    playlist
        Kept where there is one, so that writing it back changes nothing but the order.
    notes
        What the user should know of the reading.
    """

    path: Path
    collection: Collection
    folder: Path
    kind: str
    playlist: Playlist | None = None
    notes: tuple[str, ...] = ()

    def only(self, indices: Sequence[int]) -> Source:
        """The same with some of the items, in the order of the indices."""
        c = self.collection
        items = [c.items[i] for i in indices]
        kept = Collection(c.id, items, c.features[list(indices)], c.feature_names, ordered=c.ordered, title=c.title)
        playlist = self.playlist
        if playlist is not None:
            playlist = replace(playlist, entries=tuple(playlist.entries[i] for i in indices))
        return replace(self, collection=kept, playlist=playlist)


def read_source(
    paths: Sequence[str | Path], *, collection: str | None = None, measuring: Measuring | None = None
) -> Source:
    """Read one collection from a table, a playlist, folders or audio files. Nothing is measured yet.

    Parameters
    ----------
    paths
        What the user named: one table, one playlist, or any number of folders and audio files.
    collection
        Which collection of a table that holds several, by id or title.
    measuring
        How folders are read.

    Raises
    ------
    FileError, InputError
        When it cannot be read, or is none of the known kinds.
    SeveralCollectionsError
        When it holds several collections and none was named.
    """
    if not paths:
        raise InputError("name a folder, audio files, a playlist or a table")
    files = [Path(path) for path in paths]
    listed = [f for f in files if f.suffix.lower() in (*TABLE_ENDINGS, *PLAYLIST_ENDINGS) and not f.is_dir()]
    if listed and len(files) > 1:
        raise InputError(f"one table or one playlist at a time, without other files; got {len(files)} paths")
    path = files[0]
    if collection is not None and path.suffix.lower() not in TABLE_ENDINGS:
        raise InputError(f"--collection goes with a table; {shown(path)} is none")
    if not listed:
        return _sound(files, measuring or Measuring())
    if not path.exists():
        raise FileError(f"{path}: does not exist")
    if path.suffix.lower() in PLAYLIST_ENDINGS:
        playlist = read_playlist(path)
        return Source(path, collection_of(playlist, path), Path(), "playlist", playlist)
    return Source(path, _one_of(read_table(path), collection, path), path.parent, "table")


def measured(source: Source, measuring: Measuring, *, spec: str = "audio") -> Source:
    """The source with the features of its sound: by default duration and loudness.

    Items that cannot be measured are left out, with a note for each.

    Raises
    ------
    FileError
        When none can be.
    """
    found = extract(
        [item.path for item in source.collection.items],
        spec,
        jobs=measuring.jobs,
        progress=measuring.progress,
        cache=measuring.cache,
    )
    if not found.kept:
        raise FileError(_none_usable(source, [message for _, message in found.problems]))
    kept = source.only(found.kept)
    c = kept.collection
    collection = Collection(c.id, c.items, found.features, found.feature_names, ordered=c.ordered, title=c.title)
    notes = tuple(f"left out: {message}" for _, message in found.problems)
    return replace(kept, collection=collection, notes=kept.notes + notes)


def _sound(files: list[Path], measuring: Measuring) -> Source:
    reading = read_folder(files, recursive=measuring.recursive)
    notes = tuple(f"skipped: {shown(path)}: {reason}" for path, reason in reading.skipped)
    title = reading.title or files[0].name
    items = [replace(item, path=os.path.normpath(item.path)) for item in reading.items]
    collection = Collection(title, items, title=title, ordered=False)
    return Source(files[0], collection, Path(), "sound", notes=notes)


def _none_usable(source: Source, messages: list[str]) -> str:
    if len(messages) == 1:
        return messages[0]
    return f"{shown(str(source.path))}: none of its {len(messages)} files can be measured; the first: {messages[0]}"


def _one_of(collections: list[Collection], wanted: str | None, path: Path) -> Collection:
    if wanted is not None:
        hits = [c for c in collections if wanted == c.id]
        hits = hits or [c for c in collections if wanted.casefold() == c.title.casefold()]
        if len(hits) == 1:
            return hits[0]
        what = f"{len(hits)} collections are" if hits else "no collection is"
        raise InputError(f"{path}: {what} called {wanted!r}; it holds {_some(collections)}")
    if len(collections) > 1:
        raise SeveralCollectionsError(
            f"{path}: holds {_some(collections)}; choose one with --collection",
            [Choice(c.id, c.title, len(c)) for c in collections],
        )
    return collections[0]


def _some(collections: list[Collection]) -> str:
    shown_ids = ", ".join(c.id for c in collections[:4])
    return f"{len(collections)} collection(s): {shown_ids}{', ...' if len(collections) > 4 else ''}"
