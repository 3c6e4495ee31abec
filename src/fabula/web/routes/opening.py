"""Endpoints that open collections."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query, Request

from fabula.errors import FileError
from fabula.session.open import demo_folder, load_session
from fabula.web.errors import StatusError
from fabula.web.guard.folders import allowed, listing
from fabula.web.identity import Origin, collection_id
from fabula.web.jobs import Jobs
from fabula.web.opening import open_paths
from fabula.web.opening_uploads import open_upload
from fabula.web.ordering import knows_model
from fabula.web.reopening import as_opened
from fabula.web.requests import OpenRequest
from fabula.web.responses import collection_body, format_body, json_response
from fabula.web.store import Store
from fabula.web.uploads import receive

_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"files": _FILES}}}},
    }
}


def add_opening(router: APIRouter, store: Store, jobs: Jobs) -> None:
    """Add the endpoints that open collections."""
    roots = store.settings.roots

    @router.post("/demo", status_code=202, tags=["open"])
    def demo() -> Any:
        """Open the collection that comes with the package; a job."""
        folder = demo_folder().resolve()
        return asdict(
            jobs.start("the demo", lambda progress: open_paths(store, [folder], [folder], progress, Origin("demo")))
        )

    @router.post("/uploads", status_code=202, tags=["open"], openapi_extra=_UPLOAD_BODY)
    async def upload(request: Request, by: str | None = None, collection: str | None = None) -> Any:
        """Open files that are sent: items, or one playlist or table with the files it names; a job."""
        jobs.check()
        name, files = await receive(request, store)
        origin = Origin("upload", collection=collection)
        try:
            return asdict(
                jobs.start(
                    f"{len(files)} file(s)",
                    lambda progress: open_upload(store, name, files, progress, origin, by),
                )
            )
        except StatusError:
            store.drop_upload(name)
            raise

    @router.get("/folders", tags=["open"])
    def folders(path: str | None = Query(None, max_length=4000)) -> Any:
        """What lies in a folder of this machine; without a path the folders named at start."""
        return json_response(listing(path, roots))

    @router.get("/formats", tags=["open"])
    def formats() -> Any:
        """The endings of files that can be opened."""
        return json_response(format_body())

    @router.post("/collections", status_code=202, tags=["open"])
    def open_here(asked: OpenRequest) -> Any:
        """Open a folder, a playlist or a table of this machine, below the folders named at start; a job."""
        path = allowed(asked.path, roots)
        origin = Origin("path", str(path), asked.collection)
        return asdict(
            jobs.start(path.name, lambda progress: open_paths(store, [path], roots, progress, origin, asked.by))
        )

    @router.post("/sessions", status_code=201, tags=["open"])
    def reopen(saved: dict[str, Any]) -> Any:
        """Open a session that was saved; nothing is measured anew."""
        session, state = load_session(saved, model=store.settings.model)
        items = session.collection.items
        if len(items) > store.settings.most_items:
            raise FileError(f"a collection may have {store.settings.most_items} items on this page; got {len(items)}")
        origin = Origin("session")
        opened = as_opened(store, session, origin, collection_id(session, origin))
        store.add(opened)
        body = collection_body(opened, knows_model=knows_model(session, store.settings.model))
        return json_response({"collection": body, "state": state}, 201)
