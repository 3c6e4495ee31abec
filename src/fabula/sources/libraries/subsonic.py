"""Subsonic and OpenSubsonic: Navidrome, gonic, Supysonic, Ampache and others that speak their interface.

``subsonic://USER@HOST/playlist/NAME`` is asked by HTTPS, by HTTP where the host is this machine, and
``subsonic+http://...`` by HTTP. What is sent, the password among it, goes in the body of a request, never in its
address, which servers and proxies write into their logs.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode

from fabula.errors import FileError, InputError
from fabula.sources.libraries.library import Address, backup_name, find_password, open_songs, read_address
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.registry import Choice, Opening, Reader, Source, choose_collection
from fabula.sources.tables.roles import feature_name

_PATIENCE = 180.0  # seconds for a server to answer: some take minutes for ten thousand songs
_MOST_TOLD = 64 << 20  # bytes of an answer
_MOST_SONG = 2 << 30  # bytes of a song
_BLOCK = 1 << 16
_HERE = ("localhost", "127.0.0.1", "::1")
_BY_PASSWORD = (10, 41, 42)  # errors of servers that know no tokens: they miss the password, or say so
_DENIED = (40, 44)
_NUMBERS = ("bpm", "year", "track")


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: what is sent is meant for one server."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> NoReturn:
        raise urllib.error.HTTPError(newurl, code, "it leads to another address; name that one", headers, fp)


class SubsonicError(FileError):
    """What a server answers in place of what was asked, and the number of its error."""

    def __init__(self, message: str, code: int = 0) -> None:
        self.code = code
        super().__init__(message)


class Server:
    """A server and who asks it: by a token, or by the password where it knows no tokens."""

    def __init__(self, address: Address, password: str) -> None:
        self.address = address
        self._password = password
        self._by_token = True

    def __repr__(self) -> str:
        return f"<Server {self.address.place}>"

    def ask(self, method: str, *pairs: tuple[str, str], **named: str) -> dict[str, Any]:
        """The answer to a method of the interface; a SubsonicError where it fails."""
        try:
            return self._answer(method, [*named.items(), *pairs])
        except SubsonicError as error:
            if error.code not in _BY_PASSWORD or not self._by_token:
                raise
        self._by_token = False
        return self._answer(method, [*named.items(), *pairs])

    def fetch(self, song: str, target: Path) -> None:
        """Write the file of a song to a path."""
        done = 0
        with self._send("download", [("id", song)]) as answer, target.open("wb") as file:
            kind = answer.headers.get("Content-Type", "")
            if answer.status != 200 or any(name in kind for name in ("json", "xml", "html")):
                raise SubsonicError(f"{self.address.place}: does not send it")
            while block := answer.read(_BLOCK):
                done += len(block)
                if done > _MOST_SONG:
                    raise SubsonicError(f"{self.address.place}: sends more than {_MOST_SONG >> 30} GB for a song")
                file.write(block)

    def _secret(self) -> dict[str, str]:
        """What proves the password: without telling it, where the server can do with that."""
        if not self._by_token:
            return {"p": "enc:" + self._password.encode().hex()}
        salt = secrets.token_hex(8)
        return {"t": hashlib.md5((self._password + salt).encode(), usedforsecurity=False).hexdigest(), "s": salt}

    def _answer(self, method: str, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
        place = self.address.place
        with self._send(method, pairs) as answer:
            data = answer.read(_MOST_TOLD + 1)
        try:
            told = json.loads(data if len(data) <= _MOST_TOLD else b"")["subsonic-response"]
            failed = told["status"] != "ok"
        except (ValueError, KeyError, TypeError, RecursionError):
            how = f"{answer.status} ({answer.reason})"
            raise SubsonicError(f"{place}: answers {method} with {how}, which no Subsonic server says") from None
        if not failed:
            return dict(told)
        problem = told.get("error") or {}
        code, said = int(problem.get("code") or 0), str(problem.get("message") or "no reason is given")
        if code in _DENIED:
            raise SubsonicError(f"{place}: does not know the user {self.address.user!r} with this password", code)
        raise SubsonicError(f"{place}: refuses {method} ({said})", code)

    def _send(self, method: str, pairs: Sequence[tuple[str, str]]) -> http.client.HTTPResponse:
        who = {"u": self.address.user, "v": "1.13.0", "c": "fabula", "f": "json", **self._secret()}
        body = urlencode([*who.items(), *pairs]).encode()
        address = self.address
        plain = address.scheme.endswith("+http") or (address.scheme == "subsonic" and address.host in _HERE)
        url = f"{'http' if plain else 'https'}://{address.place}{address.prefix}/rest/{method}.view"
        request = urllib.request.Request(url, data=body, headers={"User-Agent": "fabula"})
        try:
            return urllib.request.build_opener(_StayHere).open(request, timeout=_PATIENCE)  # type: ignore[no-any-return]
        except urllib.error.HTTPError as error:
            return error  # type: ignore[return-value]  # an answer, too: some say in it what is wrong
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            hint = "" if plain else "; a server without HTTPS is subsonic+http://..."
            raise SubsonicError(f"{address.place}: cannot be reached ({reason}){hint}") from None


@dataclass(frozen=True)
class SubsonicPlaylist:
    """One playlist of a server, as it was opened: where its order goes back to."""

    server: Server
    told: Mapping[str, Any]
    songs: tuple[str, ...]  # their ids, in the order opened

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.told["name"])

    def write(self, entries: Sequence[int], name: str | None = None) -> str:
        """Put entries, by their numbers, into the playlist, or into a new one of another name; says what was written.

        In its place: how it was is kept as another playlist first, and its id, comment and who may see it stay. All
        songs go in one request, which a server carries out whole or not at all. Where it has changed since it was
        opened nothing is written.
        """
        ask = self.server.ask
        songs = [self.songs[i] for i in entries]
        if _songs(ask("getPlaylist", id=self.told["id"])["playlist"]) != self.songs:
            raise InputError(f"{self.name!r} has changed since it was opened; nothing was written: order it again")
        place = self.server.address.place
        if name is not None and name != self.name:
            self._create(name, songs)
            return f"playlist {name!r} at {place}"
        owner = self.told.get("owner")
        if owner and owner != self.server.address.user:
            raise InputError(f"{self.name!r} belongs to {owner}; --as NAME writes a playlist of your own")
        kept = backup_name(self.name)
        self._create(kept, self.songs)
        self._replace(songs)
        return f"playlist {self.name!r} at {place}; as it was: {kept!r}"

    def _create(self, name: str, songs: Sequence[str]) -> None:
        """A new playlist with the comment and the sight of this one; none where anything fails."""
        ask, there = self.server.ask, _playlists(self.server)
        if any(one["name"] == name for one in there if one.get("owner") == self.server.address.user):
            raise InputError(f"{self.server.address.place} has a playlist {name!r} already; choose another name")
        before = {one["id"] for one in there}
        try:
            ask("createPlaylist", ("name", name), *(("songId", song) for song in songs))
            made = ask("getPlaylist", id=self._find_new(name, before)["id"])["playlist"]
            if _songs(made) != tuple(songs):
                raise SubsonicError(f"{self.server.address.place}: did not take all songs of {name!r}")
            self._describe(made)
        except FileError:
            self._remove(name, before)
            raise

    def _find_new(self, name: str, before: set[Any]) -> dict[str, Any]:
        found = [one for one in _playlists(self.server) if one["id"] not in before and one["name"] == name]
        if not found:
            raise SubsonicError(f"{self.server.address.place}: made no playlist {name!r}")
        return found[-1]

    def _remove(self, name: str, before: set[Any]) -> None:
        """Take back what was made of a new playlist, where the server can still be asked."""
        try:
            self.server.ask("deletePlaylist", id=self._find_new(name, before)["id"])
        except FileError:
            return

    def _describe(self, now: Mapping[str, Any]) -> None:
        """Give a playlist the comment and the sight of this one, where it has others."""
        comment, public = str(self.told.get("comment") or ""), bool(self.told.get("public"))
        if str(now.get("comment") or "") != comment or bool(now.get("public")) != public:
            changed = {"comment": comment, "public": "true" if public else "false"}
            self.server.ask("updatePlaylist", playlistId=str(now["id"]), **changed)

    def _replace(self, songs: Sequence[str]) -> None:
        """Replace the songs, and look what has become of them: an answer may be lost on the way."""
        ask, which = self.server.ask, str(self.told["id"])
        pairs = [("playlistId", which), ("name", self.name)]
        trouble = ""
        try:
            ask("createPlaylist", *pairs, *(("songId", song) for song in songs))
        except SubsonicError as error:
            trouble = str(error)
        now = ask("getPlaylist", id=which)["playlist"]
        if _songs(now) == tuple(songs):
            self._describe(now)
            return
        if _songs(now) != self.songs:
            ask("createPlaylist", *pairs, *(("songId", song) for song in self.songs))
        raise SubsonicError(f"{trouble or self.server.address.place + ': did not take the order'}; it is as it was")


def _playlists(server: Server) -> list[dict[str, Any]]:
    found = server.ask("getPlaylists").get("playlists") or {}
    return [dict(one, id=str(one["id"])) for one in found.get("playlist") or ()]


def _songs(playlist: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(song["id"]) for song in playlist.get("entry") or ())


def _entry(song: Mapping[str, Any]) -> Entry:
    """A song as an entry: what the server says of it, numbers by the names they have in tables."""
    numbers = {feature_name(name): float(song[name]) for name in _NUMBERS if song.get(name)}
    texts = {name: str(song[name]) for name in ("album", "genre", "id") if song.get(name)}
    length = float(song["duration"]) if song.get("duration") else None
    return Entry(str(song.get("path") or ""), str(song.get("title") or ""), str(song.get("artist") or ""), length,
                 {**texts, **numbers})  # fmt: skip


def open_subsonic(paths: Sequence[str], opening: Opening) -> Source:
    """Open a playlist of a server."""
    address = read_address(paths[0])
    if not address.host or not address.user:
        raise InputError(f"{paths[0]}: takes subsonic://USER@HOST/playlist/NAME")
    server = Server(address, find_password(address))
    found = _playlists(server)
    wanted = address.name or opening.collection
    known = [one["id"] for one in found]
    choices = [Choice(str(one["name"]), str(one["name"]), int(one.get("songCount") or 0)) for one in found]
    number = known.index(wanted) if wanted in known else choose_collection(address.place, choices, wanted)
    told = server.ask("getPlaylist", id=known[number])["playlist"]
    songs = _songs(told)
    playlist = Playlist(tuple(map(_entry, told.get("entry") or ())), str(told["name"]), "subsonic")
    home = SubsonicPlaylist(server, told, songs)
    fetch = lambda row, target: server.fetch(songs[row], target)  # noqa: E731
    return open_songs(paths[0], address, playlist, home, opening, fetch)


READER = Reader("library", open_subsonic, schemes=("subsonic", "subsonic+http"), several=True)
