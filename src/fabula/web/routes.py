"""The JSON endpoints, thin over what they call; each is in the OpenAPI description."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from fabula.errors import FileError
from fabula.session.demo import demo_folder
from fabula.session.saved import as_session, open_session
from fabula.web import exports as exporting
from fabula.web import orders as ordering
from fabula.web.errors import REFUSALS, RefusedError
from fabula.web.folders import allowed, listing
from fabula.web.jobs import Jobs
from fabula.web.opening import open_paths, open_upload, sounds_of
from fabula.web.requests import ToExport, ToKeep, ToMeasure, ToOpen, ToOrder
from fabula.web.responses import as_answer, templates_told, told
from fabula.web.store import Loaded, Store, new_id
from fabula.web.uploads import receive

_MEDIA = {".m4a": "audio/mp4", ".m4b": "audio/mp4", ".opus": "audio/ogg", ".oga": "audio/ogg", ".flac": "audio/flac"}
_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"files": _FILES}}}},
    }
}


def routes(store: Store, jobs: Jobs) -> APIRouter:
    """Every endpoint."""
    router = APIRouter(prefix="/api", responses=REFUSALS)
    _add_opening(router, store, jobs)
    _add_jobs(router, jobs)
    _add_collections(router, store)
    _add_results(router, store)
    return router


def _add_opening(router: APIRouter, store: Store, jobs: Jobs) -> None:
    roots = store.settings.roots

    @router.post("/demo", status_code=202, tags=["open"])
    def demo() -> Any:
        """Open the album that comes with the package; a job."""
        folder = demo_folder().resolve()
        return asdict(jobs.start("The demo album", lambda told: open_paths(store, [folder], [folder], told)))

    @router.post("/uploads", status_code=202, tags=["open"], openapi_extra=_UPLOAD_BODY)
    async def upload(request: Request, by: str | None = None, collection: str | None = None) -> Any:
        """Open files that are sent: sound, or one playlist or table with the sound it names; a job."""
        jobs.check()
        name, files = await receive(request, store)
        try:
            return asdict(
                jobs.start(
                    f"{len(files)} file(s)",
                    lambda told: open_upload(store, name, files, told, by=by, collection=collection),
                )
            )
        except RefusedError:
            store.drop_upload(name)
            raise

    @router.get("/folders", tags=["open"])
    def folders(path: str | None = Query(None, max_length=4000)) -> Any:
        """What lies in a folder of this machine; without a path the folders named at start."""
        return as_answer(listing(path, roots))

    @router.post("/collections", status_code=202, tags=["open"])
    def open_here(asked: ToOpen) -> Any:
        """Open a folder, a playlist or a table of this machine, below the folders named at start; a job."""
        path = allowed(asked.path, roots)

        def work(progress: Any) -> str:
            return open_paths(store, [path], roots, progress, by=asked.by, collection=asked.collection)

        return asdict(jobs.start(path.name, work))

    @router.post("/sessions", status_code=201, tags=["open"])
    def reopen(session: dict[str, Any]) -> Any:
        """Open a session that was kept; nothing is measured anew."""
        found, state = open_session(session, model=store.settings.model)
        items = found.source.collection.items
        if len(items) > store.settings.most_items:
            raise FileError(f"a collection may have {store.settings.most_items} items on this page; got {len(items)}")
        sounds = sounds_of(items, found.source.folder, (*roots, demo_folder().resolve()))
        loaded = Loaded(new_id(), found, sounds, tuple(item.path or item.id for item in items))
        store.add(loaded)
        return as_answer({"collection": told(loaded), "state": state}, 201)


def _add_jobs(router: APIRouter, jobs: Jobs) -> None:
    @router.get("/jobs", tags=["jobs"])
    def all_jobs() -> Any:
        """Every job, the newest last."""
        return as_answer([asdict(job) for job in jobs.all()])

    @router.get("/jobs/{job}", tags=["jobs"])
    def one_job(job: str) -> Any:
        """How far a job is; once it is done, which collection came of it."""
        return as_answer(asdict(jobs.get(job)))

    @router.delete("/jobs/{job}", tags=["jobs"])
    def cancel(job: str) -> Any:
        """Stop a job after the file it is at."""
        return as_answer(asdict(jobs.cancel(job)))


def _add_collections(router: APIRouter, store: Store) -> None:
    @router.get("/collections", tags=["collections"])
    def collections() -> Any:
        """The collections that are loaded."""
        return as_answer(
            [
                {"id": one.id, "title": one.found.source.collection.title, "items": len(one.sounds)}
                for one in store.all()
            ]
        )

    @router.get("/collections/{collection}", tags=["collections"])
    def one(collection: str) -> Any:
        """A loaded collection and its items, in the order given."""
        return as_answer(told(store.get(collection)))

    @router.delete("/collections/{collection}", status_code=204, tags=["collections"])
    def forget(collection: str) -> Response:
        """Forget a collection and remove what was uploaded for it."""
        store.remove(collection)
        return Response(status_code=204)

    @router.put("/collections/{collection}/essence", tags=["collections"])
    def essence(collection: str, asked: ToMeasure) -> Any:
        """Choose another essence: a column, or the model's."""
        loaded = store.get(collection)
        changed = replace(loaded, found=ordering.essence_by(loaded, asked.by, store.settings.model))
        store.add(changed)
        return as_answer(told(changed))

    @router.get("/collections/{collection}/sound/{item}", tags=["collections"], response_class=FileResponse)
    def sound(collection: str, item: int) -> FileResponse:
        """The sound of an item, whole or in ranges."""
        sounds = store.get(collection).sounds
        file = sounds[item] if 0 <= item < len(sounds) else None
        if file is None or not file.is_file():
            raise RefusedError(404, f"item {item} has no sound here")
        return FileResponse(file, media_type=_MEDIA.get(file.suffix.lower()), content_disposition_type="inline")


def _add_results(router: APIRouter, store: Store) -> None:
    @router.get("/templates", tags=["order"])
    def templates() -> Any:
        """The built-in templates with their curves at 41 places."""
        return as_answer(templates_told())

    @router.post("/order", tags=["order"])
    def order(asked: ToOrder) -> Any:
        """Order a collection; answers what `fabula order --json` prints."""
        return as_answer(ordering.ordered(store, asked))

    @router.post("/collections/{collection}/export", tags=["order"], response_class=Response)
    def export(collection: str, asked: ToExport) -> Response:
        """Write the ordering on the screen: a playlist, a table, JSON, a report, a picture, or numbered copies."""
        loaded = store.get(collection)
        if asked.format == "zip":
            name = f"{exporting.file_name(loaded.found.source.collection.title) or 'order'}.zip"
            chunks = exporting.zipped(loaded, asked)
            return StreamingResponse(chunks, media_type="application/zip", headers=_attached(name))
        name, data = exporting.export(loaded, asked)
        return Response(data, media_type="application/octet-stream", headers=_attached(name))

    @router.post("/collections/{collection}/session", tags=["order"], response_class=Response)
    def keep(collection: str, asked: ToKeep) -> Response:
        """Keep the collection and the page's state in a file that opens again."""
        found = store.get(collection).found
        name = f"{exporting.file_name(found.source.collection.title) or 'session'}.fabula.json"
        text = json.dumps(as_session(found, asked.state), indent=1)
        return Response(text, media_type="application/json", headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
