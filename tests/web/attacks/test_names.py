"""Names that are more than names, and content that is not what it is called."""

from __future__ import annotations

import csv
import io
import json
import re
import socket

import numpy as np
import pytest
import soundfile

from fabula.sources.registry import open_source
from fabula.web.server_store import Settings
from tests.web.conftest import serving

NAMES = [
    "../../etc/x.ogg", "..\\..\\x.ogg", "/abs/x.ogg", "C:\\x.ogg", "C:x.ogg", "a\0b.ogg", "x.ogg\0.html", "CON.ogg",
    "‮ggo.exe.ogg", "x" * 1500 + ".ogg", "é" * 300 + ".ogg", ".ogg", "..ogg", " .ogg", "a\r\nSet-Cookie: x=y.ogg",
    '"><script>alert(1)</script>.ogg', "$(id).ogg", "-rf.ogg", "%2e%2e%2fx.ogg", "a;b.ogg", "\ud800.ogg", "~/x.ogg",
    "file:///etc/passwd.ogg", "x.OGG", "||.ogg", "nul.ogg", "a/../../b/../../c.ogg",
]  # fmt: skip


@pytest.mark.slow
def test_a_name_stays_a_name(server, sound):
    data = sound("01 Embers.ogg")
    files = [(name.encode("utf-8", "replace").decode(), data) for name in NAMES]
    folder = server.app.state.store.folder
    before = set(folder.rglob("*"))
    collection = server.opened(server.upload(*files))
    stored = [path for path in set(folder.rglob("*")) - before if path.is_file()]
    assert 20 < len(stored) <= len(NAMES)
    assert all(re.fullmatch(r"\d{5}\.(ogg|html)", path.name) for path in stored)
    told = server.client.get(f"/api/collections/{collection}").json()
    assert len(told["items"]) > 20
    for item in told["items"]:
        assert ".." not in item["path"].split("/")
        assert not item["path"].startswith("/")
        assert len(item["path"]) < 600
        assert item["title"] == "Embers"
        assert item["path"].isprintable()
    result = server.order(collection=collection)["result"]
    for form in ("m3u8", "xspf", "csv", "html", "zip", "cue"):
        answer = server.client.post(f"/api/collections/{collection}/export", json={"result": result, "format": form})
        assert answer.status_code == 200, (form, answer.text)
        assert b"<script>alert(1)" not in answer.content or form not in ("html", "xspf")


def untagged(folder) -> bytes:
    soundfile.write(folder / "x.ogg", np.sin(np.arange(8000) / 9), 8000)
    return (folder / "x.ogg").read_bytes()


def test_the_names_of_the_person_are_shown_and_never_ours(server, tmp_path):
    """Stored under numbers, told under names: titles, notes, errors, progress."""
    listed = "\n".join(f"my music/song {k}.ogg" for k in range(12)) + "\nmy music/broken.ogg\n"
    good, broken = untagged(tmp_path), b"OggS broken"
    files = [("mix.m3u8", listed.encode()), *((f"song {k}.ogg", good) for k in range(12)), ("broken.ogg", broken)]
    collection = server.opened(server.upload(*files))
    told = server.client.get(f"/api/collections/{collection}")
    assert [item["title"] for item in told.json()["items"]] == [f"song {k}" for k in range(12)]
    answer = server.client.post("/api/order", json={"collection": collection})
    for text in (told.text, answer.text, server.client.get("/api/jobs").text):
        assert not re.search(r"\b0\d{4}\.", text), "a file is stored under five digits"
        assert str(server.app.state.store.folder) not in text
    assert any("broken.ogg" in note for note in told.json()["notes"])
    several = [
        ("a/x.txt", b"Once there was a house by the sea."),
        ("a/y.txt", b""),
        ("a/z.txt", b"Then came the rain."),
    ]
    texts = server.opened(server.upload(*several))
    told = server.client.get(f"/api/collections/{texts}")
    assert [item["title"] for item in told.json()["items"]] == ["x", "z"]
    assert "00001" not in told.text + server.client.get("/api/jobs").text


def test_every_file_that_fails_is_named_as_it_came(server):
    job = server.finish(server.upload(("a/one.ogg", b"x"), ("a/two.ogg", b"y")))
    assert job["state"] == "failed"
    assert "a/one.ogg" in job["error"]
    assert "00001" not in job["error"]


