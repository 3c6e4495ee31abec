"""Endpoints that order, export and save."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse

from fabula.session.open import dump_session
from fabula.web import exports
from fabula.web.ordering import is_final, order
from fabula.web.requests import ExportRequest, OrderRequest, SaveRequest
from fabula.web.responses import json_response, order_body, templates_body
from fabula.web.store import Store


def add_results(router: APIRouter, store: Store) -> None:
    """Add the endpoints that order, export and save."""

    @router.get("/templates", tags=["order"])
    def templates() -> Any:
        """The built-in templates with their values at 41 positions."""
        return json_response(templates_body())

    @router.post("/order", tags=["order"])
    def order_collection(asked: OrderRequest) -> Any:
        """Order a collection; answers what `fabula order --json` prints, and the id of the result."""
        ordered, result = order(store, asked)
        told = {"sequence": asked.sequence, "final": is_final(asked, ordered)}
        return json_response({**order_body(ordered, result, explain=asked.explain), **told})

    @router.post("/collections/{collection}/export", tags=["order"], response_class=Response)
    def export(collection: str, asked: ExportRequest) -> Response:
        """Write a result: a playlist, a table, JSON, a report, a picture, or numbered copies."""
        opened = store.get(collection)
        ordered = store.get_result(collection, asked.result)
        if asked.format == "zip":
            name = f"{exports.file_name(ordered.session.title) or 'order'}.zip"
            chunks = exports.zip_copies(opened, ordered, store.folder)
            return StreamingResponse(chunks, media_type="application/zip", headers=_attachment(name))
        name, data = exports.export(ordered, asked.format, store.folder, gap=asked.gap_s)
        return Response(data, media_type="application/octet-stream", headers=_attachment(name))

    @router.post("/collections/{collection}/session", tags=["order"], response_class=Response)
    def save(collection: str, asked: SaveRequest) -> Response:
        """Save the collection and the page's state in a file that opens again."""
        session = store.get(collection).session
        name = f"{exports.file_name(session.title) or 'session'}.fabula.json"
        text = json.dumps(dump_session(session, asked.state), indent=1)
        return Response(text, media_type="application/json", headers=_attachment(name))


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
