"""Doubles of servers of music, on loopback: Subsonic, Jellyfin and Plex as far as playlists go.

They are written after the public interfaces (Jellyfin's controllers and PlaylistManager, python-plexapi, the Subsonic
API), and keep to what those servers do to playlists: Jellyfin empties one before it fills it again, Plex adds to one or
makes one, all of them leave out songs that they do not know. What changes something is counted, and can fail.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import quoteattr

SECRET = "p & w"
IDENTITY = "a1b2"


class FailureError(Exception):
    """What a request is answered with in place of an answer."""

    def __init__(self, status: int) -> None:
        self.status = status


class Double:
    """A server of one kind with songs and playlists, and how it is made to fail."""

    def __init__(self, kind: str, songs: int, path_of=lambda k: f"/music/{k}.ogg") -> None:
        self.kind = kind
        self.songs = {self.name_song(k): (f"Song {k}", 100 + 7 * k % 91, path_of(k), "Ann") for k in range(songs)}
        self.lists: dict[str, dict] = {}
        self.made = 0
        self.changes = 0  # requests that changed something
        self.at = self.until = 0  # from which of them on it fails, and up to which
        self.how = ""  # "refuse": before it is carried out; "lose": after it; "halve": in the middle; "kill": who asks
        self.victim = 0
        self.seen: list[str] = []  # what would stand in its log
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *said):
                double.seen.append(" ".join(map(str, said)))

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                query = parse_qs(parts.query, keep_blank_values=True)
                try:
                    if parts.path.startswith("/arm/"):
                        double.victim, at = map(int, parts.path.split("/")[2:])
                        double.fail("kill", at)
                        raise FailureError(200)
                    status, told = getattr(double, kind)(self.command, parts.path, query, body, self.headers)
                except FailureError as failure:
                    status, told = failure.status, b"<html>broken</html>"
                data = told if isinstance(told, bytes) else json.dumps(told).encode() if told is not None else b""
                self.send_response(status)
                self.send_header("Content-Type", "application/xml" if data[:1] == b"<" else "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                double.seen.append(traceback.format_exc())  # who asks may be gone: that is what is tested

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()

    def name_song(self, k: int) -> str:
        return f"{k:032x}" if self.kind == "jellyfin" else str(1000 + k)

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def add(self, name: str, songs, **more) -> str:
        self.made += 1
        which = f"{0xF0000 + self.made:032x}" if self.kind == "jellyfin" else str(self.made)
        self.lists[which] = {"name": name, "songs": [song for song in songs if song in self.songs], **more}
        return which

    def fail(self, how: str, at: int = 0, until: int | None = None) -> None:
        self.how, self.at, self.until, self.changes = how, at, at if until is None else until, 0

    def change(self, do, halve=None):
        """Carry out a request that changes something, or fail as it was asked to."""
        self.changes += 1
        struck = self.how != "" and self.at <= self.changes <= self.until
        if struck and self.how == "halve" and halve is not None:
            halve()
        if struck and self.how == "kill" and self.changes % 2:  # odd ones before, even ones after
            os.kill(self.victim, signal.SIGKILL)
        if struck and self.how in ("refuse", "halve"):
            raise FailureError(500)
        done = do()
        if struck and self.how == "kill" and not self.changes % 2:
            os.kill(self.victim, signal.SIGKILL)
        if struck and self.how == "lose":
            raise FailureError(502)
        return done

    def put(self, which: str, songs) -> None:
        self.lists[which]["songs"] = [song for song in songs if song in self.songs]

    # Subsonic: every request is a form; errors are answers of status 200.

    def subsonic(self, method, path, query, body, headers):
        form = parse_qs(body.decode(), keep_blank_values=True)
        asked = path.rpartition("/")[2].removesuffix(".view")
        salted = hashlib.md5((SECRET + form["s"][0]).encode(), usedforsecurity=False).hexdigest()
        if form["t"][0] != salted:
            return 200, _subsonic(error={"code": 40, "message": "Wrong username or password"})
        which = form.get("playlistId", form.get("id", [""]))[0]
        if asked == "getPlaylists":
            return 200, _subsonic(playlists={"playlist": [self._tell(one) for one in self.lists]})
        if asked == "getPlaylist":
            named = [(song, *self.songs[song]) for song in self.lists[which]["songs"]]
            told = [{"id": song, "title": title, "artist": artist, "duration": seconds, "path": place}
                    for song, title, seconds, place, artist in named]  # fmt: skip
            return 200, _subsonic(playlist={**self._tell(which), "entry": told})
        songs = form.get("songId", [])
        if asked == "createPlaylist" and any(song not in self.songs for song in songs):
            return 200, _subsonic(error={"code": 70, "message": "no such song"})
        if asked == "createPlaylist" and which:
            self.change(lambda: self.put(which, songs))
        elif asked == "createPlaylist":
            self.change(lambda: self.add(form["name"][0], songs))
        elif asked == "updatePlaylist":
            told = {"comment": form["comment"][0], "public": form["public"][0] == "true"}
            self.change(lambda: self.lists[which].update(told))
        elif asked == "deletePlaylist":
            self.change(lambda: self.lists.pop(which))
        return 200, _subsonic()

    def _tell(self, which):
        one = self.lists[which]
        told = {"id": which, "owner": "ann", "songCount": len(one["songs"]), "name": one["name"]}
        return {**told, "comment": one.get("comment", ""), "public": one.get("public", False)}

    # Jellyfin: JSON, a token for the password.

    def jellyfin(self, method, path, query, body, headers):
        said = json.loads(body) if body else {}
        if path.lower() == "/system/info/public":  # ASP.NET cares for no case
            return 200, {"Id": IDENTITY, "ServerName": "double", "Version": "10.10.0", "LocalAddress": ""}
        if path == "/Users/AuthenticateByName":
            if said.get("Pw") != SECRET:
                return 401, None
            return 200, {"AccessToken": "t0ken", "User": {"Id": "u1", "Name": "ann"}, "ServerId": IDENTITY}
        if 'Token="t0ken"' not in headers.get("Authorization", "") and headers.get("X-Emby-Token") != "t0ken":
            return 401, None
        if path in ("/Items", "/Users/u1/Items"):
            told = [{"Id": which, "Name": one["name"], "Type": "Playlist", "ChildCount": len(one["songs"])}
                    for which, one in self.lists.items()]  # fmt: skip
            return 200, {"Items": told, "TotalRecordCount": len(told), "StartIndex": 0}
        if method == "DELETE":
            self.change(lambda: self.lists.pop(path.rpartition("/")[2]))
            return 204, None
        if path == "/Playlists":
            assert said["UserId"] == "u1"
            more = {"open": bool(said.get("IsPublic")), "shares": said.get("Users") or []}
            return 200, {"Id": self.change(lambda: self.add(said["Name"], said.get("Ids") or [], **more))}
        which = path.split("/")[2]
        if which not in self.lists:
            return 404, None
        one = self.lists[which]
        if path.endswith("/Items"):
            return 200, {"Items": [{"Id": song, "PlaylistItemId": song, "Name": title, "Artists": [artist],
                "RunTimeTicks": seconds * 10_000_000, "Path": path, "Type": "Audio"}
                for song in one["songs"] for title, seconds, path, artist in [self.songs[song]]],
                "TotalRecordCount": len(one["songs"])}  # fmt: skip
        if method == "GET":
            ids = [f"{song[:8]}-{song[8:]}" for song in one["songs"]]
            return 200, {"OpenAccess": one.get("open", False), "Shares": one.get("shares", []), "ItemIds": ids}

        def update():
            if said.get("Ids") is not None:
                self.put(which, said["Ids"])
            one["name"] = said.get("Name") or one["name"]
            one["open"] = one.get("open", False) if said.get("IsPublic") is None else said["IsPublic"]
            one["shares"] = one.get("shares", []) if said.get("Users") is None else said["Users"]

        self.change(update, (lambda: self.put(which, [])) if said.get("Ids") is not None else None)  # emptied first
        return 204, None

    # Plex: XML, or JSON where that is asked for; songs are named in the address.

    def plex(self, method, path, query, body, headers):
        if headers.get("X-Plex-Token") != SECRET:
            return 401, None
        parts = path.strip("/").split("/")
        if path == "/" or path == "/identity":
            return 200, _plex(headers, {"machineIdentifier": IDENTITY, "friendlyName": "double", "version": "1.41"})
        songs = query.get("uri", [""])[0].rpartition("/")[2].split(",")
        if path == "/playlists" and method == "POST":
            assert query["uri"][0].startswith(f"server://{IDENTITY}/com.plexapp.plugins.library/library/metadata/")
            which = self.change(lambda: self.add(query["title"][0], songs))
            return 200, _plex(headers, {"size": 1}, [self._playlist(which)])
        if path == "/playlists":
            return 200, _plex(headers, {"size": len(self.lists)}, [self._playlist(one) for one in self.lists])
        if parts[0] != "playlists" or parts[1] not in self.lists:
            return 404, None
        which, one = parts[1], self.lists[parts[1]]
        if parts[2:] == ["items"] and method == "PUT":
            half = lambda: self.put(which, [*one["songs"], *songs[: len(songs) // 2]])  # noqa: E731
            self.change(lambda: self.put(which, [*one["songs"], *songs]), half)
        elif parts[2:] == ["items"]:
            items = [{"ratingKey": song, "key": f"/library/metadata/{song}", "type": "track",
                      "title": self.songs[song][0], "grandparentTitle": self.songs[song][3],
                      "duration": self.songs[song][1] * 1000, "playlistItemID": k + 1,
                      "Media": [{"Part": [{"key": f"/library/parts/{song}", "file": self.songs[song][2]}]}]}
                     for k, song in enumerate(one["songs"])]  # fmt: skip
            start = int(headers.get("X-Plex-Container-Start") or 0)
            size = int(headers.get("X-Plex-Container-Size") or len(items))
            return 200, _plex(headers, {"size": len(items), "totalSize": len(items)}, items[start : start + size])
        elif method == "PUT":
            names = {"title.value": "name", "summary.value": "summary"}
            told = {names[key]: value[0] for key, value in query.items() if key in names}
            assert told
            self.change(lambda: one.update(told))
        elif method == "DELETE":
            self.change(lambda: self.lists.pop(which))
            return 204, None
        else:
            return 200, _plex(headers, {"size": 1}, [self._playlist(which)])
        return 200, _plex(headers, {"size": 1}, [self._playlist(which)])

    def _playlist(self, which):
        one = self.lists[which]
        return {"ratingKey": which, "key": f"/playlists/{which}/items", "type": "playlist", "title": one["name"],
                "summary": one.get("summary", ""), "smart": bool(one.get("smart")), "playlistType": "audio",
                "leafCount": len(one["songs"])}  # fmt: skip


def _subsonic(**told):
    return {"subsonic-response": {"status": "failed" if "error" in told else "ok", "version": "1.16.1", **told}}


def _plex(headers, told, items=()):
    if "json" in headers.get("Accept", ""):
        return {"MediaContainer": {**told, **({"Metadata": list(items)} if items else {})}}

    def element(name, one):
        plain = {key: value for key, value in one.items() if not isinstance(value, list)}
        marks = " ".join(f"{key}={quoteattr(str(int(v) if isinstance(v, bool) else v))}" for key, v in plain.items())
        inner = "".join(element(key, each) for key, value in one.items() if isinstance(value, list) for each in value)
        return f"<{name} {marks}>{inner}</{name}>"

    names = {"playlist": "Playlist", "track": "Track"}
    return element("MediaContainer", told).replace(
        "</MediaContainer>", "".join(element(names[one["type"]], one) for one in items) + "</MediaContainer>"
    ).encode()  # fmt: skip
