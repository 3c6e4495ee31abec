"""The server of the page, and its connections: whoever is slow to ask, to send or to take is let go.

uvicorn by itself waits for a request that has begun for as long as the other side likes.
"""

import asyncio
import hmac
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fabula.core.collection import Item
from fabula.core.files import guard_files
from fabula.session.session import session_of
from fabula.version import __version__
from fabula.web.file_access import refuse_file
from fabula.web.http_errors import add_error_handlers, error_response, unforeseen_response
from fabula.web.open_collection import is_collection, open_origin
from fabula.web.open_jobs import OpenJobs
from fabula.web.page_workspace import Workspaces, data_folder
from fabula.web.routes import router
from fabula.web.server_store import Origin, ServerStore, Settings

# Who may ask, and how much: only somebody who has the token of the address that is printed at start.

ONCE = 120.0  # seconds in which a code for the browser can be used
REFUSED = "this page needs its token: open the address that `fabula serve` printed when it started"

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?")
# A page of ours that leads on, so that the cookie counts as asked for by this site, whoever led here.
_ONWARD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>fabula</title><link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">To the page</a></p></html>'
)


def split_host(host: str) -> tuple[str, str] | None:
    """Name and port of a ``Host`` header, the name in small letters; None where it is not one.

    >>> split_host("LOCALHOST:80"), split_host("[::1]:8377"), split_host("127.0.0.1")
    (('localhost', '80'), ('[::1]', '8377'), ('127.0.0.1', ''))
    >>> split_host("127.0.0.1:x@evil"), split_host("[::1]evil"), split_host("127.0.0.1:80:80")
    (None, None, None)
    """
    match = _HOST.fullmatch(host)
    return None if match is None else (match[1].lower(), match[2] or "")