@pytest.mark.parametrize("data", [b"<html><script>alert(1)</script>", b"<svg onload='alert(1)'/>", b"%PDF-1.4"])
def test_what_a_browser_could_run_is_served_as_bytes(tmp_path, data):
    for name in ("a.html", "b.htm", "c.md", "d.txt"):
        (tmp_path / name).write_bytes(data + b" words and more words " * 20)
    with serving(Settings(roots=(tmp_path.resolve(),))) as served:
        collection = served.opened(served.client.post("/api/collections", json={"path": str(tmp_path)}))
        for k, item in enumerate(served.client.get(f"/api/collections/{collection}").json()["items"]):
            answer = served.client.get(f"/api/collections/{collection}/preview/{k}")
            kind = answer.headers["content-type"].partition(";")[0]
            assert kind in ("text/plain", "application/octet-stream"), item
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "script-src 'self'" in answer.headers["content-security-policy"]


PATHS = [
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/%2e%2e%2f%2e%2e%2ferrors.py",
    "/static/..\\app.py", "/static/..%5capp.py", "/static//etc/passwd", "/static/%00", "/static/main.js%00.html",
    "/static/....//app.py", "/%2e%2e/%2e%2e/etc/passwd", "/api/../static/../app.py", "/api/collections/..%2fx/desk",
    "/api/collections/%2e%2e/preview/0", "//etc/passwd", "/static/%c0%ae%c0%ae/app.py", "/.git/config", "/static",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_nowhere_else(server, path):
    head = f"GET {path} HTTP/1.1\r\nHost: {server.address[7:]}\r\n{server.authorization}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2])), timeout=5) as connection:
        connection.sendall(head.encode())
        answer = b""
        while data := connection.recv(65536):
            answer += data
    status = int(answer.split(b" ", 2)[1])
    assert status in (307, 400, 403, 404, 405), answer[:200]
    assert b"create_app" not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "path", ["/<script>alert(1)</script>", "/api/jobs/<img src=x onerror=alert(1)>", "/api/folders?path=<b>"]
)
def test_an_error_is_no_page(server, path):
    answer = server.client.get(path)
    assert answer.status_code >= 400
    assert answer.headers["content-type"].partition(";")[0] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


RANGES = [
    "bytes=0-0", "bytes=-0", "bytes=5-2", "bytes=0-99999999999999999999", "bytes=-99999999",
    "bytes=0-1,2-3" + ",4-5" * 500,
    "bytes=" + "0-," * 10_000, "items=0-5", "bytes=a-b", "bytes=--5", "bytes=1-2-3", "", "bytes=٣-٤", "bytes= 0-5",
]  # fmt: skip


@pytest.mark.parametrize("asked", RANGES, ids=range(len(RANGES)))
def test_a_range_of_any_kind_is_answered(server, demo, sound, asked):
    data = sound("01 Embers.ogg")
    answer = server.client.get(f"/api/collections/{demo}/preview/0", headers={"Range": asked.encode()})
    assert answer.status_code in (200, 206, 400, 416, 431)
    assert len(answer.content) <= len(data)
    if answer.status_code == 206:
        assert answer.content in data


CELLS = [
    "=1+1",
    "+1-2",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "'=x",
    "''x",
    "=cmd|' /C calc'!A0",
    "-5",
    "+3.5e2",
    "it's",
    "＝1",
]


def test_no_cell_is_a_formula_and_every_cell_comes_back(server, tmp_path):
    rows = json.dumps([{"title": cell, "weight": k} for k, cell in enumerate(CELLS)])
    collection = server.opened(server.upload(("in.json", rows.encode())))
    ordering = list(range(len(CELLS)))
    result = server.order(collection=collection, ordering=ordering)["result"]
    asked = {"result": result, "format": "csv"}
    text = server.client.post(f"/api/collections/{collection}/export", json=asked).text
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            number = cell.lstrip("+-").replace(".", "").replace("e", "").replace("-", "").isdigit()
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) or number, cell
    (tmp_path / "out.csv").write_text(text, encoding="utf-8", newline="")
    again = open_source([tmp_path / "out.csv"]).collection
    first = server.client.get(f"/api/collections/{collection}").json()["items"]
    assert [item.title for item in again.items] == [item["title"] for item in first]
