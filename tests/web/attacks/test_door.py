"""The door: strangers who hold it open, and requests made to break it."""

from __future__ import annotations

import contextlib
import socket
import time

import httpx
import pytest

from fabula.web.app import Timeouts
from tests.web.conftest import serving

SAFE = ("content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy")


def connect(served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2])), timeout=20)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"], ids=["silent", "half a request"])
def test_strangers_who_are_slow_do_not_lock_the_page_out(sent):
    """160 connections without a token, opened again as they are closed: the one with a token is answered."""
    with serving(timeouts=Timeouts(request=30.0)) as served, contextlib.ExitStack() as stack:
        for _ in range(4):
            for _ in range(160):
                stranger = stack.enter_context(connect(served))
                with contextlib.suppress(OSError):
                    stranger.sendall(sent)
            start = time.monotonic()
            with httpx.Client(headers=served.client.headers, timeout=25) as person:
                assert person.get(f"{served.address}/api/jobs").status_code == 200
            assert served.client.get("/api/jobs").status_code == 200
            assert time.monotonic() - start < 20


def test_a_connection_with_a_token_is_not_closed_for_strangers():
    """It is used again after strangers have opened more than there may be."""
    with serving(timeouts=Timeouts(connections=12)) as served, contextlib.ExitStack() as stack:
        known = stack.enter_context(connect(served))
        asked = f"GET /api/jobs HTTP/1.1\r\nHost: {served.address[7:]}\r\n{served.authorization}\r\n\r\n".encode()
        known.sendall(asked)
        assert answer_of(known) == 200
        for _ in range(10):
            known.sendall(asked)  # is read in one turn of the loop with the strangers, before it is looked at
            for _ in range(40):
                stack.enter_context(connect(served))
            assert answer_of(known) == 200


def answer_of(connection: socket.socket) -> int:
    """The status of an answer, read to its end, which is that of an empty list."""
    answer = b""
    while not answer.endswith(b"[]"):
        data = connection.recv(4000)
        assert data, answer
        answer += data
    return int(answer.split(b" ")[1])


def test_too_many_with_a_token_are_refused():
    with serving(timeouts=Timeouts(connections=4)) as served, contextlib.ExitStack() as stack:
        asked = f"GET /api/jobs HTTP/1.1\r\nHost: {served.address[7:]}\r\n{served.authorization}\r\n\r\n".encode()
        answers = []
        for _ in range(6):
            one = stack.enter_context(connect(served))
            one.sendall(asked)
            with contextlib.suppress(ConnectionError):
                answers.append(int(one.recv(4000).split(b" ")[1]))
        assert answers[:4] == [200] * 4
        assert 503 in answers[4:] or len(answers) < 6


@pytest.mark.parametrize(
    "path", ["/?" + "&".join(f"a{k}=1" for k in range(30)), "/?" + "a=1&" * 3000, "/?token=%f0%28"]
)
def test_an_address_of_many_fields_is_refused_with_all_headers(server, path):
    answer = httpx.get(f"{server.address}{path}")
    assert answer.status_code == 403
    assert all(answer.headers.get(name) for name in SAFE)


@pytest.mark.parametrize("size", [71, 3000, 28_000])
def test_a_long_boundary_is_refused_with_all_headers(server, size):
    edge = "x" * size
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
    answer = server.client.post("/api/uploads", content=f"--{edge}\r\n".encode(), headers=headers)
    assert answer.status_code == 400
    assert "boundary" in answer.json()["error"]
    assert all(answer.headers.get(name) for name in SAFE)


def test_what_nobody_foresaw_has_all_headers_too(server, monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr("fabula.web.routes.responses.templates_body", fail)
    answer = server.client.get("/api/templates")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert answer.json()["error"] == "something unforeseen went wrong (ZeroDivisionError)"
    assert all(answer.headers.get(name) for name in SAFE)
