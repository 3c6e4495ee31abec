"""What servers of music share: asking over HTTP, and putting an order into a playlist without ever leaving a part.

``SCHEME://USER@HOST/playlist/NAME`` is asked by HTTPS, by HTTP where the host is this machine, and
``SCHEME+http://...`` by HTTP. Secrets go in the body or the headers of a request, never in its address, which servers
and proxies write into their logs; no redirect is followed.
"""

import http.client
import json
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from urllib.parse import urlencode

from fabula.core.files import check_nested
from fabula.errors import FabulaError, FileError, InputError
from fabula.sources.libraries import library
from fabula.sources.libraries.library import Address
from fabula.sources.playlists.entries import Entry, Playlist
from fabula.sources.registry import Choice, Opening, Source, choose_collection

_PATIENCE = 180.0  # seconds for a server to answer: some take minutes for ten thousand songs
_MOST_TOLD = 64 << 20  # bytes of an answer
_MOST_SONG = 2 << 30  # bytes of a song
_BLOCK = 1 << 16
_HERE = ("localhost", "127.0.0.1", "::1")


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: what is sent is meant for one server."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> NoReturn:
        raise urllib.error.HTTPError(newurl, code, "it leads to another address; name that one", headers, fp)


class ServerError(FileError):
    """What a server answers in place of what was asked, and the number of its error."""

    def __init__(self, message: str, code: int = 0) -> None:
        self.code = code
        super().__init__(message)


class Server(ABC):
    """A server, and its playlist that is open, where an order goes back to; each kind says how it is asked."""

    keys = ("id", "name", "count")  # what the id, the name and the size of a playlist are called there
    by_user = True  # whether it must know who asks
    denied: ClassVar[Mapping[int, str]] = {}  # what answers of some statuses mean, where JSON is asked for

    def __init__(self, address: Address, secret: str) -> None:
        self.address = address
        self._secret = secret
        self.headers = {"User-Agent": "fabula"}  # of every request
        self.told: Mapping[str, Any] = {}  # what it says of the playlist that is open
        self.songs: tuple[str, ...] = ()  # their ids, in the order opened,
        self.known: tuple[str, ...] = ()  # and as they should be there now

    def __repr__(self) -> str:  # without the secret
        return f"<{type(self).__name__} {self.address.place}>"

    @abstractmethod
    def playlists(self) -> list[Mapping[str, Any]]:
        """The playlists that may be opened."""

    @abstractmethod
    def items(self, which: str) -> list[Mapping[str, Any]]:
        """What it says of the songs of a playlist, in their order."""

    @abstractmethod
    def entry(self, song: Mapping[str, Any]) -> Entry:
        """A song as an entry."""

    @abstractmethod
    def fetch(self, song: Mapping[str, Any], target: Path) -> None:
        """Write the file of a song to a path."""

    @abstractmethod
    def create(self, name: str, songs: Sequence[str]) -> None:
        """Make a playlist."""

    @abstractmethod
    def describe(self, which: str) -> None:
        """Give a playlist the comment and the sight of the one that is open."""

    def fill(self, songs: Sequence[str]) -> None:
        """Replace the songs of the playlist, in one request, where :meth:`replace` is the usual one."""
        raise NotImplementedError

    @abstractmethod
    def delete(self, which: str) -> None:
        """Delete a playlist."""

    @property
    def fixed(self) -> str:
        """Why the playlist that is open cannot be replaced; "" where it can."""
        return ""

    def send(self, method: str, path: str, body: bytes | None = None) -> http.client.HTTPResponse:
        """The answer to a request, whatever its status; a ServerError where there is none."""
        address = self.address
        plain = address.scheme.endswith("+http") or address.host in _HERE
        url = f"{'http' if plain else 'https'}://{address.place}{address.prefix}{path}"
        request = urllib.request.Request(url, data=body, headers=self.headers, method=method)
        try:
            return urllib.request.build_opener(_StayHere).open(request, timeout=_PATIENCE)  # type: ignore[no-any-return]
        except urllib.error.HTTPError as error:
            return error  # type: ignore[return-value]  # an answer, too: some say in it what is wrong
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            hint = "" if plain else f"; a server without HTTPS is {address.scheme}+http://..."
            raise ServerError(f"{address.place}: cannot be reached ({reason}){hint}") from None

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: str) -> Any:
        """What a server that speaks JSON answers; a ServerError where it refuses."""
        data = None if body is None else json.dumps(body).encode()
        answer = self.send(method, path + (f"?{urlencode(query)}" if query else ""), data)
        if answer.status >= 400:
            answer.close()
            denied = self.denied.get(answer.status, "").format(user=self.address.user)
            why = denied or f"refuses {method} {path} ({answer.status} {answer.reason})"
            raise ServerError(f"{self.address.place}: {why}", answer.status)
        return self.read(answer, path)

    def read(self, answer: http.client.HTTPResponse, what: str) -> Any:
        """What an answer says as JSON; {} where it says nothing, a ServerError where it says anything else."""
        try:
            with answer:
                data = answer.read(_MOST_TOLD + 1)
            check_nested(data, self.address.place)
            return json.loads(data if len(data) <= _MOST_TOLD else b"?") if data else {}
        except (ValueError, RecursionError):
            how = f"{answer.status} ({answer.reason})"
            raise ServerError(f"{self.address.place}: answers {what} with {how}, which no such server says") from None
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(f"{self.address.place}: breaks off ({error})") from None

    def save(self, answer: http.client.HTTPResponse, target: Path) -> None:
        """Write the song that an answer holds to a path."""
        done = 0
        with answer, target.open("wb") as file:
            kind = answer.headers.get("Content-Type", "")
            if answer.status != 200 or any(name in kind for name in ("json", "xml", "html")):
                raise ServerError(f"{self.address.place}: does not send it")
            while block := answer.read(_BLOCK):
                done += len(block)
                if done > _MOST_SONG:
                    raise ServerError(f"{self.address.place}: sends more than {_MOST_SONG >> 30} GB for a song")
                file.write(block)

    @property
    def id(self) -> str:
        """How the server calls the playlist."""
        return str(self.told[self.keys[0]])

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.told[self.keys[1]])

    def names(self) -> list[tuple[str, str]]:
        """The id and the name of every playlist of this user."""
        which, name, _ = self.keys
        return [(str(one[which]), str(one[name])) for one in self.playlists()]

    def list_songs(self, which: str) -> tuple[str, ...]:
        """The songs of a playlist."""
        return tuple(str(song[self.keys[0]]) for song in self.items(which))

    def write(self, entries: Sequence[int], name: str | None = None) -> str:
        """As a :class:`Home` does; nothing is written where the playlist has changed since it was opened."""
        songs = tuple(self.songs[i] for i in entries)
        library.check_unchanged(self.name, self.list_songs(self.id), self.known)
        place = self.address.place
        if name is not None and name != self.name:
            self.create_whole(name, songs)
            return f"playlist {name!r} at {place}"
        if self.fixed:
            raise InputError(f"{self.name!r} {self.fixed}; --as NAME writes a playlist of your own")
        kept = library.backup_name(self.name, (name for _, name in self.names()))
        self.replace(songs, kept)
        self.known = songs
        return f"playlist {self.name!r} at {place}; as it was: {kept!r}"

    def create_whole(self, name: str, songs: Sequence[str]) -> str:
        """A new playlist with all of some songs, described as this one, by its id; none where anything fails."""
        there = self.names()
        if any(one == name for _, one in there):
            raise InputError(f"{self.address.place} has a playlist {name!r} already; choose another name")
        before = {which for which, _ in there}
        try:
            self.create(name, songs)
            made = self._find_new(name, before)
            if self.list_songs(made) != tuple(songs):
                raise ServerError(f"{self.address.place}: did not take all songs of {name!r}")
            self.describe(made)
        except FileError:
            with suppress(FileError):  # to take back what was made, where the server can still be asked
                self.delete(self._find_new(name, before))
            raise
        return made

    def _find_new(self, name: str, before: set[str]) -> str:
        found = [which for which, one in self.names() if which not in before and one == name]
        if not found:
            raise ServerError(f"{self.address.place}: made no playlist {name!r}")
        return found[-1]

    def replace(self, songs: tuple[str, ...], kept: str) -> None:
        """Keep how the playlist was under a name, replace its songs, and look: an answer may be lost on the way."""
        before = self.known
        self.create_whole(kept, before)
        trouble = f"{self.address.place}: did not take the order"
        try:
            self.fill(songs)
        except ServerError as error:
            trouble = str(error)
        if self.list_songs(self.id) == songs:
            self.describe(self.id)
            return
        if self.list_songs(self.id) != before:
            self.fill(before)
        whole = self.list_songs(self.id) == before
        raise ServerError(f"{trouble}; " + ("it is as it was" if whole else f"as it was is kept: {kept!r}"))


