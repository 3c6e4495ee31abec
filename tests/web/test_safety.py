"""What must be refused, and is."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import time
import zipfile
from pathlib import Path

import pytest

from fabula.web.server_store import Settings

from .conftest import serving, table

SMALL = Settings(most_files=3, most_file_bytes=200_000, most_upload_bytes=300_000, most_stored_bytes=500_000,
                 most_body_bytes=20_000, most_items=50, most_searched=20, most_collections=3, most_jobs=1)  # fmt: skip


@pytest.fixture(scope="module")
def small():
    with serving(SMALL) as served:
        yield served


def stored(served) -> list[str]:
    """Everything that lies in the server's folder."""
    walk = os.walk(served.app.state.store.folder)  # unlike rglob, it bears a folder that is removed under it
    return [f"{folder}/{name}" for folder, folders, files in walk for name in (*folders, *files)]


def raw(served, head: str, body: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2])), timeout=10)
    head = f"{head}\n{served.authorization}"
    connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
    return connection


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "", "[::2]:80"])
def test_another_host_is_refused(server, host):
    for path in ("/", "/api/templates", "/static/main.js"):
        answer = server.client.get(path, headers={"Host": host})
        assert answer.status_code == 403
        assert "answers to 127.0.0.1" in answer.json()["error"]


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "LOCALHOST:99", "[::1]:8377"])
def test_this_machine_is_let_in(server, host):
    assert server.client.get("/api/templates", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "file://"]
)
def test_another_origin_is_refused(server, origin):
    for method, path in (
        ("POST", "/api/demo"),
        ("POST", "/api/order"),
        ("DELETE", "/api/jobs/x"),
        ("GET", "/api/jobs"),
    ):
        answer = server.client.request(method, path, headers={"Origin": origin})
        assert answer.status_code == 403
        assert "origin" in answer.json()["error"]


