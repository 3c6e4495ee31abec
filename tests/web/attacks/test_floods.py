"""Too much, too slowly, too deep: what would take all memory, all time or all connections."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import socket
import threading
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

import httpx
import pytest

from fabula.errors import FileError
from fabula.sources.playlists import entries
from fabula.sources.playlists.playlist import read_playlist
from fabula.web import file_access as lists
from fabula.web.app import Timeouts
from fabula.web.server_store import Settings, Turns
from tests.web.conftest import serving, table

pytestmark = pytest.mark.slow  # they wait

QUICK = Timeouts(request=0.4, body=0.5, slowest=2000, answer=0.6, connections=12)


@pytest.fixture(scope="module")
def quick():
    with serving(timeouts=QUICK) as served:
        yield served


def connect(served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2])), timeout=20)


def ended(connection: socket.socket) -> bool:
    """Whether the other side hangs up within the time limit of the socket."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(1 << 16):
            pass
    return True


def sent_until_refused(connection: socket.socket, pieces: Iterable[bytes]) -> bool:
    """Send piece by piece, twenty a second; whether the other side hangs up before the end."""
    try:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.05)
    except ConnectionError:
        return True
    return False


def head(served, path="/api/jobs", method="GET", *more: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {served.address[7:]}", served.authorization, *more]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_request_that_never_comes_is_not_waited_for(quick, sent):
    with connect(quick) as connection:
        connection.sendall(sent)
        assert ended(connection)


def test_headers_one_by_one_do_not_help(quick):
    with connect(quick) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert sent_until_refused(connection, (f"X-{k}: x\r\n".encode() for k in range(60)))


def test_a_second_request_that_never_comes_is_not_waited_for(quick):
    with connect(quick) as connection:
        connection.sendall(head(quick) + b"\r\n\r\n")
        assert b" 200 " in connection.recv(4000)
        connection.sendall(b"GET")  # which ends the wait for the next request, that uvicorn has
        assert ended(connection)


@pytest.mark.parametrize("slowly", [False, True], ids=["no more", "a byte at a time"])
def test_a_body_that_never_ends_is_not_waited_for(quick, slowly):
    kind = "Content-Type: application/json"
    with connect(quick) as connection:
        connection.sendall(head(quick, "/api/order", "POST", kind, "Content-Length: 5000") + b"\r\n\r\n{")
        if not slowly:
            assert ended(connection)
            return
        assert sent_until_refused(connection, [b" "] * 60)


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "1e3", "0x10", "\u0663"])
def test_a_length_that_is_none_is_refused(quick, length):
    with connect(quick) as connection:
        connection.sendall(head(quick, "/api/order", "POST", f"Content-Length: {length}") + b"\r\n\r\n{}")
        answer = connection.recv(4000)
        assert b" 400 " in answer or b" 413 " in answer


def test_an_upload_that_never_ends_leaves_nothing(quick):
    before = list(quick.app.state.store.folder.iterdir())
    kind = "Content-Type: multipart/form-data; boundary=x"
    part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.ogg"\r\n\r\nOggS'
    with connect(quick) as connection:
        connection.sendall(head(quick, "/api/uploads", "POST", kind, "Content-Length: 5000") + b"\r\n\r\n" + part)
        assert ended(connection)
    until = time.monotonic() + 30
    while list(quick.app.state.store.folder.iterdir()) != before and time.monotonic() < until:
        time.sleep(0.02)
    assert list(quick.app.state.store.folder.iterdir()) == before


def test_an_answer_that_nobody_takes_is_given_up(tmp_path, sound):
    (tmp_path / "a.ogg").write_bytes(sound("01 Embers.ogg"))
    with serving(Settings(roots=(tmp_path.resolve(),)), QUICK) as served:
        collection = served.opened(served.client.post("/api/collections", json={"path": str(tmp_path)}))
        os.truncate(tmp_path / "a.ogg", 64 << 20)  # more than lies on the way
        with connect(served) as connection:
            connection.sendall(head(served, f"/api/collections/{collection}/preview/0") + b"\r\n\r\n")
            time.sleep(1.5)
            taken = 0
            with contextlib.suppress(ConnectionError):
                while data := connection.recv(1 << 20):
                    taken += len(data)
        assert 0 < taken < 48 << 20


