"""The Music Player Daemon: its queue, ``mpd://HOST/queue``, and its stored playlists, ``mpd://HOST/playlist/NAME``.

MPD names files relative to its music folder: ``?music=FOLDER`` says where that is on this machine, so that they can be
measured. Songs of the queue are moved by their ids, so that the one that plays goes on playing.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fabula.errors import FileError, InputError, import_extra
from fabula.sources.libraries import library
from fabula.sources.libraries.library import IN_ENVIRONMENT, Address
from fabula.sources.playlists.entries import Entry, Playlist, make_entry
from fabula.sources.registry import Choice, Opening, Reader, Source, choose_collection

_PORT = 6600
_PATIENCE = 30.0  # seconds
_KINDS = ("playlist", "queue")
_TOGETHER = 500  # songs in one list of commands, which may have 2 MB


@contextmanager
def _connect(address: Address) -> Iterator[Any]:
    """A connection to a player; whatever it refuses is a FileError."""
    mpd = import_extra("mpd", extra="mpd", purpose="a player (MPD)")
    client = mpd.MPDClient()
    client.timeout = _PATIENCE
    try:
        client.connect(address.host, address.port or _PORT)
        if address.user or IN_ENVIRONMENT in os.environ:
            client.password(library.find_password(address))
        yield client
    except mpd.CommandError as error:
        said = str(error).rpartition("} ")[2]
        hint = f"; set {IN_ENVIRONMENT} to its password" if "permission" in said.lower() else ""
        raise FileError(f"{address.place}: refuses ({said}){hint}") from None
    except (OSError, mpd.MPDError) as error:
        raise FileError(f"{address.place}: cannot be reached ({error})") from None
    finally:
        with suppress(OSError, mpd.MPDError):  # it is gone already
            client.disconnect()


@dataclass
class MpdPlaylist:
    """A stored playlist of a player, or its queue, as it was opened."""

    address: Address
    name: str
    songs: tuple[str, ...]  # files, of the queue their ids, in the order opened
    written: tuple[str, ...] = ()  # what was put there since

    def write(self, entries: Sequence[int], name: str | None = None) -> str:
        """Put the order in its place, how it was under another name; or store it as a new playlist."""
        wanted, before = [self.songs[i] for i in entries], self.written or self.songs
        queue, place = self.address.kind == "queue", self.address.place
        with _connect(self.address) as client:
            files = {song["id"]: song["file"] for song in client.playlistinfo()} if queue else {}
            library.check_unchanged(self.name, files if queue else client.listplaylist(self.name), before)
            if name is not None and name != self.name:
                _store(client, name, [files.get(song, song) for song in wanted])
                return f"playlist {name!r} at {place}"
            kept = library.backup_name(self.name, _names(client))
            if queue:
                client.save(kept)
                wanted = list(dict.fromkeys([*wanted, *before]))
                _reorder(client, list(before), wanted)
            else:
                _store(client, self.name, wanted, kept)
            self.written = tuple(wanted)
        if queue:
            return f"the queue at {place}; as it was: playlist {kept!r}"
        return f"playlist {self.name!r} at {place}; as it was: {kept!r}"


def _reorder(client: Any, before: list[str], wanted: list[str]) -> None:
    """Bring the queue into another order, the song that plays going on; as it was where that fails."""
    try:
        _arrange(client, list(before), wanted)
    except Exception:
        there = {song["id"]: None for song in client.playlistinfo()}
        _arrange(client, list(there), [one for one in before if one in there])
        raise


def _arrange(client: Any, now: list[str], wanted: list[str]) -> None:
    """Move the songs of the queue by their ids, in one list of commands, those alone that stand elsewhere."""
    client.command_list_ok_begin()
    for position, song in enumerate(wanted):
        if now[position] != song:
            now.remove(song)
            now.insert(position, song)
            client.moveid(song, position)
    client.command_list_end()


def _names(client: Any) -> list[str]:
    return [one["playlist"] for one in client.listplaylists()]


def _store(client: Any, name: str, files: Sequence[str], kept: str = "") -> None:
    """A new playlist, or one in place of another, which gets the name that is kept; none where anything fails."""
    # It is made under a hidden name, in parts that a player takes at once; the names change in one step.
    there, fresh = _names(client), f".{name} (fabula)"
    if name in there and not kept:
        raise InputError(f"there is a playlist {name!r} already; choose another name")
    if fresh in there:  # of a run that was ended
        client.rm(fresh)
    try:
        for start in range(0, len(files), _TOGETHER):
            client.command_list_ok_begin()
            for file in files[start : start + _TOGETHER]:
                client.playlistadd(fresh, file)
            client.command_list_end()
        if client.listplaylist(fresh) != list(files):
            raise FileError(f"the player did not take all songs of {name!r}")
        client.command_list_ok_begin()
        if kept:
            client.rename(name, kept)
        client.rename(fresh, name)
        client.command_list_end()
    except Exception:
        if fresh in _names(client):
            client.rm(fresh)
        raise


def _text(song: dict[str, Any], name: str) -> str:
    """What a song says under a name; several of one kind are told together."""
    value = song.get(name, "")
    return "; ".join(value) if isinstance(value, list) else str(value)


def _entry(song: dict[str, Any]) -> Entry:
    title = _text(song, "title") or _text(song, "name") or song["file"].rpartition("/")[2].rpartition(".")[0]
    texts = {name: _text(song, name) for name in ("album", "genre")}
    return make_entry(song["file"], title, _text(song, "artist"), song.get("duration") or song.get("time"), texts)


def open_mpd(paths: Sequence[str], opening: Opening) -> Source:
    """Open the queue or a stored playlist of a player."""
    address = library.read_address(paths[0], _KINDS)
    if not address.host:
        raise InputError(f"{paths[0]}: takes mpd://HOST/queue or mpd://HOST/playlist/NAME")
    with _connect(address) as client:
        if address.kind == "queue":
            name, songs = "queue", client.playlistinfo()
        else:
            names = _names(client)
            choices = [Choice(name, name, len(client.listplaylist(name))) for name in names]
            name = names[choose_collection(address.place, choices, address.name or opening.collection)]
            songs = client.listplaylistinfo(name)
    if not songs:
        raise FileError(f"{address.place}: the {name} has no songs")
    try:
        home = MpdPlaylist(address, name, tuple(song["id" if address.kind == "queue" else "file"] for song in songs))
        playlist = Playlist(tuple(map(_entry, songs)), name, "mpd")
    except (LookupError, TypeError, AttributeError) as error:  # such as a song without a file
        raise FileError(f"{address.place}: answers what no such player says ({error!r})") from None
    return library.open_songs(paths[0], address, playlist, home, opening, None)


READER = Reader("library", open_mpd, schemes=("mpd",), several=True)
