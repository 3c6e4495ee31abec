"""Every place that is written to, while everything goes wrong: the old playlist or the new one, never a part.

Who writes is killed (kill -9) at every step of its writing; servers refuse, break off half-way or lose their answers; a
song is gone meanwhile; there are ten thousand songs. Subsonic, Jellyfin and Plex are doubles here, MPD is MPD itself
behind a proxy that kills, beets is beets, Mixxx and Engine DJ are databases after their schemas, Serato is a file.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from fabula.errors import FabulaError, InputError
from fabula.session.export import replace_file
from fabula.sources.libraries.library import IN_ENVIRONMENT
from fabula.sources.playlists.playlist import read_playlist, write_playlist
from fabula.sources.registry import Opening, open_source
from tests.sources.libraries.doubles import SECRET, Double
from tests.sources.libraries.make_databases import make_engine, make_mixxx

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="who writes is killed as a child"),
]
NAME = "Night"
SERVERS = ("subsonic", "jellyfin", "plex")


class Place:
    """Somewhere with a playlist: how it is opened, written and looked at, and how who writes is killed."""

    steps = 400  # at most, at which who writes is killed
    address, collection = "", None

    def __init__(self, folder: Path, count: int) -> None:
        self.folder, self.count = folder, count

    def open(self) -> None:
        """Open the playlist as it stands, where it is opened to be written."""
        if self.address:
            self.home = open_source([self.address], Opening(collection=self.collection)).home

    def write(self, order: Sequence[int]) -> None:
        """Write the order back: what is killed."""
        self.home.write(order)

    def lists(self) -> dict[str, list]:
        """What a person sees: playlists and their songs."""
        raise NotImplementedError

    def arm(self, step: int) -> None:
        """Have who writes killed at a step of its writing; called in the process that writes."""
        raise NotImplementedError

    def lose_song(self) -> None:
        """Have a song vanish."""
        raise NotImplementedError

    def stop(self) -> None:
        """Whatever runs."""


class ServerPlace(Place):
    def __init__(self, folder: Path, count: int, kind: str) -> None:
        super().__init__(folder, count)
        self.double = Double(kind, count)
        self.double.add(NAME, list(self.double.songs), comment="c", public=True, open=True, summary="s")
        user = "" if kind == "plex" else "ann@"
        self.address = f"{kind}://{user}127.0.0.1:{self.double.port}/playlist/{NAME}"
        self.open()

    def lists(self):
        found = {}
        for which, one in self.double.lists.items():
            if one["name"][0] != ".":
                found[one["name"] if one["name"] not in found else which] = list(one["songs"])
        return found

    def open(self):
        """By its id where two have its name, as a person would then."""
        alike = [which for which, one in self.double.lists.items() if one["name"] == NAME]
        if len(alike) > 1:
            with pytest.raises(InputError, match=f"2 playlists are called 'Night'; name one by its id: {alike[0]}, "):
                super().open()
            self.address = self.address.removesuffix(NAME) + alike[-1]
        super().open()

    def arm(self, step):
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.double.port)) as asks:
            asks.sendall(f"GET /arm/{os.getpid()}/{step} HTTP/1.0\r\n\r\n".encode())
            asks.recv(1000)

    def lose_song(self):
        self.double.songs.pop(list(self.double.songs)[3])

    def stop(self):
        self.double.stop()


class DatabasePlace(Place):
    """Killed at statements of SQL."""

    steps = 60

    def __init__(self, folder: Path, count: int, make) -> None:
        super().__init__(folder, count)
        self.make, self.path = make, make(folder, [Path(f"/gone/{k:05d}.ogg") for k in range(count)])
        self.address, self.collection = str(self.path), NAME
        self.open()
        self.count = len(self.home.songs)

    def lists(self):
        found = {}
        for name in (NAME, f"{NAME} (fabula)"):
            with suppress(FabulaError):
                found[name] = list(open_source([str(self.path)], Opening(collection=name)).home.songs)
        with closing(sqlite3.connect(self.path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return found

    def arm(self, step):
        kill_at_statements(step)

    def lose_song(self):
        table = "PlaylistTracks" if self.make is make_mixxx else "PlaylistEntity"
        with closing(sqlite3.connect(self.path)) as database:
            database.execute(f"DELETE FROM {table} WHERE id = (SELECT max(id) - 4 FROM {table})")
            database.commit()


def kill_at_statements(step: int) -> None:
    """Kill this process at a statement of SQL."""
    connect, told = sqlite3.connect, [0]

    def count(_):
        told[0] += 1
        if told[0] == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def counting(*more, **named):
        database = connect(*more, **named)
        database.set_trace_callback(count)
        return database

    sqlite3.connect = counting


class CratePlace(Place):
    """Killed at calls of the system that make, write or rename files."""

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        self.path = folder / f"{NAME}.crate"
        (folder / "list.m3u8").write_text("".join(f"/gone/{k:05d}.ogg\n" for k in range(count)))
        write_playlist(self.path, read_playlist(folder / "list.m3u8"))

    def write(self, order):
        playlist = read_playlist(self.path)
        replace_file(self.path, lambda: write_playlist(self.path, playlist, list(order)))

    def lists(self):
        return {NAME: [entry.location for entry in read_playlist(self.path).entries]}

    def arm(self, step):
        told = [0]

        def count(event, _):
            told[0] += event in ("open", "os.rename", "os.chmod", "os.remove")
            if told[0] == step and event != "os.kill":
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)


class BeetsPlace(Place):
    steps = 40

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        library = pytest.importorskip("beets.library", reason="beets is not installed")
        self.lib = library.Library(str(folder / "library.db"), str(folder))
        with self.lib.transaction() as made:  # one by beets, and the others in its likeness, all at once
            self.lib.add(library.Item(path=b"/gone/0.ogg", title="Song 0"))
            names = [row[1] for row in made.query("PRAGMA table_info(items)")]
            other = {"id": "NULL", "path": "CAST('/gone/' || k || '.ogg' AS BLOB)", "title": "'Song ' || k"}
            numbers = "WITH RECURSIVE numbers (k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM numbers WHERE k < ?)"
            made.mutate(
                f"{numbers} INSERT INTO items ({', '.join(names)}) "
                f"SELECT {', '.join(other.get(name, name) for name in names)} FROM items, numbers WHERE id = 1",
                (count - 1,),
            )
        assert len(self.lib.items()) == count
        self.write(range(count))

    def write(self, order):
        from types import SimpleNamespace

        from beetsplug.fabula import FabulaPlugin

        ordered = SimpleNamespace(ordering=list(order), notes=(), __str__=str)
        items = list(self.lib.items())
        FabulaPlugin._write(None, self.lib, ordered, items, SimpleNamespace(pretend=False, output=None))

    def lists(self):
        with closing(sqlite3.connect(self.folder / "library.db")) as database:
            rows = database.execute(
                "SELECT entity_id, value FROM item_attributes WHERE key = 'fabula_order'"
            ).fetchall()
        return {NAME: [row for row, _ in sorted(rows, key=lambda one: int(one[1]))]}

    def arm(self, step):
        told = [0]

        def count(_):
            told[0] += 1
            if told[0] == step:
                os.kill(os.getpid(), signal.SIGKILL)

        self.lib._close()
        self.lib = type(self.lib)(str(self.folder / "library.db"), str(self.folder))
        list(self.lib.items())
        self.lib._connection().set_trace_callback(count)


class PlayerPlace(Place):
    """MPD, and before it a proxy that hands on what the client says line by line, and kills it."""

    def __init__(self, folder: Path, count: int, what: str) -> None:
        super().__init__(folder, count)
        if shutil.which("mpd") is None or not pytest.importorskip("mpd"):
            pytest.skip("mpd cannot be found")
        from tests.sources.libraries.test_mpd import Player

        os.environ[IN_ENVIRONMENT] = "s3cret"
        self.player = Player(folder)
        files = [song["file"] for song in self.player.queue()]
        client = self.player.client
        client.clear()
        client.command_list_ok_begin()
        for k in range(count):
            client.add(files[k % len(files)])
            client.playlistadd(NAME, files[k % len(files)])
        client.command_list_end()
        client.rm("späte Lieder")
        self.at = self.victim = 0
        self.proxy = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()
        self.what = what
        self.address = f"mpd://127.0.0.1:{self.proxy.getsockname()[1]}/{what}"
        self.open()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.proxy.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=[client], daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self.player.port)) as player, client, suppress(OSError):
            threading.Thread(target=self._answer, args=[player, client], daemon=True).start()
            for line in client.makefile("rb"):
                if line.startswith(b"arm "):
                    self.victim, self.at = map(int, line.split()[1:])
                    client.sendall(b"armed\n")
                    continue
                self.at -= 1
                if self.at == 0:
                    os.kill(self.victim, signal.SIGKILL)
                    return
                player.sendall(line)

    def _answer(self, player: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := player.recv(1 << 16):
                client.sendall(data)

    def lists(self):
        found = {name: songs for name, songs in self.player.lists().items() if name[0] != "."}
        if self.what == "queue":
            found = {NAME: [song["file"] for song in self.player.queue()]}
        return found

    def arm(self, step):
        with socket.create_connection(self.proxy.getsockname()) as asks:
            asks.sendall(f"arm {os.getpid()} {step}\n".encode())
            data = b""
            while b"armed" not in data:
                data += asks.recv(1000)

    def lose_song(self):
        if self.what == "queue":
            self.player.client.delete(3)
        else:
            self.player.client.playlistdelete(NAME, 3)

    def stop(self):
        os.environ.pop(IN_ENVIRONMENT, None)
        self.proxy.close()
        self.player.client.disconnect()
        self.player.process.kill()
        self.player.process.wait()


PLACES = {
    **{kind: lambda folder, count, kind=kind: ServerPlace(folder, count, kind) for kind in SERVERS},
    "mpd playlist": lambda folder, count: PlayerPlace(folder, count, f"playlist/{NAME}"),
    "mpd queue": lambda folder, count: PlayerPlace(folder, count, "queue"),
    "beets": BeetsPlace,
    "mixxx": lambda folder, count: DatabasePlace(folder, count, make_mixxx),
    "engine": lambda folder, count: DatabasePlace(folder, count, make_engine),
    "serato": CratePlace,
}


@pytest.fixture(params=PLACES)
def make(request, tmp_path, monkeypatch) -> Iterator:
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    made: list[Place] = []

    def build(count: int) -> Place:
        folder = tmp_path / f"{len(made)}"
        folder.mkdir()
        made.append(PLACES[request.param](folder, count))
        made[-1].kind = request.param
        return made[-1]

    yield build
    for one in made:
        one.stop()


def check(place: Place, old: list, new: list) -> None:
    """Nothing that a person sees is a part."""
    found = place.lists()
    assert found[NAME] in (old, new)
    assert [name for name, songs in found.items() if songs not in (old, new)] == []


def test_killed_at_every_step(make):
    """Until the writing gets through."""
    place = make(9)
    old = place.lists()[NAME]
    order = list(range(place.count))[::-1]
    new = old[::-1]
    for step in range(1, place.steps):
        place.open()
        child = os.fork()
        if child == 0:
            try:
                place.arm(step)
                place.write(order)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        check(place, old, new)
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            break
    else:
        pytest.fail("it does not get through")
    assert step > 3
    assert new in place.lists().values()


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("how", ["refuse", "lose", "halve"])
@pytest.mark.parametrize("on", [0, 1000])
def test_a_server_that_fails_at_every_step(kind, how, on, tmp_path, monkeypatch):
    """Once, and from then on."""
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    monkeypatch.setattr("fabula.sources.libraries.plex._TOGETHER", 4)
    for step in range(1, 40):
        place = ServerPlace(tmp_path, 9, kind)
        old = place.lists()[NAME]
        place.double.fail(how, step, step + on)
        said = ""
        try:
            place.write(list(range(9))[::-1])
        except FabulaError as error:
            said = str(error)
        steps = place.double.changes
        assert SECRET not in said
        found = place.lists()
        if how == "halve" and on and kind == "jellyfin" and not found[NAME]:  # it was emptied, and all is gone for good
            assert "as it was is kept: 'Night (before" in said or "refuses" in said
            found.pop(NAME)
            assert list(found.values()) == [old]
        else:
            check(place, old, old[::-1])
            assert said or found[NAME] == old[::-1]
        place.stop()
        if steps < step:
            assert said == ""
            return
    pytest.fail("it does not get through")


def test_a_song_that_is_gone_meanwhile_leaves_all_as_it_is(make):
    place = make(9)
    if place.kind in ("serato", "beets"):
        pytest.skip("what is gone is no song of theirs")
    place.lose_song()
    before = place.lists()
    with pytest.raises(FabulaError):
        place.write(list(range(place.count))[::-1])
    assert place.lists() == before


def test_ten_thousand_songs(make):
    place = make(10_000)
    old = place.lists()[NAME]
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    place.write(list(range(place.count))[::-1])
    assert old[::-1] in place.lists().values()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - begun < 60


# The command, then what it took; a process is charged with the memory of the one that started it, but for VmHWM.
MEASURED = """
import sys, time
from fabula.cli import run
code = run(sys.argv[1:])
most = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), int(most) / 1024)
sys.exit(code)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the most memory")
@pytest.mark.parametrize("kind", SERVERS)
def test_ten_thousand_songs_by_the_command(kind, tmp_path, monkeypatch):
    monkeypatch.setenv(IN_ENVIRONMENT, SECRET)
    place = ServerPlace(tmp_path, 10_000, kind)
    command = [sys.executable, "-c", MEASURED, "order", place.address, "--by", "duration", "-o", place.address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(map(len, place.lists().values())) == [10_000, 10_000]
    seconds, megabytes = map(float, done.stdout.splitlines()[-1].split())
    assert seconds < 60
    assert megabytes < 400
    place.stop()


@pytest.mark.parametrize("kind", SERVERS)
def test_no_secret_in_the_list_of_processes(kind, tmp_path):
    """Who looks at the processes of the machine while one writes, or at logs, sees an address and no password."""
    double = Double(kind, 3)
    double.add(NAME, list(double.songs))
    seen = []
    carry_out = double.change

    def look(do, halve=None):
        seen.extend(path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
        return carry_out(do, halve)

    double.change = look
    address = f"{kind}://{'' if kind == 'plex' else 'ann@'}127.0.0.1:{double.port}/playlist/{NAME}"
    command = [sys.executable, "-m", "fabula", "order", address, "--by", "duration", "-o", address]
    secret = {**os.environ, IN_ENVIRONMENT: SECRET, "FABULA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=secret, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert any(address.encode() in line for line in seen)
    assert not any(SECRET.encode() in line for line in seen)
    assert SECRET not in done.stdout + done.stderr + "".join(double.seen)
    double.stop()
