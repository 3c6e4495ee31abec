"""Subsonic and OpenSubsonic: Navidrome, gonic, Supysonic, Ampache and others that speak their interface.

What is sent, the password among it, goes in the body of a request.
"""

import hashlib
import http.client
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fabula.sources.libraries.servers import Server, ServerError, open_server
from fabula.sources.playlists.entries import Entry, make_entry
from fabula.sources.registry import Reader
from fabula.sources.tables.roles import feature_name

_BY_PASSWORD = (10, 41, 42)  # errors of servers that know no tokens: they miss the password, or say so
_DENIED = (40, 44)
_NUMBERS = ("bpm", "year", "track")


class _Subsonic(Server):
    """A server and who asks it: by a token, or by the password where it knows no tokens."""

    keys = ("id", "name", "songCount")
    _by_token = True

    def call(self, method: str, *pairs: tuple[str, str], **named: str) -> dict[str, Any]:
        """The answer to a method of the interface; a ServerError where it fails."""
        try:
            return self._answer(method, [*named.items(), *pairs])
        except ServerError as error:
            if error.code not in _BY_PASSWORD or not self._by_token:
                raise
        self._by_token = False
        return self._answer(method, [*named.items(), *pairs])

    def playlists(self) -> list[Mapping[str, Any]]:
        return list((self.call("getPlaylists").get("playlists") or {}).get("playlist") or [])

    def items(self, which: str) -> list[Mapping[str, Any]]:
        return list(self.call("getPlaylist", id=which)["playlist"].get("entry") or [])

    def entry(self, song: Mapping[str, Any]) -> Entry:
        numbers = {feature_name(name): float(song.get(name) or 0) for name in _NUMBERS}
        texts = {name: str(song.get(name) or "") for name in ("album", "genre", "id")}
        length = float(song["duration"]) if song.get("duration") else None
        return make_entry(song.get("path"), song.get("title"), song.get("artist"), length, {**texts, **numbers})

    def fetch(self, song: Mapping[str, Any], target: Path) -> None:
        self.save(self._post("download", [("id", str(song["id"]))]), target)

    def _answer(self, method: str, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
        place, answer = self.address.place, self._post(method, pairs)
        said = self.read(answer, method)
        told = said.get("subsonic-response") if isinstance(said, dict) else None
        if not isinstance(told, dict) or "status" not in told:
            raise ServerError(f"{place}: answers {method} with {answer.status}, which no Subsonic server says")
        if told["status"] == "ok":
            return told
        problem = told.get("error") or {}
        code, why = int(problem.get("code") or 0), str(problem.get("message") or "no reason is given")
        if code in _DENIED:
            raise ServerError(f"{place}: does not know the user {self.address.user!r} with this password", code)
        raise ServerError(f"{place}: refuses {method} ({why})", code)

    def _post(self, method: str, pairs: Sequence[tuple[str, str]]) -> http.client.HTTPResponse:
        who = {"u": self.address.user, "v": "1.13.0", "c": "fabula", "f": "json"}
        if self._by_token:  # proves the password without telling it
            salt = secrets.token_hex(8)
            proof = hashlib.md5((self._secret + salt).encode(), usedforsecurity=False).hexdigest()
            who |= {"t": proof, "s": salt}
        else:
            who["p"] = "enc:" + self._secret.encode().hex()
        return self.send("POST", f"/rest/{method}.view", urlencode([*who.items(), *pairs]).encode())

    def names(self) -> list[tuple[str, str]]:
        user = self.address.user
        mine = [one for one in self.playlists() if one.get("owner", user) == user]
        return [(str(one["id"]), str(one["name"])) for one in mine]

    def create(self, name: str, songs: Sequence[str]) -> None:
        self.call("createPlaylist", ("name", name), *(("songId", song) for song in songs))

    def fill(self, songs: Sequence[str]) -> None:
        # in one request, which a server carries out whole or not at all
        pairs = (("playlistId", self.id), ("name", self.name))
        self.call("createPlaylist", *pairs, *(("songId", song) for song in songs))

    def delete(self, which: str) -> None:
        self.call("deletePlaylist", id=which)

    def describe(self, which: str) -> None:
        now = self.call("getPlaylist", id=which)["playlist"]
        comment, public = str(self.told.get("comment") or ""), bool(self.told.get("public"))
        if str(now.get("comment") or "") != comment or bool(now.get("public")) != public:
            changed = {"comment": comment, "public": "true" if public else "false"}
            self.call("updatePlaylist", playlistId=which, **changed)

    @property
    def fixed(self) -> str:
        owner = self.told.get("owner")
        return f"belongs to {owner}" if owner and owner != self.address.user else ""


READER = Reader("library", partial(open_server, _Subsonic), schemes=("subsonic", "subsonic+http"), several=True)
