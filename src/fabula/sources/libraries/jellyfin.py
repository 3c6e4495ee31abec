"""Jellyfin (10.9 and newer): ``jellyfin://USER@HOST/playlist/NAME``, by its own interface."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fabula.errors import InputError
from fabula.sources.libraries.library import find_password, open_songs, read_address
from fabula.sources.libraries.servers import Server, ServerError, ServerPlaylist, choose_playlist
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.registry import Opening, Reader, Source

_TICKS = 10_000_000  # in a second
_WHO = 'MediaBrowser Client="fabula", Device="fabula", DeviceId="fabula", Version="1"'


class JellyfinServer(Server):
    """A server and who asks it: by a token that the password is given for."""

    _known: tuple[str, str] | None = None  # the user's id and token

    @property
    def user(self) -> str:
        """The id of who asks."""
        if self._known is None:
            told = self.ask(
                "POST", "/Users/AuthenticateByName", {"Username": self.address.user, "Pw": self._secret}, known=False
            )
            self._known = str(told["User"]["Id"]), str(told["AccessToken"])
        return self._known[0]

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, known: bool = True, **query: str
    ) -> Any:
        """What the server answers to who is known to it, or not yet; a ServerError where it refuses."""
        place = self.address.place
        if known and not self.user:
            raise ServerError(f"{place}: says no id of the user")
        data = None if body is None else json.dumps(body).encode()
        answer = self._send(method, path + (f"?{urlencode(query)}" if query else ""), data)
        if answer.status == 401:
            answer.close()
            raise ServerError(f"{place}: does not know the user {self.address.user!r} with this password", 401)
        if answer.status >= 400:
            answer.close()
            raise ServerError(f"{place}: refuses {method} {path} ({answer.status} {answer.reason})", answer.status)
        return self.read(answer, path)

    def fetch(self, song: str, target: Path) -> None:
        """Write the file of a song to a path."""
        self.save(self._send("GET", f"/Audio/{quote(song)}/stream?static=true", None), target)

    def _send(self, method: str, path: str, body: bytes | None) -> Any:
        who = _WHO + (f', Token="{self._known[1]}"' if self._known else "")
        return self.send(method, path, body, {"Authorization": who, "Content-Type": "application/json"})


@dataclass
class JellyfinPlaylist(ServerPlaylist):
    """One playlist of a server. Its id and who may see it stay; all songs go in one request."""

    server: JellyfinServer

    @property
    def fixed(self) -> str:
        """Why this playlist cannot be replaced; "" where it can."""
        there = tuple(map(_plain, self._tell(self.id).get("ItemIds") or ()))
        return "" if there == self.known else "holds songs that you may not see"

    def names(self) -> list[tuple[str, str]]:
        """The id and the name of every playlist of this user."""
        return [(str(one["Id"]), str(one["Name"])) for one in _playlists(self.server)]

    def read(self, which: str) -> tuple[str, ...]:
        """The songs of a playlist."""
        return tuple(str(song["Id"]) for song in _items(self.server, which))

    def create(self, name: str, songs: Sequence[str]) -> None:
        """Make a playlist."""
        told = {"Name": name, "Ids": list(songs), "UserId": self.server.user, "MediaType": "Audio", "IsPublic": False}
        self.server.ask("POST", "/Playlists", told)

    def fill(self, songs: Sequence[str]) -> None:
        """Replace the songs of this playlist, in one request."""
        self.server.ask("POST", f"/Playlists/{self.id}", {"Ids": list(songs)})

    def delete(self, which: str) -> None:
        """Delete a playlist."""
        self.server.ask("DELETE", f"/Items/{which}")

    def describe(self, which: str) -> None:
        """Give a playlist the sight of this one, where it has another."""
        if which != self.id:
            here = self._tell(self.id)
            sight = {"IsPublic": bool(here.get("OpenAccess")), "Users": here.get("Shares") or []}
            self.server.ask("POST", f"/Playlists/{which}", sight)

    def _tell(self, which: str) -> Mapping[str, Any]:
        """What the server says of a playlist beside its songs."""
        told: Mapping[str, Any] = self.server.ask("GET", f"/Playlists/{which}")
        return told


def _plain(which: str) -> str:
    """An id as it stands in lists of items."""
    return which.replace("-", "").lower()


def _playlists(server: JellyfinServer) -> list[Mapping[str, Any]]:
    asked: dict[str, Any] = {"includeItemTypes": "Playlist", "recursive": "true", "fields": "ChildCount"}
    told = server.ask("GET", "/Items", None, userId=server.user, **asked)
    found: list[Mapping[str, Any]] = told.get("Items") or []
    return found


def _items(server: JellyfinServer, which: str) -> list[Mapping[str, Any]]:
    told = server.ask("GET", f"/Playlists/{which}/Items", userId=server.user, fields="Path,Genres")
    items: list[Mapping[str, Any]] = told.get("Items") or []
    return items


def _entry(song: Mapping[str, Any]) -> Entry:
    """A song as an entry: what the server says of it."""
    numbers = {name: float(song[key]) for key, name in (("ProductionYear", "year"), ("IndexNumber", "track"))
               if song.get(key)}  # fmt: skip
    texts = {"album": str(song.get("Album") or ""), "genre": ", ".join(song.get("Genres") or ()), "id": str(song["Id"])}
    details = {**{name: text for name, text in texts.items() if text}, **numbers}
    length = song["RunTimeTicks"] / _TICKS if song.get("RunTimeTicks") else None
    artist = ", ".join(song.get("Artists") or ()) or str(song.get("AlbumArtist") or "")
    return Entry(str(song.get("Path") or ""), str(song.get("Name") or ""), artist, length, details)


def open_jellyfin(paths: Sequence[str], opening: Opening) -> Source:
    """Open a playlist of a server."""
    address = read_address(paths[0])
    if not address.host or not address.user:
        raise InputError(f"{paths[0]}: takes jellyfin://USER@HOST/playlist/NAME")
    server = JellyfinServer(address, find_password(address))
    found = _playlists(server)
    known = [(str(one["Id"]), str(one["Name"]), int(one.get("ChildCount") or 0)) for one in found]
    told = found[choose_playlist(address, known, opening)]
    which, name = str(told["Id"]), str(told["Name"])
    items = _items(server, which)
    home = JellyfinPlaylist(server, which, name, tuple(str(song["Id"]) for song in items))
    playlist = Playlist(tuple(map(_entry, items)), home.name, "jellyfin")
    fetch = lambda row, target: server.fetch(home.songs[row], target)  # noqa: E731
    return open_songs(paths[0], address, playlist, home, opening, fetch)


READER = Reader("library", open_jellyfin, schemes=("jellyfin", "jellyfin+http"), several=True)