class Access:
    """Checks tokens, in constant time; without a token everybody is let in."""

    def __init__(self, token: str | None) -> None:
        self.token = token
        self._codes: dict[str, float] = {}  # code: until when
        self._lock = threading.Lock()

    def once(self) -> str:
        """A code that stands for the token once: the command that starts a browser can be seen by others."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = time.monotonic() + ONCE
        return code

    def admits(self, headers: Headers) -> bool:
        """Whether a request comes with the token: in its cookie, or as ``Authorization: Bearer TOKEN``."""
        if self.token is None:
            return True
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() in ("bearer", "token") and self._is_token(given.strip()):
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(_cookie_name(headers))
        return found is not None and self._is_token(found.value)

    def enter(self, query: bytes, headers: Headers) -> Response | None:
        """The answer to a visit whose address carries the token or a code: a cookie; None where it does not."""
        if self.token is None:
            return None
        try:
            given = parse_qs(query.decode("latin-1"), max_num_fields=20).get("token", [""])[0]
        except ValueError:  # nobody who has the token sends so many
            return None
        if not (self._is_token(given) or self._is_code(given)):
            return None
        answer = HTMLResponse(_ONWARD)
        answer.set_cookie(_cookie_name(headers), self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _is_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def _is_code(self, given: str) -> bool:
        now = time.monotonic()
        with self._lock:
            self._codes = {code: until for code, until in self._codes.items() if until > now}
            found = next((code for code in self._codes if hmac.compare_digest(given.encode(), code.encode())), None)
            return found is not None and self._codes.pop(found) > now


def _cookie_name(headers: Headers) -> str:
    """A cookie for each port: browsers keep one set of cookies for all of them."""
    parts = split_host(headers.get("host", ""))
    return f"fabula-{parts[1] if parts else ''}"


# In front of everything else: who may ask, how much may come in, and what a browser may do with the answer

UPLOADS = "/api/uploads"  # counts for itself, file by file
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SafetyMiddleware:
    """ASGI middleware in front of everything else."""

    def __init__(self, app: ASGIApp, settings: Settings, access: Access) -> None:
        self.app, self.settings, self.access = app, settings, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or let through with limits and headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        begun = False

        async def send_safely(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                added = MutableHeaders(scope=message)
                added.update(_HEADERS)
                if scope["path"].startswith("/api"):
                    added.setdefault("Cache-Control", "no-store")
                else:
                    added["Cache-Control"] = "no-cache"
            await send(message)

        try:
            answer = self._answer(scope, headers)
            if answer is not None:
                await answer(scope, receive, send_safely)
                return
            limited = receive if scope["path"] == UPLOADS else self._limit(receive)
            with guard_files(refuse_file):
                await self.app(scope, limited, send_safely)
        except Exception as error:  # what no handler of the app has answered
            if begun:
                raise
            await unforeseen_response(error)(scope, receive, send_safely)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to who may not ask, or comes with the token in the address; None where the app answers."""
        problem = self._find_problem(scope, headers)
        if problem is not None:
            return error_response(*problem)
        entered = self.access.enter(scope["query_string"], headers) if scope["path"] == "/" else None
        if entered is not None or self.access.admits(headers):
            scope["admitted"] = True  # its connection is kept when there are too many
            return entered
        api = scope["path"].startswith("/api")
        return error_response(403, REFUSED) if api else PlainTextResponse(f"{REFUSED}\n", 403)

    def _find_problem(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = ",".join(headers.getlist("host"))
        name = split_host(host)
        if name is None or name[0] not in self.settings.hosts:
            return 403, f"this page answers to {' and '.join(self.settings.hosts)} only; got the host {host[:80]!r}"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return 403, f"requests from other origins are refused; got {origin[:80]!r}"
        api = scope["path"].startswith("/api")
        if api and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "requests from other sites are refused"
        length = headers.get("content-length", "0")
        most = self.settings.most_upload_bytes if scope["path"] == UPLOADS else self.settings.most_body_bytes
        if not length.isdecimal() or len(length) > 15 or int(length) > most + (1 << 16):  # the frame around the files
            return 413, f"a request may have {most:,} bytes at most; got {length[:20]}"
        return None

    def _limit(self, receive: Receive) -> Receive:
        """Count what comes in, whatever the header said."""
        came = 0

        async def count() -> MutableMapping[str, Any]:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self.settings.most_body_bytes + (1 << 16):
                raise HTTPException(413, f"a request may have {self.settings.most_body_bytes:,} bytes at most")
            return message

        return count


STATIC = Path(__file__).with_name("static")


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the server: the page at ``/``, JSON under ``/api``, its description at ``/api/openapi.json``.

    By default it opens nothing of this machine but the demo and what is sent to it.
    """
    chosen = settings or Settings()
    store = ServerStore(chosen)
    jobs = OpenJobs(chosen.most_jobs)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loading = threading.Thread(target=_load_search, daemon=True)
        loading.start()
        if chosen.first is not None and is_collection(chosen.first):
            origin = Origin("path", str(chosen.first))
            app.state.first = jobs.start(chosen.first.name, partial(open_origin, store, origin)).id
        yield
        jobs.cancel_all()
        store.close()
        await asyncio.to_thread(loading.join, 10)  # a library that is cut off amid a search aborts the program

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
    app.state.store, app.state.jobs, app.state.first = store, jobs, None
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
        self._opened = self._waiting = self._came = self._drained = self._began = now
        self._bytes = self._left = 0
        self._known = False
        self._timer: asyncio.TimerHandle | None = None
        if len(self.connections) > self.timeouts.connections and not self._make_room():
            transport.write(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            transport.close()
            return
        self._look_soon()

    @property
    def _admitted(self) -> bool:
        """Whether a request that came through it had the token; one that has just come is not yet looked at."""
        self._known = self._known or (self.scope is not None and bool(self.scope.get("admitted")))
        return self._known

    def _make_room(self) -> bool:
        """Close the oldest connection of somebody without the token; False where all others have it."""
        strangers = [one for one in self.connections if isinstance(one, TimedProtocol) and one is not self]
        strangers = [one for one in strangers if not one._admitted and not one.transport.is_closing()]
        if not strangers:
            return False
        min(strangers, key=lambda one: one._opened).transport.abort()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes in."""
        before, _ = self.cycle, self._admitted
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
