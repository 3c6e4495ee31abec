"""Errors as answers: the same one line as on the command line, under ``error``, and never a traceback."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from fabula.errors import FabulaError


class RefusedError(FabulaError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class Trouble(BaseModel):
    """What is wrong, in one line."""

    error: str


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Trouble, "description": text}
    for status, text in (
        (400, "What was asked for breaks a rule."),
        (403, "The request comes from elsewhere."),
        (404, "There is no such thing."),
        (413, "It is too large."),
        (415, "It has the wrong kind of body."),
        (422, "A field is missing or malformed."),
        (429, "Too much at a time."),
    )
}


def refused(status: int, message: str) -> JSONResponse:
    """The answer that says why not."""
    line = " ".join(message.encode("utf-8", "backslashreplace").decode().split())
    return JSONResponse({"error": line}, status_code=status)


def tell_errors(app: FastAPI) -> None:
    """Turn every error of the app into such an answer."""

    @app.exception_handler(FabulaError)
    async def known(_: Request, error: FabulaError) -> JSONResponse:
        return refused(error.status if isinstance(error, RefusedError) else 400, str(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        return refused(422, "; ".join(_told(one) for one in error.errors()[:3]))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        return refused(error.status_code, str(error.detail))

    @app.exception_handler(UnicodeEncodeError)
    async def no_text(_: Request, error: UnicodeEncodeError) -> JSONResponse:
        return refused(400, f"{error.object[error.start : error.start + 1]!r} is no text that can be written")

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, error: Exception) -> JSONResponse:
        return refused(500, f"something unforeseen went wrong ({type(error).__name__})")


def _told(problem: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query", "path"))
    return f"{where or 'the request'}: {problem['msg']}"
