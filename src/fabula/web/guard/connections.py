"""Connections, each with its time: whoever is slow to ask, to send or to take is let go, and they are not too many.

uvicorn by itself waits for a request that has begun for as long as the other side likes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds, and for how many.

    Attributes
    ----------
    request
        From the first moment until the headers of a request are there.
    body
        Between two pieces of a body.
    slowest
        Bytes a second that a body must bring on average, once it has taken as long as a piece may.
    answer
        For the other side to take a piece of an answer.
    connections
        How many at a time.
    """

    request: float = 10.0
    body: float = 20.0
    slowest: float = 2000.0
    answer: float = 60.0
    connections: int = 128


class TimedProtocol(H11Protocol):
    """HTTP with an end to waiting."""

    patience = Patience()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch a connection; refuse one too many."""
        super().connection_made(transport)
        now = self.loop.time()
        self._waiting = self._came = self._drained = self._began = now
        self._bytes = self._left = 0
        self._timer: asyncio.TimerHandle | None = None
        if len(self.connections) > self.patience.connections:
            transport.write(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            transport.close()
            return
        self._look_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes in."""
        before = self.cycle
        self._came = self.loop.time()
        self._bytes += len(data)
        super().data_received(data)
        if self.cycle is not before:  # a request has begun
            self._began, self._bytes = self._came, 0

    def _look_soon(self) -> None:
        patience = self.patience
        often = min(patience.request, patience.body, patience.answer) / 4
        self._timer = self.loop.call_later(often, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        if self._is_late(self.loop.time()):
            self.transport.abort()
            return
        self._look_soon()

    def _is_late(self, now: float) -> bool:
        left = self.transport.get_write_buffer_size()
        if left != self._left or not left:
            self._left, self._drained = left, now
        if now - self._drained > self.patience.answer:
            return True
        if self.cycle is not None and not self.cycle.response_complete:
            self._waiting = now
            return self.cycle.more_body and self._sends_slowly(now)
        return now - self._waiting > self.patience.request and not left

    def _sends_slowly(self, now: float) -> bool:
        if self.flow.read_paused:  # it is we who are slow
            self._came = self._began = now
            self._bytes = 0
            return False
        took, most = now - self._began, self.patience.body
        return now - self._came > most or (took > most and self._bytes < took * self.patience.slowest)


def server_of(app: Any, patience: Patience | None = None, **more: Any) -> uvicorn.Server:
    """A server of an app, for this machine alone, with an end to every wait.

    Parameters
    ----------
    app
        The ASGI app.
    patience
        How long to wait.
    more
        What else uvicorn is to be told.
    """
    protocol = type("TimedProtocol", (TimedProtocol,), {"patience": patience or Patience()})
    settings = {
        "http": protocol,
        "ws": "none",
        "log_level": "critical",  # an address may hold the token
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "lifespan": "on",
        "timeout_keep_alive": 5,
        "timeout_graceful_shutdown": 2,
        "h11_max_incomplete_event_size": 32 << 10,
        "backlog": 128,
    }
    return uvicorn.Server(uvicorn.Config(app, **{**settings, **more}))
