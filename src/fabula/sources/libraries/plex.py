"""Plex: ``plex://HOST/playlist/NAME``, by its own interface; the password is a token of Plex.

A playlist of Plex is moved song by song or made anew, never replaced in one request. So an order is made under a hidden
name first, in parts; then it takes the name of the old one, which is renamed last. Its id is a new one.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from fabula.sources.libraries.library import Address
from fabula.sources.libraries.servers import Server, ServerError, open_server
from fabula.sources.playlists.entries import Entry, make_entry
from fabula.sources.registry import Reader

_TOGETHER = 200  # songs in one request: they stand in its address


class _Plex(Server):
    """A server, and the token of who asks it."""

    keys = ("ratingKey", "title", "leafCount")
    by_user = False

    denied: ClassVar[Mapping[int, str]] = dict.fromkeys((401, 403), "does not take this token")

    def __init__(self, address: Address, secret: str) -> None:
        super().__init__(address, secret)
        self.headers |= {"X-Plex-Token": secret, "X-Plex-Product": "fabula", "X-Plex-Client-Identifier": "fabula"}
        self.headers |= {"Accept": "application/json"}

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: str) -> Any:
        return super().ask(method, path, body, **query).get("MediaContainer") or {}

    def playlists(self) -> list[Mapping[str, Any]]:
        found = self.ask("GET", "/playlists", playlistType="audio").get("Metadata") or []
        return [one for one in found if not one.get("smart")]  # those Plex fills itself

    def items(self, which: str) -> list[Mapping[str, Any]]:
        return list(self.ask("GET", f"/playlists/{which}/items").get("Metadata") or [])

    def entry(self, song: Mapping[str, Any]) -> Entry:
        names = (("parentYear", "year"), ("index", "track"), ("userRating", "rating"))
        numbers = {name: float(song.get(key) or 0) for key, name in names}
        genres = ", ".join(str(one.get("tag", "")) for one in song.get("Genre") or ())
        texts = {"album": song.get("parentTitle"), "genre": genres, "id": str(song["ratingKey"])}
        length = song["duration"] / 1000 if song.get("duration") else None
        artist = song.get("originalTitle") or song.get("grandparentTitle")
        return make_entry(_part(song).get("file"), song.get("title"), artist, length, {**texts, **numbers})

    def fetch(self, song: Mapping[str, Any], target: Path) -> None:
        self.save(self.send("GET", f"{_part(song).get('key') or ''}?download=1"), target)

    def name_songs(self, songs: Sequence[str]) -> str:
        """How songs are named to it."""
        which = self.ask("GET", "/identity")["machineIdentifier"]
        return f"server://{which}/com.plexapp.plugins.library/library/metadata/{','.join(songs)}"

    def create(self, name: str, songs: Sequence[str]) -> None:
        first = self.name_songs(songs[:_TOGETHER])
        made = self.ask("POST", "/playlists", type="audio", title=name, smart="0", uri=first)
        which = str(made["Metadata"][0]["ratingKey"])
        for start in range(_TOGETHER, len(songs), _TOGETHER):
            more = self.name_songs(songs[start : start + _TOGETHER])
            self.ask("PUT", f"/playlists/{which}/items", uri=more)

    def delete(self, which: str) -> None:
        self.ask("DELETE", f"/playlists/{which}")

    def describe(self, which: str) -> None:
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
            self.told = {**self.told, "ratingKey": made}
        except ServerError as error:
            names = dict(self.names())
            if names.get(self.id) == kept and names.get(made) == self.name:
                self.told = {**self.told, "ratingKey": made}
                return  # it was done, and the answer lost
            self.delete(made)
            raise ServerError(f"{error}; it is as it was") from None

    def _edit(self, which: str, field: str, text: str) -> None:
        self.ask("PUT", f"/playlists/{which}", None, **{f"{field}.value": text, f"{field}.locked": "1"})


def _part(song: Mapping[str, Any]) -> Mapping[str, Any]:
    """The file of a song: where it lies, and the address it is had by."""
    parts = [part for media in song.get("Media") or () for part in media.get("Part") or ()]
    return parts[0] if parts else {}


READER = Reader("library", partial(open_server, _Plex), schemes=("plex", "plex+http"), several=True)
