"""Plex: ``plex://HOST/playlist/NAME``, by its own interface; the password is a token of Plex.

A playlist of Plex is moved song by song or made anew, never replaced in one request. So an order is made under a hidden
name first, in parts; then it takes the name of the old one, which is renamed last. Its id is a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fabula.errors import InputError
from fabula.sources.libraries.library import find_password, open_songs, read_address
from fabula.sources.libraries.servers import Server, ServerError, ServerPlaylist, choose_playlist
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.registry import Opening, Reader, Source

_TOGETHER = 200  # songs in one request: they stand in its address


class PlexServer(Server):
    """A server, and the token of who asks it."""

    def ask(self, method: str, path: str, **query: str) -> Mapping[str, Any]:
        """What the server answers; a ServerError where it refuses."""
        answer = self._send(method, path + (f"?{urlencode(query)}" if query else ""))
        if answer.status >= 400:
            answer.close()
            if answer.status in (401, 403):
                raise ServerError(f"{self.address.place}: does not take this token", answer.status)
            why = f"{answer.status} {answer.reason}"
            raise ServerError(f"{self.address.place}: refuses {method} {path} ({why})", answer.status)
        told: Mapping[str, Any] = self.read(answer, path).get("MediaContainer") or {}
        return told

    def fetch(self, part: str, target: Path) -> None:
        """Write the file of a song, by the address of its part, to a path."""
        self.save(self._send("GET", f"{part}?download=1"), target)

    def name_songs(self, songs: Sequence[str]) -> str:
        """How songs are named to it."""
        which = self.ask("GET", "/identity")["machineIdentifier"]
        return f"server://{which}/com.plexapp.plugins.library/library/metadata/{','.join(songs)}"

    def _send(self, method: str, path: str) -> Any:
        told = {"X-Plex-Token": self._secret, "X-Plex-Product": "fabula", "X-Plex-Client-Identifier": "fabula"}
        return self.send(method, path, None, {**told, "Accept": "application/json"})


@dataclass
class PlexPlaylist(ServerPlaylist):
    """One playlist of a server."""

    server: PlexServer

    def names(self) -> list[tuple[str, str]]:
        """The id and the name of every playlist of this user."""
        return [(str(one["ratingKey"]), str(one["title"])) for one in _playlists(self.server)]

    def read(self, which: str) -> tuple[str, ...]:
        """The songs of a playlist."""
        return tuple(str(song["ratingKey"]) for song in _items(self.server, which))

    def create(self, name: str, songs: Sequence[str]) -> None:
        """Make a playlist."""
        first = self.server.name_songs(songs[:_TOGETHER])
        made = self.server.ask("POST", "/playlists", type="audio", title=name, smart="0", uri=first)
        which = str(made["Metadata"][0]["ratingKey"])
        for start in range(_TOGETHER, len(songs), _TOGETHER):
            more = self.server.name_songs(songs[start : start + _TOGETHER])
            self.server.ask("PUT", f"/playlists/{which}/items", uri=more)

    def fill(self, songs: Sequence[str]) -> None:
        """Is not there: see :meth:`replace`."""
        raise ServerError(f"{self.server.address.place}: replaces no songs")

    def delete(self, which: str) -> None:
        """Delete a playlist."""
        self.server.ask("DELETE", f"/playlists/{which}")

    def describe(self, which: str) -> None:
        """Give a playlist the summary of this one."""
        if self.told.get("summary"):
            self._edit(which, "summary", str(self.told["summary"]))

    def replace(self, songs: tuple[str, ...], kept: str) -> None:
        """Make the order under a hidden name, give it the name of this playlist, and this one the name that is kept."""
        hidden = f".{self.name} (fabula)"
        for which in [one for one, name in self.names() if name == hidden]:  # of runs that were ended
            self.delete(which)
        made = self.create_whole(hidden, songs)
        try:
            self._edit(made, "title", self.name)
            self._edit(self.id, "title", kept)
            self.id = made
        except ServerError as error:
            names = dict(self.names())
            if names.get(self.id) == kept and names.get(made) == self.name:
                self.id = made
                return  # it was done, and the answer lost
            self.delete(made)
            raise ServerError(f"{error}; it is as it was") from None

    def _edit(self, which: str, field: str, text: str) -> None:
        self.server.ask("PUT", f"/playlists/{which}", **{f"{field}.value": text, f"{field}.locked": "1"})


def _playlists(server: PlexServer) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = server.ask("GET", "/playlists", playlistType="audio").get("Metadata") or []
    return found


def _items(server: PlexServer, which: str) -> list[Mapping[str, Any]]:
    items: list[Mapping[str, Any]] = server.ask("GET", f"/playlists/{which}/items").get("Metadata") or []
    return items


def _part(song: Mapping[str, Any]) -> Mapping[str, Any]:
    """The file of a song: where it lies, and the address it is had by."""
    parts = [part for media in song.get("Media") or () for part in media.get("Part") or ()]
    return parts[0] if parts else {}


def _entry(song: Mapping[str, Any]) -> Entry:
    """A song as an entry: what the server says of it."""
    names = (("parentYear", "year"), ("index", "track"), ("userRating", "rating"))
    numbers = {name: float(song[key]) for key, name in names if song.get(key)}
    genres = ", ".join(str(one.get("tag", "")) for one in song.get("Genre") or ())
    texts = {"album": str(song.get("parentTitle") or ""), "genre": genres, "id": str(song["ratingKey"])}
    length = song["duration"] / 1000 if song.get("duration") else None
    artist = str(song.get("originalTitle") or song.get("grandparentTitle") or "")
    details = {**{name: text for name, text in texts.items() if text}, **numbers}
    return Entry(str(_part(song).get("file") or ""), str(song.get("title") or ""), artist, length, details)


def open_plex(paths: Sequence[str], opening: Opening) -> Source:
    """Open a playlist of a server."""
    address = read_address(paths[0])
    if not address.host:
        raise InputError(f"{paths[0]}: takes plex://HOST/playlist/NAME")
    server = PlexServer(address, find_password(address))
    found = [one for one in _playlists(server) if not one.get("smart")]
    known = [(str(one["ratingKey"]), str(one["title"]), int(one.get("leafCount") or 0)) for one in found]
    told = found[choose_playlist(address, known, opening)]
    which, name = str(told["ratingKey"]), str(told["title"])
    items = _items(server, which)
    home = PlexPlaylist(server, which, name, tuple(str(song["ratingKey"]) for song in items), told)
    playlist = Playlist(tuple(map(_entry, items)), home.name, "plex")
    fetch = lambda row, target: server.fetch(str(_part(items[row]).get("key") or ""), target)  # noqa: E731
    return open_songs(paths[0], address, playlist, home, opening, fetch)


READER = Reader("library", open_plex, schemes=("plex", "plex+http"), several=True)
