"""Who may ask: only somebody who was given the token, which stands in the address that is printed at start.

Other people who use the computer reach the same port. The first visit carries the token in the address and gets a
cookie for it; after that the address is a plain one.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import time
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from starlette.datastructures import Headers

from fabula.web.errors import error_response

ONCE = 120.0  # seconds in which a code for the browser can be used
REFUSED = "this page needs its token: open the address that `fabula serve` printed when it started"

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?")
# A page of ours that leads on, so that the cookie counts as asked for by this site, whoever led here.
_ONWARD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>fabula</title><link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">To the page</a></p></html>'
)


def host_parts(host: str) -> tuple[str, str] | None:
    """Name and port of a ``Host`` header, the name in small letters; None where it is not one.

    Examples
    --------
    >>> host_parts("LOCALHOST:80"), host_parts("[::1]:8377"), host_parts("127.0.0.1")
    (('localhost', '80'), ('[::1]', '8377'), ('127.0.0.1', ''))
    >>> host_parts("127.0.0.1:x@evil"), host_parts("[::1]evil"), host_parts("127.0.0.1:80:80")
    (None, None, None)
    """
    match = _HOST.fullmatch(host)
    return None if match is None else (match[1].lower(), match[2] or "")


class Access:
    """Checks tokens, in constant time.

    Parameters
    ----------
    token
        The token; None lets everybody in.
    """

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

    def granted(self, headers: Headers) -> bool:
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

    def entered(self, query: bytes, headers: Headers) -> Response | None:
        """The answer to a visit whose address carries the token or a code: a cookie; None where it does not."""
        if self.token is None:
            return None
        given = parse_qs(query.decode("latin-1"), max_num_fields=20).get("token", [""])[0]
        if not (self._is_token(given) or self._is_code(given)):
            return None
        answer = HTMLResponse(_ONWARD)
        answer.set_cookie(_cookie_name(headers), self.token, httponly=True, samesite="strict", path="/")
        return answer

    def refusal(self, path: str) -> Response:
        """The answer to somebody without the token."""
        if path.startswith("/api"):
            return error_response(403, REFUSED)
        return PlainTextResponse(f"{REFUSED}\n", 403)

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
    parts = host_parts(headers.get("host", ""))
    return f"fabula-{parts[1] if parts else ''}"
