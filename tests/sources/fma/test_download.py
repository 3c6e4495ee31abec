import hashlib
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fabula.errors import FileError, InputError
from fabula.sources.fma import archive as fma_download
from fabula.sources.fma.albums import read_fma
from fabula.sources.fma.archive import fetch_fma


class Server(ThreadingHTTPServer):
    """Serves one file on loopback, and misbehaves as it is told."""

    daemon_threads = True

    def __init__(self, data: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = data
        self.cuts: list[int] = []  # bytes after which the next connections break
        self.codes: list[int] = []  # what the next connections answer
        self.ranges = True
        self.length = True
        self.wrong_range = False
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/fma_metadata.zip"

    @property
    def sha1(self) -> str:
        return hashlib.sha1(self.data).hexdigest()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, asked = self.server, self.headers.get("Range")
        server.asked.append(asked)
        if server.codes:
            self.send_error(server.codes.pop(0))
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and server.ranges else 0
        if start and start >= len(server.data):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.data)}")
            self.end_headers()
            return
        self.send_response(206 if asked and server.ranges else 200)
        if asked and server.ranges:
            said = 0 if server.wrong_range else start
            self.send_header("Content-Range", f"bytes {said}-{len(server.data) - 1}/{len(server.data)}")
        if server.length:
            self.send_header("Content-Length", str(len(server.data) - start))
        self.end_headers()
        end = server.cuts.pop(0) if server.cuts else len(server.data)
        self.wfile.write(server.data[start : start + end])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(usual, monkeypatch) -> Iterator[Server]:
    monkeypatch.setattr(fma_download, "_PAUSE", 0.001)
    monkeypatch.setattr(fma_download, "_PATIENCE", 5.0)
    with Server(usual.zipped()) as it:
        thread = threading.Thread(target=it.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield it
        it.shutdown()
        thread.join()


def fetch(server, folder, **more):
    return fetch_fma(folder, **{"url": server.url, "sha1": server.sha1, **more})


def test_fetches_and_reads(server, tmp_path):
    told = []
    path = fetch(server, tmp_path / "new" / "folder", progress=lambda done, total: told.append((done, total)))
    assert path == tmp_path / "new" / "folder" / "fma_metadata.zip"
    assert path.read_bytes() == server.data
    assert told[-1] == (len(server.data), len(server.data))
    assert len(read_fma(path).collections) == 3
    assert not list(path.parent.glob("*.part"))


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    fetch(server, tmp_path)
    fetch(server, tmp_path, sha1=server.sha1.upper())
    assert len(server.asked) == 1
    with pytest.raises(FileError, match=r"is not the archive wanted .*; move it away and fetch again"):
        fetch(server, tmp_path, sha1="0" * 40)
    assert (tmp_path / "fma_metadata.zip").read_bytes() == server.data


def test_a_cut_connection_is_resumed_where_it_broke(server, tmp_path):
    server.cuts = [1000, 500, 0, 0]
    assert fetch(server, tmp_path).read_bytes() == server.data
    assert server.asked == [None, "bytes=1000-", "bytes=1500-", "bytes=1500-", "bytes=1500-"]


def test_a_part_of_an_earlier_run_is_completed(server, tmp_path):
    (tmp_path / "fma_metadata.zip.part").write_bytes(server.data[:700])
    assert fetch(server, tmp_path).read_bytes() == server.data
    assert server.asked == ["bytes=700-"]


def test_a_part_that_is_all_of_it_is_taken(server, tmp_path):
    (tmp_path / "fma_metadata.zip.part").write_bytes(server.data)
    assert fetch(server, tmp_path).read_bytes() == server.data


def test_a_part_longer_than_the_file_is_begun_anew(server, tmp_path):
    (tmp_path / "fma_metadata.zip.part").write_bytes(server.data + b"more")
    assert fetch(server, tmp_path).read_bytes() == server.data
    assert server.asked[-1] is None


def test_a_server_without_ranges_sends_it_anew(server, tmp_path):
    server.ranges = False
    server.cuts = [1000]
    assert fetch(server, tmp_path).read_bytes() == server.data
    assert server.asked == [None, "bytes=1000-"]


def test_a_server_that_sends_another_range_is_not_believed(server, tmp_path):
    server.wrong_range = True
    server.cuts = [1000]
    assert fetch(server, tmp_path).read_bytes() == server.data
    assert server.asked == [None, "bytes=1000-", None]


def test_a_server_that_does_not_say_how_long(server, tmp_path):
    server.length = False
    told = []
    assert fetch(server, tmp_path, progress=lambda *at: told.append(at)).read_bytes() == server.data
    assert told[-1] == (len(server.data), None)


def test_a_connection_that_keeps_breaking_ends_in_one_line_and_a_part(server, tmp_path):
    server.cuts = [1000, *[0] * 20]
    with pytest.raises(
        FileError, match=r"the download broke off \(1,000 of [\d,]+ bytes came\); run it again"
    ) as error:
        fetch(server, tmp_path)
    assert "\n" not in str(error.value)
    assert (tmp_path / "fma_metadata.zip.part").read_bytes() == server.data[:1000]
    server.cuts = []
    assert fetch(server, tmp_path).read_bytes() == server.data


def test_a_busy_server_is_asked_again_and_a_missing_file_is_not(server, tmp_path):
    server.codes = [503, 429]
    assert fetch(server, tmp_path / "a").read_bytes() == server.data
    server.codes = [404] * 9
    with pytest.raises(FileError, match="the server said 404 Not Found; the address may have changed"):
        fetch(server, tmp_path / "b")
    assert len(server.codes) == 8
    server.codes = [500] * 9
    with pytest.raises(FileError, match="the server said 500"):
        fetch(server, tmp_path / "c")


def test_a_wrong_checksum_removes_what_came(server, tmp_path):
    with pytest.raises(FileError, match=rf"SHA-1 {server.sha1}, not {'1' * 40}; [\d,]+ bytes\); removed"):
        fetch(server, tmp_path, sha1="1" * 40)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda archive: archive.zipped(extra="../evil"), r"points outside of it, '\.\./evil'"),
        (lambda archive: archive.zipped(without="tracks.csv"), "must hold tracks.csv once"),
        (lambda archive: b"<html>no such thing</html>", "is not a whole zip archive"),
        (lambda archive: archive.zipped()[:-30], "is not a whole zip archive"),
    ],
)
def test_an_archive_that_is_not_one_is_not_kept(server, usual, tmp_path, made, words):
    server.data = made(usual)
    with pytest.raises(FileError, match=words):
        fetch(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_offline_is_one_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/fma_metadata.zip"
    with pytest.raises(FileError, match=r"cannot be reached \(.*refused.*\); check the network") as error:
        fetch_fma(tmp_path, url=url)
    assert "\n" not in str(error.value)
    assert "fma_metadata.zip by other means" in str(error.value)


def test_ctrl_c_leaves_the_part_for_resuming(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fma_download, "_BLOCK", 500)

    def interrupt(done, total):
        if done >= 1500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server, tmp_path, progress=interrupt)
    assert (tmp_path / "fma_metadata.zip.part").read_bytes() == server.data[:1500]
    assert fetch(server, tmp_path).read_bytes() == server.data
    assert server.asked[-1] == "bytes=1500-"


def test_more_than_any_archive_is_not_taken(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fma_download, "_LARGEST", 1000)
    with pytest.raises(FileError, match="more than 1,000 bytes came"):
        fetch(server, tmp_path)


def test_a_place_that_cannot_be_written_and_a_strange_address(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be made a folder"):
        fetch(server, tmp_path / "file")
    (tmp_path / "fma_metadata.zip.part").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        fetch(server, tmp_path)
    with pytest.raises(InputError, match="must start with https:// or http://; got 'file:///etc/hosts'"):
        fetch_fma(tmp_path, url="file:///etc/hosts")