def open_server(server_of: type[Server], paths: Sequence[str], opening: Opening) -> Source:
    """Open a playlist of a server."""
    address = library.read_address(paths[0])
    scheme = address.scheme.removesuffix("+http")
    if not address.host or (server_of.by_user and not address.user):
        raise InputError(f"{paths[0]}: takes {scheme}://{'USER@' * server_of.by_user}HOST/playlist/NAME")
    server = server_of(address, library.find_password(address))
    try:
        found, (key, name, size) = server.playlists(), server.keys
        wanted, ids = address.name or opening.collection, [str(one[key]) for one in found]
        choices = [Choice(str(one[name]), str(one[name]), int(one.get(size) or 0)) for one in found]
        alike = [which for which, choice in zip(ids, choices, strict=True) if choice.id == wanted]
        if len(alike) > 1:
            hint = f"name one by its id: {', '.join(alike)}"
            raise InputError(f"{address.place}: {len(alike)} playlists are called {wanted!r}; {hint}")
        at = ids.index(wanted) if wanted in ids else choose_collection(address.place, choices, wanted)
        server.told = found[at]
        items = server.items(server.id)
        server.songs = server.known = tuple(str(song[key]) for song in items)
        playlist = Playlist(tuple(map(server.entry, items)), server.name, scheme)
    except FabulaError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise ServerError(f"{address.place}: answers what no such server says ({error!r})") from None
    return library.open_songs(
        paths[0], address, playlist, server, opening, lambda row, target: server.fetch(items[row], target)
    )
