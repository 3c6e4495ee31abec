"""Jellyfin (10.9 and newer): ``jellyfin://USER@HOST/playlist/NAME``, by its own interface."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from fabula.sources.libraries.library import Address
from fabula.sources.libraries.servers import Server, ServerError, open_server
from fabula.sources.playlists.entries import Entry, make_entry
from fabula.sources.registry import Reader

_TICKS = 10_000_000  # in a second
_WHO = 'MediaBrowser Client="fabula", Device="fabula", DeviceId="fabula", Version="1"'


class _Jellyfin(Server):
    """A server and who asks it: by a token that the password is given for."""

    keys = ("Id", "Name", "ChildCount")
    denied: ClassVar[Mapping[int, str]] = {401: "does not know the user {user!r} with this password"}
    _user: str | None = None  # the id of who asks, once the server has told it

    def __init__(self, address: Address, secret: str) -> None:
        super().__init__(address, secret)
        self.headers |= {"Authorization": _WHO, "Content-Type": "application/json"}

    @property
    def user(self) -> str:
        """The id of who asks."""
        if self._user is None:
            said = {"Username": self.address.user, "Pw": self._secret}
            told = self.ask("POST", "/Users/AuthenticateByName", said)
            self._user = str(told["User"]["Id"])
            self.headers["Authorization"] += f', Token="{told["AccessToken"]}"'
        if not self._user:
            raise ServerError(f"{self.address.place}: says no id of the user")
        return self._user

    def playlists(self) -> list[Mapping[str, Any]]:
        asked: dict[str, Any] = {"includeItemTypes": "Playlist", "recursive": "true", "fields": "ChildCount"}
        return list(self.ask("GET", "/Items", userId=self.user, **asked).get("Items") or [])

    def items(self, which: str) -> list[Mapping[str, Any]]:
        told = self.ask("GET", f"/Playlists/{which}/Items", userId=self.user, fields="Path,Genres")
        return list(told.get("Items") or [])

    def entry(self, song: Mapping[str, Any]) -> Entry:
        numbers = {"year": float(song.get("ProductionYear") or 0), "track": float(song.get("IndexNumber") or 0)}
        texts = {"album": song.get("Album"), "genre": ", ".join(song.get("Genres") or ()), "id": song["Id"]}
        length = song["RunTimeTicks"] / _TICKS if song.get("RunTimeTicks") else None
        artist = ", ".join(song.get("Artists") or ()) or song.get("AlbumArtist")
        return make_entry(song.get("Path"), song.get("Name"), artist, length, {**texts, **numbers})

    def fetch(self, song: Mapping[str, Any], target: Path) -> None:
        self.save(self.send("GET", f"/Audio/{quote(str(song['Id']))}/stream?static=true"), target)

    @property
    def fixed(self) -> str:
        ids = self.ask("GET", f"/Playlists/{self.id}").get("ItemIds") or ()
        there = tuple(which.replace("-", "").lower() for which in ids)  # as they stand in lists of items
        return "" if there == self.known else "holds songs that you may not see"

    def create(self, name: str, songs: Sequence[str]) -> None:
        told = {"Name": name, "Ids": list(songs), "UserId": self.user, "MediaType": "Audio", "IsPublic": False}
        self.ask("POST", "/Playlists", told)

    def fill(self, songs: Sequence[str]) -> None:
        self.ask("POST", f"/Playlists/{self.id}", {"Ids": list(songs)})

    def delete(self, which: str) -> None:
        self.ask("DELETE", f"/Items/{which}")

    def describe(self, which: str) -> None:
        if which != self.id:
            here = self.ask("GET", f"/Playlists/{self.id}")
            sight = {"IsPublic": bool(here.get("OpenAccess")), "Users": here.get("Shares") or []}
            self.ask("POST", f"/Playlists/{which}", sight)


READER = Reader("library", partial(open_server, _Jellyfin), schemes=("jellyfin", "jellyfin+http"), several=True)
