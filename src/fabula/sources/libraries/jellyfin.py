"""Jellyfin (10.9 and newer): ``jellyfin://USER@HOST/playlist/NAME``, by its own interface."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fabula.sources.libraries.servers import Server, ServerError, ServerPlaylist, make_entry, open_server
from fabula.sources.playlists.entries import Entry
from fabula.sources.registry import Reader

_TICKS = 10_000_000  # in a second
_WHO = 'MediaBrowser Client="fabula", Device="fabula", DeviceId="fabula", Version="1"'


class JellyfinServer(Server):
    """A server and who asks it: by a token that the password is given for."""

    keys = ("Id", "Name", "ChildCount")
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

    def playlists(self) -> list[Mapping[str, Any]]:
        """The playlists of this user."""
        asked: dict[str, Any] = {"includeItemTypes": "Playlist", "recursive": "true", "fields": "ChildCount"}
        found: list[Mapping[str, Any]] = self.ask("GET", "/Items", userId=self.user, **asked).get("Items") or []
        return found

    def items(self, which: str) -> list[Mapping[str, Any]]:
        """What it says of the songs of a playlist, in their order."""
        told = self.ask("GET", f"/Playlists/{which}/Items", userId=self.user, fields="Path,Genres")
        items: list[Mapping[str, Any]] = told.get("Items") or []
        return items

    def entry(self, song: Mapping[str, Any]) -> Entry:
        """A song as an entry."""
        numbers = {"year": float(song.get("ProductionYear") or 0), "track": float(song.get("IndexNumber") or 0)}
        texts = {"album": song.get("Album"), "genre": ", ".join(song.get("Genres") or ()), "id": song["Id"]}
        length = song["RunTimeTicks"] / _TICKS if song.get("RunTimeTicks") else None
        artist = ", ".join(song.get("Artists") or ()) or song.get("AlbumArtist")
        return make_entry(song.get("Path"), song.get("Name"), artist, length, {**texts, **numbers})

    def fetch(self, song: Mapping[str, Any], target: Path) -> None:
        """Write the file of a song to a path."""
        self.save(self._send("GET", f"/Audio/{quote(str(song['Id']))}/stream?static=true", None), target)

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


_open = partial(open_server, JellyfinServer, JellyfinPlaylist)
READER = Reader("library", _open, schemes=("jellyfin", "jellyfin+http"), several=True)
