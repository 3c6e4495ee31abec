"""The server of the page, and its connections: whoever is slow to ask, to send or to take is let go.

uvicorn by itself waits for a request that has begun for as long as the other side likes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from fabula.core.collection import Item
from fabula.session.session import session_of
from fabula.version import __version__
from fabula.web.access import Access, SafetyMiddleware
from fabula.web.http_errors import add_error_handlers
from fabula.web.open_jobs import OpenJobs
from fabula.web.page_workspace import Workspaces, data_folder
from fabula.web.routes import router
from fabula.web.server_store import ServerStore
from fabula.web.settings import Settings

STATIC = Path(__file__).with_name("static")


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the server: the page at ``/``, JSON under ``/api``, its description at ``/api/openapi.json``.

    By default it opens nothing of this machine but the demo and what is sent to it.
    """
    chosen = settings or Settings()
    store = ServerStore(chosen)
    jobs = OpenJobs(chosen.most_jobs)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=_load_search, daemon=True).start()
        yield
        jobs.cancel_all()
        store.close()

    app = FastAPI(
        title="fabula",
        version=__version__,
        description="Draw an arc, and the order of a collection follows.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.store, app.state.jobs = store, jobs
    app.state.workspaces = Workspaces(data_folder() / "desks")
    app.state.access = Access(chosen.token)
    add_error_handlers(app)
    app.include_router(router)

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(SafetyMiddleware, settings=chosen, access=app.state.access)
    return app


def _load_search() -> None:
    """Load what a search needs before the first one is asked for: that alone takes longer than the search."""
    items = [Item(str(number)) for number in range(20)]
    session_of(items, list(range(20))).order(template="steady-rise", sides=2, seconds=0.01)


# Connections, each with its time


@dataclass(frozen=True)
class Timeouts:
    """How long to wait, in seconds, and for how many."""

    request: float = 10.0  # from the first moment until the headers of a request are there
    body: float = 20.0  # between two pieces of a body
    slowest: float = 2000.0  # bytes a second of a body, on average, once it has taken as long as a piece may
    answer: float = 60.0  # for the other side to take a piece of an answer
    connections: int = 128  # at a time


class TimedProtocol(H11Protocol):
    """HTTP with an end to waiting."""

    timeouts = Timeouts()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch a connection; refuse one too many."""
        super().connection_made(transport)
        now = self.loop.time()
        self._waiting = self._came = self._drained = self._began = now
        self._bytes = self._left = 0
        self._timer: asyncio.TimerHandle | None = None
        if len(self.connections) > self.timeouts.connections:
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
        often = min(self.timeouts.request, self.timeouts.body, self.timeouts.answer) / 4
        self._timer = self.loop.call_later(often, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        if self._is_late(self.loop.time()):
            self.transport.abort()
        else:
            self._look_soon()

    def _is_late(self, now: float) -> bool:
        left = self.transport.get_write_buffer_size()
        if left != self._left or not left:
            self._left, self._drained = left, now
        if now - self._drained > self.timeouts.answer:
            return True
        if self.cycle is not None and not self.cycle.response_complete:
            self._waiting = now
            return self.cycle.more_body and self._sends_slowly(now)
        return now - self._waiting > self.timeouts.request and not left

    def _sends_slowly(self, now: float) -> bool:
        if self.flow.read_paused:  # it is we who are slow
            self._came = self._began = now
            self._bytes = 0
            return False
        took, most = now - self._began, self.timeouts.body
        return now - self._came > most or (took > most and self._bytes < took * self.timeouts.slowest)


def make_server(app: Any, timeouts: Timeouts | None = None, **more: Any) -> uvicorn.Server:
    """A server of an ASGI app, for this machine alone, with an end to every wait; `more` goes to uvicorn."""
    protocol = type("TimedProtocol", (TimedProtocol,), {"timeouts": timeouts or Timeouts()})
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
