"""Errors as answers: one line under ``error``, the field it is about under ``field``, and never a traceback."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from fabula.errors import FabulaError, InputError, clip_line


class StatusError(FabulaError):
    """An error that is answered with a status of its own, and with more than the message."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        self.status, self.more = status, more
        super().__init__(message)


class WishBody(BaseModel):
    """A wish of the request: its field, and its key or its index there, none for the whole field."""

    field: str
    key: int | None = None


class ErrorBody(BaseModel):
    """What is wrong, in one line, the field of the request it is about, and the wishes that cannot hold."""

    error: str
    field: str | None = None
    wishes: list[WishBody] = []


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": text}
    for status, text in (
        (400, "What was asked for breaks a rule."),
        (403, "The request comes from elsewhere."),
        (404, "There is no such thing."),
        (409, "It was changed by another page since."),
        (413, "It is too large."),
        (415, "It has the wrong kind of body."),
        (422, "A field is missing or malformed."),
        (429, "Too much at a time."),
        (507, "It cannot be kept."),
    )
}


def error_response(status: int, message: str, field: str | None = None, **more: Any) -> JSONResponse:
    """The answer that says what is wrong, and more where there is more to say."""
    return JSONResponse({"error": clip_line(message), "field": field, **more}, status_code=status)


def unforeseen_response(error: Exception) -> JSONResponse:
    """The answer to what nobody foresaw; what the error says of itself may not be for others."""
    return error_response(500, f"something unforeseen went wrong ({type(error).__name__})")


def add_error_handlers(app: FastAPI) -> None:
    """Turn every error of the app into such an answer."""

    @app.exception_handler(FabulaError)
    async def answer_known(_: Request, error: FabulaError) -> JSONResponse:
        if isinstance(error, StatusError):
            return error_response(error.status, str(error), **error.more)
        return error_response(400, str(error), error.field if isinstance(error, InputError) else None)

    @app.exception_handler(RequestValidationError)
    async def answer_malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = error.errors()
        field = None if problems[0]["type"] == "json_invalid" else _locate(problems[0]) or None
        return error_response(422, "; ".join(map(_describe, problems[:3])), field)

    @app.exception_handler(HTTPException)
    async def answer_http(_: Request, error: HTTPException) -> JSONResponse:
        return error_response(error.status_code, str(error.detail))

    @app.exception_handler(UnicodeEncodeError)
    async def answer_unwritable(_: Request, error: UnicodeEncodeError) -> JSONResponse:
        return error_response(400, f"{error.object[error.start : error.start + 1]!r} is no text that can be written")


def _describe(problem: dict[str, Any]) -> str:
    if problem["type"] == "json_invalid":
        return f"the request is not JSON: {problem.get('ctx', {}).get('error', '')}"
    return f"{_locate(problem) or 'the request'}: {problem['msg']}"


def _locate(problem: dict[str, Any]) -> str:
    return ".".join(str(part) for part in problem["loc"] if part not in ("body", "query", "path"))