def test_there_is_an_end_to_connections():
    """Of strangers who say nothing the oldest are let go, whoever comes, long before their time is over."""
    patient = Timeouts(request=100.0, connections=12)
    with serving(timeouts=patient) as served, contextlib.ExitStack() as stack:
        many = [stack.enter_context(connect(served)) for _ in range(patient.connections + 8)]
        assert all(ended(connection) for connection in many[:4])
        assert served.client.get("/api/jobs").status_code == 200


def test_a_template_of_very_many_knots_takes_no_more_than_its_size(server):
    """5,000 knots on 5,000 items: 49 s and 1.8 GB where their product is made."""
    knots = [k / 4999 for k in range(5000)]
    asked = {"items": [{"essence": (k * 37) % 101} for k in range(5000)], "explain": False}
    asked["template"] = {"knots": knots, "values": [k % 7 for k in range(5000)]}
    before = resource.getrusage(resource.RUSAGE_SELF)
    assert len(server.order(**asked)["ordering"]) == 5000
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_maxrss - before.ru_maxrss < 300 << 10  # kB
    assert after.ru_utime - before.ru_utime < 12


def test_so_much_waits_for_its_turn(server, monkeypatch):
    monkeypatch.setattr(server.app.state.store, "searching", Turns(1, most_waiting=0))
    knots = [k / 1999 for k in range(2000)]
    asked = {"items": [{"essence": k} for k in range(3)], "template": {"knots": knots, "values": knots}}
    with server.app.state.store.searching.turn():
        assert server.client.post("/api/order", json=asked).status_code == 429
    assert server.client.post("/api/order", json=asked).status_code == 200


def test_a_browser_is_served_all_the_same(quick):
    for _ in range(3):
        assert quick.client.get("/api/templates").status_code == 200
        time.sleep(0.2)


@pytest.mark.parametrize("line", ["a\n", "#\n", "File{0}=a\n", "<track><title>a</title></track>", '{{"title":"a"}},'])
def test_a_playlist_of_very_many_entries_takes_no_more_memory_than_one_of_many(tmp_path, monkeypatch, line):
    monkeypatch.setattr(entries, "MOST_ENTRIES", 500)
    ending = {"a": "m3u8", "#": "m3u8", "F": "pls", "<": "xspf", "{": "jspf"}[line[0]]
    body = "".join(line.format(k) for k in range(6000))
    text = {"pls": "[playlist]\n{}", "xspf": "<playlist><trackList>{}</trackList></playlist>",
            "jspf": '{{"playlist":{{"track":[{}]}}}}'}.get(ending, "{}").format(body.rstrip(","))  # fmt: skip
    path = tmp_path / f"a.{ending}"
    path.write_text(text)
    with pytest.raises(FileError, match=r"has more than 500 entries"):
        read_playlist(path)
    monkeypatch.setattr(entries, "MOST_ENTRIES", 6000)
    if line[0] != "#":
        assert len(read_playlist(path)) == 6000


