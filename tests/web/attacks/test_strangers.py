"""Somebody else on this computer, and pages from elsewhere in one's own browser."""

from __future__ import annotations

import contextlib
import socket
import time

import httpx
import pytest
from starlette.datastructures import Headers

from fabula.web.app import ONCE, Access, split_host
from fabula.web.server_store import Settings
from tests.web.conftest import serving

PATHS = ("/api/templates", "/api/collections", "/api/openapi.json", "/api/desks", "/api/nosuch")


def test_without_the_token_nothing_is_told(server, demo):
    with httpx.Client(base_url=server.address) as stranger:
        for path in (*PATHS, f"/api/collections/{demo}", f"/api/collections/{demo}/preview/0"):
            answer = stranger.get(path)
            assert answer.status_code == 403
            assert answer.json()["error"].startswith("this page needs its token")
            assert "\n" not in answer.json()["error"]
        assert stranger.post("/api/demo").status_code == 403
        assert stranger.post("/api/uploads", files={"files": ("a.csv", b"a\n1\n")}).status_code == 403
        for path in ("/", "/static/main.js", "/?token=", "/?token=x", "/?token=%ff", "/nosuch"):
            answer = stranger.get(path)
            assert (answer.status_code, answer.headers["content-type"]) == (403, "text/plain; charset=utf-8")
            assert "set-cookie" not in answer.headers
        for wrong in ("Bearer x", "Bearer", "Basic x", f"Basic {server.app.state.access.token}", "Bearer \xff"):
            assert stranger.get("/api/jobs", headers={"Authorization": wrong.encode("latin-1")}).status_code == 403
        assert stranger.get("/api/jobs", headers={"Cookie": "fabula-1=x; =; a"}).status_code == 403


def test_the_first_visit_gives_a_cookie_that_only_the_page_can_use(server):
    port = server.address.rpartition(":")[2]
    with httpx.Client(base_url=server.address) as visitor:
        entered = visitor.get(server.entrance)
        assert entered.status_code == 200
        cookie = entered.headers["set-cookie"]
        assert cookie.startswith(f"fabula-{port}=")
        assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
        assert entered.headers["referrer-policy"] == "no-referrer"
        assert server.app.state.access.token not in entered.text
        assert visitor.get("/").status_code == 200
        assert visitor.get("/api/jobs").status_code == 200


def test_a_token_in_the_address_counts_for_the_page_alone(server):
    token = server.app.state.access.token
    assert httpx.get(f"{server.address}/api/jobs?token={token}").status_code == 403


def test_the_code_for_the_browser_works_once(server):
    code = server.app.state.access.once()
    assert code != server.app.state.access.token
    first, second = (httpx.get(f"{server.address}/?token={code}") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 403)


def test_a_code_is_good_for_a_while(monkeypatch):
    access = Access("t" * 32)
    code = access.once()
    later = time.monotonic() + ONCE + 1
    monkeypatch.setattr("fabula.web.app.time.monotonic", lambda: later)
    assert access.enter(f"token={code}".encode(), Headers({"host": "127.0.0.1:1"})) is None


@pytest.mark.slow
def test_without_a_token_it_is_said(start):
    running = start("--no-token")
    assert running.token is None
    assert "everybody who uses this computer" in running.said[0]
    assert httpx.get(f"{running.address}api/templates").status_code == 200


@pytest.mark.slow
def test_the_token_is_printed_once_and_never_logged(start):
    running = start()
    assert running.token
    for path in (f"?token={running.token}", "?token=wrong", f"api/jobs?token={running.token}", f"x/{running.token}"):
        httpx.get(running.address + path)
    port = int(running.address.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as odd:
        odd.sendall(f"GET /?token={running.token} HTTP/9\r\nx\r\n\r\n".encode())
        odd.recv(1000)
    running.process.terminate()
    out, errors = running.process.communicate(timeout=60)
    assert running.token not in out + errors
    assert errors == ""


HOSTS = [
    "127.0.0.1:x@evil", "[::1]evil", "127.0.0.1:80:80", "127.0.0.1@evil", "127.0.0.1 evil", "127.0.0.1/evil",
    "evil#127.0.0.1", "[127.0.0.1", "127.0.0.1]", "[::1", "localhost.evil", "localhost:", "0x7f.1", "2130706433",
    "127.0.0.1:999999", "127.0.0.1,127.0.0.1", "::1", "127.0.0.1.", "LOCALHOST.", "0.0.0.0", "[::ffff:127.0.0.1]",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_only_looks_like_this_machine_is_refused(server, host):
    """A page elsewhere whose name was made to lead here, and whoever tries to dress it up."""
    answer = server.client.get("/api/jobs", headers={"Host": host})
    assert answer.status_code in (400, 403)
    with contextlib.suppress(ValueError):
        assert "answers to 127.0.0.1" in answer.json()["error"]


def test_two_names_are_none(server):
    head = f"GET /api/jobs HTTP/1.1\r\nHost: {server.address[7:]}\r\nHost: evil\r\n{server.authorization}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2]))) as connection:
        connection.sendall(head.encode())
        assert b" 400 " in connection.recv(2000) or b" 403 " in connection.recv(2000)


def test_hosts_in_parts():
    assert split_host("[::1]:80") == ("[::1]", "80")
    assert [split_host(host) for host in ("", " ", "a b", "[x]", "a:b", "[::1]]", "a:-1")] == [None] * 7


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://{host}"},
        {"Origin": "http://{host}.evil"},
        {"Origin": "http://x@{host}"},
        {"Origin": "HTTP://{host}/x"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
def test_another_page_in_the_same_browser_is_refused(server, headers):
    """Its requests carry the cookie where the browser does not keep it back."""
    host = server.address[7:]
    sent = {name: value.format(host=host) for name, value in headers.items()}
    for method, path in (("POST", "/api/demo"), ("GET", "/api/collections"), ("PUT", "/api/collections/x/desk")):
        assert server.client.request(method, path, headers=sent).status_code == 403


def test_a_preflight_permits_nothing(server):
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = server.client.options("/api/order", headers=asked)
    assert answer.status_code == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_no_script_can_run_that_is_not_ours(server):
    policy = server.client.get("/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert "default-src 'none'" in policy


def test_two_servers_do_not_share_a_token():
    assert Settings().token != Settings().token
    assert len(Settings().token or "") >= 32
    assert Settings().token not in repr(Settings())
    with serving() as one:
        assert httpx.get(f"{one.address}/?token={Settings().token}").status_code == 403
