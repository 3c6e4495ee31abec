"""Safety: who may ask, how much may come in, and what a browser may do with the answer."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.web.errors import error_response
from fabula.web.guard.access import Access, host_parts
from fabula.web.settings import Settings

UPLOADS = "/api/uploads"  # counts for itself, file by file
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
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

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message, scope["path"])
            await send(message)

        problem = self._problem(scope, headers)
        if problem is not None:
            await error_response(*problem)(scope, receive, send_safely)
            return
        answer = self.access.entered(scope["query_string"], headers) if scope["path"] == "/" else None
        if answer is None and not self.access.granted(headers):
            answer = self.access.refusal(scope["path"])
        if answer is not None:
            await answer(scope, receive, send_safely)
            return
        limited = receive if scope["path"] == UPLOADS else self._limited(receive)
        await self.app(scope, limited, send_safely)

    def _problem(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = ",".join(headers.getlist("host"))
        name = host_parts(host)
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

    def _limited(self, receive: Receive) -> Receive:
        """Count what comes in, whatever the header said."""
        came = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self.settings.most_body_bytes + (1 << 16):
                raise HTTPException(413, f"a request may have {self.settings.most_body_bytes:,} bytes at most")
            return message

        return counted


def _add_headers(message: Message, path: str) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers[name] = value
    if path.startswith("/api"):
        headers.setdefault("Cache-Control", "no-store")
    else:
        headers["Cache-Control"] = "no-cache"