def test_a_list_too_large_for_the_page_is_told_in_one_line(server, monkeypatch):
    for name, limit, data in (
        ("MOST_ROWS", 100, table(200).encode()),
        ("MOST_CELLS", 100, b"a" + b",b" * 200 + b"\n"),
        ("MOST_BYTES", 1000, table(100).encode()),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(lists, name, limit)
            job = server.finish(server.upload(("t.csv", data)))
            assert job["error"].startswith("t.csv: is too large for the page")
            assert f"{limit:,}" in job["error"]


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner, data in files.items():
            archive.writestr(inner.replace("__", "/").replace("_dot_", "."), data)
    return made.getvalue()


@pytest.mark.parametrize("ending", [".docx", ".epub", ".odt"])
def test_a_bomb_is_not_unpacked(server, ending):
    large = b"<w>" + b"a" * 60_000_000
    bomb = zipped(word__document_dot_xml=large, content_dot_xml=large, a_dot_xhtml=large)
    assert len(bomb) < 1 << 20
    job = server.finish(server.upload((f"x{ending}", bomb)))
    assert (job["state"], job["error"].startswith(f"x{ending}: ")) == ("failed", True)


BODIES = {
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "deep and whole": '{"items": ' + "[" * 5000 + "]" * 5000 + "}",
    "a number of many digits": '{"limit": ' + "9" * 10_000 + "}",
    "a number too large": '{"items": [{"essence": 1e999}]}',
    "NaN": '{"items": [{"essence": NaN}]}',
    "Infinity": '{"smoothness": -Infinity, "items": [{"essence": 1}]}',
    "no text": b"\xff\xfe\x00",
    "nothing": "",
    "half a surrogate": '{"items": [{"essence": 1, "title": "\\ud800"}], "first": "\\udfff"}',
    "NUL": '{"items": [{"essence": 1, "id": "\\u0000"}], "first": "\\u0000x"}',
    "huge knots": '{"items": [{"essence": 1}], "template": {"knots": [0, 1e308, 1], "values": [1e308, -1e308, 0]}}',
    "huge values": '{"items": [{"essence": 1e308}, {"essence": -1e308}], "template": "icarus"}',
    "huge template": '{"items": [{"essence": 1}], "template": {"knots": [0, 1], "values": [1e308, -1e308]}}',
    "tiny knots": '{"items": [{"essence": 1}], "template": {"knots": [0, 5e-324, 1], "values": [0, 1, 0]}}',
    "huge sides": '{"items": [{"essence": 1}], "sides": 1e30}',
    "huge position": '{"items": [{"essence": 1}], "fixed": {"99999999999999999999999": 0}}',
    "a list as a name": '{"items": [{"essence": 1}], "template": ["icarus"]}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_json_that_is_none_is_answered_in_one_line(server, body):
    sent = body if isinstance(body, bytes) else body.encode()
    for path in ("/api/order", "/api/sessions"):
        answer = server.client.post(path, content=sent, headers={"Content-Type": "application/json"}, timeout=10)
        assert answer.status_code in (200, 400, 422), answer.text
        told = json.loads(answer.text, parse_constant=lambda name: pytest.fail(name))
        assert answer.status_code == 200 or "\n" not in told["error"]
        assert len(answer.text) < 20_000


def test_numbers_that_are_none_are_not_kept_either(server, demo):
    for state in ('{"x": NaN}', '{"x": [1e999]}', '{"x": {"y": Infinity}}'):
        for path, body in (
            ("desk", f'{{"revision": 0, "state": {state}}}'),
            ("versions/x", f'{{"state": {state}}}'),
        ):
            answer = server.client.put(f"/api/collections/{demo}/{path}", content=body)
            assert answer.status_code == 422
        saved = server.client.post(f"/api/collections/{demo}/session", content=f'{{"state": {state}}}')
        assert saved.status_code == 422


def test_many_searches_leave_the_page_alive(server, rng):
    """More than are searched for at a time: some wait, some are sent away, and the rest of the page goes on."""
    items = [{"essence": float(value)} for value in rng.normal(size=60)]
    asked = {"items": items, "template": "icarus", "together": [[1, 2]], "explain": False, "budget_ms": 50}
    statuses: list[int] = []

    def search() -> None:
        with httpx.Client(base_url=server.address, headers=dict(server.client.headers), timeout=60) as client:
            statuses.append(client.post("/api/order", json=asked).status_code)

    threads = [threading.Thread(target=search) for _ in range(24)]
    for thread in threads:
        thread.start()
    begun = time.monotonic()
    assert server.client.get("/api/jobs").status_code == 200
    took = time.monotonic() - begun
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 10
    assert took < 20


def test_a_killed_server_leaves_nothing_that_the_next_one_does_not_sweep_up(start, tmp_path, sound):
    living = start()
    with living.client() as client:
        client.post("api/uploads", files={"files": ("a.csv", table(5).encode())})
    killed = start()
    with killed.client() as client:
        client.post("api/uploads", files={"files": ("a.ogg", sound("01 Embers.ogg"))})
    before = set(tmp_path.glob("fabula-page-*"))
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait()
    assert any(Path(folder).rglob("*.ogg") for folder in before)
    start()
    after = set(tmp_path.glob("fabula-page-*"))
    assert len(before - after) == 1  # the one that was killed
    assert len(before & after) == 1  # the one that lives
    assert any(path.suffix == ".csv" for folder in before & after for path in folder.rglob("*"))


def test_folders_of_others_are_not_swept(tmp_path, monkeypatch):
    from fabula.web import server_store as scratch

    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").touch()
    (tmp_path / "fabula-page-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "fabula-page-file").touch()
    (tmp_path / "fabula-page-young").mkdir()
    (tmp_path / "fabula-page-old").mkdir()
    os.utime(tmp_path / "fabula-page-old", (1, 1))
    assert scratch.sweep() == 1
    assert sorted(path.name for path in tmp_path.glob("fabula-*")) == [
        "fabula-page-file", "fabula-page-link", "fabula-page-young",
    ]  # fmt: skip
    assert (tmp_path / "elsewhere" / "x").exists()
