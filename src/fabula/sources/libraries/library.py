"""What libraries share: their addresses, passwords, and how their songs become a source.

An address is ``SCHEME://USER@HOST:PORT/PREFIX/playlist/NAME?music=FOLDER``, with the parts that a place has. ``music``
names the folder where the files of the library lie on this machine: they are measured there. Where they are not at
hand, ``listen=yes`` brings each song over the net, measures it and removes it again.
"""

import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import numpy as np

from fabula.errors import FabulaError, FileError, InputError, shown
from fabula.media.extraction import Measuring, extract
from fabula.media.medium import Stopped
from fabula.media.registry import find_medium
from fabula.sources.playlists.entries import Entry, Playlist, find_name
from fabula.sources.playlists.playlist import collection_of
from fabula.sources.registry import Home, Opening, Source

IN_ENVIRONMENT = "FABULA_PASSWORD"  # the variable that holds it
_OPTIONS = ("music", "listen")
_PLEX_PORT = 32400


@dataclass(frozen=True)
class Address:
    """Where a library is, and which of its playlists is meant."""

    scheme: str
    host: str
    user: str = ""
    port: int | None = None
    prefix: str = ""  # of the paths of a server that does not lie at the root of its host, such as /music
    kind: str = ""  # "playlist", or what else a place has; "" where only the place is named
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def place(self) -> str:
        """The library, as it is told to people."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


def read_address(text: str, kinds: tuple[str, ...] = ("playlist",)) -> Address:
    """An address in its parts; an InputError where it is none, or holds a password, which it does not repeat.

    >>> address = read_address("subsonic://ann@music.example/playlist/Late%20hours?music=/srv/music")
    >>> address.user, address.place, address.name, address.options["music"]
    ('ann', 'music.example', 'Late hours', '/srv/music')
    """
    scheme, _, rest = text.partition("://")
    if re.match(r"[^/?]*:[^/?]*@", rest):
        told = f"{scheme}://{rest.rpartition('@')[2]}"
        hint = f"set {IN_ENVIRONMENT}, or wait to be asked"
        raise InputError(f"{told}: a password does not belong into an address; {hint}")
    try:
        parts = urlsplit(f"//{rest}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InputError(f"{shown(text)}: is no address ({error})") from None
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options:
        if name not in _OPTIONS:
            raise InputError(f"{shown(text)}: {name!r} is unknown; an address takes {' and '.join(_OPTIONS)}")
    path = parts.path + (f"#{parts.fragment}" if parts.fragment else "")  # names may hold one
    found = re.fullmatch(rf"(.*?)(?:/({'|'.join(kinds)})(?:/(.*))?)?/?", path, re.DOTALL)
    prefix, kind, name = (found[1], found[2], found[3]) if found else (path, "", "")
    user = unquote(parts.username or "")
    if scheme.lower().startswith("plex"):
        user, port = user or "token", port or _PLEX_PORT
    return Address(scheme.lower(), host, user, port, prefix.rstrip("/"), kind or "", unquote(name or ""), options)


def find_password(address: Address) -> str:
    """The password of a user: from the environment, the keyring of the system, or by asking on a terminal.

    It is never taken from the command line, where every process could read it.
    """
    given = os.environ.get(IN_ENVIRONMENT)
    return _find_kept(address.place, address.user) if given is None else given


@cache
def _find_kept(place: str, user: str) -> str:
    """The password in the keyring, or as it is typed, once."""
    try:
        kept = importlib.import_module("keyring").get_password(f"fabula {place}", user)
    except Exception:  # not installed, or a keyring that is locked or broken: ask
        kept = None
    if kept is not None:
        return str(kept)
    if not sys.stdin.isatty():
        raise InputError(f"{place}: needs the password of {user}: set {IN_ENVIRONMENT}")
    from getpass import getpass

    return getpass(f"Password of {user} at {place}: ")


def unlock(name: str) -> None:
    """Find the password of a library, so that nobody has to be asked when it is opened; refuse what is none."""
    if "://" not in name:
        if not Path(name).is_file():
            raise FileError(f"{shown(name)}: does not exist")
    elif (address := read_address(name)).user:
        find_password(address)


def named_in(name: str) -> list[Path]:
    """What the name of a library says of files of this machine: its database, or the folder of its music."""
    path = read_address(name).options.get("music") if "://" in name else name
    return [Path(path).resolve()] if path else []


def check_unchanged(name: str, there: Iterable[object], known: Iterable[object]) -> None:
    """Refuse to write where the songs of a playlist are not those that are known."""
    if tuple(there) != tuple(known):
        raise InputError(f"{name!r} has changed since it was opened; nothing was written: order it again")


def backup_name(name: str, taken: Iterable[str]) -> str:
    """What a playlist is called that keeps how another one was: by the time, and a number where that is taken."""
    return find_name(name, taken, f"before {datetime.now():%Y-%m-%d %H.%M.%S}", joint=", ")


Fetch = Callable[[int, Path], None]  # writes the file of a song, by its number, to a path


def open_songs(
    text: str, address: Address, playlist: Playlist, home: Home, opening: Opening, fetch: Fetch | None
) -> Source:
    """The songs of a playlist as a source: files where they lie on this machine, else what the place says of them."""
    root = Path(address.options.get("music") or playlist.folder or "")
    named = replace(playlist, folder=root)
    collection = replace(collection_of(named, root / f"{playlist.title or address.kind}.x"), title=playlist.title)
    rows = tuple(range(len(collection)))
    source = Source(Path(text), collection, find_medium("music"), playlist=named, rows=rows, home=home)
    if any(item.path and Path(item.path).is_absolute() and opening.may_read(item.path) for item in collection.items):
        return replace(source, files=True)
    if "music" in address.options:
        first = next((item.path for item in collection.items if item.path), "no file is named")
        raise InputError(f"{address.options['music']}: holds none of the songs; the first would be {shown(first)}")
    if fetch is not None and address.options.get("listen", "no").lower() in ("", "yes", "1", "true"):
        return _listen(source, fetch, opening)
    ways = "; ?music=FOLDER in the address says where the files are" if address.scheme else ""
    ways += "; ?listen=yes fetches them" if fetch else ""
    return source.with_notes(f"nothing was listened to: titles and lengths are those of {address.place}{ways}")


def _listen(source: Source, fetch: Fetch, opening: Opening) -> Source:
    """The source with what can be heard of each song, fetched one at a time; others keep where they stand."""
    spec, heard, kept, left = source.medium.spec(), [], [], []
    entries: tuple[Entry, ...] = source.playlist.entries if source.playlist else ()
    for number, (row, entry) in enumerate(zip(source.rows, entries, strict=True)):
        if opening.stop():
            raise Stopped
        with tempfile.TemporaryDirectory(prefix="fabula-") as folder:
            file = Path(folder) / f"song{Path(entry.location).suffix.lower() or '.mp3'}"
            try:
                fetch(row, file)
                found = extract([file], spec, Measuring(stop=opening.stop))
            except FabulaError as error:
                left.append((entry.label, str(error)))
                continue
        if found.kept:
            heard.append(found.features[0])
            kept.append(number)
        else:
            left.append((entry.label, found.problems[0][1].removeprefix(f"{shown(str(file))}: ")))
        if opening.progress is not None:
            opening.progress(number + 1, len(entries), entry.title)
    if not kept:
        why = f"none of its {len(entries)} songs can be listened to; the first: {left[0][1]}"
        raise InputError(f"{source.title}: {why}")
    there = source.only(kept)
    told = [name for name in there.collection.feature_names if name not in spec.feature_names]
    features = np.column_stack([np.stack(heard), *(there.collection.column(name) for name in told)])
    collection = replace(there.collection, features=features, feature_names=(*spec.feature_names, *told))
    return replace(there, collection=collection, left_out=tuple(left))