def test_the_page_itself_is_let_in(server):
    answer = server.client.get("/api/jobs", headers={"Origin": server.address, "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_even_look(server, demo, site):
    answer = server.client.get(f"/api/collections/{demo}/preview/0", headers={"Sec-Fetch-Site": site})
    assert answer.status_code == 403


def test_a_form_of_another_page_is_no_json(server):
    answer = server.client.post("/api/order", content='{"items": []}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 422


def test_every_answer_carries_the_policy(server, demo):
    for path in ("/", "/static/main.js", "/api/templates", f"/api/collections/{demo}/preview/0", "/nosuch"):
        headers = server.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
    assert server.client.get("/api/templates").headers["cache-control"] == "no-store"


def test_two_gigabytes_are_refused_before_they_come(server):
    head = (
        f"POST /api/uploads HTTP/1.1\nHost: {server.address[7:]}\nContent-Length: {2 << 30}\n"
        "Content-Type: multipart/form-data; boundary=x"
    )
    with contextlib.closing(raw(server, head)) as connection:
        answer = b""
        while b"}" not in answer:
            answer += connection.recv(4000)
    assert b" 413 " in answer
    assert b"1,073,741,824 bytes at most" in answer


def chunked(served, pieces: int, piece: bytes, header: bytes) -> bytes:
    """An upload that does not say how long it will be; what the server answers, perhaps before the end."""
    head = (
        f"POST /api/uploads HTTP/1.1\nHost: {served.address[7:]}\nTransfer-Encoding: chunked\n"
        "Content-Type: multipart/form-data; boundary=x"
    )
    connection = raw(served, head)
    answer = b""
    with contextlib.closing(connection), contextlib.suppress(ConnectionError):
        for data in [header, *[piece] * pieces]:
            connection.sendall(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
    with contextlib.suppress(OSError):
        answer = connection.recv(4000)
    return answer


def test_a_file_that_does_not_end_is_refused_while_it_comes(small):
    header = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.mp3"\r\n\r\n'
    chunked(small, 400, b"\0" * 10_000, header)
    deadline = time.monotonic() + 30
    while stored(small) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert stored(small) == []


def test_too_large_a_file_an_upload_and_too_many_files(small):
    big = small.upload(("a.mp3", b"\0" * 250_000))
    assert (big.status_code, "a file may have 200,000 bytes" in big.json()["error"]) == (413, True)
    whole = small.upload(*((f"{i}.mp3", b"\0" * 120_000) for i in range(3)))
    assert (whole.status_code, "300,000 bytes" in whole.json()["error"]) == (413, True)
    many = small.upload(*((f"{i}.mp3", b"\0") for i in range(4)))
    assert (many.status_code, "3 files at most" in many.json()["error"]) == (413, True)
    assert stored(small) == []


def test_an_upload_killed_half_way_leaves_nothing(server):
    before = stored(server)
    head = (
        f"POST /api/uploads HTTP/1.1\nHost: {server.address[7:]}\nContent-Length: 100000\n"
        "Content-Type: multipart/form-data; boundary=x"
    )
    body = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.ogg"\r\n\r\nOggS' + b"\0" * 5000
    connection = raw(server, head, body)
    deadline = time.monotonic() + 30
    while stored(server) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert stored(server) != before  # it had begun
    connection.close()
    deadline = time.monotonic() + 30
    while stored(server) != before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert stored(server) == before
    assert server.client.get("/api/templates").status_code == 200


def test_a_body_without_its_end_is_refused(server):
    body = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.ogg"\r\n\r\nOggS'
    answer = server.client.post(
        "/api/uploads", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "the upload broke off")
    nothing = server.client.post(
        "/api/uploads", content=b"nonsense", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert nothing.status_code == 400
    plain = server.client.post("/api/uploads", content=b"x", headers={"Content-Type": "audio/ogg"})
    assert plain.status_code == 415


def test_a_zip_bomb_called_mp3_is_not_audio(server):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big", b"\0" * 50_000_000)
    before = stored(server)
    job = server.finish(server.upload(("song.mp3", bomb.getvalue())))
    assert job["state"] == "failed"
    assert job["error"].startswith("song.mp3: ")
    assert str(server.app.state.store.folder) not in job["error"]
    assert stored(server) == before


def test_a_name_that_leads_out_is_only_a_name(server, sound):
    folder, before = server.app.state.store.folder, set(stored(server))
    names = ["../../x.ogg", "/etc/cron.d/y.ogg", "C:\\windows\\z.ogg", "a\0b\n.ogg"]
    collection = server.opened(server.upload(*((name, sound("01 Embers.ogg")) for name in names)))
    files = [path for path in map(Path, set(stored(server)) - before) if path.is_file()]
    assert len(files) == 4
    assert all(path.name[:5].isdigit() for path in files)
    assert not (folder.parent / "x.ogg").exists()
    told = server.client.get(f"/api/collections/{collection}").json()
    assert all(str(folder) not in item["path"] for item in told["items"])
    assert {item["path"] for item in told["items"]} >= {"x.ogg", "etc/cron.d/y.ogg", "z.ogg"}


def test_only_files_that_were_opened_can_be_fetched(server, demo, root):
    for item in ("9", "-1", "99999999999999999999"):
        assert server.client.get(f"/api/collections/{demo}/preview/{item}").status_code == 404
    for item in ("x", "0/../../1", "%2e%2e%2f"):
        assert server.client.get(f"/api/collections/{demo}/preview/{item}").status_code in (404, 422)
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert server.client.get(path).status_code == 404


def test_a_session_cannot_lead_to_other_files(server, demo, root):
    session = server.client.post(f"/api/collections/{demo}/session", json={}).json()
    session["items"][0]["path"] = str(root.parent.parent / "outside0" / "secret.ogg")
    session["items"][1]["path"] = "/etc/passwd"
    session["items"][2]["path"] = str(root / "table.csv")
    session["items"][3]["path"] = str(root / "away.ogg")
    opened = server.client.post("/api/sessions", json=session).json()["collection"]
    assert [item["preview"] for item in opened["items"]] == [False] * 4 + [True] * 5


def test_another_essence_of_an_upload_reads_no_file_of_that_name(server, sound, monkeypatch):
    monkeypatch.chdir("/")
    listed = b"#EXTM3U\n#EXTINF:10,A\netc/passwd.ogg\n#EXTINF:12,B\nb.ogg\n"
    files = [("mix.m3u8", listed), ("passwd.ogg", sound("01 Embers.ogg")), ("b.ogg", sound("04 Parade.ogg"))]
    collection = server.opened(server.upload(*files, by="duration"))
    monkeypatch.setattr("fabula.session.measure.measure", lambda *_: pytest.fail("it is measured again"))
    answer = server.client.put(f"/api/collections/{collection}/essence", json={"by": None})
    assert answer.status_code in (200, 400)  # by titles and what is known; nothing is read for it
    assert str(server.app.state.store.folder) not in answer.text


@pytest.mark.parametrize("path", ["/etc", "/", "..", "", "\0", "/nosuch", "x" * 3000])
def test_folders_elsewhere_are_not_there(server, path):
    for answer in (
        server.client.get("/api/folders", params={"path": path}),
        server.client.post("/api/collections", json={"path": path}),
    ):
        assert answer.status_code == 404
        assert "below the folders named at start" in answer.json()["error"]


def test_a_way_out_of_a_root_is_not_there(server, root):
    assert server.client.get("/api/folders", params={"path": f"{root}/album/../.."}).status_code == 404
    listed = server.client.get("/api/folders", params={"path": str(root)}).json()
    assert [one["name"] for one in listed["folders"]] == ["album"]
    assert [one["name"] for one in listed["lists"]] == ["list.m3u8", "several.csv", "table.csv"]
    assert listed["parent"] is None
    assert server.client.get("/api/folders", params={"path": str(root / "table.csv")}).status_code == 400


def test_a_playlist_leads_nowhere_else(server, root):
    collection = server.opened(server.client.post("/api/collections", json={"path": str(root / "list.m3u8")}))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert len(told["items"]) == 2
    assert any("secret" in note and "may not be read" in note for note in told["notes"])
    uploaded = server.finish(
        server.upload(("evil.m3u8", f"{root / 'album' / '01 Embers.ogg'}\n/etc/passwd\n".encode()))
    )
    assert uploaded["state"] == "failed"
    assert "may be read by this page" in uploaded["error"]


def test_links_out_of_a_root_are_left_out(server, root):
    collection = server.opened(server.client.post("/api/collections", json={"path": str(root)}))
    told = server.client.get(f"/api/collections/{collection}").json()
    assert len(told["items"]) == 4
    assert any("away" in note for note in told["notes"])


def test_too_large_a_body_of_json(small):
    rows = [{"id": str(i), "essence": i} for i in range(60)]
    assert small.client.post("/api/order", json={"items": rows}).status_code == 413
    assert small.client.post("/api/order", content=b" " * 90_000).status_code == 413
    endless = small.client.post(
        "/api/order", content=(b" " * 1000 for _ in range(200)), headers={"Content-Type": "application/json"}
    )
    assert endless.status_code == 413
    nested = b'{"items":' + b"[" * 15_000 + b"]" * 4000 + b"}"
    answer = small.client.post("/api/order", content=nested, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize(
    "wishes",
    [{"together": [[0, 5]]}, {"side_limit": 100}, {"step_limits": {"essence": 1}}, {"spreads": "match"}, {"limit": 9}],
)
def test_a_search_has_its_limit(small, wishes):
    rows = [{"id": str(i), "essence": i, "length": 10} for i in range(30)]
    answer = small.client.post("/api/order", json={"items": rows, **wishes})
    assert answer.status_code == 400
    assert "20 items at most" in answer.json()["error"]


def test_jobs_and_collections_have_their_limits(small):
    collections = [small.opened(small.upload((f"{n}.csv", table(n).encode()))) for n in range(4, 8)]
    assert small.client.get(f"/api/collections/{collections[0]}").status_code == 404
    assert small.client.get(f"/api/collections/{collections[-1]}").status_code == 200
    assert len(small.client.get("/api/collections").json()) == 3


def test_what_is_stored_goes_with_its_collection_and_with_the_server(sound):
    with serving() as served:
        folder = served.app.state.store.folder
        collection = served.opened(served.upload(("a.ogg", sound("01 Embers.ogg"))))
        assert stored(served) != []
        assert served.client.delete(f"/api/collections/{collection}").status_code == 204
        assert stored(served) == []
        served.opened(served.upload(("a.ogg", sound("01 Embers.ogg"))))
        assert folder.exists()
    assert not folder.exists()
